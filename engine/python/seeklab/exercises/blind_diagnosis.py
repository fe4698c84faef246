"""The assignment on blind diagnosis: name an unknown incident's cause and the evidence, from tool output alone.

The learner's name determines the incident and its numbers. A cause is judged by experiment: the judge removes it, and
the complaint must disappear. Evidence is compared with the run that the tools print.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import seeklab
from seeklab._errors import Problem, SeeklabError
from seeklab.exercises._shapes import exercise, source_from
from seeklab.judge import Asked, Choice, Evidence, Mistake, Settings, Task, draws_of, handed_text, near

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping

    from seeklab._result import Result

KIB = 1 << 10
MIB = 1 << 20

THREAD = "One thread does all the work of the disk."
LOCK = "Threads wait for a lock that one of them holds exclusively."
CORES = "All cores of the node are busy."
ALIGNMENT = "Writes do not begin and end at the disks' block boundaries."
BURSTS = "The application writes in bursts, and the dashboard averages over idle time."
WINDOW = "The buffers at the two ends are too small for the line's round trip."
CAUSES = {
    THREAD: Mistake(
        "one-thread",
        "a thread that is the limit works all the time; look for the busiest one in the folded stacks; here, a "
        "second shard changed nothing",
    ),
    LOCK: Mistake(
        "lock",
        "threads that wait for a lock appear as waiting in the folded stacks, while the holder works alone; "
        "without the lock, these threads would be no faster",
    ),
    CORES: Mistake(
        "cores",
        "if all cores were busy, their work would equal the number of cores times the run's time; check the "
        "folded stacks: here, twice as many cores change nothing",
    ),
    ALIGNMENT: Mistake(
        "alignment",
        "a write that starts inside a block makes the disk read first; iostat shows these reads; this partition "
        "performs the same when aligned to a MiB",
    ),
    BURSTS: Mistake(
        "bursts",
        "a dashboard misleads about bursts that are shorter than its interval; at intervals of 100 ms, this one "
        "shows the same as before",
    ),
    WINDOW: Mistake(
        "window",
        "a window is the limit when one round trip carries exactly the smaller of the two buffers; with 16 MiB "
        "at both ends, no more data arrives here",
    ),
}
"""The possible causes, and why each one does not apply."""

TOOLS = ("fio", "iostat", "monitor", "histogram", "parted", "folded")
"""The available tools, as for `--as` on the command line."""

APP = "app"
COMPLAINTS = (
    "By its dashboard, an application is slow: at most {:,.4g} MiB/s. Its team asks why.",
    "The dashboard of an application shows {:,.4g} MiB/s at most, a fraction of what the hardware can do.",
    "A team asks for faster disks: its dashboard shows {:,.4g} MiB/s at most.",
    "An application should do several times the {:,.4g} MiB/s that its dashboard shows at best.",
)
"""Complaints that fit every cause. Which one a ticket has is drawn independently of its cause."""
NETWORK = {"bits_per_s": 100_000_000_000, "client_buffer": 16 * MIB, "server_buffer": 16 * MIB}
SHOWN = "monitor_busiest_mib_per_s"
"""The number of every complaint."""


@dataclass(frozen=True)
class Incident:
    """A system with one thing wrong."""

    scenario: dict[str, Any]
    metric: str
    """The metric that improves without the cause; more is better."""
    cores: int
    """Cores of the storage."""
    ping_ms: float
    evidence: Mapping[str, tuple[str, Callable[[Result], float]]]
    """Evidence by name: a number to read off the tools, and its true value."""


def _job(scenario: dict[str, Any], window: str, **changes: object) -> dict[str, Any]:
    """Keep the first job of a scenario under a neutral name, and let all tools observe it.

    `window` is shorter than the job's runtime, so only the intended dashboard misleads. The network is no limit.
    """
    job = {**scenario["jobs"][0], "name": APP, **changes}
    monitor = {"span": "1s", **(scenario.get("monitor") or {}), "window": window}
    partition = scenario.get("partition") or {"start": MIB}
    observed = {**scenario, "jobs": [job], "partition": partition, "monitor": {**monitor, "job": APP}}
    return {"network": NETWORK, **observed}


def _near(source: random.Random, scenario: dict[str, Any]) -> float:
    """Draw the round trip to a client that is not far away; return it in milliseconds."""
    tenths = source.randrange(1, 10)
    scenario["network"] = {**scenario["network"], "round_trip": f"{100 * tenths}us"}
    return tenths / 10


def _elapsed_ns(result: Result) -> float:
    return result.metrics[f"{APP}.elapsed_s"] * 1e9


def _busiest_thread(result: Result) -> float:
    return 100 * max(float(row["busy_ns"]) for row in result.cpu.rows()) / _elapsed_ns(result)


def _busiest_shard(result: Result) -> float:
    return 100 * max(float(row["busy_ns"]) for row in result.cpu.rows() if row["number"]) / _elapsed_ns(result)


def _outside(result: Result) -> float:
    return 100 * (1 - result.metrics["device_r_await_ms"] / result.metrics[f"{APP}.read_latency_mean_ms"])


OUTSIDE = ("outside_percent", "Which share of a read's time is spent outside the device, in %?")


def _node(source: random.Random, **controller: object) -> dict[str, Any]:
    """Draw a healthy node with controllers of virtual disks and one kind of load."""
    whole = seeklab.case("vdisk-sharding").scenario("both")
    own = {
        **whole["controller"],
        "cores": source.randrange(10, 17),
        "read": source.randrange(40_000, 90_000),
        "dispatch": source.randrange(3_000, 6_000),
        "only_spare_cores": False,
        **controller,
    }
    depth = source.choice((64, 96, 128, 192))
    return _job(
        {**whole, "controller": own}, "50ms", iodepth=depth, number_ios=8000, bs=source.choice((4, 8, 16)) * KIB
    )


def _one_thread(source: random.Random) -> Incident:
    scenario = _node(source, shards=1)
    return Incident(
        scenario,
        f"{APP}.read_iops",
        scenario["controller"]["cores"],
        _near(source, scenario),
        {
            "thread_percent": ("How busy is the busiest thread while the application runs, in %?", _busiest_thread),
            OUTSIDE[0]: (OUTSIDE[1], _outside),
        },
    )


def _exclusive_lock(source: random.Random) -> Incident:
    lock = {"held_percent": source.randrange(60, 91), "exclusive": "always"}
    scenario = _node(source, shards=4, lock=lock)
    return Incident(
        scenario,
        f"{APP}.read_iops",
        scenario["controller"]["cores"],
        _near(source, scenario),
        {
            "shard_percent": ("How busy is the busiest shard while the application runs, in %?", _busiest_shard),
            OUTSIDE[0]: (OUTSIDE[1], _outside),
        },
    )


def _all_cores(source: random.Random) -> Incident:
    cores = source.randrange(3, 7)
    lock = {"held_percent": source.randrange(5, 30), "exclusive": "always"}
    scenario = _node(source, shards=source.choice((1, 2)), cores=cores, lock=lock)
    (job,) = scenario["jobs"]
    scenario["jobs"] = [{**job, "numjobs": 4 * cores, "iodepth": 16, "number_ios": 800}]

    def busy(result: Result) -> float:
        return 100 * sum(float(row["busy_ns"]) for row in result.cpu.rows()) / _elapsed_ns(result) / cores

    return Incident(
        scenario,
        f"{APP}.read_iops",
        cores,
        _near(source, scenario),
        {
            "cores_percent": ("How busy are its cores while the application runs, in %?", busy),
            OUTSIDE[0]: (OUTSIDE[1], _outside),
        },
    )


def _misaligned(source: random.Random) -> Incident:
    whole = seeklab.case("misaligned-io").scenario("misaligned")
    start = source.choice((1536, 512, 2048, 3584, 63 * 512))
    size = source.choice((512, 1024, 2048)) * KIB
    scenario = _job(
        {**whole, "partition": {**whole["partition"], "start": start}}, "1s", bs=size, size="512MiB", loops=1
    )
    scenario["layout"] = {**scenario["layout"], "unit": "512MiB"}

    def reads_per_write(result: Result) -> float:
        return float(sum(result.device_table["reads"]) / sum(result.device_table["writes"]))

    def into_block(_result: Result) -> float:
        return float(start % scenario["partition"]["block"])

    return Incident(
        scenario,
        f"{APP}.write_mib_per_s",
        source.randrange(3, 17),
        _near(source, scenario),
        {
            "reads_per_write": ("How many reads reach a disk for each write?", reads_per_write),
            "into_block": (
                "How many bytes into a block of 4 KiB does the application's first write begin?",
                into_block,
            ),
        },
    )


def _bursts(source: random.Random) -> Incident:
    whole = seeklab.case("averaged-away").scenario("burst-1s")
    outstanding, rate = source.choice((8, 16, 32)), source.randrange(200, 600) * MIB
    scenario = _job(
        {
            **whole,
            "devices": [{"name": "vdisk", "lun": {"capacity": "1TiB", "rate": rate, "latency": "1ms"}}],
        },
        f"{source.choice((10, 20, 30))}s",
        iodepth=outstanding,
        number_ios=max(round(rate / MIB * source.uniform(0.8, 1.6)), 20 * outstanding),
    )

    def shown(result: Result) -> float:
        busiest = max(result.monitor(), key=lambda point: float(point["mib_per_s"]))
        return float(busiest["mib_per_s"] * busiest["latency_mean_ms"] / 1000)

    return Incident(
        scenario,
        SHOWN,
        source.randrange(3, 17),
        _near(source, scenario),
        {
            "shown_in_flight": (
                (
                    "If the dashboard's busiest point is true, how many writes of 1 MiB are in the disk, by "
                    "Little's law?"
                ),
                shown,
            ),
            "disk_mib_per_s": (
                "How many MiB/s did the disk do while the application wrote?",
                lambda result: result.metrics[f"{APP}.write_mib_per_s"],
            ),
        },
    )


def _window(source: random.Random) -> Incident:
    whole = seeklab.case("one-window-per-rtt").scenario("default-48k")
    round_trip_ms = source.choice((2, 5, 10, *range(20, 200, 10)))
    buffer = source.choice((32, 48, 64, 128)) * KIB
    network = {
        **whole["network"],
        "round_trip": f"{round_trip_ms}ms",
        "client_buffer": buffer,
        "server_buffer": buffer * source.choice((1, 8)),
    }
    return Incident(
        _job({**whole, "network": network}, "1s", size="32MiB", bs="256KiB"),
        f"{APP}.read_mib_per_s",
        source.randrange(3, 17),
        round_trip_ms,
        {
            "per_round_trip_kib": (
                "How many KiB arrive in the time of one round trip?",
                lambda result: result.metrics[f"{APP}.read_mib_per_s"] * KIB * round_trip_ms / 1000,
            ),
            OUTSIDE[0]: (OUTSIDE[1], _outside),
        },
    )


_INCIDENTS: Mapping[str, Callable[[random.Random], Incident]] = {
    THREAD: _one_thread,
    LOCK: _exclusive_lock,
    CORES: _all_cores,
    ALIGNMENT: _misaligned,
    BURSTS: _bursts,
    WINDOW: _window,
}


def _found(learner: object) -> tuple[str, Incident]:
    """Return the learner's incident and its cause."""
    draws = draws_of(learner)
    cause = list(CAUSES)[draws[0] % len(CAUSES)]
    return cause, _INCIDENTS[cause](source_from(bytes(draws)))


def _without(scenario: dict[str, Any], cause: str) -> dict[str, Any]:
    """Remove the named cause, if the system has it."""
    changed = dict(scenario)
    controller, network, monitor = (scenario.get(part) for part in ("controller", "network", "monitor"))
    if controller and cause == THREAD:
        changed["controller"] = {**controller, "shards": 2 * controller["shards"]}
    elif controller and cause == LOCK:
        changed["controller"] = {key: value for key, value in controller.items() if key != "lock"}
    elif controller and cause == CORES:
        changed["controller"] = {**controller, "cores": 2 * controller["cores"]}
    elif cause == ALIGNMENT:
        changed["partition"] = {**scenario["partition"], "start": MIB}
    elif monitor and cause == BURSTS:
        changed["monitor"] = {**monitor, "window": "100ms"}
    elif network and cause == WINDOW:
        changed["network"] = {**network, "client_buffer": 16 * MIB, "server_buffer": 16 * MIB}
    return changed


def _complaint(draws: bytes) -> str:
    _, incident = _found(draws)
    shown = seeklab.run(incident.scenario).metrics[SHOWN]
    told = COMPLAINTS[draws[1] % len(COMPLAINTS)].format(shown)
    return f"{told} The storage has {incident.cores} cores; ping from the application says {incident.ping_ms:g} ms."


def _shown(draws: bytes, tool: str) -> str:
    _, incident = _found(draws)
    return seeklab.run(incident.scenario).text(tool) or "(nothing: no thread of the storage node did any work)"


def ticket(learner: object) -> str:
    """Describe the users' complaint and the facts that the tools do not print."""
    complaint = handed_text(learner, "ticket")
    return f"The ticket of {learner}: {_complaint(draws_of(learner)) if complaint is None else complaint}"


def look(learner: object, tool: str) -> str:
    """Print a tool's output for the learner's system."""
    if tool not in TOOLS:
        raise SeeklabError([Problem("tool", f'"{tool}" is not available here; known: {", ".join(TOOLS)}')])
    text = handed_text(learner, tool)
    return _shown(draws_of(learner), tool) if text is None else text


def _handed_out(draws: bytes) -> dict[str, str]:
    """Return the ticket and the output of each tool; nothing in it names the cause."""
    return {"ticket": _complaint(draws), **{tool: _shown(draws, tool) for tool in TOOLS}}


def _example(cause: str) -> Incident:
    return _INCIDENTS[cause](source_from(1))


def evidence_for(cause: object) -> dict[str, str]:
    """Return the names of the numbers that are evidence for a cause."""
    if cause not in CAUSES:
        raise SeeklabError([Problem("cause", "is not one of exercise.CAUSES; copy the text exactly")])
    return {name: question for name, (question, _) in _example(str(cause)).evidence.items()}


def _cause(asked: Asked) -> list[Evidence]:
    """Judge a cause by experiment: without it, the number of the complaint must rise."""
    cause = asked.answers["cause"]
    _, incident = _found(asked.draws)
    found, without = (
        seeklab.run(scenario, seed=asked.seed) for scenario in (incident.scenario, _without(incident.scenario, cause))
    )
    before, after = found.metrics[incident.metric], without.metrics[incident.metric]
    times = asked.bound("gone_times")
    bound = f">= {times * before:,.4g} ({times:g} times as found)"
    what, unit = f"{incident.metric} without it", found.units[incident.metric]
    return [Evidence(what, after, bound, after >= times * before, unit, asked.seed).because(CAUSES[cause])]


def _evidence(asked: Asked) -> list[Evidence]:
    """Judge the numbers read off the tools; the numbers of another cause are not evidence."""
    named, given = asked.answers["cause"], asked.answers["evidence"]
    cause, incident = _found(asked.draws)
    names = list(evidence_for(named))
    if named != cause:
        why = Mistake("other-cause", "these numbers are evidence for another cause; name the right cause first")
        return [Evidence(name, None, "a number for the right cause", met=False).because(why) for name in names]
    result = seeklab.run(incident.scenario)
    percent = asked.bound("read_within_percent")
    # The right number stays hidden: a learner finds it in the tools.
    told = f"what the tools show, +-{percent:g}%"
    found = []
    for name in names:
        question, measure = incident.evidence[name]
        value = given.get(name)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            found.append(
                Evidence(
                    name, None, "a number", met=False, why=f"{name} has no number yet: {question}", code="unreadable"
                )
            )
            continue
        why = Mistake("misread", f"{name} is not what the tools of this system show; the question is: {question}")
        found.append(near(name, value, measure(result), within_percent=percent, told=told, why=why))
    return found


CAUSE = Choice({name: mistake.why for name, mistake in CAUSES.items()})
EVIDENCE_NAMES = (
    *("thread_percent", "shard_percent", "cores_percent", "outside_percent", "reads_per_write", "into_block"),
    *("shown_in_flight", "disk_mib_per_s", "per_round_trip_kib"),
)
"""The numbers of all causes."""

ASSIGNMENT, check, hint = exercise(
    "blind-diagnosis",
    Task(
        "check-cause",
        5,
        {"cause": CAUSE},
        _cause,
        (
            "Compare the application's wait with the device's time: where is the rest?",
            (
                "Each cause has its own trace: a thread at 100%, waiting in the stacks, work that fills all "
                "cores. Others are unrequested reads, a latency that contradicts Little's law, or equal bytes in "
                "every round trip."
            ),
            (
                "Rule out causes, one tool at a time: folded for threads, iostat for alignment, the monitor and "
                "the histogram for bursts. For the window, multiply the ping time by the rate."
            ),
        ),
        seeds=1,
    ),
    Task(
        "check-evidence",
        4,
        {"cause": CAUSE, "evidence": Settings(EVIDENCE_NAMES)},
        _evidence,
        (
            "exercise.evidence_for(cause) lists the two numbers to give.",
            (
                "A share of a thread or of the cores is the work in the folded stacks (ns) divided by the run's "
                "time, which fio prints."
            ),
            "The share outside the device is 1 - r_await / fio's mean latency, both in the same unit.",
        ),
        seeds=1,
        by_parts=True,
    ),
    bounds={"gone_times": 1.2, "read_within_percent": 5.0},
    blind=_handed_out,
)
