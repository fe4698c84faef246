"""kbench: the summary that Longhorn's benchmark prints of its fio jobs.

It has a rate, a bandwidth and a mean time for each pattern and direction, each of a job of its own. Times are of one
request after another; rates and bandwidths are of many at once.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seeklab.bring.block import Block, JobRow, Latency
from seeklab.bring.numbers import K, number

if TYPE_CHECKING:
    from seeklab.bring.lines import Lines

TOOL = "kbench"
STARTS = "FIO Benchmark Summary"
HOLDS: tuple[str, ...] = ()
SECTION = re.compile(r"(IOPS|Bandwidth in KiB/sec|Latency in ns) \(Read/Write\)")
PAIR = re.compile(r"\s*(Random|Sequential):\s{0,80}(\d[\d,]{0,20}) / (\d[\d,]{0,20})")
OF_SUMMARY = re.compile(r"\s*(?:=+$|For: |SIZE: |QUICK MODE: |CPU Idleness: )")


def read(lines: Lines, at: int) -> Block | None:
    """Return the jobs of the summary that begins at `at`."""
    jobs: list[JobRow] = []
    section, end = "", at
    for index in range(at + 1, len(lines)):
        line = lines[index]
        if found := SECTION.match(line):
            section = found[1]
        elif found := PAIR.match(line):
            values = (number(found[place].replace(",", "")) for place in (2, 3))
            jobs += [
                _job(section, found[1].lower(), way, value)
                for way, value in zip(("read", "write"), values, strict=True)
                if value is not None
            ]
        elif line.strip() and not OF_SUMMARY.match(line):
            break
        if line.strip():
            end = index + 1
    return Block(TOOL, at + 1, end, list(jobs)) if jobs else None


def _job(section: str, pattern: str, way: str, value: float) -> JobRow:
    if section == "IOPS":
        return JobRow(f"{pattern} IOPS", way, per_s=value)
    if section.startswith("Bandwidth"):
        return JobRow(f"{pattern} bandwidth", way, bytes_per_s=value * K)
    latency = Latency(mean_ms=value / 1e6)
    return JobRow(f"{pattern} latency", way, 1e9 / value if value else None, total=latency, options={"iodepth": "1"})
