"""System calls with their times: `strace -T`, its summary (`-c`), and `perf trace -s`.

`strace -T` writes the time of a call in brackets at the end of its line (`<0.012345>`). The summary of `strace -c`
counts processor time, so only its numbers of calls are read. `perf trace -s` prints times in milliseconds.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seeklab.bring.block import Block, Value
from seeklab.bring.numbers import number

if TYPE_CHECKING:
    from seeklab.bring.lines import Lines

TOOL = "strace"
STARTS = r"% time\s+seconds\s+usecs/call|syscall\s+calls\s+(?:errors\s+)?total\s"
HOLDS: tuple[str, ...] = ("sync(", "sync resumed")
NAMES = "fsync|fdatasync|sync_file_range|msync|syncfs|p?write(?:64|v2?)?|p?read(?:64|v2?)?|io_getevents|io_submit"
CALL = re.compile(rf"\b({NAMES})(?:\(| resumed).{{0,400}}<(\d{{1,6}}\.\d{{3,9}})>$")
ANY_CALL = re.compile(r"[a-z_0-9]{2,24}(?:\(| resumed)")
CLOCK = re.compile(r"(\d\d):(\d\d):(\d\d(?:\.\d{1,9})?)\s|(\d{9,12}\.\d{3,9})\s")
SUMMARY = re.compile(
    r"\s*\d{1,3}\.\d\d\s+(\d{1,9}\.\d{1,9})\s+\d{1,12}\s+(\d{1,12})\s+(?:\d{1,9}\s+)?([a-z_0-9]{2,24})$"
)
TRACE = re.compile(
    r"\s*([a-z_0-9]{2,24})\s+(\d{1,12})\s+(?:\d{1,9}\s+)?(\d{1,12}\.\d{1,6})\s+(\d{1,12}\.\d{1,6})\s+(\d{1,12}\.\d{1,6})\s"
)
MAX_LINES, GAP = 50_000, 6


def read(lines: Lines, at: int) -> Block | None:
    """Return the calls from `at` on."""
    line = lines[at].strip()
    if line.startswith("% time"):
        return _summary(lines, at, SUMMARY)
    if line.startswith("syscall"):
        return _summary(lines, at, TRACE)
    return _calls(lines, at)


def _calls(lines: Lines, at: int) -> Block | None:
    found: list[Value] = []
    end = at
    for index in range(at, min(len(lines), at + MAX_LINES)):
        text = lines[index].rstrip()
        if call := CALL.search(text):
            found.append(Value(f"call {call[1]}", "ms", 1e3 * float(call[2]), "ms", index + 1))
            if clock := CLOCK.search(text[:60]):
                found.append(Value(f"call {call[1]}", "at", _seconds(clock), "s", index + 1))
            end = index + 1
        elif ANY_CALL.search(text[:120]):
            end = index + 1 if found else end
        elif index > end + GAP or (text and index > end + 1):
            break
    if not found and any("fsync(" in line or "fdatasync(" in line for line in lines[at : at + 1]):
        return _untimed(lines, at)
    return Block(TOOL, at + 1, end, list(found)) if found else None


def _untimed(lines: Lines, at: int) -> Block | None:
    """Name calls without times, if the line is one of strace."""
    if not re.search(
        r"f(?:data)?sync\(\d{1,6}.{0,200}\)\s*(?:=|<unfinished)|f(?:data)?sync\(\d{1,6} <unfinished", lines[at]
    ):
        return None
    end = at + 1
    while end < len(lines) and ANY_CALL.search(lines[end][:120]):
        end += 1
    return Block(TOOL, at + 1, end, notes=["its calls have no times; run strace with -T"])


def _seconds(clock: re.Match[str]) -> float:
    if clock[4]:
        return float(clock[4])
    return 3600.0 * int(clock[1]) + 60.0 * int(clock[2]) + float(clock[3])


def _summary(lines: Lines, at: int, pattern: re.Pattern[str]) -> Block | None:
    found: list[Value] = []
    end = at + 1
    for index in range(at + 1, min(len(lines), at + 200)):
        text = lines[index]
        if row := pattern.match(text):
            if pattern is SUMMARY:
                found.append(Value(f"calls {row[3]}", "count", float(row[2]), line=index + 1))
            elif (mean := number(row[5])) is not None:
                found.append(Value(f"call {row[1]}", "mean ms", mean, "ms", index + 1))
                found.append(Value(f"calls {row[1]}", "count", float(row[2]), line=index + 1))
        elif text.strip() and set(text) - set("- ()msec%"):
            if "total" not in text:
                break
            end = index + 1
            break
        end = index + 1
    return Block(TOOL if pattern is SUMMARY else "perf-trace", at + 1, end, list(found)) if found else None
