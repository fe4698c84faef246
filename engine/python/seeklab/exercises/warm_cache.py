"""The assignment on a cache that warms: how much to write to its device at a time, to be warm in time.

A rule returns the bytes of one feeding. It is judged on devices that are fed once a second and on others that are fed
more often. They must be warm in time, but not write much more than necessary, because flash wears.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from seeklab._case import case as load_case
from seeklab._question import Question
from seeklab.exercises._shapes import Shape, System, at_least, at_most, named
from seeklab.judge import Evidence, Number

if TYPE_CHECKING:
    import random

CASE = "l2arc-warmth"
MIB = 1 << 20
WARM_PERCENT = 80
WARM = f"zfs_l2_to_{WARM_PERCENT}_percent_s"
SLACK = 1.15
EARLY = 0.86
FEEDINGS_MIB = (3, 4, 6, 8, 11, 14, 18, 24)
"""Right answers, further apart than the limits, so that no two of them are right for many systems."""
READS_PER_S = 200
"""High enough that memory evicts more data than the largest feeding takes."""

QUESTIONS = {
    "seconds": Question(
        f"8 MiB at each feeding: after how many seconds is {WARM_PERCENT}% of the data on the device?", unit="s"
    )
}


def _drawn(source: random.Random, interval_ms: int) -> System:
    size, feed = source.randrange(3, 6), source.choice(FEEDINGS_MIB)
    known = {
        "data_bytes": size * 1024 * MIB,
        "warm_share": WARM_PERCENT / 100,
        # Rounded down: the feed takes whole records, and does not add a partial one.
        "warm_in_s": int(WARM_PERCENT / 100 * size * 1024 / feed * interval_ms / 1000),
        "interval_s": interval_ms / 1000,
    }
    told = (
        f"{size} GiB are read at random; the device is fed every {interval_ms} ms, and should hold "
        f"{WARM_PERCENT}% of the data after {known['warm_in_s']} s"
    )
    return System(known, told)


def warm_after(system: System, feeding: float, seed: int = 1) -> float:
    """Run the cache with this many bytes per feeding; return the seconds until it is warm, or infinity."""
    changes = {
        "jobs[client].size": system["data_bytes"],
        "jobs[client].bs": "1MiB",
        "jobs[client].rate_iops": READS_PER_S,
        "jobs[client].runtime": f"{round(2 * system['warm_in_s'])}s",
        "zfs.record": "1MiB",
        "zfs.memory": "2GiB",
        "zfs.arc.size": "64MiB",
        "zfs.l2arc.device.count": 1,
        "zfs.l2arc.device.lun.rate": "400MB",
        "zfs.l2arc.write_max": max(MIB, round(feeding)),
        "zfs.l2arc.feed": f"{round(1000 * system['interval_s'])}ms",
        "record.interval": "10s",
    }
    return float(load_case(CASE).with_(changes).run("500-gb", seed=seed).metrics.get(WARM, float("inf")))


def _near(system: System, seed: int) -> dict[str, float]:
    return {"seconds": warm_after(system, 8 * MIB, seed)}


WHY = named(
    too_late="too late: the device gets only one feeding in each interval; count the intervals in the available time",
    per_second="far too soon: the device is fed more than once a second, and each feeding writes this much and wears "
    "the flash",
    all_data="too soon, because it writes more than necessary: not all of the data must be there, and each extra "
    "byte wears the flash for the device's whole life",
)


def _judge(system: System, feeding: float, seed: int) -> list[Evidence]:
    found = warm_after(system, feeding, seed)
    wanted = system["warm_in_s"]
    soon = WHY["per-second" if system["interval_s"] < 1 else "all-data"]
    what = f"warm with {feeding / MIB:.1f} MiB at each feeding, {system}"
    return [
        at_most(what, found, SLACK * wanted, "s", seed, WHY["too-late"]),
        at_least(what, found, EARLY * wanted, "s", seed, soon),
    ]


SHAPE = Shape(
    id="warm-cache",
    what="cache",
    kinds={
        "each second": lambda source: _drawn(source, 1000),
        "more often": lambda source: _drawn(source, source.choice((400, 500))),
    },
    questions=QUESTIONS,
    near=_near,
    judge=_judge,
    parts=2,
    gives=Number(at_least=1, at_most=1 << 40),
    hints=(
        "How many feedings are there in the available time, and how much data must the device have after them?",
        "Each interval writes at most this many bytes; memory offers far more.",
        "Share of the data, divided by the number of intervals in the available time.",
    ),
    seeds=1,
)
system, briefing = SHAPE.own, SHAPE.briefing
ASSIGNMENT, check, hint = SHAPE.exercise()
