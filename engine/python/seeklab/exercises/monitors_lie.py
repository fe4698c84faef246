"""The assignment on monitors: derive the disk's activity from a dashboard, by Little's law.

Each learner has an application that writes in bursts, and a dashboard with its own interval. The check draws bursts,
and compares predictions and the learner's function with the job's own measurements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from seeklab._case import case as load_case
from seeklab._question import Question
from seeklab.exercises._shapes import exercise, named, returned, source_from
from seeklab.judge import Asked, Code, Commitment, Evidence, Items, Mistake, Number, Task, draws_of, near

if TYPE_CHECKING:
    import random

    from seeklab._case import Case
    from seeklab._result import Result

CASE = "averaged-away"
MIB = 1 << 20
WITHIN_PERCENT = {"rate_percent": 5.0, "duration_percent": 10.0}
"""Allowed errors in %. The queue starts empty, which Little's law for a full one ignores."""

QUESTIONS = {
    "disk_mib_per_s": Question("How many MiB/s did the disk do while the application wrote?", unit="MiB/s"),
    "burst_s": Question("How long did the application write, in s?", unit="s"),
    "half_ms": Question(
        "With half as many writes in flight, which latency would the dashboard show, in ms?", unit="ms"
    ),
    "half_shown_mib_per_s": Question("And which rate, in its busiest window, in MiB/s?", unit="MiB/s"),
}
"""Questions that a learner answers first."""


def _system(outstanding: int, writes: int, rate: int, window_s: int, phase_ms: int) -> Case:
    """Return a burst and a dashboard; the monitor starts its windows at the phase."""
    return load_case(CASE).with_(
        {
            "devices[vdisk].lun.rate": rate,
            "jobs[burst].iodepth": outstanding,
            "jobs[burst].number_ios": writes,
            "monitor.window": f"{window_s}s",
            "monitor.phase": f"{phase_ms}ms",
        }
    )


def _drawn(source: random.Random, *, whole: bool) -> Case:
    """Draw a burst of one or two seconds; with `whole` it fits in one window."""
    outstanding, rate = source.choice((8, 16, 24, 32)), source.randrange(150, 600) * MIB
    writes = max(round(source.uniform(0.9, 1.9) * rate / MIB), 20 * outstanding)
    window_s = source.choice((10, 15, 20, 30))
    # Windows start some seconds before the burst at 25 s, or in the middle of it.
    before_ms = source.randrange(500, 5000) if whole else -source.randrange(100, 800)
    return _system(outstanding, writes, rate, window_s, (25_000 - before_ms) % (1000 * window_s))


def system(learner: object) -> Case:
    """Return the learner's own system."""
    return _drawn(source_from(bytes(draws_of(learner))), whole=True)


def briefing(learner: object) -> str:
    """Describe the learner's system."""
    scenario = system(learner).scenario()
    job, window_s = scenario["jobs"][0], scenario["monitor"]["window"] // 1_000_000_000
    return (
        f"The application of {learner} writes in bursts, {job['bs'] // MIB} MiB at a time; while it writes, it keeps "
        f"{job['iodepth']} writes in flight. The dashboard has a point every {window_s} s."
    )


def look(learner: object) -> str:
    """Print the dashboard."""
    return system(learner).run().text("monitor")


def _truth(result: Result) -> tuple[float, float]:
    """Return the rate and the duration that the job itself measured."""
    return result.metrics["burst.write_mib_per_s"], result.metrics["burst.elapsed_s"]


def _near(asked: Asked) -> dict[str, float]:
    own = system(asked.draws)
    rate, burst_s = _truth(own.run(seed=asked.seed))
    outstanding = own.scenario()["jobs"][0]["iodepth"]
    half = own.with_({"jobs[burst].iodepth": outstanding // 2}).run(seed=asked.seed).metrics
    return {
        "disk_mib_per_s": rate,
        "burst_s": burst_s,
        "half_ms": half["monitor_busiest_latency_mean_ms"],
        "half_shown_mib_per_s": half["monitor_busiest_mib_per_s"],
    }


def points_of(result: Result) -> list[tuple[float, float | None]]:
    """Return a dashboard's points as pairs of MiB/s and ms; the latency is None where nothing was written."""
    return [(point["mib_per_s"], point["latency_mean_ms"]) for point in result.monitor()]


def _decoded(asked: Asked) -> list[Evidence]:
    """Judge the function on unseen dashboards; one of two bursts spans two points."""
    return [
        item
        for whole in (True, False)
        for item in _judged(asked, _drawn(source_from(asked.seed), whole=whole), whole=whole)
    ]


def _judged(asked: Asked, case: Case, *, whole: bool) -> list[Evidence]:
    place = "a burst in one window" if whole else "a burst in two windows"
    result, scenario = case.run(seed=asked.seed), case.scenario()
    job, window_s = scenario["jobs"][0], scenario["monitor"]["window"] / 1e9
    with asked.play("decode") as decode:
        found = decode(job["iodepth"], job["bs"] / MIB, window_s, points_of(result))
    wanted = zip(("rate", "duration"), ("MiB/s", "s"), WITHIN_PERCENT, _truth(result), strict=True)
    found, broken = returned(Items(Number(), 2), found, place, 2)
    if broken:
        return broken
    return [
        near(
            f"{place}: {name}",
            given,
            truth,
            within_percent=asked.bound(bound),
            unit=unit,
            seed=asked.seed,
            why=_mistake(name, given, truth, whole=whole),
        )
        for given, (name, unit, bound, truth) in zip(found, wanted, strict=True)
    ]


WHY = named(
    two_windows="a burst that spans two points is in both of them: add up their bytes, and weight each latency by "
    "the bytes written in its window",
    shown_rate="this is the dashboard's rate: bytes over a mostly idle window; latency is not averaged over idle "
    "time, so the true rate follows from it by Little's law",
    too_fast="too high: the rate is writes in flight, times their size, divided by the latency in seconds",
    whole_window=(
        "a point covers the whole window, but the application wrote for only part of it: divide the bytes by the rate"
    ),
)


def _mistake(name: str, given: float, truth: float, *, whole: bool) -> Mistake:
    if not whole:
        return WHY["two-windows"]
    if name == "rate":
        return WHY["shown-rate" if given < truth else "too-fast"]
    return WHY["whole-window"]


CODE = Code(("outstanding", "write_mib", "window_s", "points"))
HINTS = (
    "What was averaged over idle time, and what was not?",
    "Requests in the disk = rate x latency. While the application writes, you know two of the three.",
    (
        "The rate is writes in flight x size / latency; the duration is the bytes of all points together, "
        "divided by that rate. With two points, weight their latencies by their bytes."
    ),
)

ASSIGNMENT, check, hint = exercise(
    "monitors-lie",
    Commitment("check-prediction", 4, "prediction", QUESTIONS, _near),
    Task("check-decode", 3, {"decode": CODE}, _decoded, HINTS),
    Task("check-decode-elsewhere", 3, {"decode": CODE}, _decoded, HINTS, seeds=3),
    bounds=WITHIN_PERCENT,
)
