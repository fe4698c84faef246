"""The assignment on designing a pool: meet a service level for little money.

A learner's service level is drawn from the name: a capacity, a working set with its reads a second, synchronous writes
a second, and streams. A design is judged by what it does under loads that nobody has seen: on fresh seeds, with other
numbers of threads than in the course. Its cost is judged only once it meets the level.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import seeklab
from seeklab import checks
from seeklab._errors import SeeklabError
from seeklab.checks import Evidence, Outcome, Verdict
from seeklab.exercises import draws_of

if TYPE_CHECKING:
    from seeklab._design import Design, Measured

TB = 1e12

QUESTIONS = {
    "1-stream-cold": "One client streams from cold disks. What binds it?",
    "6-random-warm": "128 threads read 8 KiB at random from memory. What binds them?",
    "9-sync-writes": "128 threads write 8 KiB, durably. What binds them?",
}
"""What a learner names before the first run, of the pool that the course starts with."""

PARTS = ("clients' links", "server's link", "cores", "disks", "log SSDs", "read SSDs", "threads")
"""What may bind a test."""

THREADS = {"working-set": (104, 152), "9-sync-writes": (104, 152), "4-streams-warm": (9, 11)}
"""Least and most threads of the loads that a design is judged by."""

SLACK = 1.3
"""What a design may cost beyond a plain one that meets the level."""
CHEAP_READS_PER_S = 80
"""Reads a second that the plain design expects of a disk."""
CYCLES_PER_BYTE = 36
CLOCK_HZ = 2.3e9


def level(learner: object) -> dict[str, int]:
    """Give the learner's service level: terabytes, GiB of the working set, and a rate for each test."""
    draws = draws_of(learner)
    return {
        "capacity_tb": 6 + draws[0] % 9,
        "working_set_gib": 64 + 16 * (draws[1] % 9),
        "working-set": 2500 + 250 * (draws[2] % 15),
        "9-sync-writes": 6000 + 1000 * (draws[3] % 17),
        "4-streams-warm": 300 + 50 * (draws[4] % 11),
    }


def budget(learner: object) -> int:
    """Give what the learner's pool may cost, at the sample prices."""
    own = level(learner)
    price = seeklab.design().prices
    disks = 2 * own["capacity_tb"]
    missing = min(1.0, disks * CHEAP_READS_PER_S / own["working-set"])
    bytes_per_s = max(own["4-streams-warm"] * 2**20, own["9-sync-writes"] * 8192, own["working-set"] * 8192)
    plain = {
        "disks": disks,
        "memory_gib": own["working_set_gib"] * (1 - missing) + 8,
        "log_ssds": own["9-sync-writes"] // 10_000 + 1,
        "cores": bytes_per_s * CYCLES_PER_BYTE // CLOCK_HZ + 1,
        "server_gbit": bytes_per_s * 10 // 1e9 + 1,
    }
    return 100 * round(SLACK * sum(price[part] * number for part, number in plain.items()) / 100)


def briefing(learner: object) -> str:
    """Tell a learner the service level."""
    own = level(learner)
    return (
        f"The pool of {learner} holds at least {own['capacity_tb']} TB, and costs at most {budget(learner):,}.\n"
        f"About 128 threads read 8 KiB at random in a working set of {own['working_set_gib']} GiB:"
        f" at least {own['working-set']:,} reads a second.\n"
        f"About 128 threads write 8 KiB that must be durable: at least {own['9-sync-writes']:,} a second.\n"
        f"About 10 clients of 1 Gbit/s stream from memory: at least {own['4-streams-warm']} MiB/s in all.\n"
        "A disk that fails must not lose data."
    )


def pool(learner: object, choice: object) -> Design:
    """Build the learner's design, with the learner's working set and the sample prices."""
    numbers: dict[str, Any] = dict(choice) if isinstance(choice, dict) else {}
    own = level(learner)
    return seeklab.design(**{**numbers, "working_set_gib": own["working_set_gib"], "client_gbit": 1})


def measure(learner: object, choice: object, test: str, seed: int = 1) -> Measured:
    """Measure one test of the learner's design, under a load that the seed draws."""
    source = random.Random(seed)  # noqa: S311 -- a load like another, not a secret
    return pool(learner, choice).run(test, {"jobs[load].numjobs": source.randint(*THREADS[test])}, seed=seed)


def check_bounds(answers: object, learner: object) -> Verdict:
    """Judge what was named for each test of the first pool by the bounds and a fresh run."""
    draws_of(learner)
    given = answers if isinstance(answers, dict) else {}
    first = seeklab.design()
    (seed,) = checks.fresh_seeds(1)
    verdicts = []
    for test, question in QUESTIONS.items():
        found = first.run(test, seed=seed)
        said = given.get(test)
        met = said == found.binds
        bound = f"the part that is full: {found.share:.0%} of what it allows" if met else f"one of {', '.join(PARTS)}"
        evidence = Evidence(question, said if isinstance(said, str) else None, bound, met, seed=seed)
        verdicts.append(Verdict(Outcome.PASS if met else Outcome.FAIL, (evidence,), score=float(met)))
    return checks.combine(verdicts)


def check_test(choice: object, learner: object, test: str) -> Verdict:
    """Judge a design by one test of its service level, under loads that nobody has seen."""
    least = level(learner)[test]

    def bounds(seed: int) -> list[Evidence]:
        found = measure(learner, choice, test, seed)
        return [Evidence(found.title, found.value, f">= {least:,}", found.value >= least, found.unit, seed)]

    return _judge(choice, bounds)


def check_cost(choice: object, learner: object) -> Verdict:
    """Judge capacity, redundancy and cost; a design that misses its service level earns nothing for being cheap."""
    most, own = budget(learner), level(learner)

    def bounds(seed: int) -> list[Evidence]:
        design = pool(learner, choice)
        held, numbers = design.capacity_bytes / TB, design.numbers
        found = [
            Evidence("capacity", held, f">= {own['capacity_tb']}", held >= own["capacity_tb"], "TB"),
            Evidence("disks in a group", numbers["width"], ">= 2", numbers["width"] > 1),
            Evidence("cost", design.cost, f"<= {most:,}", design.cost <= most),
        ]
        if all(evidence.met for evidence in found):
            runs = ((test, measure(learner, choice, test, seed)) for test in THREADS)
            found += [
                Evidence(run.title, run.value, f">= {own[test]:,}", run.value >= own[test], run.unit, seed)
                for test, run in runs
            ]
        return found

    return _judge(choice, bounds, seeds=1)


def _judge(choice: object, bounds: Any, seeds: int = checks.SEEDS) -> Verdict:  # noqa: ANN401 -- a function of a seed
    if not isinstance(choice, dict) or not choice:
        return Verdict(Outcome.FAIL, (Evidence("design", "nothing", "at least one number", met=False),))
    given = [name for name in ("prices", "working_set_gib", "client_gbit") if name in choice]
    if given:
        return Verdict(Outcome.FAIL, (Evidence("design", given[0], "parts of the pool, not the task", met=False),))
    try:
        return checks.judge_on_fresh_seeds(bounds, seeds)
    except (SeeklabError, TypeError) as error:
        return checks.refused(error) if isinstance(error, SeeklabError) else Verdict(Outcome.FAIL, reason=str(error))
