"""Notebook 21, until it is 100: its tasks."""

from __future__ import annotations

from seeklab.course.task import Task
from seeklab.judge import Cases, Function, Mistake

CELLS_GB, STATIC_GB, ZERO_AT = 1024, 12, 0.75
CACHE_GB = 140
CACHE_MB, DIRECT_MB, FOLD_MB = 1800, 100, 100
IDLE_S = 1


def _copy(size_gb: float, cache_gb: float) -> float:
    fast = min(size_gb, cache_gb)
    return 1000 * (fast / CACHE_MB + (size_gb - fast) / DIRECT_MB)


def _limit(full: float, zero_at: float = ZERO_AT) -> float:
    return STATIC_GB + CELLS_GB / 2 / 4 * max(0.0, 1 - full / zero_at)


def _every(burst_gb: float, idle_s: float = IDLE_S) -> float:
    return 1000 * burst_gb * (1 / CACHE_MB + 1 / FOLD_MB) + idle_s


TASKS = (
    Task(
        "slc/copy",
        question=(
            "A drive takes 1800 MB/s until its cache is full, and 100 MB/s from then on. Write a function of the size "
            "of a copy and of the size of the cache, both in GB: how many seconds does the copy take?"
        ),
        kind=Function("the size of a copy and of the cache"),
        check=Cases(
            _copy,
            [(size_gb, CACHE_GB) for size_gb in (50, CACHE_GB, 200, 600)],
            "For {size_gb} GB and a cache of {cache_gb} GB",
            (
                Mistake(
                    "rated-speed",
                    "That is at the rated speed throughout; the cache holds {cache_gb} GB of it.",
                    gives=lambda size_gb, _: 1000 * size_gb / CACHE_MB,
                ),
                Mistake(
                    "negative-rest",
                    "A copy that fits runs at 1800 MB/s to its end: no rest is left, and the rest is never negative.",
                    when=lambda _, __, size_gb, cache_gb: size_gb < cache_gb,
                ),
                Mistake("other", "The first 140 GB take 140 / 1.8 s; the rest runs at 0.1 GB/s."),
            ),
            unit=" s",
        ),
        why="Once the cache is full, each GB takes as long as eighteen GB did before.",
        hints=(
            "How many of the GB go into the cache, and how many do not?",
            "fast = min(size, cache); the rest is size - fast.",
            "fast / 1.8 + (size - fast) / 0.1",
        ),
        answer=(
            "def copy_s(size_gb, cache_gb):\n"
            "    fast = min(size_gb, cache_gb)\n"
            "    return fast / 1.8 + (size_gb - fast) / 0.1"
        ),
    ),
    Task(
        "slc/limit",
        question=(
            "With four bits in each cell, the drive's cells hold 1024 GB. 12 GB of cache are always there. When "
            "the drive is empty, it lends half of its cells, with one bit in each. The lent part falls in a "
            "straight line to zero when the drive is 75% full. Write a function of the share that is full (0 to "
            "1): how many GB does the cache hold?"
        ),
        kind=Function("the share that is full"),
        check=Cases(
            _limit,
            [(full,) for full in (0.0, 0.25, 0.5, ZERO_AT, 0.8)],
            "With {full:.0%} full",
            (
                Mistake(
                    "below-static",
                    "The static part is always there: the drive never lends less than zero.",
                    when=lambda found, *_: found < STATIC_GB,
                ),
                Mistake(
                    "until-full",
                    "That would be right if the drive lent cells until it is full; from 75% on it lends none.",
                    gives=lambda full: _limit(full, 1.0),
                ),
                Mistake(
                    "only-lent",
                    "That is the lent part. Add the static part.",
                    gives=lambda full: _limit(full) - STATIC_GB,
                ),
                Mistake(
                    "other",
                    "An empty drive lends half of its 1024 GB of cells; with one bit in each they hold a quarter.",
                ),
            ),
            unit=" GB",
        ),
        why="A drive that is half full lends only a third of what an empty one lends.",
        hints=(
            "Half of the cells would hold 512 GB with four bits in each. How many GB do they hold with one bit?",
            "128 GB are lent at 0 and none at 0.75, with a straight line in between.",
            "12 + 128 * max(0, 1 - full / 0.75)",
        ),
        answer="def limit_gb(full):\n    return 12 + 128 * max(0, 1 - full / 0.75)",
    ),
    Task(
        "slc/every",
        question=(
            "Bursts are written at 1800 MB/s, each smaller than the cache. The drive folds 100 MB/s. It starts "
            "to fold one second after the last write, and does not fold during writes. Write a function of the "
            "GB of a burst: how many seconds must pass between the starts of two bursts, so that each finds the "
            "cache empty?"
        ),
        kind=Function("the GB of a burst"),
        check=Cases(
            _every,
            [(burst_gb,) for burst_gb in (20, 50, 80)],
            "For bursts of {burst_gb} GB",
            (
                Mistake(
                    "only-folding",
                    "That is how long the drive folds. While it takes the next burst, it does not fold.",
                    gives=lambda burst_gb: 1000 * burst_gb / FOLD_MB,
                ),
                Mistake(
                    "no-idle",
                    "The drive starts to fold after a second without writes.",
                    gives=lambda burst_gb: _every(burst_gb, 0),
                ),
                Mistake("other", "A period is the burst at 1.8 GB/s, a second of rest, and folding at 0.1 GB/s."),
            ),
            unit=" s",
            within=1e-4,
        ),
        why="The average is below 100 MB/s: the drive does not fold during a burst or for a second after it.",
        hints=(
            "What does the drive do from the start of one burst to the start of the next? Three things.",
            "It takes the burst, waits for a second, and folds.",
            "burst / 1.8 + 1 + burst / 0.1",
        ),
        answer="def every_s(burst_gb):\n    return burst_gb / 1.8 + 1 + burst_gb / 0.1",
    ),
)
