"""Write docs/reference/public-jobs.md: public job files and command lines of fio, here and with the real fio.

Usage: public_jobs.py FOLDER [PAGE]. FOLDER has one folder per place: a GitHub owner with its repositories, or a site.
The files keep their own paths in it. A command line of a longer text is a file `PATH#NAME`. `FOLDER/environment` has
a NAME=VALUE line for each variable. The page has addresses and results, and no file's content.

Each file runs twice: as it is, and shortened. Shortened jobs use fio's null engine, no times, and at most 4 MiB. The
page says whether both tools then have the same rows, requests and bytes.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

import seeklab
from seeklab._errors import SeeklabError

PRESET = "nvme-pcie4"
OPERATIONS = 20_000
MOST = 4 << 20
FIO_S = 120
CLOSE = 0.05
DEVIATIONS = 4
"""Shares of a mix are drawn at random, with other random numbers than fio's: the counts of few requests differ more."""
DROPPED = re.compile(
    r"^\s*(?:--?)?(runtime|timeout|time_based|ramp_time|startdelay|thinktime\w*|rate\w*|loops|filename\w*|directory"
    r"|ioengine|size|filesize|io_size|io_limit|offset\w*|fileoffset|fill_device|fill_fs|write_\w+_log|log_\w+"
    r"|per_job_logs|exec_\w+|cpus_allowed|cpumask|numa_\w+|latency_\w+|steadystate\w*|ss\w*|iodepth_batch_complete"
    r"|iodepth_batch_complete_min|nrfiles|output|output-format|minimal|eta\w*|terse-version|wait_for|prio\w*|nice"
    r"|ioscheduler|verify\w*|do_verify|exitall|exit_what|invalidate|zone\w*|sync_file_range|opendir|flow\w*|uid|gid"
    r"|cgroup\w*|hipri|userspace_reap|mem|iomem|hugepage-size|unlink|create_\w+|pre_read|allow_\w+)\b"
)
FLAGS = (
    "time_based",
    "norandommap",
    "thread",
    "stonewall",
    "new_group",
    "group_reporting",
    "refill_buffers",
    "exitall",
    "readonly",
    "hipri",
    "fixedbufs",
    "registerfiles",
    "sqthread_poll",
)
"""Options that stand without a value."""
SHELL, FIO = "/usr/bin/bash", "/usr/bin/fio"
LIMITS = ("ioengine=null", f"size={MOST}")
HEAD = """# Public job files and command lines

<!-- Written by `python scripts/public_jobs.py FOLDER`; the files come from their own repositories. -->

{count} job files and command lines that others published, each on the preset `{preset}`. The files themselves are not
part of Seeklab. Variables of a file have the values of an invented host.

- **Here**: the file runs, or the first sentence of the refusal.
- **fio 3.33**: whether the real fio accepts the file (`--parse-only`).
- **Shortened**: both tools run the file with every job on fio's null engine, without times, rates or think times, and
  with {most} MiB. *Equal* means the same rows, and in each row the same reads, writes, trims and bytes. *Close* means
  within {close}%, or four standard deviations of so few requests: directions and sizes of a mix are drawn at random.
  A dash means that one tool refuses.

{summary}

| address | file | here | fio 3.33 | shortened |
|---|---|---|---|---|
"""


@dataclass
class Row:
    """The results of one file."""

    place: str
    path: str
    here: str
    accepted: bool
    shortened: str


def main(folder: Path, page: Path) -> None:
    """Run every file and write the page."""
    variables = dict(
        line.split("=", 1) for line in (folder / "environment").read_text(encoding="utf-8").splitlines() if "=" in line
    )
    rows = []
    for file in sorted(file for file in folder.rglob("*") if file.is_file() and file.name != "environment"):
        if file.name.endswith("-include.fio"):
            continue
        parts = file.relative_to(folder).parts
        two = 2 if "." not in parts[0] else 1
        rows.append(_row("/".join(parts[:two]), "/".join(parts[two:]), file, variables))
        print(f"{rows[-1].place} {rows[-1].path}: {rows[-1].here[:100]} | {rows[-1].shortened}", file=sys.stderr)
    page.write_text(_page(rows), encoding="utf-8")


def _page(rows: list[Row]) -> str:
    ran = sum(row.here.startswith("runs") for row in rows)
    both = sum(not row.here.startswith("runs") and not row.accepted for row in rows)
    kinds = Counter(row.shortened.split(":")[0] for row in rows)
    compared = sum(count for kind, count in kinds.items() if kind != "-")
    summary = (
        f"{ran} run, {len(rows) - ran} are refused; fio 3.33 refuses {both} of these too. "
        f"{compared} were compared: {kinds['equal']} equal, {kinds['close']} close, {kinds['differs']} different."
    )
    head = HEAD.format(count=len(rows), preset=PRESET, most=MOST >> 20, close=round(100 * CLOSE), summary=summary)
    cells = [
        (row.place, f"`{row.path}`", row.here, "accepts" if row.accepted else "refuses", row.shortened) for row in rows
    ]
    return head + "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |\n" for row in cells)


def _row(place: str, path: str, file: Path, variables: dict[str, str]) -> Row:
    here = _here(file, variables)
    text = file.read_text(encoding="utf-8", errors="replace")
    command = None if re.search(r"^\s*\[[^\s\[]", text, re.MULTILINE) else text
    accepted = _fio(_argv(file, command, variables, []), file.parent, variables, "--parse-only") is not None
    shortened = "-"
    if here.startswith("runs") and accepted:
        shortened = _compared(file, command, variables)
    return Row(place, path, here, accepted, shortened)


def _here(file: Path, variables: dict[str, str]) -> str:
    try:
        job = seeklab.fio(file, PRESET, environment=variables, most_operations=OPERATIONS)
        with closing(job.run()) as result:
            json.loads(job.report(result, "json"))
            idle = [sentence for sentence in job.stopped(result) if "completed no request" in sentence]
    except SeeklabError as error:
        first = error.problems[0]
        return f"refused: {re.sub(r'^/.*/', '', first.path)}: {first.message}"
    notes = len(set(job.warnings))
    said = f", {notes} note{'s' * (notes > 1)}" if notes else ""
    return f"runs{said}{', a job without requests' if idle else ''}"


def _compared(file: Path, command: str | None, variables: dict[str, str]) -> str:
    """Run the shortened file in both tools and compare the rows."""
    with tempfile.TemporaryDirectory() as folder:
        short = Path(folder, "short.fio")
        short.write_text(_short(file, command, variables), encoding="utf-8")
        real = _fio([str(short)], Path(folder), variables, "--output-format=json")
        if real is None:
            return "-"
        try:
            job = seeklab.fio(short, PRESET, environment=variables)
            with closing(job.run()) as result:
                own = json.loads(job.report(result, "json"))
        except SeeklabError as error:
            message = error.problems[0].message
            # Requests larger than the shortened file compare nothing.
            return (
                "-"
                if "smaller bs" in message or "lower bs" in message
                else f"differs: refused when shortened: {message}"
            )
    real_rows, own_rows = (_counts(report) for report in (real, own))
    if [row[0] for row in real_rows] != [row[0] for row in own_rows]:
        return f"differs: fio has {len(real_rows)} rows, here are {len(own_rows)}"
    if real_rows == own_rows:
        return f"equal: {len(own_rows)} row{'s' * (len(own_rows) > 1)}"
    for (name, counts), (_, others) in zip(real_rows, own_rows, strict=True):
        for what, count in counts.items():
            alike = [key for key in counts if key.split()[1] == what.split()[1]]
            requests = sum(counts[key] for key in counts if key.endswith("requests"))
            allowed = max(CLOSE, DEVIATIONS / sqrt(max(requests, 1))) * sum(counts[key] for key in alike)
            if abs(count - others[what]) > allowed:
                return f"differs: {name} has {count:.0f} {what} in fio, {others[what]:.0f} here"
    return f"close: {len(own_rows)} row{'s' * (len(own_rows) > 1)}"


def _counts(report: dict[str, Any]) -> list[tuple[str, dict[str, float]]]:
    rows = []
    for job in report["jobs"]:
        ways = [way for way in ("read", "write", "trim", "mixed") if way in job]
        counts = {f"{way} requests": float(job[way]["total_ios"]) for way in ways}
        counts |= {f"{way} bytes": float(job[way]["io_bytes"]) for way in ways}
        rows.append((job["jobname"], counts))
    return rows


def _short(file: Path, command: str | None, variables: dict[str, str]) -> str:
    """Return a job file with the same jobs, on the null engine and with few bytes."""
    if command is None:
        lines = _included(file)
    else:
        lines = ["[global]"]
        words = iter(_argv(file, command, variables, [])[0:])
        for word in words:
            name, equals, value = word.lstrip("-").partition("=")
            if not word.startswith("-"):
                continue
            if not equals and not _is_flag(name):
                value, equals = next(words, ""), "="
            lines.append(f"[{value}]" if name == "name" and value != "global" else f"{name}{equals}{value}")
            if name == "name" and value == "global":
                lines[-1] = "[global]"
    kept: list[str] = []
    for line in lines:
        if DROPPED.match(line):
            continue
        kept.append(line)
        if re.match(r"\s*\[global\]", line):
            kept += LIMITS
    if not any(re.match(r"\s*\[global\]", line) for line in kept):
        kept = ["[global]", *LIMITS, *kept]
    return "\n".join(kept) + "\n"


def _is_flag(name: str) -> bool:
    return name in FLAGS


def _included(file: Path) -> list[str]:
    lines = []
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith("include "):
            lines += _included(file.parent / line.split()[1])
        else:
            lines.append(line)
    return lines


def _argv(file: Path, command: str | None, variables: dict[str, str], more: list[str]) -> list[str]:
    """Return the arguments of fio; a shell splits a command line."""
    if command is None:
        return [file.name, *more]
    joined = re.sub(r"\\\r?\n", " ", command)
    after = re.search(r"(?:^|[\s/(])fio\s(.* -.*)", joined, re.MULTILINE)
    line = re.split(r"[;|>&]|\s#", after[1])[0] if after else ""
    script = 'for word in "$@"; do :; done; printf "%s\\0" ' + line
    done = subprocess.run(
        [SHELL, "-c", script], capture_output=True, check=False, env={**variables, "PATH": "/usr/bin:/bin"}
    )
    words = [word for word in done.stdout.decode().split("\0") if word and not word.lstrip("-").startswith("output=")]
    return words + more


def _fio(arguments: list[str], folder: Path, variables: dict[str, str], *more: str) -> dict[str, Any] | None:
    """Run the real fio; return its report, an empty one for `--parse-only`, or None if it refuses."""
    try:
        done = subprocess.run(
            [FIO, *arguments, *more],
            capture_output=True,
            check=False,
            cwd=folder,
            env={**variables, "PATH": "/usr/bin:/bin"},
            timeout=FIO_S,
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode or b"unrecognized option" in done.stderr or b"Bad option" in done.stderr + done.stdout:
        return None
    text = done.stdout.decode(errors="replace")
    return json.loads(text[text.index("{") :]) if "{" in text and "--parse-only" not in more else {}


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) > 2 else "docs/reference/public-jobs.md"))
