"""The assignment on copies: choose the fastest of three ways to copy a file within a server.

The check draws a network and a server with limits: chunks in a list, the range of a token, and requests in flight. Each
way is the fastest somewhere. Runs of all three ways judge a rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from seeklab._case import case as load_case
from seeklab._question import Question
from seeklab.exercises._shapes import Shape, System, at_most
from seeklab.judge import Choice, Evidence, Mistake

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

CASE = "copy-offload"
MIB = 1 << 20
SIZE_MIB = 64
WITHIN = 1.15
"""A way is good enough within this multiple of the fastest one's time."""
WAYS: Mapping[str, str] = {
    "client": (
        "every byte crosses the network twice, and each mebibyte waits for two round trips; only requests "
        "that are in flight together share that wait"
    ),
    "server-side": (
        "a server-side copy waits one round trip for each list of chunks; with lists this short, another way waits less"
    ),
    "odx": (
        "an offloaded copy waits two round trips for each range: one for the token, one to redeem it; with short "
        "ranges and a long round trip, another way waits less"
    ),
}
"""The ways, and why another one is faster."""

QUESTIONS = {
    "client_s": Question(f"How long does a file of {SIZE_MIB} MiB take through the client, in s?", unit="s"),
    "offloaded_s": Question("And offloaded?", unit="s"),
}


def _system(round_trip_us: int, chunks: int, range_mib: int, in_flight: int) -> System:
    known = {
        "round_trip_ms": round_trip_us / 1000,
        "chunks_in_a_list": chunks,
        "range_mib": range_mib,
        "client_in_flight": in_flight,
        "file_mib": SIZE_MIB,
    }
    told = (
        f"{known['round_trip_ms']:g} ms for a round trip at 1 Gbit/s; a list has {chunks} chunks of 1 MiB, a "
        f"token covers up to {range_mib} MiB, and the client keeps {in_flight} requests of 1 MiB in flight"
    )
    return System(known, told)


def _near_by(source: random.Random) -> System:
    return _system(source.randrange(100, 500), source.choice((1, 4, 16)), source.choice((16, 32, 64)), 1)


def _short_lists(source: random.Random) -> System:
    return _system(source.randrange(30_000, 80_000), 1, source.choice((1, 2)), source.choice((16, 32)))


def _long_lists(source: random.Random) -> System:
    return _system(
        source.randrange(30_000, 80_000), source.choice((16, 32, 64)), source.choice((2, 4)), source.choice((1, 2))
    )


def times(system: System, seed: int = 1) -> dict[str, float]:
    """Run the three ways, one after the other; return the seconds of each."""
    found = (
        load_case(CASE)
        .with_(
            {
                "network.round_trip": f"{round(1000 * system['round_trip_ms'])}us",
                "jobs[server-side].copy.chunks_per_request": system["chunks_in_a_list"],
                "jobs[odx].copy.range": system["range_mib"] * MIB,
                "jobs[client].iodepth": system["client_in_flight"],
            }
        )
        .run(seed=seed)
        .metrics
    )
    return {way: found[f"{way}.elapsed_s"] for way in WAYS}


def _near(system: System, seed: int) -> dict[str, float]:
    found = times(system, seed)
    return {"client_s": found["client"], "offloaded_s": found["odx"]}


def _judge(system: System, way: str, seed: int) -> list[Evidence]:
    found = times(system, seed)
    return [at_most(f"{way}, {system}", found[way], WITHIN * min(found.values()), "s", seed, Mistake(way, WAYS[way]))]


SHAPE = Shape(
    id="copy-way",
    what="server",
    kinds={"near by": _near_by, "short lists": _short_lists, "long lists": _long_lists},
    questions=QUESTIONS,
    near=_near,
    judge=_judge,
    parts=1,
    gives=Choice(WAYS),
    hints=(
        "Count round trips: how often does each way wait for an answer before it can continue?",
        "Two for each mebibyte, one for each list, two for each range; requests in flight wait at the same time.",
        (
            "Add the cost of bytes: 8.9 ms a MiB on the wire; on the server, 1.4 ms for each read or write and 1.5 "
            "ms a MiB."
        ),
    ),
)
system, briefing = SHAPE.own, SHAPE.briefing
ASSIGNMENT, check, hint = SHAPE.exercise()
