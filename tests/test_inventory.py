"""The concept inventory: keys that agree with runs, distinct distractors, and an analysis that shows a gain."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest

from seeklab.cli import DONE, main
from seeklab.inventory import ITEMS
from seeklab.inventory.forms import form, form_of
from seeklab.inventory.item import Numbers, Range, Words, shown
from seeklab.inventory.learners import simulate
from seeklab.inventory.misconceptions import MISCONCEPTIONS
from seeklab.inventory.records import anonymous, as_csv, from_csv, read_answers
from seeklab.inventory.statistics import analyse, gain, kr20

if TYPE_CHECKING:
    from pathlib import Path

    from seeklab.inventory.item import Item

DRAWS = 3
"""Draws of each item, each with its runs."""
Documents = tuple[dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any]]


def test_thirty_items_have_names_and_cover_all_weeks() -> None:
    assert len({item.id for item in ITEMS}) == len({item.concept for item in ITEMS}) == 30
    assert {item.week for item in ITEMS} == set(range(1, 11))


def test_each_misconception_is_behind_a_distractor() -> None:
    used = {code for item in ITEMS for code in item.pose(random.Random(0)).misconceptions}
    assert used == set(MISCONCEPTIONS)


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
def test_the_key_agrees_with_its_run_and_no_other_option_does(item: Item) -> None:
    for seed in range(DRAWS):
        posed = item.pose(random.Random(f"{item.id} {seed}"))
        measured = posed.measure()
        assert posed.faults(measured) == [], posed.stem
        options = posed.options(measured)
        assert [option.misconception for option in options].count("") == 1
        assert len({option.text for option in options}) == len(options) == 4


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
def test_no_draw_has_distractors_that_are_too_near(item: Item) -> None:
    for seed in range(50):
        posed = item.pose(random.Random(seed))
        if isinstance(posed, Numbers):
            assert posed.faults(posed.law) == [], posed.stem


def test_a_fault_of_an_item_is_found() -> None:
    sound = Numbers("?", "s", 10, lambda: 10, {"1.1": 1, "1.2": 5, "1.3": 20})
    assert sound.faults(10) == []
    assert "the concept 10" in sound.faults(13)[0]
    assert len(Numbers("?", "s", 10, lambda: 10, {"1.1": 1, "1.2": 9, "1.3": 20}).faults(10)) == 1
    words = Words(
        "?", lambda: 1, (Range("less", 0, 1, "1.1"), Range("as much", 0.9, 1.1), Range("more", 1.1, 9, "1.2"))
    )
    assert words.faults(1.0) == []
    assert words.faults(0.95)
    assert words.faults(1.2)


@pytest.mark.parametrize(
    ("value", "text"), [(0.0039, "0.0039"), (12_345, "12,000"), (9.96, "10"), (0, "0"), (250, "250")]
)
def test_numbers_among_the_options_have_two_digits(value: float, text: str) -> None:
    assert shown(value) == text


@pytest.fixture(scope="module")
def forms() -> Documents:
    first, second = form("A", b"secret"), form("B", b"secret")
    return first.sheet(), second.sheet(), first.key(), second.key()


def test_two_forms_ask_the_same_with_other_numbers_and_show_no_key(forms: Documents) -> None:
    first, second, key, _ = forms
    assert [item["id"] for item in first["items"]] == [item["id"] for item in second["items"]]
    assert all(one["stem"] != other["stem"] for one, other in zip(first["items"], second["items"], strict=True))
    assert set(first["items"][0]) == {"id", "stem", "options"}
    assert all(item["misconceptions"][item["key"]] == "" for item in key["items"])


def test_half_of_a_class_starts_with_each_form() -> None:
    given = [form_of(f"student {nth}", b"secret") for nth in range(200)]
    assert 80 <= given.count("A") <= 120


def test_answers_are_scored_and_made_anonymous(forms: Documents) -> None:
    key = forms[2]
    item = key["items"][0]
    wrong = (item["key"] + 1) % 4
    text = "student,wave,form,item,option,confidence,seconds\n"
    text += f"Ada,first,A,{item['id']},{item['key']},75,20\nBo,first,A,{item['id']},{wrong},,\n"
    answers = read_answers(text, "answers.csv", {"A": key})
    assert [one.right for one in answers] == [1, 0]
    assert answers[1].misconception == item["misconceptions"][wrong]
    kept = anonymous(answers, {"Ada"}, b"study")
    assert len(kept) == 1
    assert "Ada" not in as_csv(kept)
    assert kept[0].learner != anonymous(answers, {"Ada"}, b"another study")[0].learner
    assert from_csv(as_csv(kept), "items.csv") == kept


@pytest.mark.parametrize(
    ("row", "named"),
    [
        ("Ada,later,A,mean-in-flight,0,,", "wave"),
        ("Ada,first,C,mean-in-flight,0,,", "form"),
        ("Ada,first,A,no-item,0,,", "item"),
        ("Ada,first,A,mean-in-flight,4,,", "option"),
        ("Ada,first,A,mean-in-flight,0,80,", "confidence"),
        ("Ada,first,A,mean-in-flight,0,75,-1", "seconds"),
        ("Ada,first,A,mean-in-flight,0,75,nan", "seconds"),
    ],
)
def test_a_row_that_is_not_an_answer_is_named(row: str, named: str, forms: Documents) -> None:
    from seeklab import SeeklabError

    text = f"student,wave,form,item,option,confidence,seconds\n{row}\n"
    with pytest.raises(SeeklabError, match=f"line 2.*{named}"):
        read_answers(text, "answers.csv", {"A": forms[2]})


def test_the_analysis_tells_a_class_that_learned_from_one_that_did_not() -> None:
    for expected, wanted in ((0.3, "gain"), (0.0, "no gain shown")):
        found = [gain(simulate(30, expected, seed)) for seed in range(1, 6)]
        assert sum(one is not None and one.verdict == wanted for one in found) >= 4, expected


def test_a_small_class_gets_counts_only() -> None:
    found = analyse(simulate(19, 0.3, 1))
    item = found["waves"]["first"]["items"]["shards"]
    assert set(item) == {"answers", "right", "empty", "misconceptions"}
    assert (found["gain"], found["waves"]["first"]["kr20"]) == (None, None)


def test_an_item_that_all_know_is_flagged() -> None:
    answers = [
        one if one.item != "shards" else type(one)(**{**vars(one), "right": 1, "misconception": ""})
        for one in simulate(30, 0.3, 1)
    ]
    flags = analyse(answers)["waves"]["first"]["items"]["shards"]["flags"]
    assert flags == ["easy", "does not discriminate", "a distractor that was never chosen"]


def test_reliability_is_that_of_the_formula() -> None:
    # Four learners, three items: p = 3/4, 2/4, 1/4, so the sum of pq is 0.625; totals 3, 2, 1, 0 have variance 1.25.
    guttman = {str(nth): {"a": int(nth > 0), "b": int(nth > 1), "c": int(nth > 2)} for nth in range(4)}
    assert kr20(guttman) == pytest.approx(1.5 * (1 - 0.625 / 1.25))


def test_the_command_simulates_and_analyses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "simulated.csv"
    assert main(["inventory", "simulate", "--gain", "0.3", "--out", str(file)]) == DONE
    capsys.readouterr()
    assert main(["inventory", "analyse", str(file), "--json"]) == DONE
    found = json.loads(capsys.readouterr().out)
    assert found["gain"]["learners"] == 30
    assert len(found["items"]) == 30
