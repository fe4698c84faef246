"""Load generators and copies: fio, dd, `time`, osd bench. Readings name the depth and the limit of a measurement."""

from __future__ import annotations

import re
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from seeklab.bring.block import Copy, JobRow, PoolSample, Value
from seeklab.bring.numbers import scaled
from seeklab.diagnosis.intervals import MAX_DEVICES, TOOLS, Device, devices_of
from seeklab.diagnosis.reading import Reading, Strength, count, rate, size
from seeklab.diagnosis.reading import time as in_time
from seeklab.diagnosis.readings.jobs_of import (
    is_full,
    is_paced,
    jobs_of,
    most_in_flight,
    percentile,
    request_bytes,
    total_of,
)
from seeklab.diagnosis.readings.jobs_of import is_sync as syncs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from seeklab.bring.block import Block

PERCENTS = (5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0)
TIMER_MS = 200.0
DEVICE_RATE = 8e9
"""No single device moves more bytes per second."""
SYNC_ENGINES = frozenset(("psync", "sync", "vsync", "pvsync", "pvsync2", "mmap", "ftruncate"))
FIO = frozenset(("fio-text", "fio-json", "fio-terse"))
NEAR = 0.2
FEW = 10
HALF, OUTSIDE_MS = 0.6, 0.3
MEMORY_RATE = 1.0e9
DISK_IOS = (40.0, 400.0)
DISK_MS = 4.0
WITHOUT_FLUSH = 10.0
"""A plain fsync that is faster than a flush by this factor does not flush."""

LEAST_HELD, MIN_WINDOWS, HELD_SPREAD = 100.0, 20.0, 0.002
ROUND_FINE, ROUND_COARSE = 50.0, 100.0
"""Limits on requests are multiples of these."""
SECOND = 3.0
MEMORY_MS = 0.007
"""The fastest drives (Optane) take about 10 us."""
TINY, TINY_US = 4096, 2.0
DISK_STREAM = 60e6
"""Bytes per second that any disk reads in sequence: a faster copy may have reached the device's bandwidth."""


def read(blocks: Sequence[Block]) -> Iterator[Reading]:
    """Yield the readings of load generators."""
    for block in blocks:
        rows = [record for record in block.records if isinstance(record, JobRow)]
        for row in rows:
            yield from _job(row)
            yield from _held(row)
            yield from _memory(row)
        yield from _runs(rows)
        for record in block.records:
            if isinstance(record, Copy):
                yield from _copy(record)
        if block.tool == "ceph-osd-bench":
            yield from _bench(block)
        elif block.tool in ("pveperf", "pg_test_fsync"):
            yield from _fsyncs(block)
    devices = _devices(blocks)
    for row in jobs_of(blocks):
        yield from _two_rates(row, devices)
    yield from _timer(blocks, devices)
    yield from _amplification(blocks)
    yield from _by_setting(blocks)
    yield from _second_read(blocks)


def _memory(row: JobRow) -> Iterator[Reading]:
    """Find requests that no device answers so fast: they came from memory, or went there."""
    mean = total_of(row).mean_ms
    if (
        mean is None
        or not 0 < mean < MEMORY_MS
        or row.sync.mean_ms
        or syncs(row)
        or row.options.get("ioengine") == "null"
    ):
        return
    yield Reading(
        "memory-speed",
        f"{row.job} {row.direction}",
        f"{row.job} {row.direction} takes {in_time(mean)} on average. No drive answers so fast: the page cache or the "
        "ARC did.",
        values={"ms": mean},
    )


def _held(row: JobRow) -> Iterator[Reading]:
    """Find a rate that fio's windows show as constant and round: a limit holds it."""
    of = row.samples
    mean, spread = of.get("avg", 0.0), of.get("stdev", 1e9)
    step = ROUND_FINE if mean < ROUND_FINE * ROUND_COARSE else ROUND_COARSE
    nearest = round(mean / step) * step
    if (
        mean >= LEAST_HELD
        and of.get("samples", 0.0) >= MIN_WINDOWS
        and spread < HELD_SPREAD * mean
        and abs(mean - nearest) < HELD_SPREAD * mean
        and not is_paced(row)
    ):
        yield Reading(
            "round-rate",
            f"{row.job} {row.direction}",
            f"{row.job} {row.direction} makes {nearest:,.0f} requests per second in each of {of['samples']:.0f} "
            "windows: a configured limit on requests.",
            f"{count(of.get('min', mean))} to {count(of.get('max', mean))}, standard deviation {count(spread)}",
            Strength.ROUND,
            {"ios_per_s": nearest, "ms": total_of(row).mean_ms or 0.0},
        )


def _second_read(blocks: Sequence[Block]) -> Iterator[Reading]:
    """Find the same direct read twice, the second time far faster: the first one fetched the blocks from elsewhere."""
    reads = [
        record
        for block in blocks
        for record in block.records
        if isinstance(record, Copy) and "iflag=direct" in record.command and record.bytes and record.seconds
    ]
    for one, two in pairwise(reads):
        if one.command == two.command and (one.seconds or 0.0) > SECOND * (two.seconds or 1e9):
            speeds = [(each.bytes or 0.0) / (each.seconds or 1.0) for each in (one, two)]
            yield Reading(
                "second-read-faster",
                "dd",
                f"The same direct read makes {rate(speeds[0])} the first time and {rate(speeds[1])} the second time: "
                "the device fetched its blocks from elsewhere when they were read first.",
                f"{rate(speeds[1])} / {rate(speeds[0])} = {count(speeds[1] / speeds[0])}",
                values={"ratio": speeds[1] / speeds[0]},
            )


def _options(row: JobRow) -> tuple[int, int, bool]:
    """Return depth, workers and whether a worker waits for each request: the engine ignores the depth, or it is 1."""
    depth = int(scaled(row.options.get("iodepth", "1")) or 1)
    workers = int(scaled(row.options.get("numjobs", "1")) or 1)
    engine = row.options.get("ioengine", "psync")
    return depth, workers, engine in SYNC_ENGINES or depth == 1


def _job(row: JobRow) -> Iterator[Reading]:
    latency = total_of(row)
    if not row.per_s or latency.mean_ms is None:
        yield from _without_times(row)
        return
    depth, workers, is_sync = _options(row)
    expected = workers if is_sync else depth * workers
    name = f"{row.job} {row.direction}"
    sync = row.sync.mean_ms or 0.0
    per_sync = min(1.0, (row.sync.count or row.count or 0.0) / row.count) if row.count and sync else float(bool(sync))
    flight = row.per_s * (latency.mean_ms + sync * per_sync) / 1e3
    ignored = f" iodepth={depth} has no effect with {row.options.get('ioengine')}." if is_sync and depth > 1 else ""
    values = {
        "per_s": row.per_s,
        "ms": latency.mean_ms,
        "in_flight": flight,
        "depth": float(expected),
        "is_write": float(row.direction != "read"),
        "fsync_ms": sync,
        "bytes_per_s": row.bytes_per_s or 0.0,
        "is_direct": float(row.options.get("direct", "0") in ("1", "true")),
        "is_sync": float(syncs(row)),
        "is_paced": float(is_paced(row)),
        "workers": float(workers),
        "ignores_depth": float(is_sync),
        "sync_per_request_ms": sync * per_sync,
        "is_random": float("rand" in row.options.get("rw", "")),
    }
    sum_ = f"{count(row.per_s)}/s x {in_time(latency.mean_ms)} = {count(row.per_s * latency.mean_ms / 1e3)}"
    if sync:
        sum_ = f"{count(row.per_s)}/s x ({in_time(latency.mean_ms)} + {in_time(sync)} of fsync) = {count(flight)}"
    yield Reading(
        "job-use",
        name,
        f"{name}: {count(row.per_s)}/s at "
        f"{in_time(latency.mean_ms)}{f' and {in_time(sync)} for fsync' if sync else ''}, {count(flight)} in flight"
        f"{'' if flight > 1.3 * expected and 'iodepth' not in row.options else f' of {expected} possible'}.{ignored}",
        sum_,
        values=values,
    )
    if row.count is not None and row.count < FEW:
        return  # one or a few requests are no rate
    yield from _limit(row, name, values, sum_)
    yield from _remarks(row, name, values, workers)


def _without_times(row: JobRow) -> Iterator[Reading]:
    name = row.job or "fio"
    if row.per_s:
        moved = f" of {size(row.bytes_per_s / row.per_s)} = {rate(row.bytes_per_s)}" if row.bytes_per_s else ""
        said = f"{count(row.per_s)} {row.direction}s/s{moved}"
    elif row.bytes_per_s:
        said = f"{row.direction}s at {rate(row.bytes_per_s)}"
    else:
        return
    values = {key: value for key, value in (("per_s", row.per_s), ("bytes_per_s", row.bytes_per_s)) if value}
    yield Reading("job-use", name, f"{name}: {said}; times are not in the report.", values=values)


def _limit(row: JobRow, name: str, values: Mapping[str, float], sum_: str) -> Iterator[Reading]:
    """Yield what limits the rate of a job: its depth, its workers, or its syncs."""
    flight, expected, ms = values["in_flight"], values["depth"], values["ms"]
    outside = 1e3 * expected / max(values["per_s"], 1e-9) - ms
    is_open = bool(values["is_sync"]) and not values["fsync_ms"] and not values["is_paced"]
    if is_open and flight < HALF * expected and outside > OUTSIDE_MS:
        yield Reading(
            "time-outside-requests",
            name,
            f"{name} syncs after its writes, and {in_time(outside)} of each {in_time(outside + ms)} are outside the "
            "write: the sync takes it.",
            f"1 s / {count(values['per_s'])} - {in_time(ms)} = {in_time(outside)}",
            values={"ms": outside, "per_s": values["per_s"]},
        )
    sync, is_sync, workers = values["sync_per_request_ms"], bool(values["ignores_depth"]), values["workers"]
    if flight <= 1.3 and expected == 1:
        yield Reading(
            "depth-one",
            name,
            f"{name} has one request in flight: its rate is one divided by the time of a request, not a limit of the "
            "device.",
            sum_,
            values=values,
        )
    if sync > 2 * ms:
        share = sync / (ms + sync)
        yield Reading(
            "fsync-dominates",
            name,
            f"{100 * share:.0f}% of the time of {name} is fsync, {in_time(values['fsync_ms'])} each.",
            sum_,
            values={"share": share, "ms": values["fsync_ms"], "per_s": row.per_s or 0.0},
        )
    if expected > 1 and not is_sync and abs(flight / expected - 1) < NEAR:
        yield Reading(
            "depth-full",
            name,
            f"{name} keeps its {count(expected)} requests in flight; more load would only wait longer.",
            sum_,
            values=values,
        )
    if is_sync and workers > 1 and abs(flight / workers - 1) < NEAR:
        yield Reading(
            "workers-wait",
            name,
            f"All {count(workers)} workers of {name} wait: {count(flight)} requests in flight.",
            sum_,
            values=values,
        )


def _devices(blocks: Sequence[Block]) -> list[Device]:
    """Return the devices of all reports, those that fio names at its end included."""
    reports = (block for block in blocks if block.tool in FIO or block.tool in TOOLS)
    return list(islice((device for block in reports for device in devices_of(block)), MAX_DEVICES))


def _two_rates(row: JobRow, devices: Sequence[Device]) -> Iterator[Reading]:
    """Find a job whose requests take one of two times, each a rate at the job's constant depth, on a busy device."""
    if not is_full(row) or is_paced(row) or not row.per_s:
        return
    busy = [device for device in devices if (device.busy or 0.0) > 0.9]
    held = max((device.in_flight or 0.0 for device in busy), default=0.0)
    if not busy or 0 < held < 0.5 * most_in_flight(row):
        return
    times = [ms for percent in PERCENTS if (ms := percentile(row, percent)) is not None]
    if len(times) < 8 or not times[0]:
        return
    fast, slow = [ms for ms in times if ms < 1.1 * times[0]], [ms for ms in times if ms > 0.95 * times[-1]]
    ratio = times[-1] / times[0]
    if len(fast) < 2 or len(slow) < 2 or len(fast) + len(slow) < len(times) - 1 or ratio < 2.5:
        return
    most = most_in_flight(row)
    rates = most / times[0] * 1e3, most / times[-1] * 1e3
    bytes_ = request_bytes(row)
    if rates[0] * bytes_ > DEVICE_RATE:
        return  # the fast ones are from memory
    yield Reading(
        "two-rates",
        row.job,
        f"Requests of {row.job} take {in_time(times[0])} or {in_time(times[-1])} and nothing in between. With {most} "
        f"in flight these are two rates, {count(rates[0])}/s ({rate(rates[0] * bytes_)}) and {count(rates[1])}/s "
        f"({rate(rates[1] * bytes_)}).",
        f"{most} / {in_time(times[0])}, {most} / {in_time(times[-1])}",
        values={
            "ratio": ratio,
            "write_share": float(row.direction == "write"),
            "ios_before": rates[0],
            "ios_after": rates[1],
            "bytes": bytes_,
        },
    )


def _timer(blocks: Sequence[Block], devices: Sequence[Device]) -> Iterator[Reading]:
    """Find requests that take the minimum of TCP's retransmission timer longer than others, with idle devices."""
    if any((device.busy or 0.0) > 0.1 for device in devices):
        return
    for row in jobs_of(blocks):
        middle, longest = percentile(row, 50.0), total_of(row).max_ms
        least = total_of(row).min_ms
        if row.direction != "read" or middle is None or longest is None or least is None or is_paced(row):
            continue
        late = next((ms for percent in PERCENTS if (ms := percentile(row, percent)) and ms > TIMER_MS), None)
        if late is None or least > TIMER_MS / 2 or not TIMER_MS <= late <= TIMER_MS + 2 * least + 10:
            continue
        yield Reading(
            "waits-a-timer",
            row.job,
            f"The fastest request of {row.job} takes {in_time(least)}, many take {in_time(late)}, about 200 ms more: "
            "the minimum of TCP's retransmission timer.",
            f"{in_time(late)} - {in_time(least)} = {in_time(late - least)}",
            values={"ms": late, "least_ms": least},
        )


def _remarks(row: JobRow, name: str, values: Mapping[str, float], workers: int) -> Iterator[Reading]:
    """Yield what else a job shows: the rate of a disk, the page cache, outliers, processor time."""
    latency, ms = total_of(row), values["ms"]
    if DISK_IOS[0] <= values["per_s"] <= DISK_IOS[1] and ms > DISK_MS:
        yield Reading(
            "rate-of-a-disk",
            name,
            f"{name} completes {count(values['per_s'])} requests per second: the random rate of one or a few disks.",
            "",
            values={"per_s": values["per_s"], "is_write": values["is_write"]},
        )
    if "direct" in row.options and values["is_direct"] == 0.0 and row.options.get("ioengine") != "null":
        yield Reading(
            "buffered",
            name,
            f"{name} ran with direct=0: the page cache takes part, so these are not the device's times.",
            "",
            values=values,
        )
    if latency.max_ms and latency.stddev_ms and latency.max_ms > 100 * ms and latency.max_ms > 100:
        yield Reading(
            "rare-outlier",
            name,
            f"The longest request of {name} took {in_time(latency.max_ms)}, the mean is {in_time(ms)}.",
            "",
            values={"ratio": latency.max_ms / ms},
        )
    cores = row.cpu.get("sys", 0.0) * workers / 100 if row.cpu.get("sys", 0.0) <= 100 else row.cpu["sys"] / 100
    if cores >= 2:
        yield Reading(
            "cpu-heavy",
            name,
            f"The system time of {name} is {count(cores)} cores.",
            f"sys {count(row.cpu['sys'])}%",
            values={"cores": cores},
        )


def _runs(rows: Sequence[JobRow]) -> Iterator[Reading]:
    """Compare two runs of one job in one text: on the volume and on the raw device, say."""
    for one, two in pairwise(rows):
        slow, fast = sorted((one, two), key=lambda row: row.per_s or 0.0)
        times = total_of(slow).mean_ms, total_of(fast).mean_ms
        if one.job != two.job or one.direction != two.direction or not slow.per_s or not fast.per_s or None in times:
            continue
        longer, shorter = times[0] or 0.0, times[1] or 0.0
        if fast.per_s > 2 * slow.per_s and 0.8 < slow.per_s * longer / max(fast.per_s * shorter, 1e-9) < 1.25:
            yield Reading(
                "runs-differ",
                one.job,
                f"One run of {one.job} takes {in_time(longer)} per request, the other {in_time(shorter)}, with as many "
                "in flight: "
                f"{in_time(longer - shorter)} are spent in what one run has and the other has not.",
                f"{in_time(longer)} - {in_time(shorter)} = {in_time(longer - shorter)}",
                Strength.LAYERS,
                {"ratio": longer / max(shorter, 1e-9)},
            )


def _copy(copy: Copy) -> Iterator[Reading]:
    if not copy.seconds:
        return
    if copy.bytes is None:
        yield Reading(
            "command-time",
            "command",
            f"The command took {count(copy.seconds)} s.",
            strength=Strength.CONTEXT,
            values={"s": copy.seconds},
        )
        return
    speed = copy.bytes / copy.seconds
    match = re.search(r"\bbs=(\S+)", copy.command)
    block = scaled(match[1]) if match else None
    if block is None and copy.calls and copy.command.startswith("dd "):
        block = copy.bytes / copy.calls  # dd's own block is 512 bytes
    calls = copy.calls or (copy.bytes / block if block else None)
    is_write = bool(re.search(r"\bof=(?!/dev/(?:null|zero)\b)\S", copy.command))
    is_synced = bool(re.search(r"sync|direct", copy.command))
    yield Reading(
        "copy",
        "dd",
        f"dd moved {size(copy.bytes)} in {count(copy.seconds)} s: {rate(speed)}.",
        f"{size(copy.bytes)} / {count(copy.seconds)} s = {rate(speed)}",
        values={"bytes_per_s": speed, "is_write": float(is_write), "is_synced": float(is_synced)},
    )
    each = 1e3 * copy.seconds / calls if calls else 0.0
    if (
        calls
        and any(word.startswith("oflag=") and "sync" in word for word in copy.command.split())
        and block
        and block <= 128 << 10
    ):
        yield Reading(
            "fsync-rate",
            "dd",
            f"dd wrote {count(calls)} blocks of {size(block)} and waited for each to be durable: {in_time(each)} each.",
            f"{count(copy.seconds)} s / {count(calls)} = {in_time(each)}",
            values={"per_s": calls / copy.seconds, "ms": each, "bytes": block},
        )
    elif calls and block and block <= 64 << 10 and each > 0.1 and speed < DISK_STREAM:
        yield Reading(
            "call-by-call",
            "dd",
            f"dd made {count(calls)} calls of {size(block)}, one after the other, and each took {in_time(each)}: that "
            "time limits the rate, "
            "not the bandwidth of the device.",
            f"{count(copy.seconds)} s / {count(calls)} = {in_time(each)}",
            values={"ms": each, "bytes": block},
        )
    elif calls and block and block < TINY and 1e3 * each > TINY_US and calls > 1e5:
        yield Reading(
            "tiny-calls",
            "dd",
            f"dd made {count(calls)} calls of {size(block)}, each of {in_time(each)}: the calls take the time, and a "
            "larger block (bs=1M) may be far faster.",
            f"{count(copy.seconds)} s / {count(calls)} = {in_time(each)}",
            values={"ms": each, "bytes": block},
        )
    elif is_write and not is_synced and copy.command and speed > 0.3 * MEMORY_RATE:
        yield Reading(
            "dd-without-sync",
            "dd",
            "dd wrote without a sync (no oflag=dsync or direct, no conv=fsync): it measured the page cache, that is "
            "memory.",
            f"{rate(speed)} without a sync",
            Strength.WORDS,
            {"bytes_per_s": speed},
        )


def _bench(block: Block) -> Iterator[Reading]:
    values: dict[str, dict[str, float]] = {}
    for record in block.records:
        if isinstance(record, Value) and isinstance(record.value, float):
            values.setdefault(record.subject, {})[record.name] = record.value
    for subject, of in values.items():
        if {"iops", "blocksize", "bytes_per_sec"} <= set(of):
            yield Reading(
                "bench-blocks",
                subject,
                f"{subject} wrote {count(of['iops'])} blocks/s of {size(of['blocksize'])}, "
                f"{rate(of['bytes_per_sec'])}: large blocks, so the number of "
                "operations says nothing about small writes.",
                f"{count(of['iops'])}/s x {size(of['blocksize'])} = {rate(of['bytes_per_sec'])}",
                Strength.WORDS,
                {"iops": of["iops"], "bytes": of["blocksize"]},
            )


def _fsyncs(block: Block) -> Iterator[Reading]:
    rates = {
        record.name: record.value
        for record in reversed(block.records)
        if isinstance(record, Value) and isinstance(record.value, float) and record.value
    }
    whole, plain = rates.get("fsync_writethrough"), rates.get("fsync")
    for name in ("fsyncs/second", "fdatasync" if whole is None else "fsync_writethrough"):
        if per_s := rates.get(name):
            yield Reading(
                "fsync-rate",
                "host",
                f"{count(per_s)} fsyncs per second, one after the other: {in_time(1e3 / per_s)} each.",
                f"1 s / {count(per_s)} = {in_time(1e3 / per_s)}",
                values={"per_s": per_s, "ms": 1e3 / per_s},
            )
    if whole and plain and plain > WITHOUT_FLUSH * whole:
        yield Reading(
            "fsync-without-flush",
            "host",
            f"A plain fsync takes {in_time(1e3 / plain)}, one with a flush of the drive {in_time(1e3 / whole)}: "
            "the plain one leaves the data in the drive's cache.",
            f"{count(plain)}/s / {count(whole)}/s = {count(plain / whole)}",
            values={"factor": plain / whole},
        )


def _amplification(blocks: Sequence[Block]) -> Iterator[Reading]:
    """Compare what a job wrote with what the pool wrote."""
    jobs = [
        row
        for block in blocks
        if block.tool in FIO
        for row in block.records
        if isinstance(row, JobRow) and row.direction == "write" and row.bytes_per_s
    ]
    pools = [
        row
        for block in blocks
        for sample in block.records
        if isinstance(sample, PoolSample)
        for row in sample.rows
        if row.depth == 0 and row.writes.bytes_per_s
    ]
    if not jobs or not pools:
        return
    upper = sum(row.bytes_per_s or 0.0 for row in jobs)
    lower = sum(row.writes.bytes_per_s or 0.0 for row in pools) / len(pools)
    if lower > 3 * upper:
        yield Reading(
            "write-amplification",
            pools[0].name,
            f"The job writes {rate(upper)}, and the pool writes {rate(lower)}: {count(lower / upper)} bytes for each "
            "byte.",
            f"{rate(lower)} / {rate(upper)} = {count(lower / upper)}",
            Strength.LAYERS,
            {"ratio": lower / upper},
        )


def _by_setting(blocks: Sequence[Block]) -> Iterator[Reading]:
    """Compare two timed commands under settings that differ in one place."""
    runs: list[tuple[dict[str, str], float]] = []
    settings: dict[str, str] = {}
    for block in blocks:
        if block.tool == "settings":
            settings = {record.name: str(record.value) for record in block.records if isinstance(record, Value)}
        elif settings and block.tool in ("time", "dd"):
            seconds = [record.seconds for record in block.records if isinstance(record, Copy) and record.seconds]
            runs += [(settings, value) for value in seconds[:1]]
            settings = {}
    for (one, fast), (two, slow) in pairwise(runs):
        changed = [name for name in one if two.get(name, one[name]) != one[name]]
        if len(changed) != 1 or not max(fast, slow) > 2 * min(fast, slow):
            continue
        name = changed[0]
        yield Reading(
            "encryption-costs" if name == "encryption" else "setting-costs",
            name,
            f"With {name}={two[name]} the command takes {count(slow)} s, with {name}={one[name]} {count(fast)} s.",
            f"{count(slow)} / {count(fast)} = {count(slow / fast)}",
            Strength.LAYERS,
            {"ratio": slow / fast},
        )
