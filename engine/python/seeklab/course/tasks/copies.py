"""Notebook 14, three ways to copy a file: its tasks."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

from seeklab._case import case
from seeklab.course.task import Task
from seeklab.judge import Bound, Cases, Change, Counts, Fields, Function, Mistake, Number, Settings, Value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from seeklab._result import Result

COPIES, COMBINING = "copy-offload", "combine-limit"
NAMES = ("client", "server-side", "odx")
LIST = "jobs[server-side].copy.chunks_per_request"
MIB = 1 << 20


def _trip_ns() -> int:
    return int(case(COPIES).scenario("lan")["network"]["round_trip"])


@cache
def _trips(ops: tuple[int, ...] = (0, 1)) -> dict[str, float]:
    """Return the round trips of each copy: of its reads (0), its writes (1), or both."""
    result = case(COPIES).run("lan")
    waited = dict.fromkeys(result.jobs, 0.0)
    for row in result.ops.rows():
        waited[result.jobs[row["job"]]] += row["round_trip_ns"] * (row["op"] in ops)
    return {name: ns / _trip_ns() for name, ns in waited.items()}


@cache
def _operations() -> dict[str, int]:
    result = case(COPIES).run("lan")
    return dict(Counter(result.jobs[row["job"]] for row in result.ops.rows()))


def _copy(changes: Mapping[str, object]) -> Result:
    return case(COPIES).with_({**changes, "record.log": False}).run("far")


@cache
def _moments() -> dict[int, int]:
    """Return how many reads ended at each moment."""
    rows = case(COMBINING).run("limit-64").ops.rows()
    return dict(Counter(row["submit_ns"] + row["latency_ns"] for row in rows))


def _sizes(unit: int = 1) -> dict[int, int]:
    return dict(Counter(reads * unit for reads in _moments().values()))


@cache
def _rate(limit: int, in_flight: int) -> float:
    changes = {
        "protocol.target_transaction": limit,
        "jobs[client].iodepth": in_flight // MIB,
        "jobs[client].size": "512MiB",
        "record.log": False,
    }
    return case(COMBINING).with_(changes).run("limit-8").metrics["client.read_mib_per_s"]


def _best(in_flight: int) -> float:
    return max(_rate(size * MIB, in_flight) for size in (1, 2, 4, 8, 16, 32, 64))


def _is_limit(limit: float) -> bool:
    return MIB <= limit <= 64 * MIB


def _reached(limit: float, in_flight: int) -> str:
    return f"The client reads {_rate(int(limit), in_flight):,.0f} MiB/s of {_best(in_flight):,.0f}"


_BEFORE = (
    "import seeklab\n"
    "from collections import Counter\n"
    'copies = seeklab.case("copy-offload")\n'
    'near, network = copies.run("lan"), copies.scenario("lan")["network"]\n'
    'combined = seeklab.case("combine-limit").run("limit-64")\n'
)

TASKS = (
    Task(
        "copies/trips",
        question=(
            "For how many round trips did each of the three copies wait? near.ops has a row for each operation, with "
            "job and round_trip_ns; network['round_trip'] is one round trip in nanoseconds. Use the copies' names as "
            "keys."
        ),
        kind=Fields(dict.fromkeys(NAMES, Number())),
        check=Value(
            _trips,
            (
                Mistake(
                    "operations",
                    "These are its operations. Some wait for less than a round trip, some for more: add up "
                    "round_trip_ns.",
                    gives=_operations,
                ),
                Mistake(
                    "reads-only",
                    "These are the round trips of its reads. A copy waits for its writes as well.",
                    gives=lambda: _trips((0,)),
                ),
                Mistake("nanoseconds", "That is in nanoseconds; divide by one round trip.", times=_trip_ns()),
                Mistake("other", "Add up round_trip_ns over all operations of the copy, and divide by one round trip."),
            ),
        ),
        why="Two for each MiB through the client, one for each MiB server-side, two for each 16 MiB with ODX.",
        hints=(
            "near.jobs lists the copies; row['job'] is a number in that list.",
            "Add up round_trip_ns over all rows of a copy, reads and writes.",
            "Divide each sum by network['round_trip'].",
        ),
        setup=_BEFORE,
        answer=(
            "trips = {\n"
            '    name: sum(row["round_trip_ns"] for row in near.ops.rows() if near.jobs[row["job"]] == name)\n'
            '    / network["round_trip"]\n'
            "    for name in near.jobs\n"
            "}"
        ),
    ),
    Task(
        "copies/list",
        question=(
            "With a round trip of 50 ms, make the server-side copy faster than ODX. Change only how it makes its "
            "requests, not the network, the server or the file. Assign a dictionary of a path and its value."
        ),
        kind=Settings(),
        check=Change(
            _copy,
            lambda: [Bound("server-side.elapsed_s", at_most=_copy({}).metrics["odx.elapsed_s"])],
            stays=(
                Mistake(
                    "other-part",
                    "{match} is a setting of the network, the server or another copy. Change only the server-side "
                    "copy.",
                    when=lambda changes: next((p for p in changes if not p.startswith("jobs[server-side].")), None),
                ),
                Mistake(
                    "fixed-setting",
                    "{match} stays as it is: same file, same chunks, one list after the other. How long is a list?",
                    when=lambda changes: next((path for path in changes if path != LIST), None),
                ),
            ),
            mistakes=(Mistake("short-list", "It still makes too many requests: ODX is faster."),),
        ),
        why="A longer list requests more at a time, so fewer round trips are needed.",
        hints=(
            "Each request carries a list of chunks, and each list costs one round trip.",
            "[control['path'] for control in copies.controls] shows what can be set.",
            f"The path is {LIST}. ODX makes 8 round trips.",
        ),
        setup=_BEFORE,
        answer='better = {"jobs[server-side].copy.chunks_per_request": 16}',
    ),
    Task(
        "copies/together",
        question=(
            "combined is the run with a limit of 64 MiB. How many of the client's reads make up a transaction? "
            "Reads that end at the same moment belong to one transaction. For each number of reads, count the "
            "transactions with that many. Assign a dictionary with the numbers of reads as keys and the counts of "
            "transactions as values."
        ),
        kind=Counts(Number(whole=True), "reads in a transaction, and how many transactions have that many"),
        check=Value(
            _sizes,
            (
                Mistake(
                    "moments",
                    "You have the number of reads that ended at each moment. One more step: count how often each "
                    "number of reads occurs.",
                    gives=_moments,
                ),
                Mistake("bytes", "These are bytes. Count the reads.", gives=lambda: _sizes(MIB)),
                Mistake(
                    "other",
                    "Your counts add up to {match}, which is not the number of transactions. Reads belong together "
                    "when they end at the same moment: submit_ns + latency_ns. Neither alone is enough.",
                    when=lambda found, _: f"{sum(found.values()):,}",
                ),
            ),
            whole=True,
        ),
        why="Every transaction includes everything that the client keeps in flight. Nothing is left for a second one.",
        hints=(
            "A read ends at row['submit_ns'] + row['latency_ns'].",
            "A Counter of these moments has the number of reads that ended at each.",
            "A Counter of that Counter's values() has how often each number occurs.",
        ),
        setup=_BEFORE,
        answer=(
            'ends = Counter(row["submit_ns"] + row["latency_ns"] for row in combined.ops.rows())\n'
            "sizes = Counter(ends.values())"
        ),
    ),
    Task(
        "copies/limit",
        question=(
            "Write a function that takes the bytes that a client keeps in flight and returns the limit of a "
            "transaction in bytes. The check tries 4, 8, 16, 32 and 64 MiB in flight. The rate must be within a "
            "tenth of the best each time."
        ),
        kind=Function("the bytes in flight"),
        check=Cases(
            lambda in_flight: in_flight // 2,
            [(size * MIB,) for size in (64, 32, 16, 8, 4)],
            lambda in_flight: f"With {in_flight // MIB} MiB in flight",
            (
                Mistake(
                    "range",
                    "A limit is between 1 MiB and 64 MiB, in bytes.",
                    when=lambda found, *_: not _is_limit(found),
                ),
                Mistake(
                    "one-transaction",
                    "{match}: everything in flight makes one transaction, and nothing overlaps.",
                    when=lambda found, _, in_flight: found >= in_flight and _reached(found, in_flight),
                ),
                Mistake(
                    "unequal",
                    "{match}: the second transaction is much smaller than the first, so little overlaps.",
                    when=lambda found, _, in_flight: 2 * found > in_flight and _reached(found, in_flight),
                ),
                Mistake(
                    "small",
                    "{match}: the thread pays its fixed time more often than necessary.",
                    when=lambda found, _, in_flight: _reached(found, in_flight),
                ),
            ),
            unit=" bytes",
            accepts=lambda limit, in_flight: (
                _is_limit(limit) and _rate(int(limit), in_flight) >= 0.9 * _best(in_flight)
            ),
        ),
        why="As large as possible, as long as there are two of them.",
        hints=(
            "What was wrong with 16 MiB for a client with 16 MiB in flight?",
            "A large transaction is good as long as another one is in progress at the same time.",
            "How large may each be, so that two equal ones make up what is in flight?",
        ),
        setup=_BEFORE,
        answer="def limit(in_flight):\n    return in_flight // 2",
    ),
)
