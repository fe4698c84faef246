"""Fit of a disk: buffer, rates, speed and seek curve in closed form; its queue policy with the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seeklab.calibration import closed_forms, depths
from seeklab.calibration.parameter import Parameter, number, rate, times
from seeklab.calibration.simulated import ask

if TYPE_CHECKING:
    from collections.abc import Callable

    from seeklab.calibration.fio_results import Measured, Results

KIB, MIB = closed_forms.KIB, closed_forms.MIB
HITS_SPAN = 64 * KIB
MIN_SPANS = 2
"""Spans of the disk that show its seeks; with one, only depths tell something."""
POLICIES = ("satf", "scan", "sstf", "c-look", "fcfs")
CLEAR = 1.05
"""Minimum ratio of the rates of two policies that can be distinguished."""
ASSUMED = {
    "heads": 8,
    "zones": 16,
    "head_switch": "0.8ms",
    "write_settle": "1ms",
    "buffer": "128MB",
    "segments": 32,
    "queue_depth": 32,
}


def fit(
    results: Results, capacity: str, capacity_bytes: float, progress: Callable[[float], object] | None = None
) -> tuple[dict[str, Any], list[Parameter]] | None:
    """Fit a disk; return None if reads that it needs are missing."""
    small, large = (_hits(results, size) for size in (4 * KIB, 64 * KIB))
    spans = _spans(results, capacity_bytes)
    if len(spans) < MIN_SPANS:
        of = depths.series(results)
        return depths.fit_disk(of, capacity, progress)[:2] if of else None
    known: list[Parameter] = []
    if small and large:
        interface = 60 * KIB / (large.q(50) - small.q(50))
        overhead = small.q(50) - 4 * KIB / interface
        known += [
            Parameter(
                "overhead",
                f"{number(overhead)} us",
                "measured",
                "hits in the drive's buffer; includes the host's own path",
            ),
            Parameter("interface", f"{number(interface)} MB/s", "measured", "hits of 4 and 64 KiB"),
        ]
    else:
        interface, overhead = 550.0, 200.0
        known.append(
            Parameter(
                "overhead and interface", "200 us, 550 MB/s", "assumed", "no repeated reads of one region were recorded"
            )
        )
    outer, inner = _rates(results, known)
    measured_turn, turn = closed_forms.rotation_us(spans[min(spans)].q(10), spans[min(spans)].q(90))
    rpm = round(closed_forms.US_PER_MINUTE / turn)
    known.append(
        Parameter(
            "speed",
            f"{rpm} rpm",
            "measured",
            f"spread of reads in a narrow span, {number(measured_turn / 1000)} ms; the nearest real speed",
        )
    )
    fixed = overhead + turn / 2 + 4 * KIB / interface + 4 * KIB / (outer * (1 + inner / outer) / 2)
    curve = closed_forms.seeks(
        {closed_forms.stroke(share, inner / outer): job.mean - fixed for share, job in spans.items()}
    )
    whole = max(spans) > 0.9
    average, full = (curve.average, curve.full) if whole else (8500.0, 17000.0)
    single = max(curve.single, 100.0)
    average = min(max(average, single * 1.05), max(full, single * 1.2) * 0.95)
    full = max(full, average * 1.05)
    known += [
        Parameter("shortest seek", f"{number(single / 1000)} ms", "measured", "reads over growing spans"),
        Parameter(
            "average seek",
            f"{number(average / 1000)} ms",
            "measured" if whole else "assumed",
            "reads over growing spans" if whole else "only a part of the disk was read; typical",
        ),
        Parameter(
            "full seek",
            f"{number(full / 1000)} ms",
            "bound" if whole else "assumed",
            "hard to separate from the curve's shape; repeats would be needed"
            if whole
            else "only a part of the disk was read; typical",
        ),
    ]
    device: dict[str, Any] = {
        **ASSUMED,
        "rpm": rpm,
        "capacity": capacity,
        "outer_rate": rate(outer),
        "inner_rate": rate(inner),
        "seek_single": times(single),
        "seek_average": times(average),
        "seek_full": times(full),
        "overhead": times(overhead),
        "interface_rate": rate(interface),
    }
    device |= _switches(results, overhead, turn, known)
    device["queue_policy"] = _policy(results, device, known)
    known.append(
        Parameter(
            "heads, zones, segments, head switch, buffer",
            "8, 16, 32, 0.8 ms, 128 MB",
            "assumed",
            "not visible in fio reports",
        )
    )
    return {"hdd": device}, known


def _hits(results: Results, size: int) -> Measured | None:
    found = [
        job
        for key, job in results.jobs.items()
        if key.rw in ("read", "randread") and key.size == size and key.depth == 1 and 0 < key.span <= HITS_SPAN
    ]
    return found[0] if found else None


def _spans(results: Results, capacity_bytes: float) -> dict[float, Measured]:
    """Return random single reads of 4 KiB, by the share of the disk that they cover."""
    found = {}
    for key, job in results.jobs.items():
        is_plain = key.rw == "randread" and key.size == 4 * KIB and key.depth == 1 and not key.offset
        if is_plain and not 0 < key.span <= HITS_SPAN:
            found[min(1.0, key.span / capacity_bytes) if key.span else 1.0] = job
    return found


def _rates(results: Results, known: list[Parameter]) -> closed_forms.Rates:
    places: dict[float, dict[int, float]] = {}
    for key, job in results.jobs.items():
        if key.rw == "read" and key.depth == 1 and key.size in (MIB, 8 * MIB) and key.offset < 1:
            places.setdefault(key.offset, {})[key.size] = 1e6 / job.iops
    rates = {place: 7 * MIB / (of[8 * MIB] - of[MIB]) for place, of in places.items() if len(of) == 2}
    least = 2
    if len(rates) < least:
        known.append(
            Parameter(
                "rates",
                "175 and 87 MB/s",
                "assumed",
                "sequential reads of 1 and 8 MiB at two places were not recorded; typical",
            )
        )
        return closed_forms.Rates(175.0, 87.0)
    found = closed_forms.edges(rates)
    known.append(
        Parameter(
            "rates",
            f"{number(found.outer)} MB/s at the outer edge, {number(found.inner)} MB/s at the inner",
            "measured",
            f"sequential reads of 1 and 8 MiB at {len(rates)} places",
        )
    )
    return found


def _switches(results: Results, overhead: float, turn: float, known: list[Parameter]) -> dict[str, Any]:
    """Find out whether read-ahead and the write cache are on."""
    ahead = results.get("read", 4 * KIB, 1)
    reads_ahead = ahead is None or ahead.mean < turn / 4
    known.append(
        Parameter(
            "read-ahead",
            "on" if reads_ahead else "off",
            "measured" if ahead else "assumed",
            "single sequential reads of 4 KiB" if ahead else "factory setting",
        )
    )
    paused = [
        job
        for key, job in results.jobs.items()
        if key.rw == "randwrite" and key.size == 4 * KIB and key.depth == 1 and key.pause_us
    ]
    cache = not paused or paused[0].mean < overhead + turn / 4
    known.append(
        Parameter(
            "write cache",
            "on" if cache else "off",
            "measured" if paused else "assumed",
            "single writes with pauses" if paused else "factory setting",
        )
    )
    return {"read_ahead": "1MiB" if reads_ahead else 0, "write_cache": cache}


def _policy(results: Results, device: dict[str, Any], known: list[Parameter]) -> str:
    deep = results.get("randread", 4 * KIB, 32)
    if deep is None:
        known.append(Parameter("queue policy", "satf", "assumed", "reads of 4 KiB at depth 32 were not recorded"))
        return "satf"
    rates = {
        policy: ask({"hdd": {**device, "queue_policy": policy}}, deep.key, most_ios=1500).iops for policy in POLICIES
    }
    off = {policy: max(found / deep.iops, deep.iops / found) for policy, found in rates.items()}
    best = min(off, key=lambda policy: off[policy])
    others = [policy for policy in POLICIES if policy != best and off[policy] < CLEAR * off[best]]
    alike = f"; {' and '.join(others)} would fit as well" if others else ""
    known.append(
        Parameter(
            "queue policy",
            best,
            "bound" if others else "measured",
            f"{deep.iops:.0f} reads per second at depth 32, {rates[best]:.0f} simulated{alike}",
        )
    )
    return best
