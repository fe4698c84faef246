"""Your own read-ahead: the run pauses at each read, and asks what to fetch for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from seeklab._case import Case
from seeklab._result import Result, execute
from seeklab.decisions import Decision, ask, must_be_callable, refuse, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

OF_PAGES = Decision(
    answers="ahead",
    field="page_cache.read_ahead.asked",
    asked=True,
    layer="page_cache.read_ahead",
    case_lacks="has no page cache that reads ahead; use context-read-ahead",
    scenario_lacks="is missing; read-ahead needs a page cache with a read side",
)
OF_RECORDS = Decision(
    answers="ahead",
    field="zfs.prefetch.asked",
    asked=True,
    layer="zfs.arc",
    case_lacks="has no ZFS layer with an ARC; use media-prefetch",
    scenario_lacks="is missing; read-ahead needs a scenario with a ZFS layer and an ARC",
)


class Read(NamedTuple):
    """A read, and what a file system knows about itself when it arrives.

    Records are counted from the start of the file. The records of a page cache are its pages of 4 KiB.
    """

    now_ns: int
    """Time since the start of the run, in ns."""
    file: int
    """Number of the file."""
    record: int
    """The first record of the read."""
    records: int
    """Number of records in the read."""
    file_records: int
    """Number of records in the file."""
    found: bool
    """Whether all were in memory or in flight."""
    late: bool
    """Whether one was still in flight because it had been read ahead."""
    record_bytes: int
    """Size of a record, in bytes."""
    memory_bytes: int
    """Memory for records, in bytes."""
    arriving_bytes: int
    """Bytes in flight to that memory."""
    wasted_bytes: int
    """Bytes read ahead so far and evicted unused."""


class Prefetcher(Protocol):
    """A read-ahead: from a read to the records to fetch for it."""

    def __call__(self, read: Read, /) -> Iterable[tuple[int, int]]:
        """Return runs `(first record, number)` of the file; records in memory or in flight are not fetched again."""


def run_prefetcher(
    system: Case | Mapping[str, Any],
    prefetcher: Prefetcher | None,
    *,
    variant: str | None = None,
    seed: int = 1,
) -> Result:
    """Run a case or a scenario with a page cache, or with a ZFS layer and an ARC, under your own read-ahead.

    `prefetcher` is called once for each read, in order of simulated time:

    >>> def next_record(read):
    ...     return [(read.record + read.records, 1)]
    >>> mine = seeklab.run_prefetcher(seeklab.case("media-prefetch"), next_record)

    ZFS asks after it has begun to read missing records, and fetches each record separately. A page cache asks before it
    reads, and fetches neighbours with one request, including the read's own pages.

    None runs the system's own read-ahead, for comparison.

    Exceptions of the prefetcher are passed on, with a note that names the read. They do not affect other runs.

    Raises:
        SeeklabError: If an answer is not a list of runs.
    """
    decision = OF_PAGES if _has_pages(system, variant) else OF_RECORDS
    if prefetcher is None:
        return execute({**decision.request(system, None, variant), "seed": seed})
    must_be_callable("prefetcher", prefetcher, "a function of a read")
    return decision.run(system, lambda question: {"runs": _runs(prefetcher, Read(**question))}, variant, seed)


def _has_pages(system: Case | Mapping[str, Any], variant: str | None) -> bool:
    scenario = system.scenario(variant) if isinstance(system, Case) else system
    return "page_cache" in scenario


def _runs(prefetcher: Prefetcher, read: Read) -> list[tuple[int, int]]:
    place = f"{read.now_ns / 1e9:.6f} s of the run, record {read.record} of file {read.file}"
    answer = ask("prefetcher", place, prefetcher, read)
    try:
        runs = [(_from_zero(first), _from_zero(records)) for first, records in answer]
    except (TypeError, ValueError):
        runs = None
    if runs is None:
        refuse("runs", answer, place, "a list of (first record, number), whole numbers of at least 0")
    return runs


def _from_zero(given: object) -> int:
    number = whole(given)
    if number is None or number < 0:
        raise ValueError(given)
    return number
