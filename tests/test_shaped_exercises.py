"""The exercises of two shapes: solved they pass anywhere, and what is no answer fails with a sentence."""

from __future__ import annotations

import json
from typing import Any

import pytest

from exercises import SOLUTIONS
from seeklab import exercises
from seeklab.judge import Outcome, Seeds, Variant, judge
from seeklab.judge.identity import practice_draws
from seeklab.judge.programs import Live
from wrong_answers import LEARNER, SHAPED, judged


def _solution(name: str) -> Any:  # noqa: ANN401 -- a rule, or settings
    """Take the answer of the notebook with solutions."""
    notebook = json.loads((SOLUTIONS / name / f"{name}.ipynb").read_text(encoding="utf-8"))
    names: dict[str, Any] = {}
    for cell in notebook["cells"]:
        if cell["id"] in {"rule", "fix"}:
            exec("".join(cell["source"]), names)  # noqa: S102 -- the course's own code
    return names.get("rule", names.get("fix"))


@pytest.mark.parametrize("name", SHAPED)
def test_the_solution_passes_on_a_system_of_every_kind(name: str) -> None:
    answer = "rule" if "rule" in exercises.assignment(name).kinds else "fix"
    verdict = judged(name, "check-elsewhere", {answer: _solution(name)}, b"b")
    assert verdict.passed, verdict


@pytest.mark.parametrize("name", SHAPED)
def test_what_is_no_answer_fails_with_a_sentence(name: str) -> None:
    rules = exercises.assignment(name).kinds.keys() >= {"rule"}
    nothing = (
        (lambda _: None, lambda _: "a lot", lambda _: 1 / 0, lambda _: float("nan")) if rules else ({}, {"x": 1}, 3)
    )
    for work in (*nothing, None):
        given = {"rule" if rules else "fix": Live(work) if callable(work) else work}
        variant = Variant(practice_draws(LEARNER))
        (verdict,) = judge(exercises.assignment(name), given, variant, Seeds(b"a"), ["check-own"])
        assert verdict.outcome is Outcome.FAIL
        assert verdict.reason


@pytest.mark.parametrize("name", SHAPED)
def test_learners_get_systems_of_their_own(name: str) -> None:
    from importlib import import_module  # noqa: PLC0415 -- by the exercise's name

    module = import_module(f"seeklab.exercises.{name.replace('-', '_')}")
    names = [f"learner {number}" for number in range(30)]
    told = {module.briefing(one).replace(one, "") for one in names}
    assert len(told) > 6
