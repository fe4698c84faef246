"""Fit of a fixed-rate logical unit: one server whose rate rises with its requests, and an overlapping latency."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seeklab.calibration import closed_forms
from seeklab.calibration.parameter import Parameter, number, rate, times

if TYPE_CHECKING:
    from seeklab.calibration.fio_results import Results

KIB, MIB = closed_forms.KIB, closed_forms.MIB
MIN_SIZES = 2
MIN_SCATTER = 0.05
MIN_LATENCY = 0.1
"""Minimum share of overlapping time in the shortest single read, for a command to be identified."""
GREAT_DEPTH = 16
"""Minimum depth where we assume that the server, not the latency, limits requests."""
SIZES = (4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB)


def fit(results: Results, capacity: str) -> tuple[dict[str, Any], list[Parameter]] | None:
    """Fit a logical unit; return None if jobs that it needs are missing."""
    alone = {float(size): job.mean for size in SIZES if (job := results.get("randread", size, 1))}
    deep = {depth: job.iops for depth in (1, 2, 4, 8, 16, 32, 64) if (job := results.get("randread", MIB, depth))}
    if len(alone) < MIN_SIZES or not deep:
        return None
    shared = _server(results)
    latency = _latency(alone, shared) if shared else 0.0
    # Without an overlapping latency, it is a drive that serves one request at a time: its command is the flash.
    if shared and latency > MIN_LATENCY * min(alone.values()):
        unit, parameters = _with_command(latency, shared, capacity)
        _scatter(results, unit, parameters)
        return {"lun": unit}, parameters
    found = closed_forms.unit(alone, deep)
    device: dict[str, Any] = {"capacity": capacity, "rate": rate(found.rate), "latency": times(found.latency)}
    known = [
        Parameter(
            "latency",
            f"{number(found.latency)} us",
            "measured",
            "intercept of the mean latency of single requests over size",
        ),
        Parameter(
            "rate",
            f"{number(found.rate)} MB/s",
            "measured",
            f"maximum of 1 MiB reads at depths {', '.join(map(str, deep))}",
        ),
    ]
    if found.full_at:
        device["varies"] = {"one_in_flight": rate(found.alone), "full_at": found.full_at}
        known += [
            Parameter("rate alone", f"{number(found.alone)} MB/s", "measured", "slope of the mean latency over size"),
            Parameter("full at", f"{found.full_at} in flight", "measured", "from the depths between one and all"),
        ]
    return {"lun": device}, known


def _server(results: Results) -> closed_forms.Server | None:
    """Return the server's time for a command, from the maximum request rate of each size at a great depth."""
    most: dict[int, float] = {}
    for key, job in results.jobs.items():
        if key.rw == "randread" and key.depth >= GREAT_DEPTH and not key.pause_us and not key.rate_iops:
            most[key.size] = max(job.iops, most.get(key.size, 0.0))
    return closed_forms.server(most)


def _latency(alone: dict[float, float], server: closed_forms.Server) -> float:
    """Return the remaining latency of single reads without the server's time, as the median over sizes."""
    rests = sorted(mean - server.command - size / server.rate for size, mean in alone.items())
    return max(0.0, rests[len(rests) // 2])


def _with_command(latency: float, server: closed_forms.Server, capacity: str) -> tuple[dict[str, Any], list[Parameter]]:
    """Return a unit whose server needs a time for each request, besides its latency."""
    device = {
        "capacity": capacity,
        "rate": rate(server.rate),
        "latency": times(latency),
        "command": times(server.command),
    }
    return device, [
        Parameter(
            "latency",
            f"{number(latency)} us",
            "measured",
            "single reads without the time of command and bytes, median over sizes; includes the host's own path",
        ),
        Parameter(
            "rate", f"{number(server.rate)} MB/s", "measured", "maximum requests per second by size, at great depths"
        ),
        Parameter(
            "command",
            f"{number(server.command)} us",
            "measured",
            "the same: a request's time without its bytes, or the volume's limit of requests per second",
        ),
    ]


def _scatter(results: Results, device: dict[str, Any], known: list[Parameter]) -> None:
    """Find the scatter of the latency from single reads of the smallest size."""
    single = next((job for size in SIZES if (job := results.get("randread", size, 1))), None)
    latency = float(device["latency"].removesuffix("ns")) / 1000
    if single is None or latency <= 0:
        return
    found = closed_forms.scatter((single.q(99) - single.mean + latency) / latency)
    if found < MIN_SCATTER:
        return
    device["latency_cv"] = round(found, 3)
    known.append(
        Parameter(
            "scatter",
            f"{100 * found:.0f}% of the latency",
            "measured",
            f"the 99th percentile of {single.key}, if latencies have a gamma distribution",
        )
    )
