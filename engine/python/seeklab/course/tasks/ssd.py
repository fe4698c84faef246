"""Notebook 13, what a flash drive does: what the learner writes."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from seeklab._result import run
from seeklab.course.task import UnconvertedTask as Task

if TYPE_CHECKING:
    from collections.abc import Mapping

    from seeklab._result import Result

PRESET = "ssd-sata-tlc"
MAPPED = 512 << 20
SMALL = {"pages_per_block": 128, "mapped": MAPPED}
"""A small cut of the drive, so that it can be written over several times: smaller blocks, 512 MiB of them."""
MIN_WRITES = 60_000
MAX_RESERVE = 32


def on_drive(
    *jobs: Mapping[str, object],
    ssd: Mapping[str, object] | None = None,
    flash: Mapping[str, object] | None = None,
    preset: str = PRESET,
    log: bool = False,
) -> Result:
    """Run jobs on a drive of a preset, with other values of its own and of its flash."""
    common = {"filename": "drive", "rw": "randwrite", "bs": 4096, "size": "100%", "norandommap": True}
    device = {"name": "ssd", "preset": preset, "ssd": {**(ssd or {}), "flash": dict(flash or {})}}
    named = [{"name": "app", **common, **job} for job in jobs]
    return run({"jobs": named, "devices": [device], "record": {"log": log, "interval": "100ms"}})


@cache
def out_of_the_box() -> Result:
    """Give the run of a drive that has never been written, and is written at random without a pause."""
    return on_drive({"iodepth": 32, "number_ios": 400_000}, flash={**SMALL, "precondition": "none"})


@cache
def thursday(reserve_percent: float = 14.5) -> Result:
    """Give the run of the drive in use: random writes, with so much flash beyond its capacity."""
    return on_drive({"iodepth": 32, "number_ios": 150_000}, flash={"overprovision": reserve_percent})


def _until_half() -> tuple[float, float]:
    """Give the bytes that were written, and the time, when the rate is first below half of what it was at first."""
    series = out_of_the_box().series
    first, written = series["write_bytes"][0], 0.0
    for time, size in zip(series["time_ns"], series["write_bytes"], strict=True):
        if size < first / 2:
            return written, time / 1e9
        written += size
    return written, series["time_ns"][-1] / 1e9


def _cliff_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    given, (written, seconds) = float(answer), _until_half()
    if abs(given / written - 1) <= 0.02:  # noqa: PLR2004 -- a row more or less
        return None
    if abs(given / (written / (1 << 20)) - 1) <= 0.02:  # noqa: PLR2004 -- the same
        return f"{given:,.0f} are MiB; wanted are bytes."
    if abs(given - seconds) <= 0.2:  # noqa: PLR2004 -- a row or two
        return f"{given:g} is a time in seconds. Add up write_bytes of the rows until then."
    if abs(given / MAPPED - 1) <= 0.02:  # noqa: PLR2004 -- the same
        return "That is the capacity. Add up write_bytes and see: the drive has flash beyond it, and slows down slowly."
    return f"{given:,.0f} bytes; in the series the rate falls below half of its first row somewhere else."


def _amplification_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    given, metrics = float(answer), thursday().metrics
    host, moved = metrics["ssd_host_pages"], metrics["ssd_moved_pages"]
    truth = metrics["ssd_write_amplification"]
    if abs(given / truth - 1) <= 0.01:  # noqa: PLR2004 -- one percent
        return None
    if abs(given / (moved / host) - 1) <= 0.01:  # noqa: PLR2004 -- one percent
        return (
            f"{given:.2f} pages are moved for each page of the host's. That page itself is programmed as well: add it."
        )
    if abs(given * truth - 1) <= 0.01:  # noqa: PLR2004 -- one percent
        return "The other way round: pages programmed over pages that the host wrote."
    return f"{given:.3g}; the counters give {host:,.0f} pages of the host's and {moved:,.0f} that were moved."


def _reserve_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    percent = float(answer)
    if not 1 <= percent <= 400:  # noqa: PLR2004 -- what the engine takes
        return f"{percent:g} % is outside of what the engine takes, 1 to 400 %."
    reads = thursday(percent).metrics["app.write_iops"]
    told = f"With {percent:g} % the drive makes {reads:,.0f} random writes a second"
    if reads < MIN_WRITES:
        return f"{told}, and {MIN_WRITES:,} are wanted: more room, fewer pages to move."
    if percent > MAX_RESERVE:
        return (
            f"{told}. More than enough; each percent is capacity that you pay for and cannot sell. Find a smaller one."
        )
    return None


TASKS = {
    "ssd/cliff": Task(
        question=(
            "out_of_the_box().series has a row for each tenth of a second: time_ns, and in write_bytes what was "
            "written in it. How many bytes were written before the first row with less than half of the bytes of row 0?"
        ),
        wants="a number of bytes",
        wrong=_cliff_wrong,
        why="A test that writes less than that measures an empty drive, however long it takes.",
        hints=(
            "sizes = out_of_the_box().series['write_bytes']; the first row is sizes[0].",
            "Go through the sizes, add them up, and stop at the first that is below sizes[0] / 2.",
            "itertools.takewhile(lambda size: size >= sizes[0] / 2, sizes) gives those before it.",
        ),
        answer=(
            'sizes = out_of_the_box().series["write_bytes"]\n'
            "written = 0\n"
            "for size in sizes:\n"
            "    if size < sizes[0] / 2:\n"
            "        break\n"
            "    written += size"
        ),
    ),
    "ssd/amplification": Task(
        question=(
            "The drive has counters. thursday().metrics has ssd_host_pages, pages that the computer (the host) wrote "
            "and that reached the flash; ssd_moved_pages, pages that the drive copied when it collected garbage; and "
            "ssd_padded_pages, empty pages that fill up a portion. How many pages were programmed for each page that "
            "the host wrote?"
        ),
        wants="a number: pages programmed over pages that the host wrote",
        wrong=_amplification_wrong,
        why="This is called write amplification. It divides the drive's speed and its life.",
        hints=(
            "Three kinds of pages were programmed: written by the host, moved, and padded.",
            "Add the three and divide by the host's.",
            "(host + moved + padded) / host",
        ),
        answer=(
            "m = thursday().metrics\n"
            'programmed = m["ssd_host_pages"] + m["ssd_moved_pages"] + m["ssd_padded_pages"]\n'
            'amplification = programmed / m["ssd_host_pages"]'
        ),
    ),
    "ssd/reserve": Task(
        question=(
            f"A customer needs {MIN_WRITES:,} random writes of 4 KiB a second, for years. How much spare flash must "
            f"the drive have, in percent of its capacity? It has 14.5; more than {MAX_RESERVE} would cost too much."
        ),
        wants="a number of percent",
        wrong=_reserve_wrong,
        why="Nobody had to buy a faster drive. Less of it is used, and that part is faster and lives longer.",
        hints=(
            "thursday(20).metrics['app.write_iops'] is what it makes with 20 %.",
            "Each further percent leaves fewer valid pages in the block that is collected.",
            "Try 20, 24, 28.",
        ),
        answer="reserve = 28",
    ),
}
