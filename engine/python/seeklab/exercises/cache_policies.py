"""The assignment on cache policies: predict what caches do, then write a policy that holds its own against LRU and ARC.

Each learner has a cache of their own size, and traces in proportion to it. The policy is judged on traces drawn at the
moment of the check, with the engine's own LRU, ARC and the optimum beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from seeklab import checks, workloads
from seeklab._errors import SeeklabError
from seeklab._questions.eviction import play_cache
from seeklab._traces import cache
from seeklab.exercises import draws_of
from seeklab.policy_checks import Contest, Demand, judge_policy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from seeklab._questions.eviction import EvictionPolicy
    from seeklab.checks import Verdict

REQUESTS = 3000
OBJECTS_PER_SLOT = 5
LOOP_OVER = 1.3
SCANS = 4
SHIFTS = 3

QUESTIONS = {
    "loop_lru_percent": "The loop is 1.3 times as long as the cache. How many % of its requests does LRU hit?",
    "loop_best_percent": "The same loop: how many % would a policy hit that knows the future?",
    "doubled_times": (
        "Popular objects, drawn by Zipf's law from five times as many as the cache holds."
        " How many times as many hits has LRU with twice the cache?"
    ),
}
"""What a learner commits to before the first replay."""

ON_SCANS = (Demand("lru", 1.06), Demand("arc", 0.95))
ON_SHIFTS = (Demand("lru", 0.97), Demand("arc", 0.95))
ON_LOOPS = (Demand("belady", 0.4),)
"""What a policy must reach on every seed. LRU and ARC hit nothing on a loop that is too long: the optimum is asked."""


def cache_size(learner: object) -> int:
    """Give the learner's own cache, in objects."""
    return 80 + draws_of(learner)[0] % 60


def briefing(learner: object) -> str:
    """Tell the learner's system."""
    size = cache_size(learner)
    return f"The cache of {learner} holds {size} objects; {size * OBJECTS_PER_SLOT} different ones are asked for."


def contests(learner: object, seed: int) -> Iterator[Contest]:
    """Give the traces of a seed: popular objects with scans between them, and popularity that changes."""
    size = cache_size(learner)
    objects = size * OBJECTS_PER_SLOT
    popular = workloads.zipf(REQUESTS, objects, seed=seed)
    scanned = workloads.interrupted(popular, SCANS, 2 * size)
    yield Contest("popular objects with scans", workloads.text(scanned), size, ON_SCANS)
    shifting = workloads.shifting(REQUESTS, objects, shifts=SHIFTS, skew=1.0, seed=seed)
    yield Contest("popularity that changes", workloads.text(shifting), size, ON_SHIFTS)


def other_contests(learner: object, seed: int) -> Iterator[Contest]:
    """Give a loop that is too long, of a length that depends on the seed, and the traces on a smaller cache."""
    size = cache_size(learner)
    length = round(size * (1.15 + seed % 20 / 100))
    yield Contest("a loop that is too long", workloads.text(workloads.loop(REQUESTS // 2, length)), size, ON_LOOPS)
    for contest in contests(learner, seed):
        yield Contest(contest.name, contest.trace, size * 2 // 3, contest.demands)


def practise(
    policy: Callable[[], EvictionPolicy], learner: object, seed: int = 1
) -> list[tuple[str, int, int, int, int]]:
    """Replay a policy on the learner's traces of one seed: trace, own hits, and those of LRU, ARC and the optimum."""
    rows = []
    for contest in (*contests(learner, seed), *other_contests(learner, seed)):
        own = play_cache(contest.trace, policy(), contest.size, objects=True)["hits"]
        rivals = cache(contest.trace, ["lru", "arc", "belady"], [contest.size], objects=True)
        lru, arc, best = (row["hits"] for row in rivals)
        rows.append((f"{contest.name}, cache of {contest.size}", own, lru, arc, best))
    return rows


def check_prediction(prediction: object, learner: object) -> Verdict:
    """Judge the predictions by their distance from what replays of fresh traces give."""
    given = prediction if isinstance(prediction, dict) else {}
    size = cache_size(learner)
    loop = workloads.text(workloads.loop(REQUESTS, round(size * LOOP_OVER)))
    lru, best = (100 * row["hits"] / row["requests"] for row in cache(loop, ["lru", "belady"], [size], objects=True))
    (seed,) = checks.fresh_seeds(1)
    popular = workloads.text(workloads.zipf(REQUESTS, size * OBJECTS_PER_SLOT, seed=seed))
    once, twice = (row["hits"] for row in cache(popular, ["lru"], [size, 2 * size], objects=True))
    truths = {
        "loop_lru_percent": (lru, 2.0, 1.25, "%"),
        "loop_best_percent": (best, 1.3, 1.1, "%"),
        "doubled_times": (twice / once, 1.25, 1.1, "x"),
    }
    return checks.combine(
        checks.judge_prediction(
            given.get(name), truth, within_factor=within, full_within_factor=full, what=name, unit=unit
        )
        for name, (truth, within, full, unit) in truths.items()
    )


def check_policy(policy: Callable[[], EvictionPolicy], learner: object, seeds: int = checks.SEEDS) -> Verdict:
    """Judge a policy on unseen traces against LRU and ARC."""
    return _judge(policy, lambda seed: contests(learner, seed), seeds)


def check_policy_elsewhere(policy: Callable[[], EvictionPolicy], learner: object) -> Verdict:
    """Judge it on a loop that is too long, and on a smaller cache."""
    return _judge(policy, lambda seed: other_contests(learner, seed), checks.SEEDS)


def _judge(policy: Callable[[], EvictionPolicy], of_seed: Callable[[int], Iterator[Contest]], seeds: int) -> Verdict:
    try:
        return judge_policy(policy, of_seed, seeds=seeds)
    except SeeklabError as error:  # a learner without a name
        return checks.refused(error)
