"""Scale-free numbers: the properties of a system that do not depend on its size, speed and load.

A feature is a ratio, a share, or a logarithm of a ratio. An incident at twice the load, on disks half as fast,
therefore has nearly the same features. Which features exist depends on the recording; missing ones are not compared.
"""

from __future__ import annotations

from math import log2, log10
from statistics import fmean, median, pstdev
from typing import TYPE_CHECKING

from seeklab.diagnosis.evidence import KIB, MIB, READ, WRITE
from seeklab.diagnosis.summary import mean_devices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seeklab.diagnosis.evidence import Device, Evidence, Op

WINDOWS = 50
"""Number of windows into which the time of a recording is divided."""
MIN_OPS = 20
MIN_IOS = 0.5
STALL_NS = 1_000_000_000
TICK_NS = 10_000_000
NEAR_TICK = 0.1
FLOOR = 1e-3
PAGE = 4 * KIB
NAMES = {
    "read share": "share of reads among the requests",
    "read tail": "99th percentile of reads relative to their median",
    "write tail": "99th percentile of writes relative to their median",
    "read spread": "standard deviation of read times relative to their mean",
    "write spread": "standard deviation of write times relative to their mean",
    "read skew": "mean of reads relative to their median",
    "write skew": "mean of writes relative to their median",
    "write to read time": "time of a write relative to a read",
    "stalled": "share of total time spent in requests of 1 s or longer",
    "at a tick": "share of writes that take about a tick of 10 ms",
    "in bursts": "unevenness of the completions over time",
    "idle windows": "share of the time without a completion",
    "rhythm": "similarity of the completions to those some time later",
    "trend": "whether requests take longer towards the end",
    "sequential": "share of requests that follow the one before",
    "odd sizes": "share of requests whose size is neither a power of two nor a multiple of 4 KiB",
    "unaligned": "share of requests that start within a page",
    "size": "size of a request",
    "time with size": "whether larger requests take longer",
    "crowds": "share of requests far below and far above the median",
    "in flight": "requests in flight",
    "busy": "utilization of the busiest device",
    "uneven devices": "utilization of the busiest device relative to the median one",
    "device queue": "requests at a device",
    "above devices, reads": "time of a client's read relative to a device's",
    "above devices, writes": "time of a client's write relative to a device's",
    "device reads": "bytes read by devices relative to those read by clients",
    "device writes": "bytes written by devices relative to those written by clients",
    "device read size": "size of a device's read relative to a client's",
    "device write size": "size of a device's write relative to a client's",
    "devices": "number of devices in use",
    "device write to read time": "time of a device's write relative to its read",
    "jobs differ": "mean time of the slowest job relative to the fastest",
    "fixed": "share of requests within a tenth of the median",
}
"""A description of each feature."""
SHARES = frozenset(
    (
        *("read share", "stalled", "at a tick", "idle windows", "sequential", "odd sizes", "unaligned", "crowds"),
        *("busy", "fixed"),
    )
)
PLAIN = frozenset(("in bursts", "rhythm", "time with size"))
"""Features that are plain numbers. All others except shares and the size are decimal logarithms of ratios."""
COUNTS = frozenset(("in flight", "device queue", "devices"))
"""Ratios that are counts, not factors."""
LARGE = 10
"""Ratios from this value on are written without decimals."""


def in_words(name: str, value: float) -> str:
    """Return a feature's value as text: 35%, 12x, 64 KiB."""
    if name in SHARES:
        return f"{100 * value:.0f}%"
    if name in PLAIN:
        return f"{value:.2f}"
    if name == "size":
        size = 2 ** (12 + 4 * value)
        return f"{size / MIB:.3g} MiB" if size >= MIB else f"{size / KIB:.3g} KiB"
    ratio = 10**value
    said = f"{ratio:.0f}" if ratio >= LARGE else f"{ratio:.2g}"
    return said if name in COUNTS else f"{said}x"


def features(found: Evidence) -> dict[str, float]:
    """Return the features of a recording by name."""
    values: dict[str, float] = {}
    if found.ops and not found.of_device:
        values |= _of_operations(found.ops)
    elif found.jobs:
        values |= _of_jobs(found)
    if found.devices:
        devices = [device for device in mean_devices(found.devices) if sum(device.ios_per_s) > MIN_IOS]
        values |= _of_devices(devices, found)
    return values


def _ratio(one: float, other: float) -> float:
    """Return the decimal logarithm of a ratio, limited to between a thousandth and a thousand."""
    return max(-3.0, min(3.0, log10(max(one, FLOOR * 1e-3) / max(other, FLOOR * 1e-3))))


def _of_operations(ops: Sequence[Op]) -> dict[str, float]:
    values: dict[str, float] = {"read share": sum(op.direction == READ for op in ops) / len(ops)}
    for way, name in ((READ, "read"), (WRITE, "write")):
        times = sorted(op.latency_ns for op in ops if op.direction == way)
        if len(times) < MIN_OPS:
            continue
        middle, mean = max(times[len(times) // 2], 1), fmean(times)
        values[f"{name} tail"] = _ratio(times[min(len(times) - 1, round(0.99 * len(times)))], middle)
        values[f"{name} spread"] = _ratio(pstdev(times) + 1, mean + 1)
        values[f"{name} skew"] = _ratio(mean + 1, middle)
    by_way = {way: [op.latency_ns for op in ops if op.direction == way] for way in (READ, WRITE)}
    if all(len(times) >= MIN_OPS for times in by_way.values()):
        values["write to read time"] = _ratio(fmean(by_way[WRITE]) + 1, fmean(by_way[READ]) + 1)
    values |= _times(ops) | _windows(ops) | _places(ops)
    return values


def _times(ops: Sequence[Op]) -> dict[str, float]:
    times = sorted(op.latency_ns for op in ops)
    total = sum(times) or 1
    middle = max(times[len(times) // 2], 1)
    writes = [op.latency_ns for op in ops if op.direction == WRITE]
    begin, end = min(op.submit_ns for op in ops), max(op.submit_ns + op.latency_ns for op in ops)
    by_job: dict[tuple[int, int], list[int]] = {}
    for op in ops:
        by_job.setdefault((op.job, op.direction), []).append(op.latency_ns)
    means = [fmean(of) + 1 for of in by_job.values() if len(of) >= MIN_OPS]
    values = {
        "stalled": sum(time for time in times if time >= STALL_NS) / total,
        "crowds": sum(time < middle / 5 or time > middle * 5 for time in times) / len(times),
        "fixed": sum(abs(time / middle - 1) < NEAR_TICK for time in times) / len(times),
        "in flight": _ratio(total / max(end - begin, 1), 1),
        "jobs differ": _ratio(max(means), min(means)) if means else 0.0,
    }
    if len(writes) >= MIN_OPS:
        values["at a tick"] = sum(abs(time / TICK_NS - 1) < NEAR_TICK for time in writes) / len(writes)
    third = len(ops) // 3
    if third >= MIN_OPS:
        in_order = sorted(ops, key=lambda op: op.submit_ns)
        late = fmean(op.latency_ns for op in in_order[-third:]) + 1
        values["trend"] = _ratio(late, fmean(op.latency_ns for op in in_order[:third]) + 1)
    return values


def _windows(ops: Sequence[Op]) -> dict[str, float]:
    begin, end = min(op.submit_ns for op in ops), max(op.submit_ns + op.latency_ns for op in ops)
    width = max((end - begin) / WINDOWS, 1)
    counts = [0] * WINDOWS
    for op in ops:
        counts[min(WINDOWS - 1, int((op.submit_ns + op.latency_ns - begin) / width))] += op.bytes
    mean = fmean(counts) or 1
    spread = [count / mean - 1 for count in counts]
    power = sum(value * value for value in spread) or 1
    likeness = [
        sum(one * other for one, other in zip(spread, spread[lag:], strict=False)) / power
        for lag in range(2, WINDOWS // 2)
    ]
    return {
        "in bursts": min(3.0, pstdev(counts) / mean),
        "idle windows": counts.count(0) / WINDOWS,
        "rhythm": max(likeness),
    }


def _places(ops: Sequence[Op]) -> dict[str, float]:
    sizes = [op.bytes for op in ops if op.bytes]
    if not sizes:
        return {}
    follow = 0
    last: dict[tuple[int, int], int] = {}
    for op in sorted(ops, key=lambda op: op.submit_ns):
        follow += last.get((op.job, op.direction)) == op.offset
        last[op.job, op.direction] = op.offset + op.bytes
    logs = [log2(size) for size in sizes]
    times = [log10(op.latency_ns + 1) for op in ops if op.bytes]
    spread = pstdev(logs) * pstdev(times)
    mean_log, mean_time = fmean(logs), fmean(times)
    together = fmean((one - mean_log) * (other - mean_time) for one, other in zip(logs, times, strict=True))
    return {
        "sequential": follow / len(ops),
        "odd sizes": sum(bool(size & (size - 1)) for size in sizes) / len(sizes),
        "unaligned": sum(op.offset % PAGE > 0 for op in ops) / len(ops),
        "size": (median(logs) - 12) / 4,
        "time with size": together / spread if spread > FLOOR else 0.0,
    }


def _of_jobs(found: Evidence) -> dict[str, float]:
    """Return the features that fio's own report contains."""
    total = sum(job.iops for job in found.jobs)
    values = {"read share": sum(job.iops for job in found.jobs if job.direction == READ) / total}
    for way, name in ((READ, "read"), (WRITE, "write")):
        of = [job for job in found.jobs if job.direction == way]
        if not of:
            continue
        job = max(of, key=lambda job: job.iops)
        p50, p99 = job.percentiles.get(50.0), job.percentiles.get(99.0)
        if p50 and p99:
            values[f"{name} tail"] = _ratio(p99, p50)
            values[f"{name} skew"] = _ratio(job.mean_ms, p50)
        values[f"{name} spread"] = _ratio(job.sd_ms, job.mean_ms)
    values["in flight"] = _ratio(sum(job.iops * job.mean_ms for job in found.jobs) / 1e3, 1)
    values["size"] = (log2(max(1.0, sum(job.bytes_per_s for job in found.jobs) / total)) - 12) / 4
    return values


def _of_devices(devices: list[Device], found: Evidence) -> dict[str, float]:
    utils = [device.util for device in devices if device.util is not None]
    values = {"devices": _ratio(max(1, len(devices)), 1)}
    if utils:
        values["busy"] = max(utils)
        values["uneven devices"] = _ratio(max(utils), median(utils))
    if not devices:
        return values
    values["device queue"] = _ratio(max(device.queue for device in devices) + FLOOR, 1)
    ios = [sum(device.ios_per_s[way] for device in devices) for way in (READ, WRITE)]
    moved = [sum(device.bytes_per_s[way] for device in devices) for way in (READ, WRITE)]
    waits = [
        sum(device.ios_per_s[way] * device.await_ms[way] for device in devices) / ios[way] if ios[way] else 0.0
        for way in (READ, WRITE)
    ]
    if min(ios) > MIN_IOS:
        values["device write to read time"] = _ratio(waits[WRITE], waits[READ])
    if not found.ops or found.of_device:
        return values
    begin = min(op.submit_ns for op in found.ops)
    seconds = max((max(op.submit_ns + op.latency_ns for op in found.ops) - begin) / 1e9, 1e-9)
    for way, name in ((READ, "read"), (WRITE, "write")):
        of = [op for op in found.ops if op.direction == way]
        if len(of) < MIN_OPS:
            continue
        values[f"above devices, {name}s"] = _ratio(fmean(op.latency_ns for op in of) / 1e6, waits[way])
        values[f"device {name}s"] = _ratio(moved[way], sum(op.bytes for op in of) / seconds)
        if ios[way] > MIN_IOS:
            values[f"device {name} size"] = _ratio(moved[way] / ios[way], fmean(op.bytes for op in of))
    return values
