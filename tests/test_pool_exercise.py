"""The assignment on designing a pool: plain answers fail, a frugal design passes, and cheap alone earns nothing."""

from __future__ import annotations

import pytest

import seeklab
from seeklab.exercises import pool_design as exercise
from seeklab.judge import Outcome
from wrong_answers import frugal

LEARNERS = ("Ada Lovelace", "Grace Hopper", "Edsger Dijkstra", "Barbara Liskov")


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_frugal_design_meets_every_level_within_its_budget(learner: str) -> None:
    design = frugal(learner)
    for test in ("check-reads", "check-writes", "check-streams"):
        verdict = exercise.check(test, learner, design=design)
        assert verdict.outcome is Outcome.PASS, f"{test}: {verdict} {design}"
    verdict = exercise.check("check-cost", learner, design=design)
    assert verdict.outcome is Outcome.PASS, verdict


def test_learners_have_levels_of_their_own() -> None:
    assert len({tuple(exercise.level(learner).values()) for learner in LEARNERS}) == len(LEARNERS)


def test_the_pool_of_the_course_is_too_dear_and_a_cheap_one_earns_nothing() -> None:
    learner = LEARNERS[0]
    dear = exercise.check("check-cost", learner, design={"cores": 32})
    assert dear.outcome is Outcome.FAIL
    assert dear.code == "too-expensive"
    cheap = {**frugal(learner), "memory_gib": 4, "log_ssds": 0, "cores": 1}
    verdict = exercise.check("check-cost", learner, design=cheap)
    assert verdict.outcome is Outcome.FAIL, verdict
    assert exercise.check("check-writes", learner, design=cheap).outcome is Outcome.FAIL


def test_a_stripe_loses_data_whatever_it_costs() -> None:
    verdict = exercise.check("check-cost", LEARNERS[0], design={**frugal(LEARNERS[0]), "width": 1})
    assert verdict.outcome is Outcome.FAIL
    assert verdict.code == "no-copy"


@pytest.mark.parametrize(
    "choice", [None, {}, {"prices": {"disks": 0}}, {"working_set_gib": 64}, {"disks": 45}, {"disk": 4}]
)
def test_what_is_no_design_of_the_pool_fails_with_a_reason(choice: object) -> None:
    verdict = exercise.check("check-writes", LEARNERS[0], design=choice)
    assert verdict.outcome is not Outcome.PASS
    assert str(verdict)


def test_names_of_what_binds_are_judged_by_a_run() -> None:
    right = {test: next(iter(seeklab.design().bounds(test))) for test in exercise.QUESTIONS}
    assert exercise.check("check-binds", LEARNERS[0], binds=right).score == pytest.approx(1)
    assert exercise.check("check-binds", LEARNERS[0], binds=dict.fromkeys(right, "disks")).score == 0
    assert exercise.check("check-binds", LEARNERS[0], binds=None).outcome is not Outcome.PASS
