"""Mechanisms of virtual disks and monitors, off one at a time: the fact that rests on it falls, its neighbour stands.

Each case file's own `break` shows that a fact can fail; this shows that it fails for the reason that it names.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

import seeklab
from seeklab._case import measure

READS_ONLY = {"jobs[oltp].number_ios": 10, "jobs[restore].number_ios": 1}


class Off(NamedTuple):
    """A mechanism switched off in a case, the fact that falls, and one that stands."""

    case: str
    changes: dict[str, Any]
    falls: str
    stands: str


MECHANISMS = {
    "the lock's shared mode": Off(
        "vdisk-sharding",
        {**READS_ONLY, "controller.lock": {"held_percent": 60, "exclusive": "always"}},
        "N1.7",
        "N1.5",
    ),
    "the cost of a request, whatever its size": Off(
        "vdisk-sharding", {**READS_ONLY, "controller.read": 0, "controller.per_byte": 7}, "N1.5", "N1.7"
    ),
    "the wait of a change of shards": Off(
        "vdisk-sharding", {"controller.resize_waits": False, "jobs[restore].number_ios": 1}, "N1.8", "N1.7"
    ),
    "reading before a write": Off("misaligned-io", {"partition.read_modify_write": False}, "N2.3", "N2.1"),
    "the turn that a read-modify-write waits for": Off(
        "misaligned-io", {"devices[sd].hdd.keeps_writes": True}, "N2.3", "N2.1"
    ),
    "a window longer than the burst": Off("averaged-away", {"monitor.window": "100ms"}, "N3.5", "N3.2"),
    "migration to where data are read": Off("hci-taxonomy", {"cluster.migrate": False}, "N4.2", "N4.5"),
    "buffers that repeat": Off("compressible-data", {"reduction.refill_buffers": True}, "N5.3", "N5.2"),
    "the cost of memory for a large request": Off(
        "combine-limit", {"controller.per_byte": 0, "controller.read": 0}, "Q3.2", "Q3.1"
    ),
}


def within(fact: dict[str, Any], found: float) -> bool:
    """Judge a number by a fact's own tolerance."""
    documented, tolerance = fact["documented"], fact["tolerance"]
    if isinstance(documented, list):
        low, high = documented
        return bool(low <= found <= high)
    if tolerance == "at least":
        return bool(found >= documented)
    if tolerance == "at most":
        return bool(found <= documented)
    if tolerance == "exact":
        return bool(found == documented)
    slack = abs(documented) * float(tolerance[:-1]) / 100 if tolerance.endswith("%") else float(tolerance[2:])
    return bool(abs(found - documented) <= slack)


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_that_is_off_takes_its_own_fact_with_it_and_no_other(name: str) -> None:
    off = MECHANISMS[name]
    case = seeklab.case(off.case)
    facts = {fact["id"]: dict(fact) for fact in case.facts}
    for fact_id, stands in ((off.falls, False), (off.stands, True)):
        fact = facts[fact_id]
        on, without = (measure(system, fact["measure"]) for system in (case, case.with_(off.changes)))
        assert within(fact, on), (fact_id, on)
        assert within(fact, without) is stands, (fact_id, on, without)
