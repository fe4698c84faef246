"""What a debrief says about a command's output holds for that output, on several seeds."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

import sampling
from seeklab._result import run
from seeklab.oncall.incidents import CACHE, LOG, incidents, system_of
from seeklab.oncall.tools import TOOLS

if TYPE_CHECKING:
    from collections.abc import Callable

    from seeklab import Result

SAMPLE = 8
SEEDS = range(20)
KIB_PER_MIB = 1024


@dataclass
class Looks:
    """The output of all commands on one system."""

    result: Result
    scenario: dict[str, Any]

    def text(self, command: str) -> str:
        return TOOLS[command].prints(self.result, self.scenario)

    def found(self, command: str, pattern: str) -> list[float]:
        """Return the numbers that the pattern finds in the output."""
        return [float(number.replace(",", "")) for number in re.findall(pattern, self.text(command))]

    @property
    def devices(self) -> dict[str, dict[str, float]]:
        """The rows of `iostat -x`."""
        parts = self.text("iostat -x").split("\n\n")
        head, *rows = next(part for part in parts if part.startswith("Device")).splitlines()
        names = head.split()[1:]
        return {
            name: dict(zip(names, map(float, values), strict=True)) for name, *values in (row.split() for row in rows)
        }

    @property
    def first(self) -> dict[str, float]:
        """The first device of `iostat -x`."""
        return next(iter(self.devices.values()))

    @property
    def app_mib(self) -> float:
        """The application's rate in the report of fio, in MiB/s."""
        (number, unit) = re.findall(r"BW=([\d.]+)(\w)iB/s", self.text("fio"))[0]
        return float(number) * {"K": 1 / KIB_PER_MIB, "M": 1, "G": KIB_PER_MIB}[unit]

    @property
    def clat_us(self) -> dict[float, float]:
        """The percentiles in the report of fio, in us."""
        unit = re.findall(r"clat percentiles \((\w)sec\)", self.text("fio"))[0]
        rows = re.findall(r"([\d.]+)th=\[ *(\d+)\]", self.text("fio"))
        return {float(share): float(value) * {"n": 1e-3, "u": 1, "m": 1e3}[unit] for share, value in rows}

    def delays(self) -> tuple[float, float, float, dict[int, float]]:
        """Return the writes that were not delayed, delayed and stopped, and the delays in us by powers of two."""
        text = self.text("dtrace -s delays.d")
        counts = [float(count) for count in re.findall(r"(?:delayed|stopped) +(\d+)", text)]
        rows = {int(start): float(count) for start, count in re.findall(r"(\d+) \|[@ ]*(\d+)", text)}
        return counts[0], counts[1], counts[2], rows

    def share_of_cycles(self, *functions: str) -> float:
        """Return the share of cycles of some functions in `perf report`, in percent."""
        rows = re.findall(r"([\d.]+)%  \S.*\[k\] (\w+)", self.text("perf report"))
        return sum(float(share) for share, name in rows if name in functions)

    @property
    def cores(self) -> list[float]:
        """The utilization of each processor in `mpstat`, in percent."""
        return self.found("mpstat -P ALL", r"Average: +\d+ +[\d.]+ +[\d.]+ +([\d.]+)")

    @property
    def pool(self) -> list[dict[str, float]]:
        """The devices that are neither logs nor caches."""
        return [row for name, row in self.devices.items() if name not in {LOG, CACHE}]


def _mostly(part: float, whole: float) -> bool:
    return part > 0.5 * whole


def _delayed_by(looks: Looks, low_us: int, high_us: int = 1 << 60) -> float:
    return sum(count for start, count in looks.delays()[3].items() if low_us <= start < high_us)


def _half_delayed_equally(looks: Looks) -> bool:
    free, late, stopped, _ = looks.delays()
    return late >= free and _delayed_by(looks, 8192, 16384) > 0.95 * late and stopped == 0


def _delayed_long(looks: Looks) -> bool:
    free, late, stopped, _ = looks.delays()
    return _mostly(late, free + late) and _mostly(_delayed_by(looks, 16384), late) and stopped == 0


def _few_delayed_equally(looks: Looks) -> bool:
    free, late, stopped, _ = looks.delays()
    return 0 < late < 0.1 * free and _delayed_by(looks, 8192, 16384) > 0.9 * late and stopped == 0


def _window_each_trip(looks: Looks) -> bool:
    text = looks.text("ss -ti")
    trip_ms, rate, window, buffer = (
        float(re.findall(pattern, text)[0])
        for pattern in (r"rtt:([\d.]+)", r"delivery_rate ([\d.]+)", r"snd_wnd:(\d+)", r"sndbuf:(\d+)")
    )
    return 0.8 < rate * 1e6 / 8 * trip_ms / 1e3 / min(window, buffer) <= 1.01


def _misses_the_tail(looks: Looks) -> bool:
    rows = re.findall(r"app +read +\d+ +(\d+) +(\d+) +(\d+)", looks.text("oplog"))
    longest = max(int(size) for size, _, _ in rows)
    return {int(missed) for size, _, missed in rows if int(size) == longest} == {256 << 10}


def _starts_within_a_block(looks: Looks) -> bool:
    (start,) = looks.found("parted -l", r" 1 +(\d+)B")
    reads = any(row["r/s"] > 0 for row in looks.devices.values())
    return start % 4096 > 0 and reads and all("read" not in str(job["rw"]) for job in looks.scenario["jobs"])


def _cache_barely_helps(looks: Looks) -> bool:
    cache = looks.devices[CACHE]
    return 0 < cache["wkB/s"] < 5000 and cache["r/s"] < 0.25 * sum(row["r/s"] for row in looks.pool)


def _log_is_busiest(looks: Looks) -> bool:
    log = looks.devices[LOG]
    return log["wkB/s"] > 20_000 and all(row["%util"] < min(10, log["%util"] / 3) for row in looks.pool)


def _full_groups_take_long(looks: Looks) -> bool:
    # The last group was open when the load ended, so it is not full.
    *times, _ = looks.found("dtrace -s sync.d", r"took ([\d.]+)")
    full = [time for time in times if time > 1.5]
    return bool(full) and all(3.9 <= time <= 5.1 for time in full)


SHOWS: dict[str, Callable[[Looks], bool]] = {
    "The application writes hundreds of MiB/s, ten times as much as the busiest point of the dashboard, in a burst of "
    "about a second.": lambda looks: (
        looks.app_mib > max(200, 10 * max(looks.found("dashboard", r"(?m)^ *[\d.]+ +[\d.]+ +([\d.]+)")))
        and looks.found("fio", r"iB/(\d+)msec\)")[0] < 2000
    ),
    "The volume does a round number of reads a second, such as 300 or 600, with a long queue: a limit sets its rate.": (
        lambda looks: abs(looks.first["r/s"] - 50 * round(looks.first["r/s"] / 50)) < 0.1 and looks.first["aqu-sz"] > 10
    ),
    "Requests arrive at the device one at a time, each as large as everything the client has in flight. The device "
    "idles in between.": lambda looks: (
        looks.first["rareq-sz"] >= 8192 and looks.first["aqu-sz"] < 1 and looks.first["%util"] < 70
    ),
    "Half of the blocks are removed before the compressor sees them, and the rest does not compress.": lambda looks: (
        looks.found("zfs get all", r"zerosremoved +(\d+)%") == [50]
        and looks.found("zfs get all", r"compressratio +([\d.]+)x")[0] < 1.05
    ),
    "The round trip takes 10 ms or longer, and the device is idle most of the time (`iostat -x`).": lambda looks: (
        looks.found("ping", r"time=([\d.]+)")[0] >= 10 and looks.first["%util"] < 50
    ),
    "Half of the writes or more are delayed, nearly all of them by 8 to 16 ms, and none stops.": _half_delayed_equally,
    "Most writes are delayed, most of these by 16 ms or longer, and none stops.": _delayed_long,
    "Few writes are delayed and none stops. Nearly all delayed ones wait for 8 to 16 ms.": _few_delayed_equally,
    "The queue is long, but the disk does only about 80 reads a second, as many as with one at a time.": lambda looks: (
        looks.first["aqu-sz"] > 10 and 70 < looks.first["r/s"] < 90
    ),
    "The cache device gets a small, steady flow of writes and serves few reads. The disks still serve nearly all.": (
        _cache_barely_helps
    ),
    "The disk reads 100 MB/s, more than ten times as much as the application gets (`fio`).": lambda looks: (
        90_000 < looks.first["rkB/s"] < 120_000 and looks.first["rkB/s"] > 10 * KIB_PER_MIB * looks.app_mib
    ),
    "The partition's start is not a multiple of 4 KiB. `iostat -x` shows reads although no application reads.": (
        _starts_within_a_block
    ),
    "A quarter or more of the cycles is spent on taking over rings, which moves no bytes.": lambda looks: (
        looks.share_of_cycles("take_over_a_ring") >= 25
    ),
    "The processors are idle, and so is the device (`iostat -x`). One request still takes 0.3 ms or longer (`fio`).": (
        lambda looks: max(looks.cores) < 5 and looks.first["%util"] < 1 and looks.clat_us[50] >= 300
    ),
    "Memory holds all but the last 256 KiB of the longest reads. They wait for disks for the rest.": _misses_the_tail,
    "Each round trip delivers as many bytes as the smaller buffer, and no more.": _window_each_trip,
    "The device has a long queue, mostly of writes. Each read waits in it for 10 ms or longer.": lambda looks: (
        looks.first["aqu-sz"] > 10 and looks.first["w/s"] > looks.first["r/s"] and looks.first["r_await"] >= 10
    ),
    "The log device gets tens of MB/s and is the busiest device. The pool's disks are almost idle.": _log_is_busiest,
    "The log device writes small blocks, never two at a time, and is idle for most of the time.": lambda looks: (
        looks.devices[LOG]["wareq-sz"] <= 32 and looks.devices[LOG]["%util"] < 50 and looks.devices[LOG]["aqu-sz"] < 1
    ),
    "The 95th percentile is about 10 ms, but the longest write takes more than 4 s.": (
        lambda looks: 8000 < looks.clat_us[95] < 15_000 and looks.clat_us[99.99] > 4e6
    ),
    "Calls to other cores, and their answers, take 15% of the cycles or more.": lambda looks: (
        looks.share_of_cycles("call_other_cores", "answer_a_call") >= 15
    ),
    "All devices are busy, and on average none has more than one request, in flight or waiting.": lambda looks: all(
        row["aqu-sz"] <= 1 and row["%util"] > 60 for row in looks.pool
    ),
    "Once the groups are full, each sync takes four to five seconds.": _full_groups_take_long,
    "Several threads share the work, but together they keep less than two processors busy: most of the time all but "
    "one wait.": lambda looks: (
        looks.found("perf report", r"processor time, ([\d.]+)")[0] < 2
        and len(set(re.findall(r"shard \d+", looks.text("perf report")))) > 1
    ),
    "One core is full, and all the others are idle.": lambda looks: (
        max(looks.cores) > 99 and sorted(looks.cores)[-2] < 1
    ),
}
"""What each sentence of a debrief claims about the output. A new sentence needs a new entry."""

CHECKS = {f"{incident.case} {incident.failing} {seed}": (incident, seed) for incident in incidents() for seed in SEEDS}


def test_every_sentence_of_a_debrief_has_its_check() -> None:
    assert {incident.tells for incident in incidents()} == set(SHOWS)


@pytest.mark.parametrize("name", sampling.some(list(CHECKS), SAMPLE))
def test_the_sentence_of_a_debrief_holds_for_what_the_commands_print(name: str) -> None:
    incident, seed = CHECKS[name]
    scenario = dict(system_of(incident, random.Random(f"tells {seed}")).scenario)
    scenario["record"] = {**scenario["record"], "log": TOOLS[incident.command].log}
    looks = Looks(run(scenario, seed=1 + seed), scenario)
    assert SHOWS[incident.tells](looks), looks.text(incident.command)
