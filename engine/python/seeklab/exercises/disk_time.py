"""The assignment on a disk's time: predict its components, then choose how the disk orders its queue.

Each learner has a disk with its own speed. A choice is judged on two loads with opposite needs: random users who exceed
the disk's rate in order of arrival, and a batch job that keeps many requests waiting. Bounds are multiples of the time
of a single request on the same disk and seed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seeklab._question import Question
from seeklab._result import run
from seeklab.exercises._shapes import exercise
from seeklab.judge import Asked, Commitment, Evidence, Mistake, Settings, Task, diagnose, draws_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from seeklab._result import Result

REQUESTS = 5000
SPEEDS: tuple[dict[str, Any], ...] = (
    {"rpm": 5400, "seek_single": "1ms", "seek_average": "11ms", "seek_full": "24ms"},
    {"rpm": 7200, "seek_single": "0.8ms", "seek_average": "8.5ms", "seek_full": "17ms"},
    {"rpm": 10_000, "seek_single": "0.5ms", "seek_average": "5ms", "seek_full": "10ms"},
)
"""Combinations of speed and seek times in real drives."""

QUESTIONS = {
    "rotation_ms": Question(
        "One random read of 4 KiB on an idle disk: how long does it wait for the platter, in ms?", unit="ms"
    ),
    "random_mib_per_s": Question("Such reads one after the other: how many MiB/s?", unit="MiB/s"),
    "sixteen_times": Question(
        "16 reads in flight, and the disk takes the one that it reaches first: how many times as many reads a "
        "second as one after the other?",
        unit="x",
    ),
}
"""Questions that a learner answers before the first run."""

MAY_SET = ("queue_policy", "queue_depth")
"""The settings a learner may choose: the order of service, and the number of requests to choose from."""

USERS_LOAD = 1.4
"""The users' load, as a multiple of the disk's rate without a queue."""
BATCH_IN_FLIGHT = 64
USERS_MEAN_TIMES = 4.6
USERS_P99_TIMES = 24
BATCH_RATE_TIMES = 1.9
BATCH_P99_TIMES = 75

USERS_DEMANDS = (
    f"mean response at most {USERS_MEAN_TIMES:g} times the time of one request alone",
    f"99% of the responses within {USERS_P99_TIMES:g} times that",
)
BATCH_DEMANDS = (
    f"at least {BATCH_RATE_TIMES:g} times the requests a second that one at a time reaches",
    f"99% of the responses within {BATCH_P99_TIMES:g} times the time of one request alone",
)


def disk(learner: object) -> dict[str, Any]:
    """Return the fields of the learner's disk that differ from the preset, with service in order of arrival."""
    draws = draws_of(learner)
    own = SPEEDS[draws[0] % len(SPEEDS)]
    return {**own, "rpm": own["rpm"] + 10 * (draws[1] % 31), "queue_policy": "fcfs", "queue_depth": 1}


def briefing(learner: object) -> str:
    """Describe the learner's disk."""
    own = disk(learner)
    return f"The disk of {learner} turns {own['rpm']:,} times a minute; its average seek takes {own['seek_average']}."


def measure(learner: object, choice: dict[str, Any], job: dict[str, Any], seed: int = 1) -> Result:
    """Run random reads of 4 KiB on the learner's disk; `job` has fio's options, such as `{"iodepth": 16}`."""
    reads = {"name": "reads", "rw": "randread", "bs": 4096, "size": "100%", "norandommap": True}
    scenario = {
        "jobs": [{**reads, "number_ios": REQUESTS, **job}],
        "devices": [{"name": "disk", "preset": "hdd-7200", "hdd": {**disk(learner), **choice}}],
        "record": {"log": False},
    }
    return run(scenario, seed=seed)


def users(learner: object, choice: dict[str, Any], seed: int = 1) -> Result:
    """Run the users: random arrivals, faster than the disk serves one request after the other."""
    rate = USERS_LOAD * alone(learner, seed).metrics["reads.read_iops"]
    return measure(learner, choice, {"iodepth": 8192, "rate_iops": rate, "rate_process": "poisson"}, seed)


def batch(learner: object, choice: dict[str, Any], seed: int = 1) -> Result:
    """Run the batch job, which keeps many requests in flight."""
    return measure(learner, choice, {"iodepth": BATCH_IN_FLIGHT}, seed)


def alone(learner: object, seed: int = 1) -> Result:
    """Run one request after the other."""
    return measure(learner, {}, {}, seed)


def _near(asked: Asked) -> dict[str, float]:
    one = alone(asked.draws, asked.seed).metrics
    queue = {"queue_policy": "satf", "queue_depth": 16}
    many = measure(asked.draws, queue, {"iodepth": 16}, asked.seed).metrics
    return {
        "rotation_ms": one["reads.read_rotation_mean_ms"],
        "random_mib_per_s": one["reads.read_mib_per_s"],
        "sixteen_times": many["reads.read_iops"] / one["reads.read_iops"],
    }


DEEP = 24


def _depth(choice: Mapping[str, Any]) -> int:
    return int(choice.get("queue_depth") or 1)


MISTAKES = (
    Mistake(
        "arrival-order",
        "in order of arrival the disk gains nothing from its queue: it sees many requests, but takes the first",
        when=lambda choice: choice.get("queue_policy", "fcfs") == "fcfs",
    ),
    Mistake(
        "seek-only",
        "this order minimizes only seeks, but half the time of a small read is the wait for the platter",
        when=lambda choice: choice["queue_policy"] != "satf",
    ),
    Mistake(
        "too-deep",
        "among so many requests one is always near, and a far one waits until it is the nearest: the mean is "
        "low, but the slowest percent starves",
        when=lambda choice: _depth(choice) > DEEP,
    ),
    Mistake(
        "too-shallow",
        "with so few requests to choose from, the nearest is still far away; a deeper queue raises the rate",
    ),
)


def _users(asked: Asked) -> list[Evidence]:
    """Judge a choice by the users' response times."""
    choice = asked.answers["choice"]
    found = users(asked.draws, choice, asked.seed)
    unit_ms = alone(asked.draws, asked.seed).metrics["reads.read_latency_mean_ms"]
    mistake = diagnose(MISTAKES, choice)
    return [
        _at_most(found, "reads.read_latency_mean_ms", asked.bound("users_mean_times"), unit_ms, mistake),
        _at_most(found, "reads.read_latency_p99_ms", asked.bound("users_p99_times"), unit_ms, mistake),
    ]


def _batch(asked: Asked) -> list[Evidence]:
    """Judge the same choice by the batch job's rate and its slowest requests."""
    choice = asked.answers["choice"]
    found, one = batch(asked.draws, choice, asked.seed), alone(asked.draws, asked.seed).metrics
    times = asked.bound("batch_rate_times")
    rate, least = found.metrics["reads.read_iops"], times * one["reads.read_iops"]
    words = f">= {least:.0f} ({times:g} times {one['reads.read_iops']:.0f})"
    unit_ms = one["reads.read_latency_mean_ms"]
    mistake = diagnose(MISTAKES, choice)
    return [
        Evidence("reads.read_iops", rate, words, rate >= least, "1/s", asked.seed).because(mistake),
        _at_most(found, "reads.read_latency_p99_ms", asked.bound("batch_p99_times"), unit_ms, mistake),
    ]


def _at_most(found: Result, metric: str, times: float, unit_ms: float, mistake: Mistake) -> Evidence:
    measured, most = found.metrics[metric], times * unit_ms
    bound = f"<= {most:.0f} ({times:g} times {unit_ms:.1f})"
    return Evidence(metric, measured, bound, measured <= most, "ms", found.seed).because(mistake)


CHOICE = Settings(MAY_SET, {"rpm": "the speed is fixed; you can set the order and the depth of the queue"})
HINTS = (
    "What takes the time of one read: seek, rotation or transfer? Which orders shorten which of them?",
    "A deeper queue serves more requests a second, but far ones wait longer. Try 4, 16 and 64.",
    (
        "One order considers both arm and platter. With it, find the depth beyond which the 99th percentile of "
        "the batch rises steeply."
    ),
)

ASSIGNMENT, check, hint = exercise(
    "disk-time",
    Commitment("check-prediction", 3, "prediction", QUESTIONS, _near),
    Task("check-users", 3, {"choice": CHOICE}, _users, HINTS),
    Task("check-batch", 3, {"choice": CHOICE}, _batch, HINTS),
    bounds={
        "users_mean_times": USERS_MEAN_TIMES,
        "users_p99_times": USERS_P99_TIMES,
        "batch_rate_times": BATCH_RATE_TIMES,
        "batch_p99_times": BATCH_P99_TIMES,
    },
)
