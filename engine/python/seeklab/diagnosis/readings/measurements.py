"""Measurements that say something else than they seem to: dashboards, benchmarks of the client, omitted requests."""

from __future__ import annotations

from math import ceil, log
from typing import TYPE_CHECKING

from seeklab.bring.block import Request, Value
from seeklab.diagnosis.reading import Reading, Strength, count, rate, size
from seeklab.diagnosis.reading import time as in_time
from seeklab.diagnosis.readings.jobs_of import (
    in_flight,
    jobs_of,
    option,
    percentile,
    total_of,
    workers,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from seeklab.bring.block import Block, JobRow

FULL_CORE = 90.0
GIGABIT = (100e6, 125e6)
"""Payload of a full link of 1 Gbit/s."""
NEAR, LESS = 0.5, 0.4
MANY = 5.0
MANY_SLOW = 0.04
LONG_MS = 100.0
MIN_TAIL = 4
LARGE = 1 << 20


def read(blocks: Sequence[Block]) -> Iterator[Reading]:
    """Yield the readings of measurements."""
    rows = list(jobs_of(blocks))
    yield from _omitted(rows)
    for block in blocks:
        values = [record for record in block.records if isinstance(record, Value)]
        if block.tool == "dashboard":
            yield from _dashboard(values, rows)
        elif block.tool == "bonnie":
            yield from _bonnie(values)
        elif block.tool == "zfs-get":
            yield from _data(values)
        elif block.tool == "prometheus":
            yield from _fan_out(values)
        elif block.tool == "oplog":
            yield from _tails([record for record in block.records if isinstance(record, Request)])


def _omitted(rows: Sequence[JobRow]) -> Iterator[Reading]:
    """Count the requests that were due during the longest one and were not sent."""
    for row in rows:
        times, due_per_s = total_of(row), option(row, "rate_iops")
        depth = int(option(row, "iodepth")) or 1
        if not due_per_s or times.max_ms is None or times.mean_ms is None:
            continue
        due = due_per_s * times.max_ms / 1e3
        late = percentile(row, 99.0)
        if due < MANY * depth or times.max_ms < LONG_MS or late is None or times.max_ms < 10 * late:
            continue
        yield Reading(
            "omitted-requests",
            row.job,
            f"The longest request of {row.job} took {in_time(times.max_ms)}. Each of its {workers(row)} connections "
            f"was to send {count(due_per_s)} per second, so {count(due)} were due in that time, and at most {depth} "
            f"was sent. The 99th percentile of {in_time(late)} does not contain the others.",
            f"{count(due_per_s)}/s x {in_time(times.max_ms)} = {count(due)}",
            values={"due": due, "max_ms": times.max_ms, "p99_ms": late},
        )


def _dashboard(values: Sequence[Value], rows: Sequence[JobRow]) -> Iterator[Reading]:
    """Compare a dashboard's rate x latency with what a job has in flight: the rest of the window it was idle."""
    points: dict[str, dict[str, float]] = {}
    window = 0.0
    for value in values:
        if isinstance(value.value, float):
            if value.subject == "window":
                window = value.value
            else:
                points.setdefault(value.subject, {})[value.name] = value.value
    busiest = max(points.values(), key=lambda point: point.get("rate", 0.0), default={})
    rate_, ms = busiest.get("rate"), busiest.get("ms")
    if not rate_ or not ms:
        return
    shown = rate_ * ms / 1e3
    yield Reading(
        "dashboard",
        "dashboard",
        f"The busiest window of {count(window)} s shows {count(rate_)} requests/s at {in_time(ms)}: {count(shown)} in "
        "flight on average.",
        f"{count(rate_)}/s x {in_time(ms)} = {count(shown)}",
        strength=Strength.CONTEXT,
        values={"in_flight": shown, "ms": ms, "window_s": window},
    )
    for row in rows:
        kept, mean = in_flight(row), total_of(row).mean_ms or 0.0
        if kept >= 2 and shown < LESS * kept and abs(ms / max(mean, 1e-9) - 1) < NEAR:
            yield Reading(
                "averaged-over-idle",
                "dashboard",
                f"The dashboard shows {in_time(ms)} and {count(rate_)} requests/s, which is {count(shown)} in flight, "
                f"but {row.job} keeps {count(kept)}. So it works for {100 * shown / kept:.0f}% of the window, at "
                f"{count(kept / ms * 1e3)} requests/s: latency is averaged over requests, throughput over idle time.",
                f"{count(shown)} / {count(kept)} = {shown / kept:.2f}",
                Strength.LAYERS,
                {"share": shown / kept, "window_s": window},
            )


def _bonnie(values: Sequence[Value]) -> Iterator[Reading]:
    """Name what limited each test of Bonnie++: a core of the client, its memory, the link, or waiting."""
    rates = {value.subject: value.value for value in values if value.name == "rate"}
    cores = {value.subject: value.value for value in values if value.name == "cpu" and isinstance(value.value, float)}
    full = [test for test, share in cores.items() if share >= FULL_CORE]
    if full:
        yield Reading(
            "client-core-full",
            "bonnie",
            f"{', '.join(full)}: the test's process takes {count(min(cores[test] for test in full))}% of a core or "
            "more. These rates measure the client's processor.",
            values={"tests": len(full)},
        )
    short = [test for test, value in rates.items() if value == "too short"]
    if short:
        yield Reading(
            "test-in-memory",
            "bonnie",
            f"{', '.join(short)}: too short to be measured. These tests never left the client's memory.",
            values={"tests": len(short)},
        )
    link = [
        test
        for test, value in rates.items()
        if isinstance(value, float)
        and not test.startswith(("seq", "ran", "seeks"))
        and GIGABIT[0] <= value * 1024 <= GIGABIT[1]
        and cores.get(test, 0.0) < FULL_CORE
    ]
    if link:
        moved = max(float(rates[test]) for test in link) * 1024
        yield Reading(
            "link-full",
            "bonnie",
            f"{', '.join(link)}: {rate(moved)} is the payload of a full gigabit link, whatever the server can do.",
            f"{rate(moved)} x 8 = {moved * 8 / 1e9:.2f} Gbit/s",
            values={"tests": len(link)},
        )


def _data(values: Sequence[Value]) -> Iterator[Reading]:
    """Find test data whose blocks the storage removes in part before it compresses the rest."""
    of = {value.name: value.value for value in values if isinstance(value.value, float)}
    removed = {name: of[name] for name in ("zerosremoved", "dedupremoved") if of.get(name, 0.0) >= 20}
    ratio = of.get("compressratio")
    if removed and ratio is not None and ratio < 1.2:
        what = " and ".join(f"{count(share)}% ({name.removesuffix('removed')})" for name, share in removed.items())
        yield Reading(
            "removed-before-compression",
            "data",
            f"{what} of the blocks are removed before the compressor sees them, and the rest does not compress "
            f"({ratio:.2f}x): the data are not what the benchmark's percentage promises.",
            strength=Strength.WORDS,
            values={"removed": max(removed.values()), "ratio": ratio},
        )


def _fan_out(values: Sequence[Value]) -> Iterator[Reading]:
    """Compare the times of servers with those of requests that wait for many of them."""
    of: dict[str, dict[str, float]] = {}
    for value in values:
        if value.name.startswith("p") and isinstance(value.value, float):
            of.setdefault(value.subject, {})[value.name] = value.value
    for whole, times in of.items():
        for part, each in of.items():
            usual = each.get("p50")
            if part == whole or usual is None:
                continue
            slow = [(share, ms) for share, ms in _shares(times) if ms > MANY * usual]
            fast = [(share, ms) for share, ms in _shares(each) if slow and ms < slow[0][1] / 2]
            if not slow or not fast or 1 - slow[0][0] < max(MANY_SLOW, 1.9 * (1 - fast[-1][0])):
                continue
            (most, late), (least, ms) = slow[0], fast[-1]
            servers = max(2, ceil(log(most) / log(least)))
            yield Reading(
                "slow-by-number",
                whole,
                f"{100 * (1 - most):.3g}% of {whole} take {in_time(late)} or more, but {100 * least:.3g}% of {part} "
                f"take at most {in_time(ms)}. A request that waits for {count(servers)} answers or more meets the "
                "slow ones that often.",
                f"1 - {least:g}^{count(servers)} = {1 - least**servers:.2f}",
                Strength.LAYERS,
                {"share": 1 - most, "part_share": 1 - least, "ratio": late / max(usual, 1e-6)},
            )


def _shares(times: dict[str, float]) -> list[tuple[float, float]]:
    """Return percentiles as shares between 0 and 1, in order, each with its time."""
    found = ((float(name[1:]) / 100, ms) for name, ms in times.items() if name[1:].replace(".", "", 1).isdigit())
    return sorted((share, ms) for share, ms in found if 0 < share < 1)


def _tails(rows: Sequence[Request]) -> Iterator[Reading]:
    """Find long reads whose last part is never in memory."""
    for job in dict.fromkeys(row.subject for row in rows):
        reads = [
            row
            for row in rows
            if row.subject == job and row.direction == "read" and row.cached is not None and row.bytes >= LARGE
        ]
        missing = [row.bytes - (row.cached or 0) for row in reads]
        partial = [gap for row, gap in zip(reads, missing, strict=True) if 0 < gap < 0.25 * row.bytes]
        if len(reads) < MIN_TAIL or len(partial) < 0.5 * len(reads):
            continue
        usual = max(set(partial), key=partial.count)
        if partial.count(usual) < 0.7 * len(partial):
            continue
        whole = max({row.bytes for row in reads}, key=[row.bytes for row in reads].count)
        yield Reading(
            "tail-not-in-memory",
            job,
            f"{partial.count(usual)} of {len(reads)} reads of {size(whole)} by {job} find {size(whole - usual)} in "
            f"memory and wait for the last {size(usual)}: read-ahead fetches less than the reader asks for.",
            f"{count(whole)} - {count(whole - usual)} = {count(usual)} bytes",
            Strength.WORDS,
            {"missing": usual, "bytes": whole, "share": partial.count(usual) / len(reads)},
        )
