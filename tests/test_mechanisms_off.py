"""Mechanisms off one at a time: the facts that rest on one fall, their neighbours stand.

Each fact's own `break` shows that it can fail; this shows that it fails for the reason that it names.
`test_facts` shows that all of these facts hold with every mechanism on.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

import runs
import sampling
import seeklab

FACTS = {fact["id"]: (row["id"], fact) for row in seeklab.cases() for fact in seeklab.case(row["id"]).facts}

ONE_IN = 4
"""Pairs of a mechanism and a fact of which one is judged at each commit; `make full` judges all."""

READS_ONLY = {"jobs[oltp].number_ios": 10, "jobs[restore].number_ios": 1}


class Off(NamedTuple):
    """A mechanism switched off, the facts that fall, and some that stand."""

    changes: dict[str, Any]
    falls: str
    stands: str


VIRTUAL_DISKS = {
    "the lock's shared mode": Off(
        {**READS_ONLY, "controller.lock": {"held_percent": 60, "exclusive": "always"}}, "N1.7", "N1.5"
    ),
    "the cost of a request, whatever its size": Off(
        {**READS_ONLY, "controller.read": 0, "controller.per_byte": 7}, "N1.5", "N1.8"
    ),
    "the wait of a change of shards": Off(
        {"controller.resize_waits": False, "jobs[restore].number_ios": 1}, "N1.8", "N1.7"
    ),
    "the cost of memory for a large request": Off({"controller.per_byte": 0, "controller.read": 0}, "Q3.2", "Q3.1"),
    "reading before a write": Off({"partition.read_modify_write": False}, "N2.3", "N2.1"),
    "the turn that a read-modify-write waits for": Off({"devices[sd].hdd.keeps_writes": True}, "N2.3", "N2.1"),
    "a window longer than the burst": Off({"monitor.window": "100ms"}, "N3.5", "N3.2"),
    "migration to where data are read": Off({"cluster.migrate": False}, "N4.2", "N4.5"),
    "buffers that repeat": Off({"reduction.refill_buffers": True}, "N5.3", "N5.2"),
}

WRITE_PATH = {
    "the write throttle's delay": Off({"zfs.delay": False}, "Z6.3a Z8.1 Z8.3", "Z6.2 Z6.3 Z6.7 Z7.1 Z7.2"),
    "the ramp of writes in flight": Off({"zfs.ramp": False}, "Z6.2 Z7.1 Z7.2", "Z6.3 Z6.3a Z6.7 Z8.1 Z8.3"),
    "the serialised wake-up": Off({"zfs.serialise": False}, "Z6.3", "Z6.2 Z6.3a Z6.7 Z7.1 Z7.2 Z8.1 Z8.3"),
    "the credit for time served": Off({"zfs.credit": False}, "Z6.3a", "Z6.2 Z6.3 Z6.7 Z7.1 Z7.2 Z8.1 Z8.3"),
}

SHARED_POOLS = {
    "the TCP window": Off(
        {"network.client_buffer": "4GiB", "network.server_buffer": "4GiB"}, "S11.1 S11.2 S11.4", "S11.3"
    ),
    "the diversion of massive commits": Off({"zfs.log.slog_limit": 0}, "S6.2 S6.3", "S6.1 S6.4 S2.1 S2.2"),
    "commit batching": Off({"zfs.log.batch": False}, "S2.1 S2.2", "S6.1 S6.2 S6.4"),
    "the L2ARC's no-prefetch rule": Off({"zfs.l2arc.noprefetch": False}, "S7.6", "S7.2 S7.3 S7.4 S7.5 S7.7"),
    "the L2ARC's feed limit": Off({"zfs.l2arc.write_max": "512MiB"}, "S7.1 S7.6", "S7.2 S7.3 S7.4 S7.5 S7.7"),
    "large sends": Off({"server.nic.large_send": False}, "S4.5", "S4.1 S4.2 S4.3"),
    "cross-calls of freed buffers": Off({"server.buffers.object_cache": True}, "S3.1 S3.2", "S3.3"),
    "the client's attribute cache": Off({"nfs.attributes": 0}, "S1.9", "S1.2 S1.5"),
    "the client's read-ahead": Off({"nfs.read_ahead": 0}, "S1.5", "S1.2 S1.9"),
}

BOTH_LOGS = ("engine", "replication")

DATABASES = {
    "flush times that scatter": Off(
        {f"commit.logs[{log}].flush.times": "fixed" for log in BOTH_LOGS}, "M1.5 M1.8", "M1.1 M1.2 M1.9"
    ),
    "group commit of the replication log": Off(
        {"commit.logs[replication].batch": "one"}, "M1.5 M1.7 M1.11", "M1.2 M1.3 M1.10"
    ),
    "the time that a transaction adds to its flush": Off(
        {f"commit.logs[{log}].flush.per_commit": 0 for log in BOTH_LOGS}, "M1.6 M1.7", "M1.1 M1.2 M1.4"
    ),
}

MECHANISMS = {**VIRTUAL_DISKS, **WRITE_PATH, **SHARED_POOLS, **DATABASES}

EACH = [
    pytest.param(off.changes, fact_id, stands, id=f"{name} off, {fact_id} {'stands' if stands else 'falls'}")
    for name, off in MECHANISMS.items()
    for stands, facts in ((False, off.falls), (True, off.stands))
    for fact_id in facts.split()
    if sampling.is_drawn(f"{name} {fact_id}", ONE_IN)
]


@pytest.mark.parametrize(("changes", "fact_id", "stands"), EACH)
def test_a_mechanism_that_is_off_takes_its_own_facts_with_it_and_no_other(
    *, changes: dict[str, Any], fact_id: str, stands: bool
) -> None:
    case_id, fact = FACTS[fact_id]
    assert "misses_because" not in fact, "what misses anyway shows nothing"
    (row,) = runs.judged({"case": case_id, "id": fact_id, "ablated": True, "set": changes})
    assert row["ok"] is stands, {"simulated": row["simulated"], "checks": row["checks"]}
