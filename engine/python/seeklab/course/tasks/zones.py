"""Notebook 28, nine days: what the learner writes."""

from __future__ import annotations

from typing import Any

from seeklab.course.task import UnconvertedTask as Task

NEAR = 0.01
RATE_MB, ZONE_MB, MOVE_S = 150, 268.435456, 0.02
DRIVE_GB, CACHE_GB = 4000, 100
CLEAN_S = 2 * ZONE_MB / RATE_MB + 2 * MOVE_S


def _clean_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of a zone and a rate; this is {type(answer).__name__}."
    for zone, rate in ((ZONE_MB, RATE_MB), (64.0, 200.0), (1000.0, 100.0)):
        found, truth = float(answer(zone, rate)), 2 * zone / rate + 2 * MOVE_S
        if abs(found / truth - 1) <= NEAR / 10:
            continue
        told = f"For a zone of {zone:g} MB at {rate:g} MB/s it gives {found:.3f} s."
        if abs(found - zone / rate) < 2.5 * MOVE_S:
            return f"{told} That is one way. The drive reads the zone, and then it writes it."
        if abs(found - 2 * zone / rate) < MOVE_S / 2:
            return f"{told} The heads move to the zone and back to the cache: twice 0.02 s are missing."
        return f"{told} A zone is read and written, each at the rate of the drive, and the heads move twice."
    return None


def _hours(passes: float) -> float:
    return (DRIVE_GB * 1000 / RATE_MB + passes * (DRIVE_GB * 1000 / ZONE_MB) * CLEAN_S) / 3600


def _hours_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of the passes; this is {type(answer).__name__}."
    for passes in (1, 2, 8, 15, 30):
        found, truth = float(answer(passes)), _hours(passes)
        if abs(found / truth - 1) <= NEAR:
            continue
        told = f"For {passes} passes it gives {found:,.1f} h."
        if abs(found / (truth * 3600) - 1) <= NEAR:
            return f"{told} Those are seconds."
        if abs(found / (truth - DRIVE_GB * 1000 / RATE_MB / 3600) - 1) <= NEAR:
            return f"{told} The data have to be written, too: 4 TB at 150 MB/s."
        if abs(found / _hours(1) - 1) <= NEAR:
            return f"{told} So it is for one pass. Each pass comes to each zone again, and has it cleaned again."
        return f"{told} Writing takes V / rate; then each of the 14,901 zones is cleaned once a pass, 3.62 s each."
    return None


def _steady(cache_gb: float) -> float:
    gain = 2 * cache_gb * ZONE_MB / DRIVE_GB
    return gain / (CLEAN_S + gain / RATE_MB)


def _steady_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of the cache; this is {type(answer).__name__}."
    for cache in (CACHE_GB, 50, 400):
        found, truth = float(answer(cache)), _steady(cache)
        if abs(found / truth - 1) <= NEAR:
            continue
        gain = 2 * cache * ZONE_MB / DRIVE_GB
        told = f"For a cache of {cache} GB it gives {found:.2f} MB/s."
        if abs(found / (gain / CLEAN_S) - 1) <= NEAR / 2:
            return f"{told} Nearly. The bytes have to be written into the cache as well, at 150 MB/s."
        if abs(found / (gain / 2 / (CLEAN_S + gain / 2 / RATE_MB)) - 1) <= 2 * NEAR:
            return (
                f"{told} That is with what a zone has on average. The one that is cleaned is the oldest: it has had the"
                " longest time to fill, and holds twice the average."
            )
        return f"{told} A clean gains 2 x cache / zones, and takes 3.62 s; writing the gain takes gain / 150."
    return None


TASKS = {
    "zones/clean": Task(
        question=(
            "To change anything in a shingled zone the drive reads the zone and writes it, both at its rate; before "
            "and after that the heads move for 0.02 s. Write a function of the zone in MB and of the rate in MB/s: how "
            "many seconds does a clean take?"
        ),
        wants="a function of two numbers that gives seconds",
        wrong=_clean_wrong,
        why="It is the same whether a zone has one block in the cache or a thousand.",
        hints=(
            "What does the drive do with the zone, and how often do the heads move?",
            "Read, write: twice zone / rate. Twice 0.02 s.",
            "2 * zone / rate + 2 * 0.02",
        ),
        answer="def clean_s(zone_mb, rate_mb):\n    return 2 * zone_mb / rate_mb + 2 * 0.02",
    ),
    "zones/hours": Task(
        question=(
            "A rebuild writes 4,000,000 MB to a drive of 150 MB/s with zones of 268.4 MB. It goes over the drive "
            "several times and writes a part of each zone in each of these passes, after which the zone has to be "
            "cleaned, in 3.62 s. Write a function of the number of passes: how many hours does the rebuild take?"
        ),
        wants="a function of one number that gives hours",
        wrong=_hours_wrong,
        why="However often it comes back, the bytes are the same; the cleans are not.",
        hints=(
            "Two things take time: writing the bytes, and cleaning.",
            "4,000,000 / 268.4 zones, each cleaned `passes` times, 3.62 s each. Divide by 3600 at the end.",
            "(4e6 / 150 + passes * 4e6 / 268.4 * 3.62) / 3600",
        ),
        answer="def hours(passes):\n    return (4e6 / 150 + passes * 4e6 / 268.4 * 3.62) / 3600",
    ),
    "zones/steady": Task(
        question=(
            "Somebody writes small pieces all over the drive, for days. The cache is full, so the oldest zone is "
            "cleaned again and again. It has collected for longest, twice the average of cache / zones. Write a "
            "function of the cache in GB: how many MB/s does the drive take? It has 14,901 zones, a clean takes 3.62 "
            "s, and writing into the cache goes at 150 MB/s."
        ),
        wants="a function of one number that gives MB/s",
        wrong=_steady_wrong,
        why="A drive of 150 MB/s takes four, and it would take no more if it were asked for less.",
        hints=(
            "How many MB of room does a clean gain, and how long does it take until they are used up again?",
            "gain = 2 * cache * 1000 / 14,901 MB. The drive takes it in the time of a clean and of writing it.",
            "gain / (3.62 + gain / 150)",
        ),
        answer=(
            "def steady_mb(cache_gb):\n    gain = 2 * cache_gb * 1000 / 14901\n    return gain / (3.62 + gain / 150)"
        ),
    ),
}
