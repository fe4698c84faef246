"""The assignment on combined requests: the size limit of a scheduler, for any client and server.

A rule returns a limit in MiB. It is judged by throughput, compared with the best limit on the same seed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from seeklab._case import case as load_case
from seeklab._question import Question
from seeklab.exercises._shapes import Shape, System, at_least, named
from seeklab.judge import Evidence, Number

if TYPE_CHECKING:
    import random

CASE = "combine-limit"
MIB = 1 << 20
MAX_MIB = 64
SHARE = 0.93
"""Required share of the best limit's throughput."""

QUESTIONS = {
    "one_mib_per_s": Question("How many MiB/s does the server read if nothing is combined (1 MiB)?", unit="MiB/s"),
    "all_mib_per_s": Question(f"How many MiB/s if everything is combined ({MAX_MIB} MiB)?", unit="MiB/s"),
}


def _drawn(source: random.Random, in_flight: int, thread_us: tuple[int, int]) -> System:
    known = {
        "in_flight_mib": in_flight,
        "thread_us": source.randrange(*thread_us, 50),
        "per_byte_ns": source.choice((0.3, 0.4, 0.5)),
        "rate_mb_per_s": source.choice((1600, 2000, 2400)),
    }
    told = (
        f"the client keeps {in_flight} requests of 1 MiB in flight; one thread needs {known['thread_us']:g} us for "
        f"each transaction and {known['per_byte_ns']:g} ns for each byte; the devices move {known['rate_mb_per_s']:,} "
        "MB/s"
    )
    return System(known, told)


def throughput(system: System, limit_mib: int, seed: int = 1) -> float:
    """Run the server with a limit; return the MiB/s that it reads."""
    changes = {
        "jobs[client].iodepth": system["in_flight_mib"],
        "jobs[client].size": "256MiB",
        "controller.read": f"{system['thread_us']:.0f}us",
        "controller.per_byte": system["per_byte_ns"],
        "devices[pool].lun.rate": round(system["rate_mb_per_s"]) * 10**6,
        "protocol.target_transaction": limit_mib * MIB,
        "record.log": False,
    }
    return float(load_case(CASE).with_(changes).run(seed=seed).metrics["client.read_mib_per_s"])


def _near(system: System, seed: int) -> dict[str, float]:
    rates = {"one_mib_per_s": 1, "all_mib_per_s": MAX_MIB}
    return {name: throughput(system, mib, seed) for name, mib in rates.items()}


WHY = named(
    one_transaction="too large: everything in flight becomes one transaction; the devices wait for the thread, and the "
    "thread waits for the devices; they never work in parallel",
    unequal="two transactions of unequal size: while the devices move the large one, the thread finishes the small "
    "one and waits; equal sizes overlap more of the work",
    too_small="too small: the thread pays its fixed time for each of many transactions",
)


def _judge(system: System, limit_mib: int, seed: int) -> list[Evidence]:
    in_flight = system["in_flight_mib"]
    tried = {limit_mib, *(2**n for n in range(7))}
    rates = {mib: throughput(system, mib, seed) for mib in sorted(tried)}
    why = WHY["one-transaction" if limit_mib >= in_flight else "unequal" if limit_mib > in_flight / 2 else "too-small"]
    what = f"{limit_mib} MiB, {system}"
    return [at_least(what, rates[limit_mib], SHARE * max(rates.values()), "MiB/s", seed, why)]


SHAPE = Shape(
    id="combined-size",
    what="server",
    kinds={
        "shallow": lambda source: _drawn(source, 4, (400, 700)),
        "deep": lambda source: _drawn(source, 16, (700, 1200)),
        "deepest": lambda source: _drawn(source, 64, (1400, 1900)),
    },
    questions=QUESTIONS,
    near=_near,
    judge=_judge,
    parts=1,
    gives=Number(whole=True, at_least=1, at_most=MAX_MIB),
    hints=(
        "Two parts work on a transaction, one after the other. When do both have work?",
        (
            "Both are busy only if there are at least two transactions. How many transactions does a limit make "
            "of the data in flight?"
        ),
        "As large as possible, but still two of equal size.",
    ),
)
system, briefing = SHAPE.own, SHAPE.briefing
ASSIGNMENT, check, hint = SHAPE.exercise()
