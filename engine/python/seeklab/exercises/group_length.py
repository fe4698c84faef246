"""The assignment on transaction groups: a length that serves reads and costs little throughput.

A pool of four disks writes at full speed while other clients read from it. As found, a group holds five seconds of I/O.
Each group must write its metadata; the amount differs between pools.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seeklab._case import case as load_case
from seeklab._question import Question
from seeklab.exercises._shapes import Shape, System, at_least, at_most, named
from seeklab.judge import Evidence, Settings

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

    from seeklab._result import Result

CASE = "txg-seconds"
TARGET, TIMEOUT = "zfs.txg_synctime", "zfs.txg_timeout"
FOUND = {TARGET: "5s", TIMEOUT: "30s"}
READ_TIMES = 0.2
RATE_TIMES = 0.84

QUESTIONS = {
    "found_p99_ms": Question("As found: what is the 99th percentile of the reads, in ms?", unit="ms"),
    "one_second_times": Question(
        "Groups of one second instead of five: how many times the throughput do the writers have?", unit="x"
    ),
}


def _drawn(source: random.Random) -> System:
    known = {"metadata_mib": source.randrange(28, 49, 2), "reads_per_s": source.randrange(18, 27)}
    told = (
        f"four disks in mirrors, 32 writers at the pool's full speed, {known['reads_per_s']} random reads a "
        f"second; a group has {known['metadata_mib']} MiB of metadata"
    )
    return System(known, told)


def run(system: System, settings: Mapping[str, Any], seed: int = 1) -> Result:
    """Run the pool with some settings changed from those it was found with."""
    changes = {
        "devices[disk].count": 4,
        "zfs.write_limit": "128MiB",
        "zfs.metadata": f"{system['metadata_mib']}MiB",
        "jobs[readers].rate_iops": system["reads_per_s"],
        **{f"jobs[{job}].ramp_time": "10s" for job in ("writers", "readers")},
        **{f"jobs[{job}].runtime": "90s" for job in ("writers", "readers")},
        "record.log": False,
        **FOUND,
        **settings,
    }
    return load_case(CASE).with_(changes).run("small-one", seed=seed)


READS, RATE = "readers.read_latency_p99_ms", "writers.write_mib_per_s"


def _near(system: System, seed: int) -> dict[str, float]:
    found, one = (run(system, settings, seed).metrics for settings in ({}, {TARGET: "1s"}))
    return {"found_p99_ms": found[READS], "one_second_times": one[RATE] / found[RATE]}


WHY = named(
    timeout="a busy pool fills a group long before its timeout; the timeout ends groups only on idle pools; the "
    "target decides how much a group may hold",
    overdue="reads still wait: a write counts as overdue about 2.5 s after its group started, and then precedes "
    "every read; groups must end before that",
    too_short="too much throughput is lost: each group writes metadata in rounds that wait for each other, and a "
    "pool of four disks cannot afford that so often",
)


def _judge(system: System, settings: Mapping[str, Any], seed: int) -> list[Evidence]:
    found, other, own = (run(system, *asked).metrics for asked in (({}, seed), ({}, seed ^ 1), (settings, seed)))
    # As found, about one run in sixty writes a tenth more than other runs of the same pool, by chance.
    usual = min(found[RATE], other[RATE])
    late = WHY["overdue" if TARGET in settings else "timeout"]
    return [
        at_most(f"{READS}, {system}", own[READS], READ_TIMES * found[READS], "ms", seed, late),
        at_least(f"{RATE}, {system}", own[RATE], RATE_TIMES * usual, "MiB/s", seed, WHY["too-short"]),
    ]


SHAPE = Shape(
    id="group-length",
    what="pool",
    kinds={"any": _drawn},
    questions=QUESTIONS,
    near=_near,
    judge=_judge,
    parts=2,
    fix=Settings((TARGET, TIMEOUT), {"zfs.metadata": "users' files decide how much metadata a group has"}),
    hints=(
        "What ends a group on a busy pool, and on an idle one?",
        "At what age do writes start to precede reads? Groups that end sooner avoid this.",
        "One second serves reads, but writes metadata too often; at 2.5 s some writes are already overdue.",
    ),
    events=10_000_000,
)
system, briefing = SHAPE.own, SHAPE.briefing
ASSIGNMENT, check, hint = SHAPE.exercise()
