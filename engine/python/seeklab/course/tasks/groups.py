"""Notebook 16, the pool that writes in groups: its tasks."""

from __future__ import annotations

from functools import cache
from itertools import compress
from typing import TYPE_CHECKING

from seeklab._case import case
from seeklab.course.task import Task
from seeklab.judge import Bound, Change, Items, Mistake, Number, Settings, Table, Value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from seeklab._result import Result

CASE, POOL = "txg-seconds", "small-five"
START_NS = 20e9
"""The pool fills up before this time."""
NEAR = 0.03
TARGET = "zfs.txg_synctime"
KEEPS = 0.95
"""Required share of the throughput with groups of five seconds."""
TAIL_MS = 300


@cache
def _seen() -> tuple[Sequence[tuple[float, float]], Sequence[Mapping[str, float]]]:
    """Return the time and the latency of each read, and the groups."""
    result = case(CASE).run(POOL)
    log, readers = result.ops, result.jobs.index("readers")
    mine = [job == readers and at >= START_NS for job, at in zip(log["job"], log["submit_ns"], strict=True)]
    return list(compress(zip(log["submit_ns"], log["latency_ns"], strict=True), mine)), list(result.groups.rows())


def _by_second(*, at_its_end: bool = False) -> dict[int, float]:
    """Return the mean latency of reads by the second of a group's writing when they arrived, or were answered."""
    reads, groups = _seen()
    ages: dict[int, list[float]] = {}
    for submit, latency in reads:
        at = submit + latency if at_its_end else submit
        for group in groups:
            if group["sync_started_ns"] <= at < group["synced_ns"]:
                ages.setdefault(int((at - group["sync_started_ns"]) / 1e9), []).append(latency / 1e6)
    return {second: sum(times) / len(times) for second, times in sorted(ages.items())}


def _times() -> tuple[list[float], list[float]]:
    """Return the latencies of all reads, and those of more than a second, in seconds."""
    times = [latency / 1e9 for _, latency in _seen()[0]]
    return times, [time for time in times if time > 1]


def _share() -> tuple[float, float]:
    times, slow = _times()
    return len(slow) / len(times), sum(slow) / sum(times)


def _pool(changes: Mapping[str, object]) -> Result:
    return case(CASE).with_({"record.log": False, **changes}).run(POOL)


_BEFORE = (
    "import seeklab\n"
    'pool = seeklab.case("txg-seconds").run("small-five")\n'
    'readers = pool.jobs.index("readers")\n'
    'reads = [row for row in pool.ops.rows() if row["job"] == readers and row["submit_ns"] >= 20e9]\n'
    "groups = list(pool.groups.rows())\n"
)

TASKS = (
    Task(
        "groups/share",
        question=(
            "reads is a list of rows with latency_ns. What share of the reads took longer than a second, and "
            "what share of the time of all reads together did these take? Assign a pair of shares between 0 and "
            "1."
        ),
        kind=Items(Number(), 2),
        check=Value(
            _share,
            (
                Mistake("percent", "These are percentages; convert them to shares between 0 and 1.", times=100),
                Mistake(
                    "swapped",
                    "Swap them: first the share of the reads, then the share of the time.",
                    gives=lambda: _share()[::-1],
                ),
                Mistake(
                    "seconds",
                    "The second number is how long a slow read takes, in seconds. Use the slow reads' share of "
                    "the time of all reads.",
                    gives=lambda: (_share()[0], sum(_times()[1]) / len(_times()[1])),
                ),
                Mistake(
                    "reads",
                    "For the share of the reads, divide the number of slow reads by the number of all reads.",
                    when=lambda found, truth: abs(found[0] - truth[0]) > NEAR * truth[0],
                ),
                Mistake(
                    "other",
                    "For the share of the time, divide the slow reads' latency_ns by the latency_ns of all reads.",
                ),
            ),
            within=NEAR,
        ),
        why="A slow read is slow for a long time: a small share of the reads has nearly all of the waiting.",
        hints=(
            "A second is 1e9 nanoseconds: slow = [read for read in reads if read['latency_ns'] is more than that].",
            "The first share compares lengths of lists, the second sums of latency_ns.",
            "(len(slow) / len(reads), sum of the slow ones / sum of all)",
        ),
        setup=_BEFORE,
        answer=(
            'slow = [read["latency_ns"] for read in reads if read["latency_ns"] > 1e9]\n'
            'share = (len(slow) / len(reads), sum(slow) / sum(read["latency_ns"] for read in reads))'
        ),
    ),
    Task(
        "groups/age",
        question=(
            "groups is a list of rows: a group's writes go to the disks from sync_started_ns to synced_ns. For "
            "each read, find the group that was being written when the read arrived (submit_ns), and since when. "
            "What is the mean latency, in ms, of the reads that arrived in the first second of a group's "
            "writing, in the second, and so on? Assign a dictionary with the keys 0, 1, 2, ..."
        ),
        kind=Table(Number(whole=True), Number(), "whole seconds of a group's writing, and the mean latency in ms"),
        check=Value(
            _by_second,
            (
                Mistake(
                    "at-its-end",
                    "You place each read by the time of its answer. Place it by its arrival, submit_ns: that is "
                    "what the scheduler knows.",
                    gives=lambda: _by_second(at_its_end=True),
                ),
                Mistake("nanoseconds", "That is in nanoseconds; convert it to milliseconds.", times=1e6),
                Mistake("other", "Take the mean latency of the reads that arrived in this second of the writing."),
            ),
            unit=" ms",
            within=NEAR,
            label="Second {key}",
        ),
        why="For two seconds reads are served at once. Then, suddenly, they are not.",
        hints=(
            "Two loops: for each read, for each group; keep the pair with sync_started_ns <= submit_ns < synced_ns.",
            "The second is int((submit_ns - sync_started_ns) / 1e9); ages.setdefault(second, []).append(...) collects.",
            "At the end, a mean for each second: sum(times) / len(times).",
        ),
        setup=_BEFORE,
        answer=(
            "ages = {}\n"
            "for read in reads:\n"
            "    for group in groups:\n"
            '        if group["sync_started_ns"] <= read["submit_ns"] < group["synced_ns"]:\n'
            '            second = int((read["submit_ns"] - group["sync_started_ns"]) / 1e9)\n'
            '            ages.setdefault(second, []).append(read["latency_ns"] / 1e6)\n'
            "by_age = {second: sum(times) / len(times) for second, times in ages.items()}"
        ),
    ),
    Task(
        "groups/target",
        question=(
            "Choose how many seconds of writing a group should have for this pool of four disks. The 99th "
            f"percentile of the reads' latency must be at most {TAIL_MS} ms, and the pool must keep {KEEPS:.0%} "
            f"of its present throughput. Assign a dictionary with one path, {TARGET}, and a time such as '3s' or "
            "'700ms'."
        ),
        kind=Settings((TARGET,)),
        check=Change(
            _pool,
            lambda: [
                Bound(
                    "readers.read_latency_p99_ms",
                    at_most=TAIL_MS,
                    why=Mistake("tail", "The groups last too long: their writes become overdue and go before reads."),
                ),
                Bound(
                    "zfs_group_mib_per_s",
                    at_least=KEEPS * _pool({}).metrics["zfs_group_mib_per_s"],
                    why=Mistake("throughput", "Each group has a cost; make fewer of them."),
                ),
            ],
        ),
        why="A group is as large as possible, but still written before its writes are overdue.",
        hints=(
            "When do the writes of a group become more urgent than a new read?",
            "A group that is written within that time avoids this. A much smaller one pays its cost more often.",
            "Somewhat more than two seconds is too much for reads, and one second is too little for the throughput.",
        ),
        setup=_BEFORE,
        answer='target = {"zfs.txg_synctime": "2s"}',
    ),
)
