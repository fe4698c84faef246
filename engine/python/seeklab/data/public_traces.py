"""Traces that people download, and tables of your own columns: recognised by content, and rewritten for the engine.

The engine reads requests as a fio log (`TIME FILE ACTION OFFSET LENGTH`) or, with response times, in the form of MSR
Cambridge; objects as `time,object,size` lines. Each layout here is a list of columns, so one reader serves all of them.
Requests: SNIA SYSTOR '17, Alibaba 2020, Tencent CBS, SPC, FIU, vSCSI as CSV, DiskSim. Objects: libCacheSim's CSV and
oracleGeneral, and the cache logs of Twitter and Meta. Requests keep their order; times count from the first one.

A trace is rewritten line by line and never held as a whole. The rewriting ends at `MAX_BYTES`, because the engine holds
what it replays.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from seeklab._errors import Problem, SeeklabError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SECTOR = 512
READS = frozenset(("r", "read", "rs", "ra", "0", "28", "88", "a8", "08", "get", "gets"))
WRITES = frozenset(("w", "write", "ws", "wa", "1", "2a", "8a", "aa", "0a"))
MAX_BYTES = 1 << 27
"""Maximum length of a rewritten trace: about three million requests."""
MAX_OFFSET = 1 << 60
MAX_LENGTH = 1 << 30
"""As in the engine."""
LOOKED_AT_LINES = 50
SAMPLE = 3
ORACLE = struct.Struct("<IQIq")
UNITS_NS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1, "100ns": 100}
PLACES = ("time", "op", "offset", "sector", "bytes", "sectors", "device", "response", "object")
BLANKS = re.compile(r"[\s,]+")


class Row(NamedTuple):
    """A request as a layout finds it. Times in ns, places and lengths in bytes."""

    line: int
    time_ns: int
    is_write: bool
    offset: int
    length: int
    device: str
    response_ns: int | None


@dataclass(frozen=True)
class Layout:
    """Columns of a trace, counted from 0, and their units."""

    name: str
    time: int | None
    offset: int
    length: int
    op: int | None = None
    device: int | None = None
    response: int | None = None
    time_unit: str = "s"
    response_unit: str = "s"
    offset_unit: int = 1
    length_unit: int = 1
    separator: str | None = ","
    """None stands for blanks."""
    width: int = 0
    """Columns of a line; 0 for any number that has all of these."""
    reads: frozenset[str] = READS
    writes: frozenset[str] = WRITES
    header: str = ""
    """Beginning of the line of column names, in lower case; a trace without one is recognised by its values."""
    form: str = ""
    """A pattern that a line has."""

    def row(self, number: int, line: str) -> Row:
        """Parse a line; raise ValueError with the reason if that is not possible."""
        cells = [cell.strip().strip('"') for cell in line.split(self.separator)]
        places = (self.time, self.offset, self.length, self.op, self.device, self.response)
        last = max(place for place in places if place is not None)
        if len(cells) <= last or (self.width and len(cells) != self.width):
            message = f'"{line[:60]}" has {len(cells)} columns; {self.name} has {self.width or last + 1}'
            raise ValueError(message)
        offset = int(_number("offset", cells[self.offset])) * self.offset_unit
        length = int(_number("length", cells[self.length])) * self.length_unit
        if offset >= MAX_OFFSET or length > MAX_LENGTH:
            message = f"the request of {length} bytes at byte {offset} is out of range; the limits are 1 GiB and 1 EiB"
            raise ValueError(message)
        return Row(
            number,
            0 if self.time is None else _time_ns("time", cells[self.time], self.time_unit),
            False if self.op is None else self._writes(cells[self.op].lower()),
            offset,
            length,
            "disk" if self.device is None else cells[self.device],
            None if self.response is None else _time_ns("response", cells[self.response], self.response_unit),
        )

    def _writes(self, word: str) -> bool:
        if word in self.reads:
            return False
        if word in self.writes:
            return True
        message = f'"{word[:30]}" is not an action; known: R, W, read, write, and SCSI codes 28 and 2a'
        raise ValueError(message)


SNIA = Layout("systor17", 0, 4, 5, 2, 3, 1, width=6, header="timestamp,response,iotype")
ALIBABA = Layout("alibaba", 4, 2, 3, 1, 0, time_unit="us", width=5, form=r"\d+,[RWrw],\d+,\d+,\d{13,17}$")
TENCENT = Layout(
    "tencent-cbs",
    0,
    1,
    2,
    3,
    4,
    offset_unit=SECTOR,
    length_unit=SECTOR,
    width=5,
    reads=frozenset("0"),
    writes=frozenset("1"),
    form=r"\d{9,11},\d+,\d+,[01],\d+$",
)
SPC = Layout("spc", 4, 1, 2, 3, 0, offset_unit=SECTOR, form=r"\d+\s*,\s*\d+\s*,\s*\d+\s*,\s*[RWrw]\s*,\s*\d+\.\d+")
FIU = Layout(
    "fiu",
    0,
    3,
    4,
    5,
    time_unit="ns",
    offset_unit=SECTOR,
    length_unit=SECTOR,
    separator=None,
    form=r"\d+\s+\d+\s+\S+\s+\d+\s+\d+\s+[RWrw]\s",
)
VSCSI = Layout("vscsi", 1, 4, 3, 2, time_unit="us", offset_unit=SECTOR, header="version,time,op,size,lbn")
DISKSIM = Layout(
    "disksim",
    0,
    2,
    3,
    4,
    1,
    time_unit="ms",
    offset_unit=SECTOR,
    length_unit=SECTOR,
    separator=None,
    width=5,
    # Bit 0 of DiskSim's flags is set for reads.
    reads=frozenset("13579"),
    writes=frozenset("02468"),
    form=r"\d+(?:\.\d+)?\s+\d+\s+\d+\s+\d+\s+\d$",
)
IOLOG_1 = Layout(
    "fio-iolog-v1", None, 1, 2, 0, width=3, reads=frozenset("0"), writes=frozenset("1"), form=r"[01],\d+,\d+$"
)
"""The oldest log of fio: direction, offset and length, without a header and without times."""
LAYOUTS = (SNIA, ALIBABA, TENCENT, SPC, FIU, VSCSI, DISKSIM)


@dataclass(frozen=True)
class ObjectLayout:
    """Columns of a log of objects, counted from 0."""

    name: str
    time: int | None
    key: int
    sizes: tuple[int, ...] = ()
    separator: str | None = ","
    header: str = ""
    form: str = ""


OBJECTS = (
    ObjectLayout("twitter", 0, 1, (2, 3), header="timestamp,key,key_size"),
    ObjectLayout("twitter", 0, 1, (2, 3), form=r"\d+,[^,]+,\d+,\d+,\d+,[a-z]+,\d+$"),
    ObjectLayout("meta", 0, 1, (2, 5), header="op_time,key,key_size,op,op_count,size"),
    ObjectLayout("meta", None, 0, (2, 4), header="key,op,size,op_count,key_size"),
    ObjectLayout("libcachesim", 0, 1, (2,), header="time,obj_id,size"),
    ObjectLayout("libcachesim", 0, 1, (2,), header="time,object,size,next"),
    ObjectLayout("columns", 0, 1, (2,), separator=None, form=r"\d+(?:\.\d+)?\s+\S+\s+\d+$"),
    ObjectLayout("objects", None, 0, separator=None, form=r"[^\s,{}\[\]<>\"()#][^\s,{}<>\"]*$"),
)


@dataclass(frozen=True)
class Rewritten:
    """A trace as the engine reads it."""

    text: str
    layout: str
    sample: tuple[str, ...]
    """The first requests, as sentences."""
    notes: tuple[str, ...] = ()
    """A sentence for each change and omission."""


class _Text:
    """A text that grows line by line, as a few large strings."""

    PIECE = 50_000

    def __init__(self, head: str = "") -> None:
        self._pieces: list[str] = [head]
        self._lines: list[str] = []
        self.bytes, self.lines = len(head), 0

    def add(self, line: str) -> bool:
        """Add a line; return whether there is room for more."""
        self._lines.append(line)
        self.bytes += len(line) + 1
        self.lines += 1
        if len(self._lines) == self.PIECE:
            self._flush()
        return self.bytes < MAX_BYTES

    def _flush(self) -> None:
        if self._lines:
            self._pieces.append("\n".join(self._lines) + "\n")
            self._lines = []

    def whole(self) -> str:
        """Return the text and forget it, so that it is held once."""
        self._flush()
        text, self._pieces = "".join(self._pieces), []
        return text


def _start(text: str) -> tuple[list[str], str]:
    """Return the first lines with content, and the first of them as it is compared with names of columns."""
    lines = [line.strip() for line in islice(_lines(text), LOOKED_AT_LINES) if line.strip()]
    return lines, lines[0].lower().replace(" ", "").replace('"', "") if lines else ""


def layout_of(text: str, *, of_objects: bool = False) -> Layout | None:
    """Return the layout of a trace of requests, by its first lines; None if it is none of these.

    A log of fio's first version looks like lines of time, object and size, so it is none `of_objects`.
    """
    lines, first = _start(text)
    if not lines:
        return None
    lines = [line for line in lines if not line.startswith("#")]
    # Some copies have a line of column names.
    values = lines[1:] if lines[1:] and lines[0][:1].isalpha() else lines
    for layout in LAYOUTS if of_objects else (*LAYOUTS, IOLOG_1):
        if layout.header and first.startswith(layout.header):
            return layout
        if layout is IOLOG_1 and values is not lines:
            continue
        if layout.form and values and all(re.match(layout.form, line) for line in values):
            return layout
    return None


def object_layout_of(text: str) -> tuple[ObjectLayout, bool] | None:
    """Return the layout of a log of objects, and whether its first line names the columns; None if it has none."""
    lines, first = _start(text)
    for layout in OBJECTS if lines else ():
        if layout.header:
            if first.startswith(layout.header):
                return layout, True
        elif all(re.match(layout.form, line) for line in lines):
            return layout, False
    return None


def chosen(columns: str, text: str) -> Layout:
    """Return the layout of columns numbered from 1: `time=1,op=2,offset=3,bytes=4`, with units as in `time:us`."""
    places: dict[str, int] = {}
    units: dict[str, str] = {}
    for part in columns.split(","):
        name, _, place = part.strip().partition("=")
        name, _, unit = name.partition(":")
        if name not in PLACES or not place.isdigit() or not 0 < int(place) < 1000:
            message = f'"{part[:60]}" is not a column; write time=1, with one of {", ".join(PLACES)}, or time:us=1'
            raise SeeklabError([Problem("columns", message)])
        places[name] = int(place) - 1
        units[name] = unit
    offset, length = ("offset" if "offset" in places else "sector"), ("bytes" if "bytes" in places else "sectors")
    for name in ("time", offset, length):
        if name not in places:
            message = f"there is no {name}; a trace of requests needs time, offset or sector, and bytes or sectors"
            raise SeeklabError([Problem("columns", message)])
    for name in ("time", "response"):
        if units.get(name, "") not in ("", *UNITS_NS):
            message = f'"{units[name][:20]}" is not a unit of time; write one of {", ".join(UNITS_NS)}'
            raise SeeklabError([Problem("columns", message)])
    first = next((line for line in _lines(text) if line.strip()), "")
    return Layout(
        "columns",
        places["time"],
        places[offset],
        places[length],
        places.get("op"),
        places.get("device"),
        places.get("response"),
        time_unit=units["time"] or "s",
        response_unit=units.get("response") or "s",
        offset_unit=SECTOR if offset == "sector" else 1,
        length_unit=SECTOR if length == "sectors" else 1,
        separator=next((mark for mark in (",", ";", "\t") if mark in first), None),
    )


def requests(lines: Iterable[str], layout: Layout) -> Rewritten:
    """Rewrite the lines of a trace of requests for the engine."""
    out = _Text("" if layout.response is not None else "fio version 3 iolog\n")
    sample: list[str] = []
    notes: list[str] = []
    first_ns: int | None = None
    named, early = False, 0
    for number, line in enumerate(lines, start=1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        try:
            row = layout.row(number, stripped)
        except ValueError as reason:
            if not out.lines and not named and not stripped[0].isdigit():
                named = True
                continue  # names of columns
            raise SeeklabError([Problem(f"line {number}", str(reason))]) from None
        first_ns = row.time_ns if first_ns is None else first_ns
        early += row.time_ns < first_ns
        if len(sample) < SAMPLE:
            sample.append(_sentence(row, first_ns))
        if not out.add(_rewritten(row, first_ns)):
            notes.append(_cut(out.lines, number))
            break
    if not out.lines:
        raise SeeklabError([Problem("trace", f"has no request in the form of {layout.name}")])
    if layout.time is None:
        notes.append("the trace has no times, so all requests start at once; use --mode fast or closed")
    if early:
        notes.append(f"{early} requests have earlier times than the first one; they are replayed at its time")
    return Rewritten(out.whole(), layout.name, tuple(sample), tuple(notes))


def _cut(requests: int, line: int) -> str:
    return f"only the first {requests:,} requests are used, up to line {line:,}; cut the file to use another part"


def _rewritten(row: Row, first_ns: int) -> str:
    time_ns = max(0, row.time_ns - first_ns)
    op = "Write" if row.is_write else "Read"
    if row.response_ns is not None:
        ticks = time_ns // 100
        host, disk = (row.device, "0") if not row.device.isdigit() else ("lun", row.device)
        return f"{ticks},{host},{disk},{op},{row.offset},{row.length},{row.response_ns // 100}"
    name = BLANKS.sub("_", row.device) or "disk"
    return f"{time_ns // 1000} {name} {op.lower()} {row.offset} {row.length}"


def _sentence(row: Row, first_ns: int) -> str:
    return sentence(
        row.line, row.time_ns - first_ns, "write" if row.is_write else "read", row.length, row.offset, row.device
    )


def sentence(line: int, after_ns: int, op: str, length: int, offset: int, target: str) -> str:
    """Return a request as a sentence."""
    return f"line {line}: after {after_ns / 1e9:.6f} s a {op} of {length} bytes at byte {offset} of {target}"


def objects(lines: Iterable[str], layout: ObjectLayout, *, headed: bool) -> Rewritten:
    """Rewrite the lines of a log of objects for the engine's caches."""
    out = _Text("time,object,size\n")
    sample: list[str] = []
    notes: list[str] = []
    columns = max((layout.key, *layout.sizes)) + 1
    waits_for_names = headed
    for number, line in enumerate(lines, start=1):
        stripped = line.strip()
        if not stripped or waits_for_names:
            waits_for_names = waits_for_names and not stripped
            continue
        cells = [cell.strip() for cell in stripped.split(layout.separator)]
        if len(cells) < columns:
            message = f'"{stripped[:60]}" is cut off; {layout.name} has {columns} columns'
            raise SeeklabError([Problem(f"line {number}", message)])
        try:
            size = sum(int(_number("size", cells[place])) for place in layout.sizes) if layout.sizes else 1
        except ValueError as reason:
            raise SeeklabError([Problem(f"line {number}", str(reason))]) from None
        time = cells[layout.time] if layout.time is not None else str(out.lines)
        row = f"{time},{cells[layout.key]},{max(1, size)}"
        if len(sample) < SAMPLE:
            sample.append(f"line {number}: at {time} the object {cells[layout.key][:60]} of {max(1, size)} bytes")
        if not out.add(row):
            notes.append(_cut(out.lines, number))
            break
    return Rewritten(out.whole(), layout.name, tuple(sample), tuple(notes))


def is_oracle_general(head: bytes) -> bool:
    """Return whether binary data begins as libCacheSim's oracleGeneral: records of time, object, size, next request."""
    if len(head) < ORACLE.size:
        return False
    whole = head[: min(len(head), ORACLE.size * LOOKED_AT_LINES) // ORACLE.size * ORACLE.size]
    records = list(ORACLE.iter_unpack(whole))
    times = [record[0] for record in records]
    return times == sorted(times) and all(record[2] > 0 and record[3] >= -2 for record in records)


def oracle_general(chunks: Iterable[bytes]) -> Rewritten:
    """Rewrite oracleGeneral as lines of time, object and size."""
    out = _Text("time,object,size\n")
    sample: list[str] = []
    notes: list[str] = []
    rest = b""
    for chunk in chunks:
        data = rest + chunk
        end = len(data) // ORACLE.size * ORACLE.size
        rest = data[end:]
        has_room = True
        for time, key, size, _ in ORACLE.iter_unpack(data[:end]):
            if len(sample) < SAMPLE:
                sample.append(f"record {out.lines + 1}: at {time} s the object {key} of {size} bytes")
            has_room = out.add(f"{time},{key},{size}")
            if not has_room:
                break
        if not has_room:
            notes.append(_cut(out.lines, out.lines).replace("line", "record"))
            break
    else:
        if rest:
            message = f"ends within a record of oracleGeneral: {len(rest)} bytes are left, a record has {ORACLE.size}"
            raise SeeklabError([Problem("trace", message)])
    return Rewritten(out.whole(), "oracleGeneral", tuple(sample), tuple(notes))


def _time_ns(field: str, text: str, unit: str) -> int:
    """Return a time in ns. Seconds since 1970 have more digits than a float."""
    _number(field, text)
    whole, _, part = text.partition(".")
    if not whole.isdigit() or not part.isdigit():
        return round(_number(field, text) * UNITS_NS[unit])
    return int(whole) * UNITS_NS[unit] + round(float(f"0.{part}") * UNITS_NS[unit])


def _number(field: str, text: str) -> float:
    try:
        found = int(text) if text.isdigit() else float(text)
    except ValueError:
        message = f'{field} "{text[:30]}" is not a number'
        raise ValueError(message) from None
    if not 0 <= found < 1 << 63:
        message = f"{field} {text[:30]} is out of range; it must be at least 0 and below 2^63"
        raise ValueError(message)
    return found


def _lines(text: str) -> Iterator[str]:
    """Yield the lines of a text without a list of all of them."""
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield text[start:end]
        start = end + 1


def described(rewritten: Rewritten) -> Iterable[str]:
    """Return sentences that show what was understood."""
    yield f"read as {rewritten.layout}"
    yield from rewritten.sample
    yield from rewritten.notes
