"""The assignment on the page cache: a bulk writer and a log that must not wait share a machine.

A rule returns the machine's thresholds and the location of the log. The check draws machines and runs a minute. It
measures the log's slowest writes and the bytes that the bulk writer completes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seeklab._case import case as load_case
from seeklab._question import Question
from seeklab.exercises._shapes import Shape, System, at_least, at_most, named
from seeklab.judge import Choice, Evidence, Fields, Number

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

CASE = "ordered-journal"
MINUTE_S = 60
SYNCS_PER_S = 20
SHARE = 95
"""Share of its bytes, in %, that the bulk writer must complete within the minute."""
MEMORY_GB = 120
MB = 1_000_000
DEPTH = 32
"""Write-back requests in flight."""
SOON_S = 5
"""A shorter time from dirty to written, in s, means that the learner relies on early write-back."""

QUESTIONS = {
    "commit_s": Question(
        "The thresholds are 12 GB and 24 GB. How many seconds does the slowest log write of the minute take?", unit="s"
    )
}


def _drawn(source: random.Random, disk: tuple[int, int], patience: tuple[int, int]) -> System:
    disk_mb = source.randrange(*disk)
    bulk_mb = round(disk_mb * source.uniform(1.4, 1.8))
    burst_s = round(MINUTE_S * source.uniform(0.6, 0.7) * disk_mb / bulk_mb)
    known = {
        "disk_mb": disk_mb,
        "bulk_mb": bulk_mb,
        "burst_s": burst_s,
        "patience_ms": source.randrange(*patience),
    }
    told = (
        f"{MEMORY_GB} GB of dirtyable memory; a disk of {disk_mb} MB/s; a file system with a journal in ordered "
        f"mode; a bulk writer that writes {bulk_mb} MB/s for {burst_s} s of each minute; a log with {SYNCS_PER_S} "
        f"synchronous writes a second, at most {known['patience_ms']} ms each"
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
    """Run a minute on a machine: the log's slowest writes, the bulk writer's bytes, and the peak of dirty data."""
    changes = _machine(system, plan)
    found = load_case(CASE).with_(changes).run("together", seed=seed).metrics
    size = changes["jobs"][0]["size"]
    return {
        "p99_9_ms": found["log.write_latency_p99_9_ms"],
        "bulk_percent": 100 * found["bulk.write_bytes"] / size,
        "dirty_mb": found["page_cache_dirty_max_bytes"] / MB,
    }


SHIPPED = {"background_mb": 12_000, "limit_mb": 24_000, "expire_s": 30, "wakeup_s": 5, "log": "together"}


def _near(system: System, seed: int) -> dict[str, float]:
    return {"commit_s": seen(system, SHIPPED, seed)["p99_9_ms"] / 1000}


WHY = named(
    high_limit="the limit is so high that each log commit first writes seconds' worth of dirty data; earlier "
    "write-back does not help if the writer is faster than the disk",
    short_expiry="data that expire this soon are written early, but the limit still lets them pile up: the age "
    "permits a write but does not stop the writer",
    one_wait="the disk can write the limit only once in the allowed wait, but a synchronous write may wait twice: for "
    "data already being written, then for its commit's data",
    queued=f"without a journal the log does not wait for a commit, but write-back keeps {DEPTH} requests of 4 MiB in "
    "flight, and the log's write queues behind them",
    idle_disk="the limit is so low that the disk is idle while the writer copies: with so few dirty requests, disk and "
    "memory wait for each other",
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
        # No limit serves two of them: the least that keeps one busy makes the log of another wait too long.
        "disk": lambda source: _drawn(source, (60, 71), (150, 161)),
        "array": lambda source: _drawn(source, (720, 801), (42, 46)),
        "flash": lambda source: _drawn(source, (1580, 1641), (42, 47)),
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
        "How many MB does the disk write within the log's allowed wait? Which of them may a commit have to write?",
        "The writer is faster than the disk, so dirty data reach the limit, whatever the lower threshold is.",
        "Let the disk write the limit in a quarter of the wait that the log allows; keep the ages and the log's place.",
    ),
    seeds=1,
)
system, briefing = SHAPE.own, SHAPE.briefing
ASSIGNMENT, check, hint = SHAPE.exercise()
