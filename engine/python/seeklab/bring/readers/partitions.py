"""Partition tables: `parted -l` and `fdisk -l`. Records are the physical block and the start of each partition."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seeklab.bring.block import Block, Value

if TYPE_CHECKING:
    from seeklab.bring.lines import Lines

TOOL = "parted"
STARTS = r"Disk /dev/\S+: |Model: .+ \(\w+\)$"
HOLDS: tuple[str, ...] = ()
DISK = re.compile(r"Disk (/dev/[^:\s]{1,64}): (.{1,120})$")
SECTOR = re.compile(r"Sector size \(logical/physical\): (\d{1,18}) ?(?:B|bytes) ?/ ?(\d{1,18}) ?(?:B|bytes)")
PARTED = re.compile(
    r"\s*(\d{1,3})\s+(\d{1,15}(?:\.\d{1,9})?)([kMGT]?B|s)\s+\d[\d.]*(?:[kMGT]?B|s)\s+\d[\d.]*(?:[kMGT]?B|s)"
)
FDISK = re.compile(r"(/dev/\S{1,64}?)\s+(?:\*\s+)?(\d{1,18})\s+(\d{1,18})\s+(\d{1,18})\s")
MAX_LINES, EMPTY = 400, 12


def read(lines: Lines, at: int) -> Block | None:
    """Return the table that starts at `at`; tables of several disks follow each other."""
    values: list[Value] = []
    notes: list[str] = []
    disk, logical = "", 512.0
    end = at
    for index in range(at, min(len(lines), at + MAX_LINES)):
        line = lines[index]
        if index > at + EMPTY and not values and not notes:
            break
        if found := DISK.match(line.strip()):
            disk = found[1]
        elif sector := SECTOR.match(line.strip()):
            logical = float(sector[1])
            values.append(Value(disk, "physical block", float(sector[2]), "bytes", index + 1))
        elif part := PARTED.match(line) or FDISK.match(line.strip()):
            name, start = _start(part, disk, logical)
            if start is None:
                notes.append(f"line {index + 1} has a rounded start; print it with `unit s`")
            else:
                values.append(Value(disk, f"start of {name}", start, "bytes", index + 1))
        elif line.strip() and not re.match(
            r"\s*(?:Model:|Partition Table:|Disk Flags:|Disk model|Number\s|Units|I/O size|Disklabel|Disk ident|Device"
            r"|Disk label|\(\d+ more)",
            line,
        ):
            break
        if line.strip():
            end = index + 1
    return Block("parted", at + 1, end, list(values), notes=notes) if values or notes else None


def _start(part: re.Match[str], disk: str, logical: float) -> tuple[str, float | None]:
    """Return a partition's name and first byte; None if the tool rounded it."""
    if part.re is FDISK:
        return part[1].removeprefix(disk).lstrip("p"), float(part[2]) * logical
    unit = {"s": logical, "B": 1.0}.get(part[3])
    return part[1], None if unit is None else float(part[2]) * unit
