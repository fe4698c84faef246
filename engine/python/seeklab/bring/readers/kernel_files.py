"""Files of /proc and /sys that people print: diskstats, mdstat, kstat txgs, arcstats.

`/proc/diskstats` counts since boot. Printed twice, the difference is an interval, whose length comes from two `date`
lines or
a `sleep` between them; printed once, it says nothing about the present.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from seeklab.bring.block import Block, DeviceRow, Flow, Sample, Value
from seeklab.bring.lines import command

if TYPE_CHECKING:
    from seeklab.bring.lines import Lines

TOOL = "diskstats"
STARTS = (
    r"\d{1,4}\s+\d{1,4}\s+[a-z]\S{0,30}(?:\s+\d+){11}|Personalities :|md\d+ : |txg\s+birth\s|\w{1,40}+\s++4\s++\d+$"
)
HOLDS: tuple[str, ...] = ()
DISK = re.compile(r"\s*\d{1,4}\s+\d{1,4}\s+(\S{1,31})((?:\s+\d+){11,20})$")
SECTOR = 512
CLOCK = re.compile(
    r"[A-Z][a-z]{2} ([A-Z][a-z]{2})\s+(\d{1,2}) (\d{2}):(\d{2}):(\d{2}) (?:[AP]M )?(?:\S{1,5} )?(\d{4})$"
)
SLEEP = re.compile(r"\bsleep (\d{1,5})\b")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
TXG_COLUMNS = (
    "txg",
    "birth",
    "state",
    "ndirty",
    "nread",
    "nwritten",
    "reads",
    "writes",
    "otime",
    "qtime",
    "wtime",
    "stime",
)
KSTAT = re.compile(r"(\w{1,40})\s+4\s+(\d{1,20})$")
MD = re.compile(r"(md\d+) : (active|inactive)\s*(\(\S+\) )?(\S*)")
MD_ACTION = re.compile(r"(check|resync|recovery|reshape)\s*+=\s*+([\d.]++)%.{0,200}?speed=(\d{1,18})K/sec")


def read(lines: Lines, at: int) -> Block | None:
    """Return the file that starts at `at`."""
    line = lines[at].strip()
    if line.startswith("txg"):
        return _txgs(lines, at)
    if line.startswith(("Personalities", "md")):
        return _mdstat(lines, at)
    if DISK.match(line):
        return _diskstats(lines, at)
    return _kstat(lines, at)


def _seconds(line: str) -> float | None:
    match = CLOCK.match(line.strip())
    if not match or match[1] not in MONTHS:
        return None
    month, day, hour, minute, second, year = match.groups()
    try:
        at = datetime(int(year), MONTHS.index(month) + 1, int(day), int(hour), int(minute), int(second), tzinfo=UTC)
    except ValueError:
        return None
    return at.timestamp()


def _diskstats(lines: Lines, at: int) -> Block:
    """Read one or two printouts; two of them make an interval."""
    prints: list[dict[str, list[int]]] = [{}]
    times = [_seconds(lines[at - 1]) if at else None]
    slept: float | None = None
    end = index = at
    while index < len(lines) and index < end + 6:
        line = lines[index]
        if disk := DISK.match(line):
            if disk[1] in prints[-1]:
                prints.append({})
                times.append(None)
            prints[-1][disk[1]] = [int(cell) for cell in disk[2].split()]
            end = index + 1
        elif (clock := _seconds(line)) is not None and prints[-1]:
            prints.append({})
            times.append(clock)
        elif sleep := SLEEP.search(command(line) or line):
            slept = float(sleep[1])
        index += 1
    prints = [each for each in prints if each]
    if len(prints) == 1:
        notes = ["counts since boot, printed once: nothing about the present follows; print it twice, 10 s apart"]
        return Block("diskstats", at + 1, end, notes=notes)
    seconds = slept
    if seconds is None and len(times) > 1 and times[0] is not None and times[1] is not None:
        seconds = times[1] - times[0]
    if not seconds or seconds <= 0:
        return Block("diskstats", at + 1, end, notes=["two printouts, but the time between them is not known"])
    found = [_device(name, prints[0][name], prints[1][name], seconds) for name in prints[1] if name in prints[0]]
    return Block("diskstats", at + 1, end, [Sample(tuple(found), at + 1, seconds=seconds)])


def _device(name: str, one: list[int], two: list[int], seconds: float) -> DeviceRow:
    gone = [after - before for before, after in zip(one, two, strict=False)]

    def flow(begin: int) -> Flow:
        count, merged, sectors, ms = gone[begin : begin + 4]
        return Flow(
            count / seconds, sectors * SECTOR / seconds, ms / count if count else None, merged_per_s=merged / seconds
        )

    busy, weighted = gone[9] / 1e3 / seconds, gone[10] / 1e3 / seconds
    return DeviceRow(name, flow(0), flow(4), in_flight=weighted, busy=busy)


def _txgs(lines: Lines, at: int) -> Block | None:
    columns = lines[at].split()
    found: list[Value] = []
    end = at + 1
    while end < len(lines) and (cells := lines[end].split()) and len(cells) == len(columns) and cells[0].isdigit():
        row = dict(zip(columns, cells, strict=True))
        for column in TXG_COLUMNS[3:]:
            if row.get(column, "").isdigit():
                is_time = column.endswith("time")
                value = float(row[column]) / 1e6 if is_time else float(row[column])
                found.append(Value(f"txg {row['txg']}", column, value, "ms" if is_time else "", end + 1))
        end += 1
    return Block("txgs", at + 1, end, list(found)) if found else None


def _kstat(lines: Lines, at: int) -> Block | None:
    found: list[Value] = []
    end = index = at
    while index < len(lines) and index < end + 3:
        if match := KSTAT.match(lines[index].strip()):
            found.append(Value("arc", match[1], float(match[2]), line=index + 1))
            end = index + 1
        index += 1
    names = {value.name for value in found}
    known = {
        "size",
        "c_max",
        "c",
        "hits",
        "misses",
        "arc_meta_used",
        "arc_meta_limit",
        "dnode_size",
        "arc_dnode_limit",
        "p",
    }
    return Block("arcstats", at + 1, end, list(found)) if names & known else None


def _mdstat(lines: Lines, at: int) -> Block | None:
    found: list[Value] = []
    array, end = "", at
    for index in range(at, min(len(lines), at + 200)):
        line = lines[index]
        if match := MD.match(line.strip()):
            array = match[1]
            found.append(Value(array, "level", match[4], line=index + 1))
            members = [word.split("[")[0] for word in line.split()[3:] if "[" in word]
            found.append(Value(array, "members", " ".join(members), line=index + 1))
        elif action := MD_ACTION.search(line):
            found.append(Value(array, "running", action[1], line=index + 1))
            found.append(Value(array, "running rate", float(action[3]) * 1024, "bytes/s", index + 1))
        elif line.strip() and not re.match(r"\s|Personalities|unused devices", line):
            break
        if line.strip():
            end = index + 1
    if not found and not lines[at].strip().startswith("Personalities"):
        return None
    return Block("mdstat", at + 1, end, list(found), notes=[] if found else ["no array"])
