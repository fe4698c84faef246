"""Ceph's own reports: `ceph -s`, `ceph health detail`, `ceph osd df`, and the benchmarks of rados and rbd.

`ceph -s` and the health checks say what the cluster complains about: slow operations, a recovery, devices that are
nearly full. The subject of a value is `cluster` or the name of a daemon (`osd.7`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seeklab.bring.block import Block, JobRow, Latency, Value
from seeklab.bring.numbers import K, number, scaled
from seeklab.bring.tables import rows, unique

if TYPE_CHECKING:
    from collections.abc import Iterator

    from seeklab.bring.lines import Lines

TOOL = "ceph-status"
STARTS = (
    r"cluster:$|cluster [0-9a-f]{8}-|health:? HEALTH_|HEALTH_(?:OK|WARN|ERR)\b|\[(?:WRN|ERR)\] [A-Z_]{5,40}:"
    r"|ID\s+(?:CLASS\s+)?WEIGHT\s+REWEIGHT\s|sec Cur ops\s+started|Total time run:|SEC\s+OPS\s+OPS/SEC\s"
)
HOLDS: tuple[str, ...] = ()
MAX_LINES, BLANKS = 400, 2
SLOW = re.compile(r"(\d{1,9}) slow (?:ops|requests)\b(?:, oldest one blocked for (\d{1,9}) sec)?")
BLOCKED = re.compile(
    r"(\d{1,9}) (?:ops|requests) are blocked > (\d{1,9}(?:\.\d{1,6})?) sec(?: on (osd\.\d{1,6}|osds? [\d,]{1,80}))?"
)
BLUESTORE = re.compile(r"(\d{1,6}) OSD\(s\) (?:experiencing slow operations|experiencing stalled read)")
RECOVERY = re.compile(r"recovery(?: io|:)\s+(\d{1,9}(?:\.\d{1,6})?) ?([kKMGT]?)i?B/s")
PLACEMENT = re.compile(r"(\d{1,9})\s+(active\+[a-z_+]{1,120}|[a-z_+]{0,80}(?:recover|backfill|degraded)[a-z_+]{0,80})$")
FULL = re.compile(r"(\d{1,6}) (?:near|backfill)?full (?:osd|OSD)|osd\.\d{1,6} is (?:near|backfill )?full at ")
READ_ERRORS = re.compile(r"(\d{1,6}) OSD\(s\) have spurious read errors|(\d{1,9}) scrub errors")
BELONGS = re.compile(
    r"\s+\S|(?:HEALTH|cluster|health|monmap|osdmap|pgmap|services|data|io|progress|recovery|pg |osd|mon|mds|mgr|client"
    r"|\d{1,9} (?:ops|requests|osds?|slow|pgs?|near|scrub)|\[(?:WRN|ERR)\]|[A-Z_]{5,40} )"
)
COUNTS = {"slow devices": BLUESTORE, "full": FULL, "read errors": READ_ERRORS}
ACTIVITIES = ("recover", "backfill", "deep", "scrub")
BENCH = {
    "Total writes made": "count",
    "Total reads made": "count",
    "Total time run": "seconds",
    "Write size": "bytes",
    "Read size": "bytes",
    "Average IOPS": "per_s",
    "Average Latency(s)": "mean_s",
    "Average Latency": "mean_s",
    "Max latency(s)": "max_s",
    "Max latency": "max_s",
    "Min latency(s)": "min_s",
    "Bandwidth (MB/sec)": "mb_per_s",
}
PAIR = re.compile(r"\s*([A-Z][\w /()]{2,40}?):\s+(\d{1,15}(?:\.\d{1,9})?)")


def read(lines: Lines, at: int) -> Block | None:
    """Return the report that starts at `at`."""
    line = lines[at].strip()
    if line.startswith("ID"):
        return _osds(lines, at)
    if line.startswith(("sec Cur ops", "Total time run:")):
        return _rados(lines, at)
    if line.startswith("SEC"):
        return _rbd(lines, at)
    return _status(lines, at)


def _status(lines: Lines, at: int) -> Block:
    found: list[Value] = []
    end, blanks = at, 0
    for index in range(at, min(len(lines), at + MAX_LINES)):
        line = lines[index]
        if not line.strip():
            blanks += 1
            if blanks > BLANKS:
                break
            continue
        if index > at and not BELONGS.match(line):
            break
        found += _said(line.strip(), index + 1)
        end, blanks = index + 1, 0
    return Block(TOOL, at + 1, end, list(found))


def _said(line: str, at: int) -> Iterator[Value]:
    """Yield what one line of the status says."""
    if slow := SLOW.search(line):
        yield Value("cluster", "slow operations", float(slow[1]), line=at)
        if slow[2]:
            yield Value("cluster", "oldest", float(slow[2]), "s", at)
        for name in re.findall(r"osd\.\d{1,6}", line):
            yield Value(name, "slow", 1.0, line=at)
        for name in re.findall(r"mon\.[\w.-]{1,60}", line):
            yield Value(name, "slow monitor", 1.0, line=at)
    if blocked := BLOCKED.search(line):
        name = blocked[3] or "cluster"
        yield Value(name if name.startswith("osd.") else "cluster", "blocked", float(blocked[1]), line=at)
        yield Value("cluster", "oldest", float(blocked[2]), "s", at)
    if recovery := RECOVERY.search(line):
        yield Value("cluster", "recovery rate", scaled(recovery[1] + recovery[2]) or 0.0, "bytes/s", at)
    if placed := PLACEMENT.search(line):
        words = [word for word in ACTIVITIES if word in placed[2] and "wait" not in placed[2]]
        yield from (Value("cluster", f"groups {word}", float(placed[1]), line=at) for word in words[:1])
    for name, pattern in COUNTS.items():
        if counted := pattern.search(line):
            number = next((float(group) for group in counted.groups() if group), 1.0)
            yield Value("cluster", name, number, line=at)


def _osds(lines: Lines, at: int) -> Block | None:
    """Read `ceph osd df` and `ceph osd tree`: how full each device is."""
    columns = unique(lines[at].split())
    found: list[Value] = []
    end = at + 1
    place = columns.index("%USE") if "%USE" in columns else None
    for index in range(at + 1, min(len(lines), at + MAX_LINES)):
        cells = lines[index].split()
        if not cells or not (cells[0].lstrip("-").isdigit() or cells[0] in ("TOTAL", "MIN/MAX")):
            break
        # A size and its unit are two cells in newer versions: count from the end.
        if place is not None and cells[0].isdigit() and (value := number(_share(cells))) is not None:
            found.append(Value(f"osd.{cells[0]}", "used", value / 100, line=index + 1))
        end = index + 1
    if end == at + 1:
        return None
    return Block("ceph-osd-df" if place is not None else "ceph-osd-tree", at + 1, end, list(found))


def _share(cells: list[str]) -> str:
    """Return the cell of %USE: the last number up to 100 that is followed by VAR (about 1) and a count of groups."""
    for place in range(len(cells) - 2, 2, -1):
        one, two = number(cells[place]), number(cells[place + 1])
        if one is not None and two is not None and one <= 100 and 0 <= two < 10 and "." in cells[place + 1]:
            return cells[place]
    return ""


def _rados(lines: Lines, at: int) -> Block | None:
    of: dict[str, float] = {}
    end = at + 1
    for index in range(at, min(len(lines), at + MAX_LINES)):
        line = lines[index]
        if pair := PAIR.match(line):
            if (name := BENCH.get(pair[1].strip())) is not None and (value := number(pair[2])) is not None:
                of[name] = value
        elif line.strip() and not re.match(r"\s*(?:\d|sec |\d{4}-|Object|Bandwidth|Stddev|Max|Min)", line):
            break
        end = index + 1 if line.strip() else end
    if "seconds" not in of:
        return Block("rados-bench", at + 1, end, notes=["the run's totals are missing"])
    per_s = of.get("per_s") or of.get("count", 0.0) / max(of["seconds"], 1e-9)
    latency = Latency(1e3 * of["mean_s"] if "mean_s" in of else None)
    way = "read" if any("reads made" in line for line in lines[at:end]) else "write"
    moved = of.get("mb_per_s")
    # The tool divides by 1024 twice and prints MB.
    row = JobRow("rados bench", way, per_s, None if moved is None else moved * K * K, of.get("count"), latency)
    return Block("rados-bench", at + 1, end, [row])


def _rbd(lines: Lines, at: int) -> Block | None:
    """Name the rows of `rbd bench`: seconds, operations, and rates since the start."""
    found, end = rows(lines, at + 1, lines[at].split())
    return Block("rbd-bench", at + 1, end) if found else None
