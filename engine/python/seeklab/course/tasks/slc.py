"""Notebook 21, until it is 100: what the learner writes."""

from __future__ import annotations

from typing import Any

from seeklab.course.task import UnconvertedTask as Task

NEAR = 0.005
EXACT = 1e-4
"""Near enough where a second of many is in question."""
CELLS_GB, STATIC_GB, ZERO_AT = 1024, 12, 0.75
CACHE_MB, DIRECT_MB, FOLD_MB = 1800, 100, 100
IDLE_S = 1
SIZES_GB = (50, 140, 200, 600)
FULL = (0.0, 0.25, 0.5, 0.75, 0.8)


def _seconds(size_gb: float, cache_gb: float) -> float:
    fast = min(size_gb, cache_gb)
    return 1000 * (fast / CACHE_MB + (size_gb - fast) / DIRECT_MB)


def _copy_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of a size and a cache; this is {type(answer).__name__}."
    for size in SIZES_GB:
        found, truth = float(answer(size, 140)), _seconds(size, 140)
        if abs(found / truth - 1) <= NEAR:
            continue
        told = f"For {size} GB and a cache of 140 it gives {found:,.1f} s."
        if abs(found / (1000 * size / CACHE_MB) - 1) <= NEAR:
            return f"{told} That is at the rated speed throughout; the cache holds 140 GB of it."
        if size < 140:  # noqa: PLR2004 -- the cache of the question
            return f"{told} A copy that fits goes at 1800 MB/s to its end: there is no rest, and none below 0."
        return f"{told} The first 140 GB take 140 / 1.8 s; the rest goes at 0.1 GB/s."
    return None


def _limit(full: float, zero_at: float = ZERO_AT) -> float:
    return STATIC_GB + CELLS_GB / 2 / 4 * max(0.0, 1 - full / zero_at)


def _limit_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of the share that is full; this is {type(answer).__name__}."
    for full in FULL:
        found, truth = float(answer(full)), _limit(full)
        if abs(found / truth - 1) <= NEAR:
            continue
        told = f"With {full:.0%} full it gives {found:.1f} GB."
        if found < STATIC_GB:
            return (
                f"{told} The static part is there however full the drive is: what is lent is never less than nothing."
            )
        if abs(found / _limit(full, 1.0) - 1) <= NEAR:
            return f"{told} So it would be if cells were lent until the drive is full; nothing is lent from 75 % on."
        if abs(found / (_limit(full) - STATIC_GB) - 1) <= NEAR:
            return f"{told} That is what is lent. The static part comes on top."
        return f"{told} Half of 1024 GB of cells are lent by an empty drive, at a quarter of what they could hold."
    return None


def _every(burst_gb: float) -> float:
    return 1000 * burst_gb * (1 / CACHE_MB + 1 / FOLD_MB) + IDLE_S


def _every_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of the bytes of a burst; this is {type(answer).__name__}."
    for burst in (20, 50, 80):
        found, truth = float(answer(burst)), _every(burst)
        if abs(found / truth - 1) <= EXACT:
            continue
        told = f"For bursts of {burst} GB it gives {found:,.1f} s."
        if abs(found - 1000 * burst / FOLD_MB) < 1 / 2:
            return f"{told} So long the drive folds. While it takes in the next burst it folds nothing."
        if abs(found - truth + IDLE_S) < 1 / 4:
            return f"{told} It begins to fold after a second without writes."
        return f"{told} A period is the burst at 1.8 GB/s, a second of rest, and folding at 0.1 GB/s."
    return None


TASKS = {
    "slc/copy": Task(
        question=(
            "A drive takes 1800 MB/s until its cache is full, and 100 MB/s from then on. Write a function of the size "
            "of a copy and of what the cache holds, both in GB: how many seconds does the copy take?"
        ),
        wants="a function of two numbers that gives seconds",
        wrong=_copy_wrong,
        why="Once the cache is full, each GB takes as long as eighteen GB before.",
        hints=(
            "How many of the GB go into the cache, and how many past it?",
            "fast = min(size, cache); the rest is size - fast.",
            "fast / 1.8 + (size - fast) / 0.1",
        ),
        answer=(
            "def copy_s(size_gb, cache_gb):\n"
            "    fast = min(size_gb, cache_gb)\n"
            "    return fast / 1.8 + (size_gb - fast) / 0.1"
        ),
    ),
    "slc/limit": Task(
        question=(
            "With four bits in each cell the drive's cells hold 1024 GB. 12 GB of cache are always there. When the "
            "drive is empty, half of its cells are lent, with one bit in each; from there a straight line leads down "
            "to none when it is 75 % full. Write a function of the share that is full (0 to 1): how many GB does the "
            "cache hold?"
        ),
        wants="a function of a share that gives GB",
        wrong=_limit_wrong,
        why="A drive that is half full has lost two thirds of what it lends.",
        hints=(
            "Half of the cells would hold 512 GB with four bits in each. How many GB do they hold with one bit?",
            "128 GB are lent at 0 and none at 0.75, with a straight line in between.",
            "12 + 128 * max(0, 1 - full / 0.75)",
        ),
        answer="def limit_gb(full):\n    return 12 + 128 * max(0, 1 - full / 0.75)",
    ),
    "slc/every": Task(
        question=(
            "Bursts are written at 1800 MB/s, each smaller than the cache. The drive folds 100 MB/s; it begins one "
            "second after the last write, and does not fold while it is written to. Write a function of the GB of a "
            "burst: how many seconds must there be between the starts of two bursts, so that each finds the cache "
            "empty?"
        ),
        wants="a function of one number that gives seconds",
        wrong=_every_wrong,
        why="In the long run that is less than 100 MB/s: in a burst, and for a second after it, nothing is folded.",
        hints=(
            "What does the drive do from the start of one burst to the start of the next? Three things.",
            "It takes in the burst, it waits for a second, and it folds.",
            "burst / 1.8 + 1 + burst / 0.1",
        ),
        answer="def every_s(burst_gb):\n    return burst_gb / 1.8 + 1 + burst_gb / 0.1",
    ),
}
