"""Facts hold on several seeds and at other values of their inputs, as stored; a sample is measured anew at each commit.

`make full` measures all of them anew; SEEKLAB_FULL=1 does so here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import drawn
import fact_ranges
import seeklab

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FACTS = [(row["id"], fact) for row in seeklab.cases() for fact in seeklab.case(row["id"]).facts]
STORED = fact_ranges.stored()
SAMPLE = [(case_id, fact) for case_id, fact in FACTS if fact_ranges.is_sampled(fact["id"])]

AGAIN = "run make update what=ranges"


def names(facts: Sequence[tuple[str, Mapping[str, Any]]]) -> list[str]:
    """Name each fact in a test's name, so that the log tells what the sample was."""
    return [f"{case_id} {fact['id']}" for case_id, fact in facts]


def test_every_fact_has_its_ranges_and_nothing_else_has() -> None:
    assert list(STORED) == [fact["id"] for _, fact in FACTS], AGAIN


@pytest.mark.parametrize(("case_id", "fact"), FACTS, ids=names(FACTS))
def test_ranges_are_of_enough_seeds_and_of_every_check_and_input(case_id: str, fact: dict[str, Any]) -> None:
    del case_id
    found = STORED[fact["id"]]
    assert found["seeds"] >= fact_ranges.SEEDS
    assert len(found["ranges"]) == 1 + len(fact.get("also", ())) + len(fact.get("instead", ())), AGAIN
    assert len(found.get("inputs", ())) == len(fact.get("inputs", ())), AGAIN


@pytest.mark.parametrize(("case_id", "fact"), FACTS, ids=names(FACTS))
def test_a_predicted_fact_is_judged_at_two_other_values_of_its_inputs(case_id: str, fact: dict[str, Any]) -> None:
    del case_id
    inputs = fact.get("inputs", ())
    assert fact["kind"] != "predicted" or len(inputs) >= fact_ranges.INPUTS
    assert all(given["set"] or given.get("measure") for given in inputs), (
        "an input that changes nothing is no other one"
    )


@pytest.mark.parametrize(("case_id", "fact"), SAMPLE, ids=names(SAMPLE))
def test_what_is_stored_of_a_fact_comes_out_again(case_id: str, fact: dict[str, Any]) -> None:
    found = fact_ranges.measure(case_id, fact["id"])
    assert found[fact["id"]] == STORED[fact["id"]], AGAIN


def test_the_sample_is_another_with_another_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(drawn.ALL, raising=False)
    ids = [fact["id"] for _, fact in FACTS]
    samples = set()
    for commit in ("a", "b", "c"):
        monkeypatch.setattr(drawn, "commit", lambda commit=commit: commit)
        samples.add(tuple(fact for fact in ids if fact_ranges.is_sampled(fact)))
    assert len(samples) == 3
    assert all(0 < len(sample) < len(ids) / 4 for sample in samples)
