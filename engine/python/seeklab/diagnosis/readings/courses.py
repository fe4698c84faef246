"""How a device changes over the samples of a report: a rate that falls and stays low, or all devices at once."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from seeklab.diagnosis.intervals import MIN_PER_S, Device, bytes_per_s, devices_of, ios_per_s, samples, tables
from seeklab.diagnosis.reading import Reading, Strength, count, rate
from seeklab.diagnosis.readings.jobs_of import in_flight, is_full, is_paced, jobs_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from seeklab.bring.block import Block, DeviceRow

TOOLS = frozenset(("iostat-x", "iostat", "solaris-iostat", "freebsd-iostat", "gstat", "sar-d"))
MIN_SAMPLES = 6
SIDE = 2
STEADY = 0.2
FALLS = 2.0
ROUND = (50, 0.01)
STOPS, STOPPED, UNEVEN = 0.5, 0.15, 0.3
MIN_PEERS = 3


def read(blocks: Sequence[Block]) -> Iterator[Reading]:
    """Yield the readings of courses."""
    yield from _stops(blocks)
    closed = [row for row in jobs_of(blocks) if is_full(row) and not is_paced(row)]
    for block in blocks:
        if block.tool not in TOOLS or len(samples(block)) < MIN_SAMPLES:
            continue
        devices = [device for device in devices_of(block) if not device.is_stacked]
        for device in devices:
            yield from _falls(device)
        yield from _together(devices, len(samples(block)), closed[0].job if closed else None)


def _stops(blocks: Sequence[Block]) -> Iterator[Reading]:
    """Find a job that keeps its requests at several devices, and whose rate stops although they are alike."""
    devices = [device for block in tables(blocks) for device in devices_of(block) if device.ios_per_s >= 1]
    moved = [device.bytes_per_s for device in devices if not device.is_stacked]
    if len(moved) < MIN_PEERS or max(moved) > 1.2 * min(moved):
        return
    held = sum(device.in_flight or 0.0 for device in devices)
    for row in jobs_of(blocks):
        of = row.samples
        if (
            not is_full(row)
            or is_paced(row)
            or of.get("samples", 0) < MIN_SAMPLES
            or not 0.5 < held / in_flight(row) < 2
        ):
            continue
        if not {"min", "avg", "stdev"} <= set(of) or not of["avg"]:
            continue
        if of["min"] < STOPPED * of["avg"] and of["stdev"] > UNEVEN * of["avg"]:
            yield Reading(
                "work-stops",
                row.job,
                f"{row.job} keeps {count(in_flight(row))} requests in flight, and completes {count(of['avg'])} per "
                f"second on average, but {count(of['min'])} in its worst half-second. All {len(moved)} devices did the "
                "same work, so all of them stopped.",
                f"{count(of['min'])} / {count(of['avg'])} = {of['min'] / of['avg']:.2f}",
                Strength.PEERS,
                {"ratio": of["min"] / of["avg"], "devices": len(moved)},
            )


def _is_steady(values: Sequence[float]) -> bool:
    middle = median(values)
    near = [value for value in values if abs(value - middle) <= STEADY * middle]
    return middle > 0 and len(near) >= 0.8 * len(values)


def _is_round(value: float) -> bool:
    step, near = ROUND
    return value >= step and abs(value / step - round(value / step)) * step <= near * value


def _falls(device: Device) -> Iterator[Reading]:
    """Find one fall between two steady rates, with requests waiting before and after it."""
    rows = device.rows
    if len(rows) < MIN_SAMPLES:
        return
    by_bytes = [bytes_per_s(row) for row in rows]
    at = _split(by_bytes)
    # The rate falls within a sample, which belongs to neither side.
    before = by_bytes[: at - 1] if at > SIDE else by_bytes[:at]
    after = by_bytes[at + 1 :] if at + 1 < len(rows) - 1 else by_bytes[at:]
    if not _is_steady(before) or not _is_steady(after) or median(before) < FALLS * median(after):
        return
    queues = _queue(rows[:at]), _queue(rows[at:])
    if queues[1] is not None and (queues[1] < 0.9 or queues[1] < 0.5 * (queues[0] or 0.0)):
        return
    ios = median(ios_per_s(row) for row in rows[:at]), median(ios_per_s(row) for row in rows[at + 1 :] or rows[at:])
    writes, total = device.per_s("writes"), max(device.ios_per_s, MIN_PER_S)
    seconds = sum(sample.seconds or 0.0 for sample in samples(device.block)[:at])
    first, then = median(before), median(after)
    held = f", with {count(queues[1])} in flight" if queues[1] is not None else ""
    yield Reading(
        "rate-falls",
        device.name,
        f"{device.name} moves {rate(first)} ({count(ios[0])} requests/s) in the first {at} of {len(rows)} samples and "
        f"{rate(then)} ({count(ios[1])} requests/s) from then on{held}: the rate falls at once and stays low, though "
        "requests wait.",
        f"{rate(first)} / {rate(then)} = {count(first / then)}",
        values={
            "ratio": first / then,
            "write_share": writes / total,
            "ios_before": ios[0],
            "ios_after": ios[1],
            "bytes_before": first,
            "bytes_after": then,
            "is_round": float(_is_round(ios[0]) and _is_round(ios[1])),
            "bytes": first / max(ios[0], MIN_PER_S),
            "s": seconds,
        },
    )


def _split(values: Sequence[float]) -> int:
    """Return the place that divides the values into two parts with the least squares around their means."""
    total, left = sum(values), 0.0
    best, at = -1.0, SIDE
    for place, value in enumerate(values[:-SIDE], 1):
        left += value
        if place < SIDE:
            continue
        explained = left**2 / place + (total - left) ** 2 / (len(values) - place)
        if explained > best:
            best, at = explained, place
    return at


def _queue(rows: Sequence[DeviceRow]) -> float | None:
    found = [row.in_flight for row in rows if row.in_flight is not None]
    return median(found) if found else None


def _together(devices: Sequence[Device], total: int, closed: str | None) -> Iterator[Reading]:
    """Find samples where every device does far less than usual at the same time, though the load stays."""
    active = [device for device in devices if len(device.rows) == total and bytes_per_s(device.rows[0]) >= 0]
    usual = {device.name: median(bytes_per_s(row) for row in device.rows) for device in active}
    active = [device for device in active if usual[device.name] > 0]
    if len(active) < MIN_PEERS:
        return
    slow = [
        place
        for place in range(total)
        if all(bytes_per_s(device.rows[place]) < STOPS * usual[device.name] for device in active)
    ]
    others = [place for place in range(total) if place not in slow]
    waits = [
        (row.in_flight or 0.0) >= 1 for place in slow for device in active if (row := device.rows[place]).in_flight
    ]
    stays = closed is not None or (bool(waits) and all(waits))
    if not slow or len(slow) > total / 2 or not stays or _are_bursts(active, usual, others):
        return
    least = median(bytes_per_s(device.rows[place]) for place in slow for device in active)
    most = median(usual.values())
    load = f"{closed} keeps as many requests in flight" if closed else "requests keep waiting"
    yield Reading(
        "all-at-once",
        f"{len(active)} devices",
        f"In {len(slow)} of {total} samples all {len(active)} devices move {rate(least)} instead of {rate(most)}, at "
        f"the same time, though {load}. They share what disturbs them.",
        f"{rate(least)} / {rate(most)} = {least / most:.2f}",
        Strength.PEERS,
        {"samples": len(slow), "share": len(slow) / total, "ratio": least / most, "devices": len(active)},
    )


def _are_bursts(devices: Sequence[Device], usual: dict[str, float], others: Sequence[int]) -> bool:
    """Return whether the devices work in bursts anyway: their other samples are uneven, too."""
    uneven = [
        abs(bytes_per_s(device.rows[place]) / usual[device.name] - 1) > STOPS for place in others for device in devices
    ]
    return sum(uneven) > 0.2 * len(uneven)
