"""Notebook 26, 512 bytes: its tasks."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from seeklab.course.task import Task
from seeklab.judge import Cases, Function, Mistake

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Rows = Sequence[Mapping[str, float]]

GIB_IN_MB = (1 << 30) / 1e6
OPS: tuple[Rows, ...] = (
    [{"latency_ns": 20e6, "journal_ns": 15e6}, {"latency_ns": 5e6, "journal_ns": 0.0}],
    [
        {"latency_ns": 1e9, "journal_ns": 9e8},
        {"latency_ns": 1e6, "journal_ns": 0.0},
        {"latency_ns": 1e6, "journal_ns": 0.0},
    ],
)


def _stall(gib: float, rate_mb: float) -> float:
    return gib * GIB_IN_MB / rate_mb


def _share(rows: Rows) -> float:
    return sum(row["journal_ns"] for row in rows) / sum(row["latency_ns"] for row in rows)


def _drain(memory_gib: float, share: float, percent: float, rate_mb: float) -> float:
    return _stall(memory_gib, rate_mb) * share * percent / 100


TASKS = (
    Task(
        "page_cache/stall",
        question=(
            "A commit must write some GiB of data first, and the disk takes some MB/s. Write a function of these "
            "two numbers: for how many seconds does a write wait if it needs the commit?"
        ),
        kind=Function("GiB and MB/s"),
        check=Cases(
            _stall,
            ((4, 257.2), (1, 100), (5, 514.4)),
            "For {gib} GiB and {rate_mb} MB/s",
            (
                Mistake(
                    "mebibytes",
                    "A GiB is 1024 MiB, which is 1073.7 MB: the rate is in MB.",
                    gives=lambda gib, rate_mb: gib * 1024 / rate_mb,
                ),
                Mistake(
                    "gigabytes",
                    "1000 MB are a GB; a GiB has 1073.7 MB.",
                    gives=lambda gib, rate_mb: gib * 1000 / rate_mb,
                ),
                Mistake("other", "The disk must write all of the data, at its MB/s."),
            ),
            unit=" s",
        ),
        why="The result does not depend on the 512 bytes or on the processors.",
        hints=(
            "How many MB are in a GiB?",
            "2**30 / 1e6, which is 1073.7.",
            "gib * 2**30 / 1e6 / rate_mb",
        ),
        answer="def stall_s(gib, rate_mb):\n    return gib * 2**30 / 1e6 / rate_mb",
    ),
    Task(
        "page_cache/share",
        question=(
            "Each row of a log of operations is a dictionary. Its `latency_ns` is its duration, and `journal_ns` "
            "is the part of it spent waiting for a commit. Write a function of a list of such rows: what share "
            "of the time of all operations, from 0 to 1, was spent waiting for a commit?"
        ),
        kind=Function("a list of rows"),
        check=Cases(
            _share,
            [(rows,) for rows in OPS],
            lambda rows: f"For {len(rows)} writes",
            (
                Mistake(
                    "mean-of-shares",
                    "That is the mean of each write's share, where a write of a millisecond counts as much as one of a "
                    "second. Add up the times first, then divide.",
                    gives=lambda rows: fmean(row["journal_ns"] / row["latency_ns"] for row in rows),
                ),
                Mistake("percent", "That is in percent; return a share from 0 to 1.", times=100),
                Mistake("other", "Divide the `journal_ns` of all writes by the `latency_ns` of all writes."),
            ),
        ),
        why="It shows what caused a pause: the journal or something else.",
        hints=(
            "Two sums and a division.",
            "sum(row['journal_ns'] for row in rows), and the same with the latency.",
            "sum(row['journal_ns'] for row in rows) / sum(row['latency_ns'] for row in rows)",
        ),
        answer=(
            "def journal_share(rows):\n"
            "    return sum(row['journal_ns'] for row in rows) / sum(row['latency_ns'] for row in rows)"
        ),
    ),
    Task(
        "page_cache/drain",
        question=(
            "`dirty_ratio` is a percentage not of all memory but of the part that can be dirty. Write a function of "
            "four numbers: the memory in GiB, the share of it that can be dirty (0 to 1), the percentage, and the "
            "disk's MB/s. How many seconds does the disk need to write as much as the limit allows?"
        ),
        kind=Function("four numbers"),
        check=Cases(
            _drain,
            ((94, 0.823, 10, 250), (16, 0.5, 20, 100), (512, 0.9, 40, 2000)),
            "For {memory_gib} GiB ({share:.0%} can be dirty), {percent}% and {rate_mb} MB/s",
            (
                Mistake(
                    "all-memory",
                    "The percentage is of the part that can be dirty, not of all memory.",
                    gives=lambda memory_gib, _, percent, rate_mb: _drain(memory_gib, 1, percent, rate_mb),
                ),
                Mistake("not-hundredths", "A percent is a hundredth.", times=100),
                Mistake(
                    "other",
                    "How many MB does the limit allow? Divide them by the MB that the disk writes in a second.",
                ),
            ),
            unit=" s",
        ),
        why="A limit in percent grows with each memory upgrade, but the disk does not get faster.",
        hints=(
            "How many MB can be dirty?",
            "memory_gib * 2**30 / 1e6 * share, and of these percent / 100.",
            "memory_gib * 2**30 / 1e6 * share * percent / 100 / rate_mb",
        ),
        answer=(
            "def drain_s(memory_gib, share, percent, rate_mb):\n"
            "    return memory_gib * 2**30 / 1e6 * share * percent / 100 / rate_mb"
        ),
    ),
)
