"""Traces as workloads: replay another system's recording, and describe a trace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from seeklab._result import Result, execute
from seeklab.data.error_location import LocatedTrace
from seeklab.data.files import MAX_LINE_BYTES, Kind
from seeklab.engine.host import engine

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from seeklab._result import Progress

Mode = Literal["open", "closed", "fast"]
TraceFormat = Literal["fio-iolog-v2", "fio-iolog-v3", "blkparse", "msr-cambridge", "seeklab-ops"]

KINDS = (
    "a fio iolog, the text of blkparse, the CSV of a run's ops, a public trace (MSR Cambridge, SYSTOR, Alibaba, SPC "
    "and others), or a table with --columns"
)

TRACE = Kind(KINDS, longest_line=MAX_LINE_BYTES)


READING = 0.5
"""Share of reading a large trace in the whole progress."""


def parts(progress: Progress | None) -> tuple[Progress | None, Progress | None]:
    """Return the progress of reading a trace and of running it."""
    if progress is None:
        return None, None
    read = [0.0]

    def reading(share: float) -> None:
        read[0] = READING
        progress(READING * share)

    return reading, lambda share: progress(read[0] + (1 - read[0]) * share)


def said(**options: object) -> dict[str, object]:
    """Return the options that are not None; the engine has defaults for the rest."""
    return {name: value for name, value in options.items() if value is not None}


def replay(
    trace: str | PathLike[str],
    on: str | Mapping[str, Any],
    *,
    mode: Mode = "open",
    iodepth: int | None = None,
    format: TraceFormat | None = None,  # noqa: A002 -- the word for it
    target: str | None = None,
    columns: str | None = None,
    scale: float | None = None,
    seed: int = 1,
    progress: Progress | None = None,
    tell: Callable[[str], object] | None = None,
) -> Result:
    r"""Replay a trace on a preset, or on your own scenario, whose jobs run at the same time.

    `trace` is a path, gzipped or not, or the text itself (anything with a line break). `open` issues each request at
    its recorded time, times `scale`. `closed` keeps at most `iodepth` in flight (default 1), with the recorded idle
    times if the trace has response times. `fast` keeps `iodepth` in flight (default 32) without pauses. `target`
    selects one file or device. `columns` describes any other table, such as `time=1,op=2,offset=3,bytes=4`; a unit
    follows the name (`time:us=1`), and `sector` and `sectors` count 512 bytes. `result.replay` says what was replayed,
    what was skipped; `result.understood` says how the trace was read, and `tell` gets these sentences before the run.

    >>> result = seeklab.replay("0,16,4096,W,0.001074\n1,0,512,r,0.003115\n", on="nvme")
    >>> result.metrics["replay.read_ios"]
    1.0
    """
    system = {"scenario": on} if isinstance(on, Mapping) else {"preset": on}
    reading, running = parts(progress)
    located = LocatedTrace(trace, TRACE, columns=columns, format=format, progress=reading)
    if tell:
        for sentence in located.understood:
            tell(sentence)
    with located.named():
        how = said(text=located.text, format=format, target=target, mode=mode, iodepth=iodepth, scale=scale)
        result = execute({"replay": how, **system, "seed": seed}, running)
    result.understood, result.layout = located.understood, located.layout
    return result


def trace_info(
    trace: str | PathLike[str],
    *,
    format: TraceFormat | None = None,  # noqa: A002 -- the word for it
    target: str | None = None,
    columns: str | None = None,
) -> dict[str, Any]:
    r"""Describe a trace: format, requests, reads, writes, bytes, span_ns, largest_offset, targets, skipped, ...

    `understood` has sentences about its form and its first requests. The arguments are those of `replay`.

    >>> info = seeklab.trace_info("0,16,4096,W,0.001074\n1,0,512,r,0.003115\n")
    >>> info["format"], info["requests"], info["bytes"]
    ('spc', 2, 4608)
    """
    located = LocatedTrace(trace, TRACE, columns=columns, format=format)
    with located.named():
        info: dict[str, Any] = engine().call("trace_info", said(text=located.text, format=format, target=target))
    # The engine counts lines of the rewritten text; the sentences count those of the file.
    del info["first"]
    return {**info, "format": located.layout or info["format"], "understood": list(located.understood)}
