"""Notebook 22, shouting at disks: its tasks."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from seeklab._case import case
from seeklab.course.task import Task
from seeklab.judge import ANSWER, Cases, Evidence, Function, Mistake, Number, Value, diagnose
from seeklab.judge.mistakes import Near

if TYPE_CHECKING:
    from seeklab.judge import Asked

CASE = "shouting"
MIB = 1 << 20
LATE_NS = 5e6
"""An undisturbed request takes 1.6 ms or 2.5; one that lost a revolution 9.9."""
INGEST_MB, SHOUT_S = 200, 10
SHOUT_MB = INGEST_MB * SHOUT_S
MAX_MIB = 3300
DELAY_FROM = 0.6
NEAR = Near(0.01)


def _wait(off_track: float, turn_ms: float) -> float:
    return turn_ms * off_track / (1 - off_track)


@cache
def _attempts() -> tuple[float, float, float]:
    """Return the number of failed attempts, of requests, and of late requests."""
    soft = case(CASE).run("soft")
    rows = soft.service_times.rows()
    late = sum(row["requests"] for row in rows if row["service_ns"] > LATE_NS)
    return soft.metrics["off_track_retries"], sum(soft.service_times["requests"]), late


def _share(part: int = 0, *, of_attempts: bool = True) -> float:
    """Return failed attempts, or late requests, as a share of all attempts, or of all requests."""
    count, requests = _attempts()[part], _attempts()[1]
    return count / (requests + of_attempts * count)


TOO_SMALL = (
    Mistake(
        "no-threshold",
        f"The data fit, but writes are delayed from {DELAY_FROM:.0%} of the limit on.",
        when=lambda limit: any(NEAR.alike(limit, given) for given in (SHOUT_MB, SHOUT_MB * 1e6 / MIB)),
    ),
    Mistake("too-small", f"The shout lasts for {SHOUT_S} s. How much data arrives in that time?"),
)
TOO_LARGE = (
    Mistake(
        "megabytes",
        "That is the right number of MB; a MiB is 1.048576 MB, and memory is expensive.",
        gives=SHOUT_MB / DELAY_FROM,
    ),
    Mistake("too-large", f"That is more memory than needed: you may have {MAX_MIB:,} MiB at most."),
)


def _until(asked: Asked) -> list[Evidence]:
    limit = asked.answers[ANSWER]
    changes = {
        "zfs.dirty_data_max": round(limit * MIB),
        "jobs[stream].rate": INGEST_MB * 1_000_000,
        "jobs[stream].runtime": "16s",
        "record.log": False,
    }
    delay = case(CASE).with_(changes).run("long-shout").metrics.get("zfs_first_delay_s")
    hides = delay is None or delay >= SHOUT_S
    found = "none in 16 s" if delay is None else delay
    return [
        Evidence("first delayed write", found, f">= {SHOUT_S} s", hides, "s").because(
            diagnose(TOO_SMALL, limit, near=NEAR)
        ),
        Evidence("limit", limit, f"<= {MAX_MIB:,} MiB", limit <= MAX_MIB, "MiB").because(
            diagnose(TOO_LARGE, limit, near=NEAR)
        ),
    ]


_BEFORE = 'import seeklab\nsoft = seeklab.case("shouting").run("soft")\n'

TASKS = (
    Task(
        "shouting/wait",
        question=(
            "Each attempt fails with the probability `off_track`, whatever happened before. A failed attempt costs a "
            "revolution, `turn_ms` milliseconds. Write a function of off_track and turn_ms: how many ms does a request "
            "lose on average?"
        ),
        kind=Function("off_track and turn_ms"),
        check=Cases(
            _wait,
            ((0.2, 8.333), (0.5, 6.0), (0.9, 8.333), (0.95, 4.0)),
            "With a probability of {off_track:g} and {turn_ms:g} ms",
            (
                Mistake(
                    "one-retry",
                    "That allows for one retry at most. The second attempt can fail as well, and the third.",
                    gives=lambda off_track, turn_ms: off_track * turn_ms,
                ),
                Mistake(
                    "all-attempts",
                    "That counts all attempts; the one that succeeds does not cost a revolution.",
                    gives=lambda off_track, turn_ms: turn_ms / (1 - off_track),
                ),
                Mistake(
                    "half-turns",
                    "A random request waits for half a revolution. A sector that was just missed takes a whole one.",
                    times=0.5,
                ),
                Mistake("other", "How many attempts fail before one succeeds, on average?"),
            ),
            unit=" ms",
            within=0.01,
        ),
        why=(
            "If one in five attempts fails, a request loses a quarter of a revolution; if 19 in 20 fail, it "
            "loses nineteen."
        ),
        hints=(
            "A request has a first failed attempt with probability q, and a second one with probability q * q.",
            "q + q^2 + q^3 + ... is q / (1 - q).",
            "turn_ms * off_track / (1 - off_track)",
        ),
        answer="def wait(off_track, turn_ms):\n    return turn_ms * off_track / (1 - off_track)",
    ),
    Task(
        "shouting/share",
        question=(
            "The disk does not count failed attempts, but its service times show them. Use soft.service_times, "
            "which has the rows of the picture above: service_ns is a time in nanoseconds, and requests is how "
            "many took that long. A request takes 1.6 ms and a revolution 8.33 ms. What share of all attempts "
            "failed?"
        ),
        kind=Number(),
        check=Value(
            _share,
            (
                Mistake("percent", "That is in percent; use a share between 0 and 1.", times=100),
                Mistake(
                    "per-request",
                    "That is failed attempts per request. Each request also has one that succeeds: divide by all "
                    "attempts.",
                    gives=lambda: _share(of_attempts=False),
                ),
                Mistake(
                    "late-requests",
                    "That is the share of late requests. A request can fail more than once: look at how late it is.",
                    gives=lambda: _share(2, of_attempts=False),
                ),
                Mistake(
                    "one-turn",
                    "That counts one failed attempt for each late request, but some lost more revolutions.",
                    gives=lambda: _share(2),
                ),
                Mistake("succeeded", "That is the share of attempts that succeeded.", gives=lambda: 1 - _share()),
                Mistake(
                    "other",
                    "Each bar of the histogram has lost a number of whole revolutions. Count one failed attempt for "
                    "each.",
                ),
            ),
        ),
        why=(
            "More than a third of all attempts failed, including the quiet first second. The comb of service "
            "times is as good as a counter."
        ),
        hints=(
            "A request that took 18.3 ms lost two revolutions: it had two failed attempts and one successful one.",
            "round((row['service_ns'] / 1e6 - 1.6) / 8.33) is the number of failed attempts of a request.",
            "Multiply by row['requests'] and add up. All attempts are the failed ones plus one for each request.",
        ),
        setup=_BEFORE,
        answer=(
            "failed = 0\n"
            "for row in soft.service_times.rows():\n"
            '    failed += row["requests"] * round((row["service_ns"] / 1e6 - 1.6) / 8.33)\n'
            'share = failed / (failed + sum(soft.service_times["requests"]))'
        ),
    ),
    Task(
        "shouting/until",
        question=(
            f"Choose the limit for dirty data, in MiB, so that memory hides a shout of {SHOUT_S} s: no write may be "
            f"delayed in that time. The application writes {INGEST_MB} MB/s, the disks do not work, and writes are "
            f"delayed from {DELAY_FROM:.0%} of the limit on. Memory is expensive: you have {MAX_MIB:,} MiB at most. "
            "The check runs the system with your limit."
        ),
        kind=Number(at_least=64, at_most=65_536),
        check=_until,
        why="Memory buys time, not throughput: 60% of the limit, divided by the rate of arriving data.",
        hints=(
            f"{INGEST_MB} MB/s for {SHOUT_S} s: how many MB arrive?",
            f"They must fit into {DELAY_FROM:.0%} of the limit.",
            f"{SHOUT_MB:,} / {DELAY_FROM} MB; divide by 1.048576 for MiB.",
        ),
        answer="limit_mib = 3200",
    ),
)
