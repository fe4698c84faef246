"""A fixed-rate logical unit: one server whose rate rises with the requests in it, and an overlapped latency."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seeklab.calibration import closed
from seeklab.calibration.parameter import Parameter, number, rate, times

if TYPE_CHECKING:
    from seeklab.calibration.measured import Results

KIB, MIB = closed.KIB, closed.MIB
LEAST_SIZES = 2
SIZES = (4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB)


def fit(results: Results, capacity: str) -> tuple[dict[str, Any], list[Parameter]] | None:
    """Fit it; None without the jobs that it needs."""
    alone = {float(size): job.mean for size in SIZES if (job := results.get("randread", size, 1))}
    deep = {depth: job.iops for depth in (1, 2, 4, 8, 16, 32, 64) if (job := results.get("randread", MIB, depth))}
    if len(alone) < LEAST_SIZES or not deep:
        return None
    found = closed.unit(alone, deep)
    device: dict[str, Any] = {"capacity": capacity, "rate": rate(found.rate), "latency": times(found.latency)}
    known = [
        Parameter(
            "latency",
            f"{number(found.latency)} us",
            "measured",
            "the intercept of mean latency over size, one at a time",
        ),
        Parameter(
            "rate",
            f"{number(found.rate)} MB/s",
            "measured",
            f"the most of 1 MiB reads at depths {', '.join(map(str, deep))}",
        ),
    ]
    if found.full_at:
        device["varies"] = {"one_in_flight": rate(found.alone), "full_at": found.full_at}
        known += [
            Parameter("rate alone", f"{number(found.alone)} MB/s", "measured", "the slope of mean latency over size"),
            Parameter("full at", f"{found.full_at} in flight", "measured", "from the depths between one and all"),
        ]
    return {"lun": device}, known
