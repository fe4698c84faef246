"""Notebook 25, fifty-eight a second: what the learner writes."""

from __future__ import annotations

from math import inf
from typing import Any

from seeklab.course.tasks import Task

NEAR = 0.005
WORK_MS = 2.36
TIMES = ((14.62, 16.79), (5.0, 20.0), (10.0, 2.0))
"""Flush times of the engine's log and of the replication log, in ms."""
STAGES: tuple[tuple[tuple[float, bool], ...], ...] = (
    ((14.62, True), (16.79, False), (14.62, True)),
    ((14.62, True), (4.0, False), (14.62, True)),
    ((5.0, False), (20.0, False), (8.0, True)),
    ((30.0, True), (10.0, False)),
)
"""Flushes of a transaction, in ms, and whether those that wait share them."""
FLUSH_MS = 10
ARRIVALS: tuple[tuple[float, ...], ...] = ((0, 1, 2, 3, 12, 14), (0, 20, 40), (0, 1, 50, 51, 52), (0, 0, 0))
"""When transactions come to a log, in ms."""


def _one(work: float, engine: float, replication: float) -> float:
    return 1000 / (work + 2 * engine + replication)


def _one_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of three times; this is {type(answer).__name__}."
    for engine, replication in TIMES:
        found, truth = float(answer(WORK_MS, engine, replication)), _one(WORK_MS, engine, replication)
        if abs(found / truth - 1) <= NEAR:
            continue
        told = f"For {WORK_MS} ms of work and flushes of {engine} and {replication} ms it gives {found:,.4g}."
        errors = (
            (truth / 1000, "The times are in ms, and wanted are commits a second."),
            (
                1000 / (WORK_MS + engine + replication),
                "The engine's log is flushed twice: when the transaction prepares, and when it commits.",
            ),
            (
                1000 / max(engine, replication),
                "That would be so if the flushes overlapped. One client waits for them in turn.",
            ),
            (1000 / (2 * engine + replication), "The work outside the logs takes time as well."),
        )
        reason = next((reason for value, reason in errors if abs(found / value - 1) <= NEAR), None)
        if reason is not None:
            return f"{told} {reason}"
        return f"{told} One commit takes its work and three flushes, one after the other."
    return None


def _ceiling(stages: tuple[tuple[float, bool], ...]) -> float:
    alone = [ms for ms, is_shared in stages if not is_shared]
    return 1000 / max(alone) if alone else inf


def _ceiling_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of the flushes of a transaction; this is {type(answer).__name__}."
    for stages in STAGES:
        found, truth = float(answer([list(stage) for stage in stages])), _ceiling(stages)
        if abs(found / truth - 1) <= NEAR:
            continue
        told = f"For the flushes {[list(stage) for stage in stages]} it gives {found:,.4g}."
        if abs(found / (1000 / sum(ms for ms, _ in stages)) - 1) <= NEAR:
            return f"{told} That is what one client gets. While one is flushed others are elsewhere on their way."
        if abs(found / (1000 / max(ms for ms, _ in stages)) - 1) <= NEAR:
            return f"{told} The longest flush is one that is shared: it takes any number at a time."
        if abs(found / (1000 / sum(ms for ms, is_shared in stages if not is_shared)) - 1) <= NEAR:
            return f"{told} Flushes of different logs are under way at the same time, for different transactions."
        return (
            f"{told} Each flush that is for one at a time is a counter with one clerk; the slowest of them is the "
            "limit."
        )
    return None


def _batches(arrivals: tuple[float, ...], flush_ms: float) -> list[int]:
    sizes: list[int] = []
    free, done = 0.0, 0
    while done < len(arrivals):
        begin = max(free, arrivals[done])
        there = sum(at <= begin for at in arrivals)
        sizes.append(there - done)
        done, free = there, begin + flush_ms
    return sizes


def _batches_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of arrivals and a time; this is {type(answer).__name__}."
    for arrivals in ARRIVALS:
        found, truth = list(answer(list(arrivals), FLUSH_MS)), _batches(arrivals, FLUSH_MS)
        if found == truth:
            continue
        told = f"For arrivals at {list(arrivals)} ms and flushes of {FLUSH_MS} ms it gives {found}."
        if found == [1] * len(arrivals):
            return f"{told} That is one at a time. Whoever is there when a flush begins is in it."
        if sum(found) != len(arrivals):
            return f"{told} {len(arrivals)} transactions came, and {sum(found)} were flushed: each is flushed once."
        if found and found[0] > truth[0]:
            return (
                f"{told} The first finds the log free and is flushed at once. Whoever comes while that flush is under "
                "way is too late for it, and waits for the next."
            )
        return (
            f"{told} A flush begins as soon as the log is free and somebody waits, and it is for all who have come by"
            " then; the next one begins no sooner than it ends."
        )
    return None


TASKS = {
    "commit/one": Task(
        question=(
            "A transaction takes some work, a flush of the engine's log, one of the replication log, and one of the "
            "engine's log again. Write a function of three times in ms (the work, a flush of the engine's log, a flush "
            "of the replication log): how many commits a second does a single client get?"
        ),
        wants="a function of three numbers that gives commits a second",
        wrong=_one_wrong,
        why="A client that is alone waits for everything, one thing after the other.",
        hints=(
            "How long does one commit take, from beginning to end?",
            "Three flushes and the work, one after the other; the engine's log comes twice.",
            "1000 / (work + 2 * engine + replication)",
        ),
        answer="def one_tps(work, engine, replication):\n    return 1000 / (work + 2 * engine + replication)",
    ),
    "commit/ceiling": Task(
        question=(
            "A transaction's flushes are given as a list of [ms, shared]: how long a flush takes, and whether all who "
            "wait share it. Flushes that are not shared belong to different logs. Write a function of such a list: "
            "which number of commits a second can no crowd of clients exceed?"
        ),
        wants="a function of a list that gives commits a second",
        wrong=_ceiling_wrong,
        why="Only what is done for one at a time sets the ceiling, and of that the slowest.",
        hints=(
            "A shared flush serves as many as come. Which flushes serve only one?",
            "What is done for one at a time is done 1000 / ms times a second.",
            "1000 / max(ms for ms, shared in flushes if not shared)",
        ),
        answer=("def ceiling(flushes):\n    return 1000 / max(ms for ms, shared in flushes if not shared)"),
    ),
    "commit/batches": Task(
        question=(
            "Group commit by hand. Transactions come to a log at the times of a list, in ms, in order. Each flush "
            "takes the same time. Whenever the log is free and somebody waits, it begins a flush for all who have come "
            "by then. Write a function of the list and of the time of a flush that gives a list: the number of "
            "transactions in each flush."
        ),
        wants="a function of a list and a number that gives a list",
        wrong=_batches_wrong,
        why="The busier the log, the more transactions share a flush. Nobody had to set the size of a batch.",
        hints=(
            "When can the next flush begin? Not before the one under way has ended, nor before somebody is there.",
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
}
