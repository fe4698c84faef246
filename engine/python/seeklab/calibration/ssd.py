"""A solid-state drive: link, overhead and programs in closed form, dies by the engine's distribution of latencies.

Means, 90th and 99th percentiles of random reads at depths 8 to 128 show how many dies serve them, although the link may
limit the rate: two requests meet on a die more often when there are fewer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seeklab._errors import SeeklabError
from seeklab.calibration import closed
from seeklab.calibration.parameter import Parameter, number, rate, times
from seeklab.calibration.simulated import rms

if TYPE_CHECKING:
    from collections.abc import Callable

    from seeklab.calibration.measured import Measured, Results

KIB, MIB = closed.KIB, closed.MIB
DIES = (4, 6, 8, 12, 16, 20, 24, 32, 40, 48, 56, 64, 96, 128)
SPLITS = (0.03, 0.07, 0.115, 0.16, 0.22, 0.3)
"""Part of a read that its transfer over a channel takes."""
PAGES = (4 * KIB, 16 * KIB)
CHANNELS = (8, 6, 5, 4, 3, 2, 1)
ASSUMED_OVERHEAD_US = 20.0
ASSUMED_BUFFER = 32 * MIB
ASSUMED_PROGRAM_US = 700.0
ASSUMED_ERASE_US = 5000.0
ASSUMED_SPARE = 14.5
ASSUMED_PLANES = 8
LEAST_DEPTHS = 2
MOSTLY_READS = 90
PROGRAMS = (0.15, 0.2, 0.27, 0.36, 0.42, 0.5, 0.58, 0.67, 0.8, 1.0)
"""Times of a program that are tried, as parts of the longest that was seen."""
TAILS = (95.0, 98.0, 99.0, 99.5)
AS_GOOD = (2.0, 0.02)
"""A value is as good as the best when its error is at most twice the least, or 2 %."""
DELAYED = 1.2
"""A read that took so many times the usual has waited for a program."""
ONE_AT_A_TIME = 1.05


def fit(
    results: Results, capacity: str, progress: Callable[[float], object] | None = None
) -> tuple[dict[str, Any], list[Parameter]] | None:
    """Fit a drive; None without the reads that it needs."""
    four = results.get("randread", 4 * KIB, 1)
    if four is None:
        return None
    known: list[Parameter] = []
    serial = _serves_one(results, four)
    link_rate, command = _link(results, serial=serial, known=known)
    if link_rate is None:
        return None
    overhead = _overhead(results, link_rate, command, known)
    service = max(1.0, four.mean - overhead - 4 * KIB / link_rate - command)
    known.append(
        Parameter(
            "read and channel",
            f"{number(service)} us",
            "sum",
            "read of a page and its transfer over a channel, from reads of 4 KiB alone",
        )
    )
    drive = _Drive(link_rate, command, overhead, service, capacity, serial=serial)
    if not serial:
        drive.search(results, known, progress)
    else:
        known.append(
            Parameter("dies", "16", "assumed", "the drive serves one request at a time, so that they do not show")
        )
    _writes(results, four, drive, link_rate, known)
    return {"ssd": drive.device()}, known


def _serves_one(results: Results, four: Measured) -> bool:
    two = results.get("randread", 4 * KIB, 2)
    return two is not None and two.iops < ONE_AT_A_TIME * four.iops


def _link(results: Results, *, serial: bool, known: list[Parameter]) -> tuple[float | None, float]:
    jobs = [results.get("randread", size, depth) for size, depth in ((4 * KIB, 256), (16 * KIB, 256), (128 * KIB, 32))]
    deep = results.get("randread", 16 * KIB, 32)
    if jobs[1] is None and deep is not None:
        jobs[1] = deep
    if not serial and all(jobs):
        x4, x16, x128 = (job.iops for job in jobs if job)
        if x128 < x16 < x4:
            found = closed.link(x4, x16, x128)
            if found.is_bound:
                known += [
                    Parameter(
                        "effective link",
                        f"{number(found.rate)} MB/s",
                        "measured",
                        f"requests a second at 4 and 128 KiB; three sizes lie on a line ({found.ratio:.2f})",
                    ),
                    Parameter(
                        "command", f"{number(found.command)} us", "measured", "requests a second at 4 KiB and depth 256"
                    ),
                ]
                return found.rate, found.command
    small, large = results.get("randread", 16 * KIB, 1), results.get("randread", 64 * KIB, 1)
    if small is None or large is None or large.mean <= small.mean:
        return None, 0.0
    found_rate = closed.link_by_slope(small.mean, large.mean)
    command = max(0.0, 1e6 / jobs[0].iops - 4 * KIB / found_rate) if jobs[0] and not serial else 0.0
    known.append(
        Parameter(
            "effective link",
            f"{number(found_rate)} MB/s",
            "measured",
            "the slope of latency from 16 to 64 KiB, one at a time; the link does not limit the rate",
        )
    )
    known.append(
        Parameter(
            "command",
            f"at most {number(command)} us" if command else "0",
            "bound" if command else "assumed",
            "the link does not limit requests a second, so that it does not show",
        )
    )
    return found_rate, 0.0


def _overhead(results: Results, link_rate: float, command: float, known: list[Parameter]) -> float:
    paused = [
        job
        for key, job in results.jobs.items()
        if key.rw == "randwrite" and key.size == 4 * KIB and key.depth == 1 and key.pause_us
    ]
    if not paused:
        known.append(
            Parameter(
                "overhead",
                f"{ASSUMED_OVERHEAD_US:g} us",
                "assumed",
                "no single writes with pauses were recorded; typical of the host and a drive together",
            )
        )
        return ASSUMED_OVERHEAD_US
    overhead = max(1.0, paused[0].mean - 4 * KIB / link_rate - command)
    known.append(
        Parameter(
            "overhead",
            f"{number(overhead)} us",
            "measured",
            "writes of 4 KiB alone with pauses; the host's own path is in it",
        )
    )
    return overhead


class _Drive:
    """A candidate."""

    def __init__(  # noqa: PLR0913 -- what was measured
        self, link_rate: float, command: float, overhead: float, service: float, capacity: str, *, serial: bool
    ) -> None:
        self.link_rate, self.command, self.overhead, self.service = link_rate, command, overhead, service
        self.capacity, self.serial = capacity, serial
        self.dies, self.split, self.page = 16, SPLITS[2], 4 * KIB
        self.program_us, self.erase_us, self.buffer = ASSUMED_PROGRAM_US, ASSUMED_ERASE_US, ASSUMED_BUFFER
        self.planes, self.spare = ASSUMED_PLANES, ASSUMED_SPARE

    def device(self, **changed: Any) -> dict[str, Any]:  # noqa: ANN401 -- a field of this class
        """Write it as a scenario has it."""
        dies, split, page = (changed.get(name, getattr(self, name)) for name in ("dies", "split", "page"))
        channel_us = split * self.service
        return {
            "capacity": self.capacity,
            "units": dies,
            "page": page,
            "read": times(self.service - channel_us),
            "program": times(self.program_us),
            "overhead": times(self.overhead),
            "interface_rate": rate(self.link_rate),
            "queue_depth": 1 if self.serial else 1024,
            "write_buffer": self.buffer,
            "flash": {
                "channels": next(count for count in CHANNELS if dies % count == 0),
                "channel_rate": rate(page / channel_us),
                "planes": max(1, self.planes * 4 * KIB // page),
                "pages_per_block": 512,
                "erase": times(self.erase_us),
                "command": times(self.command),
                "overprovision": self.spare,
                "precondition": "random",
            },
        }

    def error_of(self, mixed: Measured, program_us: float) -> float:
        """Give the error of a mix when a program takes so long."""
        before, self.program_us = self.program_us, program_us
        try:
            return rms({"ssd": self.device()}, [(mixed, TAILS)], most_ios=10_000)
        finally:
            self.program_us = before

    def search(self, results: Results, known: list[Parameter], progress: Callable[[float], object] | None) -> None:
        """Find dies, split and page."""
        wanted: list[tuple[Measured, tuple[float, ...]]] = [
            (job, (90.0, 99.0)) for depth in (8, 32, 64, 128) if (job := results.get("randread", 4 * KIB, depth))
        ]
        wanted += [(job, (90.0,)) for depth in (4, 32) if (job := results.get("randread", 16 * KIB, depth))]
        if len(wanted) < LEAST_DEPTHS:
            known.append(
                Parameter("dies", str(self.dies), "assumed", "reads of 4 KiB at depths 8 to 128 were not recorded")
            )
            return
        errors: dict[tuple[int, float, int], float] = {}

        def error(dies: int, split: float, page: int) -> float:
            at = (dies, split, page)
            if at not in errors:
                try:
                    errors[at] = rms({"ssd": self.device(dies=dies, split=split, page=page)}, wanted)
                except SeeklabError:
                    errors[at] = float("inf")  # the capacity has no room for so many dies
                if progress:
                    progress(min(0.99, len(errors) / 50))
            return errors[at]

        for page in PAGES:
            dies = min(DIES, key=lambda dies: error(dies, SPLITS[2], page))
            for _ in range(2):
                split = min(SPLITS, key=lambda split: error(dies, split, page))
                nth = DIES.index(dies)
                near = DIES[max(0, nth - 1) : nth + 2]
                dies = min(near, key=lambda dies: error(dies, split, page))
        best = min(errors, key=lambda at: errors[at])
        self.dies, self.split, self.page = best
        limit = max(AS_GOOD[0] * errors[best], AS_GOOD[1])
        good = sorted({at[0] for at, value in errors.items() if value <= limit and at[2] == self.page})
        at_end = good[-1] == DIES[-1]
        among = f"{good[0]} to {good[-1]} are as good" if len(good) > 1 else "no other is as good"
        known += [
            Parameter(
                "dies",
                f"at least {good[0]}" if at_end else str(self.dies),
                "bound" if at_end else "measured",
                f"latencies of reads at depth 4 to 128, {100 * errors[best]:.1f} % off; {among}",
            ),
            Parameter("page", f"{self.page // KIB} KiB", "measured", "the same search"),
            Parameter(
                "split",
                f"{number((1 - self.split) * self.service)} us in the die",
                "bound",
                "the same search; the read and its transfer show as a sum",
            ),
            Parameter("channels", "-", "assumed", "channels and their rate do not show apart"),
        ]


def _writes(results: Results, four: Measured, drive: _Drive, link_rate: float, known: list[Parameter]) -> None:
    drive.buffer = ASSUMED_BUFFER
    short, long = (next((job for key, job in results.jobs.items() if key.limit_ms == ms), None) for ms in (200, 500))
    if short and long:
        room = closed.buffer(short.io_bytes, long.io_bytes, link_rate)
        if room.is_seen:
            drive.buffer = max(1, round(room.size / (64 * KIB))) * 64 * KIB
            known.append(
                Parameter(
                    "write buffer",
                    f"{number(room.size / MIB)} MiB",
                    "measured",
                    f"bytes of 200 and 500 ms of writes; it drains at {number(room.drain)} MB/s",
                )
            )
        else:
            known.append(
                Parameter(
                    "write buffer", f"at least {number(short.io_bytes / MIB)} MiB", "bound", "it never filled in 500 ms"
                )
            )
            drive.buffer = max(drive.buffer, round(short.io_bytes / MIB) * MIB)
    else:
        known.append(
            Parameter("write buffer", f"{ASSUMED_BUFFER // MIB} MiB", "assumed", "no bursts of writes were recorded")
        )
    mixed = next(
        (job for key, job in results.jobs.items() if key.rw == "randrw" and key.mix == MOSTLY_READS and key.depth == 1),
        None,
    )
    delayed = mixed.runs[0].share_above(DELAYED * four.mean) if mixed else 0
    if mixed and delayed >= closed.LEAST_DELAYED:
        longest = max(drive.service, closed.program_us(four.mean, _edge(mixed), delayed, 0.0) or 0.0)
        errors = {longest * share: drive.error_of(mixed, longest * share) for share in PROGRAMS}
        drive.program_us = min(errors, key=lambda us: errors[us])
        known.append(
            Parameter(
                "program",
                f"{number(drive.program_us)} us",
                "bound",
                f"what {delayed} reads that waited look like, {100 * errors[drive.program_us]:.0f} % "
                "off; the drive was "
                f"not clean, so that collection is in it; at most {number(longest)} us",
            )
        )
    else:
        why = f"{delayed} reads waited, fewer than {closed.LEAST_DELAYED}" if mixed else "no 90/10 mix was recorded"
        known.append(Parameter("program", f"{ASSUMED_PROGRAM_US:g} us", "assumed", f"{why}; typical of TLC flash"))
    known += [
        Parameter(
            "erase", f"{ASSUMED_ERASE_US / 1000:g} ms", "assumed", "typical; a drive filled twice over would be needed"
        ),
        Parameter(
            "spare flash", f"{ASSUMED_SPARE} %", "assumed", "a drive filled at random twice over would be needed"
        ),
        Parameter(
            "pages at once", str(ASSUMED_PLANES), "assumed", "sequential writes to a clean drive would be needed"
        ),
    ]


def _edge(mixed: Measured) -> float:
    """Give the upper edge of the delays: the last bin that holds three requests; the longest itself is noise."""
    least = 3
    edge = [value for value, count in mixed.runs[0].bins if count >= least]
    return edge[-1] if edge else mixed.longest
