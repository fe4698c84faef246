"""fio's log files: `write_lat_log`, `write_bw_log` and `write_iops_log`, as fio 3.33 writes them.

A line has time in ms, value, direction (0 reads, 1 writes), block size, the offset with `log_offset`, and the priority.
Latencies are in nanoseconds, and bandwidths in 1000 bytes per second of each request. With `log_avg_msec` a line covers
a window of one direction, and its size and offset are 0. All workers of a job write to one file: the model's log does
not distinguish them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from seeklab._result import Result

NS_PER_MS = 1_000_000
DIRECTIONS = 2


class _Completed(NamedTuple):
    """A completed request."""

    time_ns: int
    direction: int
    bytes: int
    offset: int
    latency_ns: int


def log_files(jobs: Sequence[Mapping[str, Any]], logs: Iterable[Mapping[str, Any]], result: Result) -> dict[str, str]:
    """Return the logs that each job requests: their texts by file name."""
    logs = tuple(logs)
    if not any(log["lat"] or log["bw"] or log["iops"] for log in logs):
        return {}
    requests: list[list[_Completed]] = [[] for _ in jobs]
    ops = result.ops
    columns = (ops["job"], ops["op"], ops["bytes"], ops["offset"], ops["submit_ns"], ops["latency_ns"])
    for job, op, size, offset, submitted, latency in zip(*columns, strict=True):
        # Columns of large numbers are floats.
        numbers = (submitted + latency, op, size, offset, latency)
        requests[int(job)].append(_Completed(*(int(number) for number in numbers)))
    files: dict[str, str] = {}
    number = 1
    for log, job, of_job in zip(logs, jobs, requests, strict=True):
        for kind, prefix, value, mean in (
            ("lat", log["lat"], _latency, _mean_latency),
            ("clat", log["lat"], _latency, _mean_latency),
            ("slat", log["lat"], None, _mean_latency),
            ("bw", log["bw"], _bandwidth, _mean_bandwidth),
            ("iops", log["iops"], _one, _mean_iops),
        ):
            if not prefix:
                continue
            suffix = f".{number}" if log["per_job"] else ""
            name = f"{prefix}_{kind}{suffix}.log"
            lines = [] if value is None else _lines(of_job, log, value, mean)
            files[name] = files.get(name, "") + "".join(lines)
        number += int(job.get("numjobs", 1))
    return files


def _lines(
    requests: Sequence[_Completed],
    log: Mapping[str, Any],
    value: Callable[[_Completed], int],
    mean: Callable[[Sequence[_Completed], float], int],
) -> list[str]:
    if not requests:
        return []
    start_ns = min(request.time_ns - request.latency_ns for request in requests)
    if not log["avg_ms"]:
        return [
            _line((request.time_ns - start_ns) // NS_PER_MS, value(request), request, log=log) for request in requests
        ]
    window_ns = log["avg_ms"] * NS_PER_MS
    windows: dict[tuple[int, int], list[_Completed]] = {}
    for request in requests:
        window = (request.time_ns - start_ns) // window_ns
        windows.setdefault((window, request.direction), []).append(request)
    return [
        _line((window + 1) * log["avg_ms"], mean(of_window, window_ns / 1e9), None, log=log, direction=direction)
        for (window, direction), of_window in sorted(windows.items())
    ]


def _line(time_ms: int, value: int, request: _Completed | None, *, log: Mapping[str, Any], direction: int = 0) -> str:
    which, size, offset = (request.direction, request.bytes, request.offset) if request else (direction, 0, 0)
    place = f"{offset}, " if log["offset"] else ""
    return f"{time_ms}, {value}, {which}, {size}, {place}0\n"


def _latency(request: _Completed) -> int:
    return request.latency_ns


def _bandwidth(request: _Completed) -> int:
    return request.bytes * 1_000_000 // max(request.latency_ns, 1)


def _one(_: _Completed) -> int:
    return 1


def _mean_latency(requests: Sequence[_Completed], _: float) -> int:
    return sum(request.latency_ns for request in requests) // len(requests)


def _mean_bandwidth(requests: Sequence[_Completed], seconds: float) -> int:
    return int(sum(request.bytes for request in requests) / seconds / 1024)


def _mean_iops(requests: Sequence[_Completed], seconds: float) -> int:
    return int(len(requests) / seconds)
