"""Notebook 05, delay everyone a little: its tasks."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from seeklab._case import case
from seeklab.course.task import Task
from seeklab.decisions.throttle import run_throttle
from seeklab.judge import ANSWER, Bound, Code, Evidence, Fields, Mistake, Number, Value, Without

if TYPE_CHECKING:
    from seeklab._result import Result
    from seeklab.decisions.throttle import ThrottlePolicy
    from seeklab.judge import Asked

MB = 1_000_000
TRIAL = {
    "record.log": False,
    "zfs.dirty_data_max": "64MiB",
    "zfs.dirty_data_sync": "8MiB",
    "zfs.record": "256KiB",
    "jobs[writers].bs": "256KiB",
    "jobs[writers].ramp_time": "4s",
    "jobs[writers].runtime": "4s",
}
CROWDS = (5, 40)
MAX_TIMES = 3
MIN_RATE = 0.9
BEGINS = 60
"""Percent of dirty data when OpenZFS starts to delay, as in the question's formula."""


def trial(policy: ThrottlePolicy | str, writers: int) -> Result:
    """Run a throttle on disks of 36 MiB/s with a small buffer, for a few seconds."""
    system = case("openzfs-throttle").with_({**TRIAL, "jobs[writers].numjobs": writers})
    return run_throttle(system, policy, variant="openzfs")


def fair_ms(writers: int) -> float:
    """Return the latency of a write in the trial if all take the same, by Little's law."""
    scenario = case("openzfs-throttle").with_(TRIAL).scenario("openzfs")
    return float(1000 * writers * scenario["zfs"]["record"] / scenario["devices"][0]["lun"]["rate"])


def disks_mib_per_s() -> float:
    """Return the rate of the trial's disks."""
    return float(case("openzfs-throttle").scenario("openzfs")["devices"][0]["lun"]["rate"] / (1 << 20))


def _curve(block: int) -> tuple[float, float]:
    """Return the scale of the delay, and the disks' time for a block of this many KiB, in seconds."""
    scenario = case("openzfs-throttle").scenario("small-blocks")
    return scenario["zfs"]["delay_scale"] / 1e9, block * 1024 / scenario["devices"][0]["lun"]["rate"]


def _policy(asked: Asked) -> list[Evidence]:
    disks, checked = disks_mib_per_s(), []
    for writers in CROWDS:
        fair = fair_ms(writers)
        bounds = (
            Bound(
                "zfs_blocked_writes",
                at_most=0,
                why=Mistake(
                    "full",
                    f"With {writers} writers, some writes found the buffer full and had to stop. The delay must "
                    "grow without limit as the buffer fills; otherwise some number of writers is always too "
                    "large.",
                ),
            ),
            Bound(
                "writers.write_mib_per_s",
                at_least=MIN_RATE * disks,
                why=Mistake(
                    "slow",
                    f"With {writers} writers, too little gets in; the disks take {disks:.0f} MiB/s. Your delay is too "
                    "long for so few writers, or it never ends.",
                ),
            ),
            Bound(
                "writers.write_latency_max_ms",
                at_most=MAX_TIMES * fair,
                why=Mistake(
                    "jump",
                    f"With {writers} writers, an even share is {fair:.0f} ms. A delay that starts with a jump "
                    "lets some writes pass and makes others wait: let it start at 0.",
                ),
            ),
        )
        with asked.play(ANSWER) as policy:
            result = trial(policy, writers)
        checked = [bound.check(result, None) for bound in bounds]
        if not all(item.met for item in checked):
            break
    return checked


def _settled() -> dict[int, float]:
    settled = {}
    for block in (8, 128):
        scale_s, spent_s = _curve(block)
        settled[block] = (100 * spent_s + BEGINS * scale_s) / (spent_s + scale_s)
    return settled


def _at(block: int, percent: float) -> str:
    scale_s, spent_s = _curve(block)
    delay_s = scale_s * (percent - BEGINS) / (100 - percent)
    return f"At {percent:.4g}% the delay is {1e6 * delay_s:,.0f} µs, and the disks take {1e6 * spent_s:,.0f} µs"


@cache
def _delayed(maximum: float) -> float:
    sizing = case("dirty-sizing").with_({"zfs.dirty_data_max": round(maximum), "record.log": False})
    return float(sizing.run("200-mb").metrics["zfs_delayed_share_percent"])


@cache
def _shares() -> list[float]:
    lines = re.findall(r"(?<!\d)(\d++)MB of (\d+)MB", case("tune-openzfs").run("mixed").text("dirty"))
    return [100 * int(used) / int(most) for used, most in lines]


TASKS = (
    Task(
        "even/policy",
        question=(
            "Write a throttle. policy(dirty, limit, history) is called for each write and returns the "
            "nanoseconds that the write must sleep; dirty and limit are in bytes. It must work for both 5 and 40 "
            "writers, on disks of 36 MiB/s and with a buffer of 64 MiB. No write may find the buffer full. At "
            "least 90% of the disks' rate must get in. No write may take longer than three times the even share, "
            "the time of each write if all waited equally long."
        ),
        kind=Code(("dirty", "limit", "history")),
        check=_policy,
        why="It knows neither the writers nor the disks. It uses only the dirty share, and settles by itself.",
        hints=(
            "A constant delay is right for one number of writers only. Make it depend on dirty / limit.",
            "Let it start at 0 when about half of the buffer is dirty, and grow ever faster towards the limit.",
            "Divide by the free space: 50e6 * (dirty - 0.6 * limit) / (limit - dirty), and never return less than 0.",
        ),
        answer=(
            "def policy(dirty, limit, history):\n    return max(0, 50e6 * (dirty - 0.6 * limit) / (limit - dirty))"
        ),
    ),
    Task(
        "even/settled",
        question=(
            "Once the system has settled, the delay equals the time t that the disks take for one block. Solve t "
            "= s * (x - 0.6) / (1 - x) for the dirty share x. The disks take 100 MB/s, and the scale s is 500 "
            "µs. Where does the system settle with blocks of 8 and of 128 KiB? Assign a dictionary with the keys "
            "8 and 128, in percent of the maximum."
        ),
        kind=Fields({8: Number(), 128: Number()}),
        check=Value(
            _settled,
            (
                Mistake("fraction", "That is a fraction; convert it to percent.", times=0.01),
                Mistake(
                    "no-delay",
                    f"At {BEGINS}% there is no delay, and writers would arrive at full speed.",
                    gives={8: BEGINS, 128: BEGINS},
                ),
                Mistake(
                    "off-curve",
                    f"That is not on the curve, which goes from {BEGINS}% to 100%.",
                    when=lambda found, _: not BEGINS <= next(iter(found.values())) < 100,
                ),
                Mistake(
                    "other",
                    "{match} for a block. In balance the two are equal.",
                    when=lambda found, _: _at(*next(iter(found.items()))),
                ),
            ),
            unit="%",
            within=0,
            apart=0.5,
            label="{key} KiB",
        ),
        why="With larger blocks it settles higher, because the disks take longer for each. The number of writers "
        "does not matter.",
        hints=(
            "t = block * 1024 / 100e6 seconds.",
            "Multiply out: t - t x = s x - 0.6 s, so x = (t + 0.6 s) / (t + s).",
            "Times 100 for percent.",
        ),
        answer=(
            "settled = {}\n"
            "for block in (8, 128):\n"
            "    t = block * 1024 / 100e6\n"
            "    settled[block] = 100 * (t + 0.6 * 500e-6) / (t + 500e-6)"
        ),
    ),
    Task(
        "even/size",
        question=(
            "Find the smallest dirty_data_max, in bytes and within 5%, that delays no write of the burst. "
            "delayed_percent(maximum) runs the burst for you."
        ),
        kind=Number(),
        check=Without(
            (
                Mistake(
                    "unit", "That is a very small buffer; use bytes, such as 800 * MB.", when=lambda size: size < MB
                ),
                Mistake(
                    "huge", "That is many times as much as the whole run writes.", when=lambda size: size > 100_000 * MB
                ),
                Mistake(
                    "backlog",
                    "{match:.0f}% of the writes are delayed. More than that waits to be written when the burst ends.",
                    when=lambda size: size <= 800 * MB and _delayed(size),
                ),
                Mistake(
                    "early-delays",
                    "{match:.0f}% of the writes are delayed. The burst's backlog fits, but delays begin long before "
                    "the buffer is full.",
                    when=lambda size: size <= 1100 * MB and _delayed(size),
                ),
                Mistake(
                    "start",
                    "{match:.0f}% of the writes are delayed. That is close: some data arrives before the first group "
                    "is written. Try, don't calculate.",
                    when=_delayed,
                ),
                Mistake(
                    "too-large",
                    "No write is delayed, and none would be with 5% less.",
                    when=lambda size: not _delayed(0.95 * size),
                ),
            )
        ),
        why="The backlog must stay below the share where delays start, together with the data that arrives before "
        "the disks start to write.",
        hints=(
            "In each of the ten seconds 100 MB more arrive than the disks take.",
            "Delays start at 60% of the maximum, so divide by 0.6, and try that.",
            "A few percent more than 1,667 MB.",
        ),
        answer="enough = 1740 * MB",
    ),
    Task(
        "even/used",
        question=(
            "Each line has the dirty data at the time when a group was closed, and the maximum. What is the mean, in "
            "percent of the maximum? The text is in dirty_lines."
        ),
        kind=Number(),
        check=Value(
            lambda: sum(_shares()) / len(_shares()),
            (
                Mistake("fraction", "That is a fraction; convert it to percent.", times=0.01),
                Mistake("largest", "That is the largest of the lines; give their mean.", gives=lambda: max(_shares())),
                Mistake(
                    "over-100",
                    "That is more than everything: divide the dirty data by the maximum of 4096 MB.",
                    when=lambda found, _: found > 100,
                ),
                Mistake("other", "Take the mean over all {lines} lines, each as used over maximum."),
            ),
            unit="%",
            within=0,
            apart=0.5,
            facts=lambda: {"lines": len(_shares())},
        ),
        why="That is far below 30%, where the scheduler's ramp starts, and 60%, where delays start.",
        hints=(
            "dirty_lines.splitlines() returns the lines; the number before the first MB is the dirty data.",
            "re.findall(r'(\\d+)MB of (\\d+)MB', dirty_lines) returns pairs of texts; int() converts them to numbers.",
            "Add up, divide by the number of lines and by 4096, times 100.",
        ),
        answer=(
            'lines = re.findall(r"(\\d+)MB of (\\d+)MB", dirty_lines)\n'
            "used = 100 * sum(int(dirty) / int(most) for dirty, most in lines) / len(lines)"
        ),
    ),
)
