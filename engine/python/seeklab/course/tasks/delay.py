"""Notebook 05, delay everyone a little: what the learner writes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from seeklab._case import case
from seeklab.course.task import UnconvertedTask as Task
from seeklab.decisions.throttle import run_throttle

if TYPE_CHECKING:
    from seeklab._result import Result
    from seeklab.decisions.throttle import ThrottlePolicy

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
BEGINS = 0.6
"""The share of dirty data at which OpenZFS begins to delay, as the question's formula has it."""


def trial(policy: ThrottlePolicy | str, writers: int) -> Result:
    """Run a throttle on disks of 36 MiB/s with a small buffer, for a few seconds."""
    system = case("openzfs-throttle").with_({**TRIAL, "jobs[writers].numjobs": writers})
    return run_throttle(system, policy, variant="openzfs")


def fair_ms(writers: int) -> float:
    """Give what a write takes in the trial if all take the same: Little's law."""
    scenario = case("openzfs-throttle").with_(TRIAL).scenario("openzfs")
    return float(1000 * writers * scenario["zfs"]["record"] / scenario["devices"][0]["lun"]["rate"])


def disks_mib_per_s() -> float:
    """Give what the disks of the trial take."""
    return float(case("openzfs-throttle").scenario("openzfs")["devices"][0]["lun"]["rate"] / (1 << 20))


def _curve() -> tuple[float, float]:
    """Give the scale of the delay in seconds, and the bytes a second of the disks."""
    scenario = case("openzfs-throttle").scenario("small-blocks")
    return scenario["zfs"]["delay_scale"] / 1e9, scenario["devices"][0]["lun"]["rate"]


def _policy_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of dirty, limit and history; this is {type(answer).__name__}."
    for writers in CROWDS:
        metrics = trial(answer, writers).metrics
        fair, longest = fair_ms(writers), metrics["writers.write_latency_max_ms"]
        rate = metrics["writers.write_mib_per_s"]
        told = f"{writers} writers: "
        if metrics["zfs_blocked_writes"]:
            return (
                f"{told}{metrics['zfs_blocked_writes']:,.0f} writes found the buffer full and had to stop. "
                "The delay has to grow without end as the buffer fills, or more writers are always too many."
            )
        disks = disks_mib_per_s()
        if rate < MIN_RATE * disks:
            return (
                f"{told}only {rate:.1f} MiB/s got in, and the disks take {disks:.0f}. Your delay is too long for "
                "so few writers, or it never lets go."
            )
        if longest > MAX_TIMES * fair:
            return (
                f"{told}the longest write took {longest:.0f} ms, where an even share is {fair:.0f}. A delay that "
                "begins with a jump lets some pass and makes others pay: let it begin at nothing."
            )
    return None


def _settled(block: int) -> float:
    scale_s, rate = _curve()
    spent = block * 1024 / rate
    return 100 * (spent + BEGINS * scale_s) / (spent + scale_s)


def _settled_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    found = {round(float(key)): float(value) for key, value in dict(answer).items()}
    if set(found) != {8, 128}:
        return "Wanted are two numbers, under the keys 8 and 128."
    scale_s, rate = _curve()
    for block, given in found.items():
        right = _settled(block)
        if abs(given - right) <= 0.5:  # noqa: PLR2004 -- half a point
            continue
        if abs(100 * given - right) <= 0.5:  # noqa: PLR2004 -- half a point
            return f"{block} KiB: {given:.3g} is a fraction; wanted is percent."
        if abs(given - 100 * BEGINS) <= 0.5:  # noqa: PLR2004 -- half a point
            return f"{block} KiB: at {given:.0f} % the delay is nothing, and writers would come at full speed."
        if given < 100 * BEGINS or given >= 100:  # noqa: PLR2004 -- percent
            return f"{block} KiB: {given:.4g} % is not on the curve, which goes from {100 * BEGINS:.0f} % to 100 %."
        fraction = given / 100
        delay_us = 1e6 * scale_s * (fraction - BEGINS) / (1 - fraction)
        return (
            f"{block} KiB: at {given:.4g} % the delay is {delay_us:,.0f} µs, and the disks take "
            f"{1e6 * block * 1024 / rate:,.0f} µs for a block. In balance the two are equal."
        )
    return None


def _delayed(maximum: float) -> float:
    sizing = case("dirty-sizing").with_({"zfs.dirty_data_max": round(maximum), "record.log": False})
    return float(sizing.run("200-mb").metrics["zfs_delayed_share_percent"])


def _size_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    maximum = float(answer)
    if maximum < MB:
        return f"{maximum:g} is a very small buffer: wanted are bytes, such as 800 * MB."
    if maximum > 100_000 * MB:
        return f"{maximum / MB:,.0f} MB are more than the whole run writes, many times over."
    share = _delayed(maximum)
    if share:
        return f"{maximum / MB:,.0f} MB: {share:.0f} % of the writes are delayed. {_too_small(maximum)}"
    if not _delayed(0.95 * maximum):
        return f"{maximum / MB:,.0f} MB: none is delayed, and with a twentieth less none would be either."
    return None


def _too_small(maximum: float) -> str:
    if maximum <= 800 * MB:
        return "What is still to be written at the end of the burst is more than that."
    if maximum <= 1100 * MB:
        return "That holds what the burst leaves behind, but delays begin long before the buffer is full."
    return "Close: a little arrives before the first group begins to be written. Try, don't calculate."


def _used_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    given = float(answer)
    shares = [
        100 * int(used) / int(most)
        for used, most in re.findall(r"(\d+)MB of (\d+)MB", case("tune-openzfs").run("mixed").text("dirty"))
    ]
    mean = sum(shares) / len(shares)
    if abs(given - mean) <= 0.5:  # noqa: PLR2004 -- half a point
        return None
    if abs(100 * given - mean) <= 0.5:  # noqa: PLR2004 -- half a point
        return f"{given:.3g} is a fraction; wanted is percent."
    if abs(given - max(shares)) <= 0.5:  # noqa: PLR2004 -- half a point
        return f"{given:.3g} % is the largest of the lines; wanted is their mean."
    if given > 100:  # noqa: PLR2004 -- percent
        return f"{given:,.0f} is more than everything: divide what is used by the maximum of 4096 MB."
    return f"You give {given:.3g} %; the {len(shares)} lines have a mean of {mean:.3g} %."


TASKS = {
    "even/policy": Task(
        question=(
            "Write a throttle of your own. policy(dirty, limit, history) is called for each write and gives the "
            "nanoseconds that the write shall sleep; dirty and limit are bytes. It must serve both 5 writers and 40, "
            "on disks of 36 MiB/s and with a buffer of 64 MiB: no write may find the buffer full, at least 90 % of "
            "the disks' rate must get in, and no write may take longer than three times the even share, which is "
            "what each would take if all waited equally long."
        ),
        wants="a function of dirty, limit and history that gives nanoseconds",
        wrong=_policy_wrong,
        why="It knows neither the writers nor the disks. It looks at how much is dirty, and settles by itself.",
        hints=(
            "A constant delay is right for one number of writers only. Make it depend on dirty / limit.",
            "Let it begin at 0 when about half of the buffer is dirty, and grow faster and faster towards the limit.",
            "Divide by what is left: 50e6 * (dirty - 0.6 * limit) / (limit - dirty), and never below 0.",
        ),
        answer=(
            "def policy(dirty, limit, history):\n    return max(0, 50e6 * (dirty - 0.6 * limit) / (limit - dirty))"
        ),
    ),
    "even/settled": Task(
        question=(
            "Once the system has settled, the delay equals the time t that the disks take for one block. Solve "
            "t = s * (x - 0.6) / (1 - x) for the dirty share x: where does the system settle with blocks of 8 and of "
            "128 KiB, on disks of 100 MB/s, and with a scale s of 500 µs?"
        ),
        wants="a dictionary with the keys 8 and 128: percent of the maximum",
        wrong=_settled_wrong,
        why="With larger blocks it settles higher, since the disks take longer for each. The writers are not in it.",
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
    "even/size": Task(
        question=(
            "Find the smallest dirty_data_max, in bytes and within 5 %, with which no write of the burst is delayed. "
            "delayed_percent(maximum) runs the burst for you."
        ),
        wants="a number of bytes",
        wrong=_size_wrong,
        why="What piles up has to stay below the share at which delays begin, and with it what arrives before the "
        "disks begin to write.",
        hints=(
            "In each of the ten seconds 100 MB more arrive than the disks take.",
            "Delays begin at 60 % of the maximum, so divide by 0.6, and try that.",
            "A few percent more than 1,667 MB.",
        ),
        answer="enough = 1740 * MB",
    ),
    "even/used": Task(
        question=(
            "Each line says how much was dirty when a group was closed, and how much may be. What is the mean, in "
            "percent of the maximum? The text is in dirty_lines."
        ),
        wants="a number, percent",
        wrong=_used_wrong,
        why="That is far below 30 %, where the ramp of the scheduler begins, and 60 %, where delays begin.",
        hints=(
            "dirty_lines.splitlines() gives the lines; the number before the first MB is what was dirty.",
            "re.findall(r'(\\d+)MB of (\\d+)MB', dirty_lines) gives pairs of texts; int() makes numbers of them.",
            "Add up, divide by the number of lines and by 4096, times 100.",
        ),
        answer=(
            'lines = re.findall(r"(\\d+)MB of (\\d+)MB", dirty_lines)\n'
            "used = 100 * sum(int(dirty) / int(most) for dirty, most in lines) / len(lines)"
        ),
    ),
}
