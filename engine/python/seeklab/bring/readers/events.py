"""One line per request: blkparse, biosnoop, fio's latency logs, our own operation log."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seeklab.bring.block import Block, Request

if TYPE_CHECKING:
    from seeklab.bring.lines import Lines

TOOL = "blkparse"
STARTS = (
    r"\d{1,4},\d{1,4}\s+\d+\s+\d+\s+\d+\.\d+\s+\d+\s+[A-Z]\s|"
    r"\d{1,12}, \d{1,12}, [012], \d{1,10}|"
    r"TIME\(s\)\s+COMM\s+PID\s+DISK|"
    r"\d{1,9}\.\d{6,9}\s+\S{1,16}\s+\d{1,8}\s+\S{2,20}\s+[RWDF]\w{0,3}\s+\d+\s+\d+\s+\d+\.\d|"
    r"time ms\s+job\s+op\s+offset"
)
HOLDS: tuple[str, ...] = ("submit_ns",)
SECTOR, NS = 512, 1e9
BLKPARSE = re.compile(
    r"\s*(\d{1,4},\d{1,4})\s+\d+\s+\d+\s+(\d{1,9}\.\d{1,12})\s+\d+\s+([A-Z])\s+([A-Z]{1,6})\s+(?:(\d{1,18})(?:\s\+\s(\d{1,9}))?)?"
)
BIOSNOOP = re.compile(r"\d{1,9}\.\d{6,9}\s+\S{1,16}\s+\d{1,8}\s+\S{2,20}\s+[RWDF]\w{0,3}\s+\d{1,18}\s+\d{1,12}\s")
BIOSNOOP_COLUMNS = ("TIME(s)", "COMM", "PID", "DISK", "T", "SECTOR", "BYTES", "LAT(ms)")
"""The columns, for a text whose heading was filtered away."""
FIO_LOG = re.compile(r"(\d{1,12}), (\d{1,12}), ([012]), (\d{1,10})(?:, (\d{1,18}))?")
WAYS = ("read", "write", "trim")
TEXT_LOG = re.compile(
    r"\s*(\d{1,12}\.\d{1,3})\s+(\S{1,40})\s+(read|write)\s+(\d{1,18})\s+(\d{1,12})\s+(\d{1,12})\s+(\d{1,12})"
    r"\s+(\d{1,9}\.\d{1,3})\s"
)
OPLOG = ("job", "op", "offset", "bytes", "submit_ns", "latency_ns")


def read(lines: Lines, at: int) -> Block | None:
    """Return the requests from `at` on."""
    line = lines[at]
    if "submit_ns" in line:
        return _oplog(lines, at)
    if line.lstrip().startswith("time ms"):
        return _text_log(lines, at)
    if line.lstrip().startswith("TIME(s)"):
        return _biosnoop(lines, at, line.split(), at + 1)
    if BIOSNOOP.match(line.strip()):
        return _biosnoop(lines, at, list(BIOSNOOP_COLUMNS), at)
    return _blkparse(lines, at) if BLKPARSE.match(line) else _fio_log(lines, at)


def _blkparse(lines: Lines, at: int) -> Block:
    """Pair dispatch (D) and completion (C) by device and sector: the time in the device."""
    queued: dict[tuple[str, int], tuple[int, int]] = {}
    found: list[Request] = []
    end = index = at
    has_dispatch = any(" D " in line for line in lines[at : at + 2000])
    while index < len(lines) and index < end + 4:
        match = BLKPARSE.match(lines[index])
        if not match:
            index += 1
            continue
        device, time, action, kind, sector, count = match.groups()
        end = index = index + 1
        if sector is None:
            continue
        key, ns = (device, int(sector)), round(float(time) * NS)
        if action == ("D" if has_dispatch else "Q"):
            queued.setdefault(key, (ns, int(count or 0)))
        elif action == "C" and key in queued:
            start, blocks = queued.pop(key)
            if ns >= start:
                way = "discard" if "D" in kind else "write" if "W" in kind else "read" if "R" in kind else "flush"
                found.append(Request(device, way, int(sector) * SECTOR, blocks * SECTOR, start, ns - start))
    notes = [] if found else ["no request has both its dispatch (D) and its completion (C)"]
    return Block("blkparse", at + 1, end, list(found), notes=notes)


def _fio_log(lines: Lines, at: int) -> Block | None:
    found: list[Request] = []
    end = at
    while end < len(lines) and (match := FIO_LOG.fullmatch(lines[end].strip())):
        ms, ns, way, size, offset = match.groups()
        found.append(
            Request("fio", WAYS[int(way)], int(offset) if offset else None, int(size), int(ms) * 1_000_000, int(ns))
        )
        end += 1
    return Block("fio-log", at + 1, end, list(found)) if found else None


def _biosnoop(lines: Lines, at: int, columns: list[str], first: int) -> Block | None:
    found: list[Request] = []
    end = first
    while end < len(lines) and (cells := lines[end].split()):
        if cells in (["..."], ["[...]"]) and found:
            end += 1
            continue
        if len(cells) < len(columns):
            break
        row = dict(zip(reversed(columns), reversed(cells), strict=False))  # a command may contain blanks
        try:
            start, ms = float(cells[0]), float(row.get("LAT(ms)", "") or "nan")
            way = {"R": "read", "W": "write", "D": "discard", "F": "flush"}.get(row.get("T", "")[:1], "read")
            sector = int(row.get("SECTOR", "0") or 0)
            found.append(
                Request(
                    row.get("DISK", ""),
                    way,
                    sector * SECTOR,
                    int(row.get("BYTES", "0")),
                    round(start * NS),
                    round(ms * 1e6),
                )
            )
        except (ValueError, OverflowError):
            break
        end += 1
    return Block("biosnoop", at + 1, end, list(found)) if found else None


def _text_log(lines: Lines, at: int) -> Block | None:
    """Read our own operation log as text, which tells the bytes that were in memory."""
    found: list[Request] = []
    jobs: dict[str, int] = {}
    end = at + 1
    while end < len(lines) and (match := TEXT_LOG.match(lines[end])):
        start, job, way, offset, size, cached, _, took = match.groups()
        number = jobs.setdefault(job, len(jobs))
        start_ns, ns = round(float(start) * 1e6), round(float(took) * 1e6)
        found.append(Request(job, way, int(offset), int(size), start_ns, ns, number, int(cached)))
        end += 1
    if end < len(lines) and re.match(r"\d+ of \d+ operations$", lines[end].strip()):
        end += 1
    return Block("oplog", at + 1, end, list(found)) if found else None


def _oplog(lines: Lines, at: int) -> Block | None:
    columns = [cell.strip() for cell in lines[at].split(",")]
    if not set(OPLOG) <= set(columns):
        return None
    places = [columns.index(name) for name in OPLOG]
    cached = columns.index("cached_bytes") if "cached_bytes" in columns else None
    found: list[Request] = []
    notes: list[str] = []
    end = at + 1
    for index in range(at + 1, len(lines)):
        cells = lines[index].split(",")
        if len(cells) != len(columns):
            break
        try:
            job, way, offset, size, start, ns = (cells[place].strip() for place in places)
            direction = way if way in WAYS else WAYS[int(float(way))]
            request = Request(
                "job",
                direction,
                int(float(offset)),
                int(float(size)),
                int(float(start)),
                int(float(ns)),
                int(float(job)),
                int(float(cells[cached])) if cached is not None else None,
            )
        except (ValueError, IndexError, OverflowError):
            notes.append(f"line {index + 1} is not a request and is left out")
            if len(notes) > 3:
                break
            continue
        if min(request.bytes, request.start_ns, request.ns) >= 0:
            found.append(request)
        end = index + 1
    return Block("oplog", at + 1, end, list(found), notes=notes) if found else None
