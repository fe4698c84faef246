"""Partition tables: `parted -l` and `fdisk -l`. Records are the physical block and the start of each partition."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seeklab.bring.block import Block, Value
from seeklab.bring.numbers import DECIMAL, scaled

if TYPE_CHECKING:
    from seeklab.bring.lines import Lines

TOOL = "parted"
STARTS = r"Disk /dev/\S+: |Model: .+ \(\w+\)$"
HOLDS: tuple[str, ...] = ()
DISK = re.compile(r"Disk (/dev/[^:\s]{1,64}): (.{1,120})$")
SECTOR = re.compile(r"Sector size \(logical/physical\): (\d+) ?(?:B|bytes) ?/ ?(\d+) ?(?:B|bytes)")
PARTED = re.compile(r"\s*(\d{1,3})\s+(\d[\d.]*)([kMGT]?B|s)\s+\d[\d.]*(?:[kMGT]?B|s)\s+\d[\d.]*(?:[kMGT]?B|s)")
FDISK = re.compile(r"(/dev/\S{1,64}?)\s+(?:\*\s+)?(\d{1,18})\s+(\d{1,18})\s+(\d{1,18})\s")
MAX_LINES = 400


def read(lines: Lines, at: int) -> Block | None:
    """Return the table that starts at `at`; tables of several disks follow each other."""
    values: list[Value] = []
    disk, logical, notes = "", 512.0, []
    end = at
    for index in range(at, min(len(lines), at + MAX_LINES)):
        line = lines[index]
        if found := DISK.match(line.strip()):
            disk = found[1]
        elif sector := SECTOR.match(line.strip()):
            logical = float(sector[1])
            values.append(Value(disk, "physical block", float(sector[2]), "bytes", index + 1))
        elif part := PARTED.match(line):
            start = float(part[2]) * logical if part[3] == "s" else scaled(part[2] + part[3], DECIMAL)
            if start is None:
                continue
            if part[3] in ("B", "s"):
                values.append(Value(disk, f"start of {part[1]}", start, "bytes", index + 1))
            else:
                notes.append(f"line {index + 1} has a rounded start; print it with `unit s`")
        elif part := FDISK.match(line.strip()):
            name = part[1].removeprefix(disk).lstrip("p")
            values.append(Value(disk, f"start of {name}", float(part[2]) * logical, "bytes", index + 1))
        elif line.strip() and not re.match(
            r"\s*(?:Model:|Partition Table:|Disk Flags:|Disk model|Number\s|Units|I/O size|Disklabel|Disk ident|Device"
            r"|Disk label|\(\d+ more)",
            line,
        ):
            break
        if line.strip():
            end = index + 1
    return Block("parted", at + 1, end, list(values), notes=notes) if values or notes else None
