"""Pools of ZFS: where a request waits, bursts of transaction groups, free space, and log devices."""

from __future__ import annotations

from itertools import pairwise
from statistics import fmean, median
from typing import TYPE_CHECKING

from seeklab.bring.block import Histogram, PoolRow, PoolSample, Value
from seeklab.diagnosis.reading import Reading, Strength, count, rate, size
from seeklab.diagnosis.reading import time as in_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from seeklab.bring.block import Block

FULL = 0.9
MIN_IOS = 1.0
MAX_MEMBERS = 256
MIN_FEED, MAX_FEED = 1e5, 4e7
"""Bytes per second that a feed thread writes to a cache device; a faster flow is not limited by it."""
LIMIT_SHARE = 0.98
"""The ARC's metadata is at its limit from this share on."""
MIN_READS = 1000
MOSTLY_MISSED = 0.5
SUMMARY = (
    ("cache hit ratio share", "arc-hits", "The ARC answers {}% of reads, counted since boot."),
    ("data demand efficiency share", "arc-demand", "It answers {}% of the reads of data that programs wait for."),
    ("data prefetch efficiency share", "arc-prefetch", "It answers {}% of the reads that prefetch data."),
    ("l2arc hit ratio share", "l2arc-hits", "The cache devices answer {}% of the reads that the ARC cannot."),
)
"""Shares in arc_summary, each with its reading."""
"""Fewer reads say nothing about the share of hits."""


def read(blocks: Sequence[Block]) -> Iterator[Reading]:
    """Yield the readings of `zpool iostat`, txgs and arcstats."""
    for block in blocks:
        if block.tool == "zpool-iostat":
            yield from _pools([record for record in block.records if isinstance(record, PoolSample)])
        elif block.tool == "txgs":
            yield from _groups([record for record in block.records if isinstance(record, Value)])
        elif block.tool == "arcstats":
            yield from _arc({record.name: record.value for record in block.records if isinstance(record, Value)})
        elif block.tool == "arcstat":
            yield from _arc_intervals([record for record in block.records if isinstance(record, Value)])
        elif block.tool == "arc_summary":
            yield from _summary({record.name: record.value for record in block.records if isinstance(record, Value)})
        elif block.tool == "zpool-iostat-r":
            yield from _sizes([record for record in block.records if isinstance(record, Histogram)])


def _pools(samples: Sequence[PoolSample]) -> Iterator[Reading]:
    names = dict.fromkeys(row.name for sample in samples for row in sample.rows if row.depth == 0)
    for name in names:
        rows = [row for sample in samples for row in sample.rows if row.depth == 0 and row.name == name]
        active = [row for row in rows if _ios(row) >= MIN_IOS]
        if len(rows) >= 5 and 0 < len(active) <= len(rows) / 2:
            yield from _bursts(name, rows)
        if active:
            yield _use(name, active)
            yield from _waits(name, active)
        last = rows[-1]
        if last.alloc_bytes and last.free_bytes is not None and last.free_bytes > 0:
            share = last.alloc_bytes / (last.alloc_bytes + last.free_bytes)
            if share > FULL:
                yield Reading(
                    "pool-full",
                    name,
                    f"{name} is {100 * share:.0f}% full.",
                    f"{size(last.alloc_bytes)} of {size(last.alloc_bytes + last.free_bytes)}",
                    Strength.WORDS,
                    {"share": share},
                )
        if any(max(row.reads.per_s or 0, row.writes.per_s or 0) > 5e5 for row in rows):
            yield Reading(
                "doubtful",
                name,
                f"{name} shows more than half a million operations per second, which few pools reach: doubtful.",
                strength=Strength.IMPOSSIBLE,
            )
    yield from _leaves(samples)


def _ios(row: PoolRow) -> float:
    return (row.reads.per_s or 0.0) + (row.writes.per_s or 0.0)


def _use(name: str, rows: Sequence[PoolRow]) -> Reading:
    words = []
    values: dict[str, float] = {}
    for kind in ("reads", "writes"):
        per_s = fmean(getattr(row, kind).per_s or 0.0 for row in rows)
        moved = fmean(getattr(row, kind).bytes_per_s or 0.0 for row in rows)
        values |= {f"{kind}_per_s": per_s, f"{kind}_bytes_per_s": moved}
        if per_s >= MIN_IOS:
            values[f"{kind}_bytes"] = moved / per_s
            words.append(f"{count(per_s)} {kind}/s of {size(moved / per_s)} ({rate(moved)})")
    return Reading("pool-use", name, f"{name}: {', '.join(words) or 'almost no operations'}.", values=values)


def _bursts(name: str, rows: Sequence[PoolRow]) -> Iterator[Reading]:
    active = [index for index, row in enumerate(rows) if _ios(row) >= MIN_IOS]
    gaps = [two - one for one, two in pairwise(active)]
    if len(gaps) < 1 or max(gaps) - min(gaps) > 1 or min(gaps) < 2:
        return
    every = median(gaps)
    most = max(rows, key=_ios)
    mean = fmean((row.writes.bytes_per_s or 0.0) for row in rows)
    yield Reading(
        "bursts",
        name,
        f"{name} works in one sample of {count(every)} and is idle in the others: one transaction group every "
        f"{count(every)} intervals. "
        f"On average it writes {rate(mean)}.",
        f"{count(most.writes.per_s or 0)} writes in {len(active)} of {len(rows)} samples",
        values={"every": every, "bytes_per_s": mean},
    )


def _waits(name: str, rows: Sequence[PoolRow]) -> Iterator[Reading]:
    for kind, way in (("reads", "read"), ("writes", "write")):
        pairs = [
            (getattr(row, kind).per_s or 0.0, row.waits_ms[f"total {way}"], row.waits_ms[f"disk {way}"])
            for row in rows
            if f"total {way}" in row.waits_ms
            and f"disk {way}" in row.waits_ms
            and (getattr(row, kind).per_s or 0.0) >= MIN_IOS
        ]
        if not pairs:
            continue
        weight = sum(per_s for per_s, _, _ in pairs)
        total = sum(per_s * wait for per_s, wait, _ in pairs) / weight
        disk = sum(per_s * wait for per_s, _, wait in pairs) / weight
        per_s = weight / len(pairs)
        held = per_s * disk / 1e3
        where = "in the disks" if disk > 0.7 * total else "in the queues of ZFS, above the disks"
        yield Reading(
            "pool-wait",
            name,
            f"{name}: a {way} takes {in_time(total)}, {in_time(disk)} of it in the disk, so most of the time is "
            f"{where}. Flushes are not in "
            "these times.",
            f"{count(per_s)}/s x {in_time(disk)} = {count(held)} in flight at the disks",
            values={
                f"{way}_total_ms": total,
                f"{way}_disk_ms": disk,
                "held": held,
                "is_write": float(way == "write"),
                "per_s": per_s,
                "queued_share": 1 - disk / total if total else 0.0,
            },
        )
    for row in rows[-1:]:
        for cls, (pending, active) in row.queues.items():
            if pending >= 10:
                yield Reading(
                    "pool-queue",
                    name,
                    f"{name}: {count(pending)} requests wait in the class {cls}, {count(active)} are at the disks.",
                    values={"pending": pending, "active": active},
                )
            if cls in ("scrubq_read", "rebuildq_write") and active >= 1:
                yield Reading(
                    "scan-queue",
                    name,
                    f"{name} runs a {'scrub or resilver' if cls == 'scrubq_read' else 'rebuild'}: {count(active)} "
                    "of its "
                    f"requests are at the disks, {count(pending)} wait.",
                    values={"pending": pending, "active": active},
                )


def _leaves(samples: Sequence[PoolSample]) -> Iterator[Reading]:
    """Compare the members of a vdev, and name a log device that works alone."""
    last: dict[str, list[PoolRow]] = {}
    logs: dict[str, list[PoolRow]] = {}
    for sample in samples:
        deepest = [
            row
            for index, row in enumerate(sample.rows)
            if index + 1 == len(sample.rows) or sample.rows[index + 1].depth <= row.depth
        ]
        for row in deepest:
            if row.role == "log":
                logs.setdefault(row.name, []).append(row)
            elif row.role == "data" and row.depth > 0:
                last.setdefault(row.name, []).append(row)
    yield from _logs(logs)
    yield from _caches(samples)
    if 2 <= len(last) <= MAX_MEMBERS:
        yield from _random_reads(last)
        yield from _members(last)


def _logs(logs: Mapping[str, Sequence[PoolRow]]) -> Iterator[Reading]:
    for name, rows in logs.items():
        per_s = fmean(row.writes.per_s or 0.0 for row in rows)
        moved = fmean(row.writes.bytes_per_s or 0.0 for row in rows)
        if per_s >= MIN_IOS:
            yield Reading(
                "log-device",
                name,
                f"The log device {name} takes {count(per_s)} writes/s of {size(moved / per_s)}: synchronous writes.",
                values={"per_s": per_s, "bytes": moved / per_s},
            )


def _caches(samples: Sequence[PoolSample]) -> Iterator[Reading]:
    """Find cache devices that fill slowly and serve few of the reads."""
    rows = [row for sample in samples for row in sample.rows]
    caches = [row for row in rows if row.role == "cache"]
    pools = [row for row in rows if row.depth == 0]
    if not caches or not pools:
        return
    fed = sum(row.writes.bytes_per_s or 0.0 for row in caches) / len(samples)
    served = sum(row.reads.bytes_per_s or 0.0 for row in caches) / len(samples)
    disks = sum(row.reads.bytes_per_s or 0.0 for row in pools) / len(samples)
    if fed > MIN_FEED and disks > MIN_FEED and served < disks and fed < MAX_FEED:
        share = served / (served + disks)
        yield Reading(
            "cache-fills",
            caches[0].name,
            f"The cache device takes {rate(fed)} and serves {rate(served)}; the disks serve {rate(disks)}, "
            f"{100 * (1 - share):.0f}% of the reads. It is being filled: 100 GB would take "
            f"{count(100e9 / fed / 3600)} h at this rate.",
            f"100 GB / {rate(fed)} = {count(100e9 / fed / 3600)} h",
            values={"fed_bytes_per_s": fed, "share": share},
        )


def _random_reads(last: Mapping[str, Sequence[PoolRow]]) -> Iterator[Reading]:
    reads = [fmean(row.reads.per_s or 0.0 for row in rows) for rows in last.values()]
    sizes = [
        fmean(row.reads.bytes_per_s or 0.0 for row in rows) / per_s
        for rows, per_s in zip(last.values(), reads, strict=True)
        if per_s >= MIN_IOS
    ]
    if sizes and 30 <= median(reads) <= 250 and median(sizes) < 64 << 10:
        yield Reading(
            "random-reads-per-disk",
            f"{len(sizes)} disks",
            f"Each disk does {count(median(reads))} reads/s of {size(median(sizes))}: the random rate of a disk.",
            values={"per_s": median(reads), "bytes": median(sizes)},
        )


def _members(last: Mapping[str, Sequence[PoolRow]]) -> Iterator[Reading]:
    loads = {name: fmean(_ios(row) for row in rows) for name, rows in last.items()}
    waits = {
        name: fmean(
            wait for row in rows if (wait := row.waits_ms.get("disk write", row.waits_ms.get("disk read"))) is not None
        )
        for name, rows in last.items()
        if any("disk write" in row.waits_ms or "disk read" in row.waits_ms for row in rows)
    }
    if len(waits) > 1:
        slow = max(waits, key=lambda name: waits[name])
        usual = median(wait for name, wait in waits.items() if name != slow)
        if waits[slow] > 3 * max(usual, 0.05) and loads[slow] < 2 * median(loads.values()) and waits[slow] > 2:
            yield Reading(
                "peers-differ",
                slow,
                f"{slow} takes {in_time(waits[slow])} per request, its peers {in_time(usual)}.",
                f"{in_time(waits[slow])} / {in_time(usual)} = {count(waits[slow] / max(usual, 1e-3))}",
                Strength.PEERS,
                {
                    "ratio": waits[slow] / max(usual, 1e-3),
                    "load": loads[slow] / max(median(loads.values()), 1e-9),
                    "ms": waits[slow],
                    "members": len(waits),
                },
            )


def _groups(values: Sequence[Value]) -> Iterator[Reading]:
    groups: dict[str, dict[str, float]] = {}
    for value in values:
        if isinstance(value.value, float):
            groups.setdefault(value.subject, {})[value.name] = value.value
    whole = [group for group in groups.values() if group.get("stime") and group.get("nwritten")]
    if not whole:
        return
    seconds = [group["stime"] / 1e3 for group in whole]
    speeds = [group["nwritten"] / (group["stime"] / 1e3) for group in whole]
    dirty = [group.get("ndirty", group["nwritten"]) for group in whole]
    yield Reading(
        "txg-sync",
        "transaction groups",
        f"Transaction groups of {size(median(dirty))} take {count(min(seconds))} to {count(max(seconds))} s to sync: "
        f"{rate(min(speeds))} to {rate(max(speeds))}.",
        f"{size(whole[0]['nwritten'])} / {count(seconds[0])} s = {rate(speeds[0])}",
        values={"s": median(seconds), "bytes_per_s": median(speeds)},
    )


def _arc(values: dict[str, float | str]) -> Iterator[Reading]:
    numbers = {name: value for name, value in values.items() if isinstance(value, float)}
    for used, limit, what in (
        ("arc_meta_used", "arc_meta_limit", "metadata"),
        ("dnode_size", "arc_dnode_limit", "dnodes"),
    ):
        if numbers.get(limit):
            share = numbers.get(used, 0.0) / numbers[limit]
            if share > LIMIT_SHARE:
                yield Reading(
                    "arc-metadata-limit",
                    "ARC",
                    f"The {what} of the ARC are at their limit: {100 * share:.1f}% of {size(numbers[limit])}.",
                    f"{used} / {limit} = {share:.3f}",
                    values={"share": share},
                )
    if numbers.get("c_max") and numbers.get("size", 0.0) > LIMIT_SHARE * numbers["c_max"]:
        yield Reading(
            "arc-full",
            "ARC",
            f"The ARC has its maximum size, {size(numbers['c_max'])}.",
            values={"share": numbers["size"] / numbers["c_max"]},
        )
    hits, misses = numbers.get("hits"), numbers.get("misses")
    if hits and misses and hits + misses > MIN_READS:
        yield Reading(
            "arc-hits",
            "ARC",
            f"The ARC answers {100 * hits / (hits + misses):.0f}% of reads, counted since boot.",
            strength=Strength.CONTEXT,
            values={"share": hits / (hits + misses)},
        )
    yield from _metadata_misses(numbers)


def _metadata_misses(numbers: dict[str, float]) -> Iterator[Reading]:
    """Find metadata that the ARC does not hold: each file then costs reads of its own."""
    hits, misses = (numbers.get(f"demand_metadata_{what}", 0.0) for what in ("hits", "misses"))
    if hits + misses > MIN_READS and misses > MOSTLY_MISSED * (hits + misses):
        yield Reading(
            "arc-metadata-misses",
            "ARC",
            f"The ARC has only {100 * hits / (hits + misses):.0f}% of the metadata that are asked for, counted since "
            "boot.",
            f"{count(hits)} / ({count(hits)} + {count(misses)}) = {hits / (hits + misses):.2f}",
            strength=Strength.CONTEXT,
            values={"share": hits / (hits + misses)},
        )


def _arc_intervals(values: Sequence[Value]) -> Iterator[Reading]:
    """Yield the share of reads that the ARC answers in the intervals of arcstat."""
    totals = {
        name: sum(value.value for value in values if value.name == name and isinstance(value.value, float))
        for name in ("read", "hits", "miss")
    }
    reads = totals["read"] or totals["hits"] + totals["miss"]
    if reads > MIN_READS and (totals["hits"] or totals["miss"]):
        share = totals["hits"] / reads if totals["hits"] else max(0.0, 1 - totals["miss"] / reads)
        yield Reading(
            "arc-hits",
            "ARC",
            f"The ARC answers {100 * share:.0f}% of {count(reads)} reads.",
            strength=Strength.CONTEXT,
            values={"share": share},
        )


def _summary(values: dict[str, float | str]) -> Iterator[Reading]:
    """Yield what arc_summary says; the case of its names changed with its versions."""
    of = {name.lower(): value for name, value in values.items() if isinstance(value, float)}
    meta = of.get("metadata cache size (current) share")
    if meta is not None and meta > 100 * LIMIT_SHARE:
        yield Reading(
            "arc-metadata-limit",
            "ARC",
            f"The metadata of the ARC are at their limit: {meta:.1f}%.",
            values={"share": meta / 100},
        )
    for name, id_, sentence in SUMMARY:
        if (share := of.get(name)) is not None:
            yield Reading(
                id_, "ARC", sentence.format(f"{share:.0f}"), strength=Strength.CONTEXT, values={"share": share / 100}
            )
    throttled = of.get("memory throttle count", 0.0)
    if throttled:
        yield Reading(
            "arc-throttled",
            "ARC",
            f"ZFS held writes back {count(throttled)} times since boot because memory was short.",
            strength=Strength.CONTEXT,
            values={"times": throttled},
        )


def _sizes(histograms: Sequence[Histogram]) -> Iterator[Reading]:
    for histogram in histograms:
        total = sum(number for _, _, number in histogram.buckets)
        small = sum(number for _, upper, number in histogram.buckets if upper <= 16 << 10)
        if total > 100 and small > 0.8 * total and "write" in histogram.subject and histogram.subject.endswith("ind"):
            yield Reading(
                "small-writes",
                histogram.subject,
                f"{100 * small / total:.0f}% of {histogram.subject} requests have at most 16 KiB.",
                values={"share": small / total},
            )
