"""Notebook 22, shouting at disks: what the learner writes."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from seeklab._case import case
from seeklab.course.task import UnconvertedTask as Task

if TYPE_CHECKING:
    from seeklab._result import Result

NEAR = 0.01
ATTEMPTS = ((0.2, 8.333), (0.5, 6.0), (0.9, 8.333), (0.95, 4.0))
"""How likely an attempt fails, and how long a revolution takes in ms."""
CASE = "shouting"
MIB = 1 << 20
LATE_MS = 5
"""An undisturbed request takes 1.6 ms or 2.5; one that lost a revolution 9.9."""
INGEST_MB, SHOUT_S = 200, 10
MIN_MIB, MAX_MIB, LARGEST_MIB = 64, 3300, 65_536
DELAY_FROM = 0.6


def _wait(off_track: float, turn_ms: float) -> float:
    return turn_ms * off_track / (1 - off_track)


def _is_near(found: float, truth: float) -> bool:
    return abs(found - truth) <= NEAR * abs(truth)


def _wait_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of two numbers; this is {type(answer).__name__}."
    for off_track, turn_ms in ATTEMPTS:
        found, truth = float(answer(off_track, turn_ms)), _wait(off_track, turn_ms)
        if _is_near(found, truth):
            continue
        told = f"With a probability of {off_track:g} and {turn_ms:g} ms it gives {found:.4g} ms."
        if _is_near(found, off_track * turn_ms):
            return f"{told} That is one retry at most; the second attempt can fail as well, and the third."
        if _is_near(found, turn_ms / (1 - off_track)):
            return f"{told} That counts all attempts; the one that succeeds costs no revolution."
        if _is_near(found, 0.5 * turn_ms * off_track / (1 - off_track)):
            return (
                f"{told} Half a revolution is what a random request waits; a sector that was just missed takes a whole."
            )
        return f"{told} How many attempts fail before one succeeds, on average?"
    return None


@cache
def _soft() -> Result:
    return case(CASE).run("soft")


def _share_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    found, soft = float(answer), _soft()
    failed, requests = soft.metrics["off_track_retries"], sum(soft.service_times["requests"])
    rows = zip(soft.service_times["service_ns"], soft.service_times["requests"], strict=True)
    late = sum(count for service, count in rows if service > 1e6 * LATE_MS)
    truth = failed / (failed + requests)
    if _is_near(found, truth):
        return None
    mistakes = (
        (100 * truth, "That is per cent; give a share between 0 and 1."),
        (
            failed / requests,
            "Those are failed attempts for each request. Each request also has one that succeeds: divide by all.",
        ),
        (late / requests, "That is the share of late requests. A request can fail more than once: see how late it is."),
        (
            late / (late + requests),
            "That counts one failed attempt for each late request, and some have lost more turns.",
        ),
        (1 - truth, "That is the share of the attempts that succeeded."),
    )
    told = f"There were {requests:,.0f} requests, and {late:,.0f} of them lost a revolution or more."
    return f"You give {found:.4g}. " + next((words for value, words in mistakes if _is_near(found, value)), told)


def _until_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    limit = float(answer)
    if not MIN_MIB <= limit <= LARGEST_MIB:
        return f"Wanted is a number of MiB between {MIN_MIB} and {LARGEST_MIB:,}; this is {limit:g}."
    changes = {
        "zfs.dirty_data_max": round(limit * MIB),
        "jobs[stream].rate": INGEST_MB * 1_000_000,
        "jobs[stream].runtime": "16s",
        "record.log": False,
    }
    hidden = case(CASE).with_(changes).run("long-shout").metrics.get("zfs_first_delay_s")
    if hidden is None:
        told = f"With {limit:,.0f} MiB no write is delayed in 16 s"
    else:
        told = f"With {limit:,.0f} MiB the first write is delayed after {hidden:.1f} s"
    if hidden is not None and hidden < SHOUT_S:
        if _is_near(limit, INGEST_MB * SHOUT_S * 1e6 / MIB) or _is_near(limit, INGEST_MB * SHOUT_S):
            return f"{told}: the data fit, but writes are delayed from {100 * DELAY_FROM:.0f} % of the limit on."
        return f"{told}, and the shout lasts for {SHOUT_S} s. How much arrives in that time?"
    if limit > MAX_MIB:
        if _is_near(limit, INGEST_MB * SHOUT_S / DELAY_FROM):
            return f"{told}. That is the right number of MB; a MiB is 1.048576 MB, and memory is expensive."
        return f"{told}. That is more memory than needed: {MAX_MIB:,} MiB are the most that you may have."
    return None


_BEFORE = 'import seeklab\nsoft = seeklab.case("shouting").run("soft")\n'

TASKS = {
    "shouting/wait": Task(
        question=(
            "Each attempt fails with the probability `off_track`, whatever happened before. A failed attempt costs a "
            "revolution, `turn_ms` milliseconds. Write a function of off_track and turn_ms: how many ms does a request "
            "lose on average?"
        ),
        wants="a function of two numbers that gives milliseconds",
        wrong=_wait_wrong,
        why="One failure in five costs a quarter of a revolution; nineteen in twenty cost nineteen revolutions.",
        hints=(
            "A request has a first failed attempt with probability q, and a second one with probability q * q.",
            "q + q^2 + q^3 + ... is q / (1 - q).",
            "turn_ms * off_track / (1 - off_track)",
        ),
        answer="def wait(off_track, turn_ms):\n    return turn_ms * off_track / (1 - off_track)",
    ),
    "shouting/share": Task(
        question=(
            "The disk has no counter of failed attempts, but its service times tell. soft.service_times has the rows "
            "of the picture above: service_ns, a time in nanoseconds, and requests, how many took that long. A request "
            "takes 1.6 ms and a revolution 8.33 ms. What share of all attempts failed?"
        ),
        wants="a number between 0 and 1",
        wrong=_share_wrong,
        why="More than a third of all attempts, the quiet first second included. The comb is as good as a counter.",
        hints=(
            "A request that took 18.3 ms has lost two revolutions: two failed attempts, and one that succeeded.",
            "round((row['service_ns'] / 1e6 - 1.6) / 8.33) is the number of failed attempts of a request.",
            "Multiply by row['requests'] and add up; all attempts are the failed ones and one for each request.",
        ),
        setup=_BEFORE,
        answer=(
            "failed = 0\n"
            "for row in soft.service_times.rows():\n"
            '    failed += row["requests"] * round((row["service_ns"] / 1e6 - 1.6) / 8.33)\n'
            'share = failed / (failed + sum(soft.service_times["requests"]))'
        ),
    ),
    "shouting/until": Task(
        question=(
            f"Choose the limit for dirty data, in MiB, so that memory hides a shout of {SHOUT_S} s: no write may be "
            f"delayed in that time. The application writes {INGEST_MB} MB/s, the disks stand still, and writes are "
            f"delayed from {100 * DELAY_FROM:.0f} % of the limit on. Memory is expensive: you have {MAX_MIB:,} MiB "
            "at most. The check runs your limit."
        ),
        wants="a number of MiB",
        wrong=_until_wrong,
        why="Memory buys time, not throughput: 60 % of the limit, divided by what arrives in a second.",
        hints=(
            f"{INGEST_MB} MB/s for {SHOUT_S} s: how many MB arrive?",
            f"They have to fit into {100 * DELAY_FROM:.0f} % of the limit.",
            f"{INGEST_MB * SHOUT_S:,} / {DELAY_FROM} MB; divide by 1.048576 for MiB.",
        ),
        answer="limit_mib = 3200",
    ),
}
