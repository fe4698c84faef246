"""The assignment on hedged requests: when to ask a second replica, and how many copies are allowed.

A rule returns the delay before a second replica is asked, and the budget of copies. The check draws clusters in three
states: pauses on all servers, one slow server, and an overload, when the hedge must not add load.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seeklab._case import case as load_case
from seeklab._question import Question
from seeklab.exercises._shapes import Shape, System, at_most, named
from seeklab.judge import Evidence, Fields, Number

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

CASE = "tail-at-scale"
STATES = PAUSES, SLOW_SERVER, OVERLOAD = ("pauses", "slow server", "overload")
USERS = 6000
BUDGETS_PERCENT = (2, 2.5, 3, 3.5, 4)
"""How many more requests the servers can answer, in % of the ordinary ones."""
USERS_PER_S = 100
SPILL = 0.1
"""Allowed excess of copies over the budget, because the window of the last thousand requests starts full."""
PATIENCE = 3
"""Limit of the wait of one user in a thousand, in ordinary times, where copies can help."""
HARM = 1.5
"""Limit of the wait of one user in a thousand in an overload, relative to no copies."""
PAUSED, PAUSED_PERCENT = 50, 0.3
"""Duration of an answer during a pause, in ordinary times, and the percentage of such answers."""
SLOWER, LOAD = 20, 1.3

QUESTIONS = {
    "p95_ms": Question(
        "The servers pause on their own; no request is sent twice. What is the 95th percentile of a user's wait, "
        "in ms?",
        unit="ms",
    )
}


def _drawn(
    source: random.Random, time_ms: tuple[int, int], leaves: tuple[int, ...], servers: tuple[int, int]
) -> System:
    known: dict[str, float] = {
        "time_ms": source.randrange(*time_ms),
        "leaves": source.choice(leaves),
        "servers": source.randrange(*servers),
        "replicas": 3,
        "users_per_s": USERS_PER_S,
    }
    known["spare_per_s"] = source.choice(BUDGETS_PERCENT) / 100 * USERS_PER_S * known["leaves"]
    told = (
        f"a request asks {known['leaves']} of {known['servers']} servers and waits for all; each answers in "
        f"{known['time_ms']} ms, except that a pause makes {PAUSED_PERCENT}% of its answers take {PAUSED} times "
        f"as long; three servers hold each key; {USERS_PER_S} users a second make requests, and the servers can answer "
        f"{known['spare_per_s']:g} copies a second as well"
    )
    return System(known, told)


def budget_percent(system: System) -> float:
    """Return the copies that the servers can answer, in % of the ordinary questions to servers."""
    return 100 * system["spare_per_s"] / (system["users_per_s"] * system["leaves"])


def _state(system: System, state: str) -> dict[str, Any]:
    time_ns = round(1e6 * system["time_ms"])
    fanout: dict[str, Any] = {
        "leaves": int(system["leaves"]),
        "servers": int(system["servers"]),
        "replicas": 3,
        "service": {"kind": "two-point", "time": time_ns, "slow": PAUSED * time_ns, "slow_percent": 0},
    }
    rate = float(USERS_PER_S)
    if state == PAUSES:
        fanout["service"]["slow_percent"] = PAUSED_PERCENT
    elif state == SLOW_SERVER:
        fanout["slow"] = [{"server": 0, "times": SLOWER}]
    else:
        fanout |= {"leaves": 1, "concurrency": 1, "service": {"kind": "gamma", "time": time_ns, "shape": 4}}
        rate = LOAD * system["servers"] / system["time_ms"] * 1000
    users = USERS * (3 if state == OVERLOAD else 1)
    return {
        "fanout": fanout,
        "jobs[users].rate_iops": rate,
        "jobs[users].number_ios": users,
        "jobs[users].iodepth": 65_536 if state == OVERLOAD else 8192,
    }


def seen(
    system: System, state: str, after_ms: float | None = None, budget_percent: float = 100, seed: int = 1
) -> Mapping[str, float]:
    """Run a cluster in one of the three states: the users' waits and the cost. Without `after`, there are no copies."""
    changes = _state(system, state)
    if after_ms is not None:
        changes["fanout"]["hedge"] = {"after": round(1e6 * after_ms), "budget": float(budget_percent)}
    found = load_case(CASE).with_(changes).run("hundred", seed=seed).metrics
    return {
        "p99_9_ms": found["fanout_latency_p99_9_ms"],
        "p95_ms": found["fanout_latency_p95_ms"],
        "extra_percent": found["fanout_extra_percent"],
    }


def _near(system: System, seed: int) -> dict[str, float]:
    return {"p95_ms": seen(system, PAUSES, seed=seed)["p95_ms"]}


WHY = named(
    too_early="asked too soon: every question requests a copy before its ordinary answer arrives, so the budget "
    "is empty when a server pauses",
    too_late="asked too late: after such a long wait, a copy can no longer save the time",
    small_budget="the budget is smaller than the share of slow answers: it must pay for a copy at every pause and "
    "for every request to the slow server",
    no_budget="in an overload every answer is late, so every question is sent twice, which makes it worse; only a "
    "budget stops hedging where it cannot help",
)


def _judge(system: System, given: Mapping[str, float], seed: int) -> list[Evidence]:
    after, budget = given["after_ms"], given["budget_percent"]
    ordinary = system["time_ms"]
    found = {state: seen(system, state, after, budget, seed) for state in STATES}
    alone = seen(system, OVERLOAD, seed=seed)["p99_9_ms"]
    rule = f"after {after:.4g} ms, {budget:g}%"
    allowed = budget_percent(system)
    is_small = budget < allowed and after <= 2 * ordinary
    why = WHY["too-early" if after <= ordinary else "small-budget" if is_small else "too-late"]
    name, unit = f"p99.9 with {{}}, {rule}, {system}", "ms"
    most = allowed + SPILL
    return [
        at_most(
            f"copies in an {OVERLOAD}, {rule}, {system}",
            found[OVERLOAD]["extra_percent"],
            most,
            "%",
            seed,
            WHY["no-budget"],
        ),
        at_most(name.format(PAUSES), found[PAUSES]["p99_9_ms"], PATIENCE * ordinary, unit, seed, why),
        at_most(name.format(SLOW_SERVER), found[SLOW_SERVER]["p99_9_ms"], PATIENCE * ordinary, unit, seed, why),
        at_most(name.format(OVERLOAD), found[OVERLOAD]["p99_9_ms"], HARM * alone, unit, seed, WHY["no-budget"]),
    ]


SHAPE = Shape(
    id="hedge-budget",
    what="cluster",
    kinds={
        "quick": lambda source: _drawn(source, (2, 6), (10, 12), (150, 220)),
        "slow": lambda source: _drawn(source, (30, 80), (10, 12), (150, 220)),
        "wide": lambda source: _drawn(source, (8, 20), (16, 20), (200, 260)),
    },
    questions=QUESTIONS,
    near=_near,
    judge=_judge,
    parts=4,
    gives=Fields({"after_ms": Number(at_least=0, at_most=10_000), "budget_percent": Number(at_least=0, at_most=100)}),
    hints=(
        "Which questions should be asked twice? How and when can you distinguish them from the others?",
        "An answer that is missing well after the ordinary time will not arrive soon. Before that, you cannot know.",
        "Ask well after the ordinary time, but before three of it. The budget is a share of all questions to servers.",
    ),
    seeds=1,
)
system, briefing = SHAPE.own, SHAPE.briefing
ASSIGNMENT, check, hint = SHAPE.exercise()
