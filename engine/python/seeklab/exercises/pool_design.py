"""The assignment on designing a pool: meet a service level for little money.

A learner's service level is drawn from the name: a capacity, a working set with its reads a second, synchronous writes
a second, and streams. A design is judged by what it does under loads that nobody has seen: on fresh seeds, with other
numbers of threads than in the course. Its cost is judged only once it meets the level.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import seeklab
from seeklab._errors import Problem, SeeklabError
from seeklab.exercises._shapes import at_least, at_most, exercise, named, source_from
from seeklab.judge import Asked, Choice, Evidence, Fields, Mistake, Settings, Task, draws_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from seeklab._design import Design, Measured

TB = 1e12

QUESTIONS = {
    "1-stream-cold": "One client streams from cold disks. What limits it?",
    "6-random-warm": "128 threads read 8 KiB at random from memory. What limits them?",
    "9-sync-writes": "128 threads write 8 KiB durably. What limits them?",
}
"""What a learner names before the first run, of the pool that the course starts with."""

PARTS = ("clients' links", "server's link", "cores", "disks", "log SSDs", "read SSDs", "threads")
"""What may bind a test."""

NOT_FULL: Mapping[str, str] = {
    "clients' links": "each client has its own 1 Gbit/s; divide the measured rate by the number of clients",
    "server's link": "10 Gbit/s carry 1.2 GB/s; the measured rate is far from it",
    "cores": "the cores could copy more than this: their limit is their cycles over those of a byte",
    "disks": (
        "disks limit only data that come from disks: reads from memory and writes to a log SSD do not wait for them"
    ),
    "log SSDs": "the log SSDs are for writes that must be durable; nothing else uses them",
    "read SSDs": "the pool has no read SSD, so none can be full",
    "threads": (
        "threads are the limit when each waits for its one request and nothing is full: divide them by the latency"
    ),
    "waiting": "something is full here: compare what each part allows with the measured rate",
}
"""Why each part is a wrong answer."""

WHY = named(
    few_reads="too few reads: data that are not in memory come from disks, at some eighty reads a second each; buy "
    "more memory or more disks, and remember that a few percent of misses take most of the time",
    few_durable_writes="too few durable writes: each waits for a log SSD, and one takes some ten thousand a second",
    slow_streams="the streams are too slow: they come from memory, through cores that copy and a link that carries "
    "them",
    too_small="too small: mirrors hold half of what their disks do, and parity takes its share",
    no_copy="a disk that fails loses data: single disks have no copy, whatever they save",
    too_expensive="too expensive: find the part that is far from full in every test, and buy less of it",
)

WHY_TEST = {
    "working-set": WHY["few-reads"],
    "9-sync-writes": WHY["few-durable-writes"],
    "4-streams-warm": WHY["slow-streams"],
}
"""Why a design misses a test."""

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
    source = source_from(seed)
    return pool(learner, choice).run(test, {"jobs[load].numjobs": source.randint(*THREADS[test])}, seed=seed)


def _binds(asked: Asked) -> list[Evidence]:
    """Judge what was named for each test of the first pool by a run."""
    first = seeklab.design()
    found = []
    for test, part in asked.answers["binds"].items():
        run = first.run(test, seed=asked.seed)
        met = part == run.binds
        bound = f"the part that is full: {run.share:.0%} of what it allows" if met else f"one of {', '.join(PARTS)}"
        found.append(
            Evidence(QUESTIONS[test], part, bound, met, seed=asked.seed).because(Mistake(part, NOT_FULL[part]))
        )
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
    return [at_least(found.title, found.value, least, found.unit, asked.seed, WHY_TEST[test])]


def _cost(asked: Asked) -> list[Evidence]:
    """Judge capacity, redundancy and cost; a design that misses its service level earns nothing for being cheap."""
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
                replace(WHY_TEST[test], why=f"cheap, but below its level, which earns nothing: {WHY_TEST[test].why}"),
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
    "exercise.pool(LEARNER, design).bounds(test) says what each part allows: begin with the smallest.",
    "The capacity sets the number of disks; they serve some reads; memory has to hold the rest of the working set.",
    (
        "Then one part for each test: log SSDs for durable writes, cores and the server's link for streams. Add a "
        "few percent to the level, for loads with other numbers of threads."
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
            "Which parts does a byte of this test pass through?",
            "For each part on its way: how much does it allow? The smallest is the limit, if the load is large enough.",
            "seeklab.design().bounds(test) calculates it, from the smallest up.",
        ),
        seeds=1,
        by_parts=True,
    ),
    Task("check-reads", 2, {"design": DESIGN}, lambda asked: _test(asked, "working-set"), HINTS),
    Task("check-writes", 2, {"design": DESIGN}, lambda asked: _test(asked, "9-sync-writes"), HINTS),
    Task("check-streams", 2, {"design": DESIGN}, lambda asked: _test(asked, "4-streams-warm"), HINTS),
    Task("check-cost", 3, {"design": DESIGN}, _cost, HINTS, seeds=1),
)
