"""The exercise on placements: the solution holds everywhere, and each likely mistake is told by its own reason."""

from __future__ import annotations

import pytest

from seeklab.exercises import copyset_placement
from seeklab.judge import Outcome
from wrong_answers import once, one_by_one, solution, without_racks

LEARNERS = ("Ada Lovelace", "Grace Hopper")


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_solution_holds_on_a_fleet_of_ones_own_and_on_another(learner: str) -> None:
    for task in ("check-place", "check-place-elsewhere"):
        verdict = copyset_placement.check(task, learner, place=solution("copyset-placement", "place"))
        assert verdict.passed, verdict


@pytest.mark.parametrize(
    ("place", "code"),
    [
        (once, "few-sets"),
        (one_by_one(4500), "many-sets"),
        (one_by_one(2000), "uneven"),
        (without_racks, "one-rack"),
        (lambda _racks, _copies, _scatter: None, "unreadable"),
        (lambda _racks, _copies, _scatter: [[0, 1]], "unreadable"),
        (lambda _racks, _copies, _scatter: [[0, 1, 1]], "same-node"),
        (lambda _racks, _copies, _scatter: [[0, 1, 10_000]], "unreadable"),
        (lambda _racks, _copies, _scatter: [[0, 1, True]], "unreadable"),
        (7, "unreadable"),
    ],
)
def test_another_placement_fails_with_what_it_broke(place: object, code: str) -> None:
    verdict = copyset_placement.check("check-place", LEARNERS[0], place=place)
    assert (verdict.outcome, verdict.code) == (Outcome.FAIL, code), verdict


def test_predictions_are_measured_by_the_engine() -> None:
    own = copyset_placement.fleet(LEARNERS[0])
    dark = int(own.nodes / 50 + 0.5)
    chance = dark * (dark - 1) * (dark - 2) / (own.nodes * (own.nodes - 1) * (own.nodes - 2))
    prediction = {
        "random_percent": 100 * (1 - (1 - chance) ** copyset_placement.CHUNKS),
        "fewest_percent": 100 * (1 - (1 - chance) ** (own.nodes // 3)),
    }
    verdict = copyset_placement.check("check-prediction", LEARNERS[0], prediction=prediction)
    assert verdict.passed, verdict


def test_learners_get_fleets_of_their_own_that_make_whole_groups() -> None:
    fleets = {str(copyset_placement.fleet(f"learner {number}")) for number in range(20)}
    assert len(fleets) > 10
    assert all(copyset_placement.fleet(f"learner {number}").nodes % 3 == 0 for number in range(20))
