"""A monitoring dashboard's points as numbers: start, rate, throughput and mean latency of each averaging window."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seeklab.bring.block import Block, Value
from seeklab.bring.numbers import ms, number

if TYPE_CHECKING:
    from seeklab.bring.lines import Lines

TOOL = "dashboard"
STARTS = r"window \d[\d.]*\s?(?:ns|us|ms|s|min|h)\b"
HOLDS: tuple[str, ...] = ()
WINDOW = re.compile(r"window (\d{1,15}(?:\.\d{1,9})?)\s?(ns|us|ms|s|min|h)\b")
COLUMNS = ("IOPS", "MiB/s", "latency")
POINT = 4


def read(lines: Lines, at: int) -> Block | None:
    """Return the points below the heading at `at`."""
    window = WINDOW.match(lines[at].strip())
    if not window or at + 1 >= len(lines) or not all(name in lines[at + 1] for name in COLUMNS):
        return None
    seconds = (ms(window[1] + {"min": "m"}.get(window[2], window[2])) or 0.0) / 1e3
    values = [Value("window", "length", seconds, "s", at + 1)]
    end = at + 2
    while end < len(lines) and len(cells := lines[end].split()) == POINT and number(cells[0]) is not None:
        for name, cell, unit in zip(("rate", "bytes", "ms"), cells[1:], ("1/s", "bytes/s", "ms"), strict=True):
            if (value := number(cell)) is not None:
                values.append(
                    Value(f"point {cells[0]}", name, value * ((1 << 20) if name == "bytes" else 1), unit, end + 1)
                )
        end += 1
    return Block(TOOL, at + 1, end, list(values)) if len(values) > 1 else None
