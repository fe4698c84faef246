"""Notebook 26, 512 bytes: what the learner writes."""

from __future__ import annotations

from typing import Any

from seeklab.course.task import UnconvertedTask as Task

NEAR = 0.005
GIB_IN_MB = (1 << 30) / 1e6
OPS = (
    [{"latency_ns": 20e6, "journal_ns": 15e6}, {"latency_ns": 5e6, "journal_ns": 0.0}],
    [
        {"latency_ns": 1e9, "journal_ns": 9e8},
        {"latency_ns": 1e6, "journal_ns": 0.0},
        {"latency_ns": 1e6, "journal_ns": 0.0},
    ],
)
MACHINES = ((94, 0.823, 10, 250), (16, 0.5, 20, 100), (512, 0.9, 40, 2000))


def _stall_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of GiB and MB/s; this is {type(answer).__name__}."
    for gib, rate in ((4, 257.2), (1, 100), (5, 514.4)):
        found, truth = float(answer(gib, rate)), gib * GIB_IN_MB / rate
        if abs(found / truth - 1) <= NEAR:
            continue
        told = f"For {gib} GiB and {rate} MB/s it gives {found:.2f} s."
        if abs(found / (gib * 1024 / rate) - 1) <= NEAR:
            return f"{told} A GiB is 1024 MiB, which are 1073.7 MB: the rate is in MB."
        if abs(found / (gib * 1000 / rate) - 1) <= NEAR:
            return f"{told} 1000 MB are a GB; a GiB has 1073.7 of them."
        return f"{told} All of it has to pass the disk, at so many MB each second."
    return None


def _share_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of rows; this is {type(answer).__name__}."
    for rows in OPS:
        found = float(answer([dict(row) for row in rows]))
        waited, all_ns = sum(row["journal_ns"] for row in rows), sum(row["latency_ns"] for row in rows)
        if abs(found - waited / all_ns) <= NEAR:
            continue
        told = f"For {len(rows)} writes it gives {found:.3f}."
        mean = sum(row["journal_ns"] / row["latency_ns"] for row in rows) / len(rows)
        if abs(found - mean) <= NEAR:
            return (
                f"{told} That is the mean of each write's share, in which a write of a millisecond counts as much as"
                " one of a second. Add up the times first, then divide."
            )
        if abs(found - 100 * waited / all_ns) <= NEAR * 100:
            return f"{told} That is in per cent; wanted is a share, from 0 to 1."
        return f"{told} Time in the phase `journal` of all writes, over the time of all writes."
    return None


def _drain(memory_gib: float, share: float, percent: float, rate_mb: float) -> float:
    return memory_gib * GIB_IN_MB * share * percent / 100 / rate_mb


def _drain_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of four numbers; this is {type(answer).__name__}."
    for machine in MACHINES:
        found, truth = float(answer(*machine)), _drain(*machine)
        if abs(found / truth - 1) <= NEAR:
            continue
        memory, share, percent, rate = machine
        told = (
            f"For {memory} GiB, of which {share:.0%} can be dirty, {percent} % and {rate} MB/s it gives {found:.1f} s."
        )
        if abs(found / _drain(memory, 1, percent, rate) - 1) <= NEAR:
            return f"{told} The percentage is of what can be dirty, not of all memory."
        if abs(found / (100 * truth) - 1) <= NEAR:
            return f"{told} Per cent are hundredths."
        return f"{told} How many MB does the limit allow? Divide them by the MB that the disk writes in a second."
    return None


TASKS = {
    "page_cache/stall": Task(
        question=(
            "A commit has to write so many GiB of data first, and the disk takes so many MB/s. Write a function of the "
            "two: for how many seconds does a write wait that needs the commit?"
        ),
        wants="a function of GiB and MB/s that gives seconds",
        wrong=_stall_wrong,
        why="Neither the 512 bytes nor the processors appear in it.",
        hints=(
            "How many MB are a GiB?",
            "2**30 / 1e6 are 1073.7.",
            "gib * 2**30 / 1e6 / rate_mb",
        ),
        answer="def stall_s(gib, rate_mb):\n    return gib * 2**30 / 1e6 / rate_mb",
    ),
    "page_cache/share": Task(
        question=(
            "Each row of a log of operations is a dictionary. Its `latency_ns` is how long the operation took, and "
            "`journal_ns` the part of that which was spent waiting for a commit. Write a function of a list of such "
            "rows: what share of the time of all operations, from 0 to 1, was spent so?"
        ),
        wants="a function of a list of rows that gives a share",
        wrong=_share_wrong,
        why="It tells whose pause it was: the journal's, or somebody else's.",
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
    "page_cache/drain": Task(
        question=(
            "`dirty_ratio` is a percentage not of all memory but of that which can be dirty at all. Write a function "
            "of the memory in GiB, the share of it that can be dirty (0 to 1), the percentage, and the disk's MB/s: "
            "how many seconds does the disk need to write as much as the limit allows?"
        ),
        wants="a function of four numbers that gives seconds",
        wrong=_drain_wrong,
        why="A limit in per cent grows with each memory upgrade, and the disk becomes no faster.",
        hints=(
            "How many MB can be dirty?",
            "memory_gib * 2**30 / 1e6 * share, and of these so many hundredths.",
            "memory_gib * 2**30 / 1e6 * share * percent / 100 / rate_mb",
        ),
        answer=(
            "def drain_s(memory_gib, share, percent, rate_mb):\n"
            "    return memory_gib * 2**30 / 1e6 * share * percent / 100 / rate_mb"
        ),
    ),
}
