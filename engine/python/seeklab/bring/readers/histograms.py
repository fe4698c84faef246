"""Histograms of times: Prometheus text, biolatency and other BPF tools.

The module also reads `ceph tell osd bench` and fio's terse output.
"""

from __future__ import annotations

import re

from seeklab.bring.block import Block, Histogram, JobRow, Latency, Value
from seeklab.bring.json_block import document_at, finite
from seeklab.bring.lines import Lines
from seeklab.bring.numbers import MS, number

TOOL = "prometheus"
STARTS = (
    r"# (?:HELP|TYPE) \w+|(?:usecs|msecs|nsecs)\s+: count"
    r"|@\w{0,40}(?:\[.{0,80}\])?:\s*$|(?:osd\.\d+: )?\{\s*$|\d;fio-\d"
)
HOLDS: tuple[str, ...] = ("_bucket{", 'quantile="')
BUCKET = re.compile(r"(\w{3,120})_bucket\{(.{0,300}?)le=\"([^\"]{1,24})\"(.{0,300}?)\} ([\d.eE+]{1,24})")
QUANTILE = re.compile(r"(\w{3,120})\{(.{0,300}?)quantile=\"(\d(?:\.\d{1,9})?)\"(.{0,300}?)\} ([\d.eE+-]{1,24})$")
TOTAL = re.compile(r"(\w{3,120})_(sum|count)(?:\{.{0,300}\})? ([\d.eE+]{1,24})$")
BAR = re.compile(r"\s*(\d{1,20}) -> (\d{1,20})\s*: (\d{1,15})\s+\|")
RANGE = re.compile(r"\[(\d{1,9}[KMG]?)(?:, (\d{1,9}[KMG]?)\))?\]?\s+(\d{1,15}) \|")
PREFIX = {"": 1.0, "K": 1024.0, "M": 1024.0**2, "G": 1024.0**3}
FOREIGN = 60
"""Other metrics before the first histogram, at most."""
TERSE_READ, TERSE_WRITE = 5, 46
"""Places of the first field of reads and writes in version 3 of fio's terse output."""


def read(lines: Lines, at: int) -> Block | None:
    """Return the histogram that starts at `at`."""
    line = lines[at]
    if line.rstrip().endswith("{"):
        return _osd_bench(lines, at)
    if re.match(r"\d;fio-", line):
        return _terse(lines, at)
    if re.match(r"\s+[mun]secs", line):
        return _bars(lines, at)
    if line.startswith("@"):
        return _ranges(lines, at)
    return _prometheus(lines, at)


def _prometheus(lines: Lines, at: int) -> Block | None:
    found: dict[str, list[tuple[float, float]]] = {}
    totals: list[Value] = []
    end = at
    for index in range(at, len(lines)):
        line = lines[index].strip()
        if match := BUCKET.match(line):
            upper = float("inf") if "inf" in match[3].lower() else number(match[3])
            count = number(match[5])
            if upper is not None and count is not None:
                name = match[1] + "".join(f" {part}" for part in (match[2].strip(","), match[4].strip(",")) if part)
                found.setdefault(name, []).append((upper * (MS["s"] if "second" in match[1] else 1), count))
        elif (total := _total(line, index)) is not None:
            totals += total
        elif not re.match(r"# |\w+(?:\{.{0,300}\})? [\d.eE+-]+$", line) or (
            index > at + FOREIGN and not found and not totals
        ):
            break
        end = index + 1
    records: list[Histogram | Value] = []
    for name, cumulative in found.items():
        buckets, low, before = [], 0.0, 0.0
        for upper, count in sorted(cumulative):
            buckets.append((low, upper, max(0.0, count - before)))
            low, before = upper, count
        records.append(Histogram(name, "ms", tuple(buckets)))
    records += totals
    return Block("prometheus", at + 1, end, list(records)) if records else None


def _total(line: str, index: int) -> list[Value] | None:
    """Return the sum, the count or the quantile of a line; None if it has none, [] if its number cannot be read."""
    if quantile := QUANTILE.match(line):
        value = number(quantile[5])
        scale = MS["s"] if "second" in quantile[1] else 1
        name = f"p{100 * float(quantile[3]):g}"
        return [] if value is None else [Value(quantile[1], name, value * scale, "ms", index + 1)]
    if total := TOTAL.match(line):
        value = number(total[3])
        scale = MS["s"] if total[2] == "sum" and "second" in total[1] else 1
        unit = "ms" if total[2] == "sum" else ""
        return [] if value is None else [Value(total[1], total[2], value * scale, unit, index + 1)]
    return None


def _bars(lines: Lines, at: int) -> Block | None:
    scale = {"nsecs": 1e-6, "usecs": 1e-3, "msecs": 1.0}[lines[at].split()[0]]
    subject = lines[at - 1].strip() if at and "=" in lines[at - 1] else "device"
    buckets = []
    end = at + 1
    while end < len(lines) and (match := BAR.match(lines[end])):
        buckets.append((float(match[1]) * scale, (float(match[2]) + 1) * scale, float(match[3])))
        end += 1
    return Block("biolatency", at + 1, end, [Histogram(subject, "ms", tuple(buckets))]) if buckets else None


def _ranges(lines: Lines, at: int) -> Block | None:
    buckets = []
    end = at + 1
    scale = 1e-6 if "ns" in lines[at] else 1.0 if "ms" in lines[at] else 1e-3
    while end < len(lines) and (match := RANGE.match(lines[end].strip())):
        low = _prefixed(match[1])
        high = _prefixed(match[2]) if match[2] else low + 1
        buckets.append((low * scale, high * scale, float(match[3])))
        end += 1
    return (
        Block("biolatency", at + 1, end, [Histogram(lines[at].strip(" @:"), "ms", tuple(buckets))]) if buckets else None
    )


def _prefixed(text: str) -> float:
    return float(text.rstrip("KMG")) * PREFIX[text[-1:] if text[-1:] in PREFIX else ""]


def _osd_bench(lines: Lines, at: int) -> Block | None:
    """Read `ceph tell osd.N bench`: a JSON object after the daemon's name."""
    name = lines[at].strip().removesuffix("{")
    found = document_at(Lines(["{", *lines[at + 1 : at + 40]]), 0)
    if found is None or not isinstance(found[0], dict) or "bytes_written" not in found[0]:
        return None
    subject = name.strip(" :") or "osd"
    values = [
        Value(subject, key, value, line=at + 1) for key in found[0] if (value := finite(found[0][key])) is not None
    ]
    return Block("ceph-osd-bench", at + 1, at + found[1], list(values))


def _terse(lines: Lines, at: int) -> Block:
    records: list[JobRow] = []
    end = at
    while end < len(lines) and re.match(r"\d;fio-", lines[end]):
        cells = lines[end].split(";")
        for way, first in (("read", TERSE_READ), ("write", TERSE_WRITE)):
            numbers = [number(cell) for cell in cells[first : first + 12]]
            if len(numbers) == 12 and numbers[0] and numbers[2]:
                mean = numbers[11]
                records.append(
                    JobRow(
                        cells[2],
                        way,
                        numbers[2],
                        (numbers[1] or 0.0) * 1024,
                        completion=Latency(None if mean is None else mean / 1e3),
                    )
                )
        end += 1
    return Block("fio-terse", at + 1, end, list(records))
