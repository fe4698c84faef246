"""The assignment on reading a benchmark: name the limit of each line of Bonnie++, then move a limit and predict.

The learner's name determines the client and the network. A line that the wire limits for one learner may be limited by
the processor for another. A named limit is judged by experiment: the system runs again with a link and a processor that
differ by a few percent, and the busy shares decide.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import seeklab
from seeklab._errors import Problem, SeeklabError
from seeklab._question import Question
from seeklab.exercises._shapes import exercise
from seeklab.judge import Asked, Choice, Commitment, Evidence, Fields, Mistake, Task, draws_of, largest
from seeklab.judge.answers import is_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from seeklab._result import Result

MIB = 1 << 20
SET_MIB = 64
FILES = 512
LOG_BYTES = 3584

LINES = {
    "putc": "write by character",
    "put_block": "write by block",
    "rewrite": "read and rewrite each block",
    "getc": "read by character",
    "get_block": "read by block",
    "seeks": "read at random, one at a time",
    "seq_create": "create files",
    "seq_stat": "get the files' attributes",
    "seq_del": "delete files",
}
"""The lines of the report, in the order of the tests."""

LIMITS: Mapping[str, str] = {
    "client CPU": (
        "the client's processor is not the limit here: divide its work for 8 KiB by its speed; compare with the "
        "wire time of these bytes, or the round trip"
    ),
    "network": (
        "the wire is not the limit here: it is idle if the file is in the cache, or if the processor prepares "
        "data more slowly than the link carries them"
    ),
    "devices": "the server has everything in memory and answers in 106 us; no part of it is ever saturated",
    "latency": (
        "latency is the limit only for one request at a time, when each waits for an answer and nothing is "
        "always busy; here something is busy"
    ),
}
"""The possible limits of a line (latency if nothing is always busy), and why each one does not apply."""

LINK_TIMES = 4
QUESTIONS = {
    "put_block_times": Question(
        f"With a link {LINK_TIMES} times as fast, how many times as fast is writing by block?", unit="times"
    ),
    "putc_times": Question("And writing by character?", unit="times"),
    "create_times": Question("And creating files?", unit="times"),
}
"""Questions that a learner answers before the first run."""

GUESSED = 6
"""Lines that one answer for everyone gets right: files wait for latency on most systems, for example."""

SHARES = {"client CPU": "client_cpu", "network": "network", "devices": "devices"}


def numbers(learner: object) -> dict[str, float]:
    """Return the learner's system in numbers."""
    draws = draws_of(learner)
    mbit = (1000, 2000, 4000)[draws[0] % 3]
    # How many times slower the wire is, relative to the client, than in the course.
    wire = (0.2, 0.3, 1.2, 2.0, 3.0)[draws[1] % 5]
    return {
        "mbit_per_s": mbit,
        "cpu_speed": round(wire * mbit / 1000, 3),
        "round_trip_us": 50 + 5 * (draws[2] % 16),
        "operations": 10 + draws[3] % 12,
        "cache_mib": (SET_MIB // 4, SET_MIB // 4, SET_MIB * 2)[draws[4] % 3],
        "attributes_s": (60, 60, 0)[draws[5] % 3],
    }


def briefing(learner: object) -> str:
    """Describe the learner's system."""
    own = numbers(learner)
    return (
        f"The client of {learner} has two processors, {own['cpu_speed']:g} times as fast as the client of the "
        f"course. It has a page cache of {own['cache_mib']:g} MiB, and attributes stay valid for "
        f"{own['attributes_s']:g} s.\nThe link carries {own['mbit_per_s']:g} Mbit/s with a round trip of "
        f"{own['round_trip_us']:g} us, over one connection. The server has everything in memory and answers in "
        f"106 us.\nA file takes {own['operations']:g} operations to create and half as many to delete. Bonnie++ "
        f"uses {SET_MIB} MiB and {FILES} files."
    )


def system(learner: object, *, day: int | None = None, link_times: float = 1) -> dict[str, Any]:
    """Return the scenario of the learner's system; on another `day` its link and processors differ by up to 3%."""
    own = numbers(learner)
    source = random.Random(day)
    link, cpu = (1.0, 1.0) if day is None else (source.uniform(0.97, 1.03), source.uniform(0.97, 1.03))
    data = {"filename": "set", "bs": 8192, "size": SET_MIB * MIB, "stonewall": True}
    names = {"filename": "directory", "bs": LOG_BYTES, "size": LOG_BYTES * FILES, "stonewall": True}
    jobs: dict[str, dict[str, object]] = {
        "putc": {**data, "rw": "write", "call": "char"},
        "put_block": {**data, "rw": "write"},
        "rewrite": {**data, "rw": "readwrite", "transaction": 2, "io_size": 2 * SET_MIB * MIB},
        "getc": {**data, "rw": "read", "call": "char"},
        "get_block": {**data, "rw": "read"},
        "seeks": {**data, "rw": "randread", "norandommap": True, "number_ios": 600},
        "seq_create": {**names, "rw": "write", "call": "create"},
        "seq_stat": {**names, "rw": "read", "call": "stat"},
        "seq_del": {**names, "rw": "write", "call": "delete"},
    }
    return {
        "jobs": [{"name": name, **job} for name, job in jobs.items()],
        "nfs": {
            "threads": 16,
            "read_ahead": 8,
            "cache": f"{own['cache_mib']:g}MiB",
            "attributes": f"{own['attributes_s']:g}s",
            "create_operations": own["operations"],
            "delete_operations": own["operations"] // 2,
            "cpu_speed": own["cpu_speed"] * cpu,
            "per_call": "2us",
            "per_byte": 2.92,
            "per_putc": 8.87,
            "per_getc": 10.84,
        },
        "network": {
            "bits_per_s": round(own["mbit_per_s"] * 1e6 * link * link_times),
            "round_trip": f"{own['round_trip_us']:g}us",
            "clients": "one",
        },
        "devices": [{"name": "server", "lun": {"rate": 10**10, "latency": "106us"}}],
        "record": {"log": False},
    }


def run(learner: object, limits: object, prediction: object) -> Result:
    """Run the learner's system, once every line has a limit and every question has a number."""
    named = limits if isinstance(limits, dict) else {}
    given = prediction if isinstance(prediction, dict) else {}
    missing = [name for name in LINES if named.get(name) not in LIMITS]
    missing += [name for name in QUESTIONS if not is_number(given.get(name))]
    if missing:
        message = f"{', '.join(missing)} has no answer yet; answer all of them before the first run"
        raise SeeklabError([Problem("limits and prediction", message)])
    return seeklab.run(system(learner))


def _limits(asked: Asked) -> list[Evidence]:
    """Judge each named limit by the busy shares of a run on another day."""
    found = seeklab.run(system(asked.draws, day=asked.seed), seed=asked.seed).metrics
    return [
        largest(
            f"{line}: busy share of",
            limit,
            {
                **{name: found[f"{line}.{share}_busy_share_percent"] for name, share in SHARES.items()},
                "latency": asked.bound("full_percent"),
            },
            unit="%",
            why=Mistake(limit, f"{LINES[line]}: {LIMITS[limit]}"),
        )
        for line, limit in asked.answers["limits"].items()
    ]


def _near(asked: Asked) -> dict[str, float]:
    """Measure what a faster link does on another day."""
    before, after = (
        seeklab.run(system(asked.draws, day=asked.seed, link_times=times), seed=asked.seed).metrics
        for times in (1, LINK_TIMES)
    )
    rates = {
        "put_block_times": "put_block.printed_k_per_s",
        "putc_times": "putc.printed_k_per_s",
        "create_times": "seq_create.write_iops",
    }
    return {name: after[rate] / before[rate] for name, rate in rates.items()}


ASSIGNMENT, check, hint = exercise(
    "bonnie-decoded",
    Task(
        "check-limits",
        9,
        {"limits": Fields(dict.fromkeys(LINES, Choice(LIMITS)))},
        _limits,
        (
            "For each line: how long does the processor work on 8 KiB, and how long does the wire need for them?",
            (
                "Data that fit into the page cache do not cross the wire again. The protocol thread works in "
                "parallel with the process, so the longer time counts."
            ),
            (
                "Seeks and operations on names run one at a time. An operation that waits for a round trip is "
                "limited by latency, unless it needs no message."
            ),
        ),
        seeds=1,
        by_parts=True,
        guessed=GUESSED,
    ),
    Commitment("check-prediction", 3, "prediction", QUESTIONS, _near),
    bounds={"full_percent": 90.0},
)
