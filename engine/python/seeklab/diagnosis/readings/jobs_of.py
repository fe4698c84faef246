"""The jobs of load generators in all blocks, with the options of pasted job files."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from seeklab.bring.block import JobRow, Latency, Value
from seeklab.bring.numbers import scaled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from seeklab.bring.block import Block

PACES = ("rate", "rate_iops", "thinktime")
SYNC_OPTIONS = ("sync", "fsync", "fdatasync")
OFF = ("", "0", "none")
FEW_WRITES = 4
MAX_JOBS = 100


def with_job_files(blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks, with a job file's options added to the rows of its jobs."""
    given: dict[str, dict[str, str]] = {}
    for block in blocks:
        if block.tool == "fio-job":
            for record in block.records:
                if isinstance(record, Value):
                    given.setdefault(record.subject, {})[record.name] = str(record.value)
    if not given:
        return list(blocks)
    return [
        replace(
            block,
            records=[
                replace(record, options={**given.get(record.job, {}), **record.options})
                if isinstance(record, JobRow)
                else record
                for record in block.records
            ],
        )
        for block in blocks
    ]


def jobs_of(blocks: Sequence[Block]) -> Iterator[JobRow]:
    """Yield the rows of load generators that have a rate, at most `MAX_JOBS`: rules compare them with each other."""
    rows = (row for block in blocks for row in block.records if isinstance(row, JobRow) and row.per_s)
    yield from islice(rows, MAX_JOBS)


def total_of(row: JobRow) -> Latency:
    """Return the time of a request: from submission to completion, as far as it was recorded."""
    return row.total if row.total.mean_ms is not None else row.completion


def option(row: JobRow, name: str) -> float:
    """Return a numeric option; 0 if it is not given. Times with a unit count in seconds."""
    text = row.options.get(name, "")
    for unit, factor in (("us", 1e-6), ("ms", 1e-3), ("s", 1.0)):
        if text.endswith(unit) and (value := scaled(text.removesuffix(unit))) is not None:
            return value * factor
    return scaled(text) or 0.0


def workers(row: JobRow) -> int:
    """Return the number of processes of a job."""
    return int(option(row, "numjobs")) or 1


def most_in_flight(row: JobRow) -> int:
    """Return how many requests the job may have in flight."""
    return (int(option(row, "iodepth")) or 1) * workers(row)


def in_flight(row: JobRow) -> float:
    """Return how many requests the job has in flight on average (Little's law)."""
    return (row.per_s or 0.0) * (total_of(row).mean_ms or 0.0) / 1e3


def is_full(row: JobRow) -> bool:
    """Return whether the job keeps nearly all the requests in flight that it may have."""
    return in_flight(row) > 0.75 * most_in_flight(row)


def is_paced(row: JobRow) -> bool:
    """Return whether the job limits its own rate."""
    return any(row.options.get(name, "") not in OFF for name in PACES)


def is_sync(row: JobRow) -> bool:
    """Return whether each write of the job is made durable, or one of few (`fsync=954` is after 954 writes)."""
    given = {name: row.options.get(name, "") for name in SYNC_OPTIONS}
    return given["sync"] not in OFF or any(
        given[name] not in OFF and (scaled(given[name]) or 1) <= FEW_WRITES for name in SYNC_OPTIONS[1:]
    )


def may_sync(row: JobRow) -> bool:
    """Return whether some of the job's writes are made durable, which makes those slower."""
    return any(row.options.get(name, "") not in OFF for name in SYNC_OPTIONS)


def request_bytes(row: JobRow) -> float:
    """Return the mean size of the job's requests."""
    return (row.bytes_per_s or 0.0) / row.per_s if row.per_s else 0.0


def percentile(row: JobRow, percent: float) -> float | None:
    """Return a percentile of the time of a request, if the report has it."""
    for latency in (row.completion, row.total):
        if percent in latency.percentiles_ms:
            return latency.percentiles_ms[percent]
    return None
