"""The assignment on the throttle of 2008: how many writes of a group pass, sleep and stop.

A rule returns three counts for the second group, from the numbers of a system. It is judged on a few threads at the
backend's own rate, on a few unlimited threads, and on many threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from seeklab._case import case as load_case
from seeklab._question import Question
from seeklab.exercises._shapes import Shape, System, named
from seeklab.judge import Evidence, Fields, Mistake, Number, near

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

CASE = "thousand-threads"
MIB = 1 << 20
RECORD = 8192
SYNC_S = 5
WITHIN_PERCENT = {"stopped": 4, "slept": 8, "passed": 4}
NONE_LESS_THAN = 0.5
COUNTS = {"passed": "not_delayed", "slept": "delayed", "stopped": "blocked"}

QUESTIONS = {
    "slept": Question("How many writes of the second group sleep?", unit="writes"),
    "stopped": Question("How many of them stop until the next group opens?", unit="writes"),
}


def _system(limit_mib: int, threads: int, load_mib: int, tick_ms: int) -> System:
    known = {
        "threads": threads,
        "write_bytes": RECORD,
        "limit_bytes": limit_mib * MIB,
        "sync_s": SYNC_S,
        "load": load_mib * MIB,
        "tick_s": tick_ms / 1000,
    }
    told = (
        f"{threads} threads write {RECORD >> 10} KiB at a time, {load_mib} MiB/s in total while nothing delays "
        f"them; a group holds {limit_mib} MiB and takes {SYNC_S} s to sync, and a write beyond 7/8 of it sleeps "
        f"{tick_ms} ms while an older group is syncing"
    )
    return System(known, told)


def _paced(source: random.Random) -> System:
    limit = source.randrange(200, 420, 40)
    return _system(limit, source.choice((8, 10, 16)), limit // SYNC_S, source.choice((5, 10)))


def _few(source: random.Random) -> System:
    return _system(source.randrange(200, 420, 40), source.randrange(4, 9), source.randrange(200, 420, 20), 10)


def _many(source: random.Random) -> System:
    return _system(source.randrange(80, 140, 10), source.randrange(700, 1100, 50), source.randrange(800, 1200, 50), 10)


def counts(system: System, seed: int = 1) -> dict[str, float]:
    """Run the system; return the writes of the second group that passed, slept and stopped."""
    rate = round(system["limit_bytes"] / SYNC_S)
    paced = system["load"] <= rate
    changes = {
        "jobs[writers].numjobs": system["threads"],
        "jobs[writers].runtime": "12s",
        "zfs.write_limit": system["limit_bytes"],
        "zfs.tick": f"{round(1000 * system['tick_s'])}ms",
        "devices[pool].lun.rate": rate,
        "zfs.ingest": 10**11 if paced else system["load"],
    }
    if paced:
        changes["jobs[writers].rate_iops"] = rate / RECORD / system["threads"]
    found = load_case(CASE).with_(changes).run("thousand", seed=seed).metrics
    return {name: found[f"zfs_second_group_{metric}"] for name, metric in COUNTS.items()}


def _near(system: System, seed: int) -> dict[str, float]:
    found = counts(system, seed)
    return {name: found[name] for name in QUESTIONS}


WHY = named(
    stopped="each thread has one write in flight: if the last eighth fills before the older group is synced, each "
    "thread stops once; otherwise none does",
    slept="writes sleep only above 7/8 of the group, and only until the older group is synced; by then, the sleeping "
    "threads may or may not fill the last eighth",
    passed="the writes that pass are the group minus those that sleep or stop; while a thread is stopped it writes "
    "nothing else, and its stopped write starts the next group",
)


def _judge(system: System, given: Mapping[str, float], seed: int) -> list[Evidence]:
    found = counts(system, seed)
    return [
        _close(f"{name}, {system}", given[name], found[name], WITHIN_PERCENT[name], seed, why)
        for name, why in WHY.items()
    ]


def _close(what: str, given: float, truth: float, within: float, seed: int, why: Mistake) -> Evidence:
    if truth < NONE_LESS_THAN:
        return Evidence(what, given, "0", given < NONE_LESS_THAN, "writes", seed).because(why)
    return near(what, given, truth, within_percent=within, unit="writes", seed=seed, why=why)


SHAPE = Shape(
    id="throttle-sum",
    what="pool",
    kinds={"paced": _paced, "few": _few, "many": _many},
    questions=QUESTIONS,
    near=_near,
    judge=_judge,
    parts=3,
    gives=Fields(dict.fromkeys(COUNTS, Number(at_least=0))),
    hints=(
        "When is 7/8 of the group full? Until when does the older group sync? Between the two, writes sleep.",
        "In that time each thread makes one write per tick. Is that more or less than an eighth of the group?",
        "If it is more, an eighth sleeps and every thread stops once; the other 7/8 pass, minus the stopped writes.",
    ),
    seeds=1,
)
system, briefing = SHAPE.own, SHAPE.briefing
ASSIGNMENT, check, hint = SHAPE.exercise()
