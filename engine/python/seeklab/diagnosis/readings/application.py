"""The application compared with its devices: what it asks for, and what arrives below.

An application's rates come from a load generator's report, the devices' from iostat of the same time.
"""

from __future__ import annotations

from itertools import islice
from statistics import median
from typing import TYPE_CHECKING

from seeklab.diagnosis.intervals import MAX_DEVICES, MIN_PER_S, Device, devices_of, tables
from seeklab.diagnosis.reading import Reading, Strength, count, rate, size
from seeklab.diagnosis.reading import time as in_time
from seeklab.diagnosis.readings.jobs_of import (
    in_flight,
    is_full,
    is_paced,
    is_sync,
    jobs_of,
    most_in_flight,
    percentile,
    request_bytes,
    total_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from seeklab.bring.block import Block, JobRow

MIN_IOS = 1.0
MORE, GROWN = 1.4, 1.15
"""Devices read more bytes than were asked for, or, of random reads, larger requests."""
SMALL, LARGE = 64 << 10, 64 << 10
BUSY, MOSTLY, IDLE_STREAM = 0.8, 0.7, 0.3
MANY = 8
ARM_IOS = (40.0, 110.0)
"""Small random reads of a disk that serves them in any order: one seek and half a revolution each."""
MIN_FEED, MAX_FEED = 1e5, 4e7
MIN_STREAM, STREAM_BYTES = 25e6, 40e6
"""A device that writes this much per second is used as a stream."""


def read(blocks: Sequence[Block]) -> Iterator[Reading]:
    """Yield what the application and its devices say together."""
    physical = (
        device
        for block in tables(blocks)
        for device in devices_of(block)
        if not device.is_stacked and device.ios_per_s >= MIN_PER_S
    )
    devices = list(islice(physical, MAX_DEVICES))
    rows = list(jobs_of(blocks))
    yield from _one_writer(devices)
    devices = [device for device in devices if device.ios_per_s >= MIN_IOS]
    yield from _in_order(devices)
    yield from _behind_writes(devices)
    yield from _stream_on_one(devices, rows)
    if not devices or not rows:
        return
    yield from _more_read(devices, rows)
    yield from _fed(devices, rows)
    yield from _nobody_reads(devices, rows)
    yield from _combined(devices, rows)
    yield from _in_turn(devices, rows)
    yield from _gathered(devices, rows)
    yield from _starved(devices, rows)
    yield from _load(devices, rows)


def _rate(rows: Sequence[JobRow], way: str) -> float:
    """Return the bytes per second of all jobs in a direction, over the time of the longest job."""
    longest = max((row.runtime_s or 0.0 for row in rows), default=0.0)
    if not longest:
        return sum(row.bytes_per_s or 0.0 for row in rows if row.direction == way)
    return sum((row.bytes_per_s or 0.0) * (row.runtime_s or longest) / longest for row in rows if row.direction == way)


def _in_order(devices: Sequence[Device]) -> Iterator[Reading]:
    """Find a disk whose queue does not shorten its ways: it serves requests in the order of their arrival."""
    for device in devices:
        queue, reads = device.in_flight or 0.0, device.per_s("reads")
        bytes_ = device.size("reads") or 0.0
        if (
            queue >= MANY
            and (device.busy or 0.0) > 0.95
            and reads > 0.9 * device.ios_per_s
            and ARM_IOS[0] <= reads <= ARM_IOS[1]
            and 0 < bytes_ <= SMALL
        ):
            yield Reading(
                "queue-without-gain",
                device.name,
                f"{device.name} has {count(queue)} reads in flight and completes {count(reads)} per second, one each "
                f"{in_time(1e3 / reads)}: a seek and half a revolution, as if it had no choice. A disk that chooses "
                "the nearest of many does about twice as many.",
                f"1 s / {count(reads)} = {in_time(1e3 / reads)}",
                values={"per_s": reads, "in_flight": queue, "ms": 1e3 / reads},
            )


def _behind_writes(devices: Sequence[Device]) -> Iterator[Reading]:
    """Find reads that wait behind many writes on the same device; of several devices, name the worst."""
    found: list[Reading] = []
    for device in devices:
        reads, writes = device.per_s("reads"), device.per_s("writes")
        read_ms, write_ms = device.ms("reads"), device.ms("writes")
        if reads < MIN_IOS or read_ms is None or write_ms is None:
            continue
        held, of_reads = writes * write_ms / 1e3, reads * read_ms / 1e3
        if held >= 4 and held > 2 * of_reads and read_ms > 0.25 * write_ms and read_ms > 5:
            found.append(
                Reading(
                    "reads-behind-writes",
                    device.name,
                    f"A read of {device.name} takes {in_time(read_ms)}: {count(held)} writes are in flight, "
                    f"{count(of_reads)} reads, and each read waits for its turn among them.",
                    f"{count(writes)}/s x {in_time(write_ms)} = {count(held)}",
                    values={"read_ms": read_ms, "write_ms": write_ms, "writes_in_flight": held},
                )
            )
    if found:
        yield max(found, key=lambda reading: reading.values["writes_in_flight"])


def _stream_on_one(devices: Sequence[Device], rows: Sequence[JobRow]) -> Iterator[Reading]:
    """Find one device that writes a stream while many others are nearly idle."""
    if len(devices) < 3:
        return
    most = max(devices, key=lambda device: device.busy or 0.0)
    others = [device for device in devices if device is not most]
    rest, second = (of(device.busy or 0.0 for device in others) for of in (median, max))
    moved, bytes_ = most.bytes_per_s, most.size("writes") or 0.0
    is_writing = most.per_s("writes") > 0.95 * most.ios_per_s
    busy = most.busy or 0.0
    if (
        not is_writing
        or busy < IDLE_STREAM
        or rest > busy / 2
        or second > 0.8 * busy
        or moved < MIN_STREAM
        or bytes_ < 16 << 10
    ):
        return
    small = [row for row in rows if row.direction == "write" and is_sync(row) and request_bytes(row) <= SMALL]
    waits = "".join(
        f" Meanwhile 1% of the small writes of {row.job} wait {in_time(late)} or more."
        for row in small[:1]
        if (late := percentile(row, 99.0)) is not None and late > 10 * (most.ms("writes") or 0.0)
    )
    if busy < BUSY and not waits:
        return
    yield Reading(
        "stream-on-one-device",
        most.name,
        f"{most.name} writes {rate(moved)} in requests of {size(bytes_)} and is busy {100 * (most.busy or 0):.0f}% of "
        f"the time; the other {len(others)} devices are busy {100 * rest:.0f}%. All of a large commit goes through one "
        f"device.{waits}",
        f"{count(most.per_s('writes'))}/s x {size(bytes_)} = {rate(moved)}",
        Strength.PEERS,
        {"busy": most.busy or 0.0, "rest": rest, "bytes_per_s": moved, "waits": float(bool(waits))},
    )


def _one_writer(devices: Sequence[Device]) -> Iterator[Reading]:
    """Find one device that only writes, slowly and all the time, while its peers read and wait for it."""
    if len(devices) < 3:
        return
    writers = [device for device in devices if device.per_s("writes") > 0.9 * device.ios_per_s]
    readers = [device for device in devices if device.per_s("reads") > 0.9 * device.ios_per_s]
    if len(writers) != 1 or len(readers) != len(devices) - 1:
        return
    (writer,) = writers
    rest = max(device.busy or 0.0 for device in readers)
    if (writer.busy or 0.0) > 0.9 and rest < 0.6 and writer.bytes_per_s < STREAM_BYTES:
        yield Reading(
            "one-writer-limits",
            writer.name,
            f"{writer.name} only writes, {rate(writer.bytes_per_s)}, and is busy {100 * (writer.busy or 0):.0f}% of "
            f"the time. The other {len(readers)} devices only read and are busy at most {100 * rest:.0f}%: they wait "
            f"for {writer.name}.",
            f"{count(writer.per_s('writes'))}/s x {size(writer.size('writes') or 0.0)} = {rate(writer.bytes_per_s)}",
            Strength.PEERS,
            {"bytes_per_s": writer.bytes_per_s, "rest": rest},
        )


def _more_read(devices: Sequence[Device], rows: Sequence[JobRow]) -> Iterator[Reading]:
    """Compare the bytes that devices read with those that the application reads."""
    asked, below = _rate(rows, "read"), sum(device.per_s("reads") * (device.size("reads") or 0.0) for device in devices)
    if not asked or any(row.direction == "write" for row in rows):
        return
    moved = {id(row): (row.bytes_per_s or 0.0) * (row.runtime_s or 1.0) for row in rows}
    readers = [row for row in rows if moved[id(row)] > 0.1 * max(moved.values())]
    is_random = all("rand" in row.options.get("rw", "") for row in readers)
    bytes_ = max(request_bytes(row) for row in readers)
    sizes = [size_ for device in devices if (size_ := device.size("reads"))]
    grown = median(sizes) / bytes_ if sizes and bytes_ and is_random and len(readers) == 1 else 0.0
    if below < MORE * asked and not (grown > GROWN and below > 0.5 * asked):
        return
    busy = max(device.busy or 0.0 for device in devices)
    if not is_random and busy < MOSTLY:
        return
    ratio = max(below / asked, grown)
    streams = sum(most_in_flight(row) for row in readers)
    yield Reading(
        "more-is-read",
        "devices",
        (
            f"The application reads {rate(asked)} at random places in requests of {size(bytes_)}, the devices read "
            f"{rate(below)} in requests of {size(median(sizes))}: more is fetched than was asked for, and rarely used."
            if is_random
            else f"The application reads {rate(asked)}, the devices read {rate(below)}: {count(ratio)} bytes for each "
            "byte. Data that are read ahead are evicted before they are used."
        ),
        f"{size(median(sizes))} / {size(bytes_)} = {count(grown)}"
        if grown > below / asked
        else f"{rate(below)} / {rate(asked)} = {count(below / asked)}",
        Strength.LAYERS,
        {"ratio": ratio, "bytes": bytes_, "is_random": float(is_random), "streams": streams, "busy": busy},
    )


def _fed(devices: Sequence[Device], rows: Sequence[JobRow]) -> Iterator[Reading]:
    """Find one device that is written although the application only reads: a cache that is being filled."""
    if len(devices) < 2 or any(row.direction != "read" for row in rows):
        return
    written = [device for device in devices if device.per_s("writes") > MIN_IOS]
    if len(written) != 1:
        return
    (cache,) = written
    fed = cache.per_s("writes") * (cache.size("writes") or 0.0)
    served, total = (
        sum(device.per_s("reads") * (device.size("reads") or 0.0) for device in some) for some in (written, devices)
    )
    if MIN_FEED < fed < MAX_FEED and served < 0.5 * total:
        yield Reading(
            "cache-fills",
            cache.name,
            f"The application only reads, and {cache.name} is written at {rate(fed)}: a cache that is being filled. It "
            f"serves {100 * served / total:.0f}% of the bytes, and 100 GB would take {count(100e9 / fed / 3600)} h at "
            "this rate.",
            f"100 GB / {rate(fed)} = {count(100e9 / fed / 3600)} h",
            Strength.LAYERS,
            {"fed_bytes_per_s": fed, "share": served / total},
        )


def _nobody_reads(devices: Sequence[Device], rows: Sequence[JobRow]) -> Iterator[Reading]:
    """Find devices that read although the application only writes."""
    if any(row.direction != "write" for row in rows):
        return
    reads, writes = (sum(device.per_s(kind) for device in devices) for kind in ("reads", "writes"))
    asked = sum(row.per_s or 0.0 for row in rows)
    if writes < MIN_IOS or reads < 0.1 * writes or not 0.5 < writes / max(asked, 1e-9) < 2:
        return
    sizes = [bytes_ for device in devices if (bytes_ := device.size("reads"))]
    yield Reading(
        "nobody-reads",
        "devices",
        f"The application only writes, but the devices read {count(reads)} times per second"
        f"{f' ({size(median(sizes))} each)' if sizes else ''}, {count(reads / writes)} reads for each write: a block "
        "that a write covers in part must be read first.",
        f"{count(reads)} / {count(writes)} = {count(reads / writes)}",
        Strength.LAYERS,
        {"ratio": reads / writes, "bytes": median(sizes) if sizes else 0.0},
    )


def _combined(devices: Sequence[Device], rows: Sequence[JobRow]) -> Iterator[Reading]:
    """Find a device that gets everything in flight as a single request."""
    if len(devices) != 1 or len(rows) != 1:
        return
    (device,), (row,) = devices, rows
    kind = "reads" if row.direction == "read" else "writes"
    bytes_, asked = device.size(kind) or 0.0, request_bytes(row)
    window = asked * most_in_flight(row)
    queue, busy = device.in_flight or 0.0, device.busy or 0.0
    if (
        asked
        and bytes_ > 3 * asked
        and bytes_ > 0.7 * window
        and queue < 1.1
        and busy < 0.95
        and most_in_flight(row) >= 4
    ):
        yield Reading(
            "combined-into-one",
            device.name,
            f"{device.name} gets requests of {size(bytes_)}, one at a time ({count(queue)} in flight): all "
            f"{most_in_flight(row)} requests of {size(asked)} that {row.job} has in flight. It is idle "
            f"{100 * (1 - busy):.0f}% of the time, while the stages above work on the same request.",
            f"{most_in_flight(row)} x {size(asked)} = {size(window)}",
            Strength.LAYERS,
            {"bytes": bytes_, "window": window, "busy": busy},
        )


def _in_turn(devices: Sequence[Device], rows: Sequence[JobRow]) -> Iterator[Reading]:
    """Find durable writes that become one write of a device each, although many wait."""
    for row in rows:
        if row.direction != "write" or is_paced(row) or in_flight(row) < MANY:
            continue
        per_s, bytes_ = row.per_s or 0.0, request_bytes(row)
        for device in devices:
            writes = device.per_s("writes")
            if (
                0.8 * per_s < writes < 1.25 * per_s
                and device.per_s("reads") < 0.1 * writes
                and (device.in_flight or 0.0) < 1.3
                and (is_sync(row) or (device.busy or 0.0) < BUSY)
                and (device.size("writes") or 0.0) < 3 * bytes_ + 4096
            ):
                yield Reading(
                    "commits-in-turn",
                    device.name,
                    f"{count(in_flight(row))} writes of {row.job} wait, and {device.name} writes "
                    f"{count(writes)} times per second for {count(per_s)} of them: one commit for each, one after the "
                    "other.",
                    f"1 s / {count(per_s)} = {in_time(1e3 / per_s)} for each commit",
                    Strength.LAYERS,
                    {
                        "waiting": in_flight(row),
                        "per_s": per_s,
                        "ms": 1e3 / per_s,
                        "is_sync": float(is_sync(row)),
                    },
                )
                break


def _gathered(devices: Sequence[Device], rows: Sequence[JobRow]) -> Iterator[Reading]:
    """Find durable writes that share the writes of their log devices."""
    durable = [
        row
        for row in rows
        if row.direction == "write" and is_sync(row) and in_flight(row) > 2 and request_bytes(row) > 0
    ]
    asked = sum(row.per_s or 0.0 for row in durable)
    if not durable:
        return
    bytes_ = max(request_bytes(row) for row in durable)
    most = max(device.per_s("writes") for device in devices)
    logs = [
        device
        for device in devices
        if device.per_s("writes") > max(0.9 * device.ios_per_s, 0.5 * most)
        and (device.size("writes") or 0.0) > 1.5 * bytes_
    ]
    below = sum(device.per_s("writes") for device in logs)
    moved = sum(device.per_s("writes") * (device.size("writes") or 0.0) for device in logs)
    if below and asked > 1.5 * below and 0.7 < moved / (asked * bytes_) < 3:
        yield Reading(
            "commits-gathered",
            "log",
            f"{count(asked)} durable writes per second of {size(bytes_)} arrive at {len(logs)} devices as "
            f"{count(below)} of {size(moved / below)}: one commit serves {count(asked / below)} of them. The "
            "devices' rate is lower.",
            f"{count(asked)} / {count(below)} = {count(asked / below)}",
            Strength.LAYERS,
            {"ratio": asked / below, "per_s": asked},
        )


def _starved(devices: Sequence[Device], rows: Sequence[JobRow]) -> Iterator[Reading]:
    """Find devices that all have the same few requests in flight while writers are held back."""
    if len(devices) < 2 or not any(row.direction == "write" and is_full(row) for row in rows):
        return
    queues = [device.in_flight or 0.0 for device in devices]
    busy = min(device.busy or 0.0 for device in devices)
    waiting = sum(in_flight(row) for row in rows)
    if (
        waiting > 2 * sum(queues)
        and max(queues) < 2.3
        and max(queues) < 1.3 * min(queues)
        and busy > MOSTLY
        and max(queues) > 0.8
    ):
        yield Reading(
            "devices-starved",
            f"{len(devices)} devices",
            f"Each of {len(devices)} devices has {count(median(queues))} requests in flight, never more, and is busy "
            f"{100 * busy:.0f}% of the time. Meanwhile {count(waiting)} requests of the application wait: the layer "
            "above hands them out one or two at a time.",
            f"{len(devices)} x {count(median(queues))} = {count(len(devices) * median(queues))} in flight below",
            Strength.LAYERS,
            {"in_flight": median(queues), "waiting": waiting},
        )


def _load(devices: Sequence[Device], rows: Sequence[JobRow]) -> Iterator[Reading]:
    """Find a load that has fewer requests in flight than there are devices to work on them."""
    readers = [row for row in rows if row.direction == "read" and not is_paced(row) and (row.runtime_s or 1.0) > 0.1]
    if not readers or len(devices) < 4:
        return
    row = max(readers, key=lambda reader: (reader.per_s or 0.0) * (reader.runtime_s or 0.0))
    most, ms = most_in_flight(row), total_of(row).mean_ms or 0.0
    below = sum(device.in_flight or 0.0 for device in devices)
    busy = sum(device.busy or 0.0 for device in devices) / len(devices)
    if is_full(row) and most < len(devices) and below > 0.4 * most and busy < 0.7 and ms > 1:
        yield Reading(
            "load-limits",
            row.job,
            f"{row.job} has {most} requests in flight, and there are {len(devices)} devices: at most {most} of them "
            f"can work at a time, and on average they are busy {100 * busy:.0f}%. More requests in flight would be "
            "faster.",
            f"{count(row.per_s or 0.0)}/s x {in_time(ms)} = {count(in_flight(row))}",
            Strength.LAYERS,
            {"depth": most, "devices": len(devices), "busy": busy},
        )
