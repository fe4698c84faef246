"""The project's heartbeat: what the sources document against what the engine simulates."""

from __future__ import annotations

from typing import Any

import pytest

import runs
import sampling
import seeklab
from seeklab import SeeklabError
from seeklab._facts import HOLDS, MODEL_MISSES, SOURCE_CONTRADICTS_ITSELF

DOCUMENTED = [(row["id"], fact) for row in seeklab.cases() for fact in seeklab.case(row["id"]).facts]
NAMES = [f"{case_id} {fact['id']}" for case_id, fact in DOCUMENTED]

ONE_IN = 4
"""Facts of which one is judged without its mechanism at each commit; `make full` judges all."""
ABLATED = [
    (case_id, fact)
    for case_id, fact in DOCUMENTED
    if "break" in fact and sampling.is_drawn(f"{fact['id']} off", ONE_IN)
]


def _value(row: dict[str, Any]) -> str:
    checks = "; ".join(
        f"{check['title']}: {check['simulated']} of {check['documented']} {check['unit']}, {check['tolerance']}"
        for check in [row, *row["checks"], *row["instead"]]
    )
    return f"{row['id']}: {checks}"


def _due(fact: dict[str, Any]) -> str:
    """Give the verdict that the case file announces."""
    if fact["kind"] == "discrepancy":
        return SOURCE_CONTRADICTS_ITSELF
    return MODEL_MISSES if "misses_because" in fact else HOLDS


@pytest.mark.parametrize(("case_id", "fact"), DOCUMENTED, ids=NAMES)
def test_a_fact_holds_unless_it_carries_a_reason_to_miss(case_id: str, fact: dict[str, Any]) -> None:
    (row,) = (row for row in runs.facts(case_id) if row["id"] == fact["id"])
    assert row["verdict"] == _due(fact), f"{_value(row)}; stored: {row.get('stored')}"


@pytest.mark.parametrize(
    ("case_id", "fact"), ABLATED, ids=[f"{name} {fact['id']} {fact['break']['what']}" for name, fact in ABLATED]
)
def test_a_fact_fails_without_its_mechanism(case_id: str, fact: dict[str, Any]) -> None:
    (row,) = runs.judged({"case": case_id, "id": fact["id"], "ablated": True})
    assert row["verdict"] == MODEL_MISSES, _value(row)


def test_a_fact_is_judged_on_every_seed_that_is_asked_for() -> None:
    (row,) = seeklab.facts("odx-prefetch", "Q1.4", seeds=3)
    assert len(row["values"]) == 3
    assert row["values"][0] == row["simulated"]
    assert row["range"] == [min(row["values"]), max(row["values"])]
    assert len(set(row["values"])) == 3, "each seed is a run of its own"


def test_a_number_of_seeds_that_is_none_is_refused() -> None:
    with pytest.raises(SeeklabError, match="seeds: 0 "):
        seeklab.facts("combine-limit", seeds=0)


def test_a_fact_that_is_asked_for_alone_is_judged_as_among_all_of_its_case() -> None:
    (row,) = seeklab.facts("odx-prefetch", "Q1.4")
    assert row in runs.facts("odx-prefetch")


def test_an_unknown_fact_is_told_with_the_known_ones() -> None:
    with pytest.raises(SeeklabError, match=r"Q1\.9"):
        seeklab.facts("odx-prefetch", "Q1.99")
