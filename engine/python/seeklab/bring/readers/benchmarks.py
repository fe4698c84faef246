"""Benchmarks that print a summary: ioping, pgbench, sysbench, iozone, winsat, yabs.sh, bench.sh.

A benchmark with rates and times becomes a job, like one of fio. The others are named, with what their numbers are.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seeklab.bring.block import JobRow, Latency
from seeklab.bring.forms import Form, Forms, paragraph
from seeklab.bring.numbers import MS, number, scaled

if TYPE_CHECKING:
    from seeklab.bring.forms import Parser
    from seeklab.bring.lines import Lines

TOOL = "ioping"
MAX_LINES = 120
PING = re.compile(
    r"(\d{1,9}(?:\.\d{1,6})?) ?([kKMGT]?i?B) (?:<<<|>>>|from|to) .{1,160}?: request=\d{1,9}(?: \(\w{1,12}\))? time="
    r"(\d{1,9}(?:\.\d{1,6})?) ?(ns|us|ms|s)"
)
PINGED = re.compile(
    r"min/avg/max/mdev = (\d{1,9}(?:\.\d{1,6})?) ?(ns|us|ms|s) / (\d{1,9}(?:\.\d{1,6})?) ?(ns|us|ms|s) / "
    r"(\d{1,9}(?:\.\d{1,6})?) ?(ns|us|ms|s)"
)
TOTAL = re.compile(
    r"(\d{1,12}(?:\.\d{1,6})?) ?k? requests completed in .{1,60}?, (\d{1,9}(?:\.\d{1,6})?) ?([kKMG]?) iops"
    r"(?:, (\d{1,9}(?:\.\d{1,6})?) ?([kKMGT]?i?B)/s)?"
)


def _ioping(lines: Lines, at: int) -> tuple[list[JobRow], int]:
    times: list[float] = []
    size, way, end = 4096.0, "read", at
    summary = rate = None
    for index in range(at, min(len(lines), at + MAX_LINES)):
        line = lines[index].strip()
        if ping := PING.match(line):
            size = scaled(ping[1] + ping[2]) or size
            way = "write" if ">>>" in line or " to " in line[:40] else "read"
            times.append(float(ping[3]) * MS[ping[4]])
        elif found := PINGED.search(line):
            summary = Latency(
                float(found[3]) * MS[found[4]], None, float(found[1]) * MS[found[2]], float(found[5]) * MS[found[6]]
            )
        elif total := TOTAL.match(line):
            rate = scaled(total[2] + total[3], {"": 1, "k": 1e3, "m": 1e6, "g": 1e9})
            if rate and total[4]:
                size = (scaled(total[4] + total[5]) or size * rate) / rate
        elif line and not line.startswith(("---", "generated", "^C")):
            break
        end = index + 1 if line else end
    if summary is None and not times and rate is None:
        return [], at
    latency = summary or (Latency(sum(times) / len(times), None, min(times), max(times)) if times else None)
    # Its rate is one divided by the mean time, whatever the pauses between requests.
    latency = latency or Latency(1e3 / rate if rate else None)
    asked = " ".join(lines[max(0, at - 2) : at])
    # Without -C, ioping drops what it reads from the page cache before it reads it again.
    options = {"iodepth": "1", "numjobs": "1", "direct": "0" if re.search(r"ioping .{0,40}-\w{0,8}C", asked) else "1"}
    if way == "write" and re.search(r"ioping .{0,40}-\w*Y", asked):
        options["sync"] = "1"
    per_s = rate or 1e3 / max(latency.mean_ms or 1.0, 1e-6)
    options["rw"] = f"rand{way}"
    row = JobRow("ioping", way, per_s, per_s * size, float(len(times)) or None, latency, options=options)
    return [row], end


def _pairs(tool: str, names: dict[str, str], belongs: str) -> Parser:
    """Return a parser of `name: value` or `name = value` lines that make one job."""
    of_line = re.compile(belongs)

    def parse(lines: Lines, at: int) -> tuple[list[JobRow], int]:
        found: dict[str, float] = {}
        end = at
        for index in range(at, min(len(lines), at + MAX_LINES)):
            line = lines[index].strip()
            key, _, value = line.partition("=" if " = " in line else ":")
            cells = value.split()
            if cells and (name := names.get(key.strip())) and (of := number(cells[0])) is not None:
                found.setdefault(name, of)
            elif line and not of_line.match(line) and not (name := names.get(key.strip())):
                break
            end = index + 1 if line else end
        if not found:
            return [], at
        ms = found.get("ms")
        moved = found.get("mb_per_s")
        row = JobRow(
            tool,
            "mixed",
            found.get("per_s"),
            None if moved is None else moved * 1e6,
            found.get("count"),
            Latency(ms, found.get("stddev_ms"), None, found.get("max_ms")),
            options={"numjobs": f"{found.get('clients', 1):.0f}"},
            runtime_s=found.get("s"),
        )
        return [row], end

    return parse


PGBENCH = {
    "number of clients": "clients",
    "number of transactions actually processed": "count",
    "latency average": "ms",
    "latency stddev": "stddev_ms",
    "tps": "per_s",
    "duration": "s",
}
NAMED = paragraph(MAX_LINES)
FORMS = Forms(
    Form(
        "ioping",
        r"\d[\d.]{0,8} ?[kKMGT]?i?B (?:<<<|>>>|from|to) \S|--- .{1,120} ioping statistics ---"
        r"|\d[\d.]{0,12} ?k? requests completed in ",
        _ioping,
    ),
    Form(
        "pgbench",
        r"(?:transaction type: |pgbench \(|latency average = |tps = \d)",
        _pairs(
            "pgbench",
            PGBENCH,
            r"(?:transaction|pgbench|scaling|query mode|number of|maximum|duration|latency|initial|tps|starting"
            r"|progress|SQL|\(|- )",
        ),
    ),
    Form(
        "iozone",
        r"Iozone: Performance Test|kB\s+reclen\s+write\s+rewrite",
        NAMED,
        "reports rates that include the page cache, unless -I or -o was given",
    ),
    Form(
        "winsat",
        r"> (?:Disk|Run Time)\s.{0,60}\d|Windows System Assessment Tool",
        NAMED,
        "has rates without the load of today",
    ),
    Form(
        "yabs",
        r"fio Disk Speed Tests \(|Block Size \| 4k",
        NAMED,
        "mixes reads and writes at depth 64: the volume's most, not the time of a sync",
    ),
    Form("bench.sh", r"I/O Speed\(1st run\)", NAMED, "writes large blocks: bandwidth, not the time of a sync"),
    Form(
        "dbench",
        r"dbench version \d|Throughput \d[\d.]{0,12} MB/sec .{0,60}procs",
        NAMED,
        "reports the rate of a mix of small file operations, and their times with -W or at its end",
    ),
    Form(
        "kafka-perf",
        r"\d{1,12} records sent, \d",
        NAMED,
        "has the times that a client waits, with its batches and the network",
    ),
    Form("nfsstat-list", r"nfs v[234] (?:client|server)\s+\w{3,20}:\s+\d", NAMED, "counts calls since boot"),
    Form("as-ssd", r"AS SSD Benchmark", NAMED, "has rates and times without a load"),
    Form("vdbench", r"[A-Z][a-z]{2} \d\d, \d{4}\s+interval\s+i/o\s", NAMED, "has rates and times by interval"),
)
STARTS, HOLDS, read = FORMS.starts, FORMS.holds, FORMS.read
