"""The assignment on cache policies: predict the hits of caches, then write a policy that competes with LRU and ARC.

Each learner has a cache of some size, and traces in proportion to it. The check draws new traces and compares the
policy with the engine's LRU, ARC and the optimum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from seeklab import workloads
from seeklab._question import Question
from seeklab._traces import cache
from seeklab.decisions.eviction import play_cache
from seeklab.exercises._shapes import exercise, named
from seeklab.judge import Asked, Code, Commitment, Evidence, Mistake, Task, draws_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from seeklab.decisions.eviction import EvictionPolicy

REQUESTS = 3000
OBJECTS_PER_SLOT = 5
LOOP_OVER = 1.3
SCANS = 4
SHIFTS = 3

QUESTIONS = {
    "loop_lru_percent": Question(
        "The loop is 1.3 times as long as the cache. How many % of its requests does LRU hit?", unit="%"
    ),
    "loop_best_percent": Question("The same loop: how many % would a policy hit that knows the future?", unit="%"),
    "doubled_times": Question(
        "Popular objects follow Zipf's law, five times as many as the cache holds. How many times as many hits "
        "does LRU have with twice the cache?",
        unit="x",
    ),
}
"""Questions that a learner answers before the first replay."""


@dataclass(frozen=True)
class Demand:
    """A demanded number of hits, as a multiple of the hits of an engine policy."""

    against: str
    at_least: float
    bound: str
    """Name of the bound in the bank."""
    why: Mistake
    """The mistake of a policy that misses the demand."""

    def __str__(self) -> str:
        """Describe the demand."""
        return f"at least {self.at_least:g} times the hits of {self.against}"


@dataclass(frozen=True)
class Contest:
    """A trace to replay, the cache's size in objects, and the demands for it."""

    name: str
    trace: str
    """Lines of `time,object,size`."""
    size: int
    demands: tuple[Demand, ...]


WHY = named(
    scan="a scan passes through and evicts popular objects, as it does with LRU: one request proves little, so "
    "objects requested only once should leave first",
    costly_scans=(
        "scans cost this policy more hits than they cost ARC: an object that is requested again soon after its "
        "eviction is not new"
    ),
    old_popularity="the policy keeps objects that were once popular: old popularity must fade, as it does with LRU",
    no_room="newcomers get too little space when popularity changes; ARC gives them more",
    loop="on a loop longer than the cache, evicting the oldest object evicts the next one needed; keep part of "
    "the loop and let the rest pass",
)

ON_SCANS = (
    Demand("lru", 1.06, "scans_over_lru", WHY["scan"]),
    Demand("arc", 0.95, "scans_over_arc", WHY["costly-scans"]),
)
ON_SHIFTS = (
    Demand("lru", 0.97, "shifts_over_lru", WHY["old-popularity"]),
    Demand("arc", 0.95, "shifts_over_arc", WHY["no-room"]),
)
ON_LOOPS = (Demand("belady", 0.4, "loops_over_best", WHY["loop"]),)
"""Minimum hits on every seed. LRU and ARC hit nothing on a loop that is too long, so the optimum is the reference."""


def cache_size(learner: object) -> int:
    """Return the learner's own cache, in objects."""
    return 80 + draws_of(learner)[0] % 60


def briefing(learner: object) -> str:
    """Describe the learner's system."""
    size = cache_size(learner)
    return f"The cache of {learner} holds {size} objects; its traces request {size * OBJECTS_PER_SLOT} different ones."


def _trace(names: Sequence[int], seed: int) -> str:
    """Return a sequence as a trace whose objects have random numbers: otherwise, the highest are those of scans."""
    return workloads.text(workloads.renamed(names, seed=seed))


def contests(learner: object, seed: int) -> Iterator[Contest]:
    """Return the traces of a seed: popular objects interrupted by scans, and popularity that changes."""
    size = cache_size(learner)
    objects = size * OBJECTS_PER_SLOT
    popular = workloads.zipf(REQUESTS, objects, seed=seed)
    scanned = workloads.interrupted(popular, SCANS, 2 * size)
    yield Contest("popular objects with scans", _trace(scanned, seed), size, ON_SCANS)
    shifting = workloads.shifting(REQUESTS, objects, shifts=SHIFTS, skew=1.0, seed=seed)
    yield Contest("popularity that changes", _trace(shifting, seed), size, ON_SHIFTS)


def other_contests(learner: object, seed: int) -> Iterator[Contest]:
    """Return a loop that is too long, with a length drawn from the seed, and the traces on a smaller cache."""
    size = cache_size(learner)
    length = round(size * (1.15 + seed % 20 / 100))
    looping = workloads.loop(REQUESTS // 2, length)
    yield Contest("a loop that is too long", _trace(looping, seed), size, ON_LOOPS)
    for contest in contests(learner, seed):
        yield Contest(contest.name, contest.trace, size * 2 // 3, contest.demands)


def practise(
    policy: Callable[[], EvictionPolicy], learner: object, seed: int = 1
) -> list[tuple[str, int, int, int, int]]:
    """Replay a policy on the learner's traces of one seed: trace, its hits, and those of LRU, ARC and the optimum."""
    rows = []
    for contest in (*contests(learner, seed), *other_contests(learner, seed)):
        own = play_cache(contest.trace, policy(), contest.size, objects=True)["hits"]
        rivals = cache(contest.trace, ["lru", "arc", "belady"], [contest.size], objects=True)
        lru, arc, best = (row["hits"] for row in rivals)
        rows.append((f"{contest.name}, cache of {contest.size}", own, lru, arc, best))
    return rows


def _near(asked: Asked) -> dict[str, float]:
    size = cache_size(asked.draws)
    loop = workloads.text(workloads.loop(REQUESTS, round(size * LOOP_OVER)))
    lru, best = (100 * row["hits"] / row["requests"] for row in cache(loop, ["lru", "belady"], [size], objects=True))
    popular = workloads.text(workloads.zipf(REQUESTS, size * OBJECTS_PER_SLOT, seed=asked.seed))
    once, twice = (row["hits"] for row in cache(popular, ["lru"], [size, 2 * size], objects=True))
    return {"loop_lru_percent": lru, "loop_best_percent": best, "doubled_times": twice / once}


def _play(asked: Asked, played: Iterable[Contest]) -> list[Evidence]:
    """Play contests; return one piece of evidence for each demand: the policy's hits against the engine's."""
    found = []
    for contest in played:
        rivals = [demand.against for demand in contest.demands]
        hits = {row["policy"]: row["hits"] for row in cache(contest.trace, rivals, [contest.size], objects=True)}
        with asked.play("Policy") as policy:
            own = play_cache(contest.trace, policy, contest.size, objects=True)["hits"]
        label = f"hits on {contest.name}, cache of {contest.size}"
        for demand in contest.demands:
            times = asked.bound(demand.bound)
            bound = times * hits[demand.against]
            words = f">= {bound:,.0f} ({times:g} times {demand.against}'s {hits[demand.against]:,})"
            found.append(Evidence(label, own, words, own >= bound, "", asked.seed).because(demand.why))
    return found


CODE = Code(made=True, methods=("hit", "admitted", "evicted", "evict"), notes=("hit", "admitted", "evicted"))
HINTS = (
    "How does LRU handle a scan? Which objects would you rather keep?",
    "Reserve a small part of the space for newcomers, and the rest for objects that were requested twice.",
    "Remember as many keys of unused newcomers as the cache holds. A key that returns is no longer a newcomer.",
)

ASSIGNMENT, check, hint = exercise(
    "cache-policies",
    Commitment("check-prediction", 2, "prediction", QUESTIONS, _near),
    Task("check-policy", 2, {"Policy": CODE}, lambda asked: _play(asked, contests(asked.draws, asked.seed)), HINTS),
    Task(
        "check-policy-elsewhere",
        5,
        {"Policy": CODE},
        lambda asked: _play(asked, other_contests(asked.draws, asked.seed)),
        HINTS,
    ),
    cells={"Policy": "policy"},
    bounds={demand.bound: demand.at_least for demand in (*ON_SCANS, *ON_SHIFTS, *ON_LOOPS)},
)
