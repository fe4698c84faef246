"""Writes that end in memory: throttles, delays, dirty data, and how they show in an application's times."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from seeklab.bring.block import Histogram, PoolSample, Value
from seeklab.diagnosis.intervals import devices_of, tables
from seeklab.diagnosis.reading import Reading, count, rate, size
from seeklab.diagnosis.reading import time as in_time
from seeklab.diagnosis.readings.jobs_of import (
    is_full,
    is_paced,
    is_sync,
    jobs_of,
    may_sync,
    option,
    percentile,
    request_bytes,
    total_of,
    workers,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from seeklab.bring.block import Block, JobRow

STOP_MS = 500.0
MEMORY_MS = 20.0
"""A write that ends in memory takes microseconds, or a tick or two of a throttle that sleeps."""
FAR = 50.0
"""A stop is this many times as long as the middle write."""
DELAY_FROM = 0.6
"""OpenZFS delays writes from this share of dirty data on."""
NEAR = 0.3
TICK_MS = 10.0
ONE_TIME = 0.9
LONG_S, PART = 2.5, 0.2
"""A sync of this length is long, and a read that takes this part of it waits for it."""
MANY = 0.4
SUSTAINED = 4.0
ONCE = 0.5


def read(blocks: Sequence[Block]) -> Iterator[Reading]:
    """Yield the readings of the write path."""
    rows = [row for row in jobs_of(blocks) if row.direction == "write"]
    for row in rows:
        yield from _stop_and_go(row)
        yield from _even(row)
    values = [record for block in blocks for record in block.records if isinstance(record, Value)]
    dirty = _of(values, "dirty", "used"), _of(values, "dirty", "max")
    writes = {name: sum(_of(values, "writes", name)) for name in ("not delayed", "delayed", "stopped")}
    yield from _dirty(*dirty)
    yield from _delays(writes, _delay_histogram(blocks))
    yield from _buffer(rows, dirty[1], _pool_rate(blocks), writes)
    yield from _syncs(_of(values, "sync", "took"))
    yield from _reads_in_sync(blocks, [*_of(values, "sync", "took"), *_txg_seconds(values)])
    yield from _waits_for_data(rows, blocks)


def _of(values: Sequence[Value], subject: str, name: str) -> list[float]:
    return [
        value.value
        for value in values
        if value.subject == subject and value.name == name and isinstance(value.value, float)
    ]


def _stop_and_go(row: JobRow) -> Iterator[Reading]:
    """Find writers that run at the speed of memory and then stop together."""
    times = total_of(row)
    middle, longest = percentile(row, 50.0), times.max_ms
    if middle is None or longest is None or times.mean_ms is None or may_sync(row) or is_paced(row):
        return
    if not is_full(row):
        return  # the load, not a limit, decides how many wait
    if row.runtime_s and longest > ONCE * 1e3 * row.runtime_s:
        return  # a single wait, such as that of a sync at the end
    if longest >= STOP_MS and middle <= MEMORY_MS and longest > FAR * middle and times.mean_ms > 2 * middle:
        share = 1 - middle / times.mean_ms
        yield Reading(
            "stop-and-go",
            row.job,
            f"Half of the writes of {row.job} take at most {in_time(middle)}, the longest {in_time(longest)}, and the "
            f"mean is {in_time(times.mean_ms)}: {100 * share:.0f}% of the writers' time is in the few that stop. They "
            "run at the speed of memory, and then all stop.",
            f"{in_time(longest)} / {in_time(middle)} = {count(longest / max(middle, 1e-3))}",
            values={
                "p50_ms": middle,
                "max_ms": longest,
                "mean_ms": times.mean_ms,
                "share": share,
                "workers": workers(row),
            },
        )


def _even(row: JobRow) -> Iterator[Reading]:
    """Find writes that nearly all take the time of a timer's tick."""
    middle, late = percentile(row, 50.0), percentile(row, 95.0)
    early = percentile(row, 30.0) or percentile(row, 20.0)
    if middle is None or late is None or may_sync(row):
        return
    if abs(middle / TICK_MS - 1) < NEAR and late < 2.2 * middle and (early is None or early > 0.4 * middle):
        yield Reading(
            "every-write-a-tick",
            row.job,
            f"The writes of {row.job} take {in_time(middle)} in the middle and at most {in_time(late)} in 95 of 100: "
            "each waits for one or two ticks of 10 ms.",
            values={"p50_ms": middle, "p95_ms": late},
        )


def _dirty(used: Sequence[float], most: Sequence[float]) -> Iterator[Reading]:
    if not used or not most or not most[-1]:
        return
    share, usual = max(used) / most[-1], median(used) / most[-1]
    delayed = "above 60% writes are delayed" if share >= DELAY_FROM else "below 60% no write is delayed"
    yield Reading(
        "dirty-data",
        "dirty data",
        f"{size(median(used))} of {size(most[-1])} are dirty when a group starts to sync ({100 * usual:.0f}%, at most "
        f"{100 * share:.0f}%): {delayed}.",
        f"{size(max(used))} / {size(most[-1])} = {share:.2f}",
        values={"share": share, "usual": usual, "max_bytes": most[-1]},
    )


def _delay_histogram(blocks: Sequence[Block]) -> Histogram | None:
    found = (
        record
        for block in blocks
        if block.tool == "dtrace"
        for record in block.records
        if isinstance(record, Histogram) and record.subject == "delay"
    )
    return next(found, None)


def _delays(writes: Mapping[str, float], delays: Histogram | None) -> Iterator[Reading]:
    total = sum(writes.values())
    if not total:
        return
    share = writes["delayed"] / total
    if writes["delayed"] or writes["stopped"]:
        yield Reading(
            "writes-held-back",
            "write throttle",
            f"Of {count(total)} writes, {count(writes['delayed'])} were delayed ({100 * share:.0f}%) and "
            f"{count(writes['stopped'])} were stopped.",
            values={"delayed": share, "stopped": writes["stopped"], "total": total},
        )
    if delays is None or not delays.buckets:
        return
    number = sum(part for _, _, part in delays.buckets)
    low, high, most = max(delays.buckets, key=lambda bucket: bucket[2])
    if number and most > ONE_TIME * number and low <= TICK_MS <= high and not writes["stopped"]:
        few = share < MANY
        yield Reading(
            "delays-of-one-tick",
            "write throttle",
            f"{100 * most / number:.0f}% of the delays take {in_time(low)} to {in_time(high)}, a tick of 10 ms, and no "
            f"write stops. {100 * share:.0f}% of all writes are delayed"
            f"{': only those that come late in a group.' if few else ': not only those that come late in a group.'}",
            f"{count(most)} / {count(number)} = {most / number:.2f}",
            values={"delayed": share, "is_few": float(few)},
        )


def _pool_rate(blocks: Sequence[Block]) -> float | None:
    """Return the pool's rate while it writes."""
    rates = [
        row.writes.bytes_per_s or 0.0
        for block in blocks
        for sample in block.records
        if isinstance(sample, PoolSample)
        for row in sample.rows
        if row.depth == 0
    ]
    if rates:
        return max(rates) or None
    # Of iostat, the rate while the devices are busy.
    devices = [device for block in tables(blocks) for device in devices_of(block) if device.per_s("writes") > 0]
    return sum(device.bytes_per_s / device.busy for device in devices if device.busy) or None


def _buffer(
    rows: Sequence[JobRow], most: Sequence[float], disks: float | None, writes: Mapping[str, float]
) -> Iterator[Reading]:
    """Compare what a burst leaves unwritten with the buffer that must hold it."""
    for row in rows:
        asked = option(row, "rate") * workers(row)
        seconds = row.runtime_s or option(row, "runtime")
        if not (asked and seconds and most and most[-1] and disks and writes["delayed"]):
            continue
        if asked > SUSTAINED * disks:
            continue  # no buffer helps against a load that the disks never catch up with
        left = (asked - disks) * seconds
        room = DELAY_FROM * most[-1]
        if left > room:
            yield Reading(
                "burst-exceeds-buffer",
                row.job,
                f"{row.job} writes {rate(asked)} for {count(seconds)} s and the disks take {rate(disks)}: {size(left)} "
                f"must wait in memory, but writes are delayed from {size(room)} on.",
                f"({rate(asked)} - {rate(disks)}) x {count(seconds)} s = {size(left)}",
                values={"left_bytes": left, "room_bytes": room, "ratio": left / room},
            )


def _syncs(seconds: Sequence[float]) -> Iterator[Reading]:
    if seconds:
        yield Reading(
            "sync-times",
            "transaction groups",
            f"A sync takes {count(median(seconds))} s, the longest {count(max(seconds))} s.",
            values={"s": median(seconds), "max_s": max(seconds)},
        )


def _txg_seconds(values: Sequence[Value]) -> list[float]:
    return [
        value.value / 1e3
        for value in values
        if value.subject.startswith("txg ") and value.name == "stime" and isinstance(value.value, float)
    ]


def _reads_in_sync(blocks: Sequence[Block], seconds: Sequence[float]) -> Iterator[Reading]:
    """Find reads whose slowest wait for a large part of a sync."""
    if not seconds:
        return
    usual = median(seconds)
    for row in jobs_of(blocks):
        late = percentile(row, 99.0)
        if row.direction != "read" or late is None or usual < LONG_S:
            continue
        if late > PART * 1e3 * usual:
            yield Reading(
                "reads-wait-for-sync",
                row.job,
                f"1% of the reads of {row.job} take {in_time(late)} or more, and a group of writes takes "
                f"{count(usual)} s to sync. A read that meets the end of a group waits for it.",
                f"{in_time(late)} / {count(usual)} s = {late / 1e3 / usual:.2f}",
                values={"p99_ms": late, "s": usual},
            )


def _waits_for_data(rows: Sequence[JobRow], blocks: Sequence[Block]) -> Iterator[Reading]:
    """Compare the time of a small durable write with the time to write what others left in memory."""
    written = [
        device.bytes_per_s
        for block in tables(blocks)
        for device in devices_of(block)
        if not device.is_stacked and device.per_s("writes") > 0
    ]
    if not written:
        return
    disks = sum(written)
    if not disks:
        return
    for row in rows:
        ms = total_of(row).mean_ms
        if ms is None or ms < 1000 or request_bytes(row) > 64 << 10:
            continue
        left = sum(
            (other.bytes_per_s or 0.0) * (other.runtime_s or 0.0)
            for other in rows
            if other is not row and not is_sync(other) and (other.bytes_per_s or 0.0) > 1.5 * disks
        )
        seconds = left / disks
        if left and NEAR < 1e3 * seconds / ms < 1 / NEAR and abs(1e3 * seconds / ms - 1) < 0.5:
            yield Reading(
                "sync-behind-data",
                row.job,
                f"A durable write of {size(request_bytes(row))} by {row.job} takes {in_time(ms)}. Others left "
                f"{size(left)} in memory, faster than the disk writes, and the disk needs {count(seconds)} s for it.",
                f"{size(left)} / {rate(disks)} = {count(seconds)} s",
                values={"ms": ms, "bytes": left, "s": seconds},
            )
