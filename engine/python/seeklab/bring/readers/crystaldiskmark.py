"""CrystalDiskMark: rates of reads and writes at a few depths, and from version 7 on also requests per second and times.

The pattern's name has its block size, queue depth and threads: `RND 4KiB (Q= 32, T= 1)`, or before version 7
`Random Read 4KiB (Q= 32,T= 1)` and `Random Read 4KB (QD=32)`. Rates are in MB/s of 1,000,000 bytes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seeklab.bring.block import Block, JobRow, Latency
from seeklab.bring.numbers import number

if TYPE_CHECKING:
    from seeklab.bring.lines import Lines

TOOL = "crystaldiskmark"
STARTS = (
    r"CrystalDiskMark \d|\[(?:Read|Write)\]$|(?:Sequential|Random) (?:Read|Write)[ :(]"
    r"|(?:SEQ|RND)\s{0,4}\d{1,4}[KM]iB \("
)
HOLDS: tuple[str, ...] = ()
SECTION = re.compile(r"\s*\[(Read|Write)\]$")
ROW = re.compile(
    r"\s*(?P<pattern>SEQ|RND|Sequential|Random)\s{0,4}(?P<way>Read|Write)?\s{0,8}(?P<size>\d{1,4}\s?[KM]i?B)?\s{0,4}"
    r"(?:\((?:Q(?:D|ueues)?\s?=\s{0,4}(?P<depth>\d{1,4})\s?,?\s{0,4}(?:T(?:hreads)?\s?=\s{0,4}(?P<threads>\d{1,4}))?)?\))?"
    r"\s{0,4}:\s{1,12}(?P<rate>[\d.]{1,12}) MB/s(?:\s\[\s{0,12}(?P<per_s>[\d.]{1,14}) IOPS\])?"
    r"(?:\s<\s{0,12}(?P<us>[\d.]{1,14}) us>)?"
)
UNITS = {"K": 1 << 10, "M": 1 << 20}
OF_REPORT = re.compile(
    r"\s*(?:-{10,}|\* |Crystal Dew World|Test ?: |Date ?: |OS ?: |Mode ?: |Time ?: |Comment ?: |Profile ?: |\[Mix\])"
)


def read(lines: Lines, at: int) -> Block | None:
    """Return the rows of a report from `at` on."""
    jobs: list[JobRow] = []
    way, end = "", at
    for index in range(at, len(lines)):
        line = lines[index]
        if section := SECTION.match(line):
            way = section[1].lower()
        elif row := ROW.match(line):
            if job := _job(row, (row["way"] or way).lower()):
                jobs.append(job)
        elif line.strip() and index > at and not OF_REPORT.match(line):
            break
        if line.strip():
            end = index + 1
    return Block(TOOL, at + 1, end, list(jobs)) if jobs else None


def _job(row: re.Match[str], way: str) -> JobRow | None:
    moved, per_s, us = (number(row[name] or "") for name in ("rate", "per_s", "us"))
    if not way or moved is None:
        return None
    depth, threads = row["depth"] or "1", row["threads"] or "1"
    options = {
        "iodepth": depth,
        "numjobs": threads,
        "rw": ("rand" if row["pattern"] in ("RND", "Random") else "") + way,
        "direct": "1",
        "ioengine": "windows",
    }
    size = re.match(r"(\d+)\s?([KM])", row["size"] or "")
    if size:
        options["bs"] = str(int(size[1]) * UNITS[size[2]])
        per_s = per_s or moved * 1e6 / int(options["bs"])
    name = " ".join(part for part in (row["pattern"], row["size"], f"Q{depth}T{threads}") if part)
    return JobRow(name, way, per_s, moved * 1e6, total=Latency(us / 1e3 if us else None), options=options)
