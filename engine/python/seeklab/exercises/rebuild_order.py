"""The assignment on the order of a rebuild: onto a shingled or a conventional drive, with little memory or much.

A rule returns the plan: by time or by address, the amount of data sorted together, and the pool's maximum rate. The
check draws arrays, and measures the memory and the hours onto both kinds of drive.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from seeklab._case import case as load_case
from seeklab._question import Question
from seeklab.exercises._shapes import Shape, System, at_most, named
from seeklab.judge import Choice, Evidence, Fields, Number

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

CASE = "smr-resilver"
PLACE_BYTES = 100
"""Bytes that a rebuild stores for each block that it sorts."""
SLACK = 1.08
"""Limit of a rebuild's duration, relative to the best plan."""
SCALE = 16
"""Factor for the sizes of zones, chunks and moves: the hours stay the same with fewer events."""
ZONE_MIB, CHUNK_MIB, MOVE_MS = 256, 8, 20
"""A zone, the part of a chunk on each disk, and the time of a head move, before scaling."""
BEYOND = 1.001
"""A plan whose demand is below this multiple of the memory fits."""

QUESTIONS = {
    "hours": Question(
        "The rebuild follows time and sorts nothing. How many hours does it take onto the shingled drive?", unit="h"
    )
}


def _drawn(source: random.Random, kind: str, share: tuple[float, float]) -> System:
    disks = 2 if kind == "mirror" else source.randrange(4, 7)
    known: dict[str, float] = {
        "mirror": int(kind == "mirror"),
        "disks": disks,
        "disk_gb": source.randrange(2000, 4001, 500),
        "ages": source.randrange(10, 25),
        "block_kib": source.choice((32, 64, 128)),
        "pool_mb": source.randrange(60, 91),
    }
    places_gb = data_gb(known) * 1e9 / (known["block_kib"] * 1024) * PLACE_BYTES / 1e9
    known["memory_gb"] = round(places_gb * source.uniform(*share), 2)
    layout = "a mirror of two disks" if kind == "mirror" else f"single parity over {disks} disks"
    told = (
        f"{layout} of {known['disk_gb']} GB, full, in blocks of {known['block_kib']} KiB; data of {known['ages']} "
        f"ages, each spread over all disks; the pool reads {known['pool_mb']} MB/s from each disk; "
        f"{known['memory_gb']:g} GB of memory for block addresses, {PLACE_BYTES} bytes each"
    )
    return System(known, told)


def data_gb(system: System | Mapping[str, float]) -> float:
    """Return the data of an array, without parity and second copies."""
    return float(system["disk_gb"] * (system["disks"] - 1))


def memory_gb(system: System, plan: Mapping[str, Any]) -> float:
    """Return the memory that a plan needs: only a mirror can rebuild by address without knowing its blocks."""
    is_sorted = plan["order"] == "time"
    known = min(plan["sorted_gb"], data_gb(system)) if is_sorted else 0 if system["mirror"] else data_gb(system)
    return float(known * 1e9 / (system["block_kib"] * 1024) * PLACE_BYTES / 1e9)


def _most_gb(system: System) -> float:
    return float(system["memory_gb"] / PLACE_BYTES * system["block_kib"] * 1024)


def _best(system: System) -> dict[str, Any]:
    fits = system["mirror"] or _most_gb(system) >= data_gb(system)
    order = "address" if fits else "time"
    return {"order": order, "sorted_gb": 0 if fits else _most_gb(system), "rate_mb": system["pool_mb"]}


@lru_cache(maxsize=64)
def _hours(
    mirror: float,
    disks: float,
    disk_gb: float,
    ages: float,
    order: str,
    sorted_gb: float,
    rate_mb: float,
    drive_kind: str,
) -> float:
    data = int(disks) - 1
    chunk = CHUNK_MIB * SCALE * 2**20
    capacity = round(disk_gb * 1e9) // 2**20 * 2**20
    drive: dict[str, Any] = {"capacity": capacity, "rate": "150MB"}
    zones = {"zone": f"{ZONE_MIB * SCALE}MiB", "stream": f"{ZONE_MIB * SCALE}MiB", "move": f"{MOVE_MS * SCALE}ms"}
    new = drive | {"shingled": {"cache": "100GB", "idle": "2s", **zones}} if drive_kind == "shingled" else drive
    rebuild = {
        "chunk": chunk * data,
        "in_flight": 4,
        "rate": round(rate_mb * 1e6),
        "order": order,
        "passes": int(ages),
        "sorted": round(sorted_gb * 1e9),
    }
    changes = {
        "devices": [{"name": "disk", "count": data, "lun": drive}, {"name": "new", "lun": new}],
        "layout": {
            "kind": "mirror" if mirror else "raidz",
            "unit": chunk * data // 2,
            "failed": [data],
            "rebuild": rebuild,
        },
        "jobs[client].number_ios": 1,
        "record.interval": "10h",
    }
    return load_case(CASE).with_(changes).run("resilver").metrics["rebuild_elapsed_h"]


def hours(system: System, plan: Mapping[str, Any], *, shingled: bool) -> float:
    """Run a plan on an array, onto a drive of one kind; return the hours of the rebuild."""
    names = ("mirror", "disks", "disk_gb", "ages")
    rate = min(plan["rate_mb"], system["pool_mb"])
    kind = "shingled" if shingled else "conventional"
    return _hours(*(system[name] for name in names), plan["order"], plan["sorted_gb"], rate, kind)


def seen(system: System, plan: Mapping[str, Any]) -> Mapping[str, float]:
    """Run a plan on an array; return the memory it needs and the hours onto both kinds of drive."""
    return {
        "memory_gb": memory_gb(system, plan),
        "shingled_h": hours(system, plan, shingled=True),
        "conventional_h": hours(system, plan, shingled=False),
    }


def _near(system: System, _: int) -> dict[str, float]:
    plan = {"order": "time", "sorted_gb": 0, "rate_mb": system["pool_mb"]}
    return {"hours": hours(system, plan, shingled=True)}


WHY = named(
    memory="the addresses do not fit into memory: a plan must hold the address of each block that it sorts, "
    "and an order by address sorts all blocks at once",
    mirror_by_time=(
        "a mirror copies its other side from start to end without knowing a single block, so it needs no memory"
    ),
    by_time="in order of time, the rebuild returns to each zone once for each age of the data, and the drive then "
    "rewrites the whole zone",
    small_batch=(
        "the memory can hold the addresses of more data than the plan sorts together, and each batch cleans every zone"
    ),
    not_whole=(
        "all addresses fit into the memory: a rebuild that sorts everything is one stream, which bypasses the cache"
    ),
    slow_pool="the plan slows the pool down: a conventional drive takes longer without any gain, and a shingled one "
    "cleans as often as before",
)


def _judge(system: System, given: Mapping[str, Any], seed: int) -> list[Evidence]:
    found = seen(system, given)
    best = _best(system)
    plan = f"by {given['order']}, {given['sorted_gb']:,.4g} GB together, {given['rate_mb']:.4g} MB/s"
    why = WHY["small-batch"]
    if given["rate_mb"] < system["pool_mb"] / SLACK:
        why = WHY["slow-pool"]
    elif system["mirror"]:
        why = WHY["mirror-by-time"]
    elif given["sorted_gb"] <= data_gb(system) / system["ages"]:
        why = WHY["by-time"]
    elif best["order"] == "address":
        why = WHY["not-whole"]
    most_h = SLACK * hours(system, best, shingled=True)
    plain_h = SLACK * system["disk_gb"] * 1000 / system["pool_mb"] / 3600
    return [
        at_most(
            f"memory, {plan}, {system}", found["memory_gb"], BEYOND * system["memory_gb"], "GB", seed, WHY["memory"]
        ),
        at_most(f"onto a shingled drive, {plan}, {system}", found["shingled_h"], most_h, "h", seed, why),
        at_most(
            f"onto a conventional drive, {plan}, {system}",
            found["conventional_h"],
            plain_h,
            "h",
            seed,
            WHY["slow-pool"],
        ),
    ]


SHAPE = Shape(
    id="rebuild-order",
    what="array",
    kinds={
        "little": lambda source: _drawn(source, "parity", (0.25, 0.45)),
        "enough": lambda source: _drawn(source, "parity", (1.1, 1.6)),
        "mirror": lambda source: _drawn(source, "mirror", (0.1, 0.3)),
    },
    questions=QUESTIONS,
    near=_near,
    judge=_judge,
    parts=3,
    gives=Fields(
        {
            "order": Choice({"time": WHY["by-time"].why, "address": WHY["memory"].why}),
            "sorted_gb": Number(at_least=0, at_most=100_000),
            "rate_mb": Number(at_least=1, at_most=1000),
        }
    ),
    hints=(
        "How often does the rebuild return to a zone, and what must it know to avoid that?",
        "memory_gb / 100 bytes is the number of blocks that can be sorted together; a mirror need not know any.",
        "Compare the data that memory can sort with all data: by address if all fits, else as much as memory can hold.",
    ),
    seeds=1,
)
system, briefing = SHAPE.own, SHAPE.briefing
ASSIGNMENT, check, hint = SHAPE.exercise()
