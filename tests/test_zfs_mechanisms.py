"""Each mechanism of the OpenZFS write path, switched off: facts that need it fail, and what does not need it stays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import seeklab
from runs import engine

if TYPE_CHECKING:
    from collections.abc import Mapping

FACTS_OF: Mapping[str, tuple[tuple[str, str], ...]] = {
    "delay": (("dirty-sizing", "Z8.1"), ("dirty-sizing", "Z8.3")),
    "ramp": (("openzfs-throttle", "Z6.2"), ("picket-fence", "Z7.1"), ("picket-fence", "Z7.2")),
    "serialise": (("openzfs-throttle", "Z6.3"),),
    "credit": (("openzfs-throttle", "Z6.3a"),),
}

PROBES: Mapping[str, tuple[str, Mapping[str, Any], str]] = {
    "one write's delay": ("one-write", {}, "zfs_delay_total_s"),
    "group writes in flight": ("one-sync", {}, "zfs_async_writes_max"),
    "settled share": (
        "small-blocks",
        {"jobs[writers].numjobs": 64, "jobs[writers].runtime": "8s"},
        "zfs_dirty_settled_share_percent",
    ),
    "delay after a read": ("part-of-a-block", {}, "zfs_delay_total_s"),
}

MOVED_BY: Mapping[str, frozenset[str]] = {
    "delay": frozenset({"one write's delay", "settled share", "delay after a read"}),
    "ramp": frozenset({"group writes in flight"}),
    "serialise": frozenset({"settled share"}),
    "credit": frozenset({"delay after a read"}),
}


def each_fact() -> list[tuple[str, str, str]]:
    """Give mechanism, case and fact."""
    return [(mechanism, case_id, fact_id) for mechanism, facts in FACTS_OF.items() for case_id, fact_id in facts]


@pytest.mark.parametrize(("mechanism", "case_id", "fact_id"), each_fact())
def test_the_fact_fails_by_this_switch_alone(mechanism: str, case_id: str, fact_id: str) -> None:
    (fact,) = [fact for fact in seeklab.case(case_id).facts if fact["id"] == fact_id]
    assert fact["break"]["set"] == {f"zfs.{mechanism}": False}
    (holds,) = seeklab.facts(case_id, fact_id)
    assert holds["ok"]
    (broken,) = engine().call("ablation", {"case": case_id, "id": fact_id})
    assert not broken["ok"]


def probe(name: str, changes: Mapping[str, Any]) -> float:
    """Measure a probe."""
    variant, own, metric = PROBES[name]
    return seeklab.case("openzfs-throttle").with_({**own, **changes}).run(variant).metrics[metric]


@pytest.mark.parametrize("name", PROBES)
def test_a_mechanism_moves_what_depends_on_it_and_nothing_else(name: str) -> None:
    before = probe(name, {})
    moved = {mechanism for mechanism in FACTS_OF if abs(probe(name, {f"zfs.{mechanism}": False}) / before - 1) > 0.01}
    assert moved == {mechanism for mechanism, names in MOVED_BY.items() if name in names}
