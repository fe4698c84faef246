"""A learner's own read-ahead inside the engine: the run pauses at each read and asks what to fetch for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from seeklab._asked import run_asking
from seeklab._case import Case
from seeklab._errors import Problem, SeeklabError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from seeklab._result import Result


class Read(NamedTuple):
    """A read, and what a file system knows of itself when it comes. Records are counted from the start of the file."""

    now_ns: int
    """Since the start of the run."""
    file: int
    """Number of the file."""
    record: int
    """The first record that is read."""
    records: int
    """How many."""
    file_records: int
    """Records of the file."""
    found: bool
    """Whether all were in memory or on their way."""
    late: bool
    """Whether one was still on its way because it had been read ahead."""
    record_bytes: int
    """Bytes of a record."""
    memory_bytes: int
    """Bytes of memory that may hold records."""
    arriving_bytes: int
    """Bytes that are on their way into it."""
    wasted_bytes: int
    """Bytes read ahead so far that were evicted before anybody had used them."""


class Prefetcher(Protocol):
    """A read-ahead: from a read to what is fetched for it."""

    def __call__(self, read: Read, /) -> Iterable[tuple[int, int]]:
        """Give runs `(first record, how many)` of the file; what is in memory or on its way is not fetched again."""


def run_prefetcher(
    system: Case | Mapping[str, Any],
    prefetcher: Prefetcher | None,
    *,
    variant: str | None = None,
    seed: int = 1,
) -> Result:
    """Run a case or a scenario with a ZFS layer and an ARC under a read-ahead of one's own.

    `prefetcher` is called once for each read, in order of simulated time:

        def next_record(read):
            return [(read.record + read.records, 1)]

        mine = seeklab.run_prefetcher(seeklab.case("media-prefetch"), next_record)

    None instead runs the read-ahead that the system has, for a race. What the prefetcher raises comes out as it is,
    with a note that says at which read; an answer that is no list of runs raises `SeeklabError`. Neither touches
    another run.
    """
    if prefetcher is not None and not callable(prefetcher):
        raise SeeklabError([Problem("prefetcher", f"{prefetcher!r} cannot be called; give a function of a read")])
    request = {**_request(system, prefetcher is not None, variant), "seed": seed}
    return run_asking(request, "ahead", lambda question: {"runs": _runs(prefetcher, Read(**question))})


def _request(system: Case | Mapping[str, Any], asked: bool, variant: str | None) -> dict[str, object]:  # noqa: FBT001 -- inside this module
    if isinstance(system, Case):
        if "arc" not in (system.scenario(variant).get("zfs") or {}):
            raise SeeklabError([Problem("case", f"{system.id} has no ZFS layer with an ARC; take media-prefetch")])
        changed = system.with_({"zfs.prefetch.asked": True}) if asked else system
        return changed.request(variant)
    if variant is not None:
        raise SeeklabError([Problem("variant", "a scenario has no variants; give a case, or no variant")])
    zfs = system.get("zfs")
    if not isinstance(zfs, dict) or "arc" not in zfs:
        raise SeeklabError([Problem("zfs.arc", "is missing; read-ahead needs a scenario with a ZFS layer and an ARC")])
    if not asked:
        return {"scenario": dict(system)}
    return {"scenario": {**system, "zfs": {**zfs, "prefetch": {**zfs.get("prefetch", {}), "asked": True}}}}


def _runs(prefetcher: Prefetcher | None, read: Read) -> list[list[int]]:
    if prefetcher is None:  # then nothing is asked
        raise TypeError(read)
    try:
        answer = prefetcher(read)
    except Exception as error:
        error.add_note(f"raised by the prefetcher at {_place(read)}")
        raise
    try:
        runs = [[_whole(number) for number in run] for run in answer]
    except (TypeError, ValueError):
        runs = [[]]
    if all(len(run) == len(("first", "how many")) for run in runs):
        return runs
    message = f"gave {answer!r} at {_place(read)}; give a list of (first record, how many), whole numbers from 0 on"
    raise SeeklabError([Problem("runs", message)])


def _whole(number: object) -> int:
    if isinstance(number, bool) or not hasattr(number, "__index__"):
        raise TypeError
    whole = int(number.__index__())
    if whole < 0:
        raise ValueError
    return whole


def _place(read: Read) -> str:
    return f"{read.now_ns / 1e9:.6f} s of the run, record {read.record} of file {read.file}"
