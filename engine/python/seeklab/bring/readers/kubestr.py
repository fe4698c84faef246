"""`kubestr fio`: fio's results for a storage class of Kubernetes, as kubestr prints them.

It prints rates, and the options of each job, but no times.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seeklab.bring.block import Block, JobRow
from seeklab.bring.numbers import K, number

if TYPE_CHECKING:
    from seeklab.bring.lines import Lines

TOOL = "kubestr"
STARTS = r"JobName: \S"
HOLDS: tuple[str, ...] = ()
OPTION = re.compile(r"(\w{1,40})=(\S{1,80})")
WAY = re.compile(r"\s*(read|write):$")
RATE = re.compile(r"\s*IOPS=(\d{1,15}(?:\.\d{1,9})?) BW\(KiB/s\)=(\d{1,15})")
OF_JOB = re.compile(r"\s*(?:blocksize=|iops: |bw\(KiB/s\): |JobName: )")
NAMES = {"blocksize": "bs", "filesize": "size"}


def read(lines: Lines, at: int) -> Block | None:
    """Return the jobs from `at` on."""
    shared = next((dict(OPTION.findall(line)) for line in lines[max(0, at - 4) : at] if "Global options" in line), {})
    jobs: list[JobRow] = []
    name, way, options, end = "", "", dict(shared), at
    for index in range(at, len(lines)):
        line = lines[index]
        if line.startswith("JobName: "):
            name, options = line.split()[1], dict(shared)
        elif found := WAY.match(line):
            way = found[1]
        elif found := RATE.match(line):
            moved = number(found[2])
            jobs.append(JobRow(name, way, number(found[1]), None if moved is None else moved * K, options=options))
        elif line.strip() and not OF_JOB.match(line):
            break
        options |= {NAMES.get(option, option): value for option, value in OPTION.findall(line) if "blocksize" in line}
        if line.strip():
            end = index + 1
    return Block(TOOL, at + 1, end, list(jobs)) if jobs else None
