"""Notebook 11, flash where it helps: what the learner writes."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from seeklab._case import case
from seeklab.course.task import UnconvertedTask as Task

if TYPE_CHECKING:
    from collections.abc import Callable

    from seeklab._result import Result

WARM_S = 60
MAX_MIB = 18
MIB = 1 << 20
MIRROR_MB_PER_S = 96
LOG_MB_PER_S = 110
POOLS = ((2, 1), (4, 1), (4, 3), (16, 6))
"""Disks and log SSDs of the pools on which a rule is tried."""


@cache
def patient() -> Result:
    """Give the gigabyte's incident as eight threads see it that wait for each answer."""
    threads = {"jobs[database].rate_iops": None, "jobs[database].iodepth": 1, "jobs[database].numjobs": 8}
    return case("slog-divert").with_({**threads, "record.log": True}).run("one-log")


@cache
def diverting_pays(disks: int, logs: int) -> bool:
    """Say whether a commit of half a gigabyte is done sooner when it goes to the pool."""
    changes = {
        "devices[disk].count": disks,
        "zfs.log.devices.count": logs,
        "jobs[database].rate_iops": 1,
        "jobs[fsflush].number_ios": 477,
        "jobs[fsflush].fsync": 477,
        "record.log": False,
    }
    kept, diverted = (
        case("slog-divert").with_({**changes, "zfs.log.slog_limit": limit}).run("diverted").metrics
        for limit in (0, MIB)
    )
    return bool(diverted["zfs_log_largest_commit_s"] < kept["zfs_log_largest_commit_s"])


def _feed_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    given = int(answer)
    if given != answer or isinstance(answer, bool):
        return "Wanted is a whole number of bytes a second, such as 8 * MIB."
    if 0 < given < 1000:  # noqa: PLR2004 -- nobody feeds a cache at a thousand bytes a second
        return f"{given} bytes a second; multiply by MIB."
    changes = {"zfs.l2arc.write_max": given, "jobs[client].runtime": "80s", "record.log": False}
    reached = case("l2arc-warmth").with_(changes).run("warming").metrics.get("zfs_l2_to_80_percent_s")
    told = f"With {given / MIB:.1f} MiB/s 80 % are there " + (
        "not even after 80 s." if reached is None else f"after {reached:.0f} s."
    )
    if reached is None or reached > WARM_S:
        return f"{told} By division it takes 0.8 x 1024 MiB over the rate."
    if given > MAX_MIB * MIB:
        return f"{told} Soon enough; but every MiB more wears the flash, and {MAX_MIB} would do."
    return None


def _waits_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    count, time = (float(part) for part in answer)
    times = [row["latency_ns"] for row in patient().ops.rows() if row["job"] == 0]
    slow = [value for value in times if value > 1e9]  # noqa: PLR2004 -- a second
    of_writes, of_time = 100 * len(slow) / len(times), 100 * sum(slow) / sum(times)
    if abs(count - of_writes) <= 0.02 * of_writes and abs(time - of_time) <= 0.02 * of_time:
        return None
    if abs(count - of_time) <= 0.02 * of_time and abs(time - of_writes) <= 0.02 * of_writes:
        return "The other way round: first the percent of the writes, then the percent of the time."
    if abs(100 * count - of_writes) <= 0.02 * of_writes:
        return "These are shares of 1; wanted are percent."
    everybody = [row["latency_ns"] for row in patient().ops.rows()]
    if abs(count - 100 * sum(value > 1e9 for value in everybody) / len(everybody)) <= 0.02 * count:  # noqa: PLR2004
        return "You counted the gigabyte's own writes as well: keep the rows whose job is 0, the database."
    return (
        f"You give {count:.3g} % of the writes and {time:.3g} % of the time. {len(slow)} of {len(times):,} writes took "
        "longer than a second."
    )


def _pays_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of disks and log SSDs; this is {type(answer).__name__}."
    rule: Callable[[int, int], object] = answer
    truth = {pool: diverting_pays(*pool) for pool in POOLS}
    said = {pool: bool(rule(*pool)) for pool in POOLS}
    wrong = [pool for pool in POOLS if said[pool] is not truth[pool]]
    if not wrong:
        return None
    if len(wrong) == len(POOLS):
        return "It is wrong about every pool: it says when *not* to divert."
    disks, logs = wrong[0]
    told = f"With {disks} disks and {logs} log SSDs diverting {'pays' if truth[wrong[0]] else 'does not pay'}."
    if said == {(d, n): d * MIRROR_MB_PER_S > n * LOG_MB_PER_S for d, n in POOLS}:
        return f"{told} In a mirror both disks write the same: count mirrors, not disks."
    if said == {(d, n): d / 2 * MIRROR_MB_PER_S > LOG_MB_PER_S for d, n in POOLS}:
        return f"{told} Several log SSDs take their blocks in turn: their rates add up."
    return f"{told} Compare the rate of all mirrors with the rate of all log SSDs."


TASKS = {
    "flash/feed": Task(
        question=(
            f"80 % of a working set of 1024 MiB must be on the SSD after {WARM_S} s. How many bytes a second must the "
            f"feed be allowed to write? Every byte wears the flash, so allow at most about {MAX_MIB} MiB/s."
        ),
        wants="a whole number of bytes a second",
        wrong=_feed_wrong,
        why="As long as it finds enough to write, the feed's limit is the speed at which a cache of this kind warms.",
        hints=(
            "With 8 MiB a second, when would 80 % of 1024 MiB be there?",
            "0.8 * 1024 MiB / 60 s, and a little more, since the feed loses time at the start.",
            "15 * MIB is 15 MiB/s.",
        ),
        answer="feed = 15 * MIB",
    ),
    "flash/waits": Task(
        question=(
            "patient().ops is the log of the eight threads' run; the database's rows have job 0. In per cent: what "
            "share of its writes took longer than a second, and what share of all its waiting was for those?"
        ),
        wants="a pair of numbers: percent of the writes, percent of the time",
        wrong=_waits_wrong,
        why="Hardly any of the writes, and nearly all of the waiting. Counting writes does not show the incident.",
        hints=(
            "times = [row['latency_ns'] for row in patient().ops.rows() if row['job'] == 0]",
            "slow = [time for time in times if time > 1e9]",
            "The two are 100 * len(slow) / len(times) and 100 * sum(slow) / sum(times).",
        ),
        answer=(
            'times = [row["latency_ns"] for row in patient().ops.rows() if row["job"] == 0]\n'
            "slow = [time for time in times if time > 1e9]\n"
            "waits = 100 * len(slow) / len(times), 100 * sum(slow) / sum(times)"
        ),
    ),
    "flash/pays": Task(
        question=(
            f"A mirror of two disks streams {MIRROR_MB_PER_S} MB/s, a log SSD {LOG_MB_PER_S} MB/s. Write the rule: a "
            "function of disks (in mirrors of two) and of log SSDs that says whether a large commit is done sooner "
            "if it is diverted to the pool."
        ),
        wants="a function of two numbers that gives True or False",
        wrong=_pays_wrong,
        why="For the commit the faster of two rates wins, and one more SSD can decide it. Everybody else always gains.",
        hints=(
            "How many mirrors are there, and what do they stream together?",
            "Log SSDs take their blocks in turn, so their rates add up as well.",
            "Compare disks / 2 * 96 with logs * 110.",
        ),
        answer="def pays(disks, logs):\n    return disks / 2 * 96 > logs * 110",
    ),
}
