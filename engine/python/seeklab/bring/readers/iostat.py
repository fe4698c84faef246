"""`iostat` of sysstat 9 to 12 on Linux: plain and extended tables of devices.

The columns differ by version and by option, but a header names them, so they are read by name. Version 9 has one
`await`, 10 and 11 have `r_await` and `avgqu-sz`, and 12 has sizes by direction, discards, and, from 12.5 on, flushes.
A table may be wrapped: the name may be on a line of its own (`-N` with long names, mail programs), or a cell cut in
two. `--human` of sysstat 12 prints three short tables with the name last; their rows are joined by name.

The first table after the `Linux` line averages since boot, unless a command line above it has `-y`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from seeklab.bring.block import Block, DeviceRow, Flow, Sample
from seeklab.bring.lines import command
from seeklab.bring.numbers import K, number, scaled

if TYPE_CHECKING:
    from seeklab.bring.lines import Lines

TOOL = "iostat-x"
STARTS = r"Linux \S+ \(|avg-cpu:|Device:?\s|(?:tps|r/s)\s.{10,300}\sDevice$"
HOLDS: tuple[str, ...] = ()
HEADER = re.compile(r"\s*(?:Device:?\s+(?:\S+/s|tps)\s|(?:tps|r/s)\s.{10,300}\sDevice\s)")
EXTENDED = frozenset(("%util", "await", "r_await", "w_await", "aqu-sz", "avgqu-sz", "areq-sz", "rareq-sz", "d_await"))
KNOWN = EXTENDED | {
    "svctm",
    "rqm/s",
    "rrqm/s",
    "wrqm/s",
    "%rrqm",
    "%wrqm",
    "wareq-sz",
    "rkB/s",
    "wkB/s",
    "rMB/s",
    "wMB/s",
    "avgrq-sz",
}
BANNER = re.compile(r"Linux (\S{1,80}) \((\S{0,80})\)")
STAMP = re.compile(r"\s*(?:\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4}[ T,]|\d{1,2}:\d{2}:\d{2})[\dAPM :.,+Z-]*$")
INTERVAL = re.compile(r"\biostat\b(?:\s++(?:-\S++|[a-z]\w*+)){0,20}+\s+(\d{1,5})\b")
WITHOUT_BOOT = re.compile(r"\biostat\b.{0,40}\s-[a-zA-Z]{0,8}y")
SECTOR = 512
EMPTY = 60
"""Headings before the first row, at most."""
MAX_WRAPPED = 3
"""A row of a table may be cut into at most this many lines."""
WIDTHS = (80, 72, 76, 78, 79, 100, 120, 132)
"""Widths of terminals and mails, which cut longer lines."""
LONGEST_COLUMN, MAX_HEADING = 12, 4
COLUMN = re.compile(
    r"[rwdf]/s|tps|[rwd]?(?:kB|MB|sec)/s|[rwd]?rqm/s|%[rwd]?rqm|%util|[rwdf]_await|await|svctm|a[vqr]\w{1,4}-sz"
    r"|[rwd]areq-sz"
)
SIZES = {"kB": K, "MB": K * K, "B": 1, "sec": SECTOR, "kB_": K, "MB_": K * K}


def read(lines: Lines, at: int) -> Block | None:
    """Return the tables from `at` on, as far as nothing but tables, headings and blanks follows."""
    table = _Tables(lines, at)
    return table.block() if table.run() else None


class _Tables:
    """The state of a reader that walks over the tables of one host."""

    def __init__(self, lines: Lines, at: int) -> None:
        self.lines, self.first, self.at = lines, at, at
        self.last = at
        self.samples: list[Sample] = []
        self.rows: list[DeviceRow] = []
        self.cpu: dict[str, float] = {}
        self.is_boot = False
        self.banner = ""
        self.seconds = self._interval()
        self.has_boot = not any(WITHOUT_BOOT.search(line) for line in lines[max(0, at - 3) : at])
        self.notes: list[str] = []
        self.is_extended = False
        self.torn: int | None = None
        self.width, self.most = 0, MAX_WRAPPED
        self.line_of_table = at + 1

    def _interval(self) -> float | None:
        for line in self.lines[max(0, self.first - 3) : self.first]:
            if found := INTERVAL.search(command(line) or line):
                return float(found[1])
        return None

    def run(self) -> bool:
        """Walk over the tables; return whether there was one."""
        blanks = 0
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if not line.strip():
                blanks += 1
                self.at += 1
                continue
            step = self._step(line)
            if not step or (self.at > self.first + EMPTY and not self.samples and not self.rows):
                break
            self.at += step
            self.last, blanks = self.at, 0
        self._close()
        return bool(self.samples)

    def _step(self, line: str) -> int:
        """Return how many lines belong to what starts here; 0 ends the block."""
        if banner := BANNER.match(line.strip()):
            if self.banner or self.samples:
                return 0
            self.banner, self.is_boot = banner[1], self.has_boot
            return 1
        if line.lstrip().startswith("avg-cpu:"):
            return self._processors(line)
        if STAMP.match(line):
            return 1
        if HEADER.match(line + " "):
            return self._table()
        return 0

    def _processors(self, line: str) -> int:
        self._close()
        names = line.split()[1:]
        cells = self.lines[self.at + 1].split() if self.at + 1 < len(self.lines) else []
        values = [number(cell) for cell in cells]
        if len(values) != len(names) or None in values:
            return 1
        self.cpu = {name.strip("%"): value for name, value in zip(names, values, strict=True) if value is not None}
        return 2

    def _close(self) -> None:
        if self.rows:
            line = self.line_of_table
            self.samples.append(Sample(tuple(self.rows), line, self.is_boot, self.seconds, self.cpu))
            self.is_boot = False
        self.rows, self.cpu = [], {} if self.rows else self.cpu

    def _table(self) -> int:
        heading, used, width = _heading(self.lines, self.at)
        columns = [cell.rstrip(":") for cell in heading.split()]
        continues = columns[-1] == "Device" and not {"r/s", "tps"} & set(columns)
        if not continues:
            cpu = self.cpu
            self._close()
            self.cpu = cpu or self.cpu
            self.line_of_table = self.at + 1
        if columns[-1] == "Device":
            columns = [*columns[1:-1], "Device"] if columns[0] == "Device" else columns
            named_last = True
        else:
            columns, named_last = columns[1:], False
        columns, self.torn = _joined(columns)
        self.is_extended |= bool(EXTENDED & set(columns))
        self.width, self.most = width, max(MAX_WRAPPED, used + 1)
        while row := self._row(self.at + used, columns, named_last=named_last):
            count, name, values = row
            used += count
            self._add(device(name, values), joins=continues)
        return used

    def _add(self, row: DeviceRow, *, joins: bool) -> None:
        for index, earlier in enumerate(self.rows):
            if joins and earlier.name == row.name:
                merged = {
                    field: new for field, new in vars(row).items() if field != "name" and new not in (None, Flow())
                }
                self.rows[index] = replace(earlier, **merged)
                return
        self.rows.append(row)

    def _row(self, at: int, columns: list[str], *, named_last: bool) -> tuple[int, str, dict[str, float]] | None:
        """Return the length in lines, the device and the numbers of a row, which may be cut into several lines."""
        text = ""
        for used in range(self.most):
            if at + used >= len(self.lines) or not self.lines[at + used].strip():
                return None
            line = self.lines[at + used]
            if used and not line[0].isspace() and not ((self.width and line[0].isdigit()) or line[0] == "."):
                return None
            text = f"{text.ljust(used * self.width)}{line}" if self.width else f"{text} {line}"
            cells = text.split()
            found = numbers(_mended(cells, self.torn, len(columns)), columns, named_last=named_last)
            if found:
                return used + 1, *found
            if HEADER.match(line + " ") or len(cells) > len(columns) + 1:
                return None
        return None

    def block(self) -> Block:
        first = self.first
        if first and "iostat" in (command(self.lines[first - 1]) or self.lines[first - 1].strip()).split()[:1]:
            first -= 1
        return Block(
            TOOL if self.is_extended else "iostat",
            first + 1,
            self.last,
            list(self.samples),
            self.banner,
            notes=self.notes,
        )


def _heading(lines: Lines, at: int) -> tuple[str, int, int]:
    """Return a heading, its length in lines, and the width of its lines if they were cut (else 0)."""
    line = lines[at]
    for width in WIDTHS:
        if not width - LONGEST_COLUMN <= len(line) <= width:
            continue
        text = line
        for used in range(1, MAX_HEADING):
            more = lines[at + used] if at + used < len(lines) else ""
            if not more.strip() or len(more) > width:
                break
            text = text.ljust(used * width) + more
            names = text.split()[1:]
            if names[-1:] == ["%util"] and all(COLUMN.fullmatch(name) for name in names):
                return text, used + 1, width
    return line, 1, 0


def _joined(columns: list[str]) -> tuple[list[str], int | None]:
    """Join a column name that a terminal cut in two (`svc tm`); return the columns and the place of the cut."""
    for place, (one, two) in enumerate(pairwise(columns)):
        if one not in KNOWN and two not in KNOWN and one + two in KNOWN:
            return [*columns[:place], one + two, *columns[place + 2 :]], place
    return columns, None


def _mended(cells: list[str], torn: int | None, columns: int) -> list[str]:
    """Join the cell below a cut column name (`0.` and `06`) in a row that has one cell too many."""
    if torn is None or len(cells) != columns + 2:
        return cells
    place = torn + 1  # the device's name comes first
    return [*cells[:place], cells[place] + cells[place + 1], *cells[place + 2 :]]


def numbers(cells: list[str], columns: list[str], *, named_last: bool) -> tuple[str, dict[str, float]] | None:
    """Return the device and the numbers of a row by column, or None if the cells do not fit the columns."""
    if named_last:
        name, values, names = cells[-1], cells[:-1], columns[:-1] if columns[-1] == "Device" else columns
    else:
        name, values, names = cells[0], cells[1:], columns
    if number(name) is not None or len(values) != len(names):
        return None
    read_ = [scaled(cell) if cell[-1:].isalpha() else number(cell) for cell in values]
    if None in read_:
        return None
    found = {}
    for column, cell, value in zip(names, values, read_, strict=True):
        # `--human` prints sizes with a letter of their own: the column's unit no longer applies.
        found[column if not cell[-1:].isalpha() else _in_bytes(column)] = float(value or 0)
    return name, found


def _in_bytes(column: str) -> str:
    for unit in ("kB", "MB"):
        if unit in column:
            return column.replace(unit, "B")
    return f"{column}:B"


def device(name: str, row: dict[str, float]) -> DeviceRow:
    """Return a device from the columns of `iostat -x`, by name."""

    def flow(letter: str, word: str = "") -> Flow:
        size = row.get(f"{letter}areq-sz")
        return Flow(
            row.get(f"{letter}/s"),
            _rate(row, letter, word),
            row.get(f"{letter}_await"),
            size * K if size is not None else row.get(f"{letter}areq-sz:B"),
            row.get(f"{letter}rqm/s"),
        )

    busy = row.get("%util")
    both = Flow()
    if "await" in row and "r_await" not in row:
        both = Flow(row.get("tps"), _rate(row, "", ""), row["await"], _size(row), row.get("rqm/s"))
    elif "tps" in row:
        both = Flow(row["tps"])
    queue = row.get("aqu-sz", row.get("avgqu-sz"))
    return DeviceRow(
        name,
        flow("r", "read"),
        flow("w", "wrtn"),
        flow("d", "dscd"),
        Flow(row.get("f/s"), None, row.get("f_await")),
        both,
        queue,
        None,
        None if busy is None else busy / 100,
    )


def _size(row: dict[str, float]) -> float | None:
    if "areq-sz" in row:
        return row["areq-sz"] * K
    return row["avgrq-sz"] * SECTOR if "avgrq-sz" in row else None


def _rate(row: dict[str, float], letter: str, word: str) -> float | None:
    for unit, factor in SIZES.items():
        for name in (f"{letter}{unit}/s", f"{unit.rstrip('_')}_{word}/s", f"Blk_{word}/s"):
            if name in row:
                return row[name] * (SECTOR if name.startswith("Blk") else factor)
    return None
