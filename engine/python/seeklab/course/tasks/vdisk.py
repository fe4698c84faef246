"""Notebook 06, one disk, one core: what the learner writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seeklab._case import case
from seeklab.course.task import UnconvertedTask as Task

if TYPE_CHECKING:
    from collections.abc import Callable

CASE = "vdisk-sharding"
READS_ONLY = {"jobs[oltp].number_ios": 10, "jobs[restore].number_ios": 1, "record.log": False}
"""The disk of the random reads; the other two hardly take part."""
CHOICES: dict[str, object] = {
    "controller.shards": 12,
    "controller.cores": 24,
    "controller.read": "30us",
    "controller.dispatch": "14us",
}
WANTED = 70_000


def _numbers(answer: Any) -> dict[str, float]:  # noqa: ANN401 -- whatever the learner has made
    return {str(key): float(value) for key, value in dict(answer).items()}


def _near(given: float, right: float) -> bool:
    return abs(given - right) <= 0.01 * abs(right)


def _busy_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    result = case(CASE).run("before")
    cores = case(CASE).scenario("before")["controller"]["cores"]
    found = _numbers(answer)
    busy = dict.fromkeys(result.jobs, 0.0)
    for row in result.cpu.rows():
        busy[result.jobs[int(row["disk"])]] += row["busy_ns"] / 1e9
    if set(found) != set(busy):
        return f"The keys are the names of the jobs: {', '.join(result.jobs)}."
    for job, busy_s in busy.items():
        right = 100 * busy_s / result.metrics[f"{job}.elapsed_s"]
        given = found[job]
        if _near(given, right):
            continue
        if _near(100 * given, right):
            return f"{job}: {given:.3g} is a fraction; wanted is percent."
        if _near(given * cores, right):
            return f"{job}: you divided by all {cores} cores. A thread runs on one of them at a time."
        if _near(given, 100 * busy_s / result.simulated_s):
            return f"{job}: you divided by the whole run. This disk had work for a part of it: take its own elapsed_s."
        return f"{job}: you give {given:.4g} %; its thread worked {busy_s:.3g} s of {busy_s * 100 / right:.3g} s."
    return None


def _profile_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    result = case(CASE).run("before")
    reads = result.metrics["reads.read_ios"]
    found = _numbers(answer)
    truth: dict[str, float] = {}
    for line in result.text("folded").splitlines():
        stack, spent = line.rsplit(" ", 1)
        disk, _thread, functions = stack.split(";", 2)
        if disk == "disk 0":
            truth[functions] = truth.get(functions, 0) + int(spent) / reads / 1000
    lacking = [name for name in truth if name not in found]
    if lacking:
        return f'"{lacking[0]}" is not among your keys: take what stands after the thread\'s name, as it is.'
    if set(found) - set(truth):
        return f'"{min(set(found) - set(truth))}" is not a function of disk 0: leave the other disks out.'
    for name, right in truth.items():
        given = found[name]
        if _near(given, right):
            continue
        if _near(given, right * 1000):
            return f"{name}: {given:,.0f} are nanoseconds for each read; wanted are microseconds."
        if _near(given, right * reads * 1000) or _near(given, right * reads):
            return f"{name}: {given:,.0f} is all reads together; divide by the number of reads, {reads:,.0f}."
        return f"{name}: you give {given:.4g}, the profile {right:.4g} µs for each read."
    return None


def _formula_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of n, c, d and cores; this is {type(answer).__name__}."
    most: Callable[[int, float, float, int], float] = answer
    for what, (n, c, d, cores) in {
        "one shard": (1, 50.0, 20.0, 12),
        "few shards": (2, 50.0, 20.0, 12),
        "many shards": (8, 50.0, 20.0, 12),
        "two cores": (4, 50.0, 10.0, 2),
    }.items():
        right = 1e6 * min(n / c, 1 / d, cores / (c + d))
        given = float(most(n, c, d, cores))
        if not _near(given, right):
            told = f"{what} (n = {n}, c = {c:g} µs, d = {d:g} µs, {cores} cores): you give {given:,.4g}, "
            return told + _forgotten(given, right, (n, c, d, cores))
    return None


def _forgotten(given: float, right: float, node: tuple[int, float, float, int]) -> str:
    n, c, d, cores = node
    if _near(given * 1e6, right):
        return "which are reads a microsecond; wanted are reads a second."
    if _near(given, 1e6 * min(n / c, 1 / d)):
        return f"more than {cores} cores can do: each read costs c + d of somebody's core."
    if _near(given, 1e6 * n / c):
        return "as if only the shards worked. Who else touches each read, and how many can that one do?"
    if _near(given, 1e6 * n / (c + d)):
        return "as if each shard did its own dispatching. The primary works while the shards work."
    return f"right is {right:,.4g}. Which of the three walls comes first?"


def _wall_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    changes = {str(key): value for key, value in dict(answer).items()}
    if len(changes) != 1:
        return f"Wanted is one change; these are {len(changes)}."
    ((path, value),) = changes.items()
    if path not in CHOICES:
        return f'"{path}" is not on offer; these are: {", ".join(CHOICES)}.'
    if value != CHOICES[path]:
        return f"{path} is on offer at {CHOICES[path]!r}, not at {value!r}."
    system = case(CASE).with_({**READS_ONLY, "controller.only_spare_cores": False})
    reads = system.with_(changes).run("both").metrics["reads.read_iops"]
    if reads >= WANTED:
        return None
    before = system.run("both").metrics["reads.read_iops"]
    why = {
        "controller.shards": "The shards that are there already wait for the primary.",
        "controller.cores": "Most of the twelve cores have nothing to do as it is.",
        "controller.read": "The shards work less for each read, and wait longer for the next.",
    }[path]
    return f"{reads:,.0f} reads/s, where it was {before:,.0f}. {why}"


TASKS = {
    "vdisk/busy": Task(
        question=(
            "before.cpu.rows() has a row for each thread, with disk, the number of its disk, and busy_ns, how long it "
            "worked. before.jobs[number] is the name of that disk's job. before.metrics['reads.elapsed_s'] says how "
            "long the disk of the job reads had work, and so on. How many percent of that time was each disk's thread "
            "busy?"
        ),
        wants="a dictionary: the name of a job, and the percent for its disk",
        wrong=_busy_wrong,
        why="Each disk has one thread that never rests while the disk has work, and eleven cores have nothing to do.",
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
    "vdisk/profile": Task(
        question=(
            "The text of the profile is in folded. From the lines of disk 0, say how many microseconds each function "
            "takes for one read. A line is disk;thread;functions, a blank, and nanoseconds. There were "
            "before.metrics['reads.read_ios'] reads."
        ),
        wants='a dictionary: the functions as they stand, such as "read;look up map", and microseconds for each read',
        wrong=_profile_wrong,
        why="No single function is to blame. Without the largest there would be less than twice as many reads.",
        hints=(
            "line.rsplit(' ', 1) splits off the number at the end.",
            "stack.split(';', 2) gives the disk, the thread, and the functions.",
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
    "vdisk/formula": Task(
        question=(
            "A shard works c microseconds on a read, the primary d, and the node has a number of cores. Write "
            "most_reads(n, c, d, cores), which says how many reads a second n shards can do at most."
        ),
        wants="a function of n, c, d and cores that gives reads a second",
        wrong=_formula_wrong,
        why="There are three limits, the shards, the primary and the cores, and the lowest counts.",
        hints=(
            "n threads that need c microseconds for a read do n / c reads a microsecond.",
            "The primary is one thread and sees each read: 1 / d. All cores together: cores / (c + d).",
            "min() of the three, times 1e6.",
        ),
        answer=("def most_reads(n, c, d, cores):\n    return 1e6 * min(n / c, 1 / d, cores / (c + d))"),
    ),
    "vdisk/wall": Task(
        question=(
            "A disk has four shards, and each request is a fifth cheaper. The vendor can afford one more change: 12 "
            "shards, 24 cores, half the work of a shard on a read (30us), or half the work of the primary on it (the "
            "dispatch, 14us). Which one brings the disk beyond 70,000 reads/s?"
        ),
        wants='a dictionary with one entry: "controller.shards": 12, "controller.cores": 24, "controller.read": "30us" '
        'or "controller.dispatch": "14us"',
        wrong=_wall_wrong,
        why="The primary was the limit, and only less work for the primary raises it.",
        hints=(
            "Put c, d and the cores into your formula: which of the three limits is the smallest?",
            "With four shards 4 / c is far above 1 / d.",
            "Only controller.dispatch is in 1 / d.",
        ),
        answer='change = {"controller.dispatch": "14us"}',
    ),
}
