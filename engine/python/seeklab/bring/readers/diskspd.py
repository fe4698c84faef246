"""diskspd's text: the test's parameters, the totals of reads and of writes, and percentiles.

Rows of threads are left out. Times are milliseconds, and are there only with `-L`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seeklab.bring.block import Block, JobRow, Latency
from seeklab.bring.numbers import number

if TYPE_CHECKING:
    from seeklab.bring.lines import Lines

TOOL = "diskspd"
STARTS = r"Command Line: \S*diskspd|(?:- )?Input parameters:$|Total IO$"
HOLDS: tuple[str, ...] = ()
PARAMETERS = (
    ("bs", re.compile(r"block size: (\d{1,9})")),
    ("iodepth", re.compile(r"number of outstanding I/O operations(?: per thread)?: (\d{1,6})")),
    ("numjobs", re.compile(r"(?:threads per file|thread count): {0,4}(\d{1,5})")),
    ("path", re.compile(r"path: (\S.{0,120})$")),
)
TITLE = re.compile(r"(Total|Read|Write) IO$")
TOTAL = re.compile(r"total:\s{1,20}(\d[\d|. N/A]{4,160})$")
PERCENTILE = re.compile(
    r"(min|max|\d{1,2}(?:\.\d)?(?:th|st|nd|rd)|\d-nines)\s{0,8}\|\s{0,12}(\S{1,14})\s{0,12}\|\s{0,12}(\S{1,14})\s{0,12}\|"
)
COMMAND = re.compile(r" -(b|t|o|w)(\d{1,9}[KMG]?)\b| -(r)\b")
"""Options of the command above a result that was cut at its top."""
ONLY = re.compile(r"performing (read|write) test")
MAX_LINES = 1200


def read(lines: Lines, at: int) -> Block | None:
    """Return the test's result from `at` on."""
    options: dict[str, str] = {}
    totals: dict[str, list[float]] = {}
    times: dict[str, dict[float, float]] = {"read": {}, "write": {}}
    title, end = "", at
    only = _command(lines, at, options)
    for index in range(at, min(len(lines), at + MAX_LINES)):
        line = lines[index].strip().removeprefix("- ")
        if index > at + 1 and (line.startswith("Command Line:") or not _belongs(line)):
            break
        _parameter(line, options)
        if found := TITLE.match(line):
            title = found[1].lower()
        elif sole := ONLY.match(line):
            only = sole[1]
        elif total := TOTAL.match(line):
            totals[title] = [value for cell in total[1].split("|") if (value := number(cell.strip())) is not None]
        elif percent := PERCENTILE.match(line):
            _percentile(percent, times)
        if line:
            end = index + 1
    if only and "total" in totals:
        totals.setdefault(only, totals["total"])
    rows = [row for way in ("read", "write") if (row := _row(way, totals, options, times[way])) is not None]
    notes = [] if rows else ["the totals of this diskspd are not in the text"]
    return Block(TOOL, at + 1, end, list(rows), notes=notes)


def _command(lines: Lines, at: int, options: dict[str, str]) -> str:
    """Read the options of a command above a table; return the only direction of the test, if it has one."""
    if not TITLE.match(lines[at].strip()):
        return ""
    command = next((line for line in lines[max(0, at - 6) : at] if "diskspd" in line and COMMAND.search(line)), "")
    of = {found[1] or found[3]: found[2] for found in COMMAND.finditer(command)}
    for letter, name in (("b", "bs"), ("o", "iodepth"), ("t", "numjobs")):
        if of.get(letter):
            options[name] = of[letter]
    options["rw"] = "rand" if "r" in of else ""
    return {"100": "write", "0": "read"}.get(of.get("w", "0"), "") if command else ""


def _belongs(line: str) -> bool:
    return not line or bool(
        re.match(
            r"[\d*-]|Input|time ?span|duration|warm|cool|measuring|gathering|random|path|think|burst|software|hardware"
            r"|using|performing|block size|number of|thread|total|I/O|IO |max|min|avg|CPU|System|computer|start time"
            r"|cpu|active|Results|actual|proc|Total|Read|Write|%-ile|throughput|affin|Command|write|fill|target|\.",
            line,
        )
    )


def _parameter(line: str, options: dict[str, str]) -> None:
    for name, pattern in PARAMETERS:
        if found := pattern.match(line):
            options[name] = found[1]
    if line.startswith("using random"):
        options["rw"] = "rand"
    elif line.startswith("using sequential"):
        options["rw"] = ""
    elif "software cache disabled" in line or "cache disabled" in line:
        options["direct"] = "1"
    elif line.startswith("using software cache"):
        options["direct"] = "0"
    if line.endswith("writethrough on"):
        options["sync"] = "1"


def _percentile(found: re.Match[str], times: dict[str, dict[float, float]]) -> None:
    name = found[1]
    if name.endswith("nines"):
        percent = 100 * (1 - 10.0 ** -int(name[0]))
    elif name in ("min", "max"):
        percent = 0.0 if name == "min" else 100.0
    else:
        percent = float(name.rstrip("thsndr"))
    for way, cell in zip(("read", "write"), found.groups()[1:], strict=True):
        if (value := number(cell)) is not None:
            times[way][round(percent, 6)] = value


def _row(way: str, totals: dict[str, list[float]], options: dict[str, str], times: dict[float, float]) -> JobRow | None:
    numbers = totals.get(way)
    if not numbers or len(numbers) < 4 or not numbers[1]:
        return None
    size, count, _, per_s, *rest = numbers
    latency = Latency(
        rest[0] if rest else None,
        rest[1] if len(rest) > 1 else None,
        times.get(0.0),
        times.get(100.0),
        {percent: ms for percent, ms in times.items() if 0 < percent < 100},
        count,
    )
    of = {"iodepth": "2", "numjobs": "1", **options, "ioengine": "windows", "rw": f"{options.get('rw', '')}{way}"}
    return JobRow(of.pop("path", "diskspd")[-40:], way, per_s, per_s * size / count, count, latency, options=of)
