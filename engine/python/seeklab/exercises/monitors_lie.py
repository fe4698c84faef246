"""The assignment on monitors: from what a dashboard shows, say what the disk did, by Little's law.

Each learner has an application that writes in bursts, and a dashboard with a window of its own. Predictions and the
learner's function are judged by what the job itself saw, on bursts that are drawn at the moment of the check.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from seeklab import checks
from seeklab._case import case as load_case
from seeklab._errors import Problem, SeeklabError
from seeklab.checks import Evidence
from seeklab.exercises import draws_of

if TYPE_CHECKING:
    from seeklab._case import Case
    from seeklab._result import Result
    from seeklab.checks import Verdict

CASE = "averaged-away"
MIB = 1 << 20
WITHIN_PERCENT = {"MiB/s": 5.0, "s": 10.0}
"""How near a function has to come. The queue fills from empty, which Little's law for a full one leaves out."""

QUESTIONS = {
    "disk_mib_per_s": "How many MiB/s did the disk do while the application wrote?",
    "burst_s": "How long did the application write, in s?",
    "half_ms": "With half as many writes outstanding, which latency would the dashboard show, in ms?",
    "half_shown_mib_per_s": "And which rate, in its busiest window, in MiB/s?",
}
"""What a learner commits to."""


def _system(outstanding: int, writes: int, rate: int, window_s: int, phase_ms: int) -> Case:
    """Give a burst and a dashboard; the monitor begins its windows at the phase."""
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
    """Draw a burst of one or two seconds; with `whole` it lies in one window."""
    outstanding, rate = source.choice((8, 16, 24, 32)), source.randrange(150, 600) * MIB
    writes = max(round(source.uniform(0.9, 1.9) * rate / MIB), 20 * outstanding)
    window_s = source.choice((10, 15, 20, 30))
    # Windows begin some seconds before the burst does, at 25 s, or in its midst.
    before_ms = source.randrange(500, 5000) if whole else -source.randrange(100, 800)
    return _system(outstanding, writes, rate, window_s, (25_000 - before_ms) % (1000 * window_s))


def system(learner: object) -> Case:
    """Give the learner's own system."""
    return _drawn(random.Random(bytes(draws_of(learner))), whole=True)  # noqa: S311 -- a load, not a secret


def briefing(learner: object) -> str:
    """Tell what everybody knows of the learner's system."""
    scenario = system(learner).scenario()
    job, window_s = scenario["jobs"][0], scenario["monitor"]["window"] // 1_000_000_000
    return (
        f"The application of {learner} writes in bursts, {job['bs'] // MIB} MiB at a time; while it writes it keeps"
        f" {job['iodepth']} writes outstanding. The dashboard has a point every {window_s} s."
    )


def look(learner: object) -> str:
    """Print what the dashboard shows."""
    return system(learner).run().text("monitor")


def _truth(result: Result) -> tuple[float, float]:
    """Give the rate and the duration that the job itself saw."""
    return result.metrics["burst.write_mib_per_s"], result.metrics["burst.elapsed_s"]


def check_prediction(prediction: object, learner: object) -> Verdict:
    """Judge the predictions by their distance from what fresh runs give."""
    given = prediction if isinstance(prediction, dict) else {}
    (seed,) = checks.fresh_seeds(1)
    own = system(learner)
    rate, burst_s = _truth(own.run(seed=seed))
    half = own.with_({"jobs[burst].iodepth": own.scenario()["jobs"][0]["iodepth"] // 2}).run(seed=seed).metrics
    truths = {
        "disk_mib_per_s": (rate, "MiB/s"),
        "burst_s": (burst_s, "s"),
        "half_ms": (half["monitor_busiest_latency_mean_ms"], "ms"),
        "half_shown_mib_per_s": (half["monitor_busiest_mib_per_s"], "MiB/s"),
    }
    return checks.combine(
        checks.judge_prediction(
            given.get(name), truth, within_factor=1.3, full_within_factor=1.08, what=name, unit=unit
        )
        for name, (truth, unit) in truths.items()
    )


def points_of(result: Result) -> list[tuple[float, float | None]]:
    """Give a dashboard's points as pairs of MiB/s and ms; the latency is None where nothing was written."""
    return [(point["mib_per_s"], point["latency_mean_ms"]) for point in result.monitor()]


def check_function(function: object, learner: object, seeds: int = checks.SEEDS) -> Verdict:
    """Judge `function(outstanding, write_mib, window_s, points)` on dashboards that nobody has seen.

    It gives the MiB/s while the application wrote, and for how many seconds. Half of the bursts straddle two points.
    """
    try:
        draws_of(learner)
    except SeeklabError as error:
        return checks.refused(error)
    return checks.judge_on_fresh_seeds(lambda seed: _measure(function, seed), seeds)


def _measure(function: object, seed: int) -> list[Evidence]:
    return [
        item
        for whole in (True, False)
        for item in _judged(function, _drawn(random.Random(seed), whole=whole), whole, seed)  # noqa: S311 -- a load
    ]


def _judged(function: Any, case: Case, whole: bool, seed: int) -> list[Evidence]:  # noqa: ANN401, FBT001 -- a learner's
    place = "a burst in one window" if whole else "a burst in two windows"
    result, scenario = case.run(seed=seed), case.scenario()
    job, window_s = scenario["jobs"][0], scenario["monitor"]["window"] / 1e9
    names = (("rate", "MiB/s"), ("duration", "s"))
    try:
        if not callable(function):
            raise SeeklabError([Problem("function", f"{function!r} cannot be called")])  # noqa: TRY301 -- told below
        found = function(job["iodepth"], job["bs"] / MIB, window_s, points_of(result))
        numbers = [checks.as_number(number) for number in found]
    except Exception as error:  # noqa: BLE001 -- a learner's code may raise anything
        told = checks.told(error)
        return [Evidence(f"{place}: {name}", told, "a number", met=False, seed=seed) for name, _ in names]
    if len(numbers) != len(names):
        numbers = [None, None]
    return [
        _near(f"{place}: {name}", number, truth, unit, seed)
        for (name, unit), number, truth in zip(names, numbers, _truth(result), strict=True)
    ]


def _near(what: str, number: float | None, truth: float, unit: str, seed: int) -> Evidence:
    if number is None:
        return Evidence(what, None, "a number; give two of them, MiB/s and s", met=False, seed=seed)
    within = WITHIN_PERCENT[unit]
    met = abs(number - truth) <= within / 100 * truth
    return Evidence(what, number, f"{truth:,.4g} +-{within:g} %", met, unit, seed)
