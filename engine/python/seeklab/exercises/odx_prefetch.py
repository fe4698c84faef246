"""The assignment on the missing 256 KiB: a system for each learner, and the checks of its three tasks.

A learner's system is the case with other sizes: another prefetch chunk, another read length of the copy engine beyond
it, and another load from other clients. A number copied from the course or from a neighbour is therefore wrong.
"""

from __future__ import annotations

from statistics import mode
from typing import TYPE_CHECKING

from seeklab._case import Case
from seeklab._case import case as load_case
from seeklab._errors import Problem, SeeklabError
from seeklab._question import Question
from seeklab.exercises._shapes import exercise, named, source_from
from seeklab.judge import (
    Asked,
    Bound,
    Choice,
    Commitment,
    Evidence,
    Fields,
    Mistake,
    Number,
    Settings,
    Task,
    draws_of,
    largest,
    near,
)
from seeklab.judge.answers import is_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from seeklab._result import Result
    from seeklab.data.table import Number as Cell

CASE = "odx-prefetch"
KIB = 1 << 10
MIB = 1 << 20

MAX_EVENTS = 1_000_000
"""Limit of events in the runs that test a fix: four times the events of a good one."""

QUESTIONS = {
    "times_slower": Question(
        "How many times as long does the mean copy read take as it would if all its bytes were in memory?", unit="x"
    ),
    "times_slower_with_twice_the_bytes": Question(
        "If twice as many bytes of each copy read were not in memory, how many times as long would the read take?",
        unit="x",
    ),
    "dashboard_miss_percent": Question(
        "The dashboard shows which share of the bytes read by all clients were not in memory. What does it show, in %?",
        unit="%",
    ),
}
"""Questions that a learner answers before the first run."""

PHASES = {
    "memory": ("memory",),
    "waiting": ("queue", "seek", "rotation"),
    "transfer": ("transfer",),
    "overhead": ("overhead", "scheduler"),
}
"""The phases of a read's time, as the assignment names them, each with the log's phases."""

PHASE_REASONS: Mapping[str, str] = {
    "memory": "copying from memory is fast here; the log's phases show it for each read",
    "waiting": "the read does not lose its time waiting for the disk",
    "transfer": "few bytes are missing; once the platter is in position, reading them takes almost no time",
    "overhead": "the fixed costs of a command are a small part of a read of megabytes",
}
"""The reason why each phase is a wrong answer."""

SUSPECTS: Mapping[str, tuple[Mapping[str, object], Mistake]] = {
    "The memory is too small.": (
        {"volume.cache.size": "8GiB"},
        Mistake(
            "memory-size", "with four times the memory the reads take as long: those bytes had never been read before"
        ),
    ),
    "Memory is copied too slowly.": (
        {"volume.cache.rate": "40GB"},
        Mistake("memory-rate", "with memory that copies faster, the reads take almost as long"),
    ),
    "The write log delays the reads.": (
        {"volume.write_log.rate": "2GiB"},
        Mistake("write-log", "a faster write log changes nothing: the copy's reads do not pass through it"),
    ),
    "The disks turn too slowly.": (
        {"devices[disk].hdd.rpm": 15_000},
        Mistake("disk-speed", "faster disks only shorten the wait: the read should not have to wait for them at all"),
    ),
    "Reads of other clients keep the disks busy.": (
        {"jobs[background].rate_iops": 0.001},
        Mistake("other-reads", "with the disks to itself, the copy still waits for the same bytes"),
    ),
    "A copy read is longer than the range fetched ahead for it.": (
        {"protocol.odx_sizing": "target"},
        Mistake("copy-size", "this is not the largest cost here"),
    ),
}
"""Possible causes, each with an experiment that removes it, and the reason why it is wrong. The true one helps most."""

MAY_SET = (
    "protocol.odx_sizing",
    "protocol.scheduler.in_flight",
    "protocol.target_transaction",
    "volume.prefetch.chunk",
    "volume.prefetch.min_read",
    "volume.prefetch.per_request",
)
"""Settings that a fix may change. Other teams own workload, memory and disks; the protocol limits transactions."""

WHY = named(
    late_fetch="the copy's reads still wait: part of each is not fetched before the read asks for it",
    short_fetch="bytes at the end of each read still come from disk, because the fetched range ends before the read "
    "does",
    small_pieces="the copy's reads are too small, or run one after the other, so it loses throughput",
    too_far_ahead="it fetches far more ahead than the copy reads, and so takes memory from all other clients",
    other_clients="the other clients pay for it: the disks fetch data for the copy instead of serving their reads",
)

DEMANDS = (
    Bound("odx.read_latency_mean_ms", at_most=1.5, of="fixed", why=WHY["late-fetch"]),
    Bound("odx.read_missed_share_percent", at_most=0.1, why=WHY["short-fetch"]),
    Bound("odx.read_mib_per_s", at_least=0.9, of="fixed", why=WHY["small-pieces"]),
    Bound("prefetch_max_ahead_bytes", at_most=1.25, of="fixed", why=WHY["too-far-ahead"]),
    Bound("clients.read_latency_mean_ms", at_most=1.1, of="fixed", why=WHY["other-clients"]),
)
"""The bounds for a fix, on every seed."""


LOG_SHOWS = "the value in the log for nearly every copy read"

NUMBER_REASONS: Mapping[str, str] = {
    "read_bytes": "read_bytes is the length of one read of the copy: the column of bytes in the operation log",
    "missed_bytes": "missed_bytes are the bytes of one read that came from disk, not of the whole copy",
    "first_missed_byte": "first_missed_byte counts from the start of the read: the fetched range ends there",
}
"""The likely reason for each wrong number."""

OTHER_MAXIMA_MIB = (20, 24, 28)
"""Largest transactions of the other systems that test a fix: all farther from any chunk than a fix may fetch."""


def system(learner: object) -> Case:
    """Return the learner's system: the case with sizes drawn from the name."""
    draws = draws_of(learner)
    chunk = (8 + draws[0] % 5) * MIB
    tail = (5 + draws[1] % 11) * 32 * KIB
    return load_case(CASE).with_(
        {
            "volume.prefetch.chunk": chunk,
            "protocol.target_transaction": chunk,
            "protocol.max_transaction": chunk + tail,
            "jobs[background].rate_iops": 220 + 4 * (draws[2] % 21),
        }
    )


def briefing(learner: object) -> str:
    """Describe what is known about the learner's system before any analysis."""
    missed = _metric(system(learner), "broken", 1, "odx.read_missed_share_percent")
    return f"In the system of {learner}, {missed:.1f}% of the bytes of each copy read are not in memory."


def run(learner: object, prediction: object) -> Result:
    """Run the learner's system as found, after a prediction has been made."""
    if not isinstance(prediction, dict) or set(prediction) != set(QUESTIONS):
        message = f"is not a dictionary of {', '.join(QUESTIONS)}; predict all of them before the first run"
        raise SeeklabError([Problem("prediction", message)])
    open_questions = [name for name, value in prediction.items() if not is_number(value)]
    if open_questions:
        message = f"{', '.join(open_questions)} is not a number yet; predict all of them before the first run"
        raise SeeklabError([Problem("prediction", message)])
    seed = int.from_bytes(draws_of(learner)[3:9], "big") + 1
    return system(learner).run("broken", seed=seed)


def _near(asked: Asked) -> dict[str, float]:
    base = system(asked.draws)
    tail = _largest_transaction(base) - _chunk(base)
    doubled = base.with_({"protocol.max_transaction": _largest_transaction(base) + tail})
    latency = "odx.read_latency_mean_ms"
    now = _metric(base, "broken", asked.seed, latency)
    return {
        "times_slower": now / _metric(base, "fixed", asked.seed, latency),
        "times_slower_with_twice_the_bytes": _metric(doubled, "broken", asked.seed, latency) / now,
        "dashboard_miss_percent": 100 - _metric(base, "broken", asked.seed, "memory_hit_share_percent"),
    }


def _diagnosis(asked: Asked) -> list[Evidence]:
    """Judge the cause and its evidence by a run of the learner's system; each part counts the same."""
    base, seed, given = system(asked.draws), asked.seed, asked.answers["diagnosis"]
    result = base.run("broken", seed=seed)
    reads = list(copy_reads(result))
    numbers: Mapping[str, float] = {
        "read_bytes": mode(read["bytes"] for read in reads),
        "missed_bytes": mode(read["missed_bytes"] for read in reads),
        "first_missed_byte": mode(first_missed_byte(result, read) for read in reads),
    }
    # The right number stays hidden: a learner finds it in the log.
    found = [
        near(
            name,
            given[name],
            float(truth),
            unit="B",
            told=LOG_SHOWS,
            why=Mistake(name.replace("_", "-"), NUMBER_REASONS[name]),
        )
        for name, truth in numbers.items()
        if name in given
    ]
    if "phase" in given:
        phase = given["phase"]
        times = _time_by_phase_ms(result)
        found.append(
            largest("phase", phase, times, unit="ms a read", seed=seed, why=Mistake(phase, PHASE_REASONS[phase]))
        )
    if "cause" in given:
        # Remove one suspect after the other: which removal saves most of the mean read?
        latency = "odx.read_latency_mean_ms"
        now = _metric(base, "broken", seed, latency)
        saved = {name: now - _metric(base.with_(gone), "broken", seed, latency) for name, (gone, _) in SUSPECTS.items()}
        cause = given["cause"]
        unit = "ms of each read saved"
        found.append(largest("taken away:", cause, saved, unit=unit, seed=seed, why=SUSPECTS[cause][1]))
    return found


def copy_reads(result: Result) -> Iterator[dict[str, Cell]]:
    """Return the copy engine's reads in order, without the first, which no fetch could precede."""
    job = result.jobs.index("odx")
    reads = (row for row in result.ops.rows() if row["job"] == job and row["op"] == 0)
    next(reads, None)
    return reads


def first_missed_byte(result: Result, read: Mapping[str, Cell]) -> int:
    """Return the number of bytes from the start of a read to the first unrequested one; its length if there is none."""
    job, start, length = read["job"], read["offset"], read["bytes"]
    reach = start
    for row in result.prefetches.rows():
        if row["job"] == job and row["issue_ns"] < read["submit_ns"] and row["offset"] <= reach:
            reach = max(reach, row["offset"] + row["bytes"])
    return int(min(reach - start, length))


def _fix(asked: Asked) -> list[Evidence]:
    """Judge a change of configuration on the learner's own system."""
    return _demanded(asked, system(asked.draws))


def _fix_elsewhere(asked: Asked) -> list[Evidence]:
    """Judge the same change on systems with a protocol that allows much larger or much smaller transactions."""
    base = system(asked.draws)
    source = source_from(asked.seed)
    maxima = (source.choice(OTHER_MAXIMA_MIB) * MIB, _chunk(base) // 2)
    systems = (base.with_({"protocol.max_transaction": maximum}) for maximum in maxima)
    return [item for other in systems for item in _demanded(asked, other)]


def _demanded(asked: Asked, base: Case) -> list[Evidence]:
    plain = base.with_({"record.log": False})
    reference = plain.run("fixed", seed=asked.seed)
    result = plain.with_(asked.answers["fix"]).run("broken", seed=asked.seed)
    return [bound.check(result, reference) for bound in DEMANDS]


def _time_by_phase_ms(result: Result) -> dict[str, float]:
    return {
        word: sum(result.metrics.get(f"odx.read_{phase}_mean_ms", 0.0) for phase in phases)
        for word, phases in PHASES.items()
    }


def _metric(base: Case, variant: str, seed: int, metric: str) -> float:
    return base.with_({"record.log": False}).run(variant, seed=seed).metrics[metric]


def _chunk(base: Case) -> int:
    return int(base.scenario("broken")["volume"]["prefetch"]["chunk"])


def _largest_transaction(base: Case) -> int:
    return int(base.scenario("broken")["protocol"]["max_transaction"])


FIX = Settings(
    MAY_SET,
    {
        "jobs[background].rate_iops": "other teams own the workload; removing it is not a fix",
        "volume.cache.size": (
            "other teams own the memory, and more would not help: those bytes had never been read before"
        ),
        "protocol.max_transaction": "you cannot change what the protocol allows; you can change how reads are split",
    },
)
FIX_HINTS = (
    "The fetched range and the read end at different bytes. Which of the two can you move?",
    "Fetching more than one chunk ahead helps reads of one size, but takes memory for reads of every size.",
    "Reads that are split to the size of a fetch never extend beyond it, whatever the protocol allows.",
)

ASSIGNMENT, check, hint = exercise(
    "odx-prefetch",
    Commitment("check-prediction", 2, "prediction", QUESTIONS, _near),
    Task(
        "check-diagnosis",
        7,
        {
            "diagnosis": Fields(
                {
                    **dict.fromkeys(NUMBER_REASONS, Number()),
                    "phase": Choice(PHASE_REASONS),
                    "cause": Choice({name: mistake.why for name, (_, mistake) in SUSPECTS.items()}),
                }
            )
        },
        _diagnosis,
        (
            "Take one read from the middle of the log. How long is it, and how much of it was missed?",
            "result.prefetches lists the bytes that were fetched ahead: up to which byte of the read do they extend?",
            (
                "Few bytes are missed but much time is lost: the read is longer than the fetched range, so it "
                "waits for the arm and the platter."
            ),
        ),
        seeds=1,
        by_parts=True,
        guessed=2,  # Phase and cause are the same for everyone, so they count only with the numbers.
    ),
    Task("check-fix", 1, {"fix": FIX}, _fix, FIX_HINTS, events=MAX_EVENTS),
    Task("check-fix-elsewhere", 2, {"fix": FIX}, _fix_elsewhere, FIX_HINTS, events=MAX_EVENTS),
)
