"""Fit of recordings that consist of random reads and writes of 4 KiB at several depths, as most published ones do.

Times of single requests contain link, host and medium as a sum. The curve over depths shows how many requests a device
serves at once, its maximum rate, and the scatter of its times. A search finds all of them: each candidate runs the
recorded jobs, and the one with the smallest error of means and 99th percentiles is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from seeklab._errors import SeeklabError
from seeklab.calibration.closed_forms import KIB, MIB
from seeklab.calibration.parameter import Parameter, number, rate, times
from seeklab.calibration.simulated import ask

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from seeklab.calibration.fio_results import Measured, Results

SIZE = 4 * KIB
DEEPEST, MOST_DEPTHS = 256, 8
"""Deeper queues and more depths make the search longer and show nothing new."""
MIN_DEEP = 1
"""Minimum number of depths above the smallest."""
TAIL = 99
MEAN_WEIGHT = 2.0
"""Means are known better than tails, and more depends on them."""
MOST_IOS = {"ssd": 3_000, "hdd": 3_000}
WRITE_IOS = 6_000
PASSES = 4
NEAR = 2
GOOD_ENOUGH = 0.04
"""Error below which no rarer mechanism is tried."""
ASSUMED_LINK = 3200.0
LARGE = 64 * KIB
WRITE_BUFFER = MIB
"""Small, so that short runs see the steady rate of a recording of minutes."""
FAST_PROGRAM = 200.0
DIES = (1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 32, 48, 64, 96, 128, 256)
SHARES = (0.02, 0.1, 0.2, 0.3, 0.45, 0.6, 0.75, 0.9)
"""Candidate shares of a single request's time that overlap with other requests."""
COMMANDS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0)
"""Time of a command, as a share of the time between requests at the maximum rate."""
PATHS = (None, *((least, per_read) for least in (1, 2, 4, 8) for per_read in (0.0, 0.15, 0.2, 0.25, 0.3, 0.4)))
"""Paths of the controller, and paths per read in the drive: consumer drives power more of them under load."""
LEVELS = 8
"""Different times of single requests in the model."""
RETRIES = (0.0, 0.003, 0.01, 0.03, 0.1)
STALL_SHARES = (0.0, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1)
SHORT_STALLS = (0.25, 0.5, 1.0, 2.0, 4.0)
LONG_STALLS = (8.0, 16.0, 32.0, 64.0, 128.0)
"""Times of stalls, as multiples of the median of single writes."""
RPMS = (4200, 5400, 5900, 7200, 10000, 15000)
POLICIES = ("fcfs", "satf", "sstf", "scan", "c-look")
QUEUES = (1, 2, 3, 4, 6, 8, 12, 16, 31)
PLANNED = (0, 2, 4, 8, 16)
OVERTAKEN_S = (0.06, 0.12, 0.25, 0.5, 1.0, 2.0, 5.0)
POOLS = (1, 2, 4, 8, 16, 32, 64, 128, 512)
FULL = (1.3, 1.6, 2.0, 2.4)
SINGLE = (0.05, 0.1, 0.3)
SETTLES = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.65, 0.8)
"""Additional time of a write, as a share of a single read."""
DISK = {
    "heads": 8,
    "zones": 16,
    "head_switch": "0.8ms",
    "outer_rate": "150MB",
    "inner_rate": "75MB",
    "interface_rate": "300MB",
    "overhead": "100us",
    "buffer": "32MB",
    "segments": 32,
    "read_ahead": "1MiB",
}
ROTATIONS_MS = 60_000.0

Choice = dict[str, Any]


@dataclass(frozen=True)
class Series:
    """Random reads and writes of 4 KiB, by depth."""

    reads: Mapping[int, Measured]
    writes: Mapping[int, Measured]
    large: float
    """The highest rate of large reads, in bytes per microsecond; 0 without any."""

    @property
    def single(self) -> Measured:
        """Reads at the smallest depth."""
        return self.reads[min(self.reads)]

    @property
    def most(self) -> float:
        """The highest rate of reads per second."""
        return max(job.iops for job in self.reads.values())

    @property
    def link(self) -> float:
        """The assumed or known rate of the link, in bytes per microsecond."""
        least = max(job.iops for job in (*self.reads.values(), *self.writes.values())) * SIZE / 1e6
        return max(self.large, least) if self.large else max(ASSUMED_LINK, 2 * least)


def series(results: Results) -> Series | None:
    """Return the depths of a recording; None if single reads or deeper ones are missing."""
    plain = {
        (key.rw, key.depth): job
        for key, job in sorted(results.jobs.items())
        if key.size == SIZE and not (key.offset or key.pause_us or key.rate_iops or key.limit_ms)
    }
    reads = _spread({depth: job for (rw, depth), job in plain.items() if rw == "randread"})
    writes = _spread({depth: job for (rw, depth), job in plain.items() if rw == "randwrite"})
    if 1 not in reads or len(reads) <= MIN_DEEP:
        return None
    large = [
        job.iops * key.size / 1e6
        for key, job in results.jobs.items()
        if key.rw in ("read", "randread") and key.size >= LARGE
    ]
    return Series(reads, writes, max(large, default=0.0))


def _spread(jobs: dict[int, Measured]) -> dict[int, Measured]:
    """Return at most `MOST_DEPTHS` depths up to `DEEPEST`, evenly spread."""
    depths = sorted(depth for depth in jobs if depth <= DEEPEST)
    if len(depths) > MOST_DEPTHS:
        depths = sorted({depths[round(nth * (len(depths) - 1) / (MOST_DEPTHS - 1))] for nth in range(MOST_DEPTHS)})
    return {depth: jobs[depth] for depth in depths}


def only(jobs: Mapping[Any, Measured]) -> bool:
    """Return whether a recording has no reads that show more than its depths do: other sizes alone, or other spans."""
    reads = [key for key in jobs if key.rw == "randread" and not key.offset]
    return len({key.size for key in reads if key.depth == 1}) == 1 and len({key.span for key in reads}) == 1


def error_of(device: Mapping[str, Any], jobs: Mapping[int, Measured], most_ios: int) -> float:
    """Return the weighted rms of the logarithms of simulated to measured means and 99th percentiles."""
    total = 0.0
    for job in jobs.values():
        found = ask(device, job.key, most_ios=most_ios)
        total += (MEAN_WEIGHT * log(found.mean / job.mean)) ** 2 + log(found.q(TAIL) / job.q(TAIL)) ** 2
    return sqrt(total / len(jobs) / (MEAN_WEIGHT**2 + 1))


class Search:
    """A search for the choices with the smallest error, one choice at a time."""

    def __init__(self, error: Callable[[Choice], float], told: Callable[[float], object] | None = None) -> None:
        """Take the error of a set of choices; `told` gets the progress."""
        self._error, self._told = error, told
        self._known: dict[tuple[Any, ...], float] = {}

    def error(self, chosen: Choice) -> float:
        """Return the error of a set of choices, which is computed once; impossible ones have none."""
        at = tuple(chosen.values())
        if at not in self._known:
            try:
                self._known[at] = self._error(chosen)
            except (SeeklabError, ValueError, ZeroDivisionError):
                self._known[at] = float("inf")
            if self._told:
                self._told(min(0.99, len(self._known) / 400))
        return self._known[at]

    def best(
        self, starts: Sequence[Choice], among: Mapping[str, Sequence[Any]], known: Choice | None = None
    ) -> tuple[Choice, float]:
        """Return the best choices found from several starts, or near `known` ones, and their error."""
        if known is not None:
            return self._from({name: known.get(name, value) for name, value in starts[0].items()}, among, nearby=True)
        found = [self._from(dict(start), among, nearby=False) for start in starts]
        return min(found, key=lambda one: one[1])

    def _from(self, chosen: Choice, among: Mapping[str, Sequence[Any]], *, nearby: bool) -> tuple[Choice, float]:
        for nth in range(PASSES):
            before = dict(chosen)
            for name, values in among.items():
                # The first pass tries all values; later ones try those next to the value so far.
                tried = _near(values, chosen[name]) if nth or nearby else values
                chosen[name] = min(tried, key=lambda value: self.error({**chosen, name: value}))
            if chosen == before:
                break
        return chosen, self.error(chosen)


def _near(values: Sequence[Any], value: Any) -> Sequence[Any]:
    at = values.index(value) if value in values else 0
    return values[max(0, at - NEAR) : at + NEAR + 1]


class Fit(NamedTuple):
    """A device, what is known of it, and the choices of the search that lead to it."""

    device: dict[str, Any]
    parameters: list[Parameter]
    choices: Choice


def fit_units(
    of: Series, capacity: str, told: Callable[[float], object] | None = None, near: Choice | None = None
) -> Fit:
    """Fit parallel units behind one interface: an SSD, or an array of drives."""
    between = 1e6 / of.most
    search = Search(lambda chosen: error_of({"ssd": _units(of, capacity, chosen)}, of.reads, MOST_IOS["ssd"]), told)
    start = {"dies": 16, "command": 0.0, "share": SHARES[0], "scatter": False, "paths": None, "retry": 0.0}
    among = {"dies": DIES, "command": COMMANDS, "share": SHARES, "scatter": (False, True), "retry": RETRIES}
    starts = [start, {**start, "dies": DIES[-1], "command": 1.0}]
    if near is not None:
        chosen, error = search.best(starts, {"paths": PATHS, **among}, near)
    else:
        chosen, error = search.best(starts, among)
        if error > GOOD_ENOUGH:
            many = {**chosen, "dies": DIES[-1], "paths": PATHS[len(PATHS) // 2]}
            chosen, error = search.best([chosen, many], {"paths": PATHS, **among})
    known = [
        Parameter(
            "parallel units",
            str(chosen["dies"]),
            "measured",
            f"means and 99th percentiles of reads at depths {_list(of.reads)}, {100 * error:.0f}% off",
        ),
        Parameter(
            "effective link",
            f"{number(of.link)} MB/s",
            "bound" if of.large else "assumed",
            "the fastest large reads" if of.large else "only requests of 4 KiB were recorded: other sizes are a guess",
        ),
        Parameter(
            "command",
            f"{number(chosen['command'] * between)} us",
            "measured" if chosen["command"] else "assumed",
            "the same search: a limit of requests per second" if chosen["command"] else "no such limit is visible",
        ),
        Parameter("overhead", f"{number(chosen['share'] * of.single.mean)} us", "bound", "the same search"),
    ]
    if chosen["paths"]:
        least, per_read = chosen["paths"]
        known.append(
            Parameter("read paths", f"{least}, and {per_read:g} per read in the drive", "bound", "the same search")
        )
    chosen = {**chosen, "write": None}
    if of.writes:
        _fit_unit_writes(of, capacity, chosen, known, near["write"] if near else None)
    else:
        known.append(Parameter("writes", "-", "assumed", "none were recorded; typical of a drive"))
    known.append(Parameter("erases, spare flash, page", "-", "assumed", "not visible at one size of requests"))
    return Fit({"ssd": _units(of, capacity, chosen)}, known, chosen)


def _units(of: Series, capacity: str, chosen: Choice) -> dict[str, Any]:
    command = max(0.0, chosen["command"] * 1e6 / of.most - SIZE / of.link)
    overhead = chosen["share"] * of.single.mean
    fixed = overhead + command + SIZE / of.link
    service = of.single.mean - fixed
    if service <= 0:
        message = "no time is left for the medium"
        raise ValueError(message)
    channel = min(1.0, 0.05 * service)
    dies = chosen["dies"]
    flash: dict[str, Any] = {
        "channels": dies if dies <= DIES[-1] else 1,
        "channel_rate": rate(SIZE / channel),
        "planes": 1,
        "pages_per_block": 512,
        "erase": "3ms",
        "command": times(command),
        "overprovision": 28,
        "precondition": "sequential",
    }
    if chosen["scatter"]:
        flash["read_factors"] = _factors(of.single, fixed)
    if chosen["retry"]:
        flash["retry"] = chosen["retry"]
    if chosen["paths"]:
        least, per_read = chosen["paths"]
        flash["read_paths"] = {"least": least, "per_read": per_read}
    found = {
        "capacity": capacity,
        "units": dies,
        "page": SIZE,
        "read": times(service - channel),
        "program": times(FAST_PROGRAM),
        "overhead": times(overhead),
        "interface_rate": rate(of.link),
        "queue_depth": 1024,
        "write_buffer": WRITE_BUFFER,
        "flash": flash,
    }
    _with_writes(found, flash, of, chosen)
    return found


def _factors(single: Measured, fixed: float) -> list[float]:
    """Return times of the medium, as multiples of their mean, at equal distances in their distribution."""
    middles = [100 * (nth + 0.5) / LEVELS for nth in range(LEVELS - 1)] + [97.0]
    levels = [max(0.05 * single.mean, single.q(middle) - fixed) for middle in middles]
    mean = sum(levels) / LEVELS
    return [round(min(8.0, max(0.05, level / mean)), 4) for level in levels]


def _with_writes(found: Choice, flash: Choice, of: Series, chosen: Choice) -> None:
    """Add the parameters of writes."""
    write = chosen.get("write")
    if write is None:
        return
    single = of.writes[min(of.writes)]
    most = max(job.iops for job in of.writes.values())
    command = max(0.0, write["command"] * 1e6 / most - SIZE / of.link)
    flash["write_command"] = times(command)
    if not write["buffered"]:
        found["write_buffer"] = 0
        found["program"] = times(max(1.0, single.q(50) - command - SIZE / of.link - 1.0))
        found["write_overhead"] = "1us"
        return
    # The flash takes what the interface lets in, and no more limits the rate.
    found["program"] = times(min(FAST_PROGRAM, 0.5 * found["units"] * 1e6 / most))
    found["write_overhead"] = times(max(0.1, write["base"] * single.q(50) - command - SIZE / of.link))
    stalls = [
        {"share": write[kind], "time": times(write[f"{kind}_time"] * single.q(50)), "hides": write["hides"]}
        for kind in ("short", "long")
        if write[kind]
    ]
    if stalls:
        flash["write_stalls"] = stalls


def _fit_unit_writes(of: Series, capacity: str, chosen: Choice, known: list[Parameter], near: Choice | None) -> None:
    search = Search(
        lambda write: error_of({"ssd": _units(of, capacity, {**chosen, "write": write})}, of.writes, WRITE_IOS)
    )
    start = {
        "buffered": True,
        "command": 1.0,
        "base": 1.0,
        "short": 0.0,
        "short_time": 1.0,
        "long": 0.0,
        "long_time": 16.0,
        "hides": False,
    }
    starts = [{**start, "short": 0.03}, {**start, "long": 0.01}, {**start, "buffered": False}]
    among = {
        "command": COMMANDS[1:],
        "base": (0.6, 0.8, 0.9, 1.0, 1.1, 1.3),
        "short": STALL_SHARES,
        "short_time": SHORT_STALLS,
        "long": STALL_SHARES,
        "long_time": LONG_STALLS,
        "hides": (False, True),
    }
    write, error = search.best(starts, among, near)
    chosen["write"] = write
    off = f"means and 99th percentiles of writes at depths {_list(of.writes)}, {100 * error:.0f}% off"
    known.append(
        Parameter("write buffer", "in use" if write["buffered"] else "none", "measured", f"{off}; its size is unknown")
    )
    for kind in ("short", "long"):
        if write["buffered"] and write[kind]:
            time_us = write[f"{kind}_time"] * of.writes[min(of.writes)].q(50)
            value = f"{number(time_us)} us for {100 * write[kind]:g}% of them"
            known.append(Parameter(f"{kind} stalls of writes", value, "bound", "the same search"))


def fit_disk(
    of: Series, capacity: str, told: Callable[[float], object] | None = None, near: Choice | None = None
) -> Fit:
    """Fit a single disk: its turn, its seeks, and how far its queue reorders."""
    search = Search(lambda chosen: error_of({"hdd": _disk(of, capacity, chosen)}, of.reads, MOST_IOS["hdd"]), told)
    start = {
        "rpm": 7200,
        "full": FULL[-1],
        "single": SINGLE[-1],
        "policy": "fcfs",
        "queue": QUEUES[-1],
        "planned": 0,
        "overtaken": OVERTAKEN_S[-1],
    }
    among = {
        "rpm": RPMS,
        "full": FULL,
        "single": SINGLE,
        "policy": POLICIES,
        "queue": QUEUES,
        "planned": PLANNED,
        "overtaken": OVERTAKEN_S,
    }
    starts = [{**start, "policy": policy} for policy in POLICIES]
    chosen, error = search.best(starts, among, near)
    off = f"means and 99th percentiles of reads at depths {_list(of.reads)}, {100 * error:.0f}% off"
    seek = _disk(of, capacity, chosen)["seek_average"]
    known = [
        Parameter("speed", f"{chosen['rpm']} rpm", "bound", off),
        Parameter("average seek", seek, "sum", "single reads without half a turn"),
        Parameter("queue", f"{chosen['policy']}, {chosen['queue']} requests", "bound", "the same search"),
        Parameter("rates, buffer, heads, zones", "-", "assumed", "not visible in reads of 4 KiB over the whole disk"),
    ]
    if of.writes:
        search = Search(
            lambda write: error_of({"hdd": _disk(of, capacity, {**chosen, **write})}, of.writes, MOST_IOS["hdd"])
        )
        first = {"cache": True, "settle": 0.0, "pool": 32, "order": chosen["policy"]}
        among = {"cache": (True, False), "settle": SETTLES, "pool": POOLS, "order": POLICIES}
        starts = [first, {**first, "cache": False}, {**first, "pool": 1, "order": "fcfs"}]
        write, error = search.best(starts, among, near)
        chosen = {**chosen, **write}
        known.append(
            Parameter(
                "write cache",
                f"sorts {write['pool']} writes" if write["cache"] else "off",
                "bound",
                f"means and 99th percentiles of writes at depths {_list(of.writes)}, {100 * error:.0f}% off",
            )
        )
    return Fit({"hdd": _disk(of, capacity, chosen)}, known, chosen)


FITS = {"ssd": fit_units, "hdd": fit_disk}


def _disk(of: Series, capacity: str, chosen: Choice) -> dict[str, Any]:
    average = of.single.mean / 1e3 - ROTATIONS_MS / chosen["rpm"] / 2 - 0.15
    if average <= 0:
        message = "a turn takes longer than a read"
        raise ValueError(message)
    found = {
        **DISK,
        "capacity": capacity,
        "rpm": chosen["rpm"],
        "seek_single": times(1e3 * chosen["single"] * average),
        "seek_average": times(1e3 * average),
        "seek_full": times(1e3 * chosen["full"] * average),
        "queue_policy": chosen["policy"],
        "queue_depth": chosen["queue"],
        "longest_overtaken": times(1e6 * chosen["overtaken"]),
        "write_settle": times(1e3 * chosen.get("settle", 0.0) * of.single.mean / 1e3),
        "write_cache": chosen.get("cache", True),
    }
    if chosen["planned"]:
        found["queue_planned"] = chosen["planned"]
    if chosen.get("cache"):
        found |= {"destage_pool": chosen["pool"], "destage_policy": chosen["order"]}
    return found


def _list(depths: Mapping[int, Measured]) -> str:
    return ", ".join(map(str, depths))
