"""The assignment on SLC caches: a tool copies 600 GB onto a drive while a service writes to it.

A rule returns the tool's plan: how much to copy at full speed, whether to pause then, and the rate of the rest. The
check draws drives, and measures the service's latency and the duration of the copy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seeklab._case import case as load_case
from seeklab._question import Question
from seeklab.exercises._shapes import Shape, System, at_most, named
from seeklab.judge import Evidence, Fields, Number

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

CASE = "slc-cliff"
COPY_GB = 600
CACHE_MB, DIRECT_MB = 1800, 100
"""Write rates inside and beyond the cache, in MB/s."""
ZERO_AT = 75
"""Fill level, in %, above which no cells serve as cache."""
PATIENCE_MS = 20
SLACK = 1.06
"""Limit of the copy's duration, relative to the best plan."""
LOG_GB = 20
"""Size of the file that the service overwrites in a loop."""
MB = 1_000_000
BLOCK, WRITE = 1_024_000, 768_000
"""Bytes of a write of the tool, which keeps four in flight, and of a write of the service."""
FREE = 1.0
"""A rate that leaves less spare than this, in MB/s, counts as full speed."""

QUESTIONS = {
    "cliff_gb": Question("Only the copy writes. After how many GB does a copy at full speed slow down?", unit="GB")
}


def _drawn(source: random.Random, cells_gb: int, static_gb: int, full: tuple[int, int]) -> System:
    known = {
        "cells_gb": cells_gb,
        "static_gb": static_gb,
        "full_percent": source.randrange(*full),
        "service_mb": source.randrange(30, 56),
        "copy_gb": COPY_GB,
    }
    told = (
        f"cells of {cells_gb} GB at four bits, {known['full_percent']}% of them full; an SLC cache of {static_gb} "
        "GB plus cells at one bit: half of all cells on an empty drive, fewer as it fills, none from "
        f"{ZERO_AT}% on; {CACHE_MB} MB/s in the cache and {DIRECT_MB} MB/s beyond it; the service writes "
        f"{known['service_mb']} MB/s during the copy"
    )
    return System(known, told)


def room_gb(system: System) -> float:
    """Return how much the cache of a drive can hold."""
    lent = system["cells_gb"] / 2 / 4 * max(0.0, 1 - system["full_percent"] / ZERO_AT)
    return float(system["static_gb"]) + lent


def best_s(system: System) -> float:
    """Return the time of the best plan: fill the cache at full speed, then use the rate that the service leaves."""
    service = system["service_mb"]
    fast = room_gb(system) * (1 - service / CACHE_MB)
    return fast * 1000 / (CACHE_MB - service) + (COPY_GB - fast) * 1000 / (DIRECT_MB - service)


def _drive(system: System) -> dict[str, Any]:
    return {
        "devices[drive].lun.capacity": f"{system['cells_gb']:g}GB",
        "devices[drive].lun.slc.fixed": f"{system['static_gb']:g}GB",
        "devices[drive].lun.slc.full": system["full_percent"] / 100,
        "record.interval": "60s",
    }


def _jobs(system: System, plan: Mapping[str, float]) -> list[dict[str, Any]]:
    blocks = COPY_GB * 1000 * MB // BLOCK
    fast = min(blocks, round(plan["fast_gb"] * 1000 * MB / BLOCK))
    tool = {"rw": "write", "bs": BLOCK, "iodepth": 4, "filename": "drive"}
    parts: list[dict[str, Any]] = []
    if fast:
        parts.append({**tool, "name": "fast", "size": fast * BLOCK})
    if fast < blocks:
        rate = round(plan["rate_mb"] * MB)
        rest = {**tool, "name": "rest", "offset": fast * BLOCK, "size": (blocks - fast) * BLOCK, "rate": rate}
        pause = {"startdelay": round(plan["pause_s"] * 1e9)}
        parts.append(rest | pause | ({"wait_for": "fast"} if fast else {}))
    parts[-1]["exitall"] = True
    service = {
        "name": "service",
        "rw": "write",
        "bs": WRITE,
        "iodepth": 64,
        "filename": "drive",
        "offset": blocks * BLOCK,
        "size": LOG_GB * 1000 * MB // WRITE * WRITE,
        "rate": round(system["service_mb"] * MB),
        "time_based": True,
        "runtime": "190h",
    }
    return [service, *parts]


def seen(system: System, plan: Mapping[str, float], seed: int = 1) -> Mapping[str, float]:
    """Run a plan on a drive: the copy's duration, the service's waits, and the drive's activity."""
    changes = {**_drive(system), "jobs": _jobs(system, plan)}
    found = load_case(CASE).with_(changes).run("copy", seed=seed).metrics
    return {
        "copy_s": found["elapsed_s"],
        "p99_ms": found["service.write_latency_p99_ms"],
        "cached_gb": found["slc_cached_gb"],
        "folded_gb": found["slc_folded_gb"],
    }


def _near(system: System, seed: int) -> dict[str, float]:
    alone = load_case(CASE).with_({**_drive(system), "jobs[copy].size": "400GB"}).run("copy", seed=seed).metrics
    return {"cliff_gb": alone["slc_cliff_gb"]}


WHY = named(
    too_fast=(
        "plan and service together write more than the drive accepts beyond its cache, so the tool's queue is full"
    ),
    past_the_cache="the part at full speed exceeds the cache space that the service leaves: its end is written past "
    "the cache, and each service write waits behind a full queue",
    pause="the pause gains nothing: the drive folds only after an idle second, and the service never leaves it "
    "idle that long",
    unused_cache="the cache can hold more than the plan copies at full speed",
    too_slow="beyond its cache the drive can write more than the service and the plan together",
)


def _judge(system: System, given: Mapping[str, float], seed: int) -> list[Evidence]:
    service = system["service_mb"]
    found = seen(system, given, seed)
    best = best_s(system)
    plan = f"{given['fast_gb']:.4g} GB at full speed, {given['pause_s']:.4g} s, then {given['rate_mb']:.4g} MB/s"
    too_much = given["fast_gb"] < COPY_GB and given["rate_mb"] + service > DIRECT_MB - FREE
    slow_s = COPY_GB * 1000 / (DIRECT_MB - service)
    small_s = (room_gb(system) - given["fast_gb"]) * 1000 / (DIRECT_MB - service)
    paused = given["pause_s"] > (SLACK - 1) * best / 2
    late = WHY["pause" if paused else "unused-cache" if small_s > 0.03 * slow_s else "too-slow"]
    return [
        at_most(
            f"p99 of the service, {plan}, {system}",
            found["p99_ms"],
            PATIENCE_MS,
            "ms",
            seed,
            WHY["too-fast" if too_much else "past-the-cache"],
        ),
        at_most(f"time of the copy, {plan}, {system}", found["copy_s"], SLACK * best, "s", seed, late),
    ]


SHAPE = Shape(
    id="copy-beside-service",
    what="drive",
    kinds={
        "new": lambda source: _drawn(source, 1024, 12, (0, 6)),
        "used": lambda source: _drawn(source, 1024, 12, (25, 38)),
        "large": lambda source: _drawn(source, 2048, 24, (30, 60)),
    },
    questions=QUESTIONS,
    near=_near,
    judge=_judge,
    parts=2,
    gives=Fields(
        {
            "fast_gb": Number(at_least=0, at_most=COPY_GB),
            "pause_s": Number(at_least=0, at_most=3600),
            "rate_mb": Number(at_least=10, at_most=CACHE_MB),
        }
    ),
    hints=(
        "How fast does the drive accept data, for how long, and who else writes to it all the time?",
        "The cache holds static + lent GB, including the service's writes; beyond it both share 100 MB/s.",
        "Leave the service its share of the cache, take nearly all that remains of the slow rate, and do not pause.",
    ),
    seeds=1,
    events=20_000_000,
)
system, briefing = SHAPE.own, SHAPE.briefing
ASSIGNMENT, check, hint = SHAPE.exercise()
