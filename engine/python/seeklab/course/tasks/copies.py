"""Notebook 14, three ways to copy a file: what the learner writes."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any

from seeklab._case import case
from seeklab.course.task import UnconvertedTask as Task

if TYPE_CHECKING:
    from collections.abc import Callable

COPIES, COMBINING = "copy-offload", "combine-limit"
LIST = "jobs[server-side].copy.chunks_per_request"
MIB = 1 << 20
NEAR = 0.01
"""How far from the truth a count may be, as a share of it."""


def _trips_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    result = case(COPIES).run("lan")
    trip_ns = case(COPIES).scenario("lan")["network"]["round_trip"]
    rows = [(result.jobs[row["job"]], row["op"], row["round_trip_ns"]) for row in result.ops.rows()]
    truth = {name: sum(ns for job, _, ns in rows if job == name) / trip_ns for name in result.jobs}
    reads = {name: sum(ns for job, op, ns in rows if job == name and op == 0) / trip_ns for name in result.jobs}
    operations = Counter(job for job, _, _ in rows)
    found = {str(name): float(value) for name, value in dict(answer).items()}
    if set(found) != set(truth):
        return f"The keys are the names of the jobs: {', '.join(truth)}."
    wrong = [name for name in truth if not abs(found[name] - truth[name]) <= NEAR * truth[name]]
    if not wrong:
        return None
    name = wrong[-1]
    if found[name] == operations[name]:
        return (
            f"{name}: you give {found[name]:g}, its operations. Some wait for less than a round trip, some for more: "
            "add up round_trip_ns."
        )
    if abs(found[name] - reads[name]) <= NEAR * truth[name]:
        return f"{name}: you give {found[name]:g}, those of its reads. A copy waits for its writes as well."
    if abs(found[name] / truth[name] - trip_ns) <= NEAR * trip_ns:
        return f"{name}: you give {found[name]:,.0f}, which are nanoseconds; one round trip takes {trip_ns:,}."
    return f"{name}: you give {found[name]:g} round trips; the log has {truth[name]:g}."


def _list_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    changes = {str(path): value for path, value in dict(answer).items()}
    if not changes:
        return "Nothing is changed yet: a path and its new value are wanted."
    strange = [path for path in changes if not path.startswith("jobs[server-side].")]
    if strange:
        return f"{strange[0]} belongs to the network, the server or another copy. Change the server-side copy alone."
    other = [path for path in changes if path != LIST]
    if other:
        return f"{other[0]} is not how it asks: same file, same chunks, one list after the other. How long is a list?"
    metrics = case(COPIES).with_({**changes, "record.log": False}).run("far").metrics
    mine, odx = metrics["server-side.elapsed_s"], metrics["odx.elapsed_s"]
    if mine < odx:
        return None
    return f"With {changes[LIST]} it takes {mine:.2f} s, and ODX {odx:.2f} s: it still asks too often."


def _together_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    rows = case(COMBINING).run("limit-64").ops.rows()
    moments = Counter(row["submit_ns"] + row["latency_ns"] for row in rows)
    truth = Counter(moments.values())
    found = Counter({float(reads): int(count) for reads, count in dict(answer).items()})
    if found == truth:
        return None
    if len(found) == len(moments):
        return (
            f"You have {len(found):,} moments and how many reads ended at each. One step more: count how often each "
            "number of reads occurs."
        )
    if found == Counter({size * MIB: count for size, count in truth.items()}):
        return "These are bytes. Wanted is the number of reads in a transaction."
    return (
        f"Your counts add up to {sum(found.values()):,}; there are {sum(truth.values()):,} transactions. Reads belong "
        "together when they end at the same moment: submit_ns + latency_ns, and neither alone will do."
    )


@cache
def _rate(limit: int, in_flight_mib: int) -> float:
    changes = {
        "protocol.target_transaction": limit,
        "jobs[client].iodepth": in_flight_mib,
        "jobs[client].size": "512MiB",
        "record.log": False,
    }
    return case(COMBINING).with_(changes).run("limit-8").metrics["client.read_mib_per_s"]


@cache
def _best(in_flight_mib: int) -> float:
    return max(_rate(size * MIB, in_flight_mib) for size in (1, 2, 4, 8, 16, 32, 64))


def _limit_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of the bytes in flight; this is {type(answer).__name__}."
    rule: Callable[[int], Any] = answer
    for in_flight in (64, 32, 16, 8, 4):
        limit = rule(in_flight * MIB)
        if not isinstance(limit, (int, float)) or not MIB <= limit <= 64 * MIB:
            return f"For {in_flight} MiB in flight it gives {limit!r}; a limit lies between 1 MiB and 64 MiB, in bytes."
        rate, best = _rate(int(limit), in_flight), _best(in_flight)
        if rate >= 0.9 * best:
            continue
        told = (
            f"With {in_flight} MiB in flight it gives a limit of {limit / MIB:g} MiB, "
            f"and {rate:,.0f} MiB/s of {best:,.0f}: "
        )
        if limit >= in_flight * MIB:
            return told + "all that is in flight makes one transaction, and nothing overlaps."
        if 2 * limit > in_flight * MIB:
            return told + "what is left for the second transaction is much smaller than the first, and little overlaps."
        return told + "the thread pays its fixed time more often than it must."
    return None


_BEFORE = (
    "import seeklab\n"
    "from collections import Counter\n"
    'copies = seeklab.case("copy-offload")\n'
    'near, network = copies.run("lan"), copies.scenario("lan")["network"]\n'
    'combined = seeklab.case("combine-limit").run("limit-64")\n'
)

TASKS = {
    "copies/trips": Task(
        question=(
            "For how many round trips did each of the three copies wait? near.ops has a row for each operation, with "
            "job and round_trip_ns; network['round_trip'] is one round trip in nanoseconds."
        ),
        wants="a dictionary: the name of a copy, and its round trips",
        wrong=_trips_wrong,
        why="Through the client two for each MiB, server-side one for each MiB, with ODX two for each 16 MiB.",
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
    "copies/list": Task(
        question=(
            "With a round trip of 50 ms, make the server-side copy faster than ODX. Change only how it asks, and "
            "neither the network nor the server nor the file."
        ),
        wants="a dictionary: the path of a setting, and its value",
        wrong=_list_wrong,
        why="A longer list asks for more at a time, so fewer round trips are needed.",
        hints=(
            "Each request carries a list of chunks, and each list costs one round trip.",
            "[control['path'] for control in copies.controls] shows what can be set.",
            "The path is jobs[server-side].copy.chunks_per_request. ODX makes 8 round trips.",
        ),
        setup=_BEFORE,
        answer='better = {"jobs[server-side].copy.chunks_per_request": 16}',
    ),
    "copies/together": Task(
        question=(
            "combined is the run with a limit of 64 MiB. How many of the client's reads make up a transaction? Count "
            "the transactions by their number of reads; reads that end at the same moment belong to one transaction."
        ),
        wants="a dictionary or a Counter: reads in a transaction, and how many transactions have that many",
        wrong=_together_wrong,
        why="Every transaction has all that the client keeps in flight. Nothing is left for a second one.",
        hints=(
            "A read ends at row['submit_ns'] + row['latency_ns'].",
            "A Counter of these moments tells how many reads ended at each.",
            "A Counter of that Counter's values() tells how often each number occurs.",
        ),
        setup=_BEFORE,
        answer=(
            'ends = Counter(row["submit_ns"] + row["latency_ns"] for row in combined.ops.rows())\n'
            "sizes = Counter(ends.values())"
        ),
    ),
    "copies/limit": Task(
        question=(
            "Write a function that takes the bytes a client keeps in flight and gives the limit of a transaction in "
            "bytes. It is tried with 4, 8, 16, 32 and 64 MiB in flight, and the rate must come within a tenth of the "
            "best each time."
        ),
        wants="a function of a number of bytes that gives a number of bytes",
        wrong=_limit_wrong,
        why="As large as possible, as long as there are two of them.",
        hints=(
            "What was wrong with 16 MiB for a client with 16 MiB in flight?",
            "A large transaction is good as long as another one is under way beside it.",
            "How large may each be, so that two equal ones make up what is in flight?",
        ),
        setup=_BEFORE,
        answer="def limit(in_flight):\n    return in_flight // 2",
    ),
}
