"""Notebook 04, a throttle that hurt: its tasks."""

from __future__ import annotations

import math
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

from seeklab._case import case
from seeklab.course.task import Task
from seeklab.judge import Cases, Counts, Fields, Function, Mistake, Number, Value

if TYPE_CHECKING:
    from collections.abc import Callable

CASE = "throttle-2008"
SECOND = 1e9
CLASSES = ("under 1 ms", "1 ms to 1 s", "1 s and more")


@cache
def _times() -> list[tuple[float, float]]:
    """Return when each write was submitted, and how long it took, in seconds."""
    ops = case(CASE).run("2008").ops
    return [(sent / SECOND, took / SECOND) for sent, took in zip(ops["submit_ns"], ops["latency_ns"], strict=True)]


def _class_of(latency_s: float) -> str:
    return CLASSES[0] if latency_s < 1e-3 else CLASSES[1] if latency_s < 1 else CLASSES[2]


@cache
def _waited() -> dict[str, float]:
    return {name: sum(took for _, took in _times() if _class_of(took) == name) for name in CLASSES}


@cache
def _writes() -> dict[str, int]:
    return {name: sum(_class_of(took) == name for _, took in _times()) for name in CLASSES}


def _ends(whole: Callable[[float], int] = round, *, at_its_end: bool = True) -> dict[int, int]:
    """Count the stalled writes by the second when they end, or when they begin."""
    return dict(Counter(whole(sent + took * at_its_end) for sent, took in _times() if took >= 1))


@cache
def _reached() -> dict[str, float]:
    chosen = case("delay-everything").with_({"jobs[writers].ramp_time": 0, "jobs[writers].runtime": "1s"})
    reached = {}
    for name, variant in (("A", "bug"), ("B", "intended")):
        zfs = chosen.scenario(variant)["zfs"]
        before = chosen.run(variant).metrics["zfs_writes_before_delay"]
        reached[name] = 100 * before * zfs["record"] / zfs["write_limit"]
    return reached


def _late_from(limit: int) -> int:
    return limit - (limit >> 3)


def _little(in_flight: Callable[[int], int] = lambda threads: threads) -> dict[int, float]:
    """Return the mean latency in ms by the number of threads."""
    crowd = case("thousand-threads").scenario("thousand")
    bytes_each, rate = crowd["jobs"][0]["bs"], crowd["devices"][0]["lun"]["rate"]
    return {threads: 1e3 * in_flight(threads) * bytes_each / rate for threads in (10, 1000)}


TASKS = (
    Task(
        "throttle/waited",
        question=(
            "Where did the time go? Add up the latencies of all writes in three classes: under 1 ms, 1 ms to 1 "
            "s, 1 s and more. Assign the seconds of each class. writes is a list of rows; row['latency_ns'] is "
            "in nanoseconds."
        ),
        kind=Fields(dict.fromkeys(CLASSES, Number())),
        check=Value(
            _waited,
            (
                Mistake("counts", "You counted the writes. Add up their latencies instead.", gives=_writes),
                Mistake("nanoseconds", "That is in nanoseconds; convert it to seconds.", times=1e9),
                Mistake("microseconds", "That is in microseconds; convert it to seconds.", times=1e6),
                Mistake("milliseconds", "That is in milliseconds; convert it to seconds.", times=1e3),
                Mistake(
                    "mean",
                    "That is the mean latency of these writes. Add up all of them.",
                    gives=lambda: {name: total / _writes()[name] for name, total in _waited().items()},
                ),
                Mistake("other", "The log adds up to something else. Is each write in exactly one class?"),
            ),
            unit=" s",
        ),
        why="Nearly all of the waiting is in the class with the fewest writes.",
        hints=(
            "Start with a dictionary of three zeros.",
            "For each row: seconds = row['latency_ns'] / 1e9, then find its class by comparing with 1e-3 and 1.",
            "Add the seconds to the class, not 1.",
        ),
        answer=(
            'waited = {"under 1 ms": 0, "1 ms to 1 s": 0, "1 s and more": 0}\n'
            "for row in writes:\n"
            '    seconds = row["latency_ns"] / 1e9\n'
            '    name = "under 1 ms" if seconds < 1e-3 else "1 ms to 1 s" if seconds < 1 else "1 s and more"\n'
            "    waited[name] += seconds"
        ),
    ),
    Task(
        "throttle/rhythm",
        question=(
            "Use the writes that took a second or longer. A write ends at submit_ns + latency_ns. Round that to "
            "whole seconds of the run, and count how many writes end at each. Assign a dictionary with the "
            "seconds as keys and the counts as values."
        ),
        kind=Counts(Number(), "a second of the run, and how many slow writes ended at it"),
        check=Value(
            _ends,
            (
                Mistake(
                    "begins",
                    "These are the seconds when the stalled writes started. When does each end? Add its latency.",
                    when=lambda found, _: found in (_ends(edge, at_its_end=False) for edge in (round, int)),
                ),
                Mistake(
                    "not-only-stalls",
                    "You counted {match:,} writes, but far fewer took a second or longer. Ignore the others.",
                    when=lambda found, truth: sum(found.values()) > sum(truth.values()) and sum(found.values()),
                ),
                Mistake(
                    "other",
                    "You have {match} stalled writes. Round the second when each of them ends.",
                    when=lambda found, _: str(sum(found.values())),
                ),
            ),
            also=lambda: [_ends(int)],
            whole=True,
        ),
        why="As many writes end together as there are threads: something releases all of them at once.",
        hints=(
            "Keep the rows with row['latency_ns'] >= 1e9.",
            "round((row['submit_ns'] + row['latency_ns']) / 1e9) is the second when a write ends.",
            "collections.Counter counts how often each value occurs: Counter(round(...) for row in writes if ...).",
        ),
        answer=(
            "ends = Counter(\n"
            '    round((row["submit_ns"] + row["latency_ns"]) / 1e9) for row in writes if row["latency_ns"] >= 1e9\n'
            ")"
        ),
    ),
    Task(
        "throttle/reached",
        question=(
            "How full was the group when the first write slept, in percent of its limit? The counter "
            "zfs_writes_before_delay is the number of writes that entered before; a write has 8 KiB, and a group "
            "has 500 MiB. tickets has the results of A and B."
        ),
        kind=Fields({"A": Number(), "B": Number()}),
        check=Value(
            _reached,
            (
                Mistake("fraction", "That is a fraction; convert it to percent.", times=0.01),
                Mistake(
                    "swapped",
                    "You have A's number under B. Which of the two runs lets more writes in before one sleeps?",
                    when=lambda found, _: len(found) == 2 and found["A"] > found["B"],
                ),
                Mistake(
                    "over-100",
                    "That is more than a whole group. Multiply the writes by the bytes of one, and divide by the bytes "
                    "of a group.",
                    when=lambda found, _: found.get("B", 0) > 100,
                ),
                Mistake("other", "Multiply the writes by the bytes of one, and divide by the bytes of a group."),
            ),
            unit="%",
            within=0.001,
            apart=0.1,
        ),
        why="B starts to slow writers down at 7/8 of the limit. A starts with the first byte.",
        hints=(
            'tickets["A"].metrics["zfs_writes_before_delay"] is a number of writes.',
            "Times 8 * 1024 gives bytes; a limit of 500 MiB is 500 * 1024 * 1024.",
            "Times 100 for percent.",
        ),
        answer=(
            "reached = {\n"
            '    name: 100 * run.metrics["zfs_writes_before_delay"] * 8 * KIB / (500 * MIB)\n'
            "    for name, run in tickets.items()\n"
            "}"
        ),
    ),
    Task(
        "throttle/late",
        question="Fix it: write late_from(limit) so that it returns 7/8 of the limit, using a shift for the division.",
        kind=Function("the limit in bytes"),
        check=Cases(
            _late_from,
            [(500 << 20,), (180 << 20,), (1001,)],
            "For a limit of {limit:,}",
            (
                Mistake(
                    "precedence",
                    "A minus binds tighter than a shift, so the two limits are subtracted first. Add parentheses.",
                    gives=lambda _: 0,
                ),
                Mistake(
                    "shift-left",
                    "A shift to the left multiplies. Which direction divides?",
                    when=lambda found, *_: found < 0,
                ),
                Mistake(
                    "last-eighth",
                    "That is the last eighth itself. Writes sleep from its start.",
                    gives=lambda limit: limit / 8,
                ),
                Mistake(
                    "no-shift",
                    "A shift divides whole numbers and drops the rest of the eighth. Your division keeps a "
                    "fraction, or drops the rest of something else.",
                    when=lambda found, _, limit: math.floor(found) == limit * 7 // 8,
                ),
                Mistake("other", "Subtract an eighth of the limit from the limit."),
            ),
            within=0,
        ),
        why="A shift by three bits to the right divides by eight, and the parentheses make it come first.",
        hints=(
            "What is 8 << 3, and what is 8 >> 3?",
            "In Python, as in C, a minus binds tighter than a shift.",
            "limit - (limit >> 3)",
        ),
        answer="def late_from(limit):\n    return limit - (limit >> 3)",
    ),
    Task(
        "throttle/little",
        question=(
            "Use Little's law, requests in flight = rate x latency: how many milliseconds does the mean write take "
            "with 10 and with 1000 threads? A write has 8 KiB, the disks take 100 MiB/s, and each thread has one write "
            "in flight."
        ),
        kind=Fields({10: Number(), 1000: Number()}),
        check=Value(
            _little,
            (
                Mistake("seconds", "That is in seconds; convert it to milliseconds.", times=1e-3),
                Mistake(
                    "one-write",
                    "That is the time that the disks need for one write. How many are in the system at the same time?",
                    gives=lambda: _little(lambda _: 1),
                ),
                Mistake("other", "Divide the writes in flight by the rate in writes a second."),
            ),
            unit=" ms",
            within=0.02,
            label="{key} threads",
        ),
        why="A hundred times as many writes are in flight at the same rate, so the mean is a hundred times as long. "
        "The formula does not depend on a throttle.",
        hints=(
            "Solve for the latency: in flight / rate. The rate must be in writes a second.",
            "100 MiB/s in writes of 8 KiB: 100 * MIB / (8 * KIB) writes a second.",
            "Times 1000 for milliseconds.",
        ),
        answer="little = {threads: 1000 * threads / (100 * MIB / (8 * KIB)) for threads in (10, 1000)}",
    ),
)
