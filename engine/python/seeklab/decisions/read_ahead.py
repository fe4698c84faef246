"""A read-ahead of one's own: the run pauses at each read and asks what to fetch for it."""

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
    case_lacks="has no page cache that reads ahead; take context-read-ahead",
    scenario_lacks="is missing; read-ahead needs a page cache with a read side",
)
OF_RECORDS = Decision(
    answers="ahead",
    field="zfs.prefetch.asked",
    asked=True,
    layer="zfs.arc",
    case_lacks="has no ZFS layer with an ARC; take media-prefetch",
    scenario_lacks="is missing; read-ahead needs a scenario with a ZFS layer and an ARC",
)


class Read(NamedTuple):
    """A read, and what a file system knows of itself when it comes.

    Records are counted from the start of the file. Those of a page cache are its pages, of 4 KiB.
    """

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
    """Run a case or a scenario with a page cache, or with a ZFS layer and an ARC, under a read-ahead of one's own.

    `prefetcher` is called once for each read, in order of simulated time:

        def next_record(read):
            return [(read.record + read.records, 1)]

        mine = seeklab.run_prefetcher(seeklab.case("media-prefetch"), next_record)

    ZFS asks after it has begun to read what is missing, and fetches each record by itself. A page cache asks before,
    and fetches neighbours with one request, the read's own pages among them.

    None instead runs the read-ahead that the system has, for a race. What the prefetcher raises comes out as it is,
    with a note that says at which read; an answer that is no list of runs raises `SeeklabError`. Neither touches
    another run.
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
        refuse("runs", answer, place, "a list of (first record, how many), whole numbers from 0 on")
    return runs


def _from_zero(given: object) -> int:
    number = whole(given)
    if number is None or number < 0:
        raise ValueError(given)
    return number
