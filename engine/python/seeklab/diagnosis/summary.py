"""The conclusions from the numbers alone, before any comparison with incidents.

Each sentence is arithmetic: Little's law (requests in flight = rate times time), utilization, the spread around a mean,
sizes, and the share of a request's time above the devices.
"""

from __future__ import annotations

from itertools import pairwise
from statistics import fmean, median
from typing import TYPE_CHECKING

from seeklab.diagnosis.evidence import KIB, MS_PER_S, READ, WRITE, Device, by_job

if TYPE_CHECKING:
    from collections.abc import Iterator

    from seeklab.diagnosis.evidence import Evidence, Op

BUSY, IDLE = 0.9, 0.5
OFF_LITTLE = 0.25
TAIL = 10.0
UNEVEN = 2.0
ABOVE = 2.0
PAUSE = 0.1
ALIKE = 0.3
"""Devices whose numbers differ by at most this share are reported as one."""
MOSTLY = 0.9
MIN_IOS = 1.0
MIN_OPS = 20
WORDS = {READ: "reads", WRITE: "writes"}


def says(found: Evidence) -> list[str]:
    """Return all conclusions, one sentence each."""
    devices = [device for device in mean_devices(found.devices) if sum(device.ios_per_s) >= MIN_IOS]
    return [*_busy(devices), *_between(found), *_jobs(found), *_operations(found), *_each(devices)]


def mean_devices(interval: list[list[Device]]) -> list[Device]:
    """Return the devices averaged over the intervals."""
    rows: dict[str, list[Device]] = {}
    for devices in interval:
        for device in devices:
            rows.setdefault(device.name, []).append(device)
    found = []
    for name, of in rows.items():
        ios = tuple(fmean(row.ios_per_s[way] for row in of) for way in (READ, WRITE))
        moved = tuple(fmean(row.bytes_per_s[way] for row in of) for way in (READ, WRITE))
        waits = tuple(
            sum(row.await_ms[way] * row.ios_per_s[way] for row in of) / max(sum(row.ios_per_s[way] for row in of), 1e-9)
            for way in (READ, WRITE)
        )
        utils = [row.util for row in of if row.util is not None]
        found.append(
            Device(
                name,
                (ios[0], ios[1]),
                (moved[0], moved[1]),
                (waits[0], waits[1]),
                fmean(row.queue for row in of),
                fmean(utils) if utils else None,
            )
        )
    return found


def _busy(devices: list[Device]) -> Iterator[str]:
    utils = [device.util for device in devices if device.util is not None]
    if not utils:
        return
    busiest = max(devices, key=lambda device: device.util or 0)
    if max(utils) >= BUSY:
        yield (
            f"{busiest.name} is busy {100 * max(utils):.0f}% of the time with {busiest.queue:.1f} requests at a time. "
            "Busy does not mean full: a device that serves many requests at once can have capacity left at 100%."
        )
    elif max(utils) <= IDLE:
        yield (f"No device is busy more than {100 * max(utils):.0f}% of the time: the bottleneck is above the devices.")
    if len(utils) > 1 and max(utils) > UNEVEN * max(median(utils), 0.01):
        yield (
            f"{busiest.name} is busy {100 * max(utils):.0f}% of the time, the median device "
            f"{100 * median(utils):.0f}%: the load is uneven."
        )


def _each(devices: list[Device]) -> Iterator[str]:
    """Yield sentences about each device; devices with similar numbers share one."""
    for device in devices:
        by_law = sum(ios * wait / MS_PER_S for ios, wait in zip(device.ios_per_s, device.await_ms, strict=True))
        if device.queue > MIN_IOS and abs(by_law / device.queue - 1) > OFF_LITTLE:
            yield (
                f"{device.name}: {sum(device.ios_per_s):.0f} requests per second with this mean time give "
                f"{by_law:.1f} in flight by Little's law. "
                f"The reported queue is {device.queue:.1f}: the intervals mix busy and idle "
                "times, or requests are merged."
            )
    for way in (READ, WRITE):
        rest = [device for device in devices if device.ios_per_s[way] >= MIN_IOS]
        while rest:
            alike = [device for device in rest if _are_alike(device, rest[0], way)]
            rest = [device for device in rest if device not in alike]
            yield _does(alike, way)


def _are_alike(one: Device, other: Device, way: int) -> bool:
    pairs = (
        (one.ios_per_s[way], other.ios_per_s[way]),
        (one.bytes_per_s[way], other.bytes_per_s[way]),
        (one.await_ms[way], other.await_ms[way]),
        (max(one.queue, 1.0), max(other.queue, 1.0)),
    )
    return all(abs(value - against) <= ALIKE * against for value, against in pairs)


def _does(alike: list[Device], way: int) -> str:
    """Return a sentence about rate, size and time of requests, averaged over similar devices."""
    ios = fmean(device.ios_per_s[way] for device in alike)
    size = fmean(device.bytes_per_s[way] for device in alike) / ios / KIB
    wait, queue = fmean(device.await_ms[way] for device in alike), fmean(device.queue for device in alike)
    more = len(alike) - 1
    name = f"{alike[0].name} and {more} similar to it, each" if more else alike[0].name
    line = (
        f"with {queue:.1f} at a time, the device takes about {wait / queue:.2f} ms of it and the queue the rest."
        if queue > 1
        else "with at most one at a time on average, the device takes all of it."
    )
    return f"{name}: {ios:.0f} {WORDS[way]} per second of {size:.1f} KiB take {wait:.2f} ms; {line}"


def _jobs(found: Evidence) -> Iterator[str]:
    for job in found.jobs:
        in_flight = job.iops * job.mean_ms / MS_PER_S
        yield (
            f"{job.name}: {job.iops:.0f} {WORDS[job.direction]} per second with a mean of {job.mean_ms:.3g} ms "
            f"give {in_flight:.1f} in flight by Little's law; the job's depth is {job.depth}."
        )
        p50, p99 = (job.percentiles.get(percent) for percent in (50.0, 99.0))
        if p50 and p99 and p99 > TAIL * p50:
            yield (
                f"{job.name}: the mean of {job.mean_ms:.3g} ms hides the distribution: half of the "
                f"{WORDS[job.direction]} take at most {p50:.3g} ms, and one in a hundred more than "
                f"{p99:.3g} ms."
            )


def _operations(found: Evidence) -> Iterator[str]:
    for (job, way), ops in sorted(by_job(found.ops).items()):
        if len(ops) < MIN_OPS:
            continue
        times = sorted(op.latency_ns / 1e6 for op in ops)
        mean, p50, p99 = fmean(times), times[len(times) // 2], times[min(len(times) - 1, round(0.99 * len(times)))]
        begin, end = min(op.submit_ns for op in ops), max(op.submit_ns + op.latency_ns for op in ops)
        seconds = max((end - begin) / 1e9, 1e-9)
        in_flight = len(ops) / seconds * mean / MS_PER_S
        sizes = sorted(op.bytes for op in ops)
        yield (
            f"job {job}: {len(ops)} {WORDS[way]} with a median size of {sizes[len(sizes) // 2] / KIB:.4g} KiB "
            f"in {seconds:.3g} s, {in_flight:.2f} in flight, "
            f"mean {mean:.3g} ms."
        )
        if p99 > TAIL * p50:
            yield (
                f"job {job}: the mean hides the distribution: half of the {WORDS[way]} take at most {p50:.3g} ms, "
                f"and one in a hundred more than {p99:.3g} ms."
            )
        empty = _longest_gap(ops) / max(end - begin, 1)
        if empty > PAUSE:
            yield f"job {job}: the longest gap without a completed {WORDS[way][:-1]} is {100 * empty:.0f}% of the time."


def _longest_gap(ops: list[Op]) -> float:
    ends = sorted(op.submit_ns + op.latency_ns for op in ops)
    return max((after - before for before, after in pairwise(ends)), default=0)


def _between(found: Evidence) -> Iterator[str]:
    """Compare the times of clients' requests with those of devices."""
    if found.of_device or not found.devices or not (found.ops or found.jobs):
        return
    devices = mean_devices(found.devices)
    for way in (READ, WRITE):
        ios = sum(device.ios_per_s[way] for device in devices)
        at_device = sum(device.ios_per_s[way] * device.await_ms[way] for device in devices) / ios if ios > 0 else 0.0
        ops = [op for op in found.ops if op.direction == way]
        of_jobs = [job for job in found.jobs if job.direction == way]
        if ops:
            at_client = fmean(op.latency_ns for op in ops) / 1e6
        elif of_jobs:
            at_client = sum(job.mean_ms * job.iops for job in of_jobs) / sum(job.iops for job in of_jobs)
        else:
            continue
        if not ios:
            yield (
                f"Clients' {WORDS[way]} take {at_client:.3g} ms and reach no device: memory, a cache "
                "or a network answers them."
            )
        elif at_client > ABOVE * at_device:
            yield (
                f"A client's {WORDS[way][:-1]} takes {at_client:.3g} ms, a device's {at_device:.3g} "
                f"ms: {100 * (1 - at_device / at_client):.3g}% of the time is spent above the "
                "devices, or each client request waits for many device requests."
            )
        elif at_client < at_device / ABOVE:
            yield (
                f"A client's {WORDS[way][:-1]} takes {at_client:.3g} ms, a device's {at_device:.3g} "
                "ms: a cache in between absorbs most of them."
            )
