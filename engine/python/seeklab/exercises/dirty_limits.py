"""The assignment on the page cache: a bulk writer and a log that must not wait share a machine.

A rule gives the machine's thresholds, and where the log lies. It is judged on machines that the seed draws, over a
minute, by the log's slowest writes and by the bytes that the bulk writer got rid of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seeklab._case import case as load_case
from seeklab.exercises._shapes import Shape, System, at_least, at_most, named
from seeklab.judge import Choice, Evidence, Fields, Number

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

CASE = "ordered-journal"
MINUTE_S = 60
SYNCS_PER_S = 20
SHARE = 95
"""Per cent of its bytes that the bulk writer must be rid of within the minute."""
MEMORY_GB = 120
MB = 1_000_000
DEPTH = 32
"""Requests of the write-back in flight."""
SOON_S = 5
"""Who has old data looked for sooner hopes for much of it."""

QUESTIONS = {
    "commit_s": "The thresholds are 12 GB and 24 GB. How many seconds does the slowest log write of the minute take?"
}


def _drawn(source: random.Random, disk: tuple[int, int], patience: tuple[int, int]) -> System:
    disk_mb = source.randrange(*disk)
    bulk_mb = round(disk_mb * source.uniform(1.4, 1.8))
    burst_s = round(MINUTE_S * source.uniform(0.6, 0.7) * disk_mb / bulk_mb)
    known = {
        "disk_mb": disk_mb,
        "bulk_mb": bulk_mb,
        "burst_s": burst_s,
        "patience_ms": source.randrange(*patience, 10),
    }
    told = (
        f"{MEMORY_GB} GB of memory that can be dirty; a disk of {disk_mb} MB/s; a file system with a journal in "
        f"ordered mode; a bulk writer that writes {bulk_mb} MB/s for {burst_s} s of each minute; a log with "
        f"{SYNCS_PER_S} synchronous writes a second, each of which may take at most {known['patience_ms']} ms"
    )
    return System(known, told)


def _machine(system: System, plan: Mapping[str, Any]) -> dict[str, Any]:
    size = round(system["bulk_mb"] * system["burst_s"] * MB) >> 20 << 20
    return {
        "page_cache.background": round(plan["background_mb"] * MB),
        "page_cache.limit": round(plan["limit_mb"] * MB),
        "page_cache.expire": round(plan["expire_s"] * 1e9),
        "page_cache.wakeup": round(plan["wakeup_s"] * 1e9),
        "page_cache.throttle_from": "midpoint",
        "page_cache.unjournalled": ["log"] if plan["log"] == "apart" else [],
        "devices[disk].lun.rate": round(system["disk_mb"] * MB),
        "record": {"log": False, "interval": "1s"},
        "jobs": [
            {
                "name": "bulk",
                "rw": "write",
                "bs": "1MiB",
                "size": size,
                "rate": round(system["bulk_mb"] * MB),
                "runtime": "60s",
            },
            {
                "name": "log",
                "rw": "write",
                "bs": 512,
                "size": "1MiB",
                "sync": True,
                "rate_iops": SYNCS_PER_S,
                "time_based": True,
                "runtime": "60s",
            },
        ],
    }


def seen(system: System, plan: Mapping[str, Any], seed: int = 1) -> Mapping[str, float]:
    """Run a minute on a machine: the log's slowest writes, the bulk writer's bytes, and the most that was dirty."""
    changes = _machine(system, plan)
    found = load_case(CASE).with_(changes).run("together", seed=seed).metrics
    size = changes["jobs"][0]["size"]
    return {
        "p99_9_ms": found["log.write_latency_p99_9_ms"],
        "bulk_percent": 100 * found["bulk.write_bytes"] / size,
        "dirty_mb": found["page_cache_dirty_max_bytes"] / MB,
    }


SHIPPED = {"background_mb": 12_000, "limit_mb": 24_000, "expire_s": 30, "wakeup_s": 5, "log": "together"}


def _near(system: System, seed: int) -> dict[str, tuple[float, str]]:
    return {"commit_s": (seen(system, SHIPPED, seed)["p99_9_ms"] / 1000, "s")}


WHY = named(
    high_limit="the limit is so high that seconds' worth of dirty data pile up, and each commit of the log writes "
    "them first; an earlier write-back does not help against a writer that is faster than the disk",
    short_expiry="data that expire this soon are written early, but the limit still lets them pile up: the age says "
    "when data may be written, not when the writer stops",
    one_wait="the limit fits into the patience only once: a synchronous write may have to wait for the data that are "
    "being written when it comes, and then for the data of its own commit",
    queued=f"without a journal the log waits for no commit, but the write-back keeps {DEPTH} requests of 4 MiB in "
    "flight, and the log's write queues behind them",
    idle_disk="the limit is so low that the disk is idle while the writer copies: with a request or less of dirty "
    "data the disk waits for the memory, and the memory for the disk",
)


def _judge(system: System, given: Mapping[str, Any], seed: int) -> list[Evidence]:
    found = seen(system, given, seed)
    patience = system["patience_ms"]
    limit_ms = 1000 * given["limit_mb"] / system["disk_mb"]
    plan = (
        f"{given['background_mb']:.4g} and {given['limit_mb']:.4g} MB, {given['expire_s']:.4g} and "
        f"{given['wakeup_s']:.4g} s, log {given['log']}"
    )
    high = WHY["short-expiry" if given["expire_s"] + given["wakeup_s"] < SOON_S else "high-limit"]
    late = WHY["queued"] if given["log"] == "apart" else WHY["one-wait"] if limit_ms < 2 * patience else high
    return [
        at_most(f"p99.9 of the log, {plan}, {system}", found["p99_9_ms"], patience, "ms", seed, late),
        at_least(
            f"bytes of the bulk writer, {plan}, {system}", found["bulk_percent"], SHARE, "%", seed, WHY["idle-disk"]
        ),
    ]


SHAPE = Shape(
    id="dirty-limits",
    what="machine",
    kinds={
        "usual": lambda source: _drawn(source, (220, 290), (280, 340)),
        "slow": lambda source: _drawn(source, (90, 140), (400, 600)),
        "fast": lambda source: _drawn(source, (450, 640), (150, 220)),
    },
    questions=QUESTIONS,
    near=_near,
    judge=_judge,
    parts=2,
    gives=Fields(
        {
            "background_mb": Number(at_least=0, at_most=48_000),
            "limit_mb": Number(at_least=0.1, at_most=48_000),
            "expire_s": Number(at_least=0, at_most=3600),
            "wakeup_s": Number(at_least=0.1, at_most=3600),
            "log": Choice({"together": "", "apart": WHY["queued"].why}),
        }
    ),
    hints=(
        "How many MB does the disk take within the log's patience? Which of them may a commit have to write?",
        "The writer is faster than the disk, so dirty data rise to the limit, whatever the threshold below it is.",
        "limit_mb = 0.2 * patience_ms / 1000 * disk_mb, background_mb half of it; the other values may stay.",
    ),
    seeds=1,
)
system, briefing = SHAPE.own, SHAPE.briefing
ASSIGNMENT, check, hint = SHAPE.exercise()
