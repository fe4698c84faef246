"""The fit: which device family matches best, its error on held-out jobs, and the resulting preset."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from itertools import pairwise
from math import exp, log
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal

from seeklab._errors import Problem, SeeklabError
from seeklab.calibration import closed_forms, depths, disk, lun, ssd
from seeklab.calibration.parameter import number
from seeklab.calibration.plan import held_out, middle_depths
from seeklab.calibration.simulated import ask
from seeklab.engine.requests import shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from seeklab.calibration.fio_results import Measured, Results
    from seeklab.calibration.parameter import Parameter

Family = Literal["lun", "ssd", "hdd"]
Grade = Literal["good", "usable", "does not fit"]

GOOD, USABLE = (10.0, 25.0), (25.0, 60.0)
"""Maximum error in percent, averaged over the held-out jobs: of the mean latency, and of the 99th percentile."""
SIMPLER_IF_WITHIN = 1.3
"""A logical unit has fewer parameters. It is preferred if its error is at most this multiple of the drive's."""
NOISY_CV = 10.0
UNSTEADY_CV = 50.0
"""Variation of a job's repeats, in percent, above which they do not measure the same thing."""
HOST_BOUND = 1.5
CAPACITY = re.compile(r"([0-9]{1,18}(?:\.[0-9]{0,18})?|\.[0-9]{1,18})\s*([kmgt]?)(i?b|)", re.IGNORECASE)
MIN_CAPACITY = 1 << 20
DISK_MEDIAN_US = 1500.0
DISK_WIDTH_US = (3000.0, 16000.0)
GAP, GAP_SHARE, GAP_OF_DISK = 3.0, 0.02, 0.1
FITTING = 0.75
"""Share of fitting in the total work; the rest is judging."""
HELD_OUT_IOS = 20_000
HELD_OUT_IOS_OF_DISK = 3_000
FAR_OFF, MAX_NAMED = 50.0, 5
TOO_FEW_JOBS = (
    "too few jobs for any family: at least random reads of 4 KiB at depth 1 and at three more depths are needed"
)


@dataclass(frozen=True)
class Check:
    """A job, measured and simulated."""

    job: Measured
    simulated: Measured
    held_out: bool

    @property
    def mean_error(self) -> float:
        """Error of the mean latency in percent: the larger relative to the smaller; positive if the model is slower."""
        return _off(self.simulated.mean, self.job.mean)

    @property
    def p99_error(self) -> float:
        """Error of the 99th percentile, in percent."""
        return _off(self.simulated.q(99), self.job.q(99))

    def document(self) -> dict[str, Any]:
        """Return the check as plain data."""
        return {
            "job": str(self.job.key),
            "held_out": self.held_out,
            "mean_us": self.job.mean,
            "simulated_mean_us": self.simulated.mean,
            "p99_us": self.job.q(99),
            "simulated_p99_us": self.simulated.q(99),
            "iops": self.job.iops,
            "simulated_iops": self.simulated.iops,
        }


def _off(simulated: float, measured: float) -> float:
    return 100 * (simulated / measured - 1)


@dataclass(frozen=True)
class Verdict:
    """The error of a model on held-out jobs."""

    grade: Grade
    mean: float
    """Average error of the mean latency, in percent."""
    worst: float
    p99: float
    """Average error of the 99th percentile, in percent."""
    jobs: int

    def __str__(self) -> str:
        """Return the verdict as a sentence."""
        return (
            f"{self.grade}: on {self.jobs} jobs that were not used for the fit, mean latency is "
            f"{self.mean:.1f}% off ({self.worst:.1f}% at worst) and the 99th percentile "
            f"{self.p99:.1f}%"
        )


@dataclass
class Calibration:
    """The result of a calibration."""

    family: Family
    device: dict[str, Any]
    parameters: list[Parameter]
    verdict: Verdict
    checks: list[Check]
    others: dict[str, Verdict] = field(default_factory=dict)
    """The families that fit less well."""
    warnings: list[str] = field(default_factory=list)
    results: Results | None = None

    def fits(self) -> bool:
        """Whether the model is good enough for a preset."""
        return self.verdict.grade != "does not fit"

    def source(self) -> str:
        """Return the evidence as text."""
        title = f"Measured with {', '.join(sorted(self.results.versions))}; " if self.results else ""
        return f"{title}{self.verdict}. {' '.join(f'{parameter}.' for parameter in self.parameters)}"

    def document(self) -> dict[str, Any]:
        """Return the calibration as plain data."""
        return {
            "family": self.family,
            "grade": self.verdict.grade,
            "held_out": {
                "jobs": self.verdict.jobs,
                "mean_percent": self.verdict.mean,
                "worst_percent": self.verdict.worst,
                "p99_percent": self.verdict.p99,
            },
            "device": self.device,
            "parameters": [vars(item) for item in self.parameters],
            "jobs": [check.document() for check in self.checks],
            "warnings": self.warnings,
            "left_out": self.results.left_out if self.results else [],
        }

    def preset_toml(self, name: str, title: str | None = None) -> str:
        """Return the preset as TOML, the format that `seeklab fio --on FILE` and cases read."""
        rough = " (rough)" if any(warning.startswith("noisy") for warning in self.warnings) else ""
        kind = {"lun": "Logical unit", "ssd": "SSD", "hdd": "Disk"}[self.family]
        lines = [
            f"name = {json.dumps(name)}",
            f"title = {json.dumps(title or f'{kind} measured on this machine{rough}')}",
            f"source = {json.dumps(self.source(), ensure_ascii=False)}",
        ]
        lines += _toml("device", self.device)
        return "\n".join(lines) + "\n"


def _capacity_bytes(text: str) -> float:
    """Parse a capacity such as 1920GB or 1g, in the syntax of scenarios."""
    found = CAPACITY.fullmatch(text.strip())
    if not found:
        message = f'"{shortened(text)}" is not a capacity; write 960GB, 1.92TB or 512GiB'
        raise SeeklabError([Problem("capacity", message)])
    letter, rest = found[2].lower(), found[3].lower()
    power = "kmgt".index(letter) + 1 if letter else 0
    base = 1000.0 if rest == "b" else 1024.0
    size = float(found[1]) * float(base**power)
    if size < MIN_CAPACITY:
        message = f'"{text}" is less than 1 MiB; write the capacity of the whole device, such as 960GB'
        raise SeeklabError([Problem("capacity", message)])
    return size


def _toml(path: str, table: Mapping[str, Any]) -> list[str]:
    plain = {name: value for name, value in table.items() if not isinstance(value, dict)}
    lines = ["", f"[{path}]", *(f"{name} = {json.dumps(value)}" for name, value in plain.items())] if plain else []
    for name, value in table.items():
        if isinstance(value, dict):
            lines += _toml(f"{path}.{name}", value)
    return lines


def calibrate(
    results: Results,
    *,
    capacity: str | None = None,
    family: Family | None = None,
    accept_noise: bool = False,
    progress: Callable[[float], object] | None = None,
) -> Calibration:
    """Fit a recording. Raise SeeklabError if it cannot be used; a model that fits badly gets a verdict instead.

    `capacity` is the device's; by default it is the largest span that was read, or 1 TB. `family` selects a device
    family instead of the best one.
    """
    disk_like = family == "hdd" if family else is_disk(results)
    _leave_out_unsteady(results)
    whole = dict(results.jobs)
    kept = held_out(whole, disk_like=disk_like) or middle_depths(whole)
    told = progress or _silent
    fitted = {key: job for key, job in whole.items() if key not in kept}
    of_depths = depths.series(results) if depths.only(whole) else None
    choices: dict[str, depths.Choice] = {}
    warnings = [*results.notes, *_look(results, accept_noise=accept_noise)]
    span = max((key.span + (key.offset if key.offset >= 1 else 0) for key in whole), default=0.0)
    size = _capacity_bytes(capacity) if capacity else max(span, 1e12)
    text = capacity or str(round(size))
    results.jobs = fitted
    try:
        # Several disks behind one interface look like a disk when they are alone, and like units when they are not.
        likely = (("hdd", "ssd") if of_depths else ("hdd",)) if disk_like else ("lun", "ssd")
        wanted: tuple[str, ...] = (family,) if family else likely
        fitting = depths.series(results) if of_depths else None
        if fitting:
            fits = {name: depths.FITS[name](fitting, text, told) for name in wanted if name in depths.FITS}
            choices = {name: fit.choices for name, fit in fits.items()}
            candidates = {name: fit[:2] for name, fit in fits.items()}
        else:
            candidates = _fit(results, text, size, wanted, lambda share: told(FITTING * share))
    finally:
        results.jobs = whole
    if not candidates:
        found = ", ".join(str(key) for key in sorted(whole)[:12])
        message = f"{TOO_FEW_JOBS}; the recording has {found} (a depth is iodepth times numjobs)"
        raise SeeklabError([Problem("from", message)])
    judged = {}
    each = (1 - FITTING) / len(candidates)
    for nth, (name, (device, parameters)) in enumerate(candidates.items()):
        checks = []
        for check in _checks(whole, kept, device, disk_like=name == "hdd"):
            checks.append(check)
            told(FITTING + each * (nth + len(checks) / len(whole)))
        judged[name] = (device, parameters, checks, _verdict(checks))
    best = _best(judged)
    device, parameters, checks, verdict = judged[best]
    if of_depths and best in choices:
        # With few depths, those that judged the model are needed for it too.
        device, parameters, _ = depths.FITS[best](of_depths, text, near=choices[best])
        warnings.append("the verdict is of a fit without the held-out depths; the preset is fitted to all of them")
        warnings += _bad_writes(device, whole, disk_like=best == "hdd")
    warnings += _far_off(checks)
    told(1.0)
    others = {name: found[3] for name, found in judged.items() if name != best}
    unknown = [item.name for item in parameters if item.how == "assumed"]
    if unknown:
        names = ", ".join(unknown)
        warnings.append(f"not identified by this recording: {names}; what-ifs that depend on it are guesses")
    return Calibration(best, device, parameters, verdict, checks, others, warnings, results)


def _far_off(checks: Sequence[Check]) -> list[str]:
    """Return a warning that names the jobs whose means the model misses, whatever the verdict on the others."""
    off = sorted(checks, key=lambda check: -_size(check.simulated.mean, check.job.mean))
    far = [check for check in off if _size(check.simulated.mean, check.job.mean) > FAR_OFF]
    if not far:
        return []
    named = ", ".join(f"{check.job.key} ({check.mean_error:+.0f}%)" for check in far[:MAX_NAMED])
    more = f" and {len(far) - MAX_NAMED} more" if len(far) > MAX_NAMED else ""
    return [f"the model is far off in the mean of {named}{more}; runs with such requests are guesses"]


def _bad_writes(device: dict[str, Any], jobs: Mapping[Any, Measured], *, disk_like: bool) -> list[str]:
    """Return a warning if writes at several depths are far off, because what-ifs that write are guesses then."""
    writes = {key: job for key, job in jobs.items() if key.rw == "randwrite" and not key.pause_us}
    checks = list(_checks(writes, set(writes), device, disk_like=disk_like))
    if not checks:
        return []
    off = fmean(_size(check.simulated.mean, check.job.mean) for check in checks)
    return [f"writes are {off:.0f}% off on average; what-ifs that write are guesses"] if off > USABLE[0] else []


def _fit(
    results: Results,
    capacity: str,
    size: float,
    wanted: tuple[str, ...],
    progress: Callable[[float], object] | None,
) -> dict[str, tuple[dict[str, Any], list[Parameter]]]:
    found: dict[str, tuple[dict[str, Any], list[Parameter]] | None] = {}
    if "lun" in wanted:
        found["lun"] = lun.fit(results, capacity)
    if "ssd" in wanted:
        found["ssd"] = ssd.fit(results, capacity, progress)
    if "hdd" in wanted:
        found["hdd"] = disk.fit(results, capacity, size, progress)
    return {name: of_family for name, of_family in found.items() if of_family is not None}


def is_disk(results: Results) -> bool:
    """Return whether random reads look like a disk's. The kernel's rotational flag is wrong for virtual disks."""
    alone = [
        job
        for key, job in results.jobs.items()
        if key.rw == "randread" and key.size == 4 * ssd.KIB and key.depth == 1 and not 0 < key.span <= disk.HITS_SPAN
    ]
    if not alone:
        return False
    job = max(alone, key=lambda job: job.key.span)
    return job.q(50) > DISK_MEDIAN_US and DISK_WIDTH_US[0] < (job.q(90) - job.q(10)) / 0.8 < 4 * DISK_WIDTH_US[1]


def _leave_out_unsteady(results: Results) -> None:
    """Remove jobs whose repeats disagree, because something else happened in one of them."""
    for key, job in list(results.jobs.items()):
        if job.variation() > UNSTEADY_CV:
            means = ", ".join(number(run.mean) for run in job.runs)
            results.left_out.append(f"{key}: the mean latencies of its repeats differ too much: {means} us")
            del results.jobs[key]


def _look(results: Results, *, accept_noise: bool) -> list[str]:
    """Check the recording for noise, a host limit, intermediate caches and token buckets; return the warnings."""
    warnings = []
    four = results.get("randread", 4 * ssd.KIB, 1)
    if four is not None:
        variation = four.variation()
        if variation > NOISY_CV:
            means = ", ".join(f"{run.mean:.1f}" for run in four.runs)
            message = (
                f"too noisy: mean latencies of randread 4k QD1 were {means} us and vary by "
                f"{variation:.1f}%; the limit is {NOISY_CV:g}%. Run nothing else meanwhile"
            )
            if not accept_noise:
                raise SeeklabError([Problem("from", f"{message}, or accept it with --accept-noise")])
            warnings.append(f"noisy: {message.removeprefix('too noisy: ')}; the preset is rough")
        ticks = [run.ticks_us for run in four.runs if run.ticks_us]
        if ticks and four.mean / fmean(ticks) > HOST_BOUND:
            message = (
                f"the host is the limit: a read took {four.mean:.1f} us and spent {fmean(ticks):.1f} "
                "us in the block layer; the rest of the time it waited for a processor"
            )
            if not accept_noise:
                raise SeeklabError(
                    [Problem("from", f"{message}. Run nothing else meanwhile, or accept it with --accept-noise")]
                )
            warnings.append(f"noisy: {message}; the preset is rough")
        warnings += _cached(four)
    for name, series in results.series.items():
        found = closed_forms.bucket(series)
        if found:
            warnings.append(
                f"{name}: the rate fell from {found.burst:.0f} to {found.refill:.0f} per second after a bucket of "
                f"{found.tokens:.0f} tokens; the model has no such bucket"
            )
    return warnings


def _cached(four: Measured) -> list[str]:
    """Return a warning if the latencies have two modes, as with a cache in between."""
    bins = four.runs[0].bins
    total = sum(count for _, count in bins)
    below = 0
    least = GAP_OF_DISK if four.q(50) > DISK_MEDIAN_US else GAP_SHARE
    for (value, count), (following, _) in pairwise(bins):
        below += count
        share = below / total
        if following > GAP * value and least <= share <= 1 - least:
            crowds = f"{100 * share:.0f}% of single reads took at most {value:.0f} us"
            return [f"a cache answers some reads: {crowds}, the others at least {following:.0f} us"]
    return []


def _silent(_: float) -> None:
    """Ignore the progress."""


def _checks(
    jobs: Mapping[Any, Measured], chosen: set[Any], device: dict[str, Any], *, disk_like: bool
) -> Iterator[Check]:
    most = HELD_OUT_IOS_OF_DISK if disk_like else HELD_OUT_IOS
    for key, job in jobs.items():
        if key.limit_ms or key.size > key.span > 0:
            continue
        judged = key in chosen
        yield Check(job, ask(device, key, most_ios=most if judged else most // 4), judged)


def _verdict(checks: list[Check]) -> Verdict:
    chosen = [check for check in checks if check.held_out]
    if not chosen:
        message = (
            "no job is left to judge the model: record one that the fit does not use, such as randread 4k at depth 24"
        )
        raise SeeklabError([Problem("from", message)])
    means = [_size(check.simulated.mean, check.job.mean) for check in chosen]
    tails = [_size(check.simulated.q(99), check.job.q(99)) for check in chosen]
    mean, tail = fmean(means), fmean(tails)
    grade: Grade = "does not fit"
    if mean <= GOOD[0] and tail <= GOOD[1]:
        grade = "good"
    elif mean <= USABLE[0] and tail <= USABLE[1]:
        grade = "usable"
    return Verdict(grade, mean, max(means), tail, len(chosen))


def _size(simulated: float, measured: float) -> float:
    """Return the error in percent, the same for twice and for half the value."""
    return 100 * (exp(abs(log(simulated / measured))) - 1)


def _best(judged: Mapping[str, tuple[Any, Any, Any, Verdict]]) -> Any:
    best = min(judged, key=lambda name: judged[name][3].mean)
    if "lun" in judged and judged["lun"][3].mean <= SIMPLER_IF_WITHIN * judged[best][3].mean:
        return "lun"
    return best
