"""Notebook 06, one disk, one core: its tasks."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from seeklab._case import case
from seeklab.course.task import Task
from seeklab.judge import Bound, Cases, Change, Function, Mistake, Number, Settings, Table, Value, Word

if TYPE_CHECKING:
    from collections.abc import Mapping

    from seeklab._result import Result

CASE = "vdisk-sharding"
READS_ONLY = {"jobs[oltp].number_ios": 10, "jobs[restore].number_ios": 1, "record.log": False}
"""The disk of the random reads; the other two have hardly any work."""
CHOICES: dict[str, object] = {
    "controller.shards": 12,
    "controller.cores": 24,
    "controller.read": "30us",
    "controller.dispatch": "14us",
}
MIN_READS = 70_000


@cache
def _before() -> Result:
    return case(CASE).run("before")


def _worked() -> dict[str, float]:
    """Return how many seconds the thread of each job's disk worked."""
    worked = dict.fromkeys(_before().jobs, 0.0)
    for row in _before().cpu.rows():
        worked[_before().jobs[int(row["disk"])]] += row["busy_ns"] / 1e9
    return worked


def _elapsed(job: str) -> float:
    return float(_before().metrics[f"{job}.elapsed_s"])


def _busy(cores: int = 1) -> dict[str, float]:
    return {job: 100 * worked / _elapsed(job) / cores for job, worked in _worked().items()}


def _profile(*disks: str) -> dict[str, float]:
    """Return the ns of each function on one of these disks."""
    found: dict[str, float] = {}
    for line in _before().text("folded").splitlines():
        stack, spent = line.rsplit(" ", 1)
        disk, _thread, functions = stack.split(";", 2)
        if disk in disks:
            found[functions] = int(spent)
    return found


def _per_read(*disks: str) -> dict[str, float]:
    reads = _before().metrics["reads.read_ios"]
    return {functions: spent / reads / 1000 for functions, spent in _profile(*disks or ("disk 0",)).items()}


def _most(n: int, c: float, d: float, cores: float) -> float:
    return 1e6 * min(n / c, 1 / d, cores / (c + d))


@cache
def _sharded(path: str = "", value: object = None) -> Result:
    """Run the random reads with four shards, after a change."""
    changes = {path: value} if path else {}
    return case(CASE).with_({**READS_ONLY, "controller.only_spare_cores": False, **changes}).run("both")


def _was(path: str) -> Any:
    """Return a predicate that describes the reads/s before a change of this path."""
    return lambda changes: path in changes and f"It was {_sharded().metrics['reads.read_iops']:,.0f} before."


def _other_value(changes: Mapping[str, object]) -> str:
    return ", ".join(f"{path} at {CHOICES[path]!r}" for path, value in changes.items() if value != CHOICES[path])


TASKS = (
    Task(
        "vdisk/busy",
        question=(
            "Use before.cpu.rows(), which has a row for each thread: disk is the number of its disk, and busy_ns "
            "is how long it worked. The name of that disk's job is before.jobs[number]. For the job reads, "
            "before.metrics['reads.elapsed_s'] is how long its disk had work; other jobs have the same metric. "
            "For each job, what percentage of that time was the thread of its disk busy? Assign a dictionary with "
            "the names of the jobs as keys."
        ),
        kind=Table(Word(), Number(), "the name of a job, and the percentage for its disk"),
        check=Value(
            _busy,
            (
                Mistake("fraction", "That is a fraction; convert it to percent.", times=0.01),
                Mistake(
                    "all-cores",
                    "You divided by all cores. A thread runs on one of them at a time.",
                    gives=lambda: _busy(case(CASE).scenario("before")["controller"]["cores"]),
                ),
                Mistake(
                    "whole-run",
                    "You divided by the whole run. This disk had work for only part of it: use its own elapsed_s.",
                    gives=lambda: {job: 100 * worked / _before().simulated_s for job, worked in _worked().items()},
                ),
                Mistake(
                    "other",
                    "Its thread worked {match}.",
                    when=lambda found, _: next(f"{_worked()[job]:.3g} s of {_elapsed(job):.3g} s" for job in found),
                ),
            ),
            unit="%",
        ),
        why="Each disk has one thread that never rests while the disk has work; eleven cores are idle.",
        hints=(
            "for row in before.cpu.rows(): the job's name is before.jobs[int(row['disk'])].",
            "busy_ns / 1e9 are seconds; the seconds to divide by are before.metrics[f'{job}.elapsed_s'].",
            "Threads that did nothing have busy_ns 0: add up all rows of a disk.",
        ),
        answer=(
            "busy = dict.fromkeys(before.jobs, 0)\n"
            "for row in before.cpu.rows():\n"
            '    job = before.jobs[int(row["disk"])]\n'
            '    busy[job] += 100 * row["busy_ns"] / 1e9 / before.metrics[f"{job}.elapsed_s"]'
        ),
    ),
    Task(
        "vdisk/profile",
        question=(
            "The text of the profile is in folded. From the lines of disk 0, how many microseconds does each function "
            "take for one read? A line is disk;thread;functions, a blank, and nanoseconds. There were "
            "before.metrics['reads.read_ios'] reads. As the keys, use the functions as they are written, such as "
            '"read;look up map".'
        ),
        kind=Table(Word(), Number(), "the functions as they are written, and µs for each read"),
        check=Value(
            _per_read,
            (
                Mistake("nanoseconds", "That is in nanoseconds for each read; convert it to microseconds.", times=1e3),
                Mistake(
                    "all-reads",
                    "That covers all reads together, in nanoseconds; divide by the reads and convert to µs.",
                    gives=lambda: _profile("disk 0"),
                ),
                Mistake(
                    "all-disks",
                    "That is from another disk. Take only the lines of disk 0.",
                    gives=lambda: _per_read("disk 0", "disk 1", "disk 2"),
                ),
                Mistake("other", "Add up the profile's lines of this function for disk 0, and divide by its reads."),
            ),
            unit=" µs",
        ),
        why="No single function is the cause. Without the largest there would be less than twice as many reads.",
        hints=(
            "line.rsplit(' ', 1) splits off the number at the end.",
            "stack.split(';', 2) returns the disk, the thread, and the functions.",
            "Nanoseconds, over the number of reads, over 1000.",
        ),
        answer=(
            "costs = {}\n"
            "for line in folded.splitlines():\n"
            '    stack, spent = line.rsplit(" ", 1)\n'
            '    disk, thread, functions = stack.split(";", 2)\n'
            '    if disk == "disk 0":\n'
            '        costs[functions] = int(spent) / before.metrics["reads.read_ios"] / 1000'
        ),
    ),
    Task(
        "vdisk/formula",
        question=(
            "A shard works c microseconds on a read, the primary works d, and the node has a number of cores. Write "
            "most_reads(n, c, d, cores): how many reads a second can n shards do at most?"
        ),
        kind=Function("n, c, d and cores"),
        check=Cases(
            _most,
            ((1, 50.0, 20.0, 12), (2, 50.0, 20.0, 12), (8, 50.0, 20.0, 12), (4, 50.0, 10.0, 2)),
            "With n = {n}, c = {c:g} µs, d = {d:g} µs and {cores} cores",
            (
                Mistake("per-microsecond", "That is in reads a microsecond; return reads a second.", times=1e-6),
                Mistake(
                    "no-cores",
                    "That is more than {cores} cores can do: each read costs c + d of the time of a core.",
                    gives=lambda n, c, d, _: _most(n, c, d, float("inf")),
                ),
                Mistake(
                    "only-shards",
                    "That would be right if only the shards worked. Which other thread handles each read, and "
                    "how many reads can it handle?",
                    gives=lambda n, c, *_: 1e6 * n / c,
                ),
                Mistake(
                    "own-dispatch",
                    "That would be right if each shard did its own dispatching. The primary works while the shards "
                    "work.",
                    gives=lambda n, c, d, _: 1e6 * n / (c + d),
                ),
                Mistake("other", "Compute all three limits. Which of them is the lowest?"),
            ),
            unit=" reads/s",
            within=0.01,
        ),
        why="There are three limits: the shards, the primary and the cores. The lowest counts.",
        hints=(
            "n threads that need c microseconds for a read handle n / c reads a microsecond.",
            "The primary is one thread and handles each read: 1 / d. All cores together: cores / (c + d).",
            "min() of the three, times 1e6.",
        ),
        answer=("def most_reads(n, c, d, cores):\n    return 1e6 * min(n / c, 1 / d, cores / (c + d))"),
    ),
    Task(
        "vdisk/wall",
        question=(
            "A disk has four shards, and each request is a fifth cheaper. The vendor can afford one more change. "
            'It may be 12 shards ("controller.shards": 12) or 24 cores ("controller.cores": 24). It may also halve '
            'the work of a shard on a read ("controller.read": "30us"), or the work of the primary on it, the '
            'dispatch ("controller.dispatch": "14us"). Which one brings the disk above 70,000 reads/s?'
        ),
        kind=Settings(tuple(CHOICES)),
        check=Change(
            lambda changes: _sharded(*next(iter(changes.items()))),
            lambda: [Bound("reads.read_iops", at_least=MIN_READS)],
            stays=(
                Mistake(
                    "several",
                    "Make one change; these are {match}.",
                    when=lambda changes: len(changes) > 1 and len(changes),
                ),
                Mistake("other-value", "The vendor offers {match}.", when=_other_value),
            ),
            mistakes=(
                Mistake(
                    "more-shards",
                    "{match} The existing shards already wait for the primary.",
                    when=_was("controller.shards"),
                ),
                Mistake(
                    "more-cores", "{match} Most of the twelve cores are already idle.", when=_was("controller.cores")
                ),
                Mistake(
                    "cheaper-shards",
                    "{match} The shards work less for each read, and wait longer for the next.",
                    when=_was("controller.read"),
                ),
            ),
        ),
        why="The primary was the limit, and only less work for the primary raises it.",
        hints=(
            "Put c, d and the cores into your formula: which of the three limits is the smallest?",
            "With four shards 4 / c is far above 1 / d.",
            "Only controller.dispatch is in 1 / d.",
        ),
        answer='change = {"controller.dispatch": "14us"}',
    ),
)
