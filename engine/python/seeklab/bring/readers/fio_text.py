"""fio's normal output, 2.x and 3.x: jobs, their directions, times, percentiles, fsync section, and disk statistics.

A job's header (`name: (g=0): rw=...`) has its options; its result begins with `name: (groupid=0, jobs=4): err= 0`.
Times
carry their unit in the heading (`clat (usec): min=..., avg=...`). Version 2 writes `io=..., bw=..., iops=...`;
version 3
writes `IOPS=69, BW=1110KiB/s (1137kB/s)(33.1MiB/30541msec)`. A truncated text is read as far as it goes.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from seeklab.bring.block import Block, DeviceRow, Flow, JobRow, Latency, Sample
from seeklab.bring.lines import command
from seeklab.bring.numbers import DECIMAL, MS, number, scaled

if TYPE_CHECKING:
    from seeklab.bring.lines import Lines

TOOL = "fio-text"
STARTS = (
    r"(?:read|write|trim|mixed)\s?: (?:IOPS=|io=)|Disk stats \(read/write\):|Run status group \d"
    r"|(?:slat|clat|lat) \((?:nsec|usec|msec)\)\s?: min=|(?:READ|WRITE): (?:bw|io)="
)
HOLDS: tuple[str, ...] = ("(groupid=", ": (g=")
SETUP = re.compile(r"\s*(\S.{0,120}?): \(g=(\d{1,18})\): rw=([^,]+), bs=(.+?), ioengine=([^,]+), iodepth=(\d{1,18})")
RESULT = re.compile(r"\s*(\S.{0,120}?): \(groupid=(\d{1,18}), jobs=(\d{1,18})\): err=\s?(\d{1,18})(?:.{0,200}?pid=)?")
WAY_3 = re.compile(
    r"\s{0,6}(read|write|trim|mixed)\s?: IOPS=(\S+?), BW=(\S+?)(?:iB|B)/s \((\S+?)B/s\)"
    r"(?:\((\S+?)i?B/(\d{1,18})msec\))?"
)
WAY_2 = re.compile(
    r"\s{0,6}(read|write|trim|mixed)\s?: io=\s{0,8}(\S+?)B, bw=\s{0,8}(\S+?)B/s, iops=\s{0,8}(\d[\d.kKmM]*),"
    r" runt=\s{0,8}(\d{1,18})msec"
)
TIMES = re.compile(
    r"\s{0,10}(slat|clat|lat|sync) \((nsec|usec|msec|sec)\): min=\s?(\S+), max=\s?(\S+), avg=\s?(\S+), stdev=\s?(\S+)"
)
PERCENTILES = re.compile(r"\s{2,10}(clat|lat|slat|sync) percentiles \((nsec|usec|msec|sec)\):")
PERCENTILE = re.compile(r"(\d{1,3}(?:\.\d{1,9})?)th=\[\s*(\d+|>?\d+)\]")
SAMPLES = re.compile(
    r"\s{2,6}iops\s+: min=\s*([\d.kM]+), max=\s*([\d.kM]+), avg=\s*([\d.kM]+), stdev=\s*([\d.kM]+)"
    r"(?:, samples=(\d{1,18}))?"
)
SYNCED = re.compile(r"\s{2,6}fsync/fdatasync/sync_file_range:")
CPU = re.compile(r"\s{2,6}cpu\s+: usr=([\d.,]+)%, sys=([\d.,]+)%")
ISSUED = re.compile(r"\s{2,6}issued rwts?: total=(\d{1,18}),(\d{1,18}),(\d{1,18})(?:,(\d{1,18}))?")
DISK = re.compile(
    r"\s{1,6}([\w!.-]{1,40}): ios=(\d{1,18})/(\d{1,18})(?:, sectors=\d+/\d+)?,"
    r" merge=(\d{1,18})/(\d{1,18}), ticks=(\d{1,18})/(\d{1,18}),"
    r" in_queue=(\d{1,18}), util=([\d.]+)%"
)
GROUP_3 = re.compile(
    r"\s{0,6}(READ|WRITE|TRIM|MIXED): bw=(\S{1,20}?)(?:iB|B)/s \(.{1,40}?\), .{1,80}? run=(\d{1,18})-(\d{1,18})msec"
)
GROUP_2 = re.compile(
    r"\s{0,6}(READ|WRITE|TRIM|MIXED): io=\S{1,20}?, aggrb=(\S{1,20}?)B/s, .{1,80}? mint=(\d{1,18})msec, "
    r"maxt=(\d{1,18})msec"
)
VERSION = re.compile(r"fio-(\d{1,2}\.\S{1,40})$")
COMMAND = re.compile(r"(?:^|\s|/)fio\s+\S")
BOUNDS = re.compile(r"(?:\(R\) )?(\d[\w.]*)")
OTHER = re.compile(
    r"\s{2,10}(?:bw|iops|lat|IO depths|submit|complete|latency|IOPS|BW|issued|\|)|Run status|Disk stats"
    r"|\s{1,6}(?:READ|WRITE|TRIM|MIXED): |"
    r"Starting \d+|Jobs: |\.\.\.$|fio: |fio-|\S.{0,80}: Laying out|\^Cbs|Note: "
)
EMPTY = 2000
"""Jobs that are announced before the first result, at most."""
COARSE = 10
"""A rate below this loses too much when it is printed as a whole number."""
GAP = 4
"""fio leaves at most this many blank or foreign lines within its output."""


@dataclass
class _Row:
    direction: str
    per_s: float | None
    bytes_per_s: float | None
    runtime_s: float | None
    times: dict[str, Latency] = field(default_factory=dict)
    percentiles: dict[str, dict[float, float]] = field(default_factory=dict)
    samples: dict[str, float] = field(default_factory=dict)

    def named(self, name: str) -> Latency:
        """Return the distribution of a kind of time, with its percentiles."""
        at = self.times.get(name, Latency())
        return Latency(at.mean_ms, at.stddev_ms, at.min_ms, at.max_ms, self.percentiles.get(name, {}), at.count)


class _Output:
    """The state of a reader that walks over one run's output."""

    def __init__(self, lines: Lines, at: int) -> None:
        self.lines, self.first = lines, at
        heading = lines[at]
        self.indent = len(heading) - len(heading.lstrip()) if any(held in heading for held in HOLDS) else 0
        self.options: dict[str, dict[str, str]] = {}
        self.given = _command_options(lines, at)
        self.version = ""
        self.records: list[JobRow | Sample] = []
        self.job, self.jobs = "", 1
        self.rows: list[_Row] = []
        self.of_sync: Latency | None = None
        self.sync_percentiles: dict[float, float] = {}
        self.cpu: dict[str, float] = {}
        self.counts: dict[str, float] = {}
        self.disks: list[DeviceRow] = []
        self.disk_line = at + 1
        self.unit, self.of = "msec", "clat"
        self.in_sync = False
        self.last = at
        self.groups: list[JobRow] = []
        self.notes: list[str] = []

    def run(self) -> None:
        """Walk until something other than fio's output follows."""
        foreign = 0
        for at in range(self.first, len(self.lines)):
            line = self._line(at)
            if at > self.first + EMPTY and not (self.records or self.rows):
                break
            if self._take(line, at):
                self.last, foreign = at + 1, 0
                continue
            foreign += 1
            if foreign > GAP or (line.strip() and foreign > 1 and not self._belongs(at)):
                break
        self._close()

    def _line(self, at: int) -> str:
        """Return a line without the blanks that the whole output has in front, as logs of a container have."""
        line = self.lines[at]
        return line[self.indent :] if self.indent and not line[: self.indent].strip() else line

    def _belongs(self, at: int) -> bool:
        """Return whether fio's output continues soon after a line that is not fio's."""
        ahead = map(self._line, range(at + 1, min(len(self.lines), at + 1 + GAP)))
        return any(RESULT.match(line) or WAY_3.match(line) or WAY_2.match(line) or TIMES.match(line) for line in ahead)

    def _take(self, line: str, at: int) -> bool:
        for pattern, take in (
            (SETUP, self._set_up),
            (RESULT, self._begin),
            (WAY_3, self._way_3),
            (WAY_2, self._way_2),
            (TIMES, self._times),
            (SAMPLES, self._samples),
            (CPU, self._cpu),
            (ISSUED, self._issued),
            (GROUP_3, self._group),
            (GROUP_2, self._group),
        ):
            if match := pattern.match(line):
                take(match)
                return True
        if SYNCED.match(line):
            self.in_sync = True
        elif percentiles := PERCENTILES.match(line):
            self.of, self.unit = percentiles[1], percentiles[2]
        elif found := PERCENTILE.findall(line):
            self._percentiles(found)
        elif disk := DISK.match(line):
            self._disk(disk, at)
        elif version := VERSION.match(line.strip()):
            self.version = version[1]
        else:
            return bool(OTHER.match(line))
        return True

    def _begin(self, result: re.Match[str]) -> None:
        self._close()
        self.job, self.jobs = result[1].strip(), int(result[3])
        if int(result[4]):
            self.notes.append(f"fio job {self.job} ended with error {result[4]}: its numbers end there.")

    def _way_3(self, way: re.Match[str]) -> None:
        seconds = float(way[6]) / 1e3 if way[6] else None
        self.rows.append(_Row(way[1], scaled(way[2], DECIMAL), _rate(way[3]), seconds))
        self.in_sync = False

    def _way_2(self, way: re.Match[str]) -> None:
        self.rows.append(_Row(way[1], scaled(way[4], DECIMAL), _rate(way[3]), float(way[5]) / 1e3))

    def _cpu(self, cpu: re.Match[str]) -> None:
        self.cpu = {name: number(cell) or 0.0 for name, cell in zip(("usr", "sys"), cpu.groups(), strict=True)}

    def _issued(self, issued: re.Match[str]) -> None:
        ways = ("read", "write", "trim", "sync")
        self.counts = {way: float(count) for way, count in zip(ways, issued.groups(), strict=True) if count}

    def _group(self, found: re.Match[str]) -> None:
        """Keep a line of the summary of all jobs, which has no requests and no times."""
        moved, way = _rate(found[2]), found[1].lower()
        each = scaled(self.given.get("bs", ""))
        per_s = moved / each if moved and each else None
        options = {"rw": way, **self.given}
        self.groups.append(JobRow("all jobs", way, per_s, moved, options=options, runtime_s=float(found[4]) / 1e3))

    def _set_up(self, setup: re.Match[str]) -> None:
        sizes = BOUNDS.match(setup[4].strip())
        self.options[setup[1].strip()] = {
            **self.given,
            "rw": setup[3].strip(),
            "bs": (sizes[1] if sizes else setup[4]).removesuffix("B"),
            "ioengine": setup[5],
            "iodepth": setup[6],
        }

    def _times(self, found: re.Match[str]) -> None:
        name, unit, *cells = found.groups()
        least, most, mean, spread = (_ms(cell, unit) for cell in cells)
        latency = Latency(mean, spread, least, most)
        if name == "sync" or self.in_sync:
            self.of_sync = latency
        else:
            if not self.rows:  # a line of times alone, without its job
                self.rows.append(_Row("read", None, None, None))
            self.rows[-1].times[name] = latency

    def _samples(self, found: re.Match[str]) -> None:
        if self.rows:
            names = ("min", "max", "avg", "stdev", "samples")
            self.rows[-1].samples = {
                name: value
                for name, cell in zip(names, found.groups(), strict=True)
                if cell and (value := scaled(cell, DECIMAL)) is not None
            }

    def _percentiles(self, found: list[tuple[str, str]]) -> None:
        values = {
            float(percent): value for percent, cell in found if (value := _ms(cell.lstrip(">"), self.unit)) is not None
        }
        if self.of == "sync" or self.in_sync:
            self.sync_percentiles |= values
        elif self.rows:
            self.rows[-1].percentiles.setdefault(self.of, {}).update(values)

    def _disk(self, disk: re.Match[str], at: int) -> None:
        if not self.disks:
            self.disk_line = at + 1
        seconds = max((row.runtime_s or 0.0 for row in self.rows), default=0.0) or self._seconds()
        ios = float(disk[2]), float(disk[3])
        ticks = float(disk[6]), float(disk[7])
        flows = [
            Flow(count / seconds if seconds else None, None, tick / count if count else None)
            for count, tick in zip(ios, ticks, strict=True)
        ]
        busy = number(disk[9])
        queue = float(disk[8]) / 1e3 / seconds if seconds else None
        self.disks.append(
            DeviceRow(disk[1], flows[0], flows[1], in_flight=queue, busy=busy / 100 if busy is not None else None)
        )

    def _seconds(self) -> float:
        times = [row.runtime_s for row in self.records if isinstance(row, JobRow) and row.runtime_s]
        return max(times, default=0.0)

    def _close(self) -> None:
        sync = self.of_sync or Latency()
        if self.of_sync or self.sync_percentiles:
            syncs = self.counts.get("sync")
            sync = Latency(sync.mean_ms, sync.stddev_ms, sync.min_ms, sync.max_ms, self.sync_percentiles, syncs)
        options = dict(self.options.get(self.job, self.given))
        options["numjobs"] = str(self.jobs)
        for row in self.rows:
            count = self.counts.get(row.direction)
            per_s = row.per_s
            if count and row.runtime_s and per_s is not None and per_s < COARSE:
                per_s = count / row.runtime_s  # fio prints whole numbers
            self.records.append(
                JobRow(
                    self.job,
                    row.direction,
                    per_s,
                    row.bytes_per_s,
                    count,
                    row.named("lat"),
                    row.named("clat"),
                    row.named("slat"),
                    sync,
                    options,
                    self.cpu,
                    row.runtime_s,
                    row.samples,
                )
            )
        self.rows, self.of_sync, self.sync_percentiles, self.cpu, self.counts = [], None, {}, {}, {}

    def block(self) -> Block | None:
        """Return the block, if the output has a result."""
        if not self.records:
            self.records += self.groups
        if self.disks:
            self.records.append(Sample(tuple(self.disks), self.disk_line))
        if not self.records and not (self.options or self.version or self.last > self.first + 1):
            return None
        if not self.records:
            self.notes.append("its results are missing")
        first = self.first
        for back in range(1, 3):
            before = self.lines[self.first - back] if self.first >= back else ""
            if before.strip() and COMMAND.search(command(before) or before):
                first = self.first - back
                break
        return Block(TOOL, first + 1, self.last, list(self.records), self.version, notes=self.notes)


def read(lines: Lines, at: int) -> Block | None:
    """Return one run's output from `at` on."""
    output = _Output(lines, at)
    output.run()
    return output.block()


def _rate(text: str) -> float | None:
    """Return a rate in bytes per second: fio 3 writes `1110Ki`, fio 2 `4412.3K`, in units of 1024."""
    return scaled(text.removesuffix("i"))


def _ms(text: str, unit: str) -> float | None:
    value = scaled(text.rstrip(",]"), DECIMAL)
    return None if value is None else value * MS[unit.removesuffix("ec")]


def _command_options(lines: Lines, at: int) -> dict[str, str]:
    """Return the options of a command line in the two lines above the output, as `name: value`."""
    for line in lines[max(0, at - 2) : at][::-1]:
        text = command(line) or line.strip()
        if COMMAND.search(text):
            return _options(text)
    return {}


def _options(text: str) -> dict[str, str]:
    try:
        words = shlex.split(text)
    except ValueError:
        words = text.split()
    found: dict[str, str] = {}
    for word, after in zip(words, [*words[1:], ""], strict=True):
        if word.startswith("-"):
            name, equals, value = word.lstrip("-").partition("=")
            found[name.replace("-", "_")] = value if equals else ("1" if after.startswith("-") or not after else after)
    return found
