"""Notebook 25, fifty-eight a second: its tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seeklab.course.task import Task
from seeklab.judge import Cases, Function, Items, Mistake, Number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Flushes = Sequence[tuple[float, bool]]

WORK_MS = 2.36
TIMES = ((14.62, 16.79), (5.0, 20.0), (10.0, 2.0))
"""Flush times of the engine's log and of the replication log, in ms."""
STAGES: Sequence[Flushes] = (
    ((14.62, True), (16.79, False), (14.62, True)),
    ((14.62, True), (4.0, False), (14.62, True)),
    ((5.0, False), (20.0, False), (8.0, True)),
    ((30.0, True), (10.0, False)),
)
"""Flushes of a transaction, in ms, and whether waiting transactions share them."""
FLUSH_MS = 10
ARRIVALS: tuple[tuple[float, ...], ...] = ((0, 1, 2, 3, 12, 14), (0, 20, 40), (0, 1, 50, 51, 52), (0, 0, 0))
"""Arrival times of transactions at a log, in ms."""


def _one(work: float, engine: float, replication: float) -> float:
    return 1000 / (work + 2 * engine + replication)


def _ceiling(flushes: Flushes, of: Callable[[Iterable[float]], float] = max, *, shared: bool = False) -> float:
    """Return the commits a second that the sum of all flushes, or of those not shared, allows."""
    return 1000 / of(ms for ms, is_shared in flushes if shared or not is_shared)


def _batches(arrivals: Sequence[float], flush_ms: float) -> list[int]:
    sizes: list[int] = []
    free, done = 0.0, 0
    while done < len(arrivals):
        begin = max(free, arrivals[done])
        there = sum(at <= begin for at in arrivals)
        sizes.append(there - done)
        done, free = there, begin + flush_ms
    return sizes


TASKS = (
    Task(
        "commit/one",
        question=(
            "A transaction takes some work, a flush of the engine's log, one of the replication log, and one of "
            "the engine's log again. Write a function of three times in ms: the work, a flush of the engine's "
            "log, and a flush of the replication log. How many commits per second does a single client get?"
        ),
        kind=Function("three times in ms"),
        check=Cases(
            _one,
            [(WORK_MS, *times) for times in TIMES],
            "For {work} ms of work and flushes of {engine} and {replication} ms",
            (
                Mistake("milliseconds", "The times are in ms; return commits per second.", times=1e-3),
                Mistake(
                    "one-flush",
                    "The engine's log is flushed twice: when the transaction prepares, and when it commits.",
                    gives=lambda work, engine, replication: 1000 / (work + engine + replication),
                ),
                Mistake(
                    "overlap",
                    "That would be right if the flushes overlapped. A single client waits for one after the other.",
                    gives=lambda _, engine, replication: 1000 / max(engine, replication),
                ),
                Mistake(
                    "no-work",
                    "The work outside the logs takes time as well.",
                    gives=lambda _, engine, replication: 1000 / (2 * engine + replication),
                ),
                Mistake("other", "One commit takes its work and three flushes, one after the other."),
            ),
        ),
        why="A single client waits for each step in turn.",
        hints=(
            "How long does one commit take, from start to end?",
            "Three flushes and the work, one after the other; the engine's log comes twice.",
            "1000 / (work + 2 * engine + replication)",
        ),
        answer="def one_tps(work, engine, replication):\n    return 1000 / (work + 2 * engine + replication)",
    ),
    Task(
        "commit/ceiling",
        question=(
            "A transaction's flushes are given as a list of (ms, shared): how long a flush takes, and whether all "
            "waiting transactions share it. Flushes that are not shared belong to different logs. Write a function of "
            "such a list: how many commits per second are possible with any number of clients?"
        ),
        kind=Function("the flushes of a transaction"),
        check=Cases(
            _ceiling,
            [(stages,) for stages in STAGES],
            "For the flushes {flushes}",
            (
                Mistake(
                    "one-client",
                    "That is the rate of one client. While one transaction is flushed, others are at other steps.",
                    gives=lambda flushes: _ceiling(flushes, sum, shared=True),
                ),
                Mistake(
                    "shared-flush",
                    "The longest flush is shared: it serves any number of transactions at a time.",
                    gives=lambda flushes: _ceiling(flushes, shared=True),
                ),
                Mistake(
                    "one-log",
                    "Flushes of different logs run at the same time, for different transactions.",
                    gives=lambda flushes: _ceiling(flushes, sum),
                ),
                Mistake(
                    "other",
                    "A flush that is not shared serves one transaction at a time; the slowest such flush is the limit.",
                ),
            ),
        ),
        why="Only the flushes that serve one transaction at a time set the ceiling: the slowest of them.",
        hints=(
            "A shared flush serves all waiting transactions. Which flushes serve only one?",
            "A flush that serves one at a time completes 1000 / ms times per second.",
            "1000 / max(ms for ms, shared in flushes if not shared)",
        ),
        answer=("def ceiling(flushes):\n    return 1000 / max(ms for ms, shared in flushes if not shared)"),
    ),
    Task(
        "commit/batches",
        question=(
            "Group commit by hand. A list has the times, in ms and in order, when transactions arrive at a "
            "log. Each flush takes the same time. Whenever the log is free and a transaction waits, the log "
            "starts a flush for all that have arrived by then. Write a function of the list and the flush time. "
            "It returns a list: the number of transactions in each flush."
        ),
        kind=Function("arrival times and the time of a flush"),
        check=Cases(
            _batches,
            [(list(arrivals), FLUSH_MS) for arrivals in ARRIVALS],
            "For arrivals at {arrivals} ms and flushes of {flush_ms} ms",
            (
                Mistake(
                    "one-at-a-time",
                    "Those are flushes of one transaction. A flush includes all transactions that wait when it starts.",
                    gives=lambda arrivals, _: [1] * len(arrivals),
                ),
                Mistake(
                    "lost-transactions",
                    "{match} transactions arrive, and each is flushed once.",
                    when=lambda found, _, arrivals, __: sum(found) != len(arrivals) and len(arrivals),
                ),
                Mistake(
                    "waits-to-begin",
                    "The first finds the log free and is flushed at once. A transaction that arrives during this flush "
                    "is too late for it, and waits for the next.",
                    when=lambda found, truth, *_: found[0] > truth[0],
                ),
                Mistake(
                    "other",
                    "A flush starts as soon as the log is free and a transaction waits. It includes all that "
                    "have arrived by then; the next starts when it ends.",
                ),
            ),
            gives=Items(Number(whole=True)),
        ),
        why="The busier the log, the more transactions share a flush. The size of a batch needs no setting.",
        hints=(
            "When can the next flush start? Not before the last one has ended, and not before a transaction waits.",
            "begin = max(free, arrivals[next]); all arrivals up to begin are in it.",
            "Count those with arrival <= begin, add the count to the list, and set free = begin + flush_ms.",
        ),
        answer=(
            "def batches(arrivals, flush_ms):\n"
            "    sizes, free, done = [], 0, 0\n"
            "    while done < len(arrivals):\n"
            "        begin = max(free, arrivals[done])\n"
            "        there = sum(at <= begin for at in arrivals)\n"
            "        sizes.append(there - done)\n"
            "        done, free = there, begin + flush_ms\n"
            "    return sizes"
        ),
    ),
)
