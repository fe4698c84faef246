"""Caches over traces, and the disk model against measured drives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seeklab._files import read_text
from seeklab._host import engine
from seeklab._replay import KINDS, LocatedTrace, said

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from seeklab._replay import TraceFormat


def cache(  # noqa: PLR0913 -- one argument for each thing to choose
    trace: str | PathLike[str],
    policies: Sequence[str],
    sizes: Sequence[int | str],
    *,
    objects: bool = False,
    one_in: int = 1,
    block: int | str | None = None,
    format: TraceFormat | None = None,  # noqa: A002 -- the word for it
    target: str | None = None,
) -> list[dict[str, Any]]:
    """Count the hits of replacement policies over a trace: a path, gzipped or not, or the text itself.

    The trace is `time,object,size` lines, or recorded requests in any format that `replay` takes (its first line tells,
    or `format`). The latter touch blocks of `block` bytes (4 KiB unless given), reads and writes alike; `target` keeps
    one file or device of several. Sizes are bytes, as numbers or texts such as "4MiB", in whole blocks; with `objects`
    they are numbers of objects or blocks, and the sizes in the trace are ignored. The policy `belady` is the optimum
    that knows the future. `one_in=100` samples one object in 100.
    One row for each policy and size: policy, size, requests, hits, bytes, hit_bytes, exact.
    """
    with LocatedTrace(trace, f"a trace of time,object,size lines, {KINDS}") as text:
        request = said(
            trace=text,
            policies=list(policies),
            sizes=list(sizes),
            objects=objects,
            one_in=one_in,
            block=block,
            format=format,
            target=target,
        )
        rows: list[dict[str, Any]] = engine().call("cache", request)
    return rows


def validate_drive(drive: str | PathLike[str], trace: str | PathLike[str]) -> dict[str, Any]:
    """Replay a measured drive's trace on the disk model: mean, rms and demerit, over all requests and by class.

    The demerit is the rms of the differences at equal rank, divided by the mean measured service time.
    """
    request = {
        "drive": read_text(drive, "a drive's parameters as JSON"),
        "trace": read_text(trace, "a measured trace as CSV"),
    }
    found: dict[str, Any] = engine().call("drive", request)
    return found
