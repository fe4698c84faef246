"""fio's JSON and JSON+ of any version, with text around it.

Version 2 writes microseconds, version 3 nanoseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seeklab.bring.block import Block, DeviceRow, Flow, JobRow, Latency, Sample
from seeklab.bring.json_block import document_at, finite, mapping, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from seeklab.bring.lines import Lines

TOOL = "fio-json"
STARTS = r"\{\s*(?:$|\"fio version\"|\"global options\"|\"jobs\")"
HOLDS: tuple[str, ...] = ()
WAYS = ("read", "write", "trim", "mixed")
KIB = 1024


def read(lines: Lines, at: int) -> Block | None:
    """Return the results of the document at `at`."""
    found = document_at(lines, at)
    if found is None:
        return None
    document, last = found
    if not isinstance(document, dict) or not rows_of(document.get("jobs")):
        return None
    if "fio version" not in document and not any(
        "job options" in job or "jobname" in job for job in rows_of(document["jobs"])
    ):
        return None
    given = mapping(document.get("global options"))
    records: list[JobRow | Sample] = []
    seconds = 0.0
    for job in rows_of(document["jobs"]):
        rows = list(_rows(job, given))
        seconds = max([seconds, *(row.runtime_s or 0.0 for row in rows)])
        records += rows
    if disks := tuple(_disks(document, seconds)):
        records.append(Sample(disks, at + 1))
    version = str(document.get("fio version", "")).removeprefix("fio-")
    return Block(TOOL, at + 1, last, list(records), version)


def _rows(job: dict[str, Any], given: dict[str, Any]) -> Iterator[JobRow]:
    options = {str(name): str(value) for name, value in {**given, **mapping(job.get("job options"))}.items()}
    sync = mapping(mapping(job.get("sync")).get("lat_ns"))
    of_sync = _latency(sync, 1e-6) if finite(mapping(job.get("sync")).get("total_ios")) else Latency()
    cpu = {name: value for name in ("usr", "sys") if (value := finite(job.get(f"{name}_cpu"))) is not None}
    for way in WAYS:
        of = mapping(job.get(way))
        count = finite(of.get("total_ios"))
        if not count:
            continue
        runtime = finite(of.get("runtime"))
        rate = finite(of.get("bw_bytes"))
        kib = finite(of.get("bw"))
        yield JobRow(
            str(job.get("jobname", "")),
            way,
            finite(of.get("iops")),
            rate if rate is not None else (kib * KIB if kib is not None else None),
            count,
            _times(of, "lat"),
            _times(of, "clat"),
            _times(of, "slat"),
            of_sync,
            options,
            cpu,
            runtime / 1e3 if runtime is not None else None,
        )


def _times(of: dict[str, Any], name: str) -> Latency:
    if f"{name}_ns" in of:
        return _latency(mapping(of[f"{name}_ns"]), 1e-6)
    return _latency(mapping(of.get(name)), 1e-3)


def _latency(of: dict[str, Any], ms: float) -> Latency:
    if not of or finite(of.get("mean")) is None:
        return Latency()
    percentiles = {}
    for percent, value in mapping(of.get("percentile")).items():
        at, time = finite(_float(percent)), finite(value)
        if at is not None and time is not None:
            percentiles[at] = time * ms
    mean, spread, least, most = (finite(of.get(key)) for key in ("mean", "stddev", "min", "max"))
    scaled = [None if value is None else value * ms for value in (mean, spread, least, most)]
    return Latency(scaled[0], scaled[1], scaled[2], scaled[3], percentiles, finite(of.get("N")))


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _disks(document: dict[str, Any], seconds: float) -> Iterator[DeviceRow]:
    for disk in rows_of(document.get("disk_util")):
        flows = []
        for way in ("read", "write"):
            count, ticks = finite(disk.get(f"{way}_ios")), finite(disk.get(f"{way}_ticks"))
            flows.append(
                Flow(
                    count / seconds if count is not None and seconds else None,
                    None,
                    ticks / count if ticks is not None and count else None,
                )
            )
        queue, util = finite(disk.get("in_queue")), finite(disk.get("util"))
        yield DeviceRow(
            str(disk.get("name", "")),
            flows[0],
            flows[1],
            in_flight=queue / 1e3 / seconds if queue is not None and seconds else None,
            busy=util / 100 if util is not None else None,
        )
