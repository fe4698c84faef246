"""Devices over intervals: the samples of all blocks by device, without averages since boot."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import TYPE_CHECKING

from seeklab.bring.block import DeviceRow, Flow, Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from seeklab.bring.block import Block

STACKED = re.compile(r"(?:dm-|md|zd|loop|drbd|bcache|rbd|nbd)\d+|[^-\n]*-.*|root|data|home|vg\w*")
PARTITION = re.compile(r"((?:sd|vd|xvd|hd)[a-z]+)\d+|((?:nvme\d+n\d+|mmcblk\d+))p\d+")
KINDS = ("reads", "writes", "discards", "flushes")
MIN_PER_S = 0.05
MAX_DEVICES = 512
"""Of a larger table, the first rows are read: each virtual device is compared with each physical one."""
TOOLS = frozenset(
    ("iostat-x", "solaris-iostat", "freebsd-iostat", "gstat", "sar-d", "diskstats", "rbd-perf", "perfmon", "aix-iostat")
)


@dataclass
class Device:
    """A device in the intervals of one block."""

    name: str
    block: Block
    rows: list[DeviceRow] = field(default_factory=list)

    @property
    def is_stacked(self) -> bool:
        """Whether it is a virtual device above others (dm, md, zvol, loop), or a partition."""
        return bool(STACKED.fullmatch(self.name)) or bool(PARTITION.fullmatch(self.name))

    def mean(self, of: Callable[[DeviceRow], float | None]) -> float | None:
        """Return the mean of a column over the intervals that have it."""
        values = [value for row in self.rows if (value := of(row)) is not None]
        return fmean(values) if values else None

    def middle(self, of: Callable[[DeviceRow], float | None]) -> float | None:
        """Return the median of a column over the intervals that have it."""
        values = [value for row in self.rows if (value := of(row)) is not None]
        return median(values) if values else None

    @property
    def ios_per_s(self) -> float:
        """Mean requests per second of all kinds."""
        return fmean(ios_per_s(row) for row in self.rows)

    @property
    def in_flight(self) -> float | None:
        """Mean requests in flight."""
        return self.mean(lambda row: row.in_flight)

    @property
    def busy(self) -> float | None:
        """Mean share of the time with a request in flight."""
        return self.mean(lambda row: row.busy)

    @property
    def busiest(self) -> float | None:
        """Largest busy share of an interval."""
        return max((row.busy for row in self.rows if row.busy is not None), default=None)

    @property
    def bytes_per_s(self) -> float:
        """Mean bytes read and written per second."""
        return fmean(bytes_per_s(row) for row in self.rows)

    def per_s(self, kind: str) -> float:
        """Return the mean rate of a kind."""
        return self.mean(lambda row: getattr(row, kind).per_s) or 0.0

    def ms(self, kind: str) -> float | None:
        """Return the mean time of a kind, weighted by its rate."""
        pairs = [
            (flow.per_s, flow.ms)
            for row in self.rows
            if (flow := getattr(row, kind)).per_s and flow.ms is not None and flow.per_s > MIN_PER_S
        ]
        total = sum(per_s for per_s, _ in pairs)
        return sum(per_s * ms for per_s, ms in pairs) / total if total else None

    def size(self, kind: str) -> float | None:
        """Return the mean size of a kind: the tool's own, or bytes by requests where both are large enough to trust."""
        sizes = [flow.bytes for row in self.rows if (flow := getattr(row, kind)).bytes]
        if sizes:
            return fmean(sizes)
        pairs = [
            (flow.bytes_per_s, flow.per_s)
            for row in self.rows
            if (flow := getattr(row, kind)).per_s and flow.bytes_per_s is not None and flow.per_s >= 1
        ]
        per_s = sum(rate for _, rate in pairs)
        return sum(size for size, _ in pairs) / per_s if per_s else None

    def time(self) -> float | None:
        """Return the mean time of a read or write."""
        return self.mean(time)


def flows(row: DeviceRow) -> Iterator[tuple[str, Flow]]:
    """Yield each kind of request with its flow."""
    for kind in KINDS:
        yield kind, getattr(row, kind)


def ios_per_s(row: DeviceRow) -> float:
    """Return the requests of all kinds per second."""
    found = sum(flow.per_s or 0.0 for _, flow in flows(row))
    return found or row.both.per_s or 0.0


def bytes_per_s(row: DeviceRow) -> float:
    """Return the bytes read and written per second."""
    found = sum((getattr(row, kind).bytes_per_s or 0.0) for kind in ("reads", "writes"))
    return found or row.both.bytes_per_s or 0.0


def time(row: DeviceRow) -> float | None:
    """Return the mean time of a read or write in one interval."""
    if row.both.ms is not None:
        return row.both.ms if ios_per_s(row) > MIN_PER_S else None
    pairs = [(flow.per_s, flow.ms) for flow in (row.reads, row.writes) if flow.per_s and flow.ms is not None]
    total = sum(per_s for per_s, _ in pairs)
    return sum(per_s * ms for per_s, ms in pairs) / total if total > MIN_PER_S else None


def work(row: DeviceRow) -> float | None:
    """Return the requests in flight that rates and times imply (Little's law); None if a time is missing."""
    if row.both.ms is not None:
        return ios_per_s(row) * row.both.ms / 1e3
    total = 0.0
    for _, flow in flows(row):
        if flow.per_s:
            if flow.ms is None:
                return None
            total += flow.per_s * flow.ms / 1e3
    return total


def samples(block: Block) -> list[Sample]:
    """Return the samples of a block that describe the present."""
    found = [record for record in block.records if isinstance(record, Sample)]
    return [sample for sample in found if not sample.is_since_boot]


def devices_of(block: Block) -> list[Device]:
    """Return the devices of a block, in the order of their first row."""
    found: dict[str, Device] = {}
    for sample in samples(block):
        for row in sample.rows:
            if row.name in found or len(found) < MAX_DEVICES:
                found.setdefault(row.name, Device(row.name, block)).rows.append(row)
    return list(found.values())


def tables(blocks: Sequence[Block]) -> Iterator[Block]:
    """Yield the blocks with extended statistics of devices."""
    for block in blocks:
        if block.tool in TOOLS:
            yield block
