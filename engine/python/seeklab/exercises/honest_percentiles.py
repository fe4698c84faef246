"""The assignment on coordinated omission: what a test's percentiles leave out, and how to restore it.

Each learner has a load generator with connections, a plan, and a server that stops once. The check draws tests for
predictions and two functions. The first function knows when each request was due. The second has only a tool's data:
times of sending and completion, and the plan's interval.
"""

from __future__ import annotations

from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any

from seeklab._case import case as load_case
from seeklab._question import Question
from seeklab.exercises._shapes import exercise, named, returned, source_from
from seeklab.judge import Asked, Code, Commitment, Evidence, Items, Mistake, Number, Task, draws_of, near

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from seeklab._case import Case
    from seeklab._result import Result

CASE = "coordinated-omission"
MS = 1_000_000
PERCENTS = (95.0, 99.0, 99.9)
"""The percentiles that the functions must return."""
TAIL = (97.0, 99.0)
"""The percentiles that can be restored without the times when requests were due."""
WITHIN_PERCENT = {"honest_percent": 5.0, "repaired_percent": 12.0}
"""Allowed error of each function, in %."""
STOPPED = 0.1
"""A sample shows the stop if it took longer than this share of it."""

QUESTIONS = {
    "slow_samples": Question("How many of the tool's samples took longer than a tenth of the stop?", unit="samples"),
    "tool_p99_ms": Question(
        "Which 99th percentile does the tool report, measured from when a request was sent, in ms?", unit="ms"
    ),
    "users_p99_ms": Question("Measured from when each request was due: which 99th percentile, in ms?", unit="ms"),
    "users_slow_percent": Question(
        "What share of the planned requests waited longer than a tenth of the stop, in %?", unit="%"
    ),
}
"""Questions that a learner answers first."""


def _drawn(source: random.Random) -> Case:
    """Draw a test of 10 s with a stop in the middle."""
    connections, per_s = source.choice((10, 12, 16)), source.choice((400, 500))
    return load_case(CASE).with_(
        {
            "devices[server].lun": {
                "rate": 4096 * per_s * source.randrange(14, 20),
                "latency": f"{source.randrange(8, 16) / 10}ms",
                "latency_cv": source.randrange(3, 7) / 10,
                "pauses": [{"at": f"{source.randrange(3000, 7000)}ms", "for": f"{source.randrange(600, 2900)}ms"}],
            },
            "jobs[tool].numjobs": connections,
            "jobs[tool].rate_iops": per_s / connections,
            "jobs[tool].stagger": 1_000_000_000 // per_s,
            "jobs[tool].ramp_time": 0,
            "jobs[tool].runtime": "10s",
            "monitor.span": "10s",
        }
    )


def system(learner: object) -> Case:
    """Return the learner's own test."""
    return _drawn(source_from(bytes(draws_of(learner))))


def _plan(case: Case) -> tuple[int, float, float, float]:
    """Return connections, ms between a connection's requests, length of the stop and mean service time, in ms."""
    scenario = case.scenario()
    job, server = scenario["jobs"][0], scenario["devices"][0]["lun"]
    return job["numjobs"], 1000 / job["rate_iops"], server["pauses"][0]["for"] / MS, server["latency"] / MS


def briefing(learner: object) -> str:
    """Describe the learner's test."""
    connections, interval_ms, stop_ms, service_ms = _plan(system(learner))
    return (
        f"The tool of {learner} has {connections} connections. According to its plan, each sends a request every "
        f"{interval_ms:g} ms for 10 s, {1000 * connections / interval_ms:g} a second in total. A connection that "
        f"still waits for an answer sends its next request late. The server answers in {service_ms:g} ms on average. "
        f"It stops once, for {stop_ms:g} ms."
    )


def _rows(result: Result) -> list[tuple[float, float, float]]:
    """Return when each request was due, sent and done, in ms."""
    found = [(row["due_ns"], row["submit_ns"], row["submit_ns"] + row["latency_ns"]) for row in result.ops.rows()]
    return [(due / MS, sent / MS, done / MS) for due, sent, done in found]


def log(learner: object) -> list[tuple[float, float, float]]:
    """Return the log of the learner's test: due, sent and done of each request, in ms."""
    return _rows(system(learner).run())


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the smallest value that at least this share of all values does not exceed."""
    return sorted(values)[max(0, ceil(len(values) * percent / 100) - 1)]


def _near(asked: Asked) -> dict[str, float]:
    own = system(asked.draws)
    slow_ms, rows = STOPPED * _plan(own)[2], _rows(own.run(seed=asked.seed))
    seen, waited = ([done - row[first] for row in rows for done in row[2:]] for first in (1, 0))
    return {
        "slow_samples": sum(ms > slow_ms for ms in seen),
        "tool_p99_ms": percentile(seen, 99),
        "users_p99_ms": percentile(waited, 99),
        "users_slow_percent": 100 * sum(ms > slow_ms for ms in waited) / len(waited),
    }


def _judged(name: str, bound: str, percents: tuple[float, ...], asked: Asked) -> list[Evidence]:
    """Judge a function on an unseen test."""
    case = _drawn(source_from(asked.seed))
    rows, interval_ms = _rows(case.run(seed=asked.seed)), _plan(case)[1]
    with asked.play(name) as play:
        if name == "honest":
            found: Any = play(rows, list(percents))
        else:
            found = play([row[1:] for row in rows], interval_ms, list(percents))
    found, broken = returned(Items(Number(), len(percents)), found, "percentiles", len(percents))
    if broken:
        return broken
    waited, seen = [row[2] - row[0] for row in rows], [row[2] - row[1] for row in rows]
    return [
        near(
            f"p{percent:g}",
            float(given),
            percentile(waited, percent),
            within_percent=asked.bound(bound),
            unit="ms",
            seed=asked.seed,
            why=_mistake(name, float(given), percentile(seen, percent), percentile(waited, percent)),
        )
        for given, percent in zip(found, percents, strict=True)
    ]


WHY = named(
    reported="this is what the tool reports, done minus sent; it leaves out requests that were due while no "
    "connection was free",
    wrong_share="latency starts when the request was due; then sort, and take the value at that share of the rows",
    too_long="too long: requests that were due later waited less; a 1000 ms sample at a 100 ms interval represents "
    "waits of 1000, 900, 800 ms and so on",
    too_short="too short: a sample longer than the interval kept its connection from sending; each interval in it is "
    "one request that is missing or late",
)


def _mistake(name: str, given: float, seen: float, waited: float) -> Mistake:
    if abs(given / seen - 1) < 0.02:
        return WHY["reported"]
    if name == "honest":
        return WHY["wrong-share"]
    return WHY["too-long" if given > waited else "too-short"]


HONEST = Code(("rows", "percents"))
REPAIRED = Code(("rows", "interval", "percents"))
HONEST_HINTS = (
    "From which moment does a user wait whose request follows the plan?",
    "done - due, not done - sent.",
    "Sort the waits; of n waits, the one for p is at place ceil(n x p / 100), counted from 1.",
)
REPAIRED_HINTS = (
    "What did a connection not do while it waited?",
    "A wait of w at an interval of i hides w / i requests: they waited w - i, w - 2 i, ... until nothing is left.",
    "Add those waits for each sample longer than the interval, then take the percentiles of the longer list.",
)

ASSIGNMENT, check, hint = exercise(
    "honest-percentiles",
    Commitment("check-prediction", 4, "prediction", QUESTIONS, _near),
    Task(
        "check-honest",
        3,
        {"honest": HONEST},
        partial(_judged, "honest", "honest_percent", PERCENTS),
        HONEST_HINTS,
        seeds=3,
    ),
    Task(
        "check-repaired",
        5,
        {"repaired": REPAIRED},
        partial(_judged, "repaired", "repaired_percent", TAIL),
        REPAIRED_HINTS,
        seeds=3,
    ),
    bounds=WITHIN_PERCENT,
)
