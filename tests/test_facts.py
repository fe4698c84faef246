"""The project's heartbeat: what the sources document against what the engine simulates."""

from __future__ import annotations

from typing import Any

import pytest

import seeklab
from runs import engine
from seeklab import SeeklabError

DOCUMENTED = [(row["id"], fact) for row in seeklab.cases() for fact in seeklab.case(row["id"]).facts]
NAMES = [f"{case_id} {fact['id']}" for case_id, fact in DOCUMENTED]

ABLATED = [(case_id, fact) for case_id, fact in DOCUMENTED if "break" in fact]


def _value(row: dict[str, Any]) -> str:
    checks = "; ".join(
        f"{check['title']}: {check['simulated']} of {check['documented']} {check['unit']}, {check['tolerance']}"
        for check in [row, *row["checks"]]
    )
    return f"{row['id']}: {checks}"


@pytest.mark.parametrize(("case_id", "fact"), DOCUMENTED, ids=NAMES)
def test_a_fact_holds_unless_it_carries_a_reason_to_miss(case_id: str, fact: dict[str, Any]) -> None:
    (row,) = seeklab.facts(case_id, fact["id"])
    assert row["ok"] == (not row.get("misses_because")), _value(row)


@pytest.mark.parametrize(
    ("case_id", "fact"), ABLATED, ids=[f"{name} {fact['id']} {fact['break']['what']}" for name, fact in ABLATED]
)
def test_a_fact_fails_without_its_mechanism(case_id: str, fact: dict[str, Any]) -> None:
    (row,) = engine().call("ablation", {"case": case_id, "id": fact["id"]})
    assert not row["ok"], _value(row)


def test_the_incident_of_the_missing_256_kib_has_its_nine_facts() -> None:
    assert [fact["id"] for case_id, fact in DOCUMENTED if case_id == "odx-prefetch"] == [
        f"Q1.{n}" for n in range(1, 10)
    ]


def test_at_least_half_of_all_facts_are_predicted() -> None:
    predicted = [fact for _, fact in DOCUMENTED if fact["kind"] == "predicted"]
    assert 2 * len(predicted) >= len(DOCUMENTED)


@pytest.mark.parametrize(("case_id", "fact"), DOCUMENTED, ids=NAMES)
def test_every_predicted_fact_can_be_broken(case_id: str, fact: dict[str, Any]) -> None:
    del case_id
    assert fact["kind"] != "predicted" or "break" in fact, "a predicted fact names the mechanism it needs"


def test_an_unknown_fact_is_told_with_the_known_ones() -> None:
    with pytest.raises(SeeklabError, match=r"Q1\.9"):
        seeklab.facts("odx-prefetch", "Q1.99")
