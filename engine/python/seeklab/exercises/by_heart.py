"""The assignment on estimates: a rate from a data sheet, before any measurement.

A rule returns reads or MiB a second for a disk, for a pool with fewer threads than disks, and for a distant client.
Runs judge it: an estimate is good when it is within a quarter of the measured rate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from seeklab._case import case as load_case
from seeklab._question import Question
from seeklab.exercises._shapes import Shape, System, named
from seeklab.judge import Evidence, Number, near

if TYPE_CHECKING:
    import random

CASE = "invariants"
MIB = 1 << 20
WITHIN_PERCENT = 25
DRIVES = ((5400, 1.0, 11.0, 24.0), (7200, 0.8, 8.5, 17.0), (10_000, 0.5, 5.0, 10.0))
"""Turns a minute, and track-to-track, average and full-stroke seek in ms: combinations of real drives."""

QUESTIONS = {"rate": Question("What is the rate of your system: reads/s of disks, or MiB/s of a distant client?")}


def _disks(source: random.Random, disks: int, threads: int) -> System:
    rpm, single, average, full = source.choice(DRIVES)
    known = {
        "rpm": rpm,
        "seek_ms": average,
        "disks": disks,
        "threads": threads,
        "seek_single_ms": single,
        "seek_full_ms": full,
    }
    what = "one disk" if disks == 1 else f"{disks} disks in mirrors"
    told = (
        f"{what} of {rpm:,} rpm with an average seek of {average:g} ms; {threads} thread{'s' * (threads > 1)}, "
        "each with one random read of 8 KiB at a time. How many reads a second do they complete?"
    )
    return System(known, told)


def _disk(source: random.Random) -> System:
    return _disks(source, 1, 1)


def _pool(source: random.Random) -> System:
    disks = source.randrange(24, 45, 2)
    return _disks(source, disks, disks // source.randrange(6, 9))


def _far(source: random.Random) -> System:
    known = {
        "window_kib": source.choice((48, 64, 128)),
        "round_trip_ms": source.randrange(20, 160, 10),
        "mbit_per_s": 1000,
    }
    told = (
        f"a client reads a stream over {known['mbit_per_s']:,} Mbit/s with a round trip of "
        f"{known['round_trip_ms']} ms and windows of {known['window_kib']} KiB at both ends. How many MiB/s does "
        "it receive?"
    )
    return System(known, told)


def measured(system: System, seed: int = 1) -> float:
    """Run the system: reads a second, or MiB/s of the distant client."""
    whole = load_case(CASE)
    if "window_kib" in system.known:
        window = round(system["window_kib"]) << 10
        changes = {
            "network.client_buffer": window,
            "network.server_buffer": window,
            "network.round_trip": f"{system['round_trip_ms']}ms",
            "jobs[reader].size": 8 * MIB,
            "record.log": False,
        }
        return float(whole.with_(changes).run("far-client", seed=seed).metrics["reader.read_mib_per_s"])
    drive = {
        "rpm": system["rpm"],
        "seek_single": f"{system['seek_single_ms']}ms",
        "seek_average": f"{system['seek_ms']}ms",
        "seek_full": f"{system['seek_full_ms']}ms",
    }
    disks = round(system["disks"])
    changes = {
        "devices": [{"name": "disk", "preset": "hdd-7200-2008", "count": disks, "hdd": drive}],
        "jobs[reader].numjobs": system["threads"],
        "jobs[reader].runtime": "12s",
        "record.log": False,
    }
    variant = "disk" if disks == 1 else "mirrored"
    return float(whole.with_(changes).run(variant, seed=seed).metrics["reader.read_iops"])


def _near(system: System, seed: int) -> dict[str, float]:
    return {"rate": measured(system, seed)}


WHY = named(
    no_rotation="a random read waits for the arm and then for the platter, half a turn on average, so add both "
    "times; transferring 8 KiB hardly matters",
    disks_not_threads="a thread uses one disk while it waits for its read; with fewer threads than disks, the other "
    "disks are idle: count threads, not disks",
    line_rate="the sender sends one window, then waits a round trip for the answer: if the line holds more than a "
    "window, its rate does not matter",
)


def _judge(system: System, given: float, seed: int) -> list[Evidence]:
    far = "window_kib" in system.known
    why = WHY["line-rate" if far else "no-rotation" if system["disks"] == 1 else "disks-not-threads"]
    unit = "MiB/s" if far else "1/s"
    return [
        near(str(system), given, measured(system, seed), within_percent=WITHIN_PERCENT, unit=unit, seed=seed, why=why)
    ]


SHAPE = Shape(
    id="by-heart",
    what="system",
    kinds={"disk": _disk, "pool": _pool, "far": _far},
    questions=QUESTIONS,
    near=_near,
    judge=_judge,
    parts=1,
    gives=Number(at_least=0),
    hints=(
        "One request at a time: how long does one take? The rate is one divided by that time.",
        "A read takes a seek and half a turn; each thread uses one disk; each round trip carries one window.",
        "Divide a second by the sum of seek and half a turn, for each thread; divide the window by the round trip.",
    ),
)
system = SHAPE.own
ASSIGNMENT, check, hint = SHAPE.exercise()


def briefing(learner: object) -> str:
    """Describe the learner's system."""
    return f"The system of {learner}: {system(learner)}"
