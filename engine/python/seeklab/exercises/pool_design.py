"""The assignment on designing a pool: meet a service level for little money.

The learner's name determines the service level: a capacity, a working set with reads a second, synchronous writes a
second, and streams. The check runs the design under unseen loads: on new seeds and with other numbers of threads than
in the course. The cost counts only for designs that meet the level.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import seeklab
from seeklab._errors import Problem, SeeklabError
from seeklab._question import Question
from seeklab.exercises._shapes import at_least, at_most, exercise, named, source_from
from seeklab.judge import Asked, Choice, Evidence, Fields, Mistake, Settings, Task, draws_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from seeklab._design import Design, Measured

TB = 1e12

PARTS = ("clients' links", "server's link", "cores", "disks", "log SSDs", "read SSDs", "threads")
"""The possible limits of a test."""

NOT_FULL: Mapping[str, str] = {
    "clients' links": "each client has its own 1 Gbit/s; divide the measured rate by the number of clients",
    "server's link": "10 Gbit/s carry 1.2 GB/s; the measured rate is far below that",
    "cores": "the cores could copy more than this: their limit is their cycles divided by the cycles for a byte",
    "disks": (
        "disks limit only data that come from disks; reads from memory and writes to a log SSD do not wait for them"
    ),
    "log SSDs": "the log SSDs are for writes that must be durable; nothing else uses them",
    "read SSDs": "the pool has no read SSD, so none can be full",
    "threads": (
        "threads are the limit if each waits for its one request and nothing is full: divide them by the latency"
    ),
    "waiting": "something is full here: compare each part's limit with the measured rate",
}
"""The reason why each part is a wrong answer."""

QUESTIONS = {
    test: Question(text, choices=PARTS, because=NOT_FULL)
    for test, text in {
        "1-stream-cold": "One client streams from cold disks. What limits it?",
        "6-random-warm": "128 threads read 8 KiB at random from memory. What limits them?",
        "9-sync-writes": "128 threads write 8 KiB durably. What limits them?",
    }.items()
}
"""Questions about the first pool, which a learner answers before the first run."""

WHY = named(
    few_reads="too few reads: misses come from disks, at about eighty reads a second each; buy memory or disks, "
    "because a few percent of misses take most of the time",
    few_durable_writes="too few durable writes: each waits for a log SSD, and one does about ten thousand a second",
    slow_streams="the streams are too slow: they come from memory, through cores that copy and a link that carries "
    "them",
    too_small="too small: mirrors hold half of the disks' capacity, and parity takes its share",
    no_copy="a failed disk loses data: single disks have no copy, however cheap they are",
    too_expensive="too expensive: find the part that is far below its limit in every test, and buy less of it",
)

WHY_TEST = {
    "working-set": WHY["few-reads"],
    "9-sync-writes": WHY["few-durable-writes"],
    "4-streams-warm": WHY["slow-streams"],
}
"""The reason why a design misses a test."""

THREADS = {"working-set": (104, 152), "9-sync-writes": (104, 152), "4-streams-warm": (9, 11)}
"""Fewest and most threads in the loads that test a design."""

SLACK = 1.3
"""Limit of a design's cost, relative to a plain one that meets the level."""
CHEAP_READS_PER_S = 80
"""Assumed reads a second of a disk in the plain design."""
CYCLES_PER_BYTE = 36
CLOCK_HZ = 2.3e9


def level(learner: object) -> dict[str, int]:
    """Return the learner's service level: terabytes, GiB of the working set, and a rate for each test."""
    draws = draws_of(learner)
    return {
        "capacity_tb": 6 + draws[0] % 9,
        "working_set_gib": 64 + 16 * (draws[1] % 9),
        "working-set": 2500 + 250 * (draws[2] % 15),
        "9-sync-writes": 6000 + 1000 * (draws[3] % 17),
        "4-streams-warm": 300 + 50 * (draws[4] % 11),
    }


def budget(learner: object) -> int:
    """Return the maximum cost of the learner's pool, at the sample prices."""
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
    """Describe the service level."""
    own = level(learner)
    return (
        f"The pool of {learner} holds at least {own['capacity_tb']} TB, and costs at most "
        f"{budget(learner):,}.\nAbout 128 threads read 8 KiB at random in a working set of "
        f"{own['working_set_gib']} GiB: at least {own['working-set']:,} reads a second.\nAbout 128 threads write "
        f"8 KiB durably: at least {own['9-sync-writes']:,} a second.\nAbout 10 clients of 1 Gbit/s stream from "
        f"memory: at least {own['4-streams-warm']} MiB/s in all.\nThe pool must not lose data when a disk fails."
    )


def pool(learner: object, choice: object) -> Design:
    """Build the learner's design, with the learner's working set and the sample prices."""
    numbers: dict[str, Any] = dict(choice) if isinstance(choice, dict) else {}
    own = level(learner)
    return seeklab.design(**{**numbers, "working_set_gib": own["working_set_gib"], "client_gbit": 1})


def measure(learner: object, choice: object, test: str, seed: int = 1) -> Measured:
    """Measure one test of the learner's design, under a load drawn from the seed."""
    source = source_from(seed)
    return pool(learner, choice).run(test, {"jobs[load].numjobs": source.randint(*THREADS[test])}, seed=seed)


def _binds(asked: Asked) -> list[Evidence]:
    """Judge the limit named for each test of the first pool by a run."""
    first = seeklab.design()
    found = []
    for test, part in asked.answers["binds"].items():
        question, run = QUESTIONS[test], first.run(test, seed=asked.seed)
        met = part == run.binds
        full = f"the part that is full: {run.share:.0%} of what it allows"
        bound = full if met else f"one of {', '.join(question.choices)}"
        found.append(
            Evidence(str(question), part, bound, met, seed=asked.seed).because(Mistake(part, question.because[part]))
        )
    return found


def _checked(asked: Asked) -> dict[str, Any]:
    """Return the submitted design; raise its errors."""
    choice: dict[str, Any] = asked.answers["design"]
    try:
        pool(asked.draws, choice)
    except TypeError as error:
        raise SeeklabError([Problem("design", str(error))]) from None
    return choice


def _test(asked: Asked, test: str) -> list[Evidence]:
    """Judge a design by one test of its service level, under an unseen load."""
    choice, least = _checked(asked), level(asked.draws)[test]
    found = measure(asked.draws, choice, test, asked.seed)
    return [at_least(found.title, found.value, least, found.unit, asked.seed, WHY_TEST[test])]


def _cost(asked: Asked) -> list[Evidence]:
    """Judge capacity, redundancy and cost; the price counts only for a design that meets the service level."""
    choice, own = _checked(asked), level(asked.draws)
    design, most = pool(asked.draws, choice), budget(asked.draws)
    held, width = design.capacity_bytes / TB, design.numbers["width"]
    runs = [(test, measure(asked.draws, choice, test, asked.seed)) for test in THREADS]
    return [
        at_least("capacity", held, own["capacity_tb"], "TB", asked.seed, WHY["too-small"]),
        at_least("disks in a group", width, 2, "", asked.seed, WHY["no-copy"]),
        at_most("cost", design.cost, most, "", asked.seed, WHY["too-expensive"]),
        *(
            at_least(
                run.title,
                run.value,
                own[test],
                run.unit,
                asked.seed,
                replace(
                    WHY_TEST[test],
                    why=(f"cheap, but it misses the service level, so the price earns nothing: {WHY_TEST[test].why}"),
                ),
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
    dict.fromkeys(("prices", "working_set_gib", "client_gbit"), "the task sets prices, working set and clients"),
)
HINTS = (
    "exercise.pool(LEARNER, design).bounds(test) returns each part's limit: start with the smallest.",
    (
        "The capacity determines the number of disks; they serve some reads, and memory must hold the rest of the "
        "working set."
    ),
    (
        "Then size one part for each test: log SSDs for durable writes, cores and the server's link for streams. "
        "Aim a few percent above each required level, to cover loads with other numbers of threads."
    ),
)

ASSIGNMENT, check, hint = exercise(
    "pool-design",
    Task(
        "check-binds",
        2,
        {"binds": Fields({test: Choice(question.because) for test, question in QUESTIONS.items()})},
        _binds,
        (
            "Which parts does a byte of this test pass through?",
            "How much does each part on the path allow? The smallest is the limit, if the load is large enough.",
            "seeklab.design().bounds(test) calculates it, from the smallest up.",
        ),
        seeds=1,
        by_parts=True,
    ),
    Task("check-reads", 1, {"design": DESIGN}, lambda asked: _test(asked, "working-set"), HINTS),
    Task("check-writes", 1, {"design": DESIGN}, lambda asked: _test(asked, "9-sync-writes"), HINTS),
    Task("check-streams", 1, {"design": DESIGN}, lambda asked: _test(asked, "4-streams-warm"), HINTS),
    Task("check-cost", 7, {"design": DESIGN}, _cost, HINTS, seeds=1),
)
