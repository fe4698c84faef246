"""DTrace: distributions of `quantize` and `lquantize`, and the scripts of the ZFS tuning guide (dirty, sync, delays).

A distribution has a key above it, and buckets by their lower end. The guide's scripts divide times by 1,000, so that
powers of two are microseconds; linear buckets are milliseconds. The largest bucket tells nanoseconds apart.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from seeklab.bring.block import Block, Histogram, Value

if TYPE_CHECKING:
    from seeklab.bring.lines import Lines

TOOL = "dtrace"
STARTS = r"\d{1,12}MB of\s+\d{1,12}MB used$|sync took [\d.]+ seconds$|(?:not delayed|delayed|stopped)\s+\d{1,15}$"
HOLDS: tuple[str, ...] = ("- Distribution -",)
BUCKET = re.compile(r"\s*(?:(<|>=) )?(-?\d{1,18}) \|@{0,60}\s+(\d{1,15})$")
DIRTY = re.compile(r"\s*(\d{1,12})MB of\s+(\d{1,12})MB used$")
SYNC = re.compile(r"\s*sync took (\d{1,15}(?:\.\d{1,9})?) seconds$")
WRITES = re.compile(r"\s*(not delayed|delayed|stopped)\s+(\d{1,15})$")
LONGEST_US = 1 << 28
"""A bucket beyond this many microseconds (four minutes) is one of nanoseconds."""
MAX_BUCKETS = 1000


def read(lines: Lines, at: int) -> Block | None:
    """Return the output that starts at `at`."""
    if "- Distribution -" in lines[at]:
        return _distribution(lines, at)
    values: list[Value] = []
    end = at
    while end < len(lines):
        line = lines[end]
        if dirty := DIRTY.match(line):
            values.append(Value("dirty", "used", float(dirty[1]) * 1e6, "bytes", end + 1))
            values.append(Value("dirty", "max", float(dirty[2]) * 1e6, "bytes", end + 1))
        elif sync := SYNC.match(line):
            values.append(Value("sync", "took", float(sync[1]), "s", end + 1))
        elif writes := WRITES.match(line):
            values.append(Value("writes", writes[1], float(writes[2]), line=end + 1))
        else:
            break
        end += 1
    return Block(TOOL, at + 1, end, list(values)) if values else None


def _distribution(lines: Lines, at: int) -> Block | None:
    rows: list[tuple[str, float, float]] = []
    end = at + 1
    while end < len(lines) and len(rows) < MAX_BUCKETS and (match := BUCKET.match(lines[end])):
        rows.append((match[1] or "", float(match[2]), float(match[3])))
        end += 1
    if not rows:
        return None
    key = next((lines[above].strip() for above in range(at - 1, max(-1, at - 3), -1) if lines[above].strip()), "")
    first = at if key and "|" not in key else at + 1
    bounds = [value for _, value, _ in rows]
    steps = {after - before for before, after in pairwise(bounds) if after > before}
    is_linear = any(mark for mark, _, _ in rows) or (len(rows) > 2 and len(steps) == 1)
    scale = 1.0 if is_linear else 1e-3 if max(bounds) <= LONGEST_US else 1e-6
    width = min(steps, default=1.0)
    buckets = []
    for mark, value, number in rows:
        low, high = (0.0, value) if mark == "<" else (value, value + width if is_linear else max(2 * value, 1.0))
        high = float("inf") if mark == ">=" else high
        if number:
            buckets.append((low * scale, high * scale, number))
    subject = key if key and "|" not in key else "requests"
    unit = "milliseconds" if is_linear else "microseconds" if scale == 1e-3 else "nanoseconds"
    note = f"the buckets are taken as {unit}"
    return Block(TOOL, max(first, 1), end, [Histogram(subject, "ms", tuple(buckets))], notes=[note])
