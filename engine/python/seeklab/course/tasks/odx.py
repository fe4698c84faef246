"""Notebook 01, the missing 256 KiB: its tasks."""

from __future__ import annotations

from collections import Counter
from functools import cache
from statistics import fmean
from typing import TYPE_CHECKING, Any

from seeklab._case import case
from seeklab.course.task import Task
from seeklab.judge import ANSWER, Counts, Evidence, Function, Items, Mistake, Number, Table, Value, Word, diagnose
from seeklab.judge.mistakes import called

if TYPE_CHECKING:
    from seeklab.judge import Asked

CASE = "odx-prefetch"
COVERED = {"broken": False, "ssd-resident": False, "fixed": True, "two-ahead": True}
"""Whether the prefetcher covers a sequential reader, by variant."""


@cache
def _reads() -> list[dict[str, Any]]:
    broken = case(CASE).run("broken")
    copy = broken.jobs.index("odx")
    return [row for row in broken.ops.rows() if row["job"] == copy and row["op"] == 0]


def _shapes() -> dict[tuple[int, int], int]:
    return Counter((row["bytes"], row["cached_bytes"]) for row in _reads())


def phases() -> dict[str, float]:
    """Return the mean of each phase of the copy's reads, in ms."""
    reads = _reads()
    names = [name for name in reads[0] if name.endswith("_ns") and name not in {"submit_ns", "due_ns", "latency_ns"}]
    return {name: fmean(row[name] for row in reads) / 1e6 for name in names}


NOT_COVERED = (
    Mistake(
        "looks-at-time",
        "It passes the variant ssd-resident, which has the bug, hidden by the SSD tier. Your check uses the "
        "time. Check the bytes that were not fetched ahead.",
        gives=["ssd-resident"],
    ),
    Mistake(
        "fails-all",
        "It also fails the systems without the bug: how much of a read may be missing from memory there?",
        gives=["fixed", "two-ahead"],
    ),
    Mistake(
        "other",
        "It is wrong about {match}. It must fail where bytes of a sequential read were not fetched ahead.",
        when=", ".join,
    ),
)


def _covers(asked: Asked) -> list[Evidence]:
    covers = asked.answers[ANSWER]
    wrong = [name for name, truth in COVERED.items() if bool(called(covers, case(CASE).run(name))) is not truth]
    return [Evidence("variants", ", ".join(wrong), "", met=not wrong).because(diagnose(NOT_COVERED, wrong))]


_BEFORE = (
    "from collections import Counter\n"
    "import seeklab\n"
    'broken = seeklab.case("odx-prefetch").run("broken")\n'
    'copy = broken.jobs.index("odx")\n'
    'reads = [row for row in broken.ops.rows() if row["job"] == copy and row["op"] == 0]\n'
)

TASKS = (
    Task(
        "odx/shapes",
        question=(
            "Each row of the operation log has job, op (0 is a read), bytes and cached_bytes. Count the copy's "
            "reads by the pair (bytes, cached_bytes): bytes requested, and bytes found in memory. Assign a "
            "dictionary with these pairs as keys and the counts as values. What do nearly all reads have in "
            "common?"
        ),
        kind=Counts(Items(Number(whole=True), 2), "a pair of bytes and cached_bytes, and how many reads had it"),
        check=Value(
            _shapes,
            (
                Mistake(
                    "not-only-reads",
                    "You counted {match:,} operations, more than the copy made reads: the log also has other clients' "
                    "reads, and the copy's writes.",
                    when=lambda found, truth: sum(found.values()) > sum(truth.values()) and sum(found.values()),
                ),
                Mistake(
                    "other",
                    "You counted {match}. Count each read of the copy once, by its pair.",
                    when=lambda found, _: f"{sum(found.values()):,} reads in {len(found)} shapes",
                ),
            ),
            whole=True,
        ),
        why="Three reads differ. All others request the same number of bytes and find the same number in memory.",
        hints=(
            "broken.jobs lists the names of the jobs. The copy is the job named odx; row['job'] has its number.",
            "Keep the rows with row['job'] == copy and row['op'] == 0; the notebook has them in reads already.",
            "collections.Counter counts how often each value occurs: Counter((a, b) for row in ...).",
        ),
        setup=_BEFORE,
        answer=(
            'copy = broken.jobs.index("odx")\n'
            'reads = [row for row in broken.ops.rows() if row["job"] == copy and row["op"] == 0]\n'
            'shapes = Counter((row["bytes"], row["cached_bytes"]) for row in reads)'
        ),
    ),
    Task(
        "odx/phases",
        question=(
            "The log splits each read's time into columns with names that end in _ns. They add up to latency_ns. "
            "What is the mean of each of these columns over the copy's reads, in milliseconds? Assign a "
            "dictionary with the names of the columns as keys."
        ),
        kind=Table(Word(), Number(), "the name of a column, and its mean over the copy's reads in ms"),
        check=Value(
            phases,
            (
                Mistake(
                    "sum",
                    "That is the sum over all reads; divide by the number of reads.",
                    gives=lambda: {name: mean * len(_reads()) for name, mean in phases().items()},
                ),
                Mistake("nanoseconds", "That is in nanoseconds; divide by 1e6.", times=1e6),
                Mistake("other", "Take the mean of this column over the reads."),
            ),
            apart=1e-4,
            also=lambda: [{name: mean for name, mean in phases().items() if mean}],
            unit=" ms",
        ),
        why=(
            "Seek, queue and rotation are nine tenths of the read. The transfer of the missing bytes takes a fraction "
            "of a millisecond."
        ),
        hints=(
            "broken.ops.columns has all names; submit_ns and due_ns are times, and latency_ns is the sum.",
            "For one column: sum(row[name] for row in reads) / len(reads) / 1e6.",
            "A dictionary comprehension over the names calculates all of them.",
        ),
        setup=_BEFORE,
        answer=(
            'names = [name for name in broken.ops.columns if name.endswith("_ns") '
            'and name not in ("submit_ns", "due_ns", "latency_ns")]\n'
            "phases = {name: sum(row[name] for row in reads) / len(reads) / 1e6 for name in names}"
        ),
    ),
    Task(
        "odx/covered",
        question=(
            "Write the check that was missing from the vendor's tests: a function that takes a result and "
            "returns whether the prefetcher covers a sequential reader. It must fail on the bug even where the "
            "SSD tier hides it."
        ),
        kind=Function("a result"),
        check=_covers,
        why="It checks the purpose of the prefetcher on any machine, and a fast disk cannot hide the answer.",
        hints=(
            "A limit on the latency depends on the machine. What does a prefetcher promise?",
            "result.metrics has the percentage of the copy's reads that was not in memory.",
            "The metric is odx.read_missed_share_percent.",
        ),
        setup=_BEFORE,
        answer='def covers(result):\n    return result.metrics["odx.read_missed_share_percent"] == 0',
    ),
)
