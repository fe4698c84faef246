"""Notebook 01, the missing 256 KiB: what the learner writes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from seeklab._case import case
from seeklab.course.task import UnconvertedTask as Task

if TYPE_CHECKING:
    from collections.abc import Callable

    from seeklab._result import Result

CASE = "odx-prefetch"


def _reads(result: Result) -> list[Any]:
    copy = result.jobs.index("odx")
    return [row for row in result.ops.rows() if row["job"] == copy and row["op"] == 0]


def _shape_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    truth = Counter((int(row["bytes"]), int(row["cached_bytes"])) for row in _reads(case(CASE).run("broken")))
    found = Counter({tuple(int(part) for part in shape): int(count) for shape, count in dict(answer).items()})
    if found == truth:
        return None
    if any(len(shape) != 2 for shape in found):  # noqa: PLR2004 -- bytes asked for, bytes found
        return "Each key is a pair: bytes asked for, bytes found in memory."
    if sum(found.values()) > sum(truth.values()):
        return (
            f"You counted {sum(found.values()):,} operations and the copy made {sum(truth.values()):,} reads: "
            "the log also holds other clients' reads, and the copy's writes."
        )
    return f"You counted {sum(found.values()):,} reads in {len(found)} shapes; there are {sum(truth.values()):,}."


def _phase_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    result = case(CASE).run("broken")
    reads = _reads(result)
    names = [
        name
        for name in result.ops.columns
        if name.endswith("_ns") and name not in ("submit_ns", "due_ns", "latency_ns")
    ]
    truth = {name: sum(row[name] for row in reads) / len(reads) / 1e6 for name in names}
    found = {str(name): float(value) for name, value in dict(answer).items()}
    missing = [name for name in names if truth[name] > 0 and name not in found]
    if missing:
        return f"{', '.join(missing)} is not among your keys; take the names of the columns as they are."
    for name, value in truth.items():
        given = found.get(name, 0.0)
        if abs(given - value) <= 0.01 * max(value, 0.01):
            continue
        if value and abs(given / value - len(reads)) < 1:
            return f"{name}: you give {given:,.0f}, the sum over all reads; divide by the number of reads."
        if value and abs(given / value - 1e6) < 1e4:  # noqa: PLR2004 -- within one percent
            return f"{name}: you give {given:,.0f}, which are nanoseconds; divide by 1e6."
        return f"{name}: you give a mean of {given:.3g} ms, the log gives {value:.3g}."
    return None


def _cover_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of a result; this is {type(answer).__name__}."
    covers: Callable[[Result], object] = answer
    expected = {"broken": False, "ssd-resident": False, "fixed": True, "two-ahead": True}
    said = {variant: covers(case(CASE).run(variant)) for variant in expected}
    wrong = [variant for variant, truth in expected.items() if bool(said[variant]) is not truth]
    if not wrong:
        return None
    if wrong == ["ssd-resident"]:
        return (
            "It passes the variant ssd-resident, which has the bug; the SSD tier hides it. Your check looks at the "
            "time. Look at what was not fetched ahead."
        )
    if set(wrong) == {"fixed", "two-ahead"}:
        return "It fails the systems without the bug as well: how much of a read may miss memory there?"
    return (
        f"It is wrong about {', '.join(wrong)}: it must fail where bytes of a sequential read were not fetched ahead."
    )


_BEFORE = (
    "from collections import Counter\n"
    "import seeklab\n"
    'broken = seeklab.case("odx-prefetch").run("broken")\n'
    'copy = broken.jobs.index("odx")\n'
    'reads = [row for row in broken.ops.rows() if row["job"] == copy and row["op"] == 0]\n'
)

TASKS = {
    "odx/shapes": Task(
        question=(
            "Each row of the operation log has job, op (0 is a read), bytes and cached_bytes. Count the copy's reads "
            "by the pair of bytes asked for and bytes found in memory. What do nearly all of them have in common?"
        ),
        wants="a dictionary or a Counter: a pair of bytes and cached_bytes, and how many reads had it",
        wrong=_shape_wrong,
        why="Three reads stand apart. All others ask for the same bytes and find the same bytes in memory.",
        hints=(
            "broken.jobs lists the names of the jobs; the copy is the one named odx; its number stands in row['job'].",
            "Keep the rows with row['job'] == copy and row['op'] == 0; the notebook has them in reads already.",
            "collections.Counter counts how often each value comes: Counter((a, b) for row in ...).",
        ),
        setup=_BEFORE,
        answer=(
            'copy = broken.jobs.index("odx")\n'
            'reads = [row for row in broken.ops.rows() if row["job"] == copy and row["op"] == 0]\n'
            'shapes = Counter((row["bytes"], row["cached_bytes"]) for row in reads)'
        ),
    ),
    "odx/phases": Task(
        question=(
            "The log splits each read's time into columns that end with _ns and add up to latency_ns. How many "
            "milliseconds has each of them, as a mean over the copy's reads?"
        ),
        wants="a dictionary: the name of a column, and its mean over the copy's reads in milliseconds",
        wrong=_phase_wrong,
        why=(
            "Seek, queue and rotation are nine tenths of the read. Moving the missing bytes takes a fraction of a "
            "millisecond."
        ),
        hints=(
            "broken.ops.columns has all names; submit_ns and due_ns are moments, and latency_ns is the sum.",
            "For one column: sum(row[name] for row in reads) / len(reads) / 1e6.",
            "A dictionary comprehension over the names gives all of them.",
        ),
        setup=_BEFORE,
        answer=(
            'names = [name for name in broken.ops.columns if name.endswith("_ns") '
            'and name not in ("submit_ns", "due_ns", "latency_ns")]\n'
            "phases = {name: sum(row[name] for row in reads) / len(reads) / 1e6 for name in names}"
        ),
    ),
    "odx/covered": Task(
        question=(
            "Write the check that was missing from the vendor's tests: a function that takes a result and says whether "
            "the prefetcher covers a sequential reader. It must fail on the bug even where the SSD tier hides it."
        ),
        wants="a function of a result that gives True or False",
        wrong=_cover_wrong,
        why="It asks what the prefetcher is for, on any machine, and no fast disk can hide the answer.",
        hints=(
            "A limit on the latency depends on the machine. What does a prefetcher promise?",
            "result.metrics has a share of the copy's reads in percent that were not in memory.",
            "The metric is odx.read_missed_share_percent.",
        ),
        setup=_BEFORE,
        answer='def covers(result):\n    return result.metrics["odx.read_missed_share_percent"] == 0',
    ),
}
