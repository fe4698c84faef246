"""Notebook 04, a throttle that hurt: what the learner writes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from seeklab._case import case
from seeklab.course.tasks import Task

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

CASE = "throttle-2008"
SECOND = 1e9
CLASSES = ("under 1 ms", "1 ms to 1 s", "1 s and more")


def _times() -> list[tuple[float, float]]:
    """Give when each write was submitted, and how long it took, in seconds."""
    ops = case(CASE).run("2008").ops
    return [(sent / SECOND, took / SECOND) for sent, took in zip(ops["submit_ns"], ops["latency_ns"], strict=True)]


def _numbers(answer: Any) -> dict[Any, float]:  # noqa: ANN401 -- whatever the learner has made
    return {key: float(value) for key, value in dict(answer).items()}


def _class_of(latency_s: float) -> str:
    return CLASSES[0] if latency_s < 1e-3 else CLASSES[1] if latency_s < 1 else CLASSES[2]  # noqa: PLR2004 -- their names


def _waited_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    found = _numbers(answer)
    truth = dict.fromkeys(CLASSES, 0.0)
    counts = Counter[str]()
    for _, took in _times():
        truth[_class_of(took)] += took
        counts[_class_of(took)] += 1
    lacking = [name for name in CLASSES if name not in found]
    if lacking:
        return f'"{lacking[0]}" is not among your keys; they are "{CLASSES[0]}", "{CLASSES[1]}" and "{CLASSES[2]}".'
    if all(found[name] == counts[name] for name in CLASSES):
        return "You counted the writes. Add up their latencies instead: what counts here is time, not how many."
    for name in CLASSES:
        given, right = found[name], truth[name]
        if abs(given - right) <= 0.01 * right:
            continue
        for unit, factor in (("nanoseconds", 1e9), ("microseconds", 1e6), ("milliseconds", 1e3)):
            if abs(given - right * factor) <= 0.01 * right * factor:
                return f"{name}: you give {given:,.0f}, which are {unit}; wanted are seconds."
        if abs(given * counts[name] - right) <= 0.01 * right:
            return f"{name}: you give the mean of these writes; wanted is the sum, {counts[name]:,} of them together."
        return f"{name}: you give {given:,.3g} s, the log adds up to {right:,.3g} s. Does each write land in one class?"
    return None


def _rhythm_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    found = {round(float(key)): round(float(value)) for key, value in dict(answer).items() if value}
    stalls = [(sent, took) for sent, took in _times() if took >= 1]
    truth = Counter(round(sent + took) for sent, took in stalls)
    if found == dict(truth):
        return None
    if found == dict(Counter(int(sent + took) for sent, took in stalls)):
        return None  # whole seconds by cutting off are as good
    if found in (dict(Counter(edge(sent) for sent, _ in stalls)) for edge in (round, int)):
        return "These are the seconds in which the stalled writes began. When does each end? Add its latency."
    total = sum(found.values())
    if total > len(stalls):
        return f"You counted {total:,} writes; only {len(stalls)} took a second or longer. Leave the others out."
    return (
        f"You have {total} stalled writes in {len(found)} different seconds; the log has {len(stalls)} in {len(truth)}."
    )


def _reached_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    found = _numbers(answer)
    chosen = case("delay-everything").with_({"jobs[writers].ramp_time": 0, "jobs[writers].runtime": "1s"})
    truth = {}
    for name, variant in (("A", "bug"), ("B", "intended")):
        zfs = chosen.scenario(variant)["zfs"]
        before = chosen.run(variant).metrics["zfs_writes_before_delay"]
        truth[name] = 100 * before * zfs["record"] / zfs["write_limit"]
    if set(found) != set(truth):
        return 'Wanted are two numbers, under the keys "A" and "B".'
    if all(abs(found[name] - truth[name]) <= 0.1 for name in truth):  # noqa: PLR2004 -- a tenth of a percent
        return None
    if abs(found["B"] - truth["B"] / 100) < 0.01:  # noqa: PLR2004 -- rounding
        return f"B: {found['B']:g} is a fraction; wanted is percent."
    if found["A"] > found["B"]:
        return "You have A's number under B: which of the two runs lets more in before anyone sleeps?"
    if found["B"] > 100:  # noqa: PLR2004 -- percent
        return (
            f"B: {found['B']:,.0f} is more than all of a group. Multiply the writes by the bytes of one, "
            "and divide by the bytes of a group."
        )
    return f"B: you give {found['B']:.3g} %, the run gives {truth['B']:.3g} %."


def _late_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of the limit; this is {type(answer).__name__}."
    late_from: Callable[[int], float] = answer
    for limit in (500 << 20, 180 << 20, 1000):
        given, right = float(late_from(limit)), limit * 7 / 8
        if abs(given - right) <= 1:
            continue
        if given == 0:
            return (
                "It still gives 0: a minus binds tighter than a shift, so the two limits are subtracted from each "
                "other first. Parentheses."
            )
        if given < 0:
            return f"It gives {given:,.0f} for a limit of {limit:,}: a shift to the left multiplies. Which way divides?"
        if abs(given - limit / 8) <= 1:
            return "That is the last eighth itself. Sleeping begins where the eighth before the limit begins."
        return f"For a limit of {limit:,} it gives {given:,.0f}; seven eighths are {right:,.0f}."
    return None


def _little_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    found = {round(float(key)): value for key, value in _numbers(answer).items()}
    crowd = case("thousand-threads").scenario("thousand")
    bytes_each, rate = crowd["jobs"][0]["bs"], crowd["devices"][0]["lun"]["rate"]
    truth: Mapping[int, float] = {threads: 1e3 * threads * bytes_each / rate for threads in (10, 1000)}
    if set(found) != set(truth):
        return "Wanted are two numbers, under the keys 10 and 1000."
    for threads, right in truth.items():
        given = found[threads]
        if abs(given - right) <= 0.02 * right:
            continue
        if abs(given * 1e3 - right) <= 0.02 * right:
            return f"{threads} threads: {given:g} are seconds; wanted are milliseconds."
        if abs(given * threads - right) <= 0.02 * right:
            return (
                f"{threads} threads: {given:.3g} ms is what the disks need for one write. "
                f"How many are in the system at the same time?"
            )
        return f"{threads} threads: you give {given:.3g} ms; in flight times size over rate is {right:.3g} ms."
    return None


TASKS = {
    "throttle/waited": Task(
        question=(
            "Where did the time go? Add up the latencies of all writes in three classes: under 1 ms, 1 ms to 1 s, "
            "1 s and more. The variable writes is a list of rows; row['latency_ns'] is in nanoseconds."
        ),
        wants='a dictionary with the keys "under 1 ms", "1 ms to 1 s", "1 s and more": the seconds of each class',
        wrong=_waited_wrong,
        why="Nearly all of the waiting is in the class with the fewest writes.",
        hints=(
            "Begin with a dictionary of three zeros.",
            "For each row: seconds = row['latency_ns'] / 1e9, then find its class by comparing with 1e-3 and 1.",
            "Add the seconds to the class, not 1.",
        ),
        answer=(
            'waited = {"under 1 ms": 0, "1 ms to 1 s": 0, "1 s and more": 0}\n'
            "for row in writes:\n"
            '    seconds = row["latency_ns"] / 1e9\n'
            '    name = "under 1 ms" if seconds < 1e-3 else "1 ms to 1 s" if seconds < 1 else "1 s and more"\n'
            "    waited[name] += seconds"
        ),
    ),
    "throttle/rhythm": Task(
        question=(
            "Take the writes that took a second or longer. A write ends at submit_ns + latency_ns. Round that to whole "
            "seconds of the run, and count how many writes end at each."
        ),
        wants="a dictionary or a Counter: a second of the run, and how many slow writes ended at it",
        wrong=_rhythm_wrong,
        why="Each time as many end together as there are threads: something lets all of them go at once.",
        hints=(
            "Keep the rows with row['latency_ns'] >= 1e9.",
            "round((row['submit_ns'] + row['latency_ns']) / 1e9) is the second at which a write ends.",
            "collections.Counter counts how often each value comes: Counter(round(...) for row in writes if ...).",
        ),
        answer=(
            "ends = Counter(\n"
            '    round((row["submit_ns"] + row["latency_ns"]) / 1e9) for row in writes if row["latency_ns"] >= 1e9\n'
            ")"
        ),
    ),
    "throttle/reached": Task(
        question=(
            "How full was the group when the first write slept, in percent of its limit? The counter "
            "zfs_writes_before_delay says how many writes had got in before; a write has 8 KiB, a group 500 MiB. "
            "tickets has the results of A and B."
        ),
        wants='a dictionary with the keys "A" and "B": percent of the limit',
        wrong=_reached_wrong,
        why="B begins to slow writers down at 7/8 of the limit. A begins with the first byte.",
        hints=(
            'tickets["A"].metrics["zfs_writes_before_delay"] is a number of writes.',
            "Times 8 * 1024 gives bytes; a limit of 500 MiB is 500 * 1024 * 1024.",
            "Times 100 for percent.",
        ),
        answer=(
            "reached = {\n"
            '    name: 100 * run.metrics["zfs_writes_before_delay"] * 8 * KIB / (500 * MIB)\n'
            "    for name, run in tickets.items()\n"
            "}"
        ),
    ),
    "throttle/late": Task(
        question="Fix it: write late_from(limit) so that it gives 7/8 of the limit, with a shift for the division.",
        wants="a function of the limit in bytes that gives bytes",
        wrong=_late_wrong,
        why="Three bits to the right divide by eight, and the parentheses make the shift come first.",
        hints=(
            "What is 8 << 3, and what is 8 >> 3?",
            "In Python as in C a minus binds tighter than a shift.",
            "limit - (limit >> 3)",
        ),
        answer="def late_from(limit):\n    return limit - (limit >> 3)",
    ),
    "throttle/little": Task(
        question=(
            "Use Little's law, requests in flight = rate x latency, to say what the mean write takes with 10 and with "
            "1000 threads. A write has 8 KiB, the disks take 100 MiB/s, and each thread has one write in flight."
        ),
        wants="a dictionary with the keys 10 and 1000: milliseconds of a mean write",
        wrong=_little_wrong,
        why="A hundred times as many are in flight and the rate is the same, so the mean is a hundred times as long. "
        "The formula knows of no throttle.",
        hints=(
            "Solve for the latency: in flight / rate. The rate has to be in writes a second.",
            "100 MiB/s in writes of 8 KiB: 100 * MIB / (8 * KIB) writes a second.",
            "Times 1000 for milliseconds.",
        ),
        answer="little = {threads: 1000 * threads / (100 * MIB / (8 * KIB)) for threads in (10, 1000)}",
    ),
}
