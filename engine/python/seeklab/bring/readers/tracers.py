"""Tools that print a line for each slow call: bcc's *slower tools, fsyncsnoop, iosnoop, sysdig's chisels.

Their headings differ, but one column has the time and its unit: `LATms`, `LAT(ms)`, `LAT(us)`. Such a tool prints only
calls above its threshold, so no mean of all calls follows.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seeklab.bring.block import Block, Value
from seeklab.bring.lines import command
from seeklab.bring.numbers import number

if TYPE_CHECKING:
    from seeklab.bring.lines import Lines

TOOL = "slower"
STARTS = r"TIME\(s\)\s+COMM\s+CALL$"
HOLDS: tuple[str, ...] = (" LATms", " LAT(")
COLUMN = re.compile(r"LAT(?:ms|\((ms|us|ns)\))")
SCALE = {"ms": 1.0, "us": 1e-3, "ns": 1e-6}
NAME = re.compile(
    r"\b((?:ext4|xfs|btrfs|zfs|nfs|file|f2fs)slower|fsyncsnoop|syncsnoop|iosnoop|biosnoop|zfsdist|dbslower|mysqld_qslower)"
)
KINDS = {"R": "read", "W": "write", "S": "sync", "F": "sync", "O": "open", "read": "read", "write": "write"}
MAX_ROWS = 20_000


def read(lines: Lines, at: int) -> Block | None:
    """Return the calls below the heading at `at`."""
    columns = lines[at].split()
    place = next((index for index, name in enumerate(columns) if COLUMN.fullmatch(name)), None)
    if place is None:
        return _calls(lines, at) if columns[-1:] == ["CALL"] else None
    scale = SCALE[(COLUMN.fullmatch(columns[place]) or [""])[1] or "ms"]
    tool = _name(lines, at, columns)
    is_file_last = place < len(columns) - 1
    found: list[Value] = []
    end = at + 1
    for index in range(at + 1, min(len(lines), at + MAX_ROWS)):
        cells = lines[index].split(None, len(columns) - 1)
        if cells == columns:
            end = index + 1
            continue
        if len(cells) < len(columns) - is_file_last or (ms := number(cells[place])) is None:
            if not cells or command(lines[index]) or index > end + 2:
                break
            continue
        row = dict(zip(columns, cells, strict=False))
        way = KINDS.get(row.get("T", row.get("TYPE", row.get("D", "")))[:5].rstrip("S") or "", "")
        kind = "sync" if tool in ("fsyncsnoop", "syncsnoop") else way or KINDS.get(row.get("T", "")[:1], "call")
        process = row.get("COMM", row.get("PROCESS", "process"))
        found.append(Value(f"calls {process}", f"{kind} ms", ms * scale, "ms", index + 1))
        end = index + 1
    return Block(tool, at + 1, end, list(found)) if found else None


def _calls(lines: Lines, at: int) -> Block | None:
    """Read syncsnoop, which prints no times."""
    end = at + 1
    while end < len(lines) and len(lines[end].split()) == len(lines[at].split()):
        end += 1
    return (
        Block("syncsnoop", at + 1, end, notes=["it has no times, only which process syncs"]) if end > at + 1 else None
    )


def _name(lines: Lines, at: int, columns: list[str]) -> str:
    """Return the tool's name: from the command above, or from the columns."""
    for line in lines[max(0, at - 4) : at]:
        if found := NAME.search(line):
            return found[1]
    if "RVAL" in columns:
        return "fsyncsnoop"
    if {"DISK", "DEV"} & set(columns):
        return "biosnoop"
    return "fileslower" if {"FILE", "FILENAME"} & set(columns) else TOOL
