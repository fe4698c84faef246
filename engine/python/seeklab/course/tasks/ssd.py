"""Notebook 13, what a flash drive does: its tasks."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from seeklab._result import run
from seeklab.course.task import Task
from seeklab.judge import ANSWER, Bound, Evidence, Mistake, Number, Value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from seeklab._result import Result
    from seeklab.judge import Asked

PRESET = "ssd-sata-tlc"
MAPPED = 512 << 20
SMALL = {"pages_per_block": 256, "mapped": MAPPED}
"""A small version of the drive, to write over it several times: smaller blocks, 512 MiB of them."""
MIN_WRITES = 60_000
MAX_RESERVE = 32
PAGES = ("host", "moved", "padded")
"""The counters of the pages that the drive programs."""


def on_drive(
    *jobs: Mapping[str, object],
    ssd: Mapping[str, object] | None = None,
    flash: Mapping[str, object] | None = None,
    preset: str = PRESET,
    log: bool = False,
) -> Result:
    """Run jobs on a drive of a preset, with other values of the drive and of its flash."""
    common = {"filename": "drive", "rw": "randwrite", "bs": 4096, "size": "100%", "norandommap": True}
    device = {"name": "ssd", "preset": preset, "ssd": {**(ssd or {}), "flash": dict(flash or {})}}
    named = [{"name": "app", **common, **job} for job in jobs]
    return run({"jobs": named, "devices": [device], "record": {"log": log, "interval": "100ms"}})


@cache
def out_of_the_box() -> Result:
    """Return the run of a new drive that is written at random until its rate no longer changes."""
    return on_drive({"iodepth": 32, "number_ios": 800_000}, flash={**SMALL, "precondition": "none"})


@cache
def thursday(reserve_percent: float = 14.5) -> Result:
    """Return the run of the drive in use: random writes, with this much flash beyond its capacity."""
    return on_drive({"iodepth": 32, "number_ios": 150_000}, flash={"overprovision": reserve_percent})


def _until_half() -> tuple[float, float]:
    """Return the bytes written, and the time in s, when the rate is first below half of its first value."""
    series = out_of_the_box().series
    first, written = series["write_bytes"][0], 0.0
    for time, size in zip(series["time_ns"], series["write_bytes"], strict=True):
        if size < first / 2:
            return written, time / 1e9
        written += size
    return written, series["time_ns"][-1] / 1e9


def _pages() -> dict[str, float]:
    return {kind: thursday().metrics[f"ssd_{kind}_pages"] for kind in PAGES}


def _amplification() -> float:
    return sum(_pages().values()) / _pages()["host"]


def _reserve(asked: Asked) -> list[Evidence]:
    percent = asked.answers[ANSWER]
    too_little = Mistake("too-little", "With more spare flash, the drive moves fewer pages.")
    too_much = Mistake(
        "too-much",
        "That is more than enough, and you pay for each percent of capacity that you cannot sell. Find a smaller one.",
    )
    return [
        Bound("app.write_iops", at_least=MIN_WRITES, why=too_little).check(thursday(percent), None),
        Evidence("reserve", percent, f"<= {MAX_RESERVE}%", percent <= MAX_RESERVE, "%").because(too_much),
    ]


TASKS = (
    Task(
        "ssd/cliff",
        question=(
            "out_of_the_box().series has a row for each tenth of a second: time_ns, and in write_bytes the bytes "
            "written in it. How many bytes were written before the first row with less than half of the bytes of row 0?"
        ),
        kind=Number(),
        check=Value(
            lambda: _until_half()[0],
            (
                Mistake("mebibytes", "That is in MiB; convert it to bytes.", times=1 / (1 << 20)),
                Mistake(
                    "time",
                    "That is a time in seconds. Add up write_bytes of the rows until then.",
                    gives=lambda: _until_half()[1],
                ),
                Mistake(
                    "capacity",
                    "That is the capacity. Add up write_bytes and see: the drive has more flash than that, and gets "
                    "slower gradually.",
                    gives=MAPPED,
                ),
                Mistake("other", "In the series, the rate drops below half of its first row somewhere else."),
            ),
            within=0.02,
        ),
        why="A test that writes less than that measures an empty drive, however long it takes.",
        hints=(
            "sizes = out_of_the_box().series['write_bytes']; the first row is sizes[0].",
            "Go through the sizes, add them up, and stop at the first that is below sizes[0] / 2.",
            "itertools.takewhile(lambda size: size >= sizes[0] / 2, sizes) returns those before it.",
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
    Task(
        "ssd/amplification",
        question=(
            "The drive has counters in thursday().metrics. The counter ssd_host_pages has the pages that the "
            "computer (the host) wrote and that reached the flash. Another, ssd_moved_pages, has the pages that "
            "the drive copied when it collected garbage. Empty pages that fill up a portion are in "
            "ssd_padded_pages. How many pages were programmed for each page that the host wrote?"
        ),
        kind=Number(),
        check=Value(
            _amplification,
            (
                Mistake(
                    "only-moved",
                    "That is the number of moved pages for each page of the host. The drive also programs the "
                    "host's page: add it.",
                    gives=lambda: _pages()["moved"] / _pages()["host"],
                ),
                Mistake(
                    "inverse",
                    "That is the inverse. Divide the pages programmed by the pages that the host wrote.",
                    gives=lambda: 1 / _amplification(),
                ),
                Mistake("other", "Add the pages of all three counters, and divide by the pages of the host."),
            ),
        ),
        why="This is called write amplification. It divides the drive's speed and its life.",
        hints=(
            "Three kinds of pages were programmed: written by the host, moved, and padded.",
            "Add the three and divide by the pages of the host.",
            "(host + moved + padded) / host",
        ),
        answer=(
            "m = thursday().metrics\n"
            'programmed = m["ssd_host_pages"] + m["ssd_moved_pages"] + m["ssd_padded_pages"]\n'
            'amplification = programmed / m["ssd_host_pages"]'
        ),
    ),
    Task(
        "ssd/reserve",
        question=(
            f"A customer needs {MIN_WRITES:,} random writes of 4 KiB a second, for years. How much spare flash must "
            f"the drive have, in percent of its capacity? It has 14.5%; more than {MAX_RESERVE}% would cost too much."
        ),
        kind=Number(at_least=1, at_most=400),
        check=_reserve,
        why="The customer does not need a faster drive: with less of it in use, it is faster and lives longer.",
        hints=(
            "thursday(20).metrics['app.write_iops'] is its rate with 20%.",
            "Each further percent leaves fewer valid pages in the block that is collected.",
            "Try 20, 24, 28.",
        ),
        answer="reserve = 28",
    ),
)
