"""The assignment on finding a throttle: identify the mechanism that delays the writers, from tool output.

Each learner has a system with one of several throttles, including a broken one. A diagnosis is judged by experiment: a
system with the named throttle must behave like the learner's system.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from seeklab._case import Case
from seeklab._case import case as load_case
from seeklab._errors import Problem, SeeklabError
from seeklab._question import Question
from seeklab.exercises._shapes import exercise
from seeklab.judge import (
    Asked,
    Choice,
    Commitment,
    Evidence,
    Fields,
    Mistake,
    Number,
    Task,
    draws_of,
    handed_text,
    near,
)

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
THROTTLES: Mapping[str, tuple[Mapping[str, object], Mistake]] = {
    "Nothing: writers stop when the memory is full.": (
        {**NEW, "zfs.throttle": "none"},
        Mistake(
            "none", "with nothing to delay them, writers run into the limit and stop; none of them is ever delayed"
        ),
    ),
    "A tick beyond 7/8 of the group, and a stop at its limit.": (
        {**OLD, "zfs.shift_bug": False},
        Mistake(
            "threshold",
            "with a working threshold, writers are free up to 7/8 of the group, sleep a tick above it, and stop "
            "at the limit",
        ),
    ),
    "A tick beyond 7/8 of the group, and the 7/8 are calculated as zero.": (
        {**OLD, "zfs.shift_bug": True},
        Mistake(
            "zero-threshold",
            "if the 7/8 become zero, every write sleeps one tick, all delays are equally long, and few writes stop",
        ),
    ),
    "A wait until the measured rate, times the age of the group, covers it.": (
        {**NEW, "zfs.throttle": "diagonal"},
        Mistake(
            "diagonal",
            "the diagonal keeps dirty data on a line that grows with the group's age; its waits vary in length",
        ),
    ),
    "A delay that grows with the dirty data; sleepers wake one after the other.": (
        {**NEW},
        Mistake(
            "queued-curve",
            "the curve keeps dirty data constant, below the limit; since sleepers wake one after the other, the "
            "delays of many writers add up",
        ),
    ),
    "A delay that grows with the dirty data; writers sleep independently.": (
        {**NEW, "zfs.serialise": False},
        Mistake(
            "parallel-curve",
            "on the curve without a queue, each writer sleeps its own short delay: the delays are similar, and "
            "dirty data rise higher",
        ),
    ),
}
"""Possible throttles, each with its system and its typical signs, for learners whose system has another."""

TOOLS = ("histogram", "delays", "dirty", "sync", "quantize", "packed")
"""The available tools, as for `--as` on the command line."""

QUESTIONS = {
    "throughput_times": Question(
        "The throttle of 2013 replaces the present one. How many times the present throughput will the writers have?",
        unit="x",
    ),
    "new_longest_ms": Question(
        "And how long will the longest write take then, once the system has settled, in ms?", unit="ms"
    ),
}
"""Questions that a learner answers before looking."""

READINGS = {
    "slept": "How many writes were delayed?",
    "stopped": "How many were stopped?",
    "stalls_percent": "Writes of a second or longer: which share of all waiting time do they have, in %?",
}
"""The numbers to read from the tools."""


READING_REASONS: Mapping[str, str] = {
    "slept": "delayed writes are those that slept and then continued; the tool `delays` counts them",
    "stopped": (
        "stopped writes met the limit and waited for space; `delays` counts them separately from those that slept"
    ),
    "stalls_percent": "the share of waiting time, not of writes: the last lines of the histogram by total time",
}
"""The reason why a reading is wrong."""

TOOLS_SHOW = "what the tools show of this system"


def _found(learner: object) -> Case:
    """Build the learner's system as found."""
    kinds = list(THROTTLES)
    return _with(learner, kinds[draws_of(learner)[0] % len(kinds)])


def _with(learner: object, throttle: str) -> Case:
    """Build the learner's system with one of the throttles."""
    draws = draws_of(learner)
    threads = 20 + draws[1] % 13
    # A tick for each write admits slightly less than the backend takes; otherwise this throttle would stop writers too.
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
            **THROTTLES[throttle][0],
        }
    )


def _briefing(draws: bytes) -> str:
    scenario = _found(draws).scenario()
    job, lun = scenario["jobs"][0], scenario["devices"][0]["lun"]
    return (
        f"{job['numjobs']} threads write {RECORD // KIB} KiB at a time, as fast as they can, to a backend of "
        f"{lun['rate'] / MIB:.0f} MiB/s."
    )


def briefing(learner: object) -> str:
    """Describe the learner's system."""
    text = handed_text(learner, "briefing")
    return f"In the system of {learner}, {_briefing(draws_of(learner)) if text is None else text}"


def look(learner: object, tool: str) -> str:
    """Print a tool's output for the learner's system."""
    if tool not in TOOLS:
        raise SeeklabError([Problem("tool", f'"{tool}" is not available here; known: {", ".join(TOOLS)}')])
    text = handed_text(learner, tool)
    return _found(learner).run().text(tool) if text is None else text


def dirty(learner: object, step: int = 5) -> list[tuple[float, float]]:
    """Return the dirty data of the learner's system over time, as points of seconds and MiB."""
    text = handed_text(learner, "dirty data")
    points = _dirty(draws_of(learner)) if text is None else [(point[0], point[1]) for point in json.loads(text)]
    return points[:: max(step, 1)]


def _dirty(draws: bytes) -> list[tuple[float, float]]:
    run = _found(draws).run()
    interval_s = run.series["time_ns"][1] / 1e9
    rows = enumerate(run.zfs["dirty_mean_bytes"])
    return [(round(nth * interval_s, 1), mean / MIB) for nth, mean in rows if nth * interval_s <= run.simulated_s]


def _handed_out(draws: bytes) -> dict[str, str]:
    """Return the only settings that the learner may see."""
    found = _found(draws).run()
    texts = {tool: found.text(tool) for tool in TOOLS}
    return {"briefing": _briefing(draws), "dirty data": json.dumps(_dirty(draws)), **texts}


def _near(asked: Asked) -> dict[str, float]:
    now = _found(asked.draws).run(seed=asked.seed).metrics
    then = _with(asked.draws, list(THROTTLES)[4]).run(seed=asked.seed).metrics
    rate = "writers.write_mib_per_s"
    return {
        "throughput_times": then[rate] / now[rate],
        "new_longest_ms": then["writers.write_latency_max_ms"],
    }


def _readings(asked: Asked) -> list[Evidence]:
    """Judge the numbers read off the tools by the run that they print."""
    metrics = _found(asked.draws).run().metrics
    truths = {
        "slept": (metrics["zfs_delayed_writes"], 0.0, ""),
        "stopped": (metrics["zfs_blocked_writes"], 0.0, ""),
        "stalls_percent": (metrics["writers.write_stalls_share_percent"], asked.bound("stalls_within_percent"), "%"),
    }
    found = []
    for name, value in asked.answers["readings"].items():
        truth, within, unit = truths[name]
        # The right number stays hidden: a learner finds it in the tools.
        why = Mistake(name.replace("_", "-"), READING_REASONS[name])
        found.append(near(name, value, truth, within_percent=within, unit=unit, told=TOOLS_SHOW, why=why))
    return found


_SIGNS: Mapping[str, str] = {
    "zfs_delayed_writes": "writes that slept",
    "zfs_blocked_writes": "writes that stopped",
    "writers.write_latency_p50_ms": "median",
    "writers.write_latency_max_ms": "longest write",
    "zfs_dirty_max_bytes": "most dirty data",
}
"""The metrics that distinguish throttles."""


def _throttle(asked: Asked) -> list[Evidence]:
    """Judge a diagnosis by experiment: the system with that throttle must behave like the one found."""
    throttle = asked.answers["throttle"]
    found, named = (system.run(seed=asked.seed) for system in (_found(asked.draws), _with(asked.draws, throttle)))
    return [_alike(asked, metric, found, named, THROTTLES[throttle][1]) for metric in _SIGNS]


def _alike(asked: Asked, metric: str, found: Result, named: Result, looks: Mistake) -> Evidence:
    """Compare one number of the system with the named throttle and of the one found."""
    wanted, measured = found.metrics[metric], named.metrics[metric]
    percent = asked.bound("same_percent")
    met = abs(measured - wanted) <= percent / 100 * abs(wanted)
    bound = f"{wanted:,.6g} +-{percent:g}%, as found"
    if met and not wanted:
        bound = "0, as found"
    what, unit = f"{_SIGNS[metric]}, with this throttle", found.units.get(metric, "")
    why = f"the {_SIGNS[metric]} would differ with this throttle: {looks.why}"
    return Evidence(what, measured, bound, met, unit, asked.seed, why, looks.code)


ASSIGNMENT, check, hint = exercise(
    "which-throttle",
    Commitment("check-prediction", 2, "prediction", QUESTIONS, _near),
    Task(
        "check-readings",
        3,
        {"readings": Fields(dict.fromkeys(READINGS, Number()))},
        _readings,
        (
            'exercise.look(LEARNER, "delays") prints how many writes slept, and for how long.',
            "The tool counts stopped writes separately: they met the limit.",
            'For the stalls, use "histogram": add up the shares of waiting from one second on.',
        ),
        seeds=1,
        by_parts=True,
    ),
    Task(
        "check-throttle",
        4,
        {"throttle": Choice({name: looks.why for name, (_, looks) in THROTTLES.items()})},
        _throttle,
        (
            "Do writers sleep, stop, or both? That alone leaves two or three of the six throttles.",
            "Are all delays equally long? Then it is a tick. Do they vary? Then the throttle measures something.",
            (
                "Look at the dirty data over time: constant below the limit, a sawtooth that climbs to it, or a "
                "line that grows with the group."
            ),
        ),
        seeds=1,
    ),
    bounds={"stalls_within_percent": 3.0, "same_percent": 1.0},
    blind=_handed_out,
)
