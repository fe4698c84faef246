"""Notebook 07, everything is slow and nothing is busy: its tasks."""

from __future__ import annotations

from math import isclose
from typing import TYPE_CHECKING, Any

from seeklab._case import case
from seeklab._curves import alignment
from seeklab.course.task import Task
from seeklab.judge import Cases, Fields, Function, Mistake, Number, Table, Value

if TYPE_CHECKING:
    from seeklab.judge import Evidence

FIRST, SECOND = "averaged-away", "misaligned-io"
MIB = 1 << 20
BLOCK = 4096
STARTS = (0, 512, 1536, 4095, 4096, 32_256, MIB)
SIZES = (512, 4096, 8192, MIB)


class _Rates(Table):
    """Rates by window; a rate of 0 is left out."""

    def read(self, name: str, raw: object) -> tuple[Any, list[Evidence]]:
        """Return the rates."""
        rates, broken = super().read(name, raw)
        return {window: rate for window, rate in rates.items() if rate}, broken


def _rates(window_s: float, *, by_end: bool = True) -> dict[int, float]:
    ops = case(FIRST).run().ops
    found: dict[int, float] = {}
    for sent, took, size in zip(ops["submit_ns"], ops["latency_ns"], ops["bytes"], strict=True):
        window = int((sent + took * by_end) / 1e9 // window_s)
        found[window] = found.get(window, 0.0) + size / MIB / window_s
    return found


def _latencies_s() -> float:
    return float(sum(case(FIRST).run().ops["latency_ns"]) / 1e9)


def _busy_s() -> float:
    ops = case(FIRST).run().ops
    ends = [sent + took for sent, took in zip(ops["submit_ns"], ops["latency_ns"], strict=True)]
    return float((max(ends) - min(ops["submit_ns"])) / 1e9)


def _burst(over_s: float | None = None) -> dict[str, float]:
    busy_s = over_s or _busy_s()
    return {"busy_s": busy_s, "in_flight": _latencies_s() / busy_s}


def _evidence() -> dict[str, float]:
    columns, disk, *_ = case(SECOND).run("misaligned").text("iostat").splitlines()
    row = dict(zip(columns.split()[1:], map(float, disk.split()[1:]), strict=True))
    written = case(SECOND).scenario("misaligned")["jobs"][0]["bs"] / 1024
    return {"reads per write": row["r/s"] / row["w/s"], "extra KiB per write": row["wareq-sz"] - written}


def _extra(start: int, size: int) -> int:
    return int(alignment(start, block=BLOCK, bs=size)["extra_reads"])


TASKS = (
    Task(
        "blind/rates",
        question=(
            "Calculate the dashboard's points. Write rates(window_s): for windows of window_s seconds, numbered "
            "from 0 at the start of the run, it returns the MiB/s of each window when writes were completed. "
            "The variable writes is a list of rows with submit_ns, latency_ns and bytes."
        ),
        kind=Function("the window in seconds"),
        check=Cases(
            _rates,
            ((20,), (5,), (1,)),
            "With windows of {window_s} s",
            (
                Mistake(
                    "mebibytes",
                    "That is in MiB. A rate is MiB over the length of the window.",
                    gives=lambda window_s: {window: rate * window_s for window, rate in _rates(window_s).items()},
                ),
                Mistake(
                    "megabytes",
                    "That is in MB/s, millions of bytes per second; a MiB has 1024 x 1024 bytes.",
                    times=MIB / 1e6,
                ),
                Mistake(
                    "by-start",
                    "You sort the writes by when they were sent. A monitor counts them when they are done.",
                    gives=lambda window_s: _rates(window_s, by_end=False),
                ),
                Mistake(
                    "other-windows",
                    "All bytes are there, but in other windows: number the windows from the start of the run, from 0.",
                    when=lambda found, truth, _: isclose(sum(found.values()), sum(truth.values()), rel_tol=0.01),
                ),
                Mistake(
                    "other",
                    "Add up the bytes that were written in each window, and divide by its length.",
                ),
            ),
            gives=_Rates(Number(whole=True), Number(), "the number of a window, and its MiB/s"),
            within=0.01,
        ),
        why="The same bytes, divided by an interval that a person has chosen. The writes themselves did not change.",
        hints=(
            "A write is done at (row['submit_ns'] + row['latency_ns']) / 1e9 seconds.",
            "That time // window_s is the number of its window.",
            "Add row['bytes'] / MIB / window_s to that window's entry.",
        ),
        answer=(
            "def rates(window_s):\n"
            "    found = {}\n"
            "    for row in writes:\n"
            '        window = int((row["submit_ns"] + row["latency_ns"]) / 1e9 // window_s)\n'
            '        found[window] = found.get(window, 0) + row["bytes"] / MIB / window_s\n'
            "    return found"
        ),
    ),
    Task(
        "blind/burst",
        question=(
            "Use the log to find out what really happened. How many seconds passed from the first write sent to "
            "the last one done (busy_s)? How many writes were in flight on average during that time (in_flight)?"
        ),
        kind=Fields({"busy_s": Number(), "in_flight": Number()}),
        check=Value(
            _burst,
            (
                Mistake("nanoseconds", "That is not in seconds.", times=1e9),
                Mistake("milliseconds", "That is not in seconds.", times=1e3),
                Mistake(
                    "sum-of-latencies",
                    "You added up all latencies, but the writes waited at the same time.",
                    gives=lambda: _burst(_latencies_s()),
                ),
                Mistake(
                    "dashboard",
                    "That is over the dashboard's {window_s:g} s. Use only the time with work.",
                    gives=lambda: _burst(case(FIRST).scenario()["monitor"]["window"] / 1e9),
                ),
                Mistake(
                    "other-time",
                    "Take the time from the first write sent to the last one done.",
                    when=lambda found, _: "busy_s" in found,
                ),
                Mistake("other", "Add up all latencies, and divide by busy_s."),
            ),
            facts=lambda: {"window_s": case(FIRST).scenario()["monitor"]["window"] / 1e9},
        ),
        why="About a second of work at the full rate, with a full queue. The rest of the time the disk was idle.",
        hints=(
            "min() of the submit times, max() of submit time plus latency, over 1e9.",
            "Each write is in flight for its latency: add all latencies up.",
            "In flight on average = all latencies together / busy_s. That is Little's law.",
        ),
        answer=(
            'begin = min(row["submit_ns"] for row in writes)\n'
            'end = max(row["submit_ns"] + row["latency_ns"] for row in writes)\n'
            "burst = {\n"
            '    "busy_s": (end - begin) / 1e9,\n'
            '    "in_flight": sum(row["latency_ns"] for row in writes) / (end - begin),\n'
            "}"
        ),
    ),
    Task(
        "blind/evidence",
        question=(
            "Describe the anomaly in the new server's iostat by two numbers (one disk is enough). How many "
            '"reads per write" are there? How many "extra KiB per write" are there on the device, compared with the '
            "1024 that the job writes?"
        ),
        kind=Fields({"reads per write": Number(), "extra KiB per write": Number()}),
        check=Value(
            _evidence,
            (
                Mistake(
                    "inverse",
                    "That is the inverse.",
                    gives=lambda: {name: 1 / number for name, number in _evidence().items()},
                ),
                Mistake(
                    "old-server",
                    "The old server has none. Look at the new one.",
                    gives=lambda: dict.fromkeys(_evidence(), 0),
                ),
                Mistake("other", "Take the line of one disk in the new server's table, and compare reads with writes."),
            ),
            within=0.02,
            apart=1e-6,
        ),
        why="No job reads, but there are two reads for each write, and each write has grown by 4 KiB.",
        hints=(
            "r/s and w/s are columns; wareq-sz is the mean size of a write in KiB.",
            "You may type the numbers from the table: r/s divided by w/s.",
            "For the second number, subtract 1024 from wareq-sz.",
        ),
        answer='evidence = {"reads per write": 66.54 / 33.27, "extra KiB per write": 1028 - 1024}',
    ),
    Task(
        "blind/extra",
        question=(
            "Write the check that should have run before the handover of the server. extra_reads(start, size) is "
            "for a write of size bytes that starts at byte start. How many blocks of 4096 bytes must be read "
            "first? A block must be read if only a part of it is written."
        ),
        kind=Function("start and size"),
        check=Cases(
            _extra,
            [(start, size) for start in STARTS for size in SIZES],
            "For a write of {size:,} bytes at byte {start:,}",
            (
                Mistake(
                    "same-block",
                    "Its start and its end are in the same block, which is read once.",
                    gives=lambda start, size: sum(edge % BLOCK > 0 for edge in (start, start + size)),
                ),
                Mistake(
                    "whole-blocks",
                    "It covers only whole blocks, so no old data must be kept.",
                    when=lambda _, truth, *__: not truth,
                ),
                Mistake(
                    "one-border",
                    "One of its ends is at a block boundary. Check each end separately.",
                    when=lambda _, __, start, size: not start % BLOCK or not (start + size) % BLOCK,
                ),
                Mistake("other", "How many blocks does it cover partially?"),
            ),
            gives=Number(whole=True),
        ),
        why="The check needs no disk, load or clock: it could have run when the partition was created.",
        hints=(
            "The first byte written is start; the first byte after the write is start + size.",
            "A block is cut at the front if start % 4096, at the back if (start + size) % 4096.",
            "Collect the numbers of the cut blocks in a set, start // 4096 and (start + size) // 4096, and count them.",
        ),
        answer=(
            "def extra_reads(start, size):\n"
            "    end = start + size\n"
            "    return len({edge // 4096 for edge in (start, end) if edge % 4096})"
        ),
    ),
)
