"""Facts hold on several seeds and at other values of their inputs, as stored; a sample is measured anew at each commit.

`make full` measures all of them anew; SEEKLAB_FULL=1 does so here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import fact_ranges
import sampling
import seeklab

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FACTS = [(row["id"], fact) for row in seeklab.cases() for fact in seeklab.case(row["id"]).facts]
STORED = fact_ranges.stored()

ONE_IN = 16


def is_sampled(fact: str) -> bool:
    """Whether a fact is of this commit's sample."""
    return sampling.is_drawn(fact, ONE_IN)


SAMPLE = [(case_id, fact) for case_id, fact in FACTS if is_sampled(fact["id"])]

AGAIN = "run make update what=ranges"


def names(facts: Sequence[tuple[str, Mapping[str, Any]]]) -> list[str]:
    """Name each fact in a test's name, so that the log tells what the sample was."""
    return [f"{case_id} {fact['id']}" for case_id, fact in facts]


def test_every_fact_has_its_ranges_and_nothing_else_has() -> None:
    assert list(STORED) == [fact["id"] for _, fact in FACTS], AGAIN


def test_ranges_are_of_enough_seeds_and_of_every_check_and_input() -> None:
    found = {name: (kept["seeds"], len(kept["ranges"]), len(kept.get("inputs", ()))) for name, kept in STORED.items()}
    due = {
        fact["id"]: (
            fact_ranges.SEEDS,
            1 + len(fact.get("also", ())) + len(fact.get("instead", ())),
            len(fact.get("inputs", ())),
        )
        for _, fact in FACTS
    }
    assert found == due, AGAIN


@pytest.mark.parametrize(("case_id", "fact"), SAMPLE, ids=names(SAMPLE))
def test_what_is_stored_of_a_fact_comes_out_again(case_id: str, fact: dict[str, Any]) -> None:
    found = fact_ranges.measure(case_id, fact["id"])
    assert found[fact["id"]] == STORED[fact["id"]], AGAIN


def test_the_sample_is_another_with_another_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(sampling.ALL, raising=False)
    ids = [fact["id"] for _, fact in FACTS]
    samples = set()
    for commit in ("a", "b", "c"):
        monkeypatch.setattr(sampling, "commit", lambda commit=commit: commit)
        samples.add(tuple(fact for fact in ids if is_sampled(fact)))
    assert len(samples) == 3
    assert all(0 < len(sample) < len(ids) / 4 for sample in samples)
