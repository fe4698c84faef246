"""`zpool status`: state, errors, and what a scrub or resilver is doing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seeklab.bring.block import Block, Value
from seeklab.bring.numbers import number, scaled

if TYPE_CHECKING:
    from seeklab.bring.lines import Lines

TOOL = "zpool-status"
STARTS = r"(?:pool|scan|scrub): "
HOLDS: tuple[str, ...] = ()
FIELD = re.compile(r"\s{0,12}(pool|state|status|action|see|scan|scrub|remove|checkpoint|config|errors|dedup): ?(.*)")
LEAF = re.compile(
    r"\s{0,40}(\S+)\s+(ONLINE|DEGRADED|FAULTED|OFFLINE|UNAVAIL|REMOVED|AVAIL"
    r"|INUSE)\b\s*([\d.KMG]+)?\s*([\d.KMG]+)?\s*([\d.KMG]+)?(.*)"
)
ISSUED = re.compile(r"(?<![\d.,])([\d.,]++[KMGTP]?) issued at ([\d.,]+[KMGT]?)/s")
SCANNED = re.compile(r"(?<![\d.,])([\d.,]++[KMGTP]?) scanned (?:out of ([\d.,]+[KMGTP]?) )?at ([\d.,]+[KMGT]?)/s")
TOTAL = re.compile(r"([\d.,]+[KMGTP]?) total")
DONE = re.compile(r"([\d.,]{1,8})% done")
END = re.compile(r"\S")


def read(lines: Lines, at: int) -> Block | None:
    """Return the status from `at` on, up to the errors line or the first line that does not belong to it."""
    found: list[Value] = []
    pool, field, end, blank = "", "", at, False
    while end < len(lines):
        line = lines[end]
        if match := FIELD.match(line):
            if match[1] == "pool" and field:
                break
            field, blank = match[1], False
            pool = match[2] if field == "pool" else pool
            if field != "config" and match[2]:
                found.append(Value(pool, field, match[2].strip(), line=end + 1))
        elif not line.strip() and (field == "config" or not blank):
            blank = True
        elif field == "config" and (leaf := LEAF.match(line)):
            found += _leaf(pool, leaf, end + 1)
        elif line[:1].strip() and line.split()[0] != "NAME":
            break
        elif field and field != "config":
            found.append(Value(pool, field, line.strip(), line=end + 1))
        end += 1
    end = _without_blanks(lines, at, end)
    scan = " ".join(str(each.value) for each in found if each.name in ("scan", "scrub"))
    found += _scan(pool, scan, at + 1)
    return Block(TOOL, at + 1, end, list(found)) if found else None


def _without_blanks(lines: Lines, at: int, end: int) -> int:
    while end > at and not lines[end - 1].strip():
        end -= 1
    return end


def _leaf(pool: str, leaf: re.Match[str], line: int) -> list[Value]:
    found = [Value(f"{pool}/{leaf[1]}", "state", leaf[2], line=line)]
    for name, cell in zip(("read errors", "write errors", "checksum errors"), leaf.groups()[2:5], strict=True):
        if cell and (count := scaled(cell, {"": 1, "k": 1e3, "m": 1e6, "g": 1e9})):
            found.append(Value(f"{pool}/{leaf[1]}", name, count, line=line))
    if leaf[6].strip():
        found.append(Value(f"{pool}/{leaf[1]}", "remark", leaf[6].strip(), line=line))
    return found


def _scan(pool: str, text: str, line: int) -> list[Value]:
    if "in progress" not in text:
        return []
    kind = "resilver" if "resilver" in text else "scrub"
    found = [Value(pool, "scan running", kind, line=line)]
    for name, pattern, group, unit in (
        ("issued rate", ISSUED, 2, "bytes/s"),
        ("scanned rate", SCANNED, 3, "bytes/s"),
        ("scan total", TOTAL, 1, "bytes"),
    ):
        if (match := pattern.search(text)) and (value := scaled(match[group])) is not None:
            found.append(Value(pool, name, value, unit, line))
    if (done := DONE.search(text)) and (value := number(done[1])) is not None:
        found.append(Value(pool, "scan done", value, "%", line))
    return found
