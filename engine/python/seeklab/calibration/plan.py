"""The jobs of a calibration: those that are fitted, and those that are held out to judge the fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from seeklab.calibration.fio_results import Key

if TYPE_CHECKING:
    from collections.abc import Iterable

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
HELD_OUT = (
    ("randread", 4 * KIB, 24, 100),
    ("randread", 16 * KIB, 16, 100),
    ("randread", 64 * KIB, 4, 100),
    ("randread", 512 * KIB, 12, 100),
    ("randrw", 4 * KIB, 32, 70),
    ("randrw", 8 * KIB, 8, 50),
)
"""Jobs that judge drives and logical units, and are never fitted."""
HELD_OUT_DISK = (
    ("randread", 64 * KIB, 1, 100),
    ("randread", 4 * KIB, 8, 100),
    ("randread", 8 * KIB, 1, 100),
    ("randrw", 4 * KIB, 4, 70),
    ("read", 128 * KIB, 1, 100),
)
"""Jobs that judge disks."""
PLACES = (0.0, 0.25, 0.5, 0.75, 0.985)
SPANS = (1 / 256, 1 / 64, 1 / 16, 1 / 4, 1.0)
HITS_SPAN = 64 * KIB
"""Span of reads that a disk's buffer answers."""
PAUSE_US = 20_000
REST = "5s"
"""Pause before a burst of writes, so that the buffer is empty."""
RATE_OF_MIXES = 300
"""Requests per second of mixes on a file, to limit the written data."""


@dataclass(frozen=True)
class Job:
    """A job of the plan."""

    key: Key
    seconds: float
    rests: bool = False
    """Whether it starts after a rest."""

    @property
    def name(self) -> str:
        """The name of its files."""
        key = self.key
        more = (
            f"-{key.mix}"
            if key.rw == "randrw"
            else "-paused"
            if key.pause_us
            else f"-{key.limit_ms}ms"
            if key.limit_ms
            else ""
        )
        place = f"-at{key.offset:g}" if key.offset else f"-of{round(key.span / MIB)}m" if key.span else ""
        return f"{key.rw}-{key.size // KIB}k-q{key.depth}{more}{place}"

    def text(self, filename: str, engine: str, seed: int, bytes_of_file: int) -> str:
        """Return the fio job file."""
        key = self.key
        options = {
            "filename": filename.replace(":", "\\:"),
            "ioengine": engine,
            "direct": 1,
            "rw": key.rw,
            "bs": key.size,
            "iodepth": key.depth,
            "size": round(key.span) if key.span else bytes_of_file,
            "runtime": f"{round(self.seconds * 1000)}ms",
            "randrepeat": 0,
            "randseed": seed,
            "lat_percentiles": 1,
            "allow_file_create": 0,
        }
        if key.offset:
            options["offset"] = f"{round(100 * key.offset)}%" if key.offset < 1 else round(key.offset)
        if key.rw == "randrw":
            options["rwmixread"] = key.mix
        if key.pause_us:
            options["thinktime"] = key.pause_us
        if key.rate_iops:
            options["rate_iops"] = f"{key.rate_iops * key.mix // 100},{key.rate_iops * (100 - key.mix) // 100}"
        if key.rw in ("write", "randwrite", "randrw"):
            options["refill_buffers"] = 1
        if self.rests:
            options["startdelay"] = REST
        flags = ["time_based", "norandommap"]
        lines = ["[job]", *(f"{name}={value}" for name, value in options.items()), *flags]
        return "\n".join(lines) + "\n"


def _reads(size: int, depths: Iterable[int], span: int, seconds: float = 2.5) -> list[Job]:
    return [Job(Key("randread", size, depth, span=span), seconds) for depth in depths]


def drive_jobs(span: int, *, writes: bool = True) -> list[Job]:
    """Return the jobs for fitting drives and logical units."""
    jobs = [job for size in (4, 16, 64, 256) for job in _reads(size * KIB, (1,), span)]
    jobs += _reads(4 * KIB, (2, 8, 32, 64, 128, 256), span)
    jobs += [*_reads(16 * KIB, (4, 32, 256), span), *_reads(128 * KIB, (32,), span), *_reads(MIB, (1, 4, 16), span)]
    if writes:
        jobs.append(Job(Key("randwrite", 4 * KIB, 1, pause_us=PAUSE_US, span=span), 5.0))
        jobs.append(Job(Key("randrw", 4 * KIB, 1, 90, span=span), 10.0))
        jobs.append(Job(Key("randrw", 4 * KIB, 16, 50, span=span), 5.0))
        jobs += [
            Job(Key("randwrite", 64 * KIB, 32, span=span, limit_ms=ms), ms / 1000, rests=True) for ms in (200, 500)
        ]
    return jobs


def judging_jobs(span: int, *, writes: bool = True) -> list[Job]:
    """Return the jobs that judge drives and logical units."""
    return [
        Job(Key(rw, size, depth, mix, span=span), 5.0)
        for rw, size, depth, mix in HELD_OUT
        if writes or rw == "randread"
    ]


def disk_jobs(span: int, *, writes: bool = True) -> list[Job]:
    """Return the jobs for fitting disks."""
    jobs = [Job(Key("randread", size * KIB, 1, span=64 * KIB), 2.0) for size in (4, 64)]
    jobs += [Job(Key("randread", 4 * KIB, 1, span=round(span * share) // MIB * MIB or MIB), 40.0) for share in SPANS]
    jobs += [
        Job(Key("read", size * MIB, 1, offset=place, span=min(span // 100, 4 * GIB)), 3.0)
        for place in PLACES
        for size in (1, 8)
    ]
    jobs += [Job(Key("randread", 4 * KIB, 32, span=span), 20.0), Job(Key("read", 4 * KIB, 1, span=span), 2.0)]
    if writes:
        jobs.append(Job(Key("randwrite", 4 * KIB, 1, pause_us=100_000, span=span), 5.0))
    return jobs


def judging_disk_jobs(span: int, *, writes: bool = True) -> list[Job]:
    """Return the jobs that judge disks."""
    jobs = []
    for rw, size, depth, mix in HELD_OUT_DISK:
        if writes or rw != "randrw":
            place = 0.25 if size == 8 * KIB else 0.6 if rw == "read" else 0.0
            length = span // 2 if size == 8 * KIB else span // 100 if rw == "read" else span
            jobs.append(Job(Key(rw, size, depth, mix, offset=place, span=length), 30.0))
    return jobs


def middle_depths(jobs: Iterable[Key]) -> set[Key]:
    """Return jobs to judge a recording of 4 KiB reads only: every third depth between the first and the last."""
    reads = sorted(
        (key for key in jobs if (key.rw, key.size) == ("randread", 4 * KIB) and not key.offset and not key.pause_us),
        key=lambda key: key.depth,
    )
    return set(reads[2:-1:3] or reads[1:-1])


def held_out(jobs: Iterable[Key], *, disk_like: bool) -> set[Key]:
    """Return the held-out jobs: those for disks, or those for drives and logical units."""
    kept = HELD_OUT_DISK if disk_like else HELD_OUT
    return {
        key
        for key in jobs
        if (key.rw, key.size, key.depth, key.mix) in kept
        and not key.pause_us
        and not key.limit_ms
        and not 0 < key.span <= HITS_SPAN
    }
