"""State of a host: free, df, ps, lvs, mdadm, multipath, hdparm, queue settings, Windows' and CloudWatch's counters.

Records are values by subject: `memory`, `file system /var`, `volume pool00`, `process mysqld`, an array, a drive.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seeklab.bring.block import Value
from seeklab.bring.forms import Form, Forms
from seeklab.bring.json_block import document_at, finite
from seeklab.bring.lines import command
from seeklab.bring.numbers import K, number, scaled
from seeklab.bring.readers.host_load import program

if TYPE_CHECKING:
    from seeklab.bring.lines import Lines

TOOL = "free"
MAX_LINES = 300


FREE = re.compile(
    r"(Mem|Swap):\s+(\d{1,15}(?:\.\d{1,6})?)([KMGT]?)i?B?((?:\s+\d{1,15}(?:\.\d{1,6})?[KMGT]?i?B?){2,6})\s*$"
)
MEMINFO = re.compile(r"([A-Z]\w{2,24}(?:\([a-z_]+\))?):\s+(\d{1,15})(?: kB)?$")
DF = re.compile(
    r"(\S{1,200})\s+(?:\S{1,16}\s+)?([\d.,]{1,16}[KMGTP]?)i?\s+([\d.,]{1,16}[KMGTP]?)i?\s+([\d.,]{1,16}[KMGTP]?|-)i?\s+(\d{1,3})%\s+(/\S{0,200}|\S{1,200})$"
)
PROCESS = re.compile(r"(?:\S{1,32}\s+)?(D\S{0,3})\s+(\d{1,9})\s+(?:(\d{1,9})\s+)?(\S{1,48})\s+(\S.{0,200})$")
STACK = re.compile(
    r"\[<(?:0|[0-9a-f]{8,16})>\] (?:0x[0-9a-f]{1,16}/0x[0-9a-f]{1,16} ?)?([A-Za-z_]\w{2,60})(?:\.\w{1,20})?\+0x"
)
MDADM = re.compile(
    r"\s*(State|Raid Level|Rebuild Status|Check Status|Resync Status|Reshape Status|Failed Devices|Consistency Policy"
    r"|Active Devices|Working Devices|Chunk Size|Bitmap|Intent Bitmap|Degraded Devices) : (\S.{0,100})$"
)
OF_MDADM = re.compile(r"\s+(?:[A-Z][\w /]{1,30} : |Number\s|\d|-\s)|\s*$")
DONE = re.compile(r"(\d{1,3})% complete")
PATH = re.compile(r"[|` ]{0,20}- \d{1,5}:\d{1,5}:\d{1,5}:\d{1,5} {1,20}(\S{1,20}) {1,20}\S{1,12} {1,20}(\S.{0,60})$")
CACHE = re.compile(r"\s*write-caching =\s+(\d) \((on|off)\)")
WMI = re.compile(r"\s*(\w{3,40})\s*: ?(\S.{0,80})?$")
LVS = {"Data%": "data share", "Meta%": "metadata share", "Snap%": "snapshot share"}


def _free(lines: Lines, at: int) -> tuple[list[Value], int]:
    found: list[Value] = []
    end = at
    for index in range(at, min(len(lines), at + 6)):
        line = lines[index].strip()
        if match := FREE.match(line):
            subject = "memory" if match[1] == "Mem" else "swap"
            cells = [scaled(cell) for cell in match[4].replace("i", "").replace("B", "").split()]
            names = ("used", "free") if subject == "swap" else ("used", "free", "shared", "cache", "available")
            total = scaled(match[2] + match[3])
            for name, cell in (("total", total), *zip(names, cells, strict=False)):
                if cell is not None:
                    found.append(Value(subject, name, cell, line=index + 1))
        elif line and not line.startswith(("total", "-/+", "Total:")):
            break
        end = index + 1 if line else end
    return found, end if found else at


def _meminfo(lines: Lines, at: int) -> tuple[list[Value], int]:
    found: list[Value] = []
    end = at
    while end < min(len(lines), at + 80) and (match := MEMINFO.match(lines[end].strip())):
        found.append(Value("meminfo", match[1], float(match[2]) * K, "bytes", end + 1))
        end += 1
    return found, end


def _df(lines: Lines, at: int) -> tuple[list[Value], int]:
    found: list[Value] = []
    end = at + 1
    what = "inodes" if "IUse%" in lines[at] or "Inodes" in lines[at] else "used"
    while end < min(len(lines), at + MAX_LINES) and (match := DF.match(lines[end].strip())):
        if not match[1].startswith(("tmpfs", "devtmpfs", "overlay", "/dev/loop", "shm", "udev", "none")):
            found.append(Value(f"file system {match[6]}", what, float(match[5]) / 100, line=end + 1))
        end += 1
    return found, end if end > at + 1 else at


def _processes(lines: Lines, at: int) -> tuple[list[Value], int]:
    """Read processes in uninterruptible sleep (state D), and where in the kernel they wait, if that is a column."""
    columns = lines[at].split()
    state = next((name for name in ("STAT", "STATE", "S") if name in columns), "")
    if "PID" not in columns or not state:
        return _asleep(lines, at)
    found: list[Value] = []
    end = at + 1
    while end < min(len(lines), at + MAX_LINES) and len(cells := lines[end].split(None, len(columns) - 1)) >= 3:
        if command(lines[end]):
            break
        row = dict(zip(columns, cells, strict=False))
        if row.get(state, "").startswith("D"):
            found += _asleep_in(cells[-1] if len(cells) == len(columns) else "?", row.get("WCHAN", ""), end + 1)
        end += 1
    return found, end if end > at + 1 else at


def _asleep(lines: Lines, at: int) -> tuple[list[Value], int]:
    """Read rows without a heading that begin with the state D, a number, and perhaps a function of the kernel."""
    found: list[Value] = []
    end = at
    while end < min(len(lines), at + MAX_LINES) and (row := PROCESS.match(lines[end].strip())):
        waits = row[4] if re.fullmatch(r"[a-z_][\w.]{3,47}", row[4]) and "_" in row[4] else ""
        found += _asleep_in(row[5], waits, end + 1)
        end += 1
    return found, end


def _asleep_in(text: str, function: str, line: int) -> list[Value]:
    subject = f"process {program(text)}"
    found = [Value(subject, "process state", "D", line=line)]
    return [*found, Value(subject, "waits in", function, line=line)] if "_" in function else found


def _stack(lines: Lines, at: int) -> tuple[list[Value], int]:
    found: list[Value] = []
    end = at
    while end < min(len(lines), at + MAX_LINES) and (match := STACK.search(lines[end][:200])):
        found.append(Value("stack", "function", match[1], line=end + 1))
        end += 1
    return found, end


def _lvs(lines: Lines, at: int) -> tuple[list[Value], int]:
    heading = lines[at]
    found: list[Value] = []
    end = at + 1
    places = {name: heading.index(name) for name in LVS if name in heading}
    while end < min(len(lines), at + MAX_LINES) and (cells := lines[end].split()) and not command(lines[end]):
        for name, place in places.items():
            # Numbers are below their heading; other cells of the row may be empty.
            cell = lines[end][max(0, place - 1) : place + len(name) + 1].strip()
            if (value := number(cell)) is not None:
                found.append(Value(f"volume {cells[0]}", LVS[name], value / 100, line=end + 1))
        end += 1
    return found, end if end > at + 1 else at


def _mdadm(lines: Lines, at: int) -> tuple[list[Value], int]:
    array = lines[at].strip().rstrip(":").rpartition("/")[2]
    found: list[Value] = []
    end = at + 1
    for index in range(at + 1, min(len(lines), at + 60)):
        line = lines[index]
        if match := MDADM.match(line):
            value = number(match[2].split()[0])
            found.append(Value(array, match[1], match[2].strip() if value is None else value, line=index + 1))
            if match[1].endswith("Status") and DONE.search(match[2]):
                running = {"Rebuild": "recovery"}.get(match[1].split()[0], match[1].split()[0].lower())
                found.append(Value(array, "running", running, line=index + 1))
        elif line.strip() and not OF_MDADM.match(line):
            break
        end = index + 1 if line.strip() else end
    return found, end if found else at


def _btrfs(lines: Lines, at: int) -> tuple[list[Value], int]:
    """Read the status of a scrub or of a balance: whether one runs."""
    found: list[Value] = []
    end = at
    while end < min(len(lines), at + 12) and lines[end].strip():
        text = lines[end]
        if re.search(r"running for \d|Status:\s+running|\bis running\b", text):
            what = "balance" if "alance" in "".join(lines[at : end + 1]) else "scrub"
            found.append(Value("btrfs", "running", what, line=end + 1))
        end += 1
    return found, end if found else at


def _multipath(lines: Lines, at: int) -> tuple[list[Value], int]:
    found: list[Value] = []
    name, end = "", at
    for index in range(at, min(len(lines), at + MAX_LINES)):
        line = lines[index]
        if re.match(r"\S.{0,120}\bdm-\d+\b", line):
            name = line.split()[0]
        elif path := PATH.match(line):
            is_failed = bool(re.search(r"\bfail|faulty|offline|ghost", path[2]))
            found.append(Value(f"multipath {name}", "path failed", float(is_failed), line=index + 1))
        elif line.strip() and not re.match(r"size=|[|`\\ ]|\[", line.strip()):
            break
        end = index + 1 if line.strip() else end
    return found, end if found else at


def _write_cache(lines: Lines, at: int) -> tuple[list[Value], int]:
    match = CACHE.match(lines[at])
    if match is None:
        return [], at
    return [Value("drive", "write-caching", match[2], line=at + 1)], at + 1


def _windows(lines: Lines, at: int) -> tuple[list[Value], int]:
    """Read `Get-StorageReliabilityCounter | Format-List`, for one or more drives."""
    found: list[Value] = []
    end, drive = at, 0
    for index in range(at, min(len(lines), at + MAX_LINES)):
        line = lines[index]
        if match := WMI.match(line):
            drive += match[1] == "DeviceId"
            if match[2] and (value := number(match[2].replace(",", "").split()[0])) is not None:
                found.append(Value(f"drive {drive}", match[1], value, line=index + 1))
        elif line.strip():
            break
        end = index + 1 if line.strip() else end
    return found, end if found else at


def _cloudwatch(lines: Lines, at: int) -> tuple[list[Value], int]:
    """Read the JSON of `aws cloudwatch get-metric-statistics`: a label, and points with an average."""
    document = document_at(lines, at)
    if document is None or not isinstance(document[0], dict) or not isinstance(document[0].get("Datapoints"), list):
        return [], at
    label = str(document[0].get("Label", "metric"))[:60]
    found: list[Value] = []
    for point in document[0]["Datapoints"]:
        if isinstance(point, dict):
            for name in ("Minimum", "Average", "Maximum", "Sum"):
                if (value := finite(point.get(name))) is not None:
                    found.append(Value(f"cloudwatch {label}", name.lower(), value, line=at + 1))
                    break
    return found, document[1] if found else at


FORMS = Forms(
    Form("free", r"total\s+used\s+free\s+shared\s|Mem:\s+\d[\d.]*[KMGT]?i?B?\s+\d", _free),
    Form("meminfo", r"(?:MemTotal|Dirty|Writeback):\s+\d+ kB$", _meminfo),
    Form("df", r"Filesystem\s+(?:Type\s+)?(?:Size|1K-blocks|1024-blocks|1M-blocks|512-blocks|Inodes)\s", _df),
    Form(
        "ps",
        r"USER\s+PID\s+%CPU\s+%MEM\s|(?:F\s+)?S(?:TAT?E?)?\s+(?:UID\s+)?PID\s|PID\s+(?:PPID\s+|USER\s+|TTY\s+)?S(?:TAT)?\s"
        r"|D\S{0,3}\s+\d{1,9}\s+\S",
        _processes,
    ),
    Form("stack", r"\[<(?:0|[0-9a-f]{8,16})>\] \S+\+0x", _stack),
    Form("lvs", r"LV\s+VG\s+Attr\s", _lvs),
    Form("mdadm", r"/dev/md\S{1,20}:$", _mdadm),
    Form("btrfs", r"scrub (?:status for|device) |Balance on |Scrub started:", _btrfs),
    Form("multipath", r"\S{1,80} (?:\(\S{1,60}\) )?dm-\d+ \S", _multipath, holds=" dm-"),
    Form("hdparm", r"write-caching =\s+\d", _write_cache),
    Form("storage-reliability", r"(?:DeviceId|ObjectId|FlushLatencyMax|ReadErrorsTotal)\s+: ", _windows),
    Form("cloudwatch", r"\{$", _cloudwatch),
)
STARTS, HOLDS, read = FORMS.starts, FORMS.holds, FORMS.read
