"""Each mechanism of the OpenZFS write path, switched off, moves the quantities that depend on it and no others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import seeklab

if TYPE_CHECKING:
    from collections.abc import Mapping

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


def probe(name: str, changes: Mapping[str, Any]) -> float:
    """Measure a probe."""
    variant, own, metric = PROBES[name]
    return seeklab.case("openzfs-throttle").with_({**own, **changes}).run(variant).metrics[metric]


@pytest.mark.parametrize("name", PROBES)
def test_a_mechanism_moves_what_depends_on_it_and_nothing_else(name: str) -> None:
    before = probe(name, {})
    moved = {mechanism for mechanism in MOVED_BY if abs(probe(name, {f"zfs.{mechanism}": False}) / before - 1) > 0.01}
    assert moved == {mechanism for mechanism, names in MOVED_BY.items() if name in names}
