"""Notebook 02, how a disk spends your time: its tasks."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from seeklab._result import run
from seeklab.course.task import Task
from seeklab.judge import ANSWER, Bound, Evidence, Fields, Mistake, Number, Settings, Value, diagnose

if TYPE_CHECKING:
    from collections.abc import Mapping

    from seeklab._result import Result
    from seeklab.judge import Asked

PHASES = ("overhead", "seek", "rotation", "transfer")
MYSTERY_RPM = 10_000
IN_FLIGHT = 64
MIN_READS = 180
MAX_MS = 800
SETTINGS = ("queue_policy", "queue_depth", "longest_overtaken")
NEAR = 0.05


def _random_reads(hdd: Mapping[str, object], *, seed: int = 1, log: bool = True, **job: object) -> Result:
    job = {"name": "app", "rw": "randread", "bs": 4096, "number_ios": 2000, "size": "100%", **job}
    disk = {"name": "disk", "preset": "hdd-7200", "hdd": dict(hdd)}
    return run({"jobs": [job], "devices": [disk], "record": {"log": log}}, seed=seed)


@cache
def one_by_one() -> Result:
    """Return the run of the report: random reads of 4 KiB, one at a time."""
    return _random_reads({})


@cache
def unlabelled() -> Result:
    """Return a run on a disk without a label."""
    return _random_reads({"rpm": MYSTERY_RPM}, seed=4)


def _spent(of: float = 1) -> dict[str, float]:
    """Return the nanoseconds of each phase in all reads, in units of `of`."""
    return {name: sum(one_by_one().ops[f"{name}_ns"]) / of for name in PHASES}


BOUNDS = (Bound("app.read_iops", at_least=MIN_READS), Bound("app.read_latency_max_ms", at_most=MAX_MS))
QUEUES = (
    Mistake(
        "overtaken",
        "That is fast enough, but some requests wait too long: lower longest_overtaken step by step.",
        when=lambda _, metrics: metrics["app.read_iops"] >= MIN_READS,
    ),
    Mistake(
        "no-rotation",
        "This order ignores the rotation; which one considers it?",
        when=lambda chosen, _: chosen.get("queue_policy") in {"fcfs", "c-look", "sstf"},
    ),
    Mistake(
        "shallow",
        "The drive holds {match} requests and chooses among them; the others wait outside, in order.",
        when=lambda chosen, _: chosen.get("queue_depth", 32) < 16 and chosen["queue_depth"],
    ),
    Mistake(
        "overdue",
        "Nearly all requests are overdue, so the drive serves the oldest one and does not choose.",
        when=lambda _, metrics: metrics["app.read_latency_max_ms"] > MAX_MS,
    ),
    Mistake("no-choice", "No request waits too long, but the drive has too few to choose from, or may not choose."),
)


def _queue(asked: Asked) -> list[Evidence]:
    checked: list[Evidence] = []
    chosen = asked.answers[ANSWER]
    for seed in (1, 2):
        result = _random_reads(chosen, seed=seed, log=False, iodepth=IN_FLIGHT, norandommap=True, number_ios=3000)
        checked = [bound.check(result, None) for bound in BOUNDS]
        if not all(item.met for item in checked):
            mistake = diagnose(QUEUES, chosen, result.metrics)
            return [item.because(mistake) for item in checked]
    return checked


TASKS = (
    Task(
        "disk/shares",
        question=(
            "log = one_by_one().ops is the operation log of the report's reads. Each of its columns has a number for "
            "each read: log['latency_ns'] is how long it took, and log['overhead_ns'], log['seek_ns'], "
            "log['rotation_ns'] and log['transfer_ns'] are its parts. What percentage of the total time is each of the "
            "four? Use the keys overhead, seek, rotation and transfer."
        ),
        kind=Fields(dict.fromkeys(PHASES, Number())),
        check=Value(
            lambda: _spent(sum(one_by_one().ops["latency_ns"]) / 100),
            (
                Mistake("fraction", "Multiply by 100 for percent.", times=0.01),
                Mistake(
                    "nanoseconds",
                    "That is in nanoseconds, for all reads together; divide by the total of latency_ns.",
                    gives=_spent,
                ),
                Mistake("other", "Add up this phase over all reads, and divide by the sum of their latencies."),
            ),
            apart=0.01,
        ),
        why="Seek and rotation take nearly all of the time. A faster interface cannot help this program.",
        hints=(
            "A column is a sequence of numbers: sum(log['seek_ns']) is the seek time of all reads together.",
            "Divide by sum(log['latency_ns']), and multiply by 100.",
            "A dictionary comprehension over the four names does all of them.",
        ),
        answer=(
            "log = one_by_one().ops\n"
            'total = sum(log["latency_ns"])\n'
            'shares = {name: 100 * sum(log[f"{name}_ns"]) / total\n'
            '          for name in ("overhead", "seek", "rotation", "transfer")}'
        ),
    ),
    Task(
        "disk/rpm",
        question=(
            "unlabelled().ops is the log of another disk, which has lost its label; it also served random reads "
            "of 4 KiB. How many turns per minute does it make? An answer within 5% is enough."
        ),
        kind=Number(),
        check=Value(
            lambda: MYSTERY_RPM,
            (
                Mistake(
                    "whole-turn",
                    "That is twice too fast: you took the mean wait for a whole turn. The data can be "
                    "anywhere on the track, so a read waits half a turn on average.",
                    times=2,
                ),
                Mistake(
                    "milliseconds",
                    ("That looks like milliseconds. How many turns of that length are in a minute, which has 60,000?"),
                    when=lambda found, rpm: any(abs(found * rpm / ms - 1) <= NEAR for ms in (60_000, 30_000)),
                ),
                Mistake("per-second", ("That is turns per second; convert it to turns per minute."), times=1 / 60),
                Mistake(
                    "longest",
                    "That is from the longest wait. A few reads cross the end of a track and wait twice, so the "
                    "longest is more than a turn; use the mean.",
                    gives=lambda: 60_000 * 1e6 / max(unlabelled().ops["rotation_ns"]),
                ),
                Mistake("other", "That does not fit the log: the mean of rotation_ns is half a turn."),
            ),
            within=NEAR,
        ),
        why="A number on a label, found in a log. You can do that on a machine that you cannot touch.",
        hints=(
            "The column rotation_ns is how long each read waited for the platter.",
            "For random positions the wait is anything from zero to a whole turn: half a turn on average.",
            "A minute has 60,000 ms, and a turn takes twice the mean wait: 60_000 / (2 * mean wait in ms).",
        ),
        answer=('waits = unlabelled().ops["rotation_ns"]\nrpm = 60_000 / (2 * sum(waits) / len(waits) / 1e6)'),
    ),
    Task(
        "disk/queue",
        question=(
            f"{IN_FLIGHT} random reads are always in flight. Configure the drive so that it makes at least "
            f"{MIN_READS} reads per second and no read takes longer than {MAX_MS} ms. Assign a dictionary with "
            "queue_policy (fcfs, sstf, c-look, satf), queue_depth and longest_overtaken. The queue_depth is the "
            "number of requests in the drive; the others wait outside, in order. The limit longest_overtaken is "
            "how long a request may be passed over, such as '2s'."
        ),
        kind=Settings(SETTINGS),
        check=_queue,
        why="The drive still chooses, and stops choosing just before a request has waited too long.",
        hints=(
            "Only one of the four orders comes near the rate: the one that considers both arm and platter.",
            "With the limit of 2 s the rate is high enough, but the longest read takes too long. Lower the limit.",
            "If it is too low, every request is overdue, and the drive serves in order of arrival. Try 300 ms to 1 s.",
        ),
        answer='setting = {"queue_policy": "satf", "queue_depth": 32, "longest_overtaken": "500ms"}',
    ),
)
