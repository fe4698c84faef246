"""What the exercise on cache policies passes and fails, and what it tells."""

from __future__ import annotations

import pytest

from policies import Lru
from seeklab import workloads
from seeklab.exercises import cache_policies
from seeklab.judge import Outcome

LEARNER = "Ada Lovelace"


class Raises(Lru):
    """Has a bug."""

    def evict(self, incoming: int) -> int:
        message = f"no idea for {incoming}"
        raise KeyError(message)


class Lies(Lru):
    """Names what is not there."""

    def evict(self, incoming: int) -> int:
        return incoming


@pytest.mark.parametrize(
    ("policy", "told"),
    [(Raises, "KeyError"), (Lies, "not in the cache"), (None, "no answer"), (object, "no method hit")],
)
def test_a_policy_that_breaks_fails_with_a_sentence(policy: type[Lru], told: str) -> None:
    verdict = cache_policies.check("check-policy", LEARNER, Policy=policy)
    assert verdict.outcome is Outcome.FAIL
    assert told in verdict.reason


def test_lru_fails_the_assignment_with_both_numbers_and_what_a_scan_does_to_it() -> None:
    verdict = cache_policies.check("check-policy", LEARNER, Policy=Lru)
    assert not verdict.passed
    assert "1.06 times lru's" in str(verdict)
    assert verdict.code == "scan"
    nobody = cache_policies.check("check-policy", None, Policy=Lru)
    assert "not a name" in nobody.reason


def test_a_policy_that_knows_scans_by_their_numbers_gains_nothing() -> None:
    popular = cache_policies.cache_size(LEARNER) * cache_policies.OBJECTS_PER_SLOT

    class Numbered(Lru):
        """Evicts objects first that are numbered above all popular ones."""

        def evict(self, incoming: int) -> int:
            return next((key for key in self.order if key >= popular), super().evict(incoming))

    verdict = cache_policies.check("check-policy", LEARNER, Policy=Numbered)
    assert verdict.outcome is Outcome.FAIL


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
    hidden = workloads.renamed(mixed, seed=3)
    assert hidden == workloads.renamed(mixed, seed=3) != workloads.renamed(mixed, seed=4)
    assert [mixed.index(name) for name in mixed] == [hidden.index(name) for name in hidden]
    assert set(hidden) == set(range(len(set(mixed))))
    assert len(workloads.shifting(501, 50, shifts=3)) == 501
