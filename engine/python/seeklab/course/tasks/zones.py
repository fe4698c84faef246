"""Notebook 28, nine days: its tasks."""

from __future__ import annotations

from seeklab.course.task import Task
from seeklab.judge import Cases, Function, Mistake

NEAR = 0.01
RATE_MB, ZONE_MB, MOVE_S = 150, 268.435456, 0.02
DRIVE_MB = 4e6


def _clean(zone_mb: float, rate_mb: float, *, moves: int = 2) -> float:
    return 2 * zone_mb / rate_mb + moves * MOVE_S


CLEAN_S = _clean(ZONE_MB, RATE_MB)


def _hours(passes: float) -> float:
    return (DRIVE_MB / RATE_MB + passes * DRIVE_MB / ZONE_MB * CLEAN_S) / 3600


def _steady(cache_gb: float, *, times: float = 2, is_written: bool = True) -> float:
    """Return the rate in MB/s if the cleaned zone holds `times` the average."""
    gain = times * 1000 * cache_gb * ZONE_MB / DRIVE_MB
    return gain / (CLEAN_S + is_written * gain / RATE_MB)


TASKS = (
    Task(
        "zones/clean",
        question=(
            "To change anything in a shingled zone, the drive reads the zone and writes it back, both at its "
            "rate. The heads move for 0.02 s before that and again after it. Write a function of a zone's size "
            "in MB and the rate in MB/s: how many seconds does a clean take?"
        ),
        kind=Function("the size of a zone and the rate"),
        check=Cases(
            _clean,
            ((ZONE_MB, RATE_MB), (64.0, 200.0), (1000.0, 100.0)),
            "For a zone of {zone_mb:g} MB at {rate_mb:g} MB/s",
            (
                Mistake(
                    "one-way",
                    "That is one way. The drive reads the zone, and then it writes it.",
                    when=lambda found, _, zone_mb, rate_mb: abs(found - zone_mb / rate_mb) < 2.5 * MOVE_S,
                ),
                Mistake(
                    "no-moves",
                    "The heads move to the zone and back to the cache: you left out 0.02 s twice.",
                    gives=lambda zone_mb, rate_mb: _clean(zone_mb, rate_mb, moves=0),
                ),
                Mistake("other", "The drive reads and writes the zone, each at its rate, and the heads move twice."),
            ),
            unit=" s",
            within=NEAR / 10,
        ),
        why="A clean takes the same time whether the cache has one block of the zone or a thousand.",
        hints=(
            "What does the drive do with the zone, and how often do the heads move?",
            "Reading and writing take zone / rate each. Add 0.02 s twice.",
            "2 * zone / rate + 2 * 0.02",
        ),
        answer="def clean_s(zone_mb, rate_mb):\n    return 2 * zone_mb / rate_mb + 2 * 0.02",
    ),
    Task(
        "zones/hours",
        question=(
            "A rebuild writes 4,000,000 MB to a drive of 150 MB/s with zones of 268.4 MB. It passes over the "
            "drive several times. Each pass writes part of every zone, and the drive then needs 3.62 s to clean "
            "that zone. Write a function of the number of passes: how many hours does the rebuild take?"
        ),
        kind=Function("the number of passes"),
        check=Cases(
            _hours,
            [(passes,) for passes in (1, 2, 8, 15, 30)],
            "With passes = {passes}",
            (
                Mistake("seconds", "That is in seconds; return hours.", times=3600),
                Mistake(
                    "no-writing",
                    "Writing the data takes time as well: 4 TB at 150 MB/s.",
                    gives=lambda passes: _hours(passes) - _hours(0),
                ),
                Mistake(
                    "one-pass",
                    "That would be right for one pass. Each pass writes to every zone, which is cleaned again.",
                    gives=lambda _: _hours(1),
                ),
                Mistake(
                    "other",
                    "Writing takes size / rate. In addition, each pass cleans each of the 14,901 zones, in 3.62 s.",
                ),
            ),
            unit=" h",
            within=NEAR,
        ),
        why="The number of passes does not change how many bytes are written, but each pass cleans every zone.",
        hints=(
            "Two things take time: writing the bytes, and cleaning.",
            "There are 4,000,000 / 268.4 zones. Each is cleaned `passes` times, in 3.62 s. Divide by 3600 at the end.",
            "(4e6 / 150 + passes * 4e6 / 268.4 * 3.62) / 3600",
        ),
        answer="def hours(passes):\n    return (4e6 / 150 + passes * 4e6 / 268.4 * 3.62) / 3600",
    ),
    Task(
        "zones/steady",
        question=(
            "An application writes small pieces all over the drive, for days. The cache is full, so the drive cleans "
            "the oldest zone again and again. This zone has had the longest time to collect data: it has twice the "
            "average of cache / zones. Write a function of the cache in GB: how many MB/s does the drive take? It has "
            "14,901 zones, a clean takes 3.62 s, and writes to the cache run at 150 MB/s."
        ),
        kind=Function("the size of the cache"),
        check=Cases(
            _steady,
            [(cache_gb,) for cache_gb in (100, 50, 400)],
            "For a cache of {cache_gb} GB",
            (
                Mistake(
                    "no-writing",
                    "That is nearly right. The drive must also write the bytes to the cache, at 150 MB/s.",
                    gives=lambda cache_gb: _steady(cache_gb, is_written=False),
                ),
                Mistake(
                    "average",
                    "That is for the average zone. The drive cleans the oldest one: it has had the longest time "
                    "to collect data, and has twice the average.",
                    gives=lambda cache_gb: _steady(cache_gb, times=1),
                ),
                Mistake(
                    "other",
                    "A clean gains 2 x cache / zones and takes 3.62 s; writing the gain takes gain / 150.",
                ),
            ),
            unit=" MB/s",
            within=NEAR,
        ),
        why="A drive of 150 MB/s takes four, even if the application requests less.",
        hints=(
            "How many MB of space does a clean gain, and how long does it take to use them up again?",
            "gain = 2 * cache * 1000 / 14,901 MB. The drive takes it in the time of a clean plus the time to write it.",
            "gain / (3.62 + gain / 150)",
        ),
        answer=(
            "def steady_mb(cache_gb):\n    gain = 2 * cache_gb * 1000 / 14901\n    return gain / (3.62 + gain / 150)"
        ),
    ),
)
