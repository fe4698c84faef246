"""Fit of an SSD: link, overhead and programs in closed form, dies with the engine's latency distribution.

Means, 90th and 99th percentiles of random reads at depths 8 to 128 reveal the number of dies. This holds even if the
link limits the rate, because two requests meet on a die more often if there are fewer dies. Recent drives need
different times for the pages that share their cells, which show as equal modes of single reads. They also suspend
programs for reads.
"""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Any

from seeklab.calibration import closed_forms, depths
from seeklab.calibration.parameter import Parameter, number
from seeklab.calibration.ssd_drive import Drive, search
from seeklab.calibration.ssd_writes import fit_writes

if TYPE_CHECKING:
    from collections.abc import Callable

    from seeklab.calibration.fio_results import Measured, Results

KIB, MIB = closed_forms.KIB, closed_forms.MIB
ASSUMED_OVERHEAD_US = 20.0
ONE_AT_A_TIME = 1.05
MIN_SPLIT, MAX_SPLIT = 0.01, 0.5
MIN_IN_DIE = 0.2
"""Minimum share of the die and channel in a read of the fastest page."""
FASTEST = 5
"""Percentile of single reads that represents the fastest."""
MAX_RETRIES = 0.02
STRIPE = 4
"""Pages of 4 KiB in a physical page of 16 KiB."""
EDGES = (5, 95)
"""Percentiles of the fastest and the slowest page type."""
SAME_STEP = 0.3
"""Maximum relative difference between the steps from 4 to 16 KiB of these two."""


def fit(
    results: Results, capacity: str, progress: Callable[[float], object] | None = None
) -> tuple[dict[str, Any], list[Parameter]] | None:
    """Fit a drive; return None if reads that it needs are missing."""
    four = results.get("randread", 4 * KIB, 1)
    if four is None:
        return None
    known: list[Parameter] = []
    serial = _serves_one(results, four)
    link_rate, command = _link(results, serial=serial, known=known)
    if link_rate is None:
        of = depths.series(results)
        return depths.fit_units(of, capacity, progress)[:2] if of else None
    overhead = _overhead(results, link_rate, command, four, known)
    service = max(1.0, four.mean - overhead - 4 * KIB / link_rate - command)
    known.append(
        Parameter(
            "read and channel",
            f"{number(service)} us",
            "sum",
            "read of a page and its transfer over a channel, from single reads of 4 KiB",
        )
    )
    drive = Drive(link_rate, command, overhead, service, capacity, serial=serial)
    if not serial:
        _page_types(results, four, drive, known)
        search(drive, results, known, progress)
    else:
        known.append(
            Parameter("dies", "16", "assumed", "the drive serves one request at a time, so dies are not visible")
        )
    fit_writes(results, four, drive, known)
    return {"ssd": drive.device()}, known


def _serves_one(results: Results, four: Measured) -> bool:
    two = results.get("randread", 4 * KIB, 2)
    return two is not None and two.iops < ONE_AT_A_TIME * four.iops


def _link(results: Results, *, serial: bool, known: list[Parameter]) -> tuple[float | None, float]:
    jobs = [results.get("randread", size, depth) for size, depth in ((4 * KIB, 256), (16 * KIB, 256), (128 * KIB, 32))]
    deep = results.get("randread", 16 * KIB, 32)
    if jobs[1] is None and deep is not None:
        jobs[1] = deep
    if not serial and all(jobs):
        x4, x16, x128 = (job.iops for job in jobs if job)
        if x128 < x16 < x4:
            found = closed_forms.link(x4, x16, x128)
            if found.is_bound:
                known += [
                    Parameter(
                        "effective link",
                        f"{number(found.rate)} MB/s",
                        "measured",
                        f"requests per second at 4 and 128 KiB; three sizes lie on a line ({found.ratio:.2f})",
                    ),
                    Parameter(
                        "command",
                        f"{number(found.command)} us",
                        "measured",
                        "requests per second at 4 KiB and depth 256",
                    ),
                ]
                return found.rate, found.command
    small, large = results.get("randread", 16 * KIB, 1), results.get("randread", 64 * KIB, 1)
    if small is None or large is None or large.mean <= small.mean:
        return None, 0.0
    found_rate = closed_forms.link_by_slope(small.mean, large.mean)
    command = max(0.0, 1e6 / jobs[0].iops - 4 * KIB / found_rate) if jobs[0] and not serial else 0.0
    known.append(
        Parameter(
            "effective link",
            f"{number(found_rate)} MB/s",
            "measured",
            "slope of the latency of single requests from 16 to 64 KiB; the link does not limit the rate",
        )
    )
    known.append(
        Parameter(
            "command",
            f"at most {number(command)} us" if command else "0",
            "bound" if command else "assumed",
            "the link does not limit requests per second, so it is not visible",
        )
    )
    return found_rate, 0.0


def _overhead(results: Results, link_rate: float, command: float, four: Measured, known: list[Parameter]) -> float:
    paused = [
        job
        for key, job in results.jobs.items()
        if key.rw == "randwrite" and key.size == 4 * KIB and key.depth == 1 and key.pause_us
    ]
    if not paused:
        known.append(
            Parameter(
                "overhead",
                f"{ASSUMED_OVERHEAD_US:g} us",
                "assumed",
                "single writes with pauses were not recorded; typical of a host with a drive",
            )
        )
        return ASSUMED_OVERHEAD_US
    overhead = max(1.0, paused[0].mean - 4 * KIB / link_rate - command)
    most = max(1.0, (1 - MIN_IN_DIE) * four.q(FASTEST) - 4 * KIB / link_rate - command)
    if overhead > most:
        known.append(
            Parameter(
                "overhead",
                f"at most {number(most)} us",
                "bound",
                f"single writes of 4 KiB with pauses took {number(paused[0].mean)} us, reads without pauses "
                f"{number(four.mean)} us: writes are unbuffered, or the host sleeps in pauses. The bound comes "
                "from the fastest reads",
            )
        )
        return most
    known.append(
        Parameter(
            "overhead",
            f"{number(overhead)} us",
            "measured",
            "single writes of 4 KiB with pauses; includes the host's own path",
        )
    )
    return overhead


def _page_types(results: Results, four: Measured, drive: Drive, known: list[Parameter]) -> None:
    """Find page types from the modes of single reads, and the channel from reads of one physical page."""
    levels = closed_forms.page_types(four.q)
    if not levels:
        return
    sixteen = results.get("randread", 16 * KIB, 1)
    channel = drive.split * drive.service
    before = drive.overhead + 4 * KIB / drive.link_rate + drive.command
    if levels[0] - before < MIN_IN_DIE * levels[0]:
        return  # too little time is left for flash: the modes are a cache's, or the overhead was assumed
    steps = [sixteen.q(edge) - four.q(edge) for edge in EDGES] if sixteen else []
    if steps and max(steps) - min(steps) <= SAME_STEP * max(steps):
        drive.stripe = STRIPE
        moved = (fmean(steps) - 12 * KIB / drive.link_rate) / (STRIPE - 1)
        channel = max(MIN_SPLIT * drive.service, moved)
        known.append(
            Parameter(
                "channel",
                f"{number(4 * KIB / channel)} MB/s",
                "measured",
                "fastest and slowest reads of 16 KiB, which are one physical page, compared with those of 4 KiB",
            )
        )
    channel = min(channel, MAX_SPLIT * (levels[0] - before))
    drive.set_types([level - before for level in levels], channel)
    top, step = levels[-1], levels[0] - before - channel
    drive.retry = min(MAX_RETRIES, four.runs[0].count_above(top + step / 2) / four.runs[0].requests)
    known += [
        Parameter(
            "page types",
            ", ".join(f"{number(level)} us" for level in levels),
            "measured",
            "equal modes of single reads of 4 KiB",
        ),
        Parameter("reads repeated", f"{100 * drive.retry:.2g}%", "measured", "single reads above the slowest mode"),
    ]
