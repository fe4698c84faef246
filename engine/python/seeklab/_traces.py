"""Caches over traces, and the disk model against measured drives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seeklab._files import read_text, text_or_file
from seeklab._host import engine

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike


def cache(
    trace: str | PathLike[str],
    policies: Sequence[str],
    sizes: Sequence[int | str],
    *,
    objects: bool = False,
    one_in: int = 1,
) -> list[dict[str, Any]]:
    """Count the hits of replacement policies over a trace of `time,object,size` lines.

    `trace` is a path, gzipped or not, or the text itself (anything with a line break).
    Sizes are bytes, as numbers or texts such as "4MiB"; with `objects` they are numbers of objects and the sizes in the
    trace are ignored. The policy `belady` is the optimum that knows the future. `one_in=100` samples one object in 100.
    One row for each policy and size: policy, size, requests, hits, bytes, hit_bytes, exact.
    """
    text = text_or_file(trace, "a trace of time,object,size lines")
    request = {"trace": text, "policies": list(policies), "sizes": list(sizes), "objects": objects, "one_in": one_in}
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
