"""Notebook 11, flash where it helps: its tasks."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from seeklab._case import case
from seeklab.course.task import Task
from seeklab.judge import ANSWER, Evidence, Function, Items, Mistake, Number, Value, Without, diagnose
from seeklab.judge.mistakes import called

if TYPE_CHECKING:
    from collections.abc import Callable

    from seeklab._result import Result
    from seeklab.judge import Asked

WARM_S = 60
MAX_MIB = 18
MIB = 1 << 20
MIRROR_MB_PER_S = 96
LOG_MB_PER_S = 110
POOLS = ((2, 1), (4, 1), (4, 3), (16, 6))
"""Disks and log SSDs of the pools that test a rule."""


@cache
def patient() -> Result:
    """Return the incident of the gigabyte, for eight threads that wait for each answer."""
    threads = {"jobs[database].rate_iops": None, "jobs[database].iodepth": 1, "jobs[database].numjobs": 8}
    return case("slog-divert").with_({**threads, "record.log": True}).run("one-log")


@cache
def diverting_pays(disks: int, logs: int) -> bool:
    """Return whether a commit of half a gigabyte completes sooner when it goes to the pool."""
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


def _warm_s(write_max: int) -> float | None:
    """Return when 80% of the working set is on the SSD, or None if that takes more than 80 s."""
    changes = {"zfs.l2arc.write_max": write_max, "jobs[client].runtime": "80s", "record.log": False}
    return case("l2arc-warmth").with_(changes).run("warming").metrics.get("zfs_l2_to_80_percent_s")


def _too_slow(write_max: int) -> str:
    warm_s = _warm_s(write_max)
    if warm_s is None:
        return "not even after 80 s"
    return f"after {warm_s:.0f} s" if warm_s > WARM_S else ""


@cache
def _times(*, all_jobs: bool = False) -> tuple[list[int], list[int]]:
    """Return the latencies of the database's writes, or of all writes, and those of more than a second."""
    times = [row["latency_ns"] for row in patient().ops.rows() if all_jobs or row["job"] == 0]
    return times, [time for time in times if time > 1e9]


def _waits(*, all_jobs: bool = False) -> tuple[float, float]:
    times, slow = _times(all_jobs=all_jobs)
    return 100 * len(slow) / len(times), 100 * sum(slow) / sum(times)


def _rule(pays: Callable[[int, int], object]) -> dict[tuple[int, int], bool]:
    """Return a rule's decision for each pool."""
    return {pool: bool(pays(*pool)) for pool in POOLS}


RULES = (
    Mistake(
        "inverted",
        "It is wrong about every pool: it says when *not* to divert.",
        gives=lambda: _rule(lambda *pool: not diverting_pays(*pool)),
    ),
    Mistake(
        "disks-not-mirrors",
        "In a mirror both disks write the same data: count mirrors, not disks.",
        gives=_rule(lambda disks, logs: disks * MIRROR_MB_PER_S > logs * LOG_MB_PER_S),
    ),
    Mistake(
        "one-log",
        "Several log SSDs take their blocks in turn: their rates add up.",
        gives=_rule(lambda disks, _: disks / 2 * MIRROR_MB_PER_S > LOG_MB_PER_S),
    ),
    Mistake("other", "Compare the rate of all mirrors with the rate of all log SSDs."),
)


def _pays(asked: Asked) -> list[Evidence]:
    said, truth = _rule(lambda *pool: called(asked.answers[ANSWER], *pool)), _rule(diverting_pays)
    wrong = [pool for pool in POOLS if said[pool] is not truth[pool]]
    if not wrong:
        return [Evidence("pools", f"all {len(POOLS)}", "right", met=True)]
    disks, logs = wrong[0]
    mistake = diagnose(RULES, said)
    lead = f"With {disks} disks and {logs} log SSDs diverting {'pays' if truth[wrong[0]] else 'does not pay'}. "
    return [Evidence("pools", str(wrong[0]), "right", met=False, why=lead + mistake.why, code=mistake.code)]


TASKS = (
    Task(
        "flash/feed",
        question=(
            f"80% of a working set of 1024 MiB must be on the SSD after {WARM_S} s. How many bytes per second must the "
            f"feed be allowed to write? Every byte wears the flash, so allow at most about {MAX_MIB} MiB/s."
        ),
        kind=Number(whole=True),
        check=Without(
            (
                Mistake("unit", "That is a few bytes; multiply by MIB.", when=lambda found: 0 < found < 1000),
                Mistake(
                    "slow",
                    "80% is on the SSD {match}. To estimate the time, divide 0.8 x 1024 MiB by the rate.",
                    when=_too_slow,
                ),
                Mistake(
                    "wear",
                    f"That is soon enough; but each additional MiB wears the flash, and {MAX_MIB} are enough.",
                    when=lambda found: found > MAX_MIB * MIB,
                ),
            )
        ),
        why="If it finds enough to write, the feed's limit sets how fast such a cache warms up.",
        hints=(
            "With 8 MiB per second, when would 80% of 1024 MiB be on the SSD?",
            "0.8 * 1024 MiB / 60 s, and a little more, because the feed loses time at the start.",
            "15 * MIB is 15 MiB/s.",
        ),
        answer="feed = 15 * MIB",
    ),
    Task(
        "flash/waits",
        question=(
            "patient().ops is the log of the eight threads' run; the database's rows have job 0. What percentage "
            "of its writes took longer than a second, and what percentage of its total waiting time did those "
            "take? Assign a pair of the two."
        ),
        kind=Items(Number(), 2),
        check=Value(
            _waits,
            (
                Mistake(
                    "swapped",
                    "Swap them: first the percentage of the writes, then the percentage of the time.",
                    gives=lambda: _waits()[::-1],
                ),
                Mistake("fraction", "These are fractions; convert them to percent.", times=0.01),
                Mistake(
                    "all-jobs",
                    "You counted the gigabyte's own writes as well: keep the rows whose job is 0, the database.",
                    gives=lambda: _waits(all_jobs=True),
                ),
                Mistake(
                    "other", "Take the database's writes of a second or longer: their share of all, and of the time."
                ),
            ),
            within=0.02,
        ),
        why="Very few of the writes, and nearly all of the waiting. A count of writes does not show the incident.",
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
    Task(
        "flash/pays",
        question=(
            f"A mirror of two disks writes {MIRROR_MB_PER_S} MB/s sequentially, a log SSD {LOG_MB_PER_S} MB/s. "
            "Write the rule: a function of the number of disks (in mirrors of two) and the number of log SSDs. "
            "It returns True if a large commit completes sooner when it is diverted to the pool, and False if "
            "not."
        ),
        kind=Function("disks and log SSDs"),
        check=_pays,
        why=(
            "The faster of two rates wins for the commit, and one more SSD can change the result. Other writes "
            "always gain."
        ),
        hints=(
            "How many mirrors are there, and what do they write together?",
            "Log SSDs take their blocks in turn, so their rates add up as well.",
            "Compare disks / 2 * 96 with logs * 110.",
        ),
        answer="def pays(disks, logs):\n    return disks / 2 * 96 > logs * 110",
    ),
)
