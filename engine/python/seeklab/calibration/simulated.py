"""Runs of a recording's jobs on a candidate device."""

from __future__ import annotations

import json
from math import log, sqrt
from typing import TYPE_CHECKING, Any

from seeklab._result import run
from seeklab.calibration.fio_results import Measured, Run

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from seeklab.calibration.fio_results import Key

SEED = 101
"""A seed that no recording uses."""
MAX_IOS = 20_000
"""Minimum number of requests of a job, so that those in flight at its end are a small part."""
MIN_SPAN = 1 << 28


def scenario(device: Mapping[str, Any], key: Key, most_ios: int = MAX_IOS, runtime_s: float = 0.0) -> dict[str, Any]:
    """Return the scenario of a job on a device."""
    job: dict[str, Any] = {"name": "job", "filename": "volume", "bs": key.size, "iodepth": key.depth}
    job["rw"] = {"rw": "readwrite"}.get(key.rw, key.rw)
    if key.rw in ("randrw", "rw"):
        job["rwmixread"] = key.mix
    if key.offset:
        job["offset"] = f"{100 * key.offset:.9f}%" if key.offset < 1 else round(key.offset)
    if "hdd" in device and not key.span:
        job["size"] = "100%"  # seeks over a part would be shorter
    else:
        job["size"] = round(key.span or MIN_SPAN) // key.size * key.size
    if key.pause_us:
        job["thinktime"] = f"{key.pause_us}us"
    if key.rate_iops:
        job["rate_iops"] = key.rate_iops
    if key.rw.startswith("rand"):
        job["norandommap"] = True
    job["time_based"] = True
    job["runtime"] = round(max(runtime_s, 0.01) * 1e9) if runtime_s else 10**11
    job["number_ios"] = most_ios
    return {"jobs": [job], "devices": [{"name": "disk", **device}], "record": {"log": False}}


def ask(device: Mapping[str, Any], key: Key, *, most_ios: int = MAX_IOS, runtime_s: float = 0.0) -> Measured:
    """Run a job on a candidate and return its latencies as a recording would have them."""
    result = run(scenario(device, key, most_ios, runtime_s), seed=SEED)
    report = json.loads(result.text("fio-json+"))["jobs"][0]
    result.close()
    read, write = report["read"], report["write"]
    main = write if key.rw in ("write", "randwrite") else read
    latency = main["clat_ns"]  # a modelled host takes no time to submit
    return Measured(
        key,
        (
            Run(
                mean=latency["mean"] / 1e3,
                iops=read["iops"] + write["iops"],
                bins=tuple(sorted((int(ns) / 1e3, count) for ns, count in latency.get("bins", {}).items())),
                least=latency["min"] / 1e3,
                longest=latency["max"] / 1e3,
                io_bytes=read["io_bytes"] + write["io_bytes"],
                runtime_s=report["job_runtime"] / 1e3,
            ),
        ),
    )


def rms(
    device: Mapping[str, Any], wanted: Iterable[tuple[Measured, tuple[float, ...]]], most_ios: int = 6_000
) -> float:
    """Return the root mean square of log ratios of means and percentiles, simulated to measured."""
    logs = []
    for job, percents in wanted:
        found = ask(device, job.key, most_ios=most_ios)
        logs.append(log(found.mean / job.mean))
        logs += [log(found.q(percent) / job.q(percent)) for percent in percents]
    return sqrt(sum(value * value for value in logs) / len(logs))
