"""The assignment on finding a throttle: from what the tools print, say which mechanism holds the writers back.

Each learner has a system of their own, and one of several throttles, right ones and a broken one. A diagnosis is judged
by experiment: the system is built with the throttle that was named, and has to behave as the found one does.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from seeklab import checks
from seeklab._case import Case
from seeklab._case import case as load_case
from seeklab._errors import Problem, SeeklabError
from seeklab.checks import Evidence, Outcome, Verdict
from seeklab.exercises import draws_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from seeklab._result import Result

CASE = "delay-everything"
KIB = 1 << 10
MIB = 1 << 20
RECORD = 32 * KIB
TICK_MS = 10
SYNC_S = 5

OLD: Mapping[str, object] = {"zfs.era": "zfs-2008-03", "zfs.start": "full", "zfs.tick": f"{TICK_MS}ms"}
NEW: Mapping[str, object] = {
    "zfs.era": "openzfs-2013",
    "zfs.start": "empty",
    "zfs.tick": None,
    "zfs.shift_bug": None,
    "zfs.write_limit": None,
}
THROTTLES: Mapping[str, Mapping[str, object]] = {
    "Nothing: writers stop when the memory is full.": {**NEW, "zfs.throttle": "none"},
    "A tick beyond 7/8 of the group, and a stop at its limit.": {**OLD, "zfs.shift_bug": False},
    "A tick beyond 7/8 of the group, and the 7/8 come out as nothing.": {**OLD, "zfs.shift_bug": True},
    "A wait until the measured rate, times the age of the group, covers it.": {**NEW, "zfs.throttle": "diagonal"},
    "A delay that grows with the dirty data; sleepers wake one after the other.": {**NEW},
    "A delay that grows with the dirty data; each sleeps for itself.": {**NEW, "zfs.serialise": False},
}
"""What may hold writers back, and the system that does so."""

TOOLS = ("histogram", "delays", "dirty", "sync", "quantize", "packed")
"""What may be looked at, as on the command line with `--as`."""

QUESTIONS = {
    "throughput_times": (
        "The throttle is replaced by that of 2013. How many times the present throughput will the writers have?"
    ),
    "new_longest_ms": "And how long will the longest write take then, once the system has settled, in ms?",
}
"""What a learner commits to before looking."""

READINGS = {
    "slept": "How many writes were delayed?",
    "stopped": "How many were stopped?",
    "stalls_percent": "Writes of a second or longer: which share of all waiting is theirs, in %?",
}
"""What is to be read off the tools."""

TOOLS_SHOW = "what the tools show of this system"

SAME_PERCENT = 1.0
"""Two systems behave alike when each number agrees within this."""


def _found(learner: object) -> Case:
    """Build the learner's system as it was found."""
    kinds = list(THROTTLES)
    return _with(learner, kinds[draws_of(learner)[0] % len(kinds)])


def _with(learner: object, throttle: str) -> Case:
    """Build the learner's system with one of the throttles."""
    draws = draws_of(learner)
    threads = 20 + draws[1] % 13
    # A tick for each write lets a little less in than the backend takes, or else the broken throttle stops writers too.
    rate = threads * RECORD * (1000 // TICK_MS) * (115 + draws[2] % 36) // 100
    return load_case(CASE).with_(
        {
            "zfs.record": RECORD,
            "zfs.write_limit": SYNC_S * rate,
            "zfs.dirty_data_max": 3 * SYNC_S * rate,
            "jobs[writers].bs": RECORD,
            "jobs[writers].numjobs": threads,
            "jobs[writers].ramp_time": "15s",
            "jobs[writers].runtime": "20s",
            "devices[pool].lun.rate": rate,
            **THROTTLES[throttle],
        }
    )


def briefing(learner: object) -> str:
    """Tell what everybody knows of the learner's system."""
    scenario = _found(learner).scenario()
    job, lun = scenario["jobs"][0], scenario["devices"][0]["lun"]
    return (
        f"In the system of {learner} {job['numjobs']} threads write {RECORD // KIB} KiB at a time, as fast as they may,"
        f" to a backend of {lun['rate'] / MIB:.0f} MiB/s."
    )


def look(learner: object, tool: str) -> str:
    """Print what a tool shows of the learner's system."""
    if tool not in TOOLS:
        raise SeeklabError([Problem("tool", f'"{tool}" is not at hand here; known: {", ".join(TOOLS)}')])
    return _found(learner).run().text(tool)


def dirty(learner: object, step: int = 5) -> list[tuple[float, float]]:
    """Give the dirty data of the learner's system over time, as points of seconds and MiB."""
    run = _found(learner).run()
    interval_s = run.series["time_ns"][1] / 1e9
    rows = list(enumerate(run.zfs["dirty_mean_bytes"]))[:: max(step, 1)]
    return [(round(nth * interval_s, 1), mean / MIB) for nth, mean in rows if nth * interval_s <= run.simulated_s]


def check_prediction(prediction: object, learner: object) -> Verdict:
    """Judge the predictions by their distance from what fresh runs give."""
    given = prediction if isinstance(prediction, dict) else {}
    (seed,) = checks.fresh_seeds(1)
    now = _found(learner).run(seed=seed).metrics
    then = _with(learner, list(THROTTLES)[4]).run(seed=seed).metrics
    rate = "writers.write_mib_per_s"
    truths = {
        "throughput_times": (then[rate] / now[rate], 1.25, 1.1, "x"),
        "new_longest_ms": (then["writers.write_latency_max_ms"], 2.0, 1.25, "ms"),
    }
    return checks.combine(
        checks.judge_prediction(
            given.get(name), truth, within_factor=within, full_within_factor=full, what=name, unit=unit
        )
        for name, (truth, within, full, unit) in truths.items()
    )


def check_readings(readings: object, learner: object) -> Verdict:
    """Judge the numbers that were read off the tools against the run that they print."""
    given = readings if isinstance(readings, dict) else {}
    metrics = _found(learner).run().metrics
    truths = {
        "slept": (metrics["zfs_delayed_writes"], 0.0, ""),
        "stopped": (metrics["zfs_blocked_writes"], 0.0, ""),
        "stalls_percent": (metrics["writers.write_stalls_share_percent"], 3.0, "%"),
    }
    return checks.combine(
        _without_truth(checks.judge_number(given.get(name), truth, what=name, within_percent=within, unit=unit))
        for name, (truth, within, unit) in truths.items()
    )


def _without_truth(verdict: Verdict) -> Verdict:
    """Leave the right number out: the tools tell it to whoever looks."""
    return replace(verdict, evidence=tuple(replace(item, bound=TOOLS_SHOW) for item in verdict.evidence))


def check_throttle(throttle: object, learner: object) -> Verdict:
    """Judge a diagnosis by experiment: the system with that throttle has to behave as the found one does."""
    if not isinstance(throttle, str) or throttle not in THROTTLES:
        found = None if throttle is None else repr(throttle)
        evidence = Evidence("throttle", found, "one of the throttles, word for word", None)
        return Verdict(Outcome.CANNOT_TELL, (evidence,), "no throttle to judge")
    try:
        found_system, named_system = _found(learner), _with(learner, throttle)
    except SeeklabError as error:  # a learner without a name
        return checks.refused(error)

    def measure(seed: int) -> list[Evidence]:
        found, named = (system.run(seed=seed) for system in (found_system, named_system))
        return [item for metric in _SIGNS for item in _alike(metric, found, named, seed)]

    return checks.judge_on_fresh_seeds(measure, 1)


_SIGNS: Mapping[str, str] = {
    "zfs_delayed_writes": "writes that slept",
    "zfs_blocked_writes": "writes that stopped",
    "writers.write_latency_p50_ms": "median",
    "writers.write_latency_max_ms": "longest write",
    "zfs_dirty_max_bytes": "most dirty data",
}
"""By what throttles are told apart."""


def _alike(metric: str, found: Result, named: Result, seed: int) -> list[Evidence]:
    """Compare one number of the system with the named throttle with that of the found one."""
    wanted, measured = found.metrics[metric], named.metrics[metric]
    met = abs(measured - wanted) <= SAME_PERCENT / 100 * abs(wanted)
    bound = f"{wanted:,.6g} +-{SAME_PERCENT:g} %, as found"
    if met and not wanted:
        bound = "0, as found"
    return [Evidence(f"{_SIGNS[metric]}, with this throttle", measured, bound, met, found.units.get(metric, ""), seed)]
