"""A fixed-rate logical unit: one server whose rate rises with the requests in it, and an overlapped latency."""

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
"""Share of the shortest single read that overlaps with others, at least, where a command is told from it."""
GREAT_DEPTH = 16
"""From which on the server, and not the latency, is taken to limit requests."""
SIZES = (4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB)


def fit(results: Results, capacity: str) -> tuple[dict[str, Any], list[Parameter]] | None:
    """Fit it; None without the jobs that it needs."""
    alone = {float(size): job.mean for size in SIZES if (job := results.get("randread", size, 1))}
    deep = {depth: job.iops for depth in (1, 2, 4, 8, 16, 32, 64) if (job := results.get("randread", MIB, depth))}
    if len(alone) < MIN_SIZES or not deep:
        return None
    shared = _server(results)
    latency = _latency(alone, shared) if shared else 0.0
    # Without a latency that overlaps it is a drive that serves one request at a time, whose command is its flash.
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


def _server(results: Results) -> closed_forms.Server | None:
    """Find the server's time for a command from the most requests a second that each size reached at a great depth."""
    most: dict[int, float] = {}
    for key, job in results.jobs.items():
        if key.rw == "randread" and key.depth >= GREAT_DEPTH and not key.pause_us and not key.rate_iops:
            most[key.size] = max(job.iops, most.get(key.size, 0.0))
    return closed_forms.server(most)


def _latency(alone: dict[float, float], server: closed_forms.Server) -> float:
    """Find what is left of single reads without the server's time; the median over sizes."""
    rests = sorted(mean - server.command - size / server.rate for size, mean in alone.items())
    return max(0.0, rests[len(rests) // 2])


def _with_command(latency: float, server: closed_forms.Server, capacity: str) -> tuple[dict[str, Any], list[Parameter]]:
    """Write a unit whose server takes a time for each request besides its latency."""
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
            "single reads of each size less command and bytes, the median; the host's own path is in it",
        ),
        Parameter(
            "rate", f"{number(server.rate)} MB/s", "measured", "the most requests a second by size, at great depths"
        ),
        Parameter(
            "command",
            f"{number(server.command)} us",
            "measured",
            "the same: what a request takes besides its bytes; a limit of requests a second, if the volume has one",
        ),
    ]


def _scatter(results: Results, device: dict[str, Any], known: list[Parameter]) -> None:
    """Find how much the latency scatters from single reads of the smallest size."""
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
            f"{100 * found:.0f} % of the latency",
            "measured",
            f"the 99th percentile of {single.key}, if latencies are a gamma distribution's",
        )
    )
