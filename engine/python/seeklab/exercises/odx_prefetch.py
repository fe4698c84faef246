"""The assignment on the missing 256 KiB: a system for each learner, and the checks of its three tasks.

A learner's system is the case's with other sizes: another prefetch chunk, a copy engine that reads another number of
bytes beyond it, another load by others. So a number copied from the course, or from a neighbour, is wrong here.
"""

from __future__ import annotations

import random
from dataclasses import replace
from statistics import mode
from typing import TYPE_CHECKING, Any

from seeklab import checks
from seeklab._case import Case
from seeklab._case import case as load_case
from seeklab._errors import Problem, SeeklabError
from seeklab.checks import Bound, Evidence, Outcome, Verdict
from seeklab.exercises import draws_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from seeklab._result import Result
    from seeklab._table import Number

CASE = "odx-prefetch"
KIB = 1 << 10
MIB = 1 << 20

QUESTIONS = {
    "times_slower": "How many times longer does the mean copy read take than it would if all its bytes were in memory?",
    "times_slower_with_twice_the_bytes": (
        "If twice as many bytes of each copy read were missing from memory,"
        " how many times longer would the read take than now?"
    ),
    "dashboard_miss_percent": (
        "The dashboard shows the share of all bytes read, by everyone, that were not in memory."
        " What does it show, in %?"
    ),
}
"""What a learner commits to before the first run."""

PHASES = {
    "memory": ("memory",),
    "waiting": ("queue", "seek", "rotation"),
    "transfer": ("transfer",),
    "overhead": ("overhead", "scheduler"),
}
"""Where a read's time may go, in words of the assignment, and the phases of the log that belong to each."""

SUSPECTS: Mapping[str, Mapping[str, object]] = {
    "The memory is too small.": {"volume.cache.size": "8GiB"},
    "Memory is copied too slowly.": {"volume.cache.rate": "40GB"},
    "The write log holds the reads up.": {"volume.write_log.rate": "2GiB"},
    "The disks turn too slowly.": {"devices[disk].hdd.rpm": 15_000},
    "Other people's reads keep the disks busy.": {"jobs[background].rate_iops": 0.001},
    "A copy read is longer than what is fetched ahead for it.": {"protocol.odx_sizing": "target"},
}
"""Possible causes, each with an experiment that takes it away. The cause is the one whose absence helps most."""

MAY_SET = (
    "protocol.odx_sizing",
    "protocol.scheduler.in_flight",
    "protocol.target_transaction",
    "volume.prefetch.chunk",
    "volume.prefetch.min_read",
    "volume.prefetch.per_request",
)
"""What a fix may change. Workload, memory and disks belong to others, and the largest transaction to the protocol."""

DEMANDS = (
    Bound("odx.read_latency_mean_ms", at_most=1.5, of="fixed"),
    Bound("odx.read_missed_share_percent", at_most=0.1),
    Bound("odx.read_mib_per_s", at_least=0.9, of="fixed"),
    Bound("prefetch_max_ahead_bytes", at_most=1.25, of="fixed"),
    Bound("clients.read_latency_mean_ms", at_most=1.1, of="fixed"),
)
"""What a fix must reach, on every seed."""

LOG_SHOWS = "what the log of a run shows of nearly every copy read"

OTHER_MAXIMA_MIB = (20, 24, 28)
"""Largest transactions of the other systems that a fix is tried on: all farther from any chunk than a fix may fetch."""


def system(learner: object) -> Case:
    """Give the learner's system: the case with sizes drawn from the name."""
    draws = draws_of(learner)
    chunk = (8 + draws[0] % 5) * MIB
    tail = (5 + draws[1] % 11) * 32 * KIB
    return load_case(CASE).with_(
        {
            "volume.prefetch.chunk": chunk,
            "protocol.target_transaction": chunk,
            "protocol.max_transaction": chunk + tail,
            "jobs[background].rate_iops": 220 + 4 * (draws[2] % 21),
        }
    )


def briefing(learner: object) -> str:
    """Tell what is known about the learner's system before anybody looks closer."""
    missed = _metric(system(learner), "broken", 1, "odx.read_missed_share_percent")
    return f"In the system of {learner}, {missed:.1f} % of the bytes of each copy read are not in memory."


def run(learner: object, prediction: object) -> Result:
    """Run the learner's system as it was found, once a prediction has been committed to."""
    if not isinstance(prediction, dict) or set(prediction) != set(QUESTIONS):
        message = f"is not a dictionary of {', '.join(QUESTIONS)}; predict all of them before the first run"
        raise SeeklabError([Problem("prediction", message)])
    open_questions = [name for name, value in prediction.items() if checks.as_number(value) is None]
    if open_questions:
        message = f"{', '.join(open_questions)} is no number yet; predict all of them before the first run"
        raise SeeklabError([Problem("prediction", message)])
    seed = int.from_bytes(draws_of(learner)[3:9], "big") + 1
    return system(learner).run("broken", seed=seed)


def check_prediction(prediction: object, learner: object) -> Verdict:
    """Judge the three predictions by their distance from what fresh runs give."""
    given = prediction if isinstance(prediction, dict) else {}
    base = system(learner)
    tail = _largest_transaction(base) - _chunk(base)
    doubled = base.with_({"protocol.max_transaction": _largest_transaction(base) + tail})
    latency = "odx.read_latency_mean_ms"
    now = _mean_metric(base, "broken", latency)
    truths = {
        "times_slower": (now / _mean_metric(base, "fixed", latency), 2.0, 1.25, "x"),
        "times_slower_with_twice_the_bytes": (_mean_metric(doubled, "broken", latency) / now, 1.25, 1.1, "x"),
        "dashboard_miss_percent": (100 - _mean_metric(base, "broken", "memory_hit_share_percent"), 2.0, 1.25, "%"),
    }
    return checks.combine(
        checks.judge_prediction(
            given.get(name), truth, within_factor=within, full_within_factor=full, what=name, unit=unit
        )
        for name, (truth, within, full, unit) in truths.items()
    )


def check_diagnosis(diagnosis: object, learner: object) -> Verdict:
    """Judge the cause and its evidence against fresh runs of the learner's system; each part counts the same."""
    given = diagnosis if isinstance(diagnosis, dict) else {}
    base = system(learner)
    (seed,) = checks.fresh_seeds(1)
    result = base.run("broken", seed=seed)
    reads = list(copy_reads(result))
    numbers = {
        "read_bytes": mode(read["bytes"] for read in reads),
        "missed_bytes": mode(read["missed_bytes"] for read in reads),
        "first_missed_byte": mode(first_missed_byte(result, read) for read in reads),
    }
    return checks.combine(
        [
            *(_check_number(name, given.get(name), truth) for name, truth in numbers.items()),
            checks.judge_choice(given.get("phase"), _time_by_phase_ms(result), what="phase", unit="ms a read"),
            _check_cause(given.get("cause"), base, seed),
        ]
    )


def check_fix(fix: object, learner: object) -> Verdict:
    """Judge a change of configuration on the learner's own system, with fresh seeds."""
    return _shortened(_judge_fix(fix, system(learner)))


def check_fix_elsewhere(fix: object, learner: object) -> Verdict:
    """Judge the same change on systems whose protocol allows much larger, and much smaller, transactions."""
    base = system(learner)
    source = random.SystemRandom()
    maxima = [source.choice(OTHER_MAXIMA_MIB) * MIB, _chunk(base) // 2]
    return _shortened(
        checks.combine(_judge_fix(fix, base.with_({"protocol.max_transaction": maximum})) for maximum in maxima)
    )


def copy_reads(result: Result) -> Iterator[dict[str, Number]]:
    """Give the copy engine's reads in order, without the first, which nothing could have been fetched for."""
    job = result.jobs.index("odx")
    reads = (row for row in result.ops.rows() if row["job"] == job and row["op"] == 0)
    next(reads, None)
    return reads


def first_missed_byte(result: Result, read: Mapping[str, Number]) -> int:
    """Count the bytes from the start of a read to the first that nobody had asked for; its length if none."""
    job, start, length = read["job"], read["offset"], read["bytes"]
    reach = start
    for row in result.prefetches.rows():
        if row["job"] == job and row["issue_ns"] < read["submit_ns"] and row["offset"] <= reach:
            reach = max(reach, row["offset"] + row["bytes"])
    return int(min(reach - start, length))


def _check_number(name: str, given: object, truth: float) -> Verdict:
    """Judge a number read off the log, without telling the right one: the log tells it to whoever looks."""
    verdict = checks.judge_number(given, truth, what=name, unit="B")
    return replace(verdict, evidence=tuple(replace(item, bound=LOG_SHOWS) for item in verdict.evidence))


def _check_cause(cause: object, base: Case, seed: int) -> Verdict:
    """Judge a cause by experiment: take each suspect away and see how much of the mean read is gone."""
    if not isinstance(cause, str) or cause not in SUSPECTS:
        found = None if cause is None else repr(cause)
        evidence = Evidence("cause", found, "one of the suspects, word for word", None)
        return Verdict(Outcome.CANNOT_TELL, (evidence,), "no cause to judge")
    latency = "odx.read_latency_mean_ms"
    now = _metric(base, "broken", seed, latency)
    saved = {name: now - _metric(base.with_(without), "broken", seed, latency) for name, without in SUSPECTS.items()}
    return checks.judge_choice(cause, saved, what="taken away:", unit="ms of each read saved")


def _judge_fix(fix: object, base: Case) -> Verdict:
    changes: Any = fix  # anything that a learner may hand in; judge_fix refuses what is no dictionary
    return checks.judge_fix(base.with_({"record.log": False}), changes, DEMANDS, variant="broken", may_set=MAY_SET)


def _shortened(verdict: Verdict) -> Verdict:
    """Keep one line for each demand: the first run's, which stands for the others when all agree."""
    if verdict.outcome is Outcome.CANNOT_TELL:
        return verdict
    first = {item.what: item for item in reversed(verdict.evidence)}
    return Verdict(verdict.outcome, tuple(reversed(first.values())), verdict.reason, verdict.score)


def _time_by_phase_ms(result: Result) -> dict[str, float]:
    return {
        word: sum(result.metrics.get(f"odx.read_{phase}_mean_ms", 0.0) for phase in phases)
        for word, phases in PHASES.items()
    }


def _mean_metric(base: Case, variant: str, metric: str) -> float:
    """Average over a few fresh seeds, so that one run's luck does not decide."""
    seeds = checks.fresh_seeds(checks.SEEDS)
    return sum(_metric(base, variant, seed, metric) for seed in seeds) / len(seeds)


def _metric(base: Case, variant: str, seed: int, metric: str) -> float:
    return base.with_({"record.log": False}).run(variant, seed=seed).metrics[metric]


def _chunk(base: Case) -> int:
    return int(base.scenario("broken")["volume"]["prefetch"]["chunk"])


def _largest_transaction(base: Case) -> int:
    return int(base.scenario("broken")["protocol"]["max_transaction"])
