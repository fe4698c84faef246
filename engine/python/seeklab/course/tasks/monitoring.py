"""Notebook 07, everything is slow and nothing is busy: what the learner writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seeklab._case import case
from seeklab._curves import alignment
from seeklab.course.task import UnconvertedTask as Task

if TYPE_CHECKING:
    from collections.abc import Callable

FIRST, SECOND = "averaged-away", "misaligned-io"
MIB = 1 << 20
BLOCK = 4096
WINDOWS_S = (20, 5, 1)
STARTS = (0, 512, 1536, 4095, 4096, 32_256, MIB)
SIZES = (512, 4096, 8192, MIB)


def _near(given: float, right: float, within: float = 0.01) -> bool:
    return abs(given - right) <= within * max(abs(right), 1e-9)


def _rates(window_s: float, *, by_end: bool) -> dict[int, float]:
    ops = case(FIRST).run().ops
    found: dict[int, float] = {}
    for sent, took, size in zip(ops["submit_ns"], ops["latency_ns"], ops["bytes"], strict=True):
        window = int((sent + took * by_end) / 1e9 // window_s)
        found[window] = found.get(window, 0.0) + size / MIB / window_s
    return found


def _same(found: dict[int, float], truth: dict[int, float]) -> bool:
    return set(found) == set(truth) and all(_near(found[window], rate) for window, rate in truth.items())


def _rates_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of the window in seconds; this is {type(answer).__name__}."
    rates: Callable[[float], Any] = answer
    for window_s in WINDOWS_S:
        found = {int(window): float(rate) for window, rate in dict(rates(window_s)).items() if rate}
        truth = _rates(window_s, by_end=True)
        if not _same(found, truth):
            return _rates_off(found, truth, window_s)
    return None


def _rates_off(found: dict[int, float], truth: dict[int, float], window_s: int) -> str:
    told = f"Windows of {window_s} s: "
    if _same(found, {window: rate * window_s for window, rate in truth.items()}):
        return f"{told}you give MiB. A rate is MiB over the length of the window."
    if _same(found, {window: rate * MIB / 1e6 for window, rate in truth.items()}):
        return f"{told}you give MB/s, millions of bytes; a MiB has 1024 x 1024."
    if _same(found, _rates(window_s, by_end=False)):
        return f"{told}you sort the writes by when they were sent. A monitor counts them when they are done."
    if _near(sum(found.values()), sum(truth.values())):
        return f"{told}all bytes are there, but in other windows: number the windows from the start of the run, from 0."
    return f"{told}you give {sum(found.values()):.4g} MiB/s over all windows, the monitor {sum(truth.values()):.4g}."


def _burst_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    found = {str(key): float(value) for key, value in dict(answer).items()}
    ops = case(FIRST).run().ops
    ends = [sent + took for sent, took in zip(ops["submit_ns"], ops["latency_ns"], strict=True)]
    busy_s = (max(ends) - min(ops["submit_ns"])) / 1e9
    in_flight = sum(ops["latency_ns"]) / 1e9 / busy_s
    if set(found) != {"busy_s", "in_flight"}:
        return 'The keys are "busy_s" and "in_flight".'
    if not _near(found["busy_s"], busy_s):
        return f"busy_s: {_busy_off(found['busy_s'], busy_s, sum(ops['latency_ns']) / 1e9)}"
    if not _near(found["in_flight"], in_flight):
        window_s = case(FIRST).scenario()["monitor"]["window"] / 1e9
        if _near(found["in_flight"], in_flight * busy_s / window_s, 0.05):
            told = f"in_flight: that is a mean over the dashboard's {window_s:g} s."
            return f"{told} Divide by the time in which there was work."
        return f"in_flight: you give {found['in_flight']:.4g}; all latencies together over busy_s are {in_flight:.4g}."
    return None


def _busy_off(given: float, right: float, latencies_s: float) -> str:
    if _near(given, right * 1e9) or _near(given, right * 1e3):
        return f"{given:,.0f} is not in seconds."
    if _near(given, latencies_s):
        return "you added up all latencies, but the writes waited at the same time."
    return f"you give {given:.4g}; from the first write sent to the last one done are {right:.4g} s."


def _evidence_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    found = {str(key): float(value) for key, value in dict(answer).items()}
    lines = case(SECOND).run("misaligned").text("iostat").splitlines()
    row = dict(zip(lines[0].split()[1:], map(float, lines[1].split()[1:]), strict=True))
    written = case(SECOND).scenario("misaligned")["jobs"][0]["bs"] / 1024
    truth = {"reads per write": row["r/s"] / row["w/s"], "extra KiB per write": row["wareq-sz"] - written}
    if set(found) != set(truth):
        return f"The keys are {' and '.join(map(repr, truth))}."
    for name, right in truth.items():
        given = found[name]
        if _near(given, right, 0.02):
            continue
        if right and _near(given, 1 / right, 0.02):
            return f"{name}: you give {given:.3g}, which is upside down."
        if _near(given, 0, 0.02) or abs(given) < 1e-6:  # noqa: PLR2004 -- nothing
            return f"{name}: nothing, on the old server. Look at the new one."
        return f"{name}: you give {given:.4g}, the new server's table {right:.4g}. Take a line of one disk."
    return None


def _extra_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of start and size; this is {type(answer).__name__}."
    extra_reads: Callable[[int, int], Any] = answer
    for start in STARTS:
        for size in SIZES:
            right = int(alignment(start, block=BLOCK, bs=size)["extra_reads"])
            given = extra_reads(start, size)
            if isinstance(given, (bool, int, float)) and int(given) == right:
                continue
            return _extra_off(start, size, given, right)
    return None


def _extra_off(start: int, size: int, given: Any, right: int) -> str:  # noqa: ANN401 -- whatever the learner has made
    told = f"A write of {size:,} bytes at byte {start:,}: you give {given}, "
    first, last = start // BLOCK, (start + size - 1) // BLOCK
    if first == last and right == 1:
        return f"{told}but its beginning and its end lie in the same block, which is read once."
    if right == 0:
        return f"{told}but it covers whole blocks only, of which nothing has to be kept."
    if start % BLOCK == 0 or (start + size) % BLOCK == 0:
        return f"{told}but one of its ends lies on a block's border. Ask for each end apart."
    return f"{told}right is {right}: how many blocks does it cover in part?"


TASKS = {
    "blind/rates": Task(
        question=(
            "Compute what the dashboard shows. Write rates(window_s): for windows of that many seconds, numbered from "
            "0 at the start of the run, it gives the MiB/s of each window in which writes were completed. The variable "
            "writes is a list of rows with submit_ns, latency_ns and bytes."
        ),
        wants="a function of the window in seconds that gives a dictionary: number of the window, MiB/s",
        wrong=_rates_wrong,
        why="The same bytes, divided by a time that somebody has chosen. The writes are as fast as they were.",
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
    "blind/burst": Task(
        question=(
            "And what really happened? Take it from the log: how many seconds lie between the moment at which the "
            "first write was sent and that at which the last one was done, and how many writes were in flight on "
            "average in that time?"
        ),
        wants='a dictionary with the keys "busy_s" and "in_flight"',
        wrong=_burst_wrong,
        why="About a second of work at the full rate, with a full queue. The rest of the time the disk was idle.",
        hints=(
            "min() of the submit times, max() of submit time plus latency, over 1e9.",
            "Each write is in flight for its latency: add all of them up.",
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
    "blind/evidence": Task(
        question=(
            "Express in two numbers what is odd in the new server's iostat (one disk is enough): how many reads there "
            "are for each write, and by how many KiB a write on the device is larger than the 1024 that the job writes."
        ),
        wants='a dictionary with the keys "reads per write" and "extra KiB per write"',
        wrong=_evidence_wrong,
        why="No job reads, and yet there are two reads for each write, and each write has grown by 4 KiB.",
        hints=(
            "r/s and w/s are columns; wareq-sz is the mean size of a write in KiB.",
            "You may type the numbers from the table: r/s divided by w/s.",
            "For the second number take wareq-sz less 1024.",
        ),
        answer='evidence = {"reads per write": 66.54 / 33.27, "extra KiB per write": 1028 - 1024}',
    ),
    "blind/extra": Task(
        question=(
            "Write the check that should have run before the server was handed over: extra_reads(start, size) says "
            "how many blocks of 4096 bytes must be read first when size bytes are written from byte start on. A "
            "block must be read when only a part of it is written."
        ),
        wants="a function of start and size, both in bytes, that gives 0, 1 or 2",
        wrong=_extra_wrong,
        why="The check needs no disk, no load and no clock: it could have run when the partition was made.",
        hints=(
            "The first byte written is start; the first one after it that is not written is start + size.",
            "A block is cut at the front when start % 4096, at the back when (start + size) % 4096.",
            "Collect the numbers of the cut blocks in a set, start // 4096 and (start + size) // 4096, and count them.",
        ),
        answer=(
            "def extra_reads(start, size):\n"
            "    end = start + size\n"
            "    return len({edge // 4096 for edge in (start, end) if edge % 4096})"
        ),
    ),
}
