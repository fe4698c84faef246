"""The assignment on a disk's time: predict where it goes, then choose how the disk orders its queue.

Each learner has a disk of their own speed. A choice is judged on two loads that want opposite things of it: users who
come at random, more of them than the disk serves in order of arrival, and a batch job that keeps many requests waiting.
Bounds are multiples of what one request takes alone on that very disk, measured on the same seed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seeklab import checks
from seeklab._errors import SeeklabError
from seeklab._result import run
from seeklab.checks import Evidence, Outcome, Verdict
from seeklab.exercises import draws_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from seeklab._result import Result

REQUESTS = 5000
SPEEDS: tuple[dict[str, Any], ...] = (
    {"rpm": 5400, "seek_single": "1ms", "seek_average": "11ms", "seek_full": "24ms"},
    {"rpm": 7200, "seek_single": "0.8ms", "seek_average": "8.5ms", "seek_full": "17ms"},
    {"rpm": 10_000, "seek_single": "0.5ms", "seek_average": "5ms", "seek_full": "10ms"},
)
"""Speeds and seeks that go together in drives that are sold."""

QUESTIONS = {
    "rotation_ms": "A read of 4 KiB at random, nothing else to do: how long does it wait for the platter, in ms?",
    "random_mib_per_s": "Such reads one after the other: how many MiB a second is that?",
    "sixteen_times": (
        "16 reads in flight, and the disk takes the one that it reaches first:"
        " how many times as many reads a second as one after the other?"
    ),
}
"""What a learner commits to before the first run."""

MAY_SET = ("queue_policy", "queue_depth")
"""What a choice may change: in which order the disk serves, and among how many requests it may choose."""

USERS_LOAD = 1.4
"""Users ask for so many times what the disk serves one after the other."""
BATCH_IN_FLIGHT = 64
USERS_MEAN_TIMES = 4.6
USERS_P99_TIMES = 24
BATCH_RATE_TIMES = 1.9
BATCH_P99_TIMES = 75

USERS_DEMANDS = (
    f"mean response at most {USERS_MEAN_TIMES:g} times that of one request alone",
    f"99 % of the responses within {USERS_P99_TIMES:g} times that",
)
BATCH_DEMANDS = (
    f"at least {BATCH_RATE_TIMES:g} times the requests a second of one after the other",
    f"99 % of the responses within {BATCH_P99_TIMES:g} times that of one request alone",
)


def disk(learner: object) -> dict[str, Any]:
    """Give the values of the learner's disk that differ from the preset, serving in order of arrival."""
    draws = draws_of(learner)
    own = SPEEDS[draws[0] % len(SPEEDS)]
    return {**own, "rpm": own["rpm"] + 10 * (draws[1] % 31), "queue_policy": "fcfs", "queue_depth": 1}


def briefing(learner: object) -> str:
    """Tell the learner's disk."""
    own = disk(learner)
    return f"The disk of {learner} turns {own['rpm']:,} times a minute; its average seek takes {own['seek_average']}."


def measure(learner: object, choice: dict[str, Any], job: dict[str, Any], seed: int = 1) -> Result:
    """Run random reads of 4 KiB on the learner's disk: `job` in fio's words, such as `{"iodepth": 16}`."""
    reads = {"name": "reads", "rw": "randread", "bs": 4096, "size": "100%", "norandommap": True}
    scenario = {
        "jobs": [{**reads, "number_ios": REQUESTS, **job}],
        "devices": [{"name": "disk", "preset": "hdd-7200", "hdd": {**disk(learner), **choice}}],
        "record": {"log": False},
    }
    return run(scenario, seed=seed)


def users(learner: object, choice: dict[str, Any], seed: int = 1) -> Result:
    """Run the users: random arrivals, more than the disk serves one after the other."""
    rate = USERS_LOAD * alone(learner, seed).metrics["reads.read_iops"]
    return measure(learner, choice, {"iodepth": 8192, "rate_iops": rate, "rate_process": "poisson"}, seed)


def batch(learner: object, choice: dict[str, Any], seed: int = 1) -> Result:
    """Run the batch job, which keeps many requests in flight."""
    return measure(learner, choice, {"iodepth": BATCH_IN_FLIGHT}, seed)


def alone(learner: object, seed: int = 1) -> Result:
    """Run one request after the other."""
    return measure(learner, {}, {}, seed)


def check_prediction(prediction: object, learner: object) -> Verdict:
    """Judge the predictions by their distance from what a fresh run gives."""
    given = prediction if isinstance(prediction, dict) else {}
    (seed,) = checks.fresh_seeds(1)
    one = alone(learner, seed).metrics
    many = measure(learner, {"queue_policy": "satf", "queue_depth": 16}, {"iodepth": 16}, seed).metrics
    truths = {
        "rotation_ms": (one["reads.read_rotation_mean_ms"], 1.5, 1.1, "ms"),
        "random_mib_per_s": (one["reads.read_mib_per_s"], 2.0, 1.25, "MiB/s"),
        "sixteen_times": (many["reads.read_iops"] / one["reads.read_iops"], 1.5, 1.15, "x"),
    }
    return checks.combine(
        checks.judge_prediction(
            given.get(name), truth, within_factor=within, full_within_factor=full, what=name, unit=unit
        )
        for name, (truth, within, full, unit) in truths.items()
    )


def check_users(choice: object, learner: object) -> Verdict:
    """Judge a choice by what users wait."""

    def bounds(own: dict[str, Any], seed: int) -> list[Evidence]:
        found, unit_ms = users(learner, own, seed), alone(learner, seed).metrics["reads.read_latency_mean_ms"]
        return [
            _at_most(found, "reads.read_latency_mean_ms", USERS_MEAN_TIMES, unit_ms),
            _at_most(found, "reads.read_latency_p99_ms", USERS_P99_TIMES, unit_ms),
        ]

    return _judge(choice, bounds)


def check_batch(choice: object, learner: object) -> Verdict:
    """Judge the same choice by what the batch job gets, and by those of its requests that wait longest."""

    def bounds(own: dict[str, Any], seed: int) -> list[Evidence]:
        found, one = batch(learner, own, seed), alone(learner, seed).metrics
        rate, least = found.metrics["reads.read_iops"], BATCH_RATE_TIMES * one["reads.read_iops"]
        words = f">= {least:.0f} ({BATCH_RATE_TIMES:g} times {one['reads.read_iops']:.0f})"
        return [
            Evidence("reads.read_iops", rate, words, rate >= least, "1/s", seed),
            _at_most(found, "reads.read_latency_p99_ms", BATCH_P99_TIMES, one["reads.read_latency_mean_ms"]),
        ]

    return _judge(choice, bounds)


def _at_most(found: Result, metric: str, times: float, unit_ms: float) -> Evidence:
    measured, most = found.metrics[metric], times * unit_ms
    return Evidence(
        metric, measured, f"<= {most:.0f} ({times:g} times {unit_ms:.1f})", measured <= most, "ms", found.seed
    )


def _judge(choice: object, bounds: Callable[[dict[str, Any], int], list[Evidence]]) -> Verdict:
    if not isinstance(choice, dict) or not choice:
        return Verdict(Outcome.FAIL, (Evidence("choice", "nothing", "at least one value that is set", met=False),))
    outside = [name for name in choice if name not in MAY_SET]
    if outside:
        return Verdict(Outcome.FAIL, (Evidence("set", str(outside[0]), f"one of {', '.join(MAY_SET)}", met=False),))
    try:
        return checks.judge_on_fresh_seeds(lambda seed: bounds(choice, seed), checks.SEEDS)
    except SeeklabError as error:
        return checks.refused(error)
