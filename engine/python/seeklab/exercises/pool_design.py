"""The assignment on designing a pool: meet a service level for little money.

A learner's service level is drawn from the name: a capacity, a working set with its reads a second, synchronous writes
a second, and streams. A design is judged by what it does under loads that nobody has seen: on fresh seeds, with other
numbers of threads than in the course. Its cost is judged only once it meets the level.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import seeklab
from seeklab._errors import Problem, SeeklabError
from seeklab.exercises._shapes import exercise
from seeklab.judge import Asked, Choice, Evidence, Fields, Settings, Task, draws_of

if TYPE_CHECKING:
    from collections.abc import Mapping

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

NOT_FULL: Mapping[str, str] = {
    "clients' links": (
        "each client has 1 Gbit/s of its own; divide the measured rate by the clients before you blame them"
    ),
    "server's link": "10 Gbit/s carry 1.2 GB/s; what is measured here is far from it",
    "cores": "the cores could copy more than this: their bound is their cycles over those of a byte",
    "disks": "disks bind only what comes from disks: what is in memory, or on the log SSD, does not wait for them",
    "log SSDs": "the log SSDs are for writes that must be durable; nothing else touches them",
    "read SSDs": "the pool has no read SSD: what is not there cannot be full",
    "threads": "threads bind when each waits for its one request and nothing is full: divide them by the latency",
    "waiting": "something is full here: compare what each part allows with what is measured",
}
"""What is told of a part to whoever names it wrongly."""

WHY_TEST: Mapping[str, str] = {
    "working-set": (
        "too few reads: what is not in memory comes from disks, at some eighty reads a second each. More memory, "
        "or more disks, and mind that a few percent that miss are most of the time"
    ),
    "9-sync-writes": "too few durable writes: each waits for a log SSD, and one takes some ten thousand a second",
    "4-streams-warm": "the streams are too slow: they come from memory, over cores that copy and a link that carries",
}
"""What is told of a design that misses a test."""

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
        f"The pool of {learner} holds at least {own['capacity_tb']} TB, and costs at most {budget(learner):,}.\nAbout "
        f"128 threads read 8 KiB at random in a working set of {own['working_set_gib']} GiB: at least "
        f"{own['working-set']:,} reads a second.\nAbout 128 threads write 8 KiB that must be durable: at least "
        f"{own['9-sync-writes']:,} a second.\nAbout 10 clients of 1 Gbit/s stream from memory: at least "
        f"{own['4-streams-warm']} MiB/s in all.\nA disk that fails must not lose data."
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


def _binds(asked: Asked) -> list[Evidence]:
    """Judge what was named for each test of the first pool by a run."""
    first = seeklab.design()
    found = []
    for test, part in asked.answers["binds"].items():
        run = first.run(test, seed=asked.seed)
        met = part == run.binds
        bound = f"the part that is full: {run.share:.0%} of what it allows" if met else f"one of {', '.join(PARTS)}"
        found.append(Evidence(QUESTIONS[test], part, bound, met, seed=asked.seed, why=NOT_FULL[part]))
    return found


def _checked(asked: Asked) -> dict[str, Any]:
    """Give the design that was handed in; raises what is wrong with it."""
    choice: dict[str, Any] = asked.answers["design"]
    try:
        pool(asked.draws, choice)
    except TypeError as error:
        raise SeeklabError([Problem("design", str(error))]) from None
    return choice


def _test(asked: Asked, test: str) -> list[Evidence]:
    """Judge a design by one test of its service level, under a load that nobody has seen."""
    choice, least = _checked(asked), level(asked.draws)[test]
    found = measure(asked.draws, choice, test, asked.seed)
    return [
        Evidence(
            found.title, found.value, f">= {least:,}", found.value >= least, found.unit, asked.seed, WHY_TEST[test]
        )
    ]


def _cost(asked: Asked) -> list[Evidence]:
    """Judge capacity, redundancy and cost; a design that misses its service level earns nothing for being cheap."""
    choice, own = _checked(asked), level(asked.draws)
    design, most = pool(asked.draws, choice), budget(asked.draws)
    held, width = design.capacity_bytes / TB, design.numbers["width"]
    runs = [(test, measure(asked.draws, choice, test, asked.seed)) for test in THREADS]
    return [
        Evidence(
            "capacity",
            held,
            f">= {own['capacity_tb']}",
            held >= own["capacity_tb"],
            "TB",
            why="too small: mirrors hold half of what their disks do, and parity takes its share",
        ),
        Evidence(
            "disks in a group",
            width,
            ">= 2",
            width > 1,
            why="a disk that fails loses data: single disks have no copy, whatever they save",
        ),
        Evidence(
            "cost",
            design.cost,
            f"<= {most:,}",
            design.cost <= most,
            why="too dear: find the part that is far from full in every test, and buy less of it",
        ),
        *(
            Evidence(
                run.title,
                run.value,
                f">= {own[test]:,}",
                run.value >= own[test],
                run.unit,
                asked.seed,
                f"cheap, and it misses its level, which earns nothing: {WHY_TEST[test]}",
            )
            for test, run in runs
        ),
    ]


MAY_SET = (
    *("disks", "width", "parity", "record_kib", "memory_gib"),
    *("read_ssds", "log_ssds", "cores", "server_gbit"),
)
DESIGN = Settings(
    MAY_SET,
    dict.fromkeys(
        ("prices", "working_set_gib", "client_gbit"), "prices, working set and clients are the task's, not yours"
    ),
)
HINTS = (
    "exercise.pool(LEARNER, design).bounds(test) says what each part allows: begin with the smallest.",
    "The capacity sets the disks; the disks bring some reads; memory has to hold the rest of the working set.",
    (
        "Then one part for each test: log SSDs for durable writes, cores and the server's link for streams. Take "
        "a few percent more than the level, for loads with other numbers of threads."
    ),
)

ASSIGNMENT, check, hint = exercise(
    "pool-design",
    Task(
        "check-binds",
        3,
        {"binds": Fields(dict.fromkeys(QUESTIONS, Choice(NOT_FULL)))},
        _binds,
        (
            "Which parts does a byte of this test pass at all?",
            "For each part on its way: how much does it allow? The smallest binds, if there is load enough.",
            "seeklab.design().bounds(test) works it out, from the smallest up.",
        ),
        seeds=1,
        by_parts=True,
    ),
    Task("check-reads", 2, {"design": DESIGN}, lambda asked: _test(asked, "working-set"), HINTS),
    Task("check-writes", 2, {"design": DESIGN}, lambda asked: _test(asked, "9-sync-writes"), HINTS),
    Task("check-streams", 2, {"design": DESIGN}, lambda asked: _test(asked, "4-streams-warm"), HINTS),
    Task("check-cost", 3, {"design": DESIGN}, _cost, HINTS, seeds=1),
)
