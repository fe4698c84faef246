"""The intent log's mechanisms, switched off one at a time: the facts that need one fail, the others hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import seeklab
from runs import engine

if TYPE_CHECKING:
    from collections.abc import Mapping

OFF: Mapping[str, Mapping[str, Any]] = {
    "batching": {"zfs.log.batch": False},
    "diversion": {"zfs.log.slog_limit": 0},
}

NEEDS: Mapping[tuple[str, str], str] = {
    ("sync-serialised", "S2.1"): "batching",
    ("sync-serialised", "S2.2"): "batching",
    ("slog-divert", "S6.2"): "diversion",
    ("slog-divert", "S6.3"): "diversion",
}

LIMITS: Mapping[str, tuple[float, float]] = {
    "S2.1": (10, 1000),
    "S2.2": (19, 21),
    "S6.2": (0.95, 1.05),
    "S6.3": (0, 1.5),  # one at a time it takes longer to work off what came while the first megabyte was written
}


@pytest.mark.parametrize(("case_id", "fact_id"), NEEDS)
@pytest.mark.parametrize("mechanism", OFF)
def test_a_fact_fails_exactly_without_the_mechanism_that_it_needs(case_id: str, fact_id: str, mechanism: str) -> None:
    (fact,) = [fact for fact in seeklab.case(case_id).facts if fact["id"] == fact_id]
    value = engine().call("measure", {"case": case_id, "measure": fact["measure"], "set": OFF[mechanism]})
    low, high = LIMITS[fact_id]
    assert (low <= value <= high) == (NEEDS[case_id, fact_id] != mechanism), value


def commit(changes: Mapping[str, Any]) -> Mapping[str, float]:
    """Run the diverted case with changes."""
    return seeklab.case("slog-divert").with_(changes).run("diverted").metrics


def test_a_pool_slower_than_the_log_devices_is_the_wrong_place_for_a_commit() -> None:
    small = {"devices[disk].count": 4}
    for logs, pays in ((1, False), (3, False)):
        own = {**small, "zfs.log.devices.count": logs}
        diverted, kept = (commit({**own, "zfs.log.slog_limit": limit}) for limit in ("1MiB", 0))
        faster = diverted["zfs_log_largest_commit_s"] < kept["zfs_log_largest_commit_s"]
        assert faster == pays, (logs, diverted["zfs_log_largest_commit_s"], kept["zfs_log_largest_commit_s"])


def test_a_log_device_larger_than_what_can_be_dirty_is_said_to_be_with_how_much_is_used() -> None:
    run = seeklab.case("slog-divert").with_({"jobs[database].runtime": "100ms"}).run("flood")
    (warning,) = [problem for problem in run.warnings if problem.path == "zfs.log.devices"]
    assert "of which about 4 GiB can ever be used" in warning.message


def test_iostat_lists_the_log_devices() -> None:
    run = seeklab.case("sync-serialised").with_({"jobs[threads].runtime": "100ms"}).run("batched")
    assert "\nlog0 " in run.text("iostat")
