"""The intent log beyond its facts: when diverting a commit pays, how much of a device is used, what iostat tells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import seeklab

if TYPE_CHECKING:
    from collections.abc import Mapping


def commit(changes: Mapping[str, Any]) -> Mapping[str, float]:
    """Run the diverted case with changes."""
    return seeklab.case("slog-divert").with_(changes).run("diverted").metrics


def test_a_pool_slower_than_the_log_devices_is_the_wrong_place_for_a_commit() -> None:
    small = {"devices[disk].count": 2}
    for logs, pays in ((1, False), (3, False)):
        own = {**small, "zfs.log.devices.count": logs}
        diverted, kept = (commit({**own, "zfs.log.slog_limit": limit}) for limit in ("1MiB", 0))
        faster = diverted["zfs_log_largest_commit_s"] < kept["zfs_log_largest_commit_s"]
        assert faster == pays, (logs, diverted["zfs_log_largest_commit_s"], kept["zfs_log_largest_commit_s"])


def test_a_log_device_larger_than_what_can_be_dirty_is_said_to_be_with_how_much_is_used() -> None:
    run = seeklab.case("slog-divert").with_({"jobs[database].runtime": "100ms"}).run("flood")
    (warning,) = [problem for problem in run.warnings if problem.path == "zfs.log.devices"]
    assert "4 GiB" in warning.message


def test_iostat_lists_the_log_devices() -> None:
    run = seeklab.case("sync-serialised").with_({"jobs[threads].runtime": "100ms"}).run("batched")
    assert "\nlog0 " in run.text("iostat")
