"""Recorded fio results: reports are parsed into measurements; each unusable one is listed with the reason.

A report is fio's JSON or its text. Text is read by the readers of `seeklab.bring` and then treated as JSON.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from math import sqrt
from os import PathLike
from pathlib import Path
from statistics import fmean, median, stdev
from typing import TYPE_CHECKING, Any, NamedTuple

from seeklab._documents import UnreadableError, read_json
from seeklab._errors import Problem, SeeklabError
from seeklab.bring.block import JobRow
from seeklab.bring.blocks import cut
from seeklab.bring.lines import cleaned
from seeklab.bring.readers import fio_text
from seeklab.data.files import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from seeklab.bring.block import Latency

MIN_FIO = (2, 0)
"""Versions before 3.18 have no percentiles of the total latency, so the completion's are used."""
MIN_RUNTIME = 0.95
"""Minimum share of the requested run time; a job that ran shorter was interrupted."""
MAX_OFF_LITTLE = 0.1
"""Maximum relative difference between request rate times mean latency and the depth (Little's law)."""
MAX_REPORT_BYTES = 1 << 26
MS_PER_S = 1000.0
MOST = 2.0**63
"""Upper limit for every number of a report."""
MAX_DEPTH = 1 << 16
MAX_BINS = 8192
"""Maximum number of histogram bins; fio has 64 in each of 29 groups, and more if it was built with finer ones."""
MAX_JOBS = 1000
"""Maximum number of jobs in a report; each of our reports has one."""
PREFIXES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
SIZE = re.compile(r"([0-9]{1,18})([kmgt]?)i?b?$", re.IGNORECASE)
TIME = re.compile(r"([0-9]{1,18})(us|ms|s|m|h)?$")
BANDWIDTH = re.compile(r"[ \t]*[0-9]{1,18}[ \t]*")
TIME_UNITS_S = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
HARMLESS = {
    "bssplit": (),
    "bsrange": (),
    "rate": ("0",),
    "random_distribution": ("random",),
    "nrfiles": ("1",),
    "percentage_random": ("100",),
    "zonemode": ("none",),
    "zonesize": ("0",),
}
"""Options that calibration jobs do not use, with the values that are fio's default."""
PAST_THE_PAGE_CACHE = ("io_uring_cmd", "sg", "xnvme", "libblkio", "libpmem", "dev-dax", "libzbc", "external")
"""Engines that need no direct=1 to reach the device."""
IN_TEXT = re.compile(r"^[ \t]*(\S.{0,120}?): \(groupid=(\d{1,9}), jobs=\d{1,9}\): err=\s?(\d{1,9})", re.MULTILINE)
NS_PER_MS = 1e6
NO_COMMAND = (
    "a text without fio's command line does not tell whether its jobs had direct=1; without it, they measure memory"
)
DOCUMENT = re.compile(r"^(?=\{)", re.MULTILINE)
T_95 = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78}
"""Student's t for a 95% interval, by number of repeats."""


class Key(NamedTuple):
    """The settings of a job that matter here; jobs with the same key are repeats."""

    rw: str
    size: int
    depth: int
    mix: int = 100
    """Share of reads, in percent."""
    pause_us: int = 0
    rate_iops: int = 0
    offset: float = 0.0
    """Start of its region: a share of the device if below 1, otherwise bytes."""
    span: float = 0.0
    """Size of its region in bytes; 0 if the job does not set it."""
    limit_ms: int = 0
    """Run time in ms, for jobs that differ only in it: those that fill the write buffer."""

    def __str__(self) -> str:
        """Return the settings as readable text."""
        size = f"{self.size >> 20}M" if self.size % (1 << 20) == 0 else f"{self.size / 1024:g}k"
        mix = f" {self.mix}/{100 - self.mix}" if self.rw in ("randrw", "rw") else ""
        pause = f", pauses of {self.pause_us / 1000:g} ms" if self.pause_us else ""
        rate = f", {self.rate_iops}/s" if self.rate_iops else ""
        place = f", {self.span / (1 << 20):g} MiB at {self.offset:g}" if self.offset or self.limit_ms else ""
        time = f", {self.limit_ms} ms" if self.limit_ms else ""
        return f"{self.rw} {size} QD{self.depth}{mix}{pause}{rate}{place}{time}"


@dataclass(frozen=True)
class Run:
    """One job of one report. Times in us."""

    mean: float
    iops: float
    bins: tuple[tuple[float, int], ...]
    least: float
    longest: float
    io_bytes: int
    runtime_s: float
    ticks_us: float | None = None
    """Mean time of a request in the host's block layer, if fio reported it."""
    cpu_percent: float = 0.0
    workers: int = 1
    """Workers whose depths add up to the job's."""

    @cached_property
    def _reached(self) -> tuple[int, ...]:
        """For each bin, the number of requests that took at most its time."""
        return tuple(accumulate(count for _, count in self.bins))

    def q(self, percent: float) -> float:
        """Return a percentile."""
        at = bisect_left(self._reached, percent / 100 * self.requests)
        return min(max(self.bins[at][0], self.least), self.longest) if at < len(self.bins) else self.longest

    @property
    def requests(self) -> int:
        """The number of requests."""
        return self._reached[-1] if self._reached else 0

    def count_above(self, us: float) -> int:
        """Return the number of requests that took longer."""
        return sum(count for value, count in self.bins if value > us)


@dataclass(frozen=True)
class Measured:
    """A job with its repeats; its numbers are medians over the repeats."""

    key: Key
    runs: tuple[Run, ...]

    @property
    def mean(self) -> float:
        """Mean latency in us."""
        return median(run.mean for run in self.runs)

    @property
    def iops(self) -> float:
        """Requests per second."""
        return median(run.iops for run in self.runs)

    @property
    def longest(self) -> float:
        """The longest latency in us, of the median repeat."""
        return median(run.longest for run in self.runs)

    @property
    def io_bytes(self) -> float:
        """Bytes moved."""
        return median(run.io_bytes for run in self.runs)

    @property
    def runtime_s(self) -> float:
        """Run time in seconds."""
        return median(run.runtime_s for run in self.runs)

    def q(self, percent: float) -> float:
        """Return a percentile in us."""
        return median(run.q(percent) for run in self.runs)

    def variation(self) -> float:
        """Return the coefficient of variation of the mean latency over the repeats, in percent."""
        means = [run.mean for run in self.runs]
        return 100 * stdev(means) / fmean(means) if len(means) > 1 else 0.0

    def interval(self) -> float | None:
        """Return half the 95% interval of the median of the mean latencies, in us; None without repeats."""
        means = [run.mean for run in self.runs]
        factor = T_95.get(min(len(means), max(T_95)))
        return None if factor is None else factor * 1.25 * stdev(means) / sqrt(len(means))


@dataclass
class Results:
    """All recorded measurements."""

    jobs: dict[Key, Measured] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    """A sentence for each report or job that is not used."""
    files: int = 0
    versions: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    """A sentence for each fact that the reports leave open."""
    series: dict[str, list[float]] = field(default_factory=dict)
    """Bandwidth of each second, from logs next to the reports."""

    def get(self, rw: str, size: int, depth: int, **more: Any) -> Measured | None:
        """Return a plain job; if several differ only in their span, return the one with the largest."""
        found = [
            job
            for key, job in self.jobs.items()
            if key[:3] == (rw, size, depth)
            and key.pause_us == more.get("pause_us", 0)
            and key.mix == more.get("mix", 100)
            and key.limit_ms == more.get("limit_ms", 0)
            and not key.offset
        ]
        return max(found, key=lambda job: job.key.span, default=None)


def read_results(given: str | PathLike[str] | Sequence[str | PathLike[str]]) -> Results:
    """Read one fio report, a list of reports, or all reports in a folder."""
    files, what = _files(given)
    results = Results()
    runs: dict[Key, list[Run]] = {}
    for file in files:
        if file.suffix == ".log" and "_bw" in file.name:
            results.series[file.name] = list(_series(file))
            continue
        is_named = file.suffix == ".json"
        if not is_named and (file.stat().st_size > MAX_REPORT_BYTES or not _holds_report(file)):
            continue
        results.files += 1
        before = len(results.left_out)
        found = 0
        try:
            for key, run in _jobs(file, results):
                runs.setdefault(key, []).append(run)
                found += 1
        except _UnusableError as reason:
            results.left_out.append(f"{shown(file)}: {reason}")
        if not found and len(results.left_out) == before:
            results.left_out.append(f"{shown(file)}: has no jobs")
    if not results.files:
        message = f"{what} contains no report of fio; record with fio --output-format=json+ --output=NAME.json"
        raise SeeklabError([Problem("from", message)])
    results.jobs = {key: Measured(key, _with_fewest_workers(of_key)) for key, of_key in runs.items()}
    if not results.jobs:
        reasons = "; ".join(results.left_out[:5])
        raise SeeklabError([Problem("from", f"no report in {what} can be used: {reasons}")])
    return results


def _with_fewest_workers(runs: Sequence[Run]) -> tuple[Run, ...]:
    """Return the runs that reach their depth with the fewest workers, because more of them add the host's effects."""
    fewest = min(run.workers for run in runs)
    return tuple(run for run in runs if run.workers == fewest)


def _files(given: str | PathLike[str] | Sequence[str | PathLike[str]]) -> tuple[list[Path], str]:
    """Return the files of a folder or a list, and what messages call them; raise if one does not exist."""
    if isinstance(given, (str, PathLike)):
        path, what = Path(given), shown(given)
        if not path.exists():
            raise SeeklabError([Problem("from", f"{what} does not exist; pass a folder with fio's JSON reports")])
        return (sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]), what
    files = sorted(Path(file) for file in given)
    for file in files:
        if not file.is_file():
            message = f"{shown(file)} is not a file; pass fio's JSON reports, such as NAME.json"
            raise SeeklabError([Problem("from", message)])
    return files, "the list of files"


class _UnusableError(Exception):
    """A report cannot be used; the message says why."""


def _series(file: Path) -> Iterator[float]:
    if file.stat().st_size > MAX_REPORT_BYTES:
        return
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
        cells = line.split(",")
        if len(cells) > 1 and BANDWIDTH.fullmatch(cells[1]):
            yield float(cells[1])


def _holds_report(file: Path) -> bool:
    """Return whether a file with any name contains a report, as JSON or as text."""
    content = file.read_bytes()
    return b'"fio version"' in content or b"(groupid=" in content


def _documents(text: str) -> list[Any]:
    """Return the JSON documents of a text, without the lines around them."""
    parts = [part for part in DOCUMENT.split(text) if part.startswith("{")] or [text[text.find("{") :]]
    whole = "".join(parts)
    last = whole.rfind("\n}")
    try:
        return [read_json(whole[: last + 2] if last >= 0 else whole)]
    except UnreadableError:
        if len(parts) == 1:
            raise
    return [read_json(part[: part.rfind("\n}") + 2]) for part in parts]


def _jobs(file: Path, results: Results) -> Iterator[tuple[Key, Run]]:
    if file.stat().st_size > MAX_REPORT_BYTES:
        reason = f"is {file.stat().st_size >> 20} MiB large; fio reports are far smaller"
        raise _UnusableError(reason)
    text = file.read_text(encoding="utf-8", errors="replace")
    if '"fio version"' not in text and "(groupid=" in text:
        yield from _jobs_of_text(file, text, results)
        return
    if "{" not in text:
        reason = "is not a fio JSON report (it contains no '{')" if text.strip() else "is empty"
        raise _UnusableError(reason)
    try:
        documents = _documents(text)
    except UnreadableError as error:
        reason = str(error)
        raise _UnusableError(reason) from None
    for document in documents:
        yield from _jobs_of(file, document, results)


def _jobs_of(file: Path, document: Any, results: Results) -> Iterator[tuple[Key, Run]]:
    version = document.get("fio version") if isinstance(document, dict) else None
    if not isinstance(version, str) or not isinstance(document.get("jobs"), list):
        reason = 'is not a fio JSON report: it has no "fio version" and "jobs"'
        raise _UnusableError(reason)
    _check_version(version)
    results.versions.add(version)
    shared = document.get("global options", {})
    ticks = document.get("disk_util") or [{}]
    if len(document["jobs"]) > MAX_JOBS:
        reason = f"has {len(document['jobs']):,} jobs; the limit for a calibration report is {MAX_JOBS:,}"
        raise _UnusableError(reason)
    names = Counter(str(job.get("jobname")) for job in document["jobs"] if isinstance(job, dict))
    groups = Counter(str(job["groupid"]) for job in document["jobs"] if isinstance(job, dict) and "groupid" in job)
    for job in document["jobs"]:
        with _left_out(f"{shown(file)} [{_name(job)}]", results):
            given = job.get("job options", {})
            options = {**shared, **given}
            _check_alone(options, names[str(job.get("jobname"))], groups[str(job.get("groupid"))])
            if options:
                _check_direct(options)
            yield _run(options, _in_ns(job), ticks[0] if len(ticks) == 1 else {})


def _name(job: Any) -> str:
    return str(job.get("jobname", "?"))[:60] if isinstance(job, dict) else "?"


@contextmanager
def _left_out(what: str, results: Results) -> Iterator[None]:
    """List a job that cannot be used, with the reason."""
    try:
        yield
    except _UnusableError as reason:
        results.left_out.append(f"{what}: {reason}")
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as reason:
        said = f"has no field {str(reason)[:100]}, or that field has a value of another kind"
        results.left_out.append(f"{what}: {said}")


def _jobs_of_text(file: Path, text: str, results: Results) -> Iterator[tuple[Key, Run]]:
    """Yield the jobs of fio's normal output."""
    lines = cleaned(text)
    for block in cut(lines, shown(file), [fio_text]).blocks:
        if block.version:
            _check_version(f"fio-{block.version}")
            results.versions.add(f"fio-{block.version}")
        heads = IN_TEXT.findall("\n".join(lines[block.first - 1 : block.last]))
        names = Counter(name for name, _, _ in heads)
        groups = Counter(group for _, group, _ in heads)
        of_name = {name: (groups[group], int(error)) for name, group, error in heads}
        rows: dict[str, list[JobRow]] = {}
        for record in block.records:
            if isinstance(record, JobRow) and record.direction in ("read", "write"):
                rows.setdefault(record.job, []).append(record)
        for name, of_job in rows.items():
            with _left_out(f"{shown(file)} [{name[:60]}]", results):
                together, error = of_name[name]
                options = of_job[0].options
                if "filename" in options or "directory" in options or "direct" in options:
                    _check_direct(options)
                elif NO_COMMAND not in results.notes:
                    results.notes.append(NO_COMMAND)
                _check_alone(options, names[name], together)
                yield _run(options, {"error": error, **_as_json(of_job)}, {})


def _as_json(rows: Sequence[JobRow]) -> dict[str, Any]:
    """Return the directions of a job as fio's JSON has them."""
    found: dict[str, Any] = {way: {"total_ios": 0} for way in ("read", "write")}
    longest = max(row.runtime_s or 0.0 for row in rows)
    for row in rows:
        ios = row.count or round((row.per_s or 0.0) * longest)
        found[row.direction] = {
            "total_ios": ios,
            "iops": ios / longest if longest else row.per_s,
            "io_bytes": (row.bytes_per_s or 0.0) * longest,
            "lat_ns": _times(row.total if row.total.mean_ms is not None else row.completion),
            "clat_ns": _times(row.completion),
        }
    workers = int(rows[0].options.get("numjobs", "1"))
    cpu = rows[0].cpu
    return {
        **found,
        "job_runtime": longest * MS_PER_S * workers,
        "usr_cpu": cpu.get("usr", 0.0),
        "sys_cpu": cpu.get("sys", 0.0),
    }


def _times(latency: Latency) -> dict[str, Any]:
    values = {"mean": latency.mean_ms, "min": latency.min_ms, "max": latency.max_ms}
    percentiles = {str(percent): ms * NS_PER_MS for percent, ms in latency.percentiles_ms.items()}
    return {
        **{name: ms * NS_PER_MS for name, ms in values.items() if ms is not None},
        **({"percentile": percentiles} if percentiles else {}),
    }


def _check_alone(options: Mapping[str, str], rows: int, together: int) -> None:
    """Reject rows of single workers, and jobs that ran at the same time: none shows what it would get alone."""
    if rows > 1 and options.get("numjobs", "1") != "1":
        reason = f"has numjobs={options['numjobs']} and a row for each worker; record with group_reporting"
        raise _UnusableError(reason)
    if together > 1 and "wait_for" not in options and "startdelay" not in options:
        reason = (
            f"ran together with {together - 1} other jobs of the report; record one job at a time, or with stonewall"
        )
        raise _UnusableError(reason)


def _check_direct(options: Mapping[str, str]) -> None:
    """Reject a job of the page cache, which is fio's default."""
    engine = options.get("ioengine", "psync").partition(":")[0]
    is_direct = options.get("direct", "0") != "0" or options.get("buffered", "1") == "0"
    if not is_direct and engine not in PAST_THE_PAGE_CACHE:
        given = options.get("direct", "0, fio's default" if "buffered" not in options else "0")
        reason = (
            f"went through the page cache (direct={given}), so it does not measure the device; record with direct=1"
        )
        raise _UnusableError(reason)


def _check_version(version: str) -> None:
    if version.startswith("seeklab-"):
        return
    numbers = re.match(r"fio-(\d{1,4})\.(\d{1,4})(?!\d)", version)
    if numbers is None:
        reason = f'has the version "{version[:60]}", which is not a version of fio'
        raise _UnusableError(reason)
    if (int(numbers[1]), int(numbers[2])) < MIN_FIO:
        reason = f"was written by {version[:60]}; fio-{MIN_FIO[0]}.{MIN_FIO[1]} or later is needed"
        raise _UnusableError(reason)


def _in_ns(job: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a job as fio 3 reports it; fio 2 has times in us and bytes in KiB."""
    changed = dict(job)
    for way in ("read", "write"):
        of = job.get(way)
        if isinstance(of, dict) and "lat" in of and "lat_ns" not in of:
            times = {f"{name}_ns": _thousandfold(of[name]) for name in ("lat", "clat") if name in of}
            changed[way] = {**of, **times, "io_bytes": of["io_bytes"] * 1024}
    ways = [job[way] for way in ("read", "write") if isinstance(job.get(way), dict)]
    longest = max((of.get("runtime", 0) for of in ways), default=0)
    changed.setdefault("job_runtime", longest * int(job.get("job options", {}).get("numjobs", "1")))
    return changed


def _thousandfold(times: Mapping[str, Any]) -> dict[str, Any]:
    found = {name: times[name] * 1000 for name in ("min", "max", "mean") if name in times}
    if "percentile" in times:
        found["percentile"] = {percent: us * 1000 for percent, us in times["percentile"].items()}
    return found


def _run(options: Mapping[str, str], job: Mapping[str, Any], disk: Mapping[str, Any]) -> tuple[Key, Run]:
    if job["error"]:
        reason = f"ended with error {job['error']}"
        raise _UnusableError(reason)
    asked_s = _seconds(options["runtime"]) if "runtime" in options else 0.0
    ran_s = job["job_runtime"] / MS_PER_S / int(options.get("numjobs", "1"))
    if asked_s and "time_based" in options and ran_s < MIN_RUNTIME * asked_s:
        reason = f"ran {ran_s:g} s instead of {asked_s:g} s: it was interrupted"
        raise _UnusableError(reason)
    key = _key(options, asked_s)
    read, write = job["read"], job["write"]
    main = write if key.rw in ("write", "randwrite") else read
    if not main["total_ios"]:
        reason = "completed no requests"
        raise _UnusableError(reason)
    of_all = [direction for direction in (read, write) if direction["total_ios"]]
    iops = sum(direction["iops"] for direction in of_all)
    total = sum(direction["total_ios"] for direction in of_all)
    mean_ns = sum(direction["lat_ns"]["mean"] * direction["total_ios"] for direction in of_all) / total
    bins = _bins(main["lat_ns"], main["clat_ns"], main["total_ios"])
    _check_numbers(main, iops, bins)
    # A run of a few hundred milliseconds is mostly ramp.
    if not key.pause_us and not key.rate_iops and not key.limit_ms:
        found = iops * mean_ns / 1e9
        if abs(found / key.depth - 1) > MAX_OFF_LITTLE:
            reason = (
                f"has {found:.3g} requests in flight by Little's law, but its depth is {key.depth}: "
                "it contains pauses, rate limits or lost time"
            )
            raise _UnusableError(reason)
    ios = disk.get("read_ios", 0)
    return key, Run(
        mean=main["lat_ns"]["mean"] / 1e3,
        iops=iops,
        bins=bins,
        least=main["lat_ns"]["min"] / 1e3,
        longest=main["lat_ns"]["max"] / 1e3,
        io_bytes=sum(direction["io_bytes"] for direction in of_all),
        runtime_s=ran_s,
        ticks_us=1e3 * disk["read_ticks"] / ios if ios and key.rw in ("read", "randread") else None,
        cpu_percent=job.get("usr_cpu", 0.0) + job.get("sys_cpu", 0.0),
        workers=int(options.get("numjobs", "1")),
    )


def _check_numbers(main: Mapping[str, Any], iops: float, bins: Sequence[tuple[float, int]]) -> None:
    """Reject impossible numbers, such as latencies of zero or infinity."""
    latency = main["lat_ns"]
    numbers = {"iops": iops, **{f"lat_ns.{name}": latency[name] for name in ("mean", "min", "max")}}
    for name, value in numbers.items():
        if not 0 < value < MOST:
            reason = f"has {name} of {value}, which is impossible"
            raise _UnusableError(reason)
    if any(not (0 < us < MOST and 0 <= count < MOST) for us, count in bins) or not any(count for _, count in bins):
        reason = "has a latency histogram with impossible times or counts"
        raise _UnusableError(reason)


def _bins(whole: Mapping[str, Any], completion: Mapping[str, Any], ios: int) -> tuple[tuple[float, int], ...]:
    """Return the latency histogram, or one made from the percentiles if only those were recorded."""
    for latency in (whole, completion):
        for name in ("bins", "percentile"):
            if len(latency.get(name) or ()) > MAX_BINS:
                reason = f"has {len(latency[name]):,} entries in {name}; the limit is {MAX_BINS:,}"
                raise _UnusableError(reason)
    for latency in (whole, completion):
        if latency.get("bins"):
            return tuple(sorted((int(ns) / 1e3, count) for ns, count in latency["bins"].items()))
    for latency in (whole, completion):
        if latency.get("percentile"):
            return _of_percentiles(latency["percentile"], latency.get("N", ios))
    reason = "has neither bins nor percentiles; record with --output-format=json+ and lat_percentiles=1"
    raise _UnusableError(reason)


def _of_percentiles(percentiles: Mapping[str, int], count: int) -> tuple[tuple[float, int], ...]:
    bins, reached = [], 0
    for percent, ns in sorted((float(percent), ns) for percent, ns in percentiles.items() if float(percent) > 0):
        up_to = round(percent / 100 * count)
        bins.append((ns / 1e3, max(0, up_to - reached)))
        reached = max(reached, up_to)
    return tuple(bins)


def _key(options: Mapping[str, str], asked_s: float) -> Key:
    for name, harmless in HARMLESS.items():
        if name in options and options[name] not in harmless:
            reason = f"has {name}={options[name]}, which calibration jobs do not use"
            raise _UnusableError(reason)
    if options.get("direct") == "0" or options.get("buffered") == "1":
        _check_direct(options)
    rw = options.get("rw", options.get("readwrite", "read"))
    if rw not in ("read", "write", "randread", "randwrite", "randrw", "rw"):
        reason = f"has rw={rw}, which calibration jobs do not use"
        raise _UnusableError(reason)
    # Workers that are reported together keep as many requests in flight as their depths add up to.
    depth = int(options.get("iodepth", "1")) * int(options.get("numjobs", "1"))
    block = _bytes(options.get("bs", options.get("blocksize", "4k")))
    if not block or not 0 < depth <= MAX_DEPTH:
        reason = f"has bs={block} and iodepth={depth}; both must be at least 1, and the depth at most {MAX_DEPTH}"
        raise _UnusableError(reason)
    offset, size = options.get("offset", "0"), options.get("size", "0")
    mix = int(options.get("rwmixread", "50")) if rw in ("randrw", "rw") else 100
    return Key(
        rw,
        block,
        depth,
        mix,
        int(_seconds(options["thinktime"], bare=1e-6) * 1e6) if "thinktime" in options else 0,
        int(options.get("rate_iops", "0").split(",")[0]),
        float(offset.rstrip("%")) / 100 if offset.endswith("%") else float(_bytes(offset)),
        0.0 if size.endswith("%") else float(_bytes(size)),
        round(asked_s * 1000) if rw == "randwrite" and 0 < asked_s < 1 and "startdelay" in options else 0,
    )


def _bytes(text: str) -> int:
    found = SIZE.fullmatch(text)
    if not found:
        reason = f'has the size "{text}"; write a number with k, m or g'
        raise _UnusableError(reason)
    return int(found[1]) * PREFIXES[found[2].lower()]


def _seconds(text: str, bare: float = 1.0) -> float:
    found = TIME.fullmatch(text)
    if not found:
        reason = f'has the time "{text}"; write a number with us, ms, s, m or h'
        raise _UnusableError(reason)
    return int(found[1]) * (TIME_UNITS_S[found[2]] if found[2] else bare)


def repeats(jobs: Sequence[Measured]) -> float:
    """Return the median coefficient of variation of the jobs that have repeats, in percent."""
    variations = [job.variation() for job in jobs if len(job.runs) > 1]
    return median(variations) if variations else 0.0
