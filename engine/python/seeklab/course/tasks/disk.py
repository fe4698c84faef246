"""Notebook 02, how a disk spends your time: what the learner writes."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from seeklab._result import run
from seeklab.course.task import UnconvertedTask as Task

if TYPE_CHECKING:
    from collections.abc import Mapping

    from seeklab._result import Result

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
    """Give the run whose operation log is taken apart: random reads of 4 KiB, one at a time."""
    return _random_reads({})


@cache
def unlabelled() -> Result:
    """Give a run on a disk whose speed is not told."""
    return _random_reads({"rpm": MYSTERY_RPM}, seed=4)


def _shares_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    log = one_by_one().ops
    total = sum(log["latency_ns"])
    truth = {name: 100 * sum(log[f"{name}_ns"]) / total for name in PHASES}
    found = {str(name).removesuffix("_ns"): float(value) for name, value in dict(answer).items()}
    missing = [name for name in PHASES if name not in found]
    if missing:
        return f"Missing among your keys: {', '.join(missing)}."
    for name, value in truth.items():
        given = found[name]
        if abs(given - value) <= 0.01 * max(value, 1):
            continue
        if abs(given - value / 100) <= 0.0001 * max(value, 1):
            return f"{name}: you give {given:.3g}; wanted are percent, so multiply by 100."
        if abs(given - value * total / 100) <= 0.01 * value * total / 100:
            return f"{name}: you give {given:,.0f}, nanoseconds of all reads together; divide by those of latency_ns."
        return f"{name}: you give {given:.3g} %, the log gives {value:.3g} % of the total time."
    return None


def _rpm_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    given = float(answer)
    if abs(given / MYSTERY_RPM - 1) <= NEAR:
        return None
    turn_ms = 60_000 / MYSTERY_RPM
    if abs(given / (2 * MYSTERY_RPM) - 1) <= NEAR:
        return (
            f"{given:,.0f} is twice too fast: you took the mean wait for a whole turn. Data come by at any moment of a "
            "turn, so a read waits half of one on average."
        )
    if abs(given / turn_ms - 1) <= NEAR or abs(given / (turn_ms / 2) - 1) <= NEAR:
        return f"{given:.3g} looks like milliseconds. How many turns are that in a minute, which has 60,000?"
    if abs(given / (MYSTERY_RPM / 60) - 1) <= NEAR:
        return f"{given:.3g} turns a second; wanted are turns a minute."
    longest_ms = max(unlabelled().ops["rotation_ns"]) / 1e6
    if abs(given / (60_000 / longest_ms) - 1) < 0.01:  # noqa: PLR2004 -- one percent
        return (
            f"{given:,.0f} comes from the longest wait. A few reads go over the end of a track and wait twice, so the "
            "longest is more than a turn; use the mean."
        )
    return f"{given:,.0f} does not fit the log: the mean of rotation_ns is half a turn."


def _queue_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    chosen = {str(name): value for name, value in dict(answer).items()}
    unknown = sorted(set(chosen) - set(SETTINGS))
    if unknown or not chosen:
        return f"Wanted are values for {', '.join(SETTINGS)}" + (f"; {unknown[0]} is none of them." if unknown else ".")
    for seed in (1, 2):
        metrics = _random_reads(
            chosen, seed=seed, log=False, iodepth=IN_FLIGHT, norandommap=True, number_ios=3000
        ).metrics
        reads, longest = metrics["app.read_iops"], metrics["app.read_latency_max_ms"]
        if reads < MIN_READS or longest > MAX_MS:
            told = f"With these {reads:.0f} reads a second and a longest of {longest:,.0f} ms."
            return f"{told} {_queue_reason(chosen, reads, longest)}"
    return None


def _queue_reason(chosen: Mapping[str, object], reads: float, longest_ms: float) -> str:
    depth = chosen.get("queue_depth", 32)
    if reads >= MIN_READS:
        return "Fast enough, but somebody is overtaken for too long: lower longest_overtaken bit by bit."
    if chosen.get("queue_policy") in ("fcfs", "c-look", "sstf"):
        return "This order does not count the rotation; which one does?"
    if isinstance(depth, int) and depth < 16:  # noqa: PLR2004 -- with fewer it cannot reach the rate
        return f"The drive holds {depth} and chooses among them; the others wait outside, in order."
    if longest_ms > MAX_MS:
        return "Nearly everybody is at the limit, so the drive serves the oldest and chooses nothing."
    return "Nobody waits too long; the drive has too few requests to choose from, or may not choose."


TASKS = {
    "disk/shares": Task(
        question=(
            "log = one_by_one().ops is the operation log of the report's reads. Each of its columns has a number for "
            "each read: log['latency_ns'] is how long it took, and log['overhead_ns'], log['seek_ns'], "
            "log['rotation_ns'] and log['transfer_ns'] are the parts. What percentage of the total time is each of the "
            "four?"
        ),
        wants="a dictionary: overhead, seek, rotation and transfer, and the percent of each",
        wrong=_shares_wrong,
        why="Seek and rotation are nearly everything. A faster interface cannot help this program.",
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
    "disk/rpm": Task(
        question=(
            "unlabelled().ops is the log of another disk, whose label has come off; again it served random reads of "
            "4 KiB. How many turns a minute does it make? An answer within 5 % will do."
        ),
        wants="a number of turns a minute",
        wrong=_rpm_wrong,
        why="A number on a label, found in a log. You can do that on a machine that you cannot touch.",
        hints=(
            "The column rotation_ns says how long each read waited for the platter.",
            "At random places the wait is anything from nothing to a whole turn: half a turn on average.",
            "A minute has 60,000 ms, and a turn takes twice the mean wait: 60_000 / (2 * mean wait in ms).",
        ),
        answer=('waits = unlabelled().ops["rotation_ns"]\nrpm = 60_000 / (2 * sum(waits) / len(waits) / 1e6)'),
    ),
    "disk/queue": Task(
        question=(
            f"{IN_FLIGHT} random reads are always in flight. Set up the drive so that it makes at least {MIN_READS} "
            f"reads a second and no read takes longer than {MAX_MS} ms. You may choose queue_policy (fcfs, sstf, "
            "c-look, satf), queue_depth (how many requests the drive holds; the others wait outside, in order) and "
            "longest_overtaken (how long a request may be passed over, such as '2s')."
        ),
        wants="a dictionary with queue_policy, queue_depth and longest_overtaken",
        wrong=_queue_wrong,
        why="The drive still chooses, and gives up choosing just before somebody has waited too long.",
        hints=(
            "Only one of the four orders comes near the rate: the one that counts arm and platter.",
            "With the limit of 2 s the rate is high enough, but the longest read takes too long. Lower the limit.",
            "If it is too low, every request is overdue, and the drive serves in order of arrival. Try 300 ms to 1 s.",
        ),
        answer='setting = {"queue_policy": "satf", "queue_depth": 32, "longest_overtaken": "500ms"}',
    ),
}
