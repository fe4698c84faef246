"""Bonnie++: its report (versions 1.03 to 2.00) and its line of comma-separated values.

A value is a rate and the share of a processor (`%CP`) of each test. `+++++` means that a test took less than half a
second: it never left the client's memory.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seeklab.bring.block import Block, Value
from seeklab.bring.numbers import number

if TYPE_CHECKING:
    from seeklab.bring.lines import Lines

TOOL = "bonnie"
STARTS = r"Version\s+[12]\.\d+[a-z]?\s+-*\s*-*Sequential Output|1\.98,[12]\.\d+"
HOLDS: tuple[str, ...] = ()
BYTES = ("putc", "put_block", "rewrite", "getc", "get_block", "seeks")
FILES = ("seq_create", "seq_stat", "seq_del", "ran_create", "ran_stat", "ran_del")
CELL = re.compile(r"(\d{1,12}|\++)(?:k|K)?$")
FIRST, FIRST_FILES = 9, 26
"""Places of the first rates in the comma-separated line of version 1.98."""
MAX_LINES = 16


def read(lines: Lines, at: int) -> Block | None:
    """Return the report that starts at `at`."""
    if lines[at].strip().startswith("Version"):
        return _report(lines, at)
    return _separated(lines, at)


def _report(lines: Lines, at: int) -> Block | None:
    values: list[Value] = []
    end, tests = at + 1, BYTES
    for index in range(at + 1, min(len(lines), at + MAX_LINES)):
        cells = lines[index].split()
        if "Create" in lines[index]:
            tests, end = FILES, index + 1
            continue
        if "%CP" in lines[index] or lines[index].strip().startswith(("-", "Latency")):
            end = index + 1
            continue
        numbers = cells[-2 * len(tests) :]
        if len(numbers) == 2 * len(tests) and all(CELL.match(cell) for cell in numbers):
            values += _values(tests, numbers, index + 1)
            end = index + 1
        elif cells:
            break
    return Block(TOOL, at + 1, end, list(values)) if values else None


def _separated(lines: Lines, at: int) -> Block | None:
    cells = lines[at].strip().split(",")
    values = [
        *_values(BYTES, cells[FIRST : FIRST + 2 * len(BYTES)], at + 1),
        *_values(FILES, cells[FIRST_FILES : FIRST_FILES + 2 * len(FILES)], at + 1),
    ]
    return Block(TOOL, at + 1, at + 1, list(values)) if values else None


def _values(tests: tuple[str, ...], cells: list[str], line: int) -> list[Value]:
    found: list[Value] = []
    for place, test in enumerate(tests):
        pair = cells[2 * place : 2 * place + 2]
        unit = "KiB/s" if test in BYTES[:-1] else "1/s"
        for name, cell in zip(("rate", "cpu"), pair, strict=False):
            if cell.startswith("+"):
                found.append(Value(test, name, "too short", unit, line))
            elif (value := number(cell.rstrip("kK"))) is not None:
                found.append(Value(test, name, value, unit if name == "rate" else "%", line))
    return found
