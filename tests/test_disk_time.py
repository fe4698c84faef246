"""The exercise on a disk's time: what its two loads pass and fail, and what they tell."""

from __future__ import annotations

import pytest

from seeklab.exercises import disk_time
from seeklab.judge import Outcome

LEARNERS = ("Ada Lovelace", "Barbara Liskov")
GOOD = {"queue_policy": "satf", "queue_depth": 16}


@pytest.mark.parametrize("learner", LEARNERS)
def test_one_choice_serves_both_loads(learner: str) -> None:
    assert disk_time.check("check-users", learner, choice=GOOD).passed
    assert disk_time.check("check-batch", learner, choice=GOOD).passed


@pytest.mark.parametrize(
    ("change", "users", "batch"),
    [
        ({"queue_depth": 64}, "pass", "fail"),  # far requests starve
        ({"queue_depth": 8}, "pass", "fail"),  # too few to choose from
        ({"queue_policy": "c-look"}, "fail", "fail"),  # does not count the platter
        ({"queue_policy": "fcfs"}, "fail", "fail"),
    ],
)
def test_a_choice_that_serves_one_load_only_fails_with_number_and_bound(
    change: dict[str, object], users: str, batch: str
) -> None:
    choice = {**GOOD, **change}
    verdicts = (
        disk_time.check("check-users", LEARNERS[0], choice=choice),
        disk_time.check("check-batch", LEARNERS[0], choice=choice),
    )
    assert tuple(verdict.outcome.value for verdict in verdicts) == (users, batch)
    failed = verdicts[1]
    assert failed.outcome is Outcome.FAIL
    assert failed.code in {mistake.code for mistake in disk_time.MISTAKES}
    assert all(item.measured and " times " in item.bound for item in failed.evidence)


@pytest.mark.parametrize(
    ("choice", "told"),
    [
        ({}, "sets some of queue_policy"),
        ({"rpm": 20_000}, "queue_policy, queue_depth"),
        ({"queue_policy": "stf"}, "satf"),
    ],
)
def test_what_is_no_choice_is_refused_with_a_sentence(choice: dict[str, object], told: str) -> None:
    verdict = disk_time.check("check-users", LEARNERS[0], choice=choice)
    assert verdict.outcome is Outcome.FAIL
    assert told in str(verdict)


def test_predictions_are_judged_against_the_learners_own_disk() -> None:
    own = disk_time.disk(LEARNERS[0])
    near = {"rotation_ms": 30_000 / own["rpm"], "random_mib_per_s": 0.5, "sixteen_times": 2.0}
    said = disk_time.check("check-prediction", LEARNERS[0], prediction=near)
    assert [item.met for item in said.evidence] == [True, True, True]
    far = disk_time.check("check-prediction", LEARNERS[0], prediction={**near, "rotation_ms": 60_000 / own["rpm"]})
    assert [item.met for item in far.evidence] == [False, True, True]
    assert far.points == far.max_points, "a commitment earns its points, however far it is"
    none = disk_time.check("check-prediction", LEARNERS[0], prediction={**near, "rotation_ms": None})
    assert (none.points, none.outcome) == (2, Outcome.FAIL)
