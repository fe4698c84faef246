"""Notebook 10, read ahead, fall behind: its tasks."""

from __future__ import annotations

import random
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING

from seeklab._case import case
from seeklab.course.task import Task
from seeklab.decisions.read_ahead import Prefetcher, Read, run_prefetcher
from seeklab.judge import ANSWER, Bound, Code, Evidence, Mistake, Number, Value

if TYPE_CHECKING:
    from seeklab._result import Result
    from seeklab.judge import Asked

CASE = "media-prefetch"
BUSY_PERCENT = 75
MEMORY_PERCENT = 70
DISK_TIMES = 2.2
JUMPS = 200
MAX_FOR_JUMPS = 20
STEP_S = 0.5
"""Seconds covered by a row of the series."""
PLAYERS = 2000
RECORD = 128 << 10
FULL_HOUSE = {
    "jobs[streams].numjobs": PLAYERS,
    "jobs[streams].stagger": 500_000,
    "jobs[streams].ramp_time": "5s",
    "jobs[streams].runtime": "10s",
}
"""All players start within a second; the first five seconds are ignored."""
SMALL_HOUSE = {
    "jobs[streams].numjobs": 300,
    "jobs[streams].stagger": "3ms",
    "jobs[streams].ramp_time": "3s",
    "jobs[streams].runtime": "5s",
}


@cache
def frozen() -> Result:
    """Return the run of the incident: a thousand players and the defaults of 2008."""
    return case(CASE).with_({"record.log": True}).run("untuned")


def _silence_s() -> float:
    runs = groupby(frozen().series["read_bytes"], key=lambda size: size == 0)
    return STEP_S * max(len([*rows]) for is_empty, rows in runs if is_empty)


def _setting(asked: Asked) -> list[Evidence]:
    records = asked.answers[ANSWER]
    result = case(CASE).with_({"zfs.prefetch.cap": records, "record.log": False, **FULL_HOUSE}).run("untuned")
    windows_gib = PLAYERS * 2 * records * RECORD / 2**30
    memory = Mistake(
        "memory", f"{PLAYERS} streams, up to two windows each, need {windows_gib:.0f} GiB; the machine has 25."
    )
    busy = (
        Mistake("seeks", "It fits into memory, but each record costs a separate seek: fetch more at a time.")
        if records <= 1
        else Mistake(
            "at-once",
            "It fits into memory, but all windows open at once: the disks fetch seconds of film that players "
            "need only later.",
        )
    )
    bounds = (
        Bound("streams.read_stalls", at_most=0, why=memory),
        Bound("zfs_ahead_wasted_percent", at_most=1, why=memory),
        Bound("device_busy_share_percent", at_most=BUSY_PERCENT, why=busy),
    )
    return [bound.check(result, None) for bound in bounds]


def _policy(asked: Asked) -> list[Evidence]:
    with asked.play(ANSWER) as prefetcher:
        result = run_prefetcher(case(CASE).with_({"record.log": False, **SMALL_HOUSE}), prefetcher)
        jumped = _fetched_for_jumps(prefetcher)
    times = result.metrics["device_bytes"] / result.metrics["bytes"]
    too_much = Mistake("too-much", "Fewer records ahead are enough.")
    too_little = Mistake("too-little", "Fetch the records that come after the read.")
    at_random = Mistake(
        "random-reads",
        "The players are served, but random reads make it fetch records that no player needs: wait until a read "
        "continues the previous one.",
    )
    jumps = f"records for {JUMPS} random reads"
    return [
        Evidence("bytes read / requested", times, f"<= {DISK_TIMES:g}", times <= DISK_TIMES).because(too_much),
        Bound("streams.memory_percent", at_least=MEMORY_PERCENT, why=too_little).check(result, None),
        Evidence(jumps, jumped, f"<= {MAX_FOR_JUMPS}", jumped <= MAX_FOR_JUMPS).because(at_random),
    ]


def _fetched_for_jumps(prefetcher: Prefetcher) -> int:
    chance, fetched = random.Random(7), 0
    for number in range(JUMPS):
        read = Read(number, 10**6, chance.randrange(4000), 1, 4136, False, False, RECORD, 1 << 34, 0, 0)  # noqa: FBT003
        fetched += sum(records for _, records in prefetcher(read))
    return fetched


TASKS = (
    Task(
        "media/silence",
        question=(
            "frozen().series has a row for each half second, with time_ns and read_bytes: how many bytes all players "
            "together received. What is the longest time, in seconds, when no player received anything?"
        ),
        kind=Number(),
        check=Value(
            _silence_s,
            (
                Mistake("rows", f"That is the number of rows; each is {STEP_S} s.", times=1 / STEP_S),
                Mistake("other", "The longest run of rows with read_bytes 0 has another length."),
            ),
            unit=" s",
            within=0,
            apart=STEP_S / 2,
        ),
        why=(
            "A thousand films stopped at the same time, although the mean says that players received most of "
            "their rate."
        ),
        hints=(
            "Go through frozen().series['read_bytes'] and count consecutive zeros.",
            "Reset the count at each row with bytes, and keep the largest.",
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
    Task(
        "media/setting",
        question=(
            "The machine has 25 GiB of memory and ten disks, and two thousand players are about to start, all in one "
            "second. How many records of 128 KiB should be read ahead for a stream? No read may take longer than a "
            f"second, no fetch may be wasted, and the disks may be busy for at most {BUSY_PERCENT}% of the time."
        ),
        kind=Number(whole=True),
        check=_setting,
        why="Large enough to save seeks, small enough for the memory and for the first seconds, when all windows fill.",
        hints=(
            "A stream with a full window has between one and two windows in memory. How large may a window be at most?",
            "25 GiB over 2000 streams are 12.8 MiB. And all windows are fetched at once, in the first seconds.",
            "Try a few powers of two from 1 to 64; each try takes a second.",
        ),
        answer="setting = 8",
    ),
    Task(
        "media/policy",
        question=(
            "Write a read-ahead: a function, or an object that can be called like one. It is called for each "
            "read and returns a list of pairs to fetch: first record, how many. A read has read.file, "
            "read.record (its first record) and read.records (how many). Three hundred players must find "
            f"{MEMORY_PERCENT}% of their bytes in memory. The disks may read at most {DISK_TIMES:g} times the "
            "bytes requested. For a reader at random places, the read-ahead must not fetch anything."
        ),
        kind=Code(("read",)),
        check=_policy,
        why="It needs one number for each file: the record that comes next if the file is read in order.",
        hints=(
            "[(read.record + read.records, 2)] fetches the next two records, for every reader.",
            "Remember for each file where the last read ended; fetch only if this read starts there.",
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
)
