"""`zpool iostat`: pools, vdevs and leaves by interval, with waits (`-l`) and queues (`-q`), in every layout.

The heading has two lines: groups of columns (`capacity`, `operations`, `total_wait`, ...), then the columns. Old
versions
write `used` and `avail` for `alloc` and `free`. With `-H` there is no heading: a line has a name and six numbers,
separated
by tabs (which the cleaning turns into blanks). The first table averages since import unless `-y` left it out; no line
shows that, so a single table of a command without an interval counts as such.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seeklab.bring.block import Block, Flow, PoolRow, PoolSample
from seeklab.bring.lines import command
from seeklab.bring.numbers import ms, number, scaled

if TYPE_CHECKING:
    from seeklab.bring.lines import Lines

TOOL = "zpool-iostat"
STARTS = r"capacity\s+operations|pool\s+(?:alloc|used)\s|\S++\s++\d++\s++\d++\s++(?:\d+\s+){3}\d+$"
HOLDS: tuple[str, ...] = ()
GROUPS = re.compile(r"\s*capacity\s+operations\s+bandwidth")
COLUMNS = re.compile(r"\s*pool\s+(?:alloc\s+free|used\s+avail)\s")
RULE = re.compile(r"\s*-{3,}(?:\s+-{2,})*\s*$")
PARSABLE = re.compile(r"(\S+)\s+(\d{1,18})\s+(\d{1,18})\s+(\d{1,18})\s+(\d{1,18})\s+(\d{1,18})\s+(\d{1,18})$")
DATE = re.compile(r"(?:[A-Z][a-z]{2} ){2}\s?\d{1,2} \d{2}:\d{2}:\d{2}|\d{10}$")
ROLES = {
    "logs": "log",
    "log": "log",
    "cache": "cache",
    "special": "special",
    "dedup": "dedup",
    "spares": "spare",
    "spare": "spare",
}
EMPTY = 40
"""Headings and rules before the first row, at most."""
BASE = 7
"""Name, alloc, free, and operations and bandwidth by direction."""
MIN_PARSABLE = 1 << 20
"""A pool has at least this size in bytes; smaller numbers belong to another table."""


def read(lines: Lines, at: int) -> Block | None:
    """Return the tables from `at` on."""
    if parsable := PARSABLE.match(lines[at].strip()):
        return _parsable(lines, at) if int(parsable[2]) + int(parsable[3]) > MIN_PARSABLE else None
    if GROUPS.match(lines[at]):
        groups, header = lines[at], at + 1
        if header < len(lines) and RULE.match(lines[header]):
            header += 1
    else:
        groups, header = "", at
    if header >= len(lines) or not COLUMNS.match(lines[header]):
        return None
    return _Table(lines, at, header, groups).block()


def _parsable(lines: Lines, at: int) -> Block:
    rows: list[PoolSample] = []
    end = at
    while end < len(lines) and (found := PARSABLE.match(lines[end].strip())):
        alloc, free, *rest = (float(found[index]) for index in range(2, 8))
        row = PoolRow(found[1], 0, "data", Flow(rest[0], rest[2]), Flow(rest[1], rest[3]), alloc, free)
        rows.append(PoolSample((row,), end + 1))
        end += 1
    return Block(TOOL, at + 1, end, list(rows), notes=["the form without a heading (-H) has one line per sample"])


class _Table:
    """The state of a reader that walks over the tables below one heading."""

    def __init__(self, lines: Lines, at: int, header: int, groups: str) -> None:
        self.lines, self.first, self.header = lines, at, header
        self.waits, self.queues = _more_columns(groups, lines[header])
        self.samples: list[PoolSample] = []
        self.rows: list[PoolRow] = []
        self.role = "data"
        self.line = header + 1
        self.last = header + 1
        self.notes: list[str] = []

    def block(self) -> Block | None:
        at = self.header + 1
        while at < len(self.lines):
            line = self.lines[at]
            if at > self.header + EMPTY and not self.samples and not self.rows:
                break
            if GROUPS.match(line) or COLUMNS.match(line) or RULE.match(line) or DATE.match(line.strip()):
                self._close()
            elif line.strip() and not self._row(line, at):
                break
            at += 1
            if line.strip():
                self.last = at
        self._close()
        if not self.samples:
            return None
        first = self.first
        before = self.lines[first - 1] if first else ""
        if first and (RULE.match(before) or DATE.match(before.strip())):
            first -= 1
            before = self.lines[first - 1] if first else ""
        if "zpool iostat" in (command(before) or before):
            first -= 1
        if len(self.samples) == 1:
            self.notes.append("one sample; without an interval it averages since the import of the pool")
        return Block("zpool-iostat", first + 1, self.last, list(self.samples), notes=self.notes)

    def _close(self) -> None:
        if self.rows:
            self.samples.append(PoolSample(tuple(self.rows), self.line))
        self.rows, self.role = [], "data"

    def _row(self, line: str, at: int) -> bool:
        cells = line.split()
        if len(cells) == 1 and cells[0] in ROLES:
            self.role = ROLES[cells[0]]
            return True
        if len(cells) < BASE:
            return False
        if cells[0] in ROLES and set("".join(cells[1:])) <= {"-"}:
            self.role = ROLES[cells[0]]
            return True
        values = [scaled(cell) for cell in cells[1:BASE]]
        if any(value is None and cell != "-" for value, cell in zip(values, cells[1:BASE], strict=True)):
            return False
        depth = (len(line) - len(line.lstrip())) // 2
        if not depth:
            if any(row.name == cells[0] and row.depth == 0 for row in self.rows):
                self._close()  # without -v, tables follow each other without a rule
            self.role = "data"
        if not self.rows:
            self.line = at + 1
        alloc, free, reads, writes, read_bytes, write_bytes = values
        waits = {
            name: value
            for name, cell in zip(self.waits, cells[BASE:], strict=False)
            if (value := ms(cell, "ns")) is not None
        }
        numbers = [number(cell) for cell in cells[BASE + len(self.waits) :]]
        pairs = zip(numbers[::2], numbers[1::2], strict=False)
        queues = {
            name: (pending, active)
            for name, (pending, active) in zip(self.queues, pairs, strict=False)
            if pending is not None and active is not None
        }
        self.rows.append(
            PoolRow(
                cells[0],
                depth if self.role == "data" else max(depth, 1),
                self.role,
                Flow(reads, read_bytes, waits.get("total read")),
                Flow(writes, write_bytes, waits.get("total write")),
                alloc,
                free,
                waits,
                queues,
            )
        )
        return True


def _more_columns(groups: str, columns: str) -> tuple[list[str], list[str]]:
    """Return the names of the columns of waits and of the classes of queues behind the first seven."""
    waits: list[str] = []
    queues: list[str] = []
    names = columns.split()[BASE:]
    for group in groups.split()[3:]:
        if group.endswith("_wait"):
            waits += [f"{group.removesuffix('_wait')} {direction}" for direction in ("read", "write")]
        elif group in ("scrub", "trim", "rebuild"):
            waits.append(group)
        else:
            queues.append(group)
    if not groups and "wait" not in names and "pend" not in names:
        return [], []
    return waits, queues
