"""Reports of state: drives, RAID controllers, properties and caches of ZFS, NFS counters, and others.

Records are values by subject. A report that gives rules nothing yet is named, with a note of what it would show.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seeklab.bring.block import Value
from seeklab.bring.forms import Form, Forms, paragraph
from seeklab.bring.numbers import MS, number, scaled
from seeklab.bring.tables import rows

if TYPE_CHECKING:
    from seeklab.bring.lines import Lines

TOOL = "smartctl"


SHORT_ATTRIBUTE = re.compile(r"\s*([A-Z][\w-]{3,40}_[\w-]{2,30})\s.{0,80}?\braw=(\d{1,15})\b")
ATTRIBUTE = re.compile(
    r"\s*(\d{1,3}) ([\w-]{3,40})\s+0x[0-9a-f]{4}\s+(\d{3}|---)\s+(\d{3}|---)\s+(\d{3}|---)\s+\S+\s+\S+"
    r"\s+(\S+)\s+(\d{1,18})"
)
PAIR = re.compile(r"\s*([A-Za-z][\w /()+.,%&'-]{1,60}?)\s*[:=]\s+(\S.{0,160})$")
MAX_PAIRS = 400


def _pairs(lines: Lines, at: int, subject: str, blanks: int = 1) -> tuple[list[Value], int]:
    """Return `name: value` lines from `at` on; attributes of a drive as well."""
    found: list[Value] = []
    end, empty = at, 0
    for index in range(at, min(len(lines), at + MAX_PAIRS)):
        line = lines[index]
        if not line.strip():
            empty += 1
            if empty > blanks:
                break
            continue
        if attribute := ATTRIBUTE.match(line):
            found.append(Value(subject, attribute[2], float(attribute[7]), "raw", index + 1))
        elif attribute := SHORT_ATTRIBUTE.match(line):
            found.append(Value(subject, attribute[1], float(attribute[2]), "raw", index + 1))
        elif pair := PAIR.match(line):
            value = number(pair[2].split()[0].rstrip("%,").replace(",", "")) if pair[2].split() else None
            found.append(Value(subject, pair[1].strip(), pair[2].strip() if value is None else value, line=index + 1))
        elif index > at + 1 and not line.startswith((" ", "\t", "ID#", "=")) and empty:
            break
        end, empty = index + 1, 0
    return found, end


def _drive(lines: Lines, at: int) -> tuple[list[Value], int]:
    return _pairs(lines, at, "drive", blanks=2)


def _controller(lines: Lines, at: int) -> tuple[list[Value], int]:
    return _pairs(lines, at, "controller")


def _properties(lines: Lines, at: int) -> tuple[list[Value], int]:
    found, end = rows(lines, at + 1, lines[at].split())
    return [
        Value(row.words["NAME"], row.words["PROPERTY"], _value(row.words["VALUE"]), line=row.line) for row in found
    ], end


def _pools(lines: Lines, at: int) -> tuple[list[Value], int]:
    """Read `zpool list`: how full and how fragmented each pool is; with -v, also its parts."""
    names = {"CAP": "capacity", "FRAG": "fragmentation"}
    found, end = rows(lines, at + 1, lines[at].split(), blanks=1)
    return [
        Value(row.words["NAME"], names[column], value, "%", row.line)
        for row in found
        for column in names
        if (value := row.number(column)) is not None
    ], end


VOLUME = re.compile(r"\d{1,4}/\d{1,4}\s+(RAID\S{1,6}|Cac\d)\s+(\w{2,6})\s+(\w{2})\s+\w{1,4}\s+(\w{2,8})\s")


def _storcli(lines: Lines, at: int) -> tuple[list[Value], int]:
    """Read the table of volumes of storcli and perccli: state, and the letters of the cache policy (WB, WT)."""
    found: list[Value] = []
    end = at + 1
    for index in range(at + 1, min(len(lines), at + MAX_PAIRS)):
        line = lines[index].strip()
        if volume := VOLUME.match(line + " "):
            policy = "write-through" if "WT" in volume[4] else "write-back"
            found.append(Value("controller", "volume cache policy", policy, line=index + 1))
            found.append(Value("controller", "volume state", volume[2], line=index + 1))
        elif line.strip("-"):
            break
        end = index + 1
    return found, end


def _value(text: str) -> float | str:
    value = number(text.rstrip("%x"))
    if value is None:
        value = scaled(text)
    return text if value is None else value


ARC = re.compile(
    r"\s*([A-Za-z][\w /()+-]{2,60}):\s+(?:< )?(?:(\d{1,3}(?:\.\d{1,9})?) ?%\s*)?(?:([\d.]{1,18})\s*([A-Za-z]*))?"
)
L2ARC = re.compile(r"\s*L2 ?ARC (?!evictions)|\s*Cache hits|\s*ARC |\s*DMU |\s*ZIL |\s*Solaris|\s*Tunables|\s*VDEV")
"""Headings of the sections of arc_summary, whose names repeat within them."""


def _arc(lines: Lines, at: int) -> tuple[list[Value], int]:
    """Read arc_summary. A name in the section of the cache devices gets `L2ARC` in front."""
    found: list[Value] = []
    section = ""
    end = at
    for index in range(at, min(len(lines), at + MAX_PAIRS)):
        line = lines[index]
        if L2ARC.match(line):
            section = "L2ARC " if line.lstrip().startswith(("L2ARC", "L2 ARC")) else ""
        match = ARC.match(line)
        if not match or not (match[2] or match[3]):
            if line.strip() and not match and index > end + 2 and not line.rstrip().endswith(":"):
                break
            continue
        name = section + match[1].strip()
        if match[2]:
            found.append(Value("arc", f"{name} share", float(match[2]), "%", index + 1))
        if match[3] and (value := scaled(f"{match[3]}{match[4]}")) is not None:
            found.append(Value("arc", name, value, line=index + 1))
        end = index + 1
    return found, end


def _columns(lines: Lines, at: int) -> tuple[list[Value], int]:
    columns = lines[at].split()
    found, end = rows(lines, at + 1, columns, blanks=1)
    return [
        Value(columns[0] + " " + row.words[columns[0]], column, value, line=row.line)
        for row in found
        for column in columns[1:]
        if (value := row.number(column)) is not None
    ], end


def _nfsstat(lines: Lines, at: int) -> tuple[list[Value], int]:
    found: list[Value] = []
    end = at + 1
    names: list[str] = []
    for index in range(at + 1, min(len(lines), at + 60)):
        cells = [cell for cell in lines[index].split() if not cell.endswith("%")]
        if cells and not any(cell.isdigit() for cell in cells):
            names, end = cells, index + 1
        elif cells and len(cells) == len(names) and all(cell.isdigit() for cell in cells):
            found += [Value("nfs", name, float(cell), line=index + 1) for name, cell in zip(names, cells, strict=True)]
            end = index + 1
        elif cells:
            break
    return found, end


OPERATION = re.compile(
    r"\s*([A-Z_]{3,24}): (\d{1,18}) (\d{1,18}) (\d{1,18}) (\d{1,18}) (\d{1,18}) (\d{1,18}) (\d{1,18}) (\d{1,18})"
)


def _mountstats(lines: Lines, at: int) -> tuple[list[Value], int]:
    """Read a mount's operations: counts, transmissions, timeouts, bytes, and ms queued, on the wire, in total."""
    found: list[Value] = []
    mount = lines[at].split(" mounted on ")[-1].split(" ")[0]
    end = at + 1
    for index in range(at + 1, min(len(lines), at + 200)):
        line = lines[index]
        if line.startswith("device "):
            break
        if match := OPERATION.match(line):
            count, sent, _, _, _, queue, wire, total = (float(cell) for cell in match.groups()[1:])
            name = match[1]
            found += [
                Value(mount, f"{name} count", count, line=index + 1),
                Value(mount, f"{name} retransmissions", sent - count, line=index + 1),
            ]
            if count:
                parts = (("queue", queue), ("wire", wire), ("total", total))
                found += [Value(mount, f"{name} {part}", time / count, "ms", index + 1) for part, time in parts]
        elif option := re.match(r"\s*opts:\s*(\S+)", line):
            found.append(Value(mount, "options", option[1], line=index + 1))
        elif line.strip() and not line.startswith((" ", "\t")):
            break
        if line.strip():
            end = index + 1
    return found, end


def _nfsiostat(lines: Lines, at: int) -> tuple[list[Value], int]:
    found: list[Value] = []
    mount = lines[at].split(" mounted on ")[-1].rstrip(":")
    columns: list[str] = []
    kind, end = "", at + 1
    for index in range(at + 1, min(len(lines), at + 40)):
        line = lines[index]
        cells = line.split()
        if " mounted on " in line or line.startswith("Timestamp"):
            break
        if "ops/s" in line or "rpc bklog" in line:
            kind = cells[0].rstrip(":") if cells[0].rstrip(":") in ("read", "write") else "all"
            columns = re.findall(
                r"ops/s|rpc bklog|kB/s|kB/op|retrans|avg RTT \(ms\)|avg exe \(ms\)|avg queue \(ms\)|errors", line
            )
        elif cells and columns and number(cells[0]) is not None:
            numbers = [value for cell in cells if (value := number(cell.strip("()"))) is not None]
            names = [name for name in columns for _ in range(1 + (name in ("retrans", "errors")))]
            found += [
                Value(mount, f"{kind} {name}", value, line=index + 1)
                for name, value in zip(names, numbers, strict=False)
            ]
        if cells:
            end = index + 1
    return found, end


def _atop(lines: Lines, at: int) -> tuple[list[Value], int]:
    found: list[Value] = []
    end = at
    for index in range(at, min(len(lines), at + 200)):
        cells = [cell.strip() for cell in lines[index].split("|")]
        if len(cells) < 4 and not lines[index].startswith("ATOP"):
            break
        end = index + 1
        if cells[0] not in ("DSK", "LVM", "MDD"):
            continue
        for cell in cells[2:]:
            name, _, value = (
                cell.rpartition(" ") if not cell.endswith(" ms") else cell.removesuffix(" ms").rpartition(" ")
            )
            if (of := number(value.rstrip("%"))) is not None:
                found.append(Value(cells[1], name.strip(), of, line=index + 1))
    return found, end


def _pveperf(lines: Lines, at: int) -> tuple[list[Value], int]:
    found: list[Value] = []
    end = at
    while end < len(lines) and (match := re.match(r"([A-Z][A-Z /()]+):\s+(\d{1,15}(?:\.\d{1,9})?)", lines[end])):
        found.append(Value("host", match[1].lower(), float(match[2]), line=end + 1))
        end += 1
    return found, end


def _pg_test_fsync(lines: Lines, at: int) -> tuple[list[Value], int]:
    found: list[Value] = []
    end = at
    while end < len(lines) and (match := re.match(r"\s*(\w{4,20})\s+(n/a|\d{1,14}(?:[.,]\d{1,9})?)", lines[end])):
        if (value := number(match[2])) is not None and "ops/sec" in lines[end]:
            found.append(Value("host", match[1], value, "1/s", end + 1))
        end += 1
    return found, end


INNODB = (
    (
        re.compile(
            r"(?P<reads>[\d.]{1,14}) reads/s, \d{1,12} avg bytes/read, (?P<writes>[\d.]{1,14}) writes/s, "
            r"(?P<fsyncs>[\d.]{1,14}) fsyncs/s"
        ),
        "1/s",
    ),
    (re.compile(r"Pending flushes \(fsync\) log: (?P<log>\d{1,9}); buffer pool: (?P<pool>\d{1,9})"), ""),
    (re.compile(r"(?P<log>\d{1,9}) pending log (?:flushes|writes)"), ""),
)
MAX_INNODB = 200


def _innodb(lines: Lines, at: int) -> tuple[list[Value], int]:
    """Read `SHOW ENGINE INNODB STATUS`: rates of reads, writes and fsyncs, and flushes that are pending."""
    found: list[Value] = []
    end = at + 1
    for index in range(at, min(len(lines), at + MAX_INNODB)):
        line = lines[index].strip()
        for pattern, unit in INNODB:
            if match := pattern.match(line):
                found += [
                    Value("innodb", name, value, unit, index + 1)
                    for name, cell in match.groupdict().items()
                    if (value := number(cell)) is not None
                ]
                end = index + 1
        if "END OF INNODB MONITOR OUTPUT" in line:
            return found, index + 1
    return found, end


def _biotop(lines: Lines, at: int) -> tuple[list[Value], int]:
    """Read biotop's screens: requests, KiB and mean milliseconds by process, disk and direction."""
    found: list[Value] = []
    columns = lines[at].split()
    end = at + 1
    for index in range(at + 1, min(len(lines), at + MAX_PAIRS)):
        cells = lines[index].split()
        if len(cells) == len(columns) and cells[0].isdigit():
            row = dict(zip(columns, cells, strict=True))
            way = "writes" if row["D"] == "W" else "reads"
            subject = f"{row['COMM']} {way} {row['DISK']}"
            for column, unit in (("I/O", ""), ("Kbytes", "KiB"), ("AVGms", "ms")):
                if (value := number(row.get(column, ""))) is not None:
                    found.append(Value(subject, column, value, unit, index + 1))
        elif cells and cells != columns and "loadavg" not in lines[index]:
            break
        if cells:
            end = index + 1
    return found, end


def _btt(lines: Lines, at: int) -> tuple[list[Value], int]:
    found: list[Value] = []
    end = at + 1
    for index in range(at + 1, min(len(lines), at + 30)):
        cells = lines[index].split()
        if len(cells) == 5 and "2" in cells[0]:
            for name, cell in zip(("min", "mean", "max"), cells[1:4], strict=True):
                if (value := number(cell)) is not None:
                    found.append(Value(cells[0], name, value * MS["s"], "ms", index + 1))
            end = index + 1
        elif not cells or set(lines[index]) <= set("- "):
            continue
        else:
            break
    return found, end


def _vfsstat(lines: Lines, at: int) -> tuple[list[Value], int]:
    """Read a row for each zone or interval; the zone's number in brackets is another cell."""
    columns = lines[at].split()
    found: list[Value] = []
    end = at + 1
    while end < len(lines) and (cells := lines[end].split()) and len(columns) <= len(cells) <= len(columns) + 1:
        row = dict(zip(columns, cells, strict=False))
        if cells[:2] != columns[:2]:
            subject = f"zone {row['zone']}" if "zone" in row else "zone"
            numbers = [(column, number(row[column])) for column in columns[:-1]]
            found += [Value(subject, column, value, line=end + 1) for column, value in numbers if value is not None]
        end += 1
    return found, end


HDPARM = re.compile(
    r"Timing (cached|buffered disk|O_DIRECT cached|O_DIRECT disk) reads:\s+([\d.]{1,12}) MB in\s+([\d.]{1,12}) seconds"
    r" =\s+([\d.]{1,12}) ([kKMG])B/sec"
)


def _hdparm(lines: Lines, at: int) -> tuple[list[Value], int]:
    """Read the timings of one drive or of several, each below its name."""
    found: list[Value] = []
    end, drive = at, "drive"
    above = next((lines[back].strip() for back in range(at - 1, max(-1, at - 4), -1) if lines[back].strip()), "")
    if re.fullmatch(r"/dev/\S{1,40}:", above):
        drive = above[5:-1]
    for index in range(at, min(len(lines), at + MAX_PAIRS)):
        line = lines[index].strip()
        if match := HDPARM.match(line):
            value = scaled(f"{match[4]}{match[5]}") or 0.0
            found.append(Value(f"drive {drive}", f"{match[1]} reads", value, "bytes/s", index + 1))
        elif re.fullmatch(r"/dev/\S{1,40}:", line):
            drive = line[5:-1]
            continue
        elif line:
            break
        end = index + 1 if line else end
    return found, end


FORMS = Forms(
    Form(
        "smartctl",
        r"smartctl \d|ID# ATTRIBUTE_NAME|=== START OF (?:INFORMATION|READ SMART|SMART)"
        r"|Device Model:|Model (?:Family|Number):|SMART (?:overall-health|Health Status:)"
        r"|SMART/Health Information|Elements in grown defect list:"
        r"|\d{1,3} [A-Z][\w-]{3,40}\s+0x[0-9a-f]{4}\s",
        _drive,
    ),
    Form("nvme-id-ctrl", r"NVME Identify Controller:|vwc\s+: ", _drive),
    Form("nvme-smart", r"Smart Log for NVME device|critical_warning\s+: |media_errors\s+: ", _drive),
    Form("zpool-list", r"NAME\s+SIZE\s+ALLOC\s+FREE\s", _pools),
    Form("storcli", r"DG/VD\s+TYPE\s+State\s", _storcli),
    Form(
        "controller",
        r"(?:Smart Array|Controller Status:|Cache Status:|PERC |Adapter \d+|BBU |Battery(?:/Capacitor)? Status)"
        r"|Controller = \d|(?:Current|Default) Cache Policy\s*:|Write Policy\s*:",
        _controller,
    ),
    Form("zfs-get", r"NAME\s+PROPERTY\s+VALUE\s+SOURCE", _properties),
    Form(
        "arc_summary",
        r"ARC (?:size \(current\)|[Tt]otal accesses|summary|Size:|status:|Misc:)"
        r"|L2 ?ARC (?:status|Summary|size|breakdown)|Cache hits by |CACHE HITS BY |L2 eligible evictions:",
        _arc,
    ),
    Form("arcstat", r"time\s+(?:read|hits|miss)\s", _columns),
    Form("ceph-osd-perf", r"osd\s+commit_latency", _columns),
    Form("nfsstat", r"(?:Client|Server) rpc stats:", _nfsstat),
    Form("mountstats", r"device \S+ mounted on \S+ with fstype nfs", _mountstats),
    Form("nfsiostat", r"ops/s\s+rpc bklog$", _nfsiostat),
    Form("nfsiostat", r"\S{1,120} mounted on \S+:?$", _nfsiostat, holds=" mounted on "),
    Form("atop", r"(?:ATOP - |(?:DSK|LVM|MDD|MEM|CPU|PRC) \|)", _atop),
    Form("pveperf", r"CPU BOGOMIPS:", _pveperf),
    Form("pg_test_fsync", r"(?:open_datasync|fdatasync|fsync|open_sync)\s+[\d.,]+ ops/sec", _pg_test_fsync),
    Form(
        "innodb-status",
        r"FILE I/O$|.{0,60}INNODB MONITOR OUTPUT|Pending normal aio reads:|\d{1,9} pending log (?:flushes|writes)",
        _innodb,
    ),
    Form("biotop", r"PID\s+COMM\s+D\s+MAJ\s+MIN\s+DISK\s", _biotop),
    Form("btt", r"ALL\s+MIN\s+AVG\s+MAX\s+N$", _btt),
    Form("hdparm", r"Timing (?:cached|buffered disk|O_DIRECT (?:cached|disk)) reads:", _hdparm),
    Form("vfsstat", r"r/s\s+w/s\s+[kM]r/s\s+[kM]w/s\s+ractv\s", _vfsstat),
    Form(
        "lsblk",
        r"NAME\s+MAJ:MIN\s|NAME\s+(?:FSTYPE|SIZE|ROTA|TYPE)\s",
        paragraph(200),
        "names the devices below each other",
    ),
    Form("macos-iostat", r"KB/t\s+tps\s+MB/s", paragraph(60), "has no times, only sizes and rates"),
)
STARTS, HOLDS, read = FORMS.starts, FORMS.holds, FORMS.read
