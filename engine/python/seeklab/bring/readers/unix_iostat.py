"""Extended device statistics of Solaris, illumos, FreeBSD and macOS, `gstat`, and `sar -d` of Linux.

They share one shape, a table per interval, and differ in columns. Solaris separates requests that wait in the host
(`wait`,
`wsvc_t`) from those in the device (`actv`, `asvc_t`); the sum is the time of a request. Their first table averages
since
boot, if more than one follows.
"""

from __future__ import annotations

import re
from dataclasses import replace

from seeklab.bring.block import Block, DeviceRow, Flow, Sample
from seeklab.bring.lines import Lines, command
from seeklab.bring.numbers import K
from seeklab.bring.tables import Row, rows, unique

TOOL = "solaris-iostat"
STARTS = ""
HOLDS: tuple[str, ...] = ("svc_t", "ms/r", "L(q)", " DEV ")
NAMES = ("device", "Name", "DEV")
SECTOR = 512
OF_WAY = re.compile(r"kB/s ([rwd])\b")
"""The column of a rate as gstat-rs writes it."""


def read(lines: Lines, at: int) -> Block | None:
    """Return the tables from `at` on."""
    columns = unique(OF_WAY.sub(r"kBps_\1", lines[at].replace(",", " ")).split())
    tool = _tool(columns)
    if not tool:
        return None
    if tool == "sar-d":
        columns = columns[columns.index("DEV") :]
    samples: list[Sample] = []
    end = start = at
    while start < len(lines):
        body = lines if "," not in lines[at] else Lines(line.replace(",", " ") for line in lines[start : start + 400])
        offset = 0 if body is lines else start
        found, stop = rows(body, start + 1 - offset, _with_time(columns, lines, start + 1), skip="Average")
        found = [replace(row, line=row.line + offset) for row in found]
        if found:
            samples += _split([(row, _device(row, tool)) for row in found], start + 1)
            end = stop + offset
        elif not samples:
            return None
        start = _next(lines, stop + offset, lines[at].split()[:3])
        if start < 0:
            break
    if not samples:
        return None
    if len(samples) > 1 and tool == "solaris-iostat":
        samples[0] = replace(samples[0], is_since_boot=True)
    return Block(tool, _first(lines, at) + 1, end, list(samples))


def _first(lines: Lines, at: int) -> int:
    """Return the index of the first line that belongs to a table whose columns are on line `at`."""
    for back in (at - 2, at - 1):
        if back >= 0 and ("extended device" in lines[back] or command(lines[back]) or "dT:" in lines[back]):
            return back
    return at


def _tool(columns: list[str]) -> str:
    has = set(columns)
    if {"DEV", "tps"} <= has:
        return "sar-d"
    if "L(q)" in has and "%busy" in has:
        return "gstat"
    if {"ms/r", "ms/w"} <= has or {"qlen", "svc_t"} <= has:
        return "freebsd-iostat"
    if {"r/s", "w/s", "%b"} <= has and has & {"asvc_t", "svc_t"}:
        return "solaris-iostat"
    return ""


def _with_time(columns: list[str], lines: Lines, at: int) -> list[str]:
    """Columns of the row at `at`: sar writes a time, and in some locales AM or PM, before the device."""
    extra = len(lines[at].split()) - len(columns) if at < len(lines) else 0
    return [*("time", "half")[:extra], *columns] if 0 < extra <= 2 else columns


def _next(lines: Lines, at: int, heading: list[str]) -> int:
    """Return the index of the next heading of the same table, within three lines, or -1."""
    for index in range(at, min(len(lines), at + 4)):
        cells = lines[index].split()
        if cells[:3] == heading or (len(cells) > 2 and "DEV" in cells[:3] and "DEV" in heading):
            return index
    return -1


def _split(found: list[tuple[Row, DeviceRow]], line: int) -> list[Sample]:
    """Cut rows into intervals: a device that comes again begins the next one."""
    samples: list[Sample] = []
    group: list[DeviceRow] = []
    for row, device in found:
        if any(device.name == earlier.name for earlier in group):
            samples.append(Sample(tuple(group), line))
            group, line = [], row.line
        group.append(device)
    return [*samples, Sample(tuple(group), line)]


def _device(row: Row, tool: str) -> DeviceRow:
    name = next((row.words[column] for column in NAMES if column in row.words), "")
    if tool == "sar-d":
        both = Flow(row.number("tps"), None, row.number("await"))
        reads = Flow(None, row.scaled(K, "rkB/s") if "rkB/s" in row.words else row.scaled(SECTOR, "rd_sec/s"))
        writes = Flow(None, row.scaled(K, "wkB/s") if "wkB/s" in row.words else row.scaled(SECTOR, "wr_sec/s"))
        queue, busy = row.number("aqu-sz", "avgqu-sz"), row.scaled(0.01, "%util")
        return DeviceRow(name, reads, writes, both=both, in_flight=queue, busy=busy)
    if tool == "gstat":
        reads = Flow(row.number("r/s"), row.scaled(K, "kBps", "kBps_r"), row.number("ms/r"))
        writes = Flow(row.number("w/s"), row.scaled(K, "kBps.2", "kBps_w"), row.number("ms/w"))
        return DeviceRow(name, reads, writes, in_flight=row.number("L(q)"), busy=row.scaled(0.01, "%busy"))
    reads = Flow(row.number("r/s"), row.scaled(K, "kr/s"), row.number("ms/r"))
    writes = Flow(row.number("w/s"), row.scaled(K, "kw/s"), row.number("ms/w"))
    busy = row.scaled(0.01, "%b")
    if tool == "freebsd-iostat":
        both = Flow(ms=row.number("ms/t", "svc_t"))
        return DeviceRow(name, reads, writes, both=both, in_flight=row.number("qlen"), busy=busy)
    active, waiting = row.number("asvc_t", "svc_t"), row.number("wsvc_t")
    time = None if active is None else active + (waiting or 0.0)
    queue, above = row.number("actv"), row.number("wait")
    whole = None if queue is None else queue + (above or 0.0)
    return DeviceRow(name, reads, writes, both=Flow(ms=time), in_flight=whole, waiting=above, busy=busy)
