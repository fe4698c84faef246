"""Windows' performance counters: CSV of perfmon and typeperf, and `Get-Counter` of PowerShell.

Counters of `PhysicalDisk` and `LogicalDisk` become devices by interval. The other counters are values by object.
`Current Disk Queue Length` is the queue of one moment, so the mean comes from `Avg. Disk Queue Length` only.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seeklab.bring.block import Block, DeviceRow, Flow, Sample, Value
from seeklab.bring.numbers import number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from seeklab.bring.lines import Lines

TOOL = "perfmon"
STARTS = r"\"\(PDH-CSV|Timestamp\s+CounterSamples"
HOLDS: tuple[str, ...] = ()
DISK = re.compile(r"(?:physicaldisk|logicaldisk)\((.{1,60})\)$", re.IGNORECASE)
COUNTER = re.compile(r"(?:\d.{6,30}\s)?\s*\\\\[^\\]{1,64}\\(.{1,120})\\(.{1,60}) :\s*$")
MAX_LINES = 20_000


def read(lines: Lines, at: int) -> Block | None:
    """Return the counters that start at `at`."""
    return _csv(lines, at) if lines[at].lstrip().startswith('"') else _get_counter(lines, at)


def _csv(lines: Lines, at: int) -> Block | None:
    names = [_split(cell.strip('" ')) for cell in lines[at].strip().split('","')]
    samples: list[Sample] = []
    values: list[Value] = []
    end = at + 1
    while end < min(len(lines), at + MAX_LINES) and lines[end].lstrip().startswith('"'):
        cells = [number(cell.strip('" ')) for cell in lines[end].strip().split('","')]
        found = [(*name, cell) for name, cell in zip(names[1:], cells[1:], strict=False) if cell is not None]
        _add(found, end + 1, samples, values)
        end += 1
    return Block(TOOL, at + 1, end, [*samples, *values]) if samples or values else None


def _get_counter(lines: Lines, at: int) -> Block | None:
    samples: list[Sample] = []
    values: list[Value] = []
    found: list[tuple[str, str, float]] = []
    end, name = at + 1, ("", "")
    for index in range(at + 1, min(len(lines), at + MAX_LINES)):
        line = lines[index]
        if counter := COUNTER.match(line):
            if re.match(r"\s*\d", line) and found:
                _add(found, index + 1, samples, values)
                found = []
            name = (counter[1], counter[2])
        elif (value := number(line.strip())) is not None and name[0]:
            found.append((*name, value))
        elif line.strip() and set(line.strip()) != {"-", " "} and not line.startswith("Timestamp"):
            break
        end = index + 1 if line.strip() else end
    _add(found, end, samples, values)
    return Block(TOOL, at + 1, end, [*samples, *values]) if samples or values else None


def _split(path: str) -> tuple[str, str]:
    r"""Return object and counter of `\\HOST\PhysicalDisk(0 C:)\Disk Reads/sec`."""
    subject, _, counter = path.strip("\\").partition("\\")[2].rpartition("\\")
    return subject, counter


def _add(found: Iterable[tuple[str, str, float]], line: int, samples: list[Sample], values: list[Value]) -> None:
    disks: dict[str, dict[str, float]] = {}
    for subject, counter, value in found:
        if (disk := DISK.match(subject)) and disk[1].lower() != "_total":
            disks.setdefault(disk[1], {})[counter.lower()] = value
        else:
            values.append(Value(subject, counter, value, line=line))
    if disks:
        samples.append(Sample(tuple(_device(name, of) for name, of in disks.items()), line))


def _device(name: str, of: dict[str, float]) -> DeviceRow:
    def flow(way: str) -> Flow:
        seconds = of.get(f"avg. disk sec/{way}")
        return Flow(
            of.get(f"disk {way}s/sec"),
            of.get(f"disk {way} bytes/sec"),
            None if seconds is None else 1e3 * seconds,
            of.get(f"avg. disk bytes/{way}"),
        )

    seconds, idle = of.get("avg. disk sec/transfer"), of.get("% idle time")
    both = Flow(of.get("disk transfers/sec"), of.get("disk bytes/sec"), None if seconds is None else 1e3 * seconds)
    busy = None if idle is None else max(0.0, 1 - idle / 100)
    return DeviceRow(
        name, flow("read"), flow("write"), both=both, in_flight=of.get("avg. disk queue length"), busy=busy
    )
