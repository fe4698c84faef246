"""Single requests and distributions: traces, logs of requests, histograms."""

from __future__ import annotations

import re
from statistics import fmean, median, pstdev
from typing import TYPE_CHECKING

from seeklab.bring.block import Histogram, JobRow, Request, Value
from seeklab.diagnosis.intervals import devices_of, tables
from seeklab.diagnosis.reading import Reading, Strength, count, size
from seeklab.diagnosis.reading import time as in_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from seeklab.bring.block import Block

MIN = 20
TAIL = 10.0
ABOVE = 4.0
BUSY = 0.6
MIN_IOS = 0.5
SHORTEST_MS = 1e-3
LONGEST_MS = 8.64e7
"""A request of a day is a fault of the tool."""
HELD, SLOW_NS = 0.3, 1e8
"""Discards are slow if one is in progress for this share of the time while another request takes this long."""
MAX_ROWS = 200_000
TICK_MS, NEAR_TICK = 10.0, 0.1


def read(blocks: Sequence[Block]) -> Iterator[Reading]:
    """Yield the readings of requests and histograms."""
    yield from _above(blocks)
    for block in blocks:
        rows = [record for record in block.records if isinstance(record, Request)][:MAX_ROWS]
        if rows:
            yield from _requests(rows, "device" if block.tool in ("blkparse", "biosnoop") else "client")
        for record in block.records:
            if isinstance(record, Histogram) and record.unit == "ms":
                yield from _histogram(record, [value for value in block.records if isinstance(value, Value)])


def _above(blocks: Sequence[Block]) -> Iterator[Reading]:
    """Compare the time that a client waits with the time that the devices take."""
    devices = [device for block in tables(blocks) for device in devices_of(block) if device.ios_per_s > MIN_IOS]
    if not devices:
        return
    busy = max(device.busy or 0.0 for device in devices)
    for way, kind in (("read", "reads"), ("write", "writes")):
        client = _client_ms(blocks, way)
        below = max((ms for device in devices if (ms := device.ms(kind)) is not None), default=None)
        if client is None or below is None or busy >= BUSY or client < 1 or client < ABOVE * below:
            continue
        ratio = client / max(below, SHORTEST_MS)
        yield Reading(
            "time-above-devices",
            "client",
            f"A {way} of the client takes {in_time(client)}, the devices take {in_time(below)} and are busy for at "
            f"most {100 * busy:.0f}% of the time: the wait is above the devices.",
            f"{in_time(client)} / {in_time(below)} = {count(ratio)}",
            Strength.LAYERS,
            {"ratio": ratio, "is_write": float(way == "write"), "busy": busy},
        )


def _client_ms(blocks: Sequence[Block], way: str) -> float | None:
    """Return the mean time of a client's request: from single requests, or from a load generator's report."""
    times: list[float] = []
    means: list[tuple[float, float]] = []
    for block in blocks:
        for record in block.records:
            if (
                isinstance(record, Request)
                and block.tool == "oplog"
                and record.direction == way
                and len(times) < MAX_ROWS
            ):
                times.append(record.ns / 1e6)
            elif isinstance(record, JobRow) and record.direction == way and record.per_s:
                ms = record.total.mean_ms if record.total.mean_ms is not None else record.completion.mean_ms
                if ms is not None:
                    means.append((record.per_s, ms))
    if len(times) >= MIN:
        return fmean(times)
    return sum(per_s * ms for per_s, ms in means) / sum(per_s for per_s, _ in means) if means else None


def _requests(rows: Sequence[Request], of: str) -> Iterator[Reading]:
    begin, end = min(row.start_ns for row in rows), max(row.start_ns + row.ns for row in rows)
    flight = sum(row.ns for row in rows) / max(end - begin, 1)
    for way in dict.fromkeys(row.direction for row in rows):
        times = sorted(row.ns / 1e6 for row in rows if row.direction == way)
        sizes = [row.bytes for row in rows if row.direction == way]
        mean, middle = fmean(times), times[len(times) // 2]
        p99 = times[min(len(times) - 1, round(0.99 * len(times)))]
        values = {
            "count": len(times),
            "mean_ms": mean,
            "p50_ms": middle,
            "p99_ms": p99,
            "bytes": fmean(sizes),
            "in_flight": flight,
            "per_s": len(times) / max((end - begin) / 1e9, 1e-9),
            "is_write": float(way == "write"),
            "is_client": float(of == "client"),
            "spread": pstdev(times) / max(mean, 1e-9),
        }
        yield Reading(
            f"{way}-times",
            of,
            f"{len(times):,} {way}s of {size(fmean(sizes))}: {in_time(middle)} in the middle, {in_time(mean)} on "
            "average, the longest "
            f"{in_time(times[-1])}.",
            values=values,
        )
        if len(times) >= MIN and p99 > TAIL * max(middle, 1e-3):
            over = [value for value in times if value >= p99]
            yield Reading(
                "tail",
                f"{of} {way}s",
                f"1% of the {way}s take {in_time(p99)} or more, {count(p99 / max(middle, 1e-3))} times the middle one: "
                "the mean hides them.",
                f"{in_time(p99)} / {in_time(middle)} = {count(p99 / max(middle, 1e-3))}",
                values={"ratio": p99 / max(middle, 1e-3), "share": sum(over) / max(sum(times), 1e-9), **values},
            )
        fast = [value for value in times if value < mean / 4]
        slow = [value for value in times if value > 2 * mean]
        if (
            way == "read"
            and len(times) >= 5 * MIN
            and len(fast) > 0.3 * len(times)
            and len(slow) > 0.05 * len(times)
            and fmean(slow) > 15 * fmean(fast)
        ):
            yield Reading(
                "two-kinds",
                f"{of} {way}s",
                f"{100 * len(fast) / len(times):.0f}% of the {way}s take about {in_time(median(fast))}, "
                f"{100 * len(slow) / len(times):.0f}% about "
                f"{in_time(median(slow))}: some come from a cache, the others wait for a device.",
                f"{in_time(median(slow))} / {in_time(median(fast))} = {count(median(slow) / max(median(fast), 1e-3))}",
                values={"share": len(slow) / len(times)},
            )
        tick = sum(abs(value / TICK_MS - 1) < NEAR_TICK for value in times) / len(times)
        if way == "write" and len(times) >= MIN and tick > 0.3:
            yield Reading(
                "at-a-tick",
                f"{of} writes",
                f"{100 * tick:.0f}% of the writes take 10 ms, the tick of a kernel timer.",
                values={"share": tick},
            )
    discards = [row for row in rows if row.direction == "discard"]
    held = sum(row.ns for row in discards) / max(end - begin, 1)
    others = [row.ns for row in rows if row.direction != "discard"]
    if discards and (
        fmean(row.ns for row in discards) > 5 * median(row.ns for row in rows)
        or (held > HELD and max(others, default=0) > SLOW_NS)
    ):
        row = max(discards, key=lambda row: row.ns)
        yield Reading(
            "discards-slow",
            of,
            f"A discard of {size(row.bytes)} takes {in_time(row.ns / 1e6)}, other requests "
            f"{in_time(median(each.ns for each in rows) / 1e6)}.",
            values={"ms": row.ns / 1e6},
        )
    yield from _places(rows, of)


def _places(rows: Sequence[Request], of: str) -> Iterator[Reading]:
    placed = [row for row in rows if row.offset is not None and row.bytes and row.direction in ("read", "write")]
    if len(placed) < MIN:
        return
    odd = sum((row.offset or 0) % 4096 > 0 for row in placed) / len(placed)
    if odd > 0.8 and all(row.bytes % 4096 == 0 for row in placed[:1000]):
        yield Reading(
            "unaligned",
            of,
            f"{100 * odd:.0f}% of the requests start within a page of 4 KiB, though their sizes are whole pages.",
            values={"share": odd},
        )


QUEUE = re.compile(r" \w{1,20} (?:read|write|ind|agg)$| (?:scrub|trim|rebuild)$")
"""The column of a pool's histogram, which belongs to its name."""
SYNC = re.compile(r"(?<!a)sync(?!q|_queue|_read|_write)")
"""A call that waits for a flush; ZFS's queue classes do not count."""


def _histogram(histogram: Histogram, values: Sequence[Value]) -> Iterator[Reading]:
    total = sum(number for _, _, number in histogram.buckets)
    if not total:
        return
    filled = [bucket for bucket in histogram.buckets if bucket[2]]
    if impossible := [bucket for bucket in filled if bucket[0] > LONGEST_MS]:
        yield Reading(
            "impossible-time",
            histogram.subject.split(" ", maxsplit=1)[0],
            f"{count(sum(bucket[2] for bucket in impossible))} of {total:,.0f} times are longer than "
            f"{count(impossible[0][0] / 8.64e7)} days: the tool's clock is wrong for these, and they are left out.",
            strength=Strength.IMPOSSIBLE,
            values={"ms": impossible[0][0]},
        )
        filled = [bucket for bucket in filled if bucket[0] <= LONGEST_MS]
        total = sum(number for _, _, number in filled)
        if not total:
            return
    low = filled[0][0]
    main = max(filled, key=lambda bucket: bucket[2])
    mean = next(
        (value.value / total for value in values if value.name == "sum" and isinstance(value.value, float)), None
    )
    tail = sum(number for begin, _, number in filled if begin >= 4 * main[1] / 2) / total
    of_mean = f", mean {in_time(mean)}" if mean is not None else ""
    yield Reading(
        "histogram",
        histogram.subject if QUEUE.search(histogram.subject) else histogram.subject.split(" ")[0],
        f"{total:,.0f} times{of_mean}: none below {in_time(low)}, {100 * main[2] / total:.0f}% from {in_time(main[0])} "
        "to "
        f"{in_time(main[1])}, {100 * tail:.1f}% longer than {in_time(2 * main[1])}.",
        values={
            "low_ms": low,
            "main_ms": main[0],
            "main_upper_ms": main[1],
            "main_share": main[2] / total,
            "mean_ms": mean or 0.0,
            "tail": tail,
            "is_sync": float(SYNC.search(histogram.subject) is not None),
            "count": total,
        },
        strength=Strength.RESOURCE,
    )
