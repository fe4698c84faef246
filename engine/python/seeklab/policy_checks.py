"""Verdicts on a learner's eviction policy: the engine plays it on traces that nobody has seen, beside its own policies.

The policy is code, so nothing but what it does is looked at: on traces drawn at the moment of the check, how often it
hits in comparison with a policy of the engine on the same trace.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from seeklab import checks
from seeklab._questions.eviction import play_cache
from seeklab._traces import cache
from seeklab.checks import Evidence, Outcome, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from seeklab._questions.eviction import EvictionPolicy

METHODS = ("hit", "admitted", "evicted", "evict")


@dataclass(frozen=True)
class Demand:
    """So many hits, as a multiple of those of a policy of the engine."""

    against: str
    at_least: float

    def __str__(self) -> str:
        """Say the demand."""
        return f"at least {self.at_least:g} times the hits of {self.against}"


@dataclass(frozen=True)
class Contest:
    """A trace to be played, the cache's size in objects, and what is demanded there."""

    name: str
    trace: str
    """Lines of `time,object,size`."""
    size: int
    demands: tuple[Demand, ...]


def judge_policy(
    policy: Callable[[], EvictionPolicy], contests: Callable[[int], Iterable[Contest]], *, seeds: int = checks.SEEDS
) -> Verdict:
    """Judge a policy on the contests of fresh seeds.

    `policy` makes a policy that knows nothing yet, usually a class. Anything that it raises, and any answer that names
    no object in the cache, fails with that sentence.
    """
    if not callable(policy):
        return _fail("policy", repr(policy), "a class, or a function that makes a policy")
    try:
        lacking = [name for name in METHODS if not callable(getattr(policy(), name, None))]
    except Exception as error:  # noqa: BLE001 -- a learner's code may raise anything
        return _fail("making the policy", checks.told(error), "a policy")
    if lacking:
        return _fail("policy", f"no method {lacking[0]}", f"the methods {', '.join(METHODS)}")
    return checks.judge_on_fresh_seeds(
        lambda seed: [item for contest in contests(seed) for item in _measure(policy, contest, seed)], seeds
    )


def _measure(policy: Callable[[], EvictionPolicy], contest: Contest, seed: int) -> list[Evidence]:
    """Play one contest: one piece of evidence for each demand."""
    label = f"hits on {contest.name}, cache of {contest.size}"
    rivals = [demand.against for demand in contest.demands]
    hits = {row["policy"]: row["hits"] for row in cache(contest.trace, rivals, [contest.size], objects=True)}
    try:
        own = play_cache(contest.trace, policy(), contest.size, objects=True)["hits"]
    except Exception as error:  # noqa: BLE001 -- a learner's code may raise anything
        told = checks.told(error)
        return [Evidence(label, told, str(demand), met=False, seed=seed) for demand in contest.demands]
    found = []
    for demand in contest.demands:
        bound = demand.at_least * hits[demand.against]
        words = f">= {bound:,.0f} ({demand.at_least:g} times {demand.against}'s {hits[demand.against]:,})"
        found.append(Evidence(label, own, words, own >= bound, seed=seed))
    return found


def _fail(what: str, found: str, bound: str) -> Verdict:
    return Verdict(Outcome.FAIL, (Evidence(what, found, bound, met=False),))
