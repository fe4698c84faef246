"""Notebook 27, slow by appointment: what the learner writes."""

from __future__ import annotations

from typing import Any

from seeklab.course.task import UnconvertedTask as Task

NEAR = 0.005
LEAD_S, DISCHARGE_S, CHARGE_S, THRESHOLD = 65, 7110, 14_400, 0.28
CEILING, CEILING_CACHED = 59.3, 3226
HOURS, DAYS = 7, 90

STARTED, DISCHARGING, BELOW, THROUGH, COMPLETE, BACK, ABOVE = (
    "battery learn cycle started",
    "battery is discharging",
    "charge below threshold",
    "policy changed to write-through",
    "battery learn cycle completed",
    "policy changed to write-back",
    "charge above threshold",
)
QUICK = [(0, STARTED), (65, DISCHARGING), (5184, BELOW), (5184, THROUGH), (7175, COMPLETE), (7175, BACK)]
UNSEEN = [(10, STARTED), (75, DISCHARGING), (4000, COMPLETE)]
BY_CHARGE = [(100, STARTED), (165, DISCHARGING), (900, BELOW), (902, THROUGH), (1200, COMPLETE), (2000, ABOVE)]
AGAIN = [(2001, BACK), (9100, STARTED), (9165, DISCHARGING), (9900, BELOW), (9903, THROUGH)]
LOGS: tuple[list[tuple[int, str]], ...] = (QUICK, UNSEEN, [*BY_CHARGE, *AGAIN])


def _onsets(lines: list[tuple[int, str]]) -> list[int]:
    return [time for time, words in lines if words == THROUGH]


def _onsets_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of the lines of a log; this is {type(answer).__name__}."
    for lines in LOGS:
        found, truth = answer([*lines]), _onsets(lines)
        found = list(found) if isinstance(found, (list, tuple)) else found
        if found == truth:
            continue
        told = f"For a log of {len(lines)} lines it gives {found}."
        for words, why in (
            (STARTED, "That is the trigger. The battery is full then, and every commit is as fast as before."),
            (BELOW, "That is the charge. Commits wait for the disks from the line on that changes the policy."),
            (BACK, "From there on they are fast again."),
        ):
            if found and found == [time for time, line in lines if line == words]:
                return f"{told} {why}"
        return f'{told} Wanted is a list: the time of each line that says "{THROUGH}", and an empty one without any.'
    return None


def _through(lead: float, discharge: float, threshold: float, charge: float, *, by_charge: bool) -> float:  # noqa: ARG001 -- as asked
    return threshold * discharge + (threshold * charge if by_charge else 0)


def _through_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of five values; this is {type(answer).__name__}."
    for threshold, by_charge in ((THRESHOLD, False), (0.5, False), (THRESHOLD, True)):
        given = (LEAD_S, DISCHARGE_S, threshold, CHARGE_S, by_charge)
        found = float(answer(*given))
        truth = _through(LEAD_S, DISCHARGE_S, threshold, CHARGE_S, by_charge=by_charge)
        if abs(found / truth - 1) <= NEAR:
            continue
        told = f"For {given} it gives {found:,.0f} s."
        if abs(found - (1 - threshold) * DISCHARGE_S) <= LEAD_S:
            return f"{told} For so long the charge is enough. Write-through is the rest of the discharge."
        if abs(found - DISCHARGE_S) <= LEAD_S:
            return f"{told} That is the whole discharge; the cache stays on until the charge is below the threshold."
        if by_charge:
            return f"{told} After the discharge the charge has to rise from nothing to the threshold."
        return f"{told} Charge falls evenly: the last {threshold:.0%} of it take {threshold:.0%} of the discharge."
    return None


def _queue(tps: float, ceiling: float, cached: float, through_s: float) -> tuple[float, float]:
    waiting = max(0.0, tps - ceiling) * through_s
    return waiting, waiting / (cached - tps)


def _queue_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of four numbers; this is {type(answer).__name__}."
    through_s = THRESHOLD * DISCHARGE_S
    for tps in (200, 100, 50):
        found = answer(tps, CEILING, CEILING_CACHED, through_s)
        if not isinstance(found, (list, tuple)) or len(found) != 2:  # noqa: PLR2004 -- a pair
            return f"Wanted are two numbers: how many wait, and for how many seconds more; this is {str(found)[:60]}."
        waiting, drain_s = (float(number) for number in found)
        why = _one_queue_wrong(tps, waiting, drain_s, through_s)
        if why is not None:
            return f"At {tps} a second it gives {waiting:,.0f} and {drain_s:,.1f} s. {why}"
    return None


def _one_queue_wrong(tps: float, waiting: float, drain_s: float, through_s: float) -> str | None:
    truth, truth_s = _queue(tps, CEILING, CEILING_CACHED, through_s)
    if waiting < 0:
        return "Below the ceiling nothing piles up: there are not fewer than none."
    if abs(waiting - truth) > NEAR * truth + 1 / 2:
        if abs(waiting / (tps * through_s) - 1) <= NEAR:
            return f"Some of those that come are committed meanwhile: {CEILING} a second."
        return "The queue grows by what comes and is not committed, each second of write-through."
    if abs(drain_s - truth_s) > NEAR * truth_s + 1 / 20:
        if abs(drain_s - truth / CEILING_CACHED) <= NEAR * truth_s:
            return "While the queue is drained transactions go on coming."
        return "The queue shrinks by what is committed with the cache, less what comes."
    return None


def _share(count: int, hours: float = HOURS, days: float = DAYS) -> float:
    return 1 - (1 - hours / (24 * days)) ** count


def _share_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of three numbers; this is {type(answer).__name__}."
    for count in (1, 40, 400):
        found, truth = float(answer(count, HOURS, DAYS)), _share(count)
        if abs(found / truth - 1) <= NEAR:
            continue
        told = f"For {count} servers it gives {found:.4f}."
        if abs(found / (count * HOURS / (24 * DAYS)) - 1) <= NEAR:
            return f"{told} A sum counts twice the time in which two are slow at once; with 400 servers it is above 1."
        if abs(found / (1 - truth) - 1) <= NEAR:
            return f"{told} That is the share in which none is slow."
        return f"{told} One is slow for 7 of 2160 hours. None of them is slow when each of them is not."
    return None


TASKS = {
    "battery/onsets": Task(
        question=(
            "A controller's log is a list of lines. Each is a pair: a time in seconds, and words as in the table "
            "above. Write a function of such a list: at which times did commits become slow? It gives a list, in "
            "order; there may be several cycles in a log, or none."
        ),
        wants="a function of a list of lines that gives a list of times",
        wrong=_onsets_wrong,
        why="A trigger and an onset are two lines, with an hour and a half between them.",
        hints=(
            "Which line changes what a commit has to wait for?",
            "The words are in the table; compare the second part of each pair.",
            f'[time for time, words in lines if words == "{THROUGH}"]',
        ),
        answer=(f'def onsets(lines):\n    return [time for time, words in lines if words == "{THROUGH}"]'),
    ),
    "battery/through": Task(
        question=(
            "A cycle starts, and lead seconds later the battery begins to discharge, evenly, from full to empty in "
            "discharge seconds; then it is charged, from empty to full in charge seconds. As soon as the charge is "
            "below the threshold (0 to 1) the controller writes through. If by_charge is false, write-back returns "
            "when the battery is empty; if it is true, when the charge has risen to the threshold again. Write a "
            "function of (lead, discharge, threshold, charge, by_charge): for how many seconds does the controller "
            "write through?"
        ),
        wants="a function of five values that gives seconds",
        wrong=_through_wrong,
        why="The lead is not in it: it only moves the onset.",
        hints=(
            "Draw the charge over time. Where on the way down does write-through begin, and where does it end?",
            "threshold * discharge seconds are left when the charge is at the threshold.",
            "threshold * discharge + (threshold * charge if by_charge else 0)",
        ),
        answer=(
            "def through_s(lead, discharge, threshold, charge, by_charge):\n"
            "    return threshold * discharge + (threshold * charge if by_charge else 0)"
        ),
    ),
    "battery/queue": Task(
        question=(
            "Each second tps transactions come in. The database commits at most ceiling a second in write-through, and "
            "at most cached a second with write-back. Write a function of (tps, ceiling, cached, through_s) that gives "
            "two numbers: how many transactions wait at the end of through_s seconds of write-through, and how many "
            "seconds it then takes until none waits any more."
        ),
        wants="a function of four numbers that gives a pair",
        wrong=_queue_wrong,
        why="The queue of half an hour is gone in a minute and a half: the cache is fifty times as fast as the disks.",
        hints=(
            "By how many does the queue grow in a second, and by how many does it shrink?",
            "It grows by tps - ceiling, if that is more than nothing, and shrinks by cached - tps.",
            "waiting = max(0, tps - ceiling) * through_s; waiting / (cached - tps)",
        ),
        answer=(
            "def queue(tps, ceiling, cached, through_s):\n"
            "    waiting = max(0, tps - ceiling) * through_s\n"
            "    return waiting, waiting / (cached - tps)"
        ),
    ),
    "battery/share": Task(
        question=(
            "Each of count servers is slow for some hours once in so many days, at times that have nothing to do with "
            "each other. Write a function of (count, hours, days): for what share of the time, 0 to 1, is at least one "
            "of them slow?"
        ),
        wants="a function of three numbers that gives a share",
        wrong=_share_wrong,
        why="What one server does four times a year, one of forty does for three hours of every day.",
        hints=(
            "For what share of the time is one of them fast? And two?",
            "Independent shares are multiplied; at least one is slow when not all are fast.",
            "1 - (1 - hours / (24 * days)) ** count",
        ),
        answer="def share(count, hours, days):\n    return 1 - (1 - hours / (24 * days)) ** count",
    ),
}
