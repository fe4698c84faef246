"""Questions: what a case asks, and how near an answer is."""

from __future__ import annotations

import pytest

from seeklab._case import case
from seeklab._question import NEAR, Question, distance, is_near


@pytest.mark.parametrize(
    ("given", "actual", "words"), [(10, 10.001, "exactly"), (5, 10, "off by a factor 2"), (0, 10, ""), (-1, 10, "")]
)
def test_the_distance_is_a_factor_if_there_is_one(given: float, actual: float, words: str) -> None:
    assert distance(given, actual) == words


def test_near_is_a_factor_in_both_directions_and_a_choice_is_right_or_wrong() -> None:
    assert [is_near(given, 10) for given in (10 * NEAR, 10 / NEAR, 10.01 * NEAR, 9.9 / NEAR)] == [True] * 2 + [
        False
    ] * 2
    assert (is_near("seek", "seek"), is_near("seek", "queue")) == (True, False)


def test_a_case_asks_in_the_largest_unit_of_which_its_range_starts_with_a_tenth() -> None:
    ask = case("dirty-sizing").document["ask"]
    question = Question.of_case(case("dirty-sizing"))
    assert (ask["unit"], question.unit) == ("B", "GB")
    assert question.low * 1e9 == pytest.approx(ask["min"])
    assert question.compare(None, 1.0).startswith("Skipped. The run gives 1")


@pytest.mark.parametrize(
    ("question", "given", "actual", "words"),
    [
        (Question("?", unit="s"), 2, 4.0, "You said 2 s: off by a factor 2. The run gives 4 s."),
        (Question("?", unit="s"), 0, 4.0, "You said 0 s. The run gives 4 s."),
        (
            Question("?", reveal="{answer} times. So."),
            2,
            4.0,
            "You said 2: off by a factor 2. The run gives 4 times. So.",
        ),
        (Question("?", reveal="{answer} times. So."), None, 4.0, "Skipped. The run gives 4 times. So."),
        (Question("?", because={"a": "Not a."}, reveal="So."), "a", "b", "You said a. The run gives b. Not a. So."),
        (Question("?", because={"a": "Not a."}, reveal="So."), "b", "b", "Right: b. So."),
    ],
)
def test_an_answer_is_compared_in_one_form(
    question: Question, given: float | str | None, actual: float | str, words: str
) -> None:
    assert question.compare(given, actual) == words
