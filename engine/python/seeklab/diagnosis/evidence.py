"""Output of tools, parsed to devices and requests: iostat -x, zpool iostat, fio's JSON, blkparse, operation logs."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from seeklab._documents import UnreadableError, read_json
from seeklab._errors import Problem, SeeklabError
from seeklab.data.files import MAX_TEXT_BYTES, Kind, read_text, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from os import PathLike

FILE = Kind(
    "a report of iostat -x, zpool iostat, fio (JSON), blkparse, or an operation log (CSV)", longest_line=1 << 16
)
KIB, MIB = 1 << 10, 1 << 20
MS_PER_S = 1e3
NS_PER_S = 1e9
SECTOR = 512
READ, WRITE = 0, 1
MIN_COLUMNS = 5
MAX_DEVICES = 1024
"""Maximum number of devices, because each is compared with each."""
MOST = 2.0**63
"""Upper limit for every number in a report: no measured value is larger, and squares stay finite."""
# Each matches at the start of one line; searching the whole text takes quadratic time in the number of blanks.
IOSTAT_HEADER = re.compile(r"\s*Device:?\s.*(%util|aqu-sz|avgqu-sz)")
PLAIN_IOSTAT_HEADER = re.compile(r"\s*Device:?\s.*tps")
ZPOOL_HEADER = re.compile(r"pool\s+alloc\s+free")
BLKPARSE_EVENT = re.compile(r"\s*\d+,\d+\s+\d+\s+\d+\s+\d+\.\d+\s+\d+\s+[A-Z]\s")
ACCEPTED = "pass a report of iostat -x, zpool iostat, fio --output-format=json, blkparse, or an operation log as CSV"


class Device(NamedTuple):
    """The activity of a device in one interval, as pairs of reads and writes. Times in ms."""

    name: str
    ios_per_s: tuple[float, float]
    bytes_per_s: tuple[float, float]
    await_ms: tuple[float, float]
    queue: float
    util: float | None
    """Share of the time with requests in progress, 0 to 1; None if the tool does not report it."""


class Op(NamedTuple):
    """A request of a client, or to a device."""

    job: int
    direction: int
    offset: int
    bytes: int
    submit_ns: int
    latency_ns: int


class Job(NamedTuple):
    """One direction of a fio job. Times in ms."""

    name: str
    direction: int
    iops: float
    bytes_per_s: float
    mean_ms: float
    sd_ms: float
    percentiles: dict[float, float]
    depth: int


@dataclass
class Evidence:
    """The contents of all files."""

    devices: list[list[Device]] = field(default_factory=list)
    """The devices of each interval."""
    ops: list[Op] = field(default_factory=list)
    jobs: list[Job] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    """The detected format of each file."""
    of_device: bool = False
    """Whether the requests are a device's own."""


def read_evidence(files: Sequence[str | PathLike[str]], most_bytes: int = MAX_TEXT_BYTES) -> Evidence:
    """Read every file; raise SeeklabError for an unknown format, or a file with more than `most_bytes` of text."""
    if not files:
        raise SeeklabError([Problem("files", f"the list is empty; {ACCEPTED}")])
    found = Evidence()
    for path in files:
        text, name = read_text(path, replace(FILE, most_bytes=most_bytes)), shown(path)
        kind = _read(text, name, found)
        found.sources.append(f"{name}: {kind}")
    if not (found.devices or found.ops or found.jobs):
        raise SeeklabError(
            [Problem("files", "contain no requests or devices: every interval is idle, or the files are empty")]
        )
    names = {device.name for devices in found.devices for device in devices}
    if len(names) > MAX_DEVICES:
        _refuse("files", f"name {len(names):,} devices; the limit is {MAX_DEVICES:,}, so pass one host's reports")
    return found


def _read(text: str, name: str, found: Evidence) -> str:
    start = text.lstrip("\ufeff \t\r\n")
    if not start:
        _refuse(name, f"is empty; {ACCEPTED}")
    if start[0] in "{[" or (start.startswith("fio:") and "{" in start):
        return _json(start[start.index("{") :] if "{" in start else start, name, found)
    lines = text.splitlines()
    first = start.splitlines()[0]
    if "submit_ns" in first and "op" in first.split(","):
        found.ops += _operations(start, name)
        return "an operation log"
    if any(map(IOSTAT_HEADER.match, lines)):
        found.devices += _iostat(lines, name)
        return "iostat -x"
    if any(map(ZPOOL_HEADER.match, lines)):
        found.devices += _zpool(lines, name)
        return "zpool iostat"
    if any(map(BLKPARSE_EVENT.match, lines)):
        found.ops += _blkparse(lines, name)
        found.of_device = True
        return "blkparse"
    if any(map(PLAIN_IOSTAT_HEADER.match, lines)):
        _refuse(name, "is from iostat without -x, which has no times and no queue; record with iostat -x 1")
    _refuse(name, f'starts with "{first[:60]}", which is not a known report; {ACCEPTED}')
    return ""


def _refuse(name: str, message: str) -> None:
    raise SeeklabError([Problem(name, message)])


def _json(text: str, name: str, found: Evidence) -> str:
    try:
        document = read_json(text)
    except UnreadableError as error:
        _refuse(name, f"{error}; {ACCEPTED}")
    if isinstance(document, dict) and "sysstat" in document:
        try:
            found.devices += list(_sysstat(document, name))
        except (KeyError, TypeError, IndexError) as error:
            _refuse(name, f"has no {error} of iostat -x -o JSON; record with iostat -x -o JSON 1")
        return "iostat -x as JSON"
    if isinstance(document, dict) and "fio version" in document and isinstance(document.get("jobs"), list):
        try:
            found.jobs += [job for each in document["jobs"] for job in _fio(each, name)]
        except (KeyError, TypeError, AttributeError) as error:
            _refuse(name, f"has no {error} of fio's JSON; record with fio 3.18 or later")
        return "fio's JSON"
    _refuse(name, f"is another tool's JSON; {ACCEPTED}")
    return ""


def _number(value: Any, of: str, name: str) -> float:
    """Return a measured number; raise SeeklabError for a value that cannot be one."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < MOST or not isfinite(value):
        _refuse(name, f"has {of} of {str(value)[:40]}; it must be a number of at least 0 and below 2^63")
    return float(value)


def _sysstat(document: Mapping[str, Any], name: str) -> Iterator[list[Device]]:
    for interval in document["sysstat"]["hosts"][0]["statistics"]:
        devices = []
        for given in interval["disk"]:
            if "r_await" not in given:
                message = "r_await"
                raise KeyError(message)
            row = {column: _number(value, column, name) for column, value in given.items() if column != "disk_device"}
            devices.append(_device(str(given["disk_device"]), row, row["util"] / 100))
        yield devices


def _device(name: str, row: Mapping[str, float], util: float | None) -> Device:
    """Return a device from the columns of iostat -x."""
    return Device(
        name,
        (row["r/s"], row["w/s"]),
        (_first(row, "rkB/s", "rMB/s") * _scale(row, "r"), _first(row, "wkB/s", "wMB/s") * _scale(row, "w")),
        (row["r_await"], row["w_await"]),
        _first(row, "aqu-sz", "avgqu-sz"),
        util,
    )


def _first(row: Mapping[str, Any], *names: str) -> float:
    for name in names:
        if name in row:
            return float(row[name])
    raise KeyError(names[0])


def _scale(row: Mapping[str, Any], direction: str) -> int:
    return KIB if f"{direction}kB/s" in row else KIB * KIB


def _fio(job: Mapping[str, Any], name: str) -> Iterator[Job]:
    for direction, way in ((READ, "read"), (WRITE, "write")):
        of = job[way]
        if not of["total_ios"]:
            continue
        latency = of["lat_ns"]
        percentiles = latency.get("percentile") or of["clat_ns"].get("percentile", {})
        depth = job.get("job options", {}).get("iodepth", job.get("latency_depth", 1))
        try:
            yield Job(
                str(job["jobname"]),
                direction,
                _number(of["iops"], f"{way}.iops", name),
                _number(of["bw_bytes"], f"{way}.bw_bytes", name),
                _number(latency["mean"], f"{way}.lat_ns.mean", name) / 1e6,
                _number(latency["stddev"], f"{way}.lat_ns.stddev", name) / 1e6,
                {float(percent): _number(ns, "a percentile", name) / 1e6 for percent, ns in percentiles.items()},
                int(depth),
            )
        except SeeklabError:
            raise
        except (ValueError, OverflowError) as error:
            _refuse(name, f"has an iodepth or a percentile that is not a number ({str(error)[:80]})")


DIRECTIONS = {"read": READ, "write": WRITE, "0": READ, "1": WRITE, "0.0": READ, "1.0": WRITE}


def _operations(text: str, name: str) -> Iterator[Op]:
    lines = text.splitlines()
    columns = [column.strip() for column in lines[0].split(",")]
    needed = ("job", "op", "offset", "bytes", "submit_ns", "latency_ns")
    for column in needed:
        if column not in columns:
            _refuse(f"{name} line 1", f"found a header without {column}; an operation log needs {', '.join(needed)}")
    places = [columns.index(column) for column in needed]
    for number, line in enumerate(lines[1:], 2):
        cells = line.split(",")
        if not line.strip():
            continue
        try:
            job, op, *rest = (cells[place].strip() for place in places)
            direction = DIRECTIONS[op]
            whole = int(float(job)), *(int(float(value)) for value in rest)
        except (ValueError, IndexError, KeyError, OverflowError):
            whole = ()
        if not whole or min(whole) < 0 or max(whole) >= MOST:
            said = "a line needs read or write (0 or 1) as op, and numbers of at least 0 in the other columns"
            _refuse(f"{name} line {number}", f'is "{line[:60]}"; {said}')
        yield Op(whole[0], direction, *whole[1:])


def _iostat_columns(cells: list[str], at: str) -> list[str]:
    columns = [cell.rstrip(":") for cell in cells]
    if "r_await" not in columns or not {"aqu-sz", "avgqu-sz"} & set(columns):
        _refuse(at, "found a header without r_await and aqu-sz; record with iostat -x of sysstat 11 or later")
    return columns


def _iostat(lines: list[str], name: str) -> Iterator[list[Device]]:
    columns: list[str] = []
    interval: list[Device] = []
    for number, line in enumerate(lines, 1):
        cells = line.split()
        if not cells or cells[0] in ("avg-cpu:", "Linux"):
            continue
        if cells[0].rstrip(":") == "Device":
            if interval:
                yield interval
            columns, interval = _iostat_columns(cells, f"{name} line {number}"), []
            continue
        if len(cells) != len(columns) or not columns:
            continue  # processor times between the tables
        row = dict(zip(columns, cells, strict=True))
        try:
            values = {column: float(value.replace(",", ".")) for column, value in row.items() if column != "Device"}
        except ValueError:
            _refuse(f"{name} line {number}", f'is "{line.strip()[:60]}"; every column except the name must be a number')
        for column, value in values.items():
            _number(value, column, f"{name} line {number}")
        try:
            interval.append(_device(cells[0], values, values["%util"] / 100 if "%util" in values else None))
        except KeyError as error:
            _refuse(f"{name} line {number}", f"has no column {error}; record with iostat -x of sysstat 11 or later")
    if interval:
        yield interval


UNITS = {"": 1, "K": KIB, "M": KIB**2, "G": KIB**3, "T": KIB**4, "P": KIB**5}
TIMES_MS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": MS_PER_S}


def _quantity(text: str, name: str) -> float:
    found = re.fullmatch(r"(\d{1,15}(?:\.\d+)?)([KMGTP]?)", text)
    if text == "-":
        return 0.0
    if not found:
        _refuse(name, f'has "{text}"; zpool iostat writes numbers such as 1.5M')
        return 0.0
    return float(found[1]) * UNITS[found[2]]


def _time_ms(text: str) -> float:
    found = re.fullmatch(r"(\d{1,15}(?:\.\d+)?)(ns|us|ms|s)", text)
    return float(found[1]) * TIMES_MS[found[2]] if found else 0.0


def _zpool(lines: list[str], name: str) -> Iterator[list[Device]]:
    """Parse `zpool iostat [-v] [-l]`: the innermost rows of a pool are its devices; without -v the pool is one."""
    interval: list[tuple[int, Device]] = []
    for number, line in enumerate(lines, 1):
        if line.startswith("pool") and interval:
            yield _leaves(interval)
            interval = []
        cells = line.split()
        least = 7
        if (
            len(cells) < least
            or line.startswith("pool")
            or (set(cells[1]) <= {"-"} and set(cells[0]) <= {"-"})
            or cells[1] == "operations"
        ):
            continue
        at = f"{name} line {number}"
        try:
            ios = (_quantity(cells[3], at), _quantity(cells[4], at))
        except SeeklabError:
            if interval:
                raise
            continue  # a line of the header
        moved = (_quantity(cells[5], at), _quantity(cells[6], at))
        waits = tuple(_time_ms(cell) for cell in cells[7:9]) if len(cells) > least + 1 else (0.0, 0.0)
        queue = sum(each * wait / MS_PER_S for each, wait in zip(ios, waits, strict=True))
        interval.append(
            (len(line) - len(line.lstrip()), Device(cells[0], ios, moved, (waits[0], waits[1]), queue, None))
        )
    if interval:
        yield _leaves(interval)


def _leaves(rows: list[tuple[int, Device]]) -> list[Device]:
    deepest = [
        device for index, (depth, device) in enumerate(rows) if index + 1 == len(rows) or rows[index + 1][0] <= depth
    ]
    return deepest or [device for _, device in rows]


BLKPARSE = re.compile(
    r"\s*(\d+,\d+)\s+\d+\s+\d+\s+(\d{1,9}\.\d{1,12})\s+\d+\s+([A-Z])\s+(\S+)\s+(\d{1,18})\s\+\s(\d{1,9})"
)


def _blkparse(lines: list[str], name: str) -> Iterator[Op]:
    """Pair queued (Q, or issued D) and completed (C) events of blkparse's default format by place and length."""
    begun: dict[tuple[str, int], tuple[int, int]] = {}
    found = 0
    for line in lines:
        match = BLKPARSE.match(line)
        if not match:
            continue
        device, time, action, kind, sector, count = match.groups()
        at, ns = (device, int(sector)), round(float(time) * NS_PER_S)
        if action in ("Q", "D") and at not in begun:
            begun[at] = (ns, int(count))
        elif action == "C" and at in begun:
            submit, _ = begun.pop(at)
            if ns < submit:
                continue  # the pair is from two recordings
            found += 1
            yield Op(0, WRITE if "W" in kind else READ, int(sector) * SECTOR, int(count) * SECTOR, submit, ns - submit)
    if not found:
        _refuse(
            name,
            "has no request with both its start (Q or D) and its completion (C); record with "
            "blktrace -a queue -a complete",
        )


def by_job(ops: Iterable[Op]) -> dict[tuple[int, int], list[Op]]:
    """Group requests by job and direction."""
    found: dict[tuple[int, int], list[Op]] = {}
    for op in ops:
        found.setdefault((op.job, op.direction), []).append(op)
    return found
