"""Copies that a user timed: `dd`, and `time` of a command."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seeklab.bring.block import Block, Copy
from seeklab.bring.lines import command
from seeklab.bring.numbers import number

if TYPE_CHECKING:
    from seeklab.bring.lines import Lines

TOOL = "dd"
STARTS = r"\d+(?: bytes \(| bytes transferred in )|(?:\^C)?\d+\+\d+ records in$|real\s+\d+m"
HOLDS: tuple[str, ...] = ()
DONE = re.compile(r"(\d{1,18}) bytes (?:\(.{1,40}?\) )?(?:copied, |transferred in )([\d.,]+) ?(?:s|secs)")
RECORDS = re.compile(r"(?:\^C)?(\d{1,12})\+(\d{1,6}) records (in|out)$")
MAX_LINES = 8
"""Lines of progress, of records and of the sum, at most."""
REAL = re.compile(r"real\s+(\d{1,5})m([\d.,]+)s")


def read(lines: Lines, at: int) -> Block | None:
    """Return the copy that ends near `at`."""
    calls: float | None = None
    size: float | None = None
    seconds: float | None = None
    end = at
    tool = "dd"
    for index in range(at, min(len(lines), at + MAX_LINES)):
        line = lines[index].strip()
        if records := RECORDS.match(line):
            calls = float(records[1]) + bool(int(records[2]))
        elif done := DONE.match(line):
            size, seconds = float(done[1]), number(done[2])
            end = index + 1
            if index + 1 >= len(lines) or not RECORDS.match(lines[index + 1].strip()):
                break  # otherwise it was a line of progress
        elif (real := REAL.match(line)) and (rest := number(real[2])) is not None:
            tool, seconds, end = "time", 60 * float(real[1]) + rest, index + 1
            break
        else:
            break
        end = index + 1
    if seconds is None:
        return None
    first = at
    text = ""
    for back in (1, 2, 3):
        before = lines[at - back] if at >= back else ""
        if command(before) or re.search(r"\bdd \S+=", before):
            first, text = at - back, (command(before) or before).strip()
            if dd := re.search(r"\bdd \S+=.{0,400}", text):
                text = dd[0]
            break
    return Block(tool, first + 1, end, [Copy(size, seconds, calls, text)])
