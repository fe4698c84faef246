"""Notebook 17, the benchmark that looked away: what the learner writes."""

from __future__ import annotations

from functools import cache
from math import ceil
from typing import TYPE_CHECKING, Any

from seeklab._case import case
from seeklab.course.task import UnconvertedTask as Task

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CASE = "coordinated-omission"
MS = 1_000_000
SECOND_NS = 1_000_000_000
START_NS = 10 * SECOND_NS
"""The tool calibrates before."""
REPAIR_MS = (4, 130, 260, 50)
"""A few samples of a connection."""
NEAR = 0.02


@cache
def _rows() -> Sequence[Mapping[str, float]]:
    return [row for row in case(CASE).run("stopped").ops.rows() if row["submit_ns"] >= START_NS]


@cache
def _stop() -> tuple[int, int]:
    (stop,) = case(CASE).scenario("stopped")["devices"][0]["lun"]["pauses"]
    return stop["at"], stop["at"] + stop["for"]


@cache
def _interval_ms() -> int:
    """Give the time between two requests of a connection, by the plan."""
    rate = float(case(CASE).scenario("stopped")["jobs"][0]["rate_iops"])
    return round(1000 / rate)


def _repaired(samples: Sequence[int], interval: int) -> list[int]:
    """Add to each sample what those would have waited that were due while its connection was busy."""
    return sorted(wait for sample in samples for wait in range(sample, 0, -interval))


def _percentile(values: Sequence[float], percent: float) -> float:
    return sorted(values)[ceil(len(values) * percent / 100) - 1]


def _due_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    given = int(answer)
    begin, end = _stop()
    due = sum(begin <= row["due_ns"] < end for row in _rows())
    sent = sum(begin <= row["submit_ns"] < end for row in _rows())
    if given != answer or isinstance(answer, bool):
        return "Wanted is a whole number of requests."
    if given == due - sent:
        return None
    if given == due:
        return f"{due:,} were due while it stood still; {sent} of them were sent then. Wanted are those that were not."
    if given == sent:
        return f"{sent} were sent while it stood still: one for each connection. How many were due and not sent?"
    if given == sum(row["submit_ns"] > row["due_ns"] for row in _rows()):
        return "This counts all that were sent late, also those that were due when the server was going again."
    return f"{given:,}; count the rows with due_ns in the stop and submit_ns after it."


def _waits_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    rows = _rows()
    waits = [float(wait) for wait in answer]
    if len(waits) != len(rows):
        return f"You have {len(waits):,} waits, and there are {len(rows):,} rows: one for each."
    wanted = _percentile([(row["submit_ns"] + row["latency_ns"] - row["due_ns"]) / MS for row in rows], 99)
    found = _percentile(waits, 99)
    if abs(found / wanted - 1) <= NEAR:
        return None
    if abs(found / _percentile([row["latency_ns"] / MS for row in rows], 99) - 1) <= NEAR:
        return f"Their 99th percentile is {found:.1f} ms, the tool's own: latency_ns begins when a request was sent."
    if abs(found / wanted / MS - 1) <= NEAR:
        return "These are nanoseconds; wanted are milliseconds."
    if abs(found / _percentile([(row["submit_ns"] - row["due_ns"]) / MS for row in rows], 99) - 1) <= NEAR / 10:
        return "This is how late each was sent. Its answer came latency_ns after that."
    return (
        f"Their 99th percentile is {found:,.1f} ms. A request is done at submit_ns + latency_ns; it was due at due_ns."
    )


def _repair_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of latencies and an interval; this is {type(answer).__name__}."
    interval = _interval_ms()
    repaired = _repaired(REPAIR_MS, interval)
    found = sorted(float(ms) for ms in answer(list(REPAIR_MS), interval))
    if found == repaired:
        return None
    told = f"Of {list(REPAIR_MS)} at an interval of {interval} it makes {found}."
    if len(found) == len(REPAIR_MS):
        return f"{told} Nothing was added: a latency of 130 hides those that were due 50 and 100 ms after it was sent."
    if 0 in found or any(ms < 0 for ms in found):
        return f"{told} Who is due when the answer comes waits for nothing: add waits above 0 only."
    if len(found) == len(repaired):
        return f"{told} As many as there should be, but those who come later wait less: 130, 80, 30."
    return f"{told} Wanted is {repaired}: each latency, then less by an interval, by two, ..."


_BEFORE = (
    "import seeklab\n"
    'seen = seeklab.case("coordinated-omission").run("stopped")\n'
    'rows = [row for row in seen.ops.rows() if row["submit_ns"] >= 10e9]\n'
    'stop = seeklab.case("coordinated-omission").scenario("stopped")["devices"][0]["lun"]["pauses"][0]\n'
    'begin_ns, end_ns = stop["at"], stop["at"] + stop["for"]\n'
)

TASKS = {
    "omission/due": Task(
        question=(
            "rows is the log from the tenth second on: due_ns is when the plan wanted a request sent, submit_ns when "
            "it was sent. The server stood still from begin_ns to before end_ns. How many requests were due in that "
            "time and were not sent in it?"
        ),
        wants="a whole number of requests",
        wrong=_due_wrong,
        why="For each request that waited, dozens were not even sent.",
        hints=(
            "Two conditions on a row: one on due_ns, one on submit_ns.",
            "begin_ns <= row['due_ns'] < end_ns, and row['submit_ns'] >= end_ns.",
            "sum(... for row in rows), with both conditions joined by and.",
        ),
        setup=_BEFORE,
        answer=('unsent = sum(begin_ns <= row["due_ns"] < end_ns and row["submit_ns"] >= end_ns for row in rows)'),
    ),
    "omission/waits": Task(
        question=(
            "Think of a user who came when a request was due. For each row, how long did that user wait for the "
            "answer, in ms?"
        ),
        wants="a list of as many numbers as there are rows, in ms",
        wrong=_waits_wrong,
        why="The same requests on the same server: only the moment is another at which the clock starts.",
        hints=(
            "When was it done? When was it due?",
            "It was done at submit_ns + latency_ns, and a millisecond is 1e6 nanoseconds.",
            "[(row['submit_ns'] + row['latency_ns'] - row['due_ns']) / 1e6 for row in rows]",
        ),
        setup=_BEFORE,
        answer='waits = [(row["submit_ns"] + row["latency_ns"] - row["due_ns"]) / 1e6 for row in rows]',
    ),
    "omission/repair": Task(
        question=(
            "Your tool keeps no due_ns. Write a function of a list of latencies in ms and of the plan's interval, in "
            "ms, between two requests of a connection. It gives back a longer list: each latency, and for each that is "
            "longer than the interval also the waits of the requests that were due on that connection meanwhile."
        ),
        wants="a function of two arguments that gives a list of numbers",
        wrong=_repair_wrong,
        why="This is how HdrHistogram corrects for an expected interval. It needs the plan: without it nobody can.",
        hints=(
            "A request that was due one interval after the one that was sent waits one interval less.",
            "A while loop: add the wait, take off an interval, as long as more than 0 is left.",
            "found = []; for ms in latencies: while ms > 0: found.append(ms); ms -= interval",
        ),
        answer=(
            "def repair(latencies, interval):\n"
            "    found = []\n"
            "    for ms in latencies:\n"
            "        while ms > 0:\n"
            "            found.append(ms)\n"
            "            ms -= interval\n"
            "    return found"
        ),
    ),
}
