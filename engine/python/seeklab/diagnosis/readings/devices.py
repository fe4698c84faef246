"""Devices by themselves and compared with each other: concurrency, time, throughput, limits, peers, layers.

Every conclusion is arithmetic. The mean time of a request is not the device's service time: it includes the wait in the
queue. The column `svctm` was withdrawn by sysstat: it is false for devices that serve several requests at once.
"""

from __future__ import annotations

import re
from itertools import groupby, pairwise
from statistics import fmean, median
from typing import TYPE_CHECKING

from seeklab.bring.block import Sample
from seeklab.diagnosis.intervals import Device, bytes_per_s, devices_of, ios_per_s, samples, tables, time, work
from seeklab.diagnosis.reading import Reading, Strength, count, rate, size
from seeklab.diagnosis.reading import time as in_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from seeklab.bring.block import Block

BUSY, IDLE = 0.8, 0.5
ONE_LOW, ONE_HIGH = 0.7, 1.3
SNAPSHOTS = frozenset(("gstat", "freebsd-iostat"))
"""Its queue column is the queue of one moment, and no mean."""
LITTLE_FACTOR, LITTLE_LEAST = 1.5, 0.6
"""A queue contradicts Little's law if it differs by this factor, and by more than this many requests."""
PEER_TIME, PEER_LOAD = 3.0, 2.0
"""Peers differ if their times differ by this factor while their loads differ by less than the other."""
ALIKE = 0.35
MIN_BUSY, SLOW_MS = 0.2, 20.0
"""A device that is hardly used and not slow in absolute terms is not compared with its peers."""
SICK_IOS, SICK_MS, SICK_BYTES_PER_S = 40.0, 150.0, 20e6
"""A device that moves more bytes is not sick: its requests are large."""
MAX_FLUSHES = 1.3
HOST_SLOW_MS = 15.0
STALL = 1.5
MIN_IOS = 1.0
ROUND_SHARE = 0.8
QUEUE_LIMITS = (8, 10, 16, 31, 32, 64, 128, 254, 256, 512, 1023, 1024)
REVOLUTION_MS = (5.0, 25.0)
"""One to two revolutions of disks of 5,400 to 15,000 rpm, with settling."""
FLASH_FLUSH_MS = (0.3, 5.0)
SMALL = 64 << 10
DISK_RATE, MAX_ONE_QUEUE = (60.0, 260.0), 2.0
"""Small random requests of a disk per second, with a queue."""
LARGE = 256 << 10


def read(blocks: Sequence[Block]) -> Iterator[Reading]:
    """Yield the readings of all tables of devices."""
    for block in blocks:
        if block.tool in ("dstat", "esxtop"):
            yield from _layered(block)
        elif block.tool == "iostat" and block.records:
            yield from _without_times(block)
    for block in tables(blocks):
        boot = [record for record in block.records if isinstance(record, Sample) and record.is_since_boot]
        if boot and not samples(block):
            yield _since_boot(block)
            continue
        devices = devices_of(block)
        usable: list[Device] = []
        for device in devices:
            odd = [found for found in _impossible(device) if block.tool not in SNAPSHOTS or found.id != "contradiction"]
            yield from odd
            if not any(reading.id == "contradiction" for reading in odd):
                usable.append(device)
        for device in usable:
            yield from _alone(device)
        yield from _peers(usable)
        yield from _layers(usable)
        yield from _idle(usable)
        if block.tool != "diskstats" and len(samples(block)) > 1:
            yield from _over_time(usable, len(samples(block)))
    yield from _before_after(blocks)


def _without_times(block: Block) -> Iterator[Reading]:
    """Name the device that moves most in iostat without -x, which has rates only."""
    if not samples(block):
        yield _since_boot(block)
        return
    devices = [device for device in devices_of(block) if not device.is_stacked and device.ios_per_s > MIN_IOS]
    if devices:
        most = max(devices, key=lambda device: device.ios_per_s)
        ios, moved = most.ios_per_s, most.bytes_per_s
        yield Reading(
            "rate-without-times",
            most.name,
            f"{most.name}: {count(ios)} requests/s of {size(moved / ios)} ({rate(moved)}). This form of iostat has no "
            "times and no queue; use iostat -x.",
            f"{rate(moved)} / {count(ios)} = {size(moved / ios)}",
            values={"ios_per_s": ios, "bytes": moved / ios},
        )


def _since_boot(block: Block) -> Reading:
    return Reading(
        "since-boot-only",
        block.tool,
        "The only sample averages since boot. It says nothing about the present; record some intervals (iostat -x 1 5) "
        "while the system is slow.",
        strength=Strength.CONTEXT,
    )


def _layered(block: Block) -> Iterator[Reading]:
    """Yield times of tools that print them next to a part of them: in the device, or a share that is not a time."""
    for device in devices_of(block):
        service = device.mean(lambda row: row.service_ms)
        times = [
            f"{kind} {in_time(min(of))}"
            if min(of) > 0.99 * max(of)
            else f"{kind} {in_time(min(of))} to {in_time(max(of))}"
            for kind in ("reads", "writes")
            if (of := [ms for row in device.rows if (ms := getattr(row, kind).ms)])
        ]
        if block.tool == "dstat" and times:
            yield Reading("use", device.name, f"{device.name}: {', '.join(times)} each.", values={})
            longest = max(ms for row in device.rows for ms in (row.reads.ms or 0.0, row.writes.ms or 0.0))
            if service is not None and longest > 3 * service:
                yield Reading(
                    "withdrawn-column",
                    device.name,
                    f"The column svct says {in_time(service)} for {device.name}. It divides the busy time by the "
                    "requests, so "
                    "it is not the time of a request; that is in rawa and wawa.",
                    f"{in_time(service)} against {in_time(longest)}",
                    Strength.IMPOSSIBLE,
                    {"svct_ms": service, "ms": longest},
                )
        waiting, total = device.mean(lambda row: row.waiting), device.mean(lambda row: row.both.ms)
        if block.tool == "esxtop" and service is not None:
            kernel = waiting or 0.0
            yield Reading(
                "use",
                device.name,
                f"{device.name}: {count(device.ios_per_s)} commands/s, {in_time(service)} in the device and "
                f"{in_time(kernel)} in the host's queue.",
                f"{in_time(service)} + {in_time(kernel)} = {in_time(total if total is not None else service + kernel)}",
                values={"ios_per_s": device.ios_per_s, "service_ms": service, "kernel_ms": kernel},
            )
            place = "in the queue of the host" if kernel > service else "below: in the path, the array or the disks"
            if max(service, kernel) >= HOST_SLOW_MS and device.ios_per_s >= MIN_IOS:
                yield Reading(
                    "hypervisor-queue" if kernel > service else "device-slow-below-host",
                    device.name,
                    f"A command of {device.name} waits longest {place}.",
                    f"{in_time(service)} against {in_time(kernel)}",
                    values={"service_ms": service, "kernel_ms": kernel, "ms": service + kernel},
                )


def _impossible(device: Device) -> Iterator[Reading]:
    hung = [row for row in device.rows if ios_per_s(row) < 0.05 and (row.in_flight or 0) >= 1 and (row.busy or 0) > 0.9]
    if hung:
        waiting = fmean(row.in_flight or 0 for row in hung)
        yield Reading(
            "hung",
            device.name,
            f"{device.name} has {count(waiting)} requests in flight and completes none, in {len(hung)} of "
            f"{len(device.rows)} samples: it does not answer.",
            f"{count(waiting)} in flight, 0 completed, 100% busy",
            Strength.IMPOSSIBLE,
            {"in_flight": waiting},
        )
        return
    yield from _busy_without_queue(device)
    if (unseen := _unseen(device)) is not None:
        yield unseen
        return
    for row in device.rows:
        implied, queue = work(row), row.in_flight
        if implied is None or queue is None or device.name.startswith("md"):
            continue
        if max(implied, queue) - min(implied, queue) > LITTLE_LEAST and max(implied, queue) > LITTLE_FACTOR * min(
            implied, queue
        ):
            yield Reading(
                "contradiction",
                device.name,
                f"{device.name}: rate times time is {count(implied)} requests in flight, but the queue column says "
                f"{count(queue)}. One of the columns is wrong, so nothing follows from this row.",
                f"{count(ios_per_s(row))}/s x {in_time(time(row) or 0)} = {count(implied)}, not {count(queue)}",
                Strength.IMPOSSIBLE,
                {"implied": implied, "queue": queue},
            )
            return


def _unseen(device: Device) -> Reading | None:
    """Find requests in flight that are neither reads nor writes, in a report without columns of flushes.

    A device gets one flush at a time, and the next one waits, so they hold the queue for little more than one request.
    """
    rows = [(implied, row.in_flight) for row in device.rows if (implied := work(row)) is not None and row.in_flight]
    if not rows or device.name.startswith("md") or any(row.flushes.per_s is not None for row in device.rows):
        return None
    implied, queue = fmean(one for one, _ in rows), fmean(two for _, two in rows)
    held, writes = queue - implied, device.per_s("writes")
    has_kinds = all(row.reads.ms is not None and row.writes.ms is not None for row in device.rows)
    if (
        not has_kinds
        or not LITTLE_LEAST / 2 <= held <= MAX_FLUSHES
        or writes < MIN_IOS
        or queue < LITTLE_FACTOR * implied
    ):
        return None
    if device.busy is not None and device.busy < IDLE:
        return None
    return Reading(
        "unseen-in-flight",
        device.name,
        f"{device.name} has {count(queue)} requests in flight, but its reads and writes account for "
        f"{count(implied)}. The "
        "rest is of a kind that this version of iostat does not print: flushes, as after each synchronous write.",
        f"{count(queue)} - {count(device.ios_per_s)}/s x {in_time(device.time() or 0)} = {count(held)}",
        values={"held": held, "writes_per_s": writes, "ms": 1e3 * held / writes},
    )


def _busy_without_queue(device: Device) -> Iterator[Reading]:
    """Find a busy share that its own queue rules out: a device is not busy for longer than it has requests."""
    rows = [
        (row.busy, row.in_flight)
        for row in device.rows
        if row.busy is not None
        and row.in_flight is not None
        and (implied := work(row)) is not None
        and abs(implied - row.in_flight) < max(0.1, 0.3 * row.in_flight)
    ]
    wrong = [(busy, queue) for busy, queue in rows if busy > IDLE and busy > queue + 0.25]
    if not wrong or len(wrong) < len(rows) / 2 or device.is_stacked:
        return
    busy, queue = (fmean(pair[place] for pair in wrong) for place in (0, 1))
    yield Reading(
        "busy-without-queue",
        device.name,
        f"{device.name} is busy for {100 * busy:.0f}% of the time according to %util. It has {count(queue)} requests "
        f"in flight on average, so for at least {100 * (1 - queue):.0f}% of the time it has none. Kernels from 5.0 on "
        "count a tick of the clock as busy if one request falls into it; %util says nothing here.",
        f"{100 * busy:.0f}% > {count(queue)} in flight",
        Strength.IMPOSSIBLE,
        {"busy": busy, "queue": queue},
    )


def _alone(device: Device) -> Iterator[Reading]:
    queue, busy, ios = device.in_flight, device.busy, device.ios_per_s
    if ios < 0.05:
        return
    mean_time = device.time()
    if queue is None and mean_time is not None:
        queue = ios * mean_time / 1e3
    yield from _use(device, queue, busy)
    if queue is None:
        return
    one_busy = busy is None or busy > BUSY
    if ONE_LOW <= queue <= ONE_HIGH and one_busy and (mean_time or 0) > 0.2 and ios >= 10:
        yield _one_at_a_time(device, queue, mean_time or 0)
    is_slow = (mean_time or 0) > SICK_MS and device.bytes_per_s < SICK_BYTES_PER_S
    if ios < SICK_IOS and is_slow and (busy is None or busy > 0.9) and queue < 40:
        yield Reading(
            "slow-without-load",
            device.name,
            f"{device.name} completes only {count(ios)} requests per second, each after {in_time(mean_time or 0)}, "
            "with "
            f"{count(queue)} in flight: little load, a short queue, and still every request is slow.",
            f"{count(ios)}/s x {in_time(mean_time or 0)} = {count(ios * (mean_time or 0) / 1e3)}",
            values={"ios_per_s": ios, "ms": mean_time or 0, "in_flight": queue},
        )
    yield from _parts(device, queue)
    yield from _at_its_rate(device, queue)
    yield from _partial(device)
    yield from _limits(device, queue)


def _use(device: Device, queue: float | None, busy: float | None) -> Iterator[Reading]:
    """Yield the plain numbers of a device: rate, sizes, time, concurrency."""
    if device.ios_per_s < MIN_IOS and (busy or 0) < IDLE:
        return
    if device.time() == 0 and not busy:
        yield Reading(
            "no-times",
            device.name,
            f"{device.name}: {count(device.ios_per_s)} requests/s; this kernel records no times for it.",
            strength=Strength.CONTEXT,
        )
        return
    words, values = _flows(device)
    if not words and device.ios_per_s >= MIN_IOS:
        words.append(f"{count(device.ios_per_s)} requests/s{_at(device.time())}")
    if busy is not None:
        worst = device.busiest or busy
        values |= {"busy": busy, "busiest": worst}
        peak = f" ({100 * worst:.0f}% in the busiest interval)" if worst > IDLE and worst > 2 * busy else ""
        words.append(f"busy {100 * busy:.0f}% of the time{peak}")
    if queue is not None:
        values["in_flight"] = queue
        words.append(f"{count(queue)} in flight")
    total = len(samples(device.block))
    seen = f" (in {len(device.rows)} of {total} samples; idle in the others)" if len(device.rows) < total else ""
    sum_ = _sum(device)
    yield Reading("use", device.name, f"{device.name}: {', '.join(words)}{seen}.", sum_, values=values)


def _sum(device: Device) -> str:
    """Return the requests in flight as rates times times; flushes and discards are separate terms."""
    implied = [value for row in device.rows if (value := work(row)) is not None]
    if not implied or (ms := device.time()) is None:
        return ""
    apart = [
        (per_s, kind, of_kind)
        for kind in ("flushes", "discards")
        if (per_s := device.per_s(kind)) >= MIN_IOS and (of_kind := device.ms(kind)) is not None
    ]
    rest = device.ios_per_s - sum(per_s for per_s, _, _ in apart)
    terms = [
        f"{count(rest)}/s x {in_time(ms)}",
        *(f"{count(per_s)} {kind}/s x {in_time(of)}" for per_s, kind, of in apart),
    ]
    return f"{' + '.join(terms)} = {count(fmean(implied))}"


def _at(ms: float | None) -> str:
    return "" if ms is None else f" at {in_time(ms)}"


def _flows(device: Device) -> tuple[list[str], dict[str, float]]:
    """Return the rates, sizes and times of a device's requests by kind, as texts and as numbers."""
    words = []
    values: dict[str, float] = {"ios_per_s": device.ios_per_s, "bytes_per_s": device.bytes_per_s}
    for kind in ("reads", "writes", "discards", "flushes"):
        per_s, ms, bytes_ = device.per_s(kind), device.ms(kind), device.size(kind)
        values |= {
            f"{kind}_{unit}": value
            for unit, value in (("per_s", per_s), ("ms", ms), ("bytes", bytes_))
            if value is not None
        }
        if per_s >= MIN_IOS:
            of = f" of {size(bytes_)}" if bytes_ and kind in ("reads", "writes") else ""
            words.append(f"{count(per_s)} {kind}/s{of}{_at(ms)}")
    return words, values


def _one_at_a_time(device: Device, queue: float, ms: float) -> Reading:
    writes = device.per_s("writes") + device.per_s("flushes")
    share = writes / max(device.ios_per_s, 1e-9)
    flush = device.ms("flushes")
    turn = (
        " The time is about one revolution of a disk."
        if REVOLUTION_MS[0] <= ms <= REVOLUTION_MS[1] and share > 0.5
        else ""
    )
    bytes_ = device.size("writes") or 0.0
    return Reading(
        "one-at-a-time",
        device.name,
        f"{device.name} serves one request at a time: {count(queue)} in flight on average, and each takes "
        f"{in_time(ms)}. "
        f"The sender waits for each request before it sends the next.{turn}",
        _sum(device),
        values={
            "ms": ms,
            "write_share": share,
            "ios_per_s": device.ios_per_s,
            "bytes": bytes_,
            "flush_ms": flush or 0.0,
            "flushes_per_s": device.per_s("flushes"),
            "in_flight": queue,
        },
    )


def _at_its_rate(device: Device, queue: float) -> Iterator[Reading]:
    """Find a disk with many small requests in flight that completes as many as a disk can."""
    ios, ms = device.ios_per_s, device.time() or 0.0
    bytes_ = device.bytes_per_s / ios if ios else 0.0
    if (
        not device.is_stacked
        and queue > MAX_ONE_QUEUE
        and (device.busy or 0.0) > 0.9
        and DISK_RATE[0] <= ios <= DISK_RATE[1]
        and 0 < bytes_ <= SMALL
        and ms > REVOLUTION_MS[0]
    ):
        yield Reading(
            "disk-at-its-rate",
            device.name,
            f"{device.name} completes {count(ios)} small requests per second with {count(queue)} in flight: the rate "
            "of one disk at random places. More requests only wait longer.",
            f"1 s / {count(ios)} = {in_time(1e3 / ios)} each",
            values={"ios_per_s": ios, "in_flight": queue, "ms": ms},
        )


def _parts(device: Device, queue: float) -> Iterator[Reading]:
    """Yield which kind of request holds the queue: flushes or discards."""
    for kind in ("flushes", "discards"):
        per_s, ms = device.per_s(kind), device.ms(kind)
        if not per_s or ms is None:
            continue
        held = per_s * ms / 1e3
        if held > 0.4 * max(queue, 0.05) and held > 0.2:
            yield Reading(
                f"{kind}-hold-the-queue",
                device.name,
                f"{device.name}: {kind} account for {count(held)} of the {count(queue)} requests in flight.",
                f"{count(per_s)} {kind}/s x {in_time(ms)} = {count(held)} of {count(queue)}",
                values={"share": held / max(queue, 1e-9), "per_s": per_s, "ms": ms},
            )


def _partial(device: Device) -> Iterator[Reading]:
    """Find reads of one block for each large write, whose first and last block are changed, not overwritten."""
    reads, writes = device.per_s("reads"), device.per_s("writes")
    read_size, write_size = device.size("reads"), device.size("writes")
    if (
        read_size
        and write_size
        and read_size <= 4.5 * 1024
        and write_size > 16 << 10
        and writes > MIN_IOS
        and 0.8 < reads / writes < 3
    ):
        yield Reading(
            "partial-blocks",
            device.name,
            f"{device.name} does {count(reads / writes)} reads of {size(read_size)} for each write of "
            f"{size(write_size)}: the writes cover "
            "their first and last block in part only.",
            f"{count(reads)} / {count(writes)} = {count(reads / writes)}",
            values={"ratio": reads / writes},
        )


def _limits(device: Device, queue: float) -> Iterator[Reading]:
    rows = [row for row in device.rows if (row.busy or 0) > IDLE or row.busy is None]
    if not rows or (len(rows) == 1 and device.block.tool in SNAPSHOTS):
        return
    for limit in QUEUE_LIMITS:
        near = [row for row in rows if row.in_flight is not None and abs(row.in_flight - limit) <= 0.025 * limit]
        if (
            len(near) == len(rows)
            and (len(rows) > 1 or abs(queue - limit) < 0.01 * limit)
            and ios_per_s(rows[0]) > MIN_IOS
        ):
            ios, ms = device.ios_per_s, device.time() or 0
            when = "every sample" if len(rows) > 1 else "the only sample"
            yield Reading(
                "constant-queue",
                device.name,
                f"{device.name} has {limit} requests in flight in {when}: a limit of the sender or of the queue.",
                f"{count(ios)}/s x {in_time(ms)} = {count(ios * ms / 1e3)}",
                Strength.ROUND,
                {"limit": limit, "ms": ms, "ios_per_s": ios},
            )
            break
    rates = [bytes_per_s(row) for row in rows]
    if min(rates) > 1 << 20:
        steps = [round(value / (1 << 20)) for value in rates]
        exact = [abs(value / (1 << 20) - step) < 2e-3 for value, step in zip(rates, steps, strict=True)]
        is_round = steps[0] % 25 == 0 or steps[0] % 16 == 0
        if len(rows) > 1 and len(set(steps)) == 1 and all(exact) and is_round:
            yield Reading(
                "round-throughput",
                device.name,
                f"{device.name} moves {steps[0]} MiB/s to the last digit in every sample: a configured limit on "
                "throughput.",
                f"{count(rates[0] / 1024)} kB/s = {steps[0]} x 1,024",
                Strength.ROUND,
                {"bytes_per_s": rates[0]},
            )
    rates = [ios_per_s(row) for row in rows]
    if min(rates) >= 100 and len(rows) > 1:
        first = round(rates[0] / 50) * 50
        if first and all(abs(value - first) <= 0.003 * first for value in rates) and (device.in_flight or 0) > 2:
            yield Reading(
                "round-rate",
                device.name,
                f"{device.name} completes {first:,} requests per second in every sample: a configured limit on "
                "requests.",
                f"{count(rates[0])}/s in {len(rows)} of {len(rows)} samples",
                Strength.ROUND,
                {"ios_per_s": first},
            )


def _family(name: str) -> str:
    return (
        re.sub(r"(?<!\d)\d++(?:n\d++)?$|(?<=^sd)[a-z]+$|(?<=^xvd)[a-z]+$|(?<=^vd)[a-z]+$|(?<=^c)\S+$", "", name) or name
    )


def _peers(devices: Sequence[Device]) -> Iterator[Reading]:
    """Compare devices of the same kind."""
    physical = [device for device in devices if not device.is_stacked and device.ios_per_s > 0.5]
    groups = groupby(sorted(physical, key=lambda device: _family(device.name)), key=lambda device: _family(device.name))
    for _, members in groups:
        yield from _compare([device for device in members if device.time() is not None])


def _compare(group: list[Device]) -> Iterator[Reading]:
    if len(group) < 2:
        return
    times = {device.name: device.time() or 0.0 for device in group}
    slow = max(group, key=lambda device: times[device.name])
    others = [device for device in group if device is not slow and device.ios_per_s >= 0.3 * slow.ios_per_s]
    if others:
        usual = median(times[device.name] for device in others)
        load = slow.ios_per_s / max(median(device.ios_per_s for device in others), 1e-9)
        rates = [device.bytes_per_s for device in group if device.bytes_per_s > 1e8]
        saturated = len(rates) > 1 and max(rates) < 1.1 * min(rates)
        matters = (slow.busy or 0.0) > MIN_BUSY or times[slow.name] > SLOW_MS
        if times[slow.name] > PEER_TIME * max(usual, 1e-3) and matters and load < PEER_LOAD and not saturated:
            other = min(others, key=lambda device: abs(times[device.name] - usual))
            least = "no more" if load <= 1.1 else f"{load:.1f} times the"
            busy = (
                f", {100 * (slow.busy or 0):.0f}% busy against {100 * (other.busy or 0):.0f}%"
                if slow.busy is not None
                else ""
            )
            yield Reading(
                "peers-differ",
                slow.name,
                f"{slow.name} takes {in_time(times[slow.name])} per request where {other.name} takes "
                f"{in_time(times[other.name])}, with {least} load{busy}. Equal devices under an equal load should be "
                "equally fast.",
                f"{in_time(times[slow.name])} / {in_time(times[other.name])} = "
                f"{count(times[slow.name] / max(times[other.name], 1e-3))}",
                Strength.PEERS,
                {
                    "ratio": times[slow.name] / max(usual, 1e-3),
                    "load": load,
                    "ms": times[slow.name],
                    "members": len(group),
                    "in_flight": slow.in_flight or 0.0,
                },
            )
            return
    active = [device for device in group if device.ios_per_s > MIN_IOS and (device.busy or 0) > 0.1]
    if len(active) > 1:
        rates = [device.bytes_per_s for device in active]
        queues = [device.in_flight or 0.0 for device in active]
        heavy = [device for device in active if device.bytes_per_s > 0.8 * max(rates)]
        if len(heavy) > 1 and max(rates) > 1e8 and max(queues) > 8:
            of = [device.bytes_per_s for device in heavy]
            yield Reading(
                "bandwidth-alike",
                f"{len(heavy)} devices",
                f"{len(heavy)} devices move {rate(min(of))} to {rate(max(of))} each, however many requests wait "
                f"({count(min(queues))} to {count(max(queues))}): they are at a limit of bandwidth, and the rest is "
                "waiting.",
                f"{count(heavy[0].ios_per_s)}/s x {size(heavy[0].size('reads') or heavy[0].size('writes') or 0)} = "
                f"{rate(heavy[0].bytes_per_s)}",
                Strength.PEERS,
                {"devices": len(heavy), "bytes_per_s": fmean(of)},
            )
        elif max(times[device.name] for device in active) < (1 + ALIKE) * min(times[device.name] for device in active):
            percent = [100 * (device.busy or 0) for device in active]
            yield Reading(
                "peers-alike",
                f"{len(active)} devices",
                f"{', '.join(device.name for device in active[:8])} are alike: "
                f"{in_time(min(times[device.name] for device in active))} to "
                f"{in_time(max(times[device.name] for device in active))} per request, {min(percent):.0f} to "
                f"{max(percent):.0f}% busy.",
                strength=Strength.PEERS,
                values={"devices": len(active)},
            )
        elif (
            max(shares := [device.busy or 0.0 for device in active]) > 2 * max(median(shares), 0.01) and len(active) > 2
        ):
            most = max(active, key=lambda device: device.busy or 0)
            yield Reading(
                "load-uneven",
                most.name,
                f"{most.name} is busy {100 * max(shares):.0f}% of the time, the median device "
                f"{100 * median(shares):.0f}%.",
                strength=Strength.PEERS,
                values={"ratio": max(shares) / max(median(shares), 0.01)},
            )


def _layers(devices: Sequence[Device]) -> Iterator[Reading]:
    """Compare a virtual device with the physical ones that move the same bytes."""
    below = [device for device in devices if not device.is_stacked and device.ios_per_s > MIN_IOS]
    for above in devices:
        if not above.is_stacked or above.ios_per_s < MIN_IOS or above.in_flight is None or above.name.startswith("md"):
            continue
        for device in below:
            moved = device.bytes_per_s
            if device.in_flight is None or not moved or not 0.8 < above.bytes_per_s / moved < 1.25:
                continue
            if above.in_flight > 3 * max(device.in_flight, 0.5):
                yield Reading(
                    "queue-above",
                    above.name,
                    f"{above.name} has {count(above.in_flight)} requests in flight, {device.name} below it "
                    f"{count(device.in_flight)}, with the same bytes per second: the wait is between the two.",
                    f"{count(above.in_flight)} against {count(device.in_flight)} in flight at {rate(moved)}",
                    Strength.LAYERS,
                    {"above": above.in_flight, "below": device.in_flight, "merge": device.ios_per_s / above.ios_per_s},
                )
                break


def _idle(devices: Sequence[Device]) -> Iterator[Reading]:
    known = [device for device in devices if device.busy is not None and not device.name.startswith(("loop", "ram"))]
    if (
        not known
        or max(device.busy or 0 for device in known) >= IDLE
        or max(device.busiest or 0 for device in known) > BUSY
        or any((device.time() or 0) > 50 for device in known)
    ):
        return
    most = max(known, key=lambda device: device.busy or 0)
    yield Reading(
        "devices-not-busy",
        "devices",
        f"No device is busy for more than {100 * (most.busy or 0):.0f}% of the time ({most.name}). These columns "
        "do not explain a complaint: if the system is slow, the time is spent elsewhere, or in moments shorter than "
        "a sample.",
        strength=Strength.CONTEXT,
        values={"busy": most.busy or 0.0},
    )


def _over_time(devices: Sequence[Device], total: int) -> Iterator[Reading]:
    """Yield stalls: samples that are much worse than the usual one."""
    for device in devices:
        times = [(time(row) or 0.0, row) for row in device.rows if ios_per_s(row) > MIN_IOS]
        if len(times) < 4:
            continue
        usual = median(value for value, _ in times)
        worst, row = max(times, key=lambda pair: pair[0])
        places = [index for index, (value, _) in enumerate(times) if value > STALL * usual]
        slow = [times[index][0] for index in places]
        gaps = [two - one for one, two in pairwise(places)]
        is_regular = bool(gaps) and min(gaps) > 1 and max(gaps) - min(gaps) <= 1
        if worst > STALL * usual and worst > 2 and 0 < len(slow) <= len(times) / 2:
            yield Reading(
                "stall",
                device.name,
                f"{device.name}: in {len(slow)} of {total} samples a request takes up to {in_time(worst)}, usually "
                f"{in_time(usual)}; the mean "
                "hides it.",
                f"{in_time(worst)} / {in_time(usual)} = {count(worst / max(usual, 1e-3))}",
                values={
                    "ratio": worst / max(usual, 1e-3),
                    "share": len(slow) / len(times),
                    "is_regular": float(is_regular),
                    "ios_per_s": ios_per_s(row),
                },
            )


def _before_after(blocks: Sequence[Block]) -> Iterator[Reading]:
    """Compare two reports of the same tool and devices within one text."""
    of = [block for block in tables(blocks) if samples(block)]
    for one, two in pairwise(of):
        if one.source != two.source or one.tool != two.tool:
            continue
        earlier = {device.name: device for device in devices_of(one)}
        for device in devices_of(two):
            before = earlier.get(device.name)
            if before is None or not before.time() or not device.time():
                continue
            was, now = before.time() or 0.0, device.time() or 0.0
            if max(was, now) > 2 * min(was, now) or not 0.5 < before.ios_per_s / max(device.ios_per_s, 1e-9) < 2:
                yield Reading(
                    "reports-differ",
                    device.name,
                    f"{device.name} differs between the two reports: {in_time(was)} and {in_time(now)} per request, "
                    f"{count(before.ios_per_s)} and {count(device.ios_per_s)} requests per second.",
                    f"{in_time(was)} -> {in_time(now)}",
                    values={"ratio": now / max(was, 1e-6)},
                )
                sizes = before.size("writes") or 0.0, device.size("writes") or 0.0
                rates = before.per_s("writes"), device.per_s("writes")
                small, large = (0, 1) if sizes[0] < sizes[1] else (1, 0)
                if sizes[small] and sizes[large] > 3 * sizes[small] and rates[small] > 3 * rates[large]:
                    yield Reading(
                        "more-and-smaller",
                        device.name,
                        f"In one report {device.name} writes {count(rates[small] / rates[large])} times as many "
                        "requests of "
                        f"{size(sizes[small])}, in the other requests of {size(sizes[large])}: the same bytes in more "
                        "pieces.",
                        f"{count(rates[small])} x {size(sizes[small])} against {count(rates[large])} x "
                        f"{size(sizes[large])}",
                        values={"ratio": rates[small] / rates[large]},
                    )
                break
