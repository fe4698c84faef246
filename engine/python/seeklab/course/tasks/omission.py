"""Notebook 17, the benchmark that looked away: its tasks."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from seeklab._case import case
from seeklab.course.task import Task
from seeklab.judge import Cases, Function, Items, Mistake, Number, Value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from seeklab.judge import Evidence

CASE = "coordinated-omission"
MS = 1_000_000
START_NS = 10_000_000_000
"""The tool calibrates before this time."""
REPAIR_MS = (4, 130, 260, 50)
"""A few latencies of one connection."""


@cache
def _rows() -> Sequence[Mapping[str, float]]:
    return [row for row in case(CASE).run("stopped").ops.rows() if row["submit_ns"] >= START_NS]


def _in_stop(column: str) -> int:
    """Count the requests whose time in a column is during the stop."""
    (stop,) = case(CASE).scenario("stopped")["devices"][0]["lun"]["pauses"]
    return sum(stop["at"] <= row[column] < stop["at"] + stop["for"] for row in _rows())


def _waits(*, before_sent: bool = True, after_sent: bool = True) -> list[float]:
    """Return how long each request waited, in ms, before it was sent, after that, or both."""
    return [(before_sent * (row["submit_ns"] - row["due_ns"]) + after_sent * row["latency_ns"]) / MS for row in _rows()]


class _InAnyOrder(Items):
    """A list of numbers in any order."""

    def read(self, name: str, raw: object) -> tuple[Any, list[Evidence]]:
        """Return the numbers, sorted."""
        items, broken = super().read(name, raw)
        return tuple(sorted(items)), broken


def _repaired(samples: Sequence[int], interval: int) -> list[int]:
    """Add to each sample the waits of the requests that were due while its connection was busy."""
    return sorted(wait for sample in samples for wait in range(sample, 0, -interval))


def _repair_cases() -> list[tuple[list[int], int]]:
    rate = float(case(CASE).scenario("stopped")["jobs"][0]["rate_iops"])
    return [([*REPAIR_MS], round(1000 / rate))]


_BEFORE = (
    "import seeklab\n"
    'seen = seeklab.case("coordinated-omission").run("stopped")\n'
    'rows = [row for row in seen.ops.rows() if row["submit_ns"] >= 10e9]\n'
    'stop = seeklab.case("coordinated-omission").scenario("stopped")["devices"][0]["lun"]["pauses"][0]\n'
    'begin_ns, end_ns = stop["at"], stop["at"] + stop["for"]\n'
)

TASKS = (
    Task(
        "omission/due",
        question=(
            "rows is the log from the tenth second on: due_ns is when a request was due according to the plan, "
            "submit_ns when it was sent. The server did not answer from begin_ns until just before end_ns. How "
            "many requests were due in that time but not sent in it?"
        ),
        kind=Number(whole=True),
        check=Value(
            lambda: _in_stop("due_ns") - _in_stop("submit_ns"),
            (
                Mistake(
                    "all-due",
                    "That is how many were due during the stop; {sent} of them were sent then. Count those that were "
                    "not.",
                    gives=lambda: _in_stop("due_ns"),
                ),
                Mistake(
                    "sent",
                    "That is how many were sent during the stop: one for each connection. How many were due and not "
                    "sent?",
                    gives=lambda: _in_stop("submit_ns"),
                ),
                Mistake(
                    "all-late",
                    "That counts all requests that were sent late, including those that were due after the stop.",
                    gives=lambda: sum(row["submit_ns"] > row["due_ns"] for row in _rows()),
                ),
                Mistake("other", "Count the rows with due_ns in the stop and submit_ns after it."),
            ),
            within=0,
            facts=lambda: {"sent": _in_stop("submit_ns")},
        ),
        why="For each request that waited, the tool did not even send dozens of others.",
        hints=(
            "Two conditions on a row: one on due_ns, one on submit_ns.",
            "begin_ns <= row['due_ns'] < end_ns, and row['submit_ns'] >= end_ns.",
            "sum(... for row in rows), with both conditions joined by and.",
        ),
        setup=_BEFORE,
        answer=('unsent = sum(begin_ns <= row["due_ns"] < end_ns and row["submit_ns"] >= end_ns for row in rows)'),
    ),
    Task(
        "omission/waits",
        question=(
            "Think of a user who arrives when a request is due. For each row, how long did that user wait for the "
            "answer, in ms?"
        ),
        kind=Items(Number()),
        check=Value(
            _waits,
            (
                Mistake(
                    "length",
                    "There are {rows:,} rows: the list needs one wait for each.",
                    when=lambda found, truth: len(found) != len(truth),
                ),
                Mistake(
                    "from-sent",
                    "These are the tool's own times: latency_ns starts when a request was sent.",
                    gives=lambda: _waits(before_sent=False),
                ),
                Mistake("nanoseconds", "These are nanoseconds; convert them to ms.", times=MS),
                Mistake(
                    "until-sent",
                    "This is the delay of each request before it was sent. Its answer arrived latency_ns after that.",
                    gives=lambda: _waits(after_sent=False),
                ),
                Mistake("other", "A request is done at submit_ns + latency_ns; it was due at due_ns."),
            ),
            within=0.02,
            apart=1,
            facts=lambda: {"rows": len(_rows())},
        ),
        why="These are the same requests on the same server; only the clock starts at a different time.",
        hints=(
            "When was it done? When was it due?",
            "It was done at submit_ns + latency_ns, and a millisecond is 1e6 nanoseconds.",
            "[(row['submit_ns'] + row['latency_ns'] - row['due_ns']) / 1e6 for row in rows]",
        ),
        setup=_BEFORE,
        answer='waits = [(row["submit_ns"] + row["latency_ns"] - row["due_ns"]) / 1e6 for row in rows]',
    ),
    Task(
        "omission/repair",
        question=(
            "Your tool does not record due_ns. Write a function of a list of latencies in ms, and of the plan's "
            "interval in ms between two requests of a connection. It returns a longer list with these latencies. "
            "For each one longer than the interval, it also contains the waits of the requests that were due on "
            "that connection in the meantime."
        ),
        kind=Function("latencies and an interval"),
        check=Cases(
            _repaired,
            _repair_cases,
            "For {samples} at an interval of {interval} ms",
            (
                Mistake(
                    "nothing-added",
                    "You added nothing: a latency of 130 hides the requests that were due 50 and 100 ms after it was "
                    "sent.",
                    when=lambda found, _, samples, __: len(found) == len(samples),
                ),
                Mistake(
                    "no-wait",
                    "A request that is due when the answer arrives does not wait: add only waits above 0.",
                    when=lambda found, *_: any(wait <= 0 for wait in found),
                ),
                Mistake(
                    "equal-waits",
                    "The number of waits is right, but each later request waits one interval less.",
                    when=lambda found, truth, *_: len(found) == len(truth),
                ),
                Mistake(
                    "other",
                    "For each latency add the same minus one interval, minus two, and so on, as long as it is above 0.",
                ),
            ),
            gives=_InAnyOrder(Number()),
            within=0,
        ),
        why=(
            "This is how HdrHistogram corrects for an expected interval. Without the plan, no tool can make this "
            "correction."
        ),
        hints=(
            "A request that was due one interval after the first was sent waits one interval less.",
            "A while loop: add the wait, then subtract an interval, as long as the rest is above 0.",
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
)
