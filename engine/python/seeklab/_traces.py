"""Cache policies on traces, and the disk model compared with measured drives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seeklab._replay import KINDS, said
from seeklab.data.error_location import LocatedTrace, is_line, naming
from seeklab.data.files import MAX_LINE_BYTES, Kind, read_text, shown
from seeklab.engine.host import engine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike

    from seeklab._replay import TraceFormat
    from seeklab._result import Progress

OBJECTS = Kind(f"a trace of time,object,size lines, {KINDS}", longest_line=MAX_LINE_BYTES)
DRIVE = Kind("a drive's parameters as JSON", most_bytes=1 << 20)
MEASURED = Kind(
    "a measured trace as CSV",
    most_bytes=1 << 26,
    longest_line=MAX_LINE_BYTES,
    columns=("op", "lbn", "blocks", "service_us", "next_interarrival_us"),
)
"""A measured trace has tens of thousands of requests; this is enough for a million."""


def cache(
    trace: str | PathLike[str],
    policies: Sequence[str],
    sizes: Sequence[int | str],
    *,
    objects: bool = False,
    one_in: int = 1,
    block: int | str | None = None,
    format: TraceFormat | None = None,  # noqa: A002 -- the word for it
    target: str | None = None,
    columns: str | None = None,
    progress: Progress | None = None,
    tell: Callable[[str], object] | None = None,
) -> list[dict[str, Any]]:
    r"""Count the hits of replacement policies over a trace: a path, gzipped or not, or the text itself.

    The trace has `time,object,size` lines, or recorded requests in any format that `replay` accepts; its first line or
    `format` decides. Cache logs of Twitter and Meta, libCacheSim's oracleGeneral and CSV, and lists of objects are read
    too; `columns` describes any other table of requests, as for `replay`. Recorded requests touch
    blocks of `block` bytes (default 4 KiB), reads and writes alike; `target` selects one file or device. Sizes are
    multiples of a block, in bytes or texts such as "4MiB". With `objects` they are numbers of objects or blocks, and
    the sizes in the trace are ignored. The policy `belady` is the optimum, which knows the future. `one_in=100`
    samples one object in 100. `progress` gets the share of the file that has been read, and `tell` the sentences that
    say how it was understood.

    Return one row for each policy and size: policy, size, requests, hits, bytes, hit_bytes, exact.

    >>> trace = "".join(f"{time},{key},1\n" for time, key in enumerate([1, 2, 3, 1, 2, 3]))
    >>> [row["hits"] for row in seeklab.cache(trace, ["lru", "belady"], [2], objects=True)]
    [0, 2]
    """
    located = LocatedTrace(trace, OBJECTS, columns=columns, format=format, of_objects=True, progress=progress)
    if tell:
        for sentence in located.understood:
            tell(sentence)
    request = said(
        trace=located.text,
        policies=list(policies),
        sizes=list(sizes),
        objects=objects,
        one_in=one_in,
        block=block,
        format=format,
        target=target,
    )
    with located.named():
        rows: list[dict[str, Any]] = engine().call("cache", request)
    return rows


def validate_drive(drive: str | PathLike[str], trace: str | PathLike[str]) -> dict[str, Any]:
    """Replay a measured drive's trace on the disk model; return mean, rms and demerit, for all requests and by class.

    The demerit is the rms of the differences at equal rank, divided by the mean measured service time.

    >>> found = seeklab.validate_drive("synthetic-drive.json", "synthetic-trace.csv")
    >>> found["requests"]
    4000
    """
    request = {"drive": read_text(drive, DRIVE), "trace": read_text(trace, MEASURED)}
    with naming(lambda path: shown(trace if is_line(path) else drive)):
        found: dict[str, Any] = engine().call("drive", request)
    return found
