"""Notebook 16, the pool that writes in groups: what the learner writes."""

from __future__ import annotations

from functools import cache
from itertools import compress
from typing import TYPE_CHECKING, Any

from seeklab._case import case
from seeklab.course.task import UnconvertedTask as Task

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CASE, POOL = "txg-seconds", "small-five"
LONG_NS = 1e9
START_NS = 20e9
"""The pool fills up before."""
NEAR = 0.03
TARGET = "zfs.txg_synctime"
KEEPS = 0.95
"""Of the throughput with groups of five seconds."""
TAIL_MS = 300


@cache
def _seen() -> tuple[Sequence[tuple[float, float]], Sequence[Mapping[str, float]]]:
    """Give each read's time of day and latency, and the groups."""
    result = case(CASE).run(POOL)
    log, readers = result.ops, result.jobs.index("readers")
    mine = [job == readers and at >= START_NS for job, at in zip(log["job"], log["submit_ns"], strict=True)]
    return list(compress(zip(log["submit_ns"], log["latency_ns"], strict=True), mine)), list(result.groups.rows())


def _by_second(*, at_its_end: bool = False) -> dict[int, float]:
    """Give the mean latency by second of a group's writing: of the second in which a read came, or was answered."""
    reads, groups = _seen()
    ages: dict[int, list[float]] = {}
    for submit, latency in reads:
        at = submit + latency if at_its_end else submit
        for group in groups:
            if group["sync_started_ns"] <= at < group["synced_ns"]:
                ages.setdefault(int((at - group["sync_started_ns"]) / 1e9), []).append(latency / 1e6)
    return {second: sum(times) / len(times) for second, times in ages.items()}


def _share_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    reads, _ = _seen()
    times = [latency for _, latency in reads]
    slow = [latency for latency in times if latency > LONG_NS]
    of_reads, of_time = len(slow) / len(times), sum(slow) / sum(times)
    first, second = (float(part) for part in answer)
    if abs(first - 100 * of_reads) < 1 or abs(second - 100 * of_time) < 1:
        return "These are per cent; give shares between 0 and 1."
    if abs(first - of_time) < NEAR and abs(second - of_reads) < NEAR:
        return "The right numbers in the wrong order: first the share of the reads, then the share of the time."
    if abs(first - of_reads) > NEAR * of_reads:
        return f"Of the reads you give {first:.3g}; {len(slow):,} of {len(times):,} took longer than a second."
    if abs(second - of_time) > NEAR * of_time:
        if abs(second - sum(slow) / len(slow) / 1e9) < NEAR:
            return f"{second:.3g} is how long a slow read takes, in seconds. Wanted is their part of all reads' time."
        return f"Of the time you give {second:.3g}; divide the slow reads' latency_ns by that of all reads."
    return None


def _age_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    truth = _by_second()
    found = {int(second): float(ms) for second, ms in dict(answer).items()}

    def agrees(other: Mapping[int, float]) -> bool:
        return all(abs(found.get(second, 0) - other[second]) <= NEAR * other[second] for second in other)

    if agrees(truth):
        return None
    if agrees(_by_second(at_its_end=True)):
        return "You place each read by the moment at which it was answered. The scheduler knew when it came: submit_ns."
    if agrees({second: 1e6 * ms for second, ms in truth.items()}):
        return "These are nanoseconds; wanted are milliseconds."
    if not set(truth) <= set(found):
        return f"The keys are the seconds {', '.join(map(str, sorted(truth)))} of a group's writing."
    off = max(truth, key=lambda second: abs(found[second] / truth[second] - 1))
    return (
        f"For second {off} you give {found[off]:,.0f} ms; the mean of the reads that came in it is {truth[off]:,.0f}."
    )


def _target_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    changes = {str(path): value for path, value in dict(answer).items()}
    if set(changes) != {TARGET}:
        return f"Set {TARGET} and nothing else: how many seconds of writing belong in a group."
    quiet = case(CASE).with_({"record.log": False})
    base = quiet.run(POOL).metrics["zfs_group_mib_per_s"]
    metrics = quiet.with_(changes).run(POOL).metrics
    tail, keeps = metrics["readers.read_latency_p99_ms"], metrics["zfs_group_mib_per_s"] / base
    if tail > TAIL_MS:
        return (
            f"The slowest of a hundred reads takes {tail:,.0f} ms; at most {TAIL_MS} are wanted. The groups still live "
            "long enough for their writes to go before reads."
        )
    if keeps < KEEPS:
        return (
            f"Reads are fine ({tail:.0f} ms), but the pool keeps {100 * keeps:.1f} % of its throughput, and "
            f"{100 * KEEPS:.0f} % are wanted. Each group has a price; make fewer of them."
        )
    return None


_BEFORE = (
    "import seeklab\n"
    'pool = seeklab.case("txg-seconds").run("small-five")\n'
    'readers = pool.jobs.index("readers")\n'
    'reads = [row for row in pool.ops.rows() if row["job"] == readers and row["submit_ns"] >= 20e9]\n'
    "groups = list(pool.groups.rows())\n"
)

TASKS = {
    "groups/share": Task(
        question=(
            "reads is a list of rows with latency_ns. Which share of the reads took longer than a second, and which "
            "share of the time of all reads together did these take?"
        ),
        wants="two numbers between 0 and 1: the share of the reads, and the share of the time",
        wrong=_share_wrong,
        why="A read that is slow is slow for long: a part of the reads has nearly all of the waiting.",
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
    "groups/age": Task(
        question=(
            "groups is a list of rows: a group's writes go to the disks from sync_started_ns to synced_ns. For each "
            "read, find the group that was being written when it came (submit_ns), and how long already. What is the "
            "mean latency, in ms, of the reads that came in the first second of a group's writing, in the second, ...?"
        ),
        wants="a dictionary: whole seconds since the group's writing began (0, 1, 2, ...), and the mean latency in ms",
        wrong=_age_wrong,
        why="For two seconds a read is served at once. Then, from one moment to the next, it is not.",
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
    "groups/target": Task(
        question=(
            "Choose for this pool of four disks how many seconds of writing belong in a group. The slowest of a "
            "hundred reads must take at most 300 ms, and the pool must keep 95 % of the throughput that it has now."
        ),
        wants="a dictionary with one path, zfs.txg_synctime, and a time such as '3s' or '700ms'",
        wrong=_target_wrong,
        why="As large as a group can be that is gone before its writes are past due.",
        hints=(
            "When do the writes of a group become more urgent than a new read?",
            "A group that is written within that time never gets there. A much smaller one pays its price more often.",
            "Somewhat more than two seconds is too much for reads, and one second is too little for the throughput.",
        ),
        setup=_BEFORE,
        answer='target = {"zfs.txg_synctime": "2s"}',
    ),
}
