"""What the exercise on cache policies passes and fails, and what it tells."""

from __future__ import annotations

import pytest

from policies import Lru
from seeklab import checks, workloads
from seeklab.exercises import cache_policies
from seeklab.policy_checks import Contest, Demand, judge_policy

TRACE = workloads.text(workloads.zipf(1500, 200, seed=3))


class Raises(Lru):
    """Has a bug."""

    def evict(self, incoming: int) -> int:
        message = f"no idea for {incoming}"
        raise KeyError(message)


class Lies(Lru):
    """Names what is not there."""

    def evict(self, incoming: int) -> int:
        return incoming


def contests(*demands: Demand) -> list[Contest]:
    return [Contest("a trace", TRACE, 40, demands)]


def test_a_policy_as_good_as_its_rival_passes_with_the_measured_number_and_the_bound() -> None:
    verdict = judge_policy(Lru, lambda _: contests(Demand("lru", 1.0)))
    assert verdict.passed
    assert "1 times lru's" in str(verdict)


def test_a_policy_that_is_not_good_enough_fails_with_both_numbers() -> None:
    verdict = judge_policy(Lru, lambda _: contests(Demand("belady", 1.0)))
    assert verdict.outcome is checks.Outcome.FAIL
    assert "1 times belady's" in str(verdict)
    assert all(isinstance(item.measured, int) for item in verdict.evidence)


def test_seeds_that_disagree_cannot_tell() -> None:
    calls: list[int] = []

    def of_seed(seed: int) -> list[Contest]:
        calls.append(seed)
        return contests(Demand("lru", 1.0 if len(calls) % 2 else 1.5))

    verdict = judge_policy(Lru, of_seed)
    assert verdict.outcome is checks.Outcome.CANNOT_TELL
    assert len(calls) == 3 * checks.SEEDS, "it drew more seeds before it gave up"


@pytest.mark.parametrize(
    ("policy", "told"), [(Raises, "KeyError"), (Lies, "not in the cache"), (None, "a class"), (object, "no method hit")]
)
def test_a_policy_that_breaks_fails_with_a_sentence(policy: type[Lru], told: str) -> None:
    verdict = judge_policy(policy, lambda _: contests(Demand("lru", 1.0)))
    assert verdict.outcome is checks.Outcome.FAIL
    assert told in str(verdict)


def test_lru_fails_the_assignment() -> None:
    assert not cache_policies.check_policy(Lru, "Ada Lovelace").passed
    assert not cache_policies.check_policy(Lru, None).passed, "a learner without a name is told so"


def test_learners_have_caches_of_their_own() -> None:
    assert len({cache_policies.cache_size(f"learner {number}") for number in range(20)}) > 10


def test_the_same_seed_gives_the_same_workload_and_another_one_another() -> None:
    one, other = (workloads.zipf(500, 100, seed=seed) for seed in (1, 2))
    assert one == workloads.zipf(500, 100, seed=1)
    assert one != other
    assert workloads.loop(5, 2) == [0, 1, 0, 1, 0]
    mixed = workloads.interrupted(one, 3, 10)
    assert len(mixed) == 530
    assert len(set(mixed) - set(one)) == 30
    assert len(workloads.shifting(501, 50, shifts=3)) == 501
