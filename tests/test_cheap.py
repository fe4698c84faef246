"""Cheap answers earn at most half of an exercise's points: constants, positions, and the answer of a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import sampling
from seeklab.course.tasks import tasks
from seeklab.exercises import flash_reserve, hedge_budget, read_ahead

if TYPE_CHECKING:
    from collections.abc import Callable

SAMPLE = 2
LEARNERS = ("Ada Lovelace", "Grace Hopper")


def of_notebook(task: str, name: str) -> Any:
    """Return the answer of a notebook's task, as its Answer button shows it."""
    scope: dict[str, Any] = {}
    exec(tasks()[task].answer, scope)  # noqa: S102 -- our own code
    return scope[name]


def next_two(read: Any) -> list[tuple[int, int]]:
    return [(read.record + read.records, 2)]


CHEAP: dict[str, tuple[Any, dict[str, Callable[[], Any]]]] = {
    "flash: one constant": (flash_reserve, {"rule": lambda: lambda _: 16}),
    "flash: a constant for trimmed drives": (
        flash_reserve,
        {"rule": lambda: lambda system: 12 if system["trimmed_percent"] else 20},
    ),
    "flash: as shipped": (flash_reserve, {"rule": lambda: lambda _: 50}),
    "hedge: as shipped": (hedge_budget, {"rule": lambda: lambda _: {"after_ms": 15, "budget_percent": 100}}),
    "read-ahead: near the start of a file": (
        read_ahead,
        {"Policy": lambda: lambda: lambda read: next_two(read) if read.record < 400 else []},
    ),
    "read-ahead: whatever was found": (
        read_ahead,
        {"Policy": lambda: lambda: lambda read: next_two(read) if read.record < 8 or read.found else []},
    ),
    "read-ahead: the answer of notebook 10": (
        read_ahead,
        {"Policy": lambda: of_notebook("media/policy", "InOrder")},
    ),
}


@pytest.mark.parametrize("name", sampling.some(list(CHEAP), SAMPLE))
def test_a_cheap_answer_earns_half_of_the_points_at_most(name: str) -> None:
    exercise, answer = CHEAP[name]
    (given, of) = next(iter(answer.items()))
    earned = most = 0.0
    for learner in LEARNERS:
        for task in exercise.ASSIGNMENT.tasks:
            most += task.points
            predicted = given not in task.takes
            earned += task.points if predicted else exercise.check(task.id, learner, **{given: of()}).points
    assert earned <= most / 2, (earned, most)
