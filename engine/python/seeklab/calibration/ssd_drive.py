"""A candidate drive, and the search for its number of dies with the engine's latency distribution."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Any

from seeklab._errors import SeeklabError
from seeklab.calibration.closed_forms import KIB, MIB
from seeklab.calibration.parameter import Parameter, number, rate, times
from seeklab.calibration.simulated import MAX_IOS, ask, rms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from seeklab.calibration.fio_results import Measured, Results

DIES = (4, 6, 8, 12, 16, 20, 24, 32, 40, 48, 56, 64, 96, 128)
MORE_DIES = (192, 256)
"""For recent drives, whose page types are visible."""
FIRST_STEP = 4
SPLITS = (0.03, 0.07, 0.115, 0.16, 0.22, 0.3)
"""Share of a read that its transfer over a channel takes."""
PAGES = (4 * KIB, 16 * KIB)
CHANNELS = (8, 6, 5, 4, 3, 2, 1)
CHANNELS_OF_TYPES = (1, 2, 4, 8, 16, 32)
ROOM_OF_CHANNELS = 1.3
"""Minimum total rate of the channels of real drives, as a multiple of the link's rate."""
ASSUMED_BUFFER = 32 * MIB
ASSUMED_PROGRAM_US = 700.0
ASSUMED_ERASE_US = 5000.0
ASSUMED_SPARE = 14.5
ASSUMED_PLANES = 8
MIN_DEPTHS = 2
AS_GOOD = (2.0, 0.02)
"""A value is as good as the best if its error is at most twice the smallest one, or 2%."""


class Drive:
    """A candidate drive. Times in us, rates in bytes/us, sizes in bytes."""

    def __init__(
        self, link_rate: float, command: float, overhead: float, service: float, capacity: str, *, serial: bool
    ) -> None:
        """Start with the measured values; values of later searches are assumed until then."""
        self.link_rate, self.command, self.overhead, self.service = link_rate, command, overhead, service
        self.capacity, self.serial = capacity, serial
        self.dies, self.split, self.page = 16, SPLITS[2], 4 * KIB
        self.program_us, self.erase_us, self.buffer = ASSUMED_PROGRAM_US, ASSUMED_ERASE_US, ASSUMED_BUFFER
        self.planes, self.spare = ASSUMED_PLANES, ASSUMED_SPARE
        self.factors: Sequence[float] = ()
        """Read times of the page types, as multiples of their mean; empty if all pages take the same time."""
        self.stripe, self.read_planes, self.retry, self.suspends = 1, 1, 0.0, False

    def set_types(self, services: Sequence[float], channel_us: float) -> None:
        """Set the time that pages of each type need in the die and on the channel."""
        self.service = fmean(services)
        self.split = channel_us / self.service
        reads = [service - channel_us for service in services]
        self.factors = [round(read / fmean(reads), 4) for read in reads]

    def device(self, **changed: Any) -> dict[str, Any]:
        """Return the device as in a scenario."""
        dies, split, page = (changed.get(name, getattr(self, name)) for name in ("dies", "split", "page"))
        channel_us = split * self.service
        found: dict[str, Any] = {
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
                "channels": self._channels(dies, page / channel_us),
                "channel_rate": rate(page / channel_us),
                "planes": max(1, self.planes * 4 * KIB // page),
                "pages_per_block": 512,
                "erase": times(self.erase_us),
                "command": times(self.command),
                "overprovision": self.spare,
                "precondition": "random",
            },
        }
        if self.factors:
            found["flash"] |= {
                "read_factors": list(self.factors),
                "retry": self.retry,
                "stripe": self.stripe,
                "read_planes": self.read_planes,
                "collect_parallel": self.stripe,
                "channel_reads_first": True,
                "gather": "full",
            }
        if self.suspends:
            found["flash"]["suspend"] = {"program": {}, "erase": {}}
        return found

    def _channels(self, dies: int, channel_rate: float) -> int:
        if not self.factors:
            return next(count for count in CHANNELS if dies % count == 0)
        fitting = [count for count in CHANNELS_OF_TYPES if dies % count == 0]
        enough = [count for count in fitting if count * channel_rate >= ROOM_OF_CHANNELS * self.link_rate]
        return enough[0] if enough else fitting[-1]

    def error_of(self, mixes: Iterable[tuple[Measured, tuple[float, ...]]], most_ios: int = MAX_IOS) -> float:
        """Return the error of the reads in mixes, over their means and percentiles."""
        return rms({"ssd": self.device()}, mixes, most_ios=most_ios)

    def bytes_of(self, burst: Measured) -> float:
        """Return the bytes that the drive accepts in a burst of writes."""
        key = burst.key
        return ask({"ssd": self.device()}, key, most_ios=10**8, runtime_s=key.limit_ms / 1000).io_bytes


def search(
    drive: Drive,
    results: Results,
    known: list[Parameter],
    progress: Callable[[float], object] | None,
) -> None:
    """Search the number of dies, and page size and split if they are not measured otherwise."""
    wanted: list[tuple[Measured, tuple[float, ...]]] = [
        (job, (90.0, 99.0)) for depth in (8, 32, 64, 128) if (job := results.get("randread", 4 * KIB, depth))
    ]
    wanted += [(job, (90.0,)) for depth in (4, 32) if (job := results.get("randread", 16 * KIB, depth))]
    if len(wanted) < MIN_DEPTHS:
        known.append(
            Parameter("dies", str(drive.dies), "assumed", "reads of 4 KiB at depths 8 to 128 were not recorded")
        )
        return
    errors: dict[tuple[int, float, int], float] = {}

    def error(dies: int, split: float, page: int) -> float:
        at = (dies, split, page)
        if at not in errors:
            try:
                errors[at] = rms({"ssd": drive.device(dies=dies, split=split, page=page)}, wanted)
            except SeeklabError:
                errors[at] = float("inf")  # the capacity is too small for this many dies
            if progress:
                progress(min(0.99, len(errors) / 50))
        return errors[at]

    steps = (*DIES, *MORE_DIES) if drive.factors else DIES
    if drive.factors:
        _climb(steps, lambda dies: error(dies, drive.split, drive.page))
    else:
        for page in PAGES:
            dies = min(DIES, key=lambda dies: error(dies, SPLITS[2], page))
            for _ in range(2):
                split = min(SPLITS, key=lambda split: error(dies, split, page))
                nth = DIES.index(dies)
                near = DIES[max(0, nth - 1) : nth + 2]
                dies = min(near, key=lambda dies: error(dies, split, page))
    best = min(errors, key=lambda at: errors[at])
    drive.dies, drive.split, drive.page = best
    limit = max(AS_GOOD[0] * errors[best], AS_GOOD[1])
    good = sorted({at[0] for at, value in errors.items() if value <= limit and at[2] == drive.page})
    at_end = good[-1] == steps[-1]
    among = f"{good[0]} to {good[-1]} fit as well" if len(good) > 1 else "no other number fits as well"
    known.append(
        Parameter(
            "dies",
            f"at least {good[0]}" if at_end else str(drive.dies),
            "bound" if at_end else "measured",
            f"latencies of reads at depth 4 to 128, {100 * errors[best]:.1f}% off; {among}",
        )
    )
    if not drive.factors:
        known += [
            Parameter("page", f"{drive.page // KIB} KiB", "measured", "the same search"),
            Parameter(
                "split",
                f"{number((1 - drive.split) * drive.service)} us in the die",
                "bound",
                "the same search; the read and its transfer are visible only as a sum",
            ),
        ]
    known.append(Parameter("channels", "-", "assumed", "their number and their rate cannot be separated"))


def _climb(steps: Sequence[int], error: Callable[[int], float]) -> None:
    """Find the smallest error with ever smaller steps; the error has one minimum."""
    at, step = len(steps) // 2, FIRST_STEP
    while step:
        near = [nth for nth in (at - step, at, at + step) if 0 <= nth < len(steps)]
        best = min(near, key=lambda nth: error(steps[nth]))
        step, at = (step // 2, at) if best == at else (step, best)
