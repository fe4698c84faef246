"""Notebook 10, read ahead, fall behind: what the learner writes."""

from __future__ import annotations

import random
from functools import cache
from typing import TYPE_CHECKING, Any

from seeklab._case import case
from seeklab.course.task import UnconvertedTask as Task
from seeklab.decisions.read_ahead import Read, run_prefetcher

if TYPE_CHECKING:
    from collections.abc import Callable

    from seeklab._result import Result

CASE = "media-prefetch"
BUSY_PERCENT = 75
MEMORY_PERCENT = 70
DISK_TIMES = 2.2
JUMPS = 200
MAX_FOR_JUMPS = 20
RECORD = 128 << 10
FULL_HOUSE = {
    "jobs[streams].numjobs": 2000,
    "jobs[streams].stagger": 500_000,
    "jobs[streams].ramp_time": "5s",
    "jobs[streams].runtime": "10s",
}
"""Two thousand players, all within a second; the first five seconds are left out."""
SMALL_HOUSE = {
    "jobs[streams].numjobs": 300,
    "jobs[streams].stagger": "3ms",
    "jobs[streams].ramp_time": "3s",
    "jobs[streams].runtime": "5s",
}


@cache
def frozen() -> Result:
    """Give the run of the incident: a thousand players and the defaults of 2008."""
    return case(CASE).with_({"record.log": True}).run("untuned")


def _silence_s(result: Result) -> float:
    times, sizes = result.series["time_ns"], result.series["read_bytes"]
    step_s = (times[1] - times[0]) / 1e9
    longest = now = 0
    for size in sizes:
        now = now + 1 if size == 0 else 0
        longest = max(longest, now)
    return float(longest * step_s)


def _silence_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    given, series = float(answer), frozen().series
    truth, step_s = _silence_s(frozen()), series["time_ns"][1] / 1e9
    if abs(given - truth) <= step_s / 2:
        return None
    empty = sum(1 for size in series["read_bytes"] if size == 0)
    if given == truth / step_s:
        return f"{given:g} is the number of rows; each stands for {step_s:g} s."
    if given in (empty, empty * step_s):
        return f"There are {empty} rows without a byte in all. Wanted is the longest run of them, one after the other."
    return f"{given:g} s; in the series the longest run of rows with read_bytes 0 is another length."


def _setting_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    records = int(answer)
    if records != answer or isinstance(answer, bool):
        return "Wanted is a whole number of records."
    changes = {"zfs.prefetch.cap": records, "record.log": False, **FULL_HOUSE}
    metrics = case(CASE).with_(changes).run("untuned").metrics
    stalls, wasted = metrics["streams.read_stalls"], metrics["zfs_ahead_wasted_percent"]
    busy = metrics["device_busy_share_percent"]
    told = (
        f"{stalls:,.0f} reads took longer than a second, {wasted:.0f} % was fetched in vain, disks busy {busy:.0f} %."
    )
    if stalls or wasted >= 1:
        asked = 2000 * 2 * records * RECORD / 2**30
        return f"{told} 2000 streams, up to two windows each: {asked:.0f} GiB, and there are 25."
    if busy <= BUSY_PERCENT:
        return None
    if records <= 1:
        return f"{told} It fits into memory, and each record costs a seek of its own: fetch more at a time."
    return (
        f"{told} It fits into memory, but all windows open at once: the disks fetch seconds of film that are needed "
        "only later."
    )


def _policy_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of a read, or an object that can be called; this is {type(answer).__name__}."
    jumped = _asked_by_jumps(answer)
    result = run_prefetcher(case(CASE).with_({"record.log": False, **SMALL_HOUSE}), answer)
    metrics = result.metrics
    found, times = metrics["streams.memory_percent"], metrics["device_bytes"] / metrics["bytes"]
    if metrics["streams.read_stalls"]:
        return f"{metrics['streams.read_stalls']:,.0f} reads took longer than a second: it fetches far too much."
    if found < MEMORY_PERCENT:
        return f"Players find {found:.0f} % in memory; wanted are {MEMORY_PERCENT} %. Fetch what comes after the read."
    if times > DISK_TIMES:
        return (
            f"Players find {found:.0f} % in memory, and the disks read {times:.1f} times what was asked for, at most "
            f"{DISK_TIMES:g} allowed: fewer records ahead will do."
        )
    if jumped > MAX_FOR_JUMPS:
        return (
            f"The players are served. But {JUMPS} reads that jump about in a file make it fetch {jumped:,} records for "
            "nobody: wait until a read follows the one before it."
        )
    return None


def _asked_by_jumps(prefetcher: Callable[[Read], Any]) -> int:
    chance, asked = random.Random(7), 0  # noqa: S311 -- a workload, not a secret
    for number in range(JUMPS):
        read = Read(number, 10**6, chance.randrange(4000), 1, 4136, False, False, RECORD, 1 << 34, 0, 0)  # noqa: FBT003
        asked += sum(records for _, records in prefetcher(read))
    return asked


TASKS = {
    "media/silence": Task(
        question=(
            "frozen().series has a row for each half second, with time_ns and read_bytes: how many bytes all players "
            "together got. For how many seconds, at the longest, did nobody get anything?"
        ),
        wants="a number of seconds",
        wrong=_silence_wrong,
        why="A thousand films stood still at the same time, while the mean says that players got most of their rate.",
        hints=(
            "Go through frozen().series['read_bytes'] and count the zeros that follow each other.",
            "Set the count back to 0 at each row that has bytes, and keep the largest.",
            "Multiply by the 0.5 s of a row.",
        ),
        answer=(
            "longest = now = 0\n"
            'for size in frozen().series["read_bytes"]:\n'
            "    now = now + 1 if size == 0 else 0\n"
            "    longest = max(longest, now)\n"
            "silence = 0.5 * longest"
        ),
    ),
    "media/setting": Task(
        question=(
            "The machine has 25 GiB and ten disks, and two thousand players are about to come, all in one second. How "
            "many records of 128 KiB should be read ahead for a stream, so that no read takes longer than a second, "
            f"nothing is fetched in vain, and the disks are busy for at most {BUSY_PERCENT} % of the time?"
        ),
        wants="a whole number of records",
        wrong=_setting_wrong,
        why="Large enough to save seeks, small enough for the memory and for the first seconds, when all windows fill.",
        hints=(
            "A stream with a full window has between one and two windows in memory. How large may a window be at most?",
            "25 GiB over 2000 streams are 12.8 MiB. And all windows are fetched at once, in the first seconds.",
            "Try a few powers of two from 1 to 64; each try takes a second.",
        ),
        answer="setting = 8",
    ),
    "media/policy": Task(
        question=(
            "Write a read-ahead. It is called for each read, which has read.file, read.record (its first record) and "
            "read.records (how many), and gives a list of pairs to fetch: first record, how many. Three hundred "
            f"players must find {MEMORY_PERCENT} % of their bytes in memory, the disks may read at most "
            f"{DISK_TIMES:g} times what is asked for, and for a reader at random places it must fetch nothing."
        ),
        wants="a function of a read that gives a list of pairs, or an object that can be called like one",
        wrong=_policy_wrong,
        why="One number for each file: the record that comes next if somebody reads in order.",
        hints=(
            "[(read.record + read.records, 2)] fetches the next two records, for everybody.",
            "Remember for each file where the last read ended; fetch only if this read begins there.",
            "A class with __init__ (an empty dictionary) and __call__(self, read) can remember.",
        ),
        answer=(
            "class InOrder:\n"
            "    def __init__(self):\n"
            "        self.expected = {}\n"
            "\n"
            "    def __call__(self, read):\n"
            "        follows = self.expected.get(read.file) == read.record\n"
            "        self.expected[read.file] = read.record + read.records\n"
            "        return [(read.record + read.records, 2)] if follows else []\n"
            "\n"
            "\n"
            "mine = InOrder()"
        ),
    ),
}
