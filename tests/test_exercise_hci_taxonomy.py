"""The assignment on cluster placement: a cluster for each learner, and closed forms that hold for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import seeklab
from seeklab._question import NEAR
from seeklab.exercises import hci_taxonomy as exercise
from seeklab.judge import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping

LEARNERS = ("Ada Lovelace", "Grace Hopper", "Edsger Dijkstra")


def by_closed_forms(learner: str) -> dict[str, float]:
    own = exercise.numbers(learner)
    disk_mb, link = own["machine_mib"] * 2**20 / 1e6, own["link_mb_per_s"]
    here = (own["copies"] - 1) / (own["nodes"] - 1)
    return {
        "local_percent": 100 * here,
        "local_percent_hash": 100 * own["copies"] / own["nodes"],
        "moved_mb": disk_mb / 4 * (1 - here),
        "protected_s": own["copies"] * disk_mb / ((own["nodes"] - 1) * link),
        "protected_s_pairs": own["copies"] * disk_mb / link,
    }


@pytest.mark.parametrize("learner", LEARNERS)
def test_closed_forms_are_near(learner: str) -> None:
    verdict = exercise.check("check-prediction", learner, prediction=by_closed_forms(learner))
    assert verdict.outcome is Outcome.PASS, verdict
    assert all(item.met for item in verdict.evidence), verdict


def test_chance_does_not_make_a_closed_form_far() -> None:
    """The rarest truth of any cluster that may be drawn is more than nine standard deviations within what is near."""
    for number in range(500):
        own = exercise.numbers(f"learner {number}")
        blocks = own["machine_mib"] * 16
        share = (own["copies"] - 1) / (own["nodes"] - 1)
        deviation = ((1 - share) / (share * blocks * exercise.TRUTH_SEEDS)) ** 0.5
        assert 1 - 9.6 * deviation > 1 / NEAR, own


def test_a_neighbours_numbers_do_not() -> None:
    clusters: Mapping[str, dict[str, int]] = {learner: exercise.numbers(learner) for learner in LEARNERS}
    assert len({tuple(numbers.values()) for numbers in clusters.values()}) == len(LEARNERS)
    copied = exercise.check("check-prediction", LEARNERS[1], prediction=by_closed_forms(LEARNERS[0]))
    assert not all(item.met for item in copied.evidence), copied


def test_nothing_runs_before_all_is_predicted() -> None:
    with pytest.raises(seeklab.SeeklabError, match=r"\bprotected_s\b"):
        exercise.run(LEARNERS[0], {**by_closed_forms(LEARNERS[0]), "protected_s": None}, "hash")
    unanswered = exercise.check("check-prediction", LEARNERS[0], prediction=dict.fromkeys(exercise.QUESTIONS))
    assert unanswered.outcome is not Outcome.PASS
    assert unanswered.score == 0


def test_claims_are_judged_by_what_the_designs_do() -> None:
    letters = {design: letter for letter, design in exercise.lettered(LEARNERS[0]).items()}
    claims = {"local_again": letters["locality"], "asks_most": letters["dedup-spread"]}
    right = exercise.check("check-claims", LEARNERS[0], claims=claims)
    assert right.outcome is Outcome.PASS, right
    claims = {"local_again": letters["hash"], "asks_most": letters["locality"]}
    wrong = exercise.check("check-claims", LEARNERS[0], claims=claims)
    assert wrong.outcome is Outcome.FAIL, wrong
