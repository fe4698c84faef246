"""`zpool iostat -r` (sizes of requests) and `-w` (their times), as histograms by class.

`-r` counts each class twice: requests as they came (`ind`) and after aggregation (`agg`). `-w` has one column for
each wait
and direction. Rows are buckets: powers of two of bytes or nanoseconds, the row naming the upper end.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seeklab.bring.block import Block, Histogram
from seeklab.bring.numbers import ms, scaled

if TYPE_CHECKING:
    from seeklab.bring.lines import Lines

TOOL = "zpool-iostat-r"
STARTS = ""
HOLDS: tuple[str, ...] = ("sync_read ", "total_wait ")
COLUMNS = re.compile(r"(req_size|latency)\s")
RULE = re.compile(r"[-\s]{10,}$")
CLASS = re.compile(r"\S+")


def read(lines: Lines, at: int) -> Block | None:
    """Return the histograms of the table at `at`."""
    if at + 1 >= len(lines) or not (kind := COLUMNS.match(lines[at + 1].strip())):
        return None
    pool, *classes = CLASS.findall(lines[at])
    columns = lines[at + 1].split()[1:]
    is_size = kind[1] == "req_size"
    names = _names(classes, columns)
    counts: list[list[tuple[float, float, float]]] = [[] for _ in names]
    end = at + 2
    while end < len(lines) and lines[end].strip():
        cells = lines[end].split()
        upper = scaled(cells[0]) if is_size else ms(cells[0])
        if upper is None or len(cells) != len(names) + 1:
            if not RULE.match(lines[end]):
                break
        else:
            for place, cell in enumerate(cells[1:]):
                if count := scaled(cell, {"": 1, "k": 1e3, "m": 1e6, "g": 1e9}):
                    counts[place].append((upper / 2, upper, count))
        end += 1
    records = [
        Histogram(f"{pool} {name}", "bytes" if is_size else "ms", tuple(buckets))
        for name, buckets in zip(names, counts, strict=True)
        if buckets
    ]
    return (
        Block("zpool-iostat-r" if is_size else "zpool-iostat-w", at + 1, end, list(records)) if end > at + 2 else None
    )


def _names(classes: list[str], columns: list[str]) -> list[str]:
    """Pair each column with its class: two columns a class, but one for a class whose columns are fewer."""
    names: list[str] = []
    left = len(columns)
    for index, each in enumerate(classes):
        if len(names) >= len(columns):
            break
        rest = len(classes) - index
        width = 2 if left >= 2 * rest or columns[len(names)] in ("ind", "read") else 1
        names += [f"{each} {column}" for column in columns[len(names) : len(names) + width]]
        left -= width
    return names + columns[len(names) :]
