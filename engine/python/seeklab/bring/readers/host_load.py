"""Load of the host's processors and memory: vmstat, mpstat, top, PSI, pidstat -d, iotop.

Records are values by subject (`cpu 3`, a process, `all`), so that rules can ask for `iowait` or `so` without knowing
the tool.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seeklab.bring.block import Block, Value
from seeklab.bring.numbers import K, number, scaled
from seeklab.bring.tables import rows

if TYPE_CHECKING:
    from seeklab.bring.lines import Lines

TOOL = "vmstat"
STARTS = (
    r"procs -|--time-- procs|r\s+b\s+swpd\b|top - |%?Cpu\(s\):|(?:some|full) avg10=|Total DISK READ"
    r"|PID\s+USER\s+PR\s|[TP]ID\s+PRIO\s+USER\s"
    r"|\d+\.\d+%\s.{0,60}\[(?:k|\.)\]|[^;]{1,80}+;[^;]{1,80}(?:;.{0,400})? \d{1,18}$"
)
HOLDS: tuple[str, ...] = ("%usr", "kB_rd/s")
PSI = re.compile(
    r"(some|full) avg10=(\d{1,3}(?:\.\d{1,4})?) avg60=(\d{1,3}(?:\.\d{1,4})?)"
    r" avg300=(\d{1,3}(?:\.\d{1,4})?) total=(\d{1,18})"
)
TOP_CPU = re.compile(r"(?<![\d.,])([\d.,]++)\s*+%?\s*+(us|sy|ni|id|wa|hi|si|st)\b")
NAMES = {
    "us": "user",
    "sy": "system",
    "ni": "nice",
    "id": "idle",
    "wa": "iowait",
    "hi": "irq",
    "si": "softirq",
    "st": "steal",
}
LOAD = re.compile(r"load average: ([\d.,]+?),? ")
PROCESS = re.compile(r"\s*+(\d{1,18}) (\S+)\s.{0,200}\s([RSDZTI])\s+([\d.,]+)\s+([\d.,]+)\s+([\d:.,]+)\s+(\S.*)$")
PERF = re.compile(r"\s++(\d{1,15}\.\d{1,15})%\s++(.{0,60}?)\s*+\[(k|\.)\]\s+(\S+)")
FOLDED = re.compile(r"([^;]{1,80}(?:;[^;]{1,80}){1,40}) (\d{1,18})$")
THREAD = re.compile(r"\s++\d+\.\d+%\s++(\S.{0,40}?)\s{2,}")
IOTOP = re.compile(
    r"(?:Total|Current|Actual) DISK READ\s*:\s+([\d.]+) ([KMGT]?)B?/s \| (?:Total|Current"
    r"|Actual) DISK WRITE\s*:\s+([\d.]+) ([KMGT]?)B?/s"
)

IOTOP_ROW = re.compile(
    r"\s*\d{1,8}\s+\S{2,4}(?:/\d)?\s+\S{1,32}\s+([\d.]{1,12}) ([KMG]?)B?/s\s+([\d.]{1,12}) ([KMG]?)B?/s\s+[\d.]{1,8}\s%"
    r"\s+([\d.]{1,8})\s%\s+(\S.{0,200})$"
)


def read(lines: Lines, at: int) -> Block | None:
    """Return the output that starts at `at`."""
    line = lines[at].strip()
    for begins, holds, parse in (
        (("some avg10", "full avg10"), "=", _pressure),
        (("procs ", "r ", "--time--"), "", _vmstat),
        (("top - ", "%Cpu", "Cpu(s)", "PID"), "", _top),
        (("Total DISK READ", "TID", "PID"), "", _iotop),
        (("",), "%usr", _mpstat),
        (("",), "kB_rd/s", _pidstat),
        (("",), ";", _folded),
        (("",), "", _perf),
    ):
        if line.startswith(begins) and holds in line and (block := parse(lines, at)) is not None:
            return block
    return None


def program(text: str) -> str:
    """Return the name of a command line: without its folder, or without a kernel thread's number (`[z_wr_iss/2]`)."""
    words = text.strip("[]").split(maxsplit=1)
    name = words[0] if words else ""
    return (name.rpartition("/")[2] if name.startswith("/") else name.partition("/")[0]) or "?"


def _pressure(lines: Lines, at: int) -> Block | None:
    found: list[Value] = []
    end = at
    before = lines[at - 1] if at else ""
    subject = next(
        (name for name in ("io", "memory", "cpu") if re.search(rf"\b{name}(?:\.pressure)?\s*$", before)), "io"
    )
    while end < len(lines) and (match := PSI.match(lines[end].strip())):
        for name, cell in zip(("avg10", "avg60", "avg300"), match.groups()[1:4], strict=True):
            found.append(Value(f"pressure {subject}", f"{match[1]} {name}", float(cell), "%", end + 1))
        end += 1
    return Block("psi", at + 1, end, list(found)) if found else None


def _vmstat(lines: Lines, at: int) -> Block | None:
    head = at if lines[at].split()[0] == "r" else at + 1
    if head >= len(lines) or lines[head].split()[:2] != ["r", "b"]:
        return None
    columns = lines[head].split()
    first = lines[head + 1].split() if head + 1 < len(lines) else []
    if len(first) == len(columns) + 1 and ":" in first[0]:
        columns = ["time", *columns]
    found, end = rows(lines, head + 1, columns, skip="procs")
    values: list[Value] = []
    for index, row in enumerate(found):
        if index == 0 and len(found) > 1:
            continue  # the first line averages since boot
        values += [
            Value("host", NAMES.get(column, column), value, line=row.line)
            for column in columns
            if (value := row.number(column)) is not None
        ]
    notes = ["the first line averages since boot and is left out"] if len(found) > 1 else []
    return Block("vmstat", at + 1, end, list(values), notes=notes) if values else None


def _mpstat(lines: Lines, at: int) -> Block | None:
    columns = lines[at].split()
    if "CPU" not in columns:
        return None
    start = columns.index("CPU")
    values: list[Value] = []
    end = at + 1
    while end < len(lines) and (cells := lines[end].split()):
        cells = cells[len(cells) - len(columns) + start :]
        if len(cells) != len(columns) - start:
            break
        subject = "host" if cells[0] == "all" else f"cpu {cells[0]}"
        for column, cell in zip(columns[start + 1 :], cells[1:], strict=True):
            if (value := number(cell)) is not None:
                name = {"usr": "user", "sys": "system", "soft": "softirq"}.get(column.strip("%"), column.strip("%"))
                values.append(Value(subject, name, value, "%", end + 1))
        end += 1
    return Block("mpstat", at + 1, end, list(values)) if values else None


def _top(lines: Lines, at: int) -> Block | None:
    values: list[Value] = []
    end = at
    while end < len(lines) and end < at + 200:
        line = lines[end]
        if load := LOAD.search(line):
            values.append(Value("host", "load", number(load[1]) or 0.0, line=end + 1))
        elif "Cpu" in line[:10]:
            for cell, name in TOP_CPU.findall(line):
                if (value := number(cell)) is not None:
                    values.append(Value("host", NAMES[name], value, "%", end + 1))
        elif process := PROCESS.match(line):
            if (value := number(process[4])) is not None:
                values.append(Value(f"process {process[7].split()[0]}", "cpu", value, "%", end + 1))
                values.append(Value(f"process {process[7].split()[0]}", "process state", process[3], line=end + 1))
        elif line.strip() and not re.match(r"\s*(?:Tasks:|Threads:|[KMG]iB |Mem|Swap|PID|top)", line):
            break
        end += 1
    while end > at and not lines[end - 1].strip():
        end -= 1
    return Block("top", at + 1, end, list(values)) if values else None


def _pidstat(lines: Lines, at: int) -> Block | None:
    columns = lines[at].split()
    start = next((index for index, column in enumerate(columns) if column in ("UID", "PID")), 0)
    values: list[Value] = []
    end = at + 1
    while end < len(lines) and (cells := lines[end].split()):
        names = columns[start:]
        cells = cells[max(0, len(cells) - len(names)) :]
        row = dict(zip(names, cells, strict=False))
        for column, name in (("kB_rd/s", "reads"), ("kB_wr/s", "writes"), ("iodelay", "iodelay")):
            if (value := number(row.get(column, ""))) is not None:
                scale = K if name != "iodelay" else 1
                values.append(
                    Value(f"process {row.get('Command', row.get('PID', ''))}", name, value * scale, line=end + 1)
                )
        end += 1
    return Block("pidstat-d", at + 1, end, list(values)) if values else None


def _iotop(lines: Lines, at: int) -> Block | None:
    values: list[Value] = []
    end = at
    while end < len(lines) and end < at + 200 and lines[end].strip():
        if total := IOTOP.match(lines[end].strip()):
            for name, cell, unit in (("reads", total[1], total[2]), ("writes", total[3], total[4])):
                if (value := scaled(f"{cell}{unit}")) is not None:
                    values.append(Value(lines[end].split()[0].lower(), name, value, "bytes/s", end + 1))
        elif process := IOTOP_ROW.match(lines[end]):
            subject = f"process {program(process[6])}"
            for name, cell, unit in (("reads", process[1], process[2]), ("writes", process[3], process[4])):
                if (value := scaled(f"{cell}{unit}")) is not None:
                    values.append(Value(subject, name, value, "bytes/s", end + 1))
            values.append(Value(subject, "io share", number(process[5]) or 0.0, "%", end + 1))
        end += 1
    return Block("iotop", at + 1, end, list(values)) if values else None


def _folded(lines: Lines, at: int) -> Block | None:
    """Read folded stacks, the input of a flame graph: `process;thread;function;... samples`."""
    stacks: list[tuple[list[str], float]] = []
    end = at
    while end < len(lines) and (match := FOLDED.match(lines[end].strip())):
        stacks.append((match[1].split(";"), float(match[2])))
        end += 1
    total = sum(samples for _, samples in stacks)
    if not total:
        return None
    values: list[Value] = []
    for frames, samples in stacks:
        share = 100 * samples / total
        values.append(
            Value(f"function {'_'.join(frames[2:] or frames[1:]).replace(' ', '_')}", "samples", share, "%", at + 1)
        )
        values.append(Value(f"thread {frames[0]} {frames[1]}", "samples", share, "%", at + 1))
    return Block("folded", at + 1, end, list(values))


def _perf(lines: Lines, at: int) -> Block | None:
    values: list[Value] = []
    end = at
    while end < len(lines) and (match := PERF.match(lines[end])):
        values.append(Value(f"function {match[4]}", "samples", float(match[1]), "%", end + 1))
        if thread := THREAD.match(lines[end]):
            values.append(Value(f"thread {thread[1]}", "samples", float(match[1]), "%", end + 1))
        end += 1
    return Block("perf", at + 1, end, list(values)) if values else None
