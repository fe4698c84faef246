"""Notebook 27, slow by appointment: its tasks."""

from __future__ import annotations

from seeklab.course.task import Task
from seeklab.judge import Cases, Function, Items, Mistake, Number

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
Log = list[tuple[int, str]]
QUICK: Log = [(0, STARTED), (65, DISCHARGING), (5184, BELOW), (5184, THROUGH), (7175, COMPLETE), (7175, BACK)]
NO_ONSET: Log = [(10, STARTED), (75, DISCHARGING), (4000, COMPLETE)]
BY_CHARGE: Log = [(100, STARTED), (165, DISCHARGING), (900, BELOW), (902, THROUGH), (1200, COMPLETE), (2000, ABOVE)]
AGAIN: Log = [(2001, BACK), (9100, STARTED), (9165, DISCHARGING), (9900, BELOW), (9903, THROUGH)]


def _times(log: Log, words: str = THROUGH) -> list[int]:
    return [time for time, line in log if line == words]


def _through(_lead: float, discharge: float, threshold: float, charge: float, by_charge: bool) -> float:  # noqa: FBT001 -- as the answer
    return threshold * discharge + threshold * charge * by_charge


def _queue(tps: float, ceiling: float, cached: float, through_s: float) -> tuple[float, float]:
    waiting = max(0.0, tps - ceiling) * through_s
    return waiting, waiting / (cached - tps)


def _share(count: int, hours: float, days: float) -> float:
    return 1 - (1 - hours / (24 * days)) ** count


TASKS = (
    Task(
        "battery/onsets",
        question=(
            "A controller's log is a list of lines. Each line is a pair: a time in seconds, and a text as in the "
            "table above. Write a function of such a list that returns the times when commits became slow, "
            "as an ordered list. A log may have several cycles, or none."
        ),
        kind=Function("the lines of a log"),
        check=Cases(
            _times,
            [(QUICK,), (NO_ONSET,), ([*BY_CHARGE, *AGAIN],)],
            lambda log: f"For a log of {len(log)} lines",
            (
                Mistake(
                    "trigger",
                    "That is the trigger. The battery is still full, and every commit is as fast as before.",
                    gives=lambda log: _times(log, STARTED),
                ),
                Mistake(
                    "charge",
                    "That is the charge. Commits wait for the disks from the line that changes the policy.",
                    gives=lambda log: _times(log, BELOW),
                ),
                Mistake("end", "From then on commits are fast again.", gives=lambda log: _times(log, BACK)),
                Mistake("other", f'Return the time of each line that says "{THROUGH}"; without any, an empty list.'),
            ),
            gives=Items(Number()),
            within=0,
        ),
        why="The trigger and the onset are two lines, an hour and a half apart.",
        hints=(
            "Which line changes what a commit must wait for?",
            "The texts are in the table; compare the second part of each pair.",
            f'[time for time, words in lines if words == "{THROUGH}"]',
        ),
        answer=(f'def onsets(lines):\n    return [time for time, words in lines if words == "{THROUGH}"]'),
    ),
    Task(
        "battery/through",
        question=(
            "A cycle starts. After lead seconds the battery discharges evenly, from full to empty in discharge "
            "seconds. Then it charges, from empty to full in charge seconds. As soon as the charge is below the "
            "threshold (0 to 1) the controller writes through. If by_charge is false, write-back returns when "
            "the battery is empty; if it is true, when the charge has risen to the threshold again. Write a "
            "function of (lead, discharge, threshold, charge, by_charge): for how many seconds does the "
            "controller write through?"
        ),
        kind=Function("five values"),
        check=Cases(
            _through,
            [
                (LEAD_S, DISCHARGE_S, threshold, CHARGE_S, by_charge)
                for threshold, by_charge in ((THRESHOLD, False), (0.5, False), (THRESHOLD, True))
            ],
            lambda *case: f"For {case}",
            (
                Mistake(
                    "enough-charge",
                    "Until then the charge is high enough. Write-through takes the rest of the discharge.",
                    when=lambda found, _, lead, discharge, threshold, *__: (
                        abs(found - (1 - threshold) * discharge) <= lead
                    ),
                ),
                Mistake(
                    "whole-discharge",
                    "That is the whole discharge; the cache stays on until the charge is below the threshold.",
                    when=lambda found, _, lead, discharge, *__: abs(found - discharge) <= lead,
                ),
                Mistake(
                    "no-charging",
                    "After the discharge the charge must rise from zero to the threshold.",
                    when=lambda *case: case[-1],
                ),
                Mistake(
                    "other",
                    "The charge falls evenly: its last {threshold:.0%} take {threshold:.0%} of the discharge.",
                ),
            ),
            unit=" s",
            within=NEAR,
        ),
        why="The lead makes no difference: it only moves the onset.",
        hints=(
            "Draw the charge over time. During the discharge, where does write-through start, and where does it end?",
            "threshold * discharge seconds of the discharge remain when the charge reaches the threshold.",
            "threshold * discharge + (threshold * charge if by_charge else 0)",
        ),
        answer=(
            "def through_s(lead, discharge, threshold, charge, by_charge):\n"
            "    return threshold * discharge + (threshold * charge if by_charge else 0)"
        ),
    ),
    Task(
        "battery/queue",
        question=(
            "tps transactions arrive per second. The database commits at most ceiling per second in "
            "write-through, and at most cached per second with write-back. Write a function of (tps, ceiling, "
            "cached, through_s) that returns two numbers. How many transactions wait after through_s seconds of "
            "write-through? How many seconds does it then take to empty the queue?"
        ),
        kind=Function("four numbers"),
        check=Cases(
            _queue,
            [(tps, CEILING, CEILING_CACHED, THRESHOLD * DISCHARGE_S) for tps in (200, 100, 50)],
            "At {tps} per second",
            (
                Mistake(
                    "negative",
                    "Below the ceiling no queue builds up, and its length cannot be negative.",
                    when=lambda found, *_: found[0] < 0,
                ),
                Mistake(
                    "no-commits",
                    "Some of the arriving transactions are committed in the meantime: {ceiling} per second.",
                    gives=lambda tps, _, cached, through_s: (tps * through_s, tps * through_s / (cached - tps)),
                ),
                Mistake(
                    "still-arriving",
                    "Transactions keep arriving while the queue is emptied.",
                    gives=lambda tps, ceiling, cached, through_s: (
                        (waiting := _queue(tps, ceiling, cached, through_s)[0]),
                        waiting / cached,
                    ),
                ),
                Mistake(
                    "waiting",
                    "In each second of write-through the queue grows by arrivals minus commits.",
                    when=lambda found, truth, *_: abs(found[0] - truth[0]) > NEAR * truth[0],
                ),
                Mistake(
                    "other",
                    "In each second with the cache the queue shrinks by commits minus arrivals.",
                ),
            ),
            gives=Items(Number(), 2),
            within=NEAR,
        ),
        why=(
            "The queue of half an hour is empty after a minute and a half: the cache is fifty times as fast as "
            "the disks."
        ),
        hints=(
            "By how many transactions does the queue grow in a second, and by how many does it shrink?",
            "It grows by tps - ceiling, if that is positive, and shrinks by cached - tps.",
            "waiting = max(0, tps - ceiling) * through_s; waiting / (cached - tps)",
        ),
        answer=(
            "def queue(tps, ceiling, cached, through_s):\n"
            "    waiting = max(0, tps - ceiling) * through_s\n"
            "    return waiting, waiting / (cached - tps)"
        ),
    ),
    Task(
        "battery/share",
        question=(
            "Each of `count` servers is slow for `hours` hours once every `days` days, independently of the others. "
            "Write a function of (count, hours, days): for what share of the time, 0 to 1, is at least one of them "
            "slow?"
        ),
        kind=Function("three numbers"),
        check=Cases(
            _share,
            [(count, HOURS, DAYS) for count in (40, 400, 1)],
            "With {count} servers",
            (
                Mistake(
                    "sum",
                    "A sum counts the time when two are slow at once twice; with 400 servers it is above 1.",
                    gives=lambda count, hours, days: count * hours / (24 * days),
                ),
                Mistake(
                    "none-slow",
                    "That is the share of the time when none is slow.",
                    gives=lambda *case: 1 - _share(*case),
                ),
                Mistake("other", "A server is slow for 7 of 2160 hours. None is slow if each of them is fast."),
            ),
            within=NEAR,
        ),
        why="One server is slow four times a year; of forty servers, one is slow for three hours of every day.",
        hints=(
            "For what share of the time is one of them fast? And two?",
            "Independent shares are multiplied; at least one is slow if not all are fast.",
            "1 - (1 - hours / (24 * days)) ** count",
        ),
        answer="def share(count, hours, days):\n    return 1 - (1 - hours / (24 * days)) ** count",
    ),
)
