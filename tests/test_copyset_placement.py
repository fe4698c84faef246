"""The exercise on placements: the solution holds everywhere, and each likely mistake is told by its own reason."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from seeklab.exercises import copyset_placement
from seeklab.judge import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SOLUTION = Path(__file__).parents[1] / "solutions" / "copyset-placement" / "copyset-placement.ipynb"
LEARNERS = ("Ada Lovelace", "Grace Hopper")


def _place() -> Callable[..., object]:
    """Take the placement of the solution."""
    cells = ("".join(cell["source"]) for cell in json.loads(SOLUTION.read_text(encoding="utf-8"))["cells"])
    (answer,) = (cell for cell in cells if "### BEGIN SOLUTION" in cell and "def place" in cell)
    names: dict[str, Any] = {}
    exec(answer, names)  # noqa: S102 -- the course's own code
    return cast("Callable[..., object]", names["place"])


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_solution_holds_on_a_fleet_of_ones_own_and_on_another(learner: str) -> None:
    for task in ("check-place", "check-place-elsewhere"):
        verdict = copyset_placement.check(task, learner, place=_place())
        assert verdict.passed, verdict


def _cut(line: Sequence[int]) -> list[Sequence[int]]:
    third = len(line) // 3
    return [line[first::third] for first in range(third)]


def _once(racks: list[int], _copies: int, _scatter: int) -> list[Sequence[int]]:
    return _cut(range(len(racks)))


def _one_by_one(count: int) -> Callable[[list[int], int, int], list[list[int]]]:
    def place(racks: list[int], copies: int, _scatter: int) -> list[list[int]]:
        draws = random.Random(1)
        sets: list[list[int]] = []
        while len(sets) < count:
            nodes = draws.sample(range(len(racks)), copies)
            if len({racks[node] for node in nodes}) == copies:
                sets.append(nodes)
        return sets

    return place


def _without_racks(racks: list[int], copies: int, scatter: int) -> list[Sequence[int]]:
    draws, sets = random.Random(1), []
    for _ in range(scatter // (copies - 1)):
        sets += _cut(draws.sample(range(len(racks)), len(racks)))
    return sets


@pytest.mark.parametrize(
    ("place", "told"),
    [
        (_once, "cut the nodes into groups several times"),
        (_one_by_one(4500), "one more chance that an outage"),
        (_one_by_one(2000), "fullest node holds more than its share"),
        (_without_racks, "two copies in a rack"),
        (lambda _racks, _copies, _scatter: None, "a list of sets of nodes"),
        (lambda _racks, _copies, _scatter: [[0, 1]], "no set of 3 nodes"),
        (lambda _racks, _copies, _scatter: [[0, 1, 1]], "names a node twice"),
        (lambda _racks, _copies, _scatter: [[0, 1, 10_000]], "holds what is no node"),
        (lambda _racks, _copies, _scatter: [[0, 1, True]], "holds what is no node"),
        (7, "a function"),
    ],
)
def test_another_placement_fails_with_what_it_broke(place: object, told: str) -> None:
    verdict = copyset_placement.check("check-place", LEARNERS[0], place=place)
    assert verdict.outcome is Outcome.FAIL
    assert told in str(verdict).lower(), verdict


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
