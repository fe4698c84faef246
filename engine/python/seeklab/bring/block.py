"""A block: the output of one tool in one place of a text, as typed records with units in their names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True)
class Flow:
    """Requests of one kind (reads, writes, discards or flushes) in one interval. None means: not recorded."""

    per_s: float | None = None
    bytes_per_s: float | None = None
    ms: float | None = None
    """Mean time of a request, queueing included, in milliseconds."""
    bytes: float | None = None
    """Mean size, if the tool prints it; never computed from rounded columns."""
    merged_per_s: float | None = None


@dataclass(frozen=True)
class DeviceRow:
    """A block device in one interval of iostat -x and its relatives."""

    name: str
    reads: Flow = Flow()
    writes: Flow = Flow()
    discards: Flow = Flow()
    flushes: Flow = Flow()
    both: Flow = Flow()
    """Reads and writes together, where the tool does not separate them."""
    in_flight: float | None = None
    """Mean number of requests, waiting or in service."""
    waiting: float | None = None
    """Mean number of requests that wait above the device, where the tool separates them (Solaris)."""
    busy: float | None = None
    """Share of the time with a request in flight, 0 to 1."""
    service_ms: float | None = None
    """Time in the device itself, only where the tool measures it."""


@dataclass(frozen=True)
class Sample:
    """One interval of a tool that prints a table per interval."""

    rows: tuple[DeviceRow, ...]
    line: int
    """Line of its heading, from 1."""
    is_since_boot: bool = False
    seconds: float | None = None
    cpu: dict[str, float] = field(default_factory=dict)
    """Shares of processor time in percent by the tool's column (`user`, `iowait`, ...)."""


@dataclass(frozen=True)
class PoolRow:
    """A pool, a vdev or a leaf of `zpool iostat`, in one interval."""

    name: str
    depth: int
    """0 for a pool, 1 for its vdevs, 2 for their members."""
    role: str = "data"
    """data, log, cache, special, spare."""
    reads: Flow = Flow()
    writes: Flow = Flow()
    alloc_bytes: float | None = None
    free_bytes: float | None = None
    waits_ms: dict[str, float] = field(default_factory=dict)
    """By column and direction: `disk read`, `disk write`, `syncq write`, `scrub`, ..."""
    queues: dict[str, tuple[float, float]] = field(default_factory=dict)
    """(pending, active) by class: `syncq_read`, ..."""


@dataclass(frozen=True)
class PoolSample:
    """One interval of `zpool iostat`."""

    rows: tuple[PoolRow, ...]
    line: int
    is_since_boot: bool = False


@dataclass(frozen=True)
class Latency:
    """A distribution of times, in milliseconds. None means: not recorded."""

    mean_ms: float | None = None
    stddev_ms: float | None = None
    min_ms: float | None = None
    max_ms: float | None = None
    percentiles_ms: dict[float, float] = field(default_factory=dict)
    count: float | None = None


@dataclass(frozen=True)
class JobRow:
    """One direction of a fio job (or of a similar load generator)."""

    job: str
    direction: str
    """read, write, trim, or mixed."""
    per_s: float | None = None
    bytes_per_s: float | None = None
    count: float | None = None
    total: Latency = Latency()
    completion: Latency = Latency()
    submission: Latency = Latency()
    sync: Latency = Latency()
    """Times of fsync or fdatasync, which belong to the job and stand with each of its directions."""
    options: dict[str, str] = field(default_factory=dict)
    """The job's options in effect (rw, bs, iodepth, numjobs, direct, fsync, ioengine, ...), as far as the text
    tells."""
    cpu: dict[str, float] = field(default_factory=dict)
    """usr and sys in percent."""
    runtime_s: float | None = None
    samples: dict[str, float] = field(default_factory=dict)
    """Requests per second in fio's windows of half a second: min, max, avg, stdev, samples."""


@dataclass(frozen=True)
class Value:
    """A named number or word of a status report: arcstats, smartctl, zfs get, /proc files, a controller's tool."""

    subject: str
    name: str
    value: float | str
    unit: str = ""
    line: int = 0


@dataclass(frozen=True)
class Event:
    """A line of a log: a slow call, an error, a warning."""

    subject: str
    """The program or the device."""
    code: str
    """The event, as a constant of the reader: `slow fsync`, `medium error`, `blocked`, ..."""
    line: int
    at_s: float | None = None
    ms: float | None = None
    """Duration that the line names."""
    text: str = ""


@dataclass(frozen=True)
class Histogram:
    """Counts by bucket of time or size: Prometheus, biolatency, zpool iostat -w and -r, DTrace."""

    subject: str
    unit: str
    """ms or bytes."""
    buckets: tuple[tuple[float, float, float], ...]
    """(from, to, count), in the unit; the last `to` may be infinite."""


@dataclass(frozen=True)
class Request:
    """One request: blkparse, biosnoop, an operation log, fio's latency log."""

    subject: str
    direction: str
    offset: int | None
    bytes: int
    start_ns: int
    ns: int
    job: int = 0
    cached: int | None = None
    """Bytes that were in memory on arrival, where the log tells."""


@dataclass(frozen=True)
class Copy:
    """A copy that a user timed: dd, `time cp`, hdparm -t."""

    bytes: float | None
    seconds: float | None
    calls: float | None = None
    command: str = ""


Record: TypeAlias = Sample | PoolSample | JobRow | Value | Event | Histogram | Request | Copy


@dataclass
class Block:
    """A part of a text: the output of one tool in one place."""

    tool: str
    first: int
    """First and last line, from 1."""
    last: int
    records: list[Record] = field(default_factory=list)
    version: str = ""
    source: str = ""
    notes: list[str] = field(default_factory=list)
    """Notes about records that were left out, and why, each a sentence."""


@dataclass(frozen=True)
class Skipped:
    """Lines that no reader knows."""

    first: int
    last: int
    text: str
    """The first line."""
