"""Rates and times by kind of call: gluster's profile of a volume, sysbench's file test, iperf3, biolatpcts, btrfs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seeklab.bring.block import Value
from seeklab.bring.forms import Form, Forms
from seeklab.bring.numbers import MS, ms, number

if TYPE_CHECKING:
    from seeklab.bring.lines import Lines

TOOL = "gluster-profile"
MAX_LINES = 600
TIME = r"(\d{1,15}(?:\.\d{1,6})?) ([mun]?s)"
CALLS = re.compile(rf"\s*(\d{{1,3}}\.\d\d)\s+{TIME}\s+{TIME}\s+{TIME}\s+(\d{{1,15}})\s+([A-Z]{{3,20}})$")
OF_GLUSTER = re.compile(
    r"(?:Brick: |-{3}|Cumulative Stats:|Interval \d{1,9} Stats:|Block Size:|No\. of (?:Reads|Writes):"
    r"|%-latency|Duration: |Data (?:Read|Written): |BytesRead: |BytesWritten: )"
)
FILE_OPERATIONS = (
    (re.compile(r"(reads|writes|fsyncs)/s:\s+(\d{1,12}(?:\.\d{1,6})?)"), "/s"),
    (re.compile(r"(read|written), MiB/s:\s+(\d{1,12}(?:\.\d{1,6})?)"), "MiB/s"),
    (re.compile(r"(avg|max|min|95th percentile):\s+(\d{1,12}(?:\.\d{1,6})?)"), "ms"),
    (re.compile(r"(Number of threads): (\d{1,6})"), ""),
)
EVERY_SECOND = re.compile(
    r"\[ {0,4}\d{1,6}s \] reads: (\d{1,9}\.\d\d) MiB/s,? writes: (\d{1,9}\.\d\d) MiB/s,? fsyncs: (\d{1,9}\.\d\d)/s,? "
    r"latency \(ms, ?\d\d%\): (\d{1,9}\.\d{1,3})"
)
OF_SYSBENCH = re.compile(
    r"sysbench |Running|Number of|Report|Initializing|Extra|\d{1,9} files|\d[\d.]*[KMGT]iB|Block size|Read/Write"
    r"|Periodic|Calling|Using|Doing|Threads|File operations|Throughput|General|Latency|total|sum:|events|execution"
    r"|[A-Z][a-z]{2,12} (?:statistics|fairness)"
)
TRANSFER = re.compile(
    r"\[ {0,3}\d{1,4}\] {1,4}(\d{1,7}\.\d\d)- {0,4}(\d{1,7}\.\d\d) {1,4}sec {1,6}\d{1,9}(?:\.\d{1,3})? [KMGT]?Bytes"
    r" {1,6}(\d{1,9}(?:\.\d{1,3})?) ([KMGT]?)bits/sec(?: {1,12}(\d{1,9}))?"
    r"(?: {1,12}\d[\d.]{0,9} [KMG]?Bytes)?\s*(\w{4,8})?$"
)
BITS = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
ERRORS = re.compile(r"\[(?:/dev/)?(\S{1,60})\]\.(\w{4,12}_(?:io_)?errs)\s+(\d{1,15})$")


def _gluster(lines: Lines, at: int) -> tuple[list[Value], int]:
    """Read the calls of each brick: their share of its time, mean, longest time, and count."""
    found: list[Value] = []
    brick, end = "brick", at
    for index in range(at, min(len(lines), at + MAX_LINES)):
        line = lines[index].rstrip()
        if line.startswith("Brick: "):
            brick = f"brick {line[7:127].strip()}"
        elif row := CALLS.match(line):
            share, mean, unit, _, _, longest, unit_longest, count, call = row.groups()
            if float(share) > 0:
                found += [
                    Value(brick, f"{call} share", float(share) / 100, line=index + 1),
                    Value(brick, f"{call} ms", float(mean) * MS[unit], "ms", index + 1),
                    Value(brick, f"{call} max ms", float(longest) * MS[unit_longest], "ms", index + 1),
                    Value(brick, f"{call} count", float(count), line=index + 1),
                ]
        elif line.strip() and not OF_GLUSTER.match(line.strip()):
            break
        end = index + 1 if line.strip() else end
    return found, end


def _sysbench(lines: Lines, at: int) -> tuple[list[Value], int]:
    """Read the rates of sysbench's file test: of the whole run, or the means of its seconds."""
    found: list[Value] = []
    seconds: list[list[float]] = []
    end = at
    for index in range(at, min(len(lines), at + MAX_LINES)):
        line = lines[index].strip()
        matches = ((pattern.match(line), unit) for pattern, unit in FILE_OPERATIONS)
        match, unit = next((pair for pair in matches if pair[0]), (None, ""))
        if match is not None:
            found.append(Value("sysbench", f"{match[1]} {unit}".strip(), float(match[2]), unit, index + 1))
        elif second := EVERY_SECOND.match(line):
            seconds.append([float(cell) for cell in second.groups()])
        elif line and not OF_SYSBENCH.match(line):
            break
        end = index + 1 if line else end
    if seconds and not any(value.name == "fsyncs /s" for value in found):
        names = ("read MiB/s", "written MiB/s", "fsyncs /s", "95th percentile ms")
        means = [sum(cells) / len(seconds) for cells in zip(*seconds, strict=True)]
        found += [Value("sysbench", name, mean, line=end) for name, mean in zip(names, means, strict=True)]
    return found, end


def _iperf(lines: Lines, at: int) -> tuple[list[Value], int]:
    """Read the intervals of iperf3, without the totals at its end."""
    found: list[Value] = []
    end = at
    for index in range(at, min(len(lines), at + MAX_LINES)):
        line = lines[index].strip()
        if row := TRANSFER.match(line):
            _, _, rate, unit, again, role = row.groups()
            if role is None:
                found.append(Value("iperf", "bytes/s", float(rate) * BITS[unit] / 8, "bytes/s", index + 1))
                if again is not None:
                    found.append(Value("iperf", "retransmissions", float(again), line=index + 1))
        elif line and not re.match(r"\[|- - |-{5,}|Connecting to|Accepted|Server listening|iperf Done|Test ", line):
            break
        end = index + 1 if line else end
    return found, end


def _percentiles(lines: Lines, at: int) -> tuple[list[Value], int]:
    """Read biolatpcts: the times below which a share of each kind of request stays, for one device."""
    device, *columns = lines[at].split()
    found: list[Value] = []
    end = at + 1
    while end < min(len(lines), at + 6):
        kind, *cells = lines[end].split() or [""]
        times = [ms(cell) if cell != "-" else None for cell in cells]
        if kind not in ("read", "write", "discard", "flush") or len(cells) != len(columns):
            break
        found += [
            Value(device, f"{kind} {column}", value, "ms", end + 1)
            for column, value in zip(columns, times, strict=True)
            if value is not None
        ]
        end += 1
    return found, end if found else at


def _errors(lines: Lines, at: int) -> tuple[list[Value], int]:
    """Read `btrfs device stats`: errors by device."""
    found: list[Value] = []
    end = at
    while end < min(len(lines), at + MAX_LINES) and (row := ERRORS.match(lines[end].strip())):
        found.append(Value(row[1], row[2], number(row[3]) or 0.0, line=end + 1))
        end += 1
    return found, end


FORMS = Forms(
    Form(
        "gluster-profile",
        r"Brick: \S|Cumulative Stats:|Interval \d{1,9} Stats:|Block Size:\s|%-latency\s+Avg",
        _gluster,
    ),
    Form("sysbench", r"sysbench \d|File operations:|Throughput:$|\[ {0,4}\d{1,6}s \] reads: ", _sysbench),
    Form("iperf", r"\[ {0,3}\d{1,4}\]\s+\d[\d.]*-\d[\d.]*\s+sec\s|\[ ID\] Interval\s+Transfer\s", _iperf),
    Form("biolatpcts", r"[\w!.-]{2,32}\s+p\d{1,3}(?:\.\d{1,3})?\s+p\d{1,3}(?:\.\d{1,3})?\s", _percentiles),
    Form("btrfs-stats", r"\[\S{1,60}\]\.\w{4,12}_(?:io_)?errs\s+\d", _errors),
)
STARTS, HOLDS, read = FORMS.starts, FORMS.holds, FORMS.read
