"""Notebook 18, fast for half an hour: what the learner writes."""

from __future__ import annotations

from functools import cache
from typing import Any

from seeklab._case import case
from seeklab.course.task import UnconvertedTask as Task

CASE = "burst-credits"
NEAR = 0.005
GIB_33, GIB_100, GIB_750 = 100, 300, 2250
DEMAND = [400, 300, 2600, 2600, 500, 300, 200, 2900, 800, 300]
"""I/Os a second, hour by hour."""
HOUR_S, MINUTE_S = 3600, 60
MINUTES = ((5000, 54.737), (5000, 54.0), (30_000, 10.0), (57_000, 0.0), (0, 60.0))
"""I/Os and idle seconds of a minute."""


@cache
def _account(variant: str = "migration") -> dict[str, Any]:
    """Give what a volume's account holds and earns, as the case has it."""
    account: dict[str, Any] = case(CASE).scenario(variant)["devices"][0]["lun"]["credits"]
    return account


def _lasts_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of what a volume earns; this is {type(answer).__name__}."
    capacity, burst = _account()["capacity"], _account()["burst"]
    for base in (GIB_33, GIB_100, GIB_750):
        found, truth = float(answer(base)), capacity / (burst - base)
        if abs(found / truth - 1) <= NEAR:
            continue
        told = f"With {base} a second it gives {found:,.0f} s."
        if abs(found / (capacity / burst) - 1) <= NEAR:
            return f"{told} That is the account over the burst. Credits come while they go."
        if abs(found / (capacity / base) - 1) <= NEAR:
            return f"{told} So long it takes to fill the account; how long until {burst} a second have emptied it?"
        return f"{told} What leaves the account is the burst less what is earned."
    return None


def _runs_out_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of a demand and a base rate; this is {type(answer).__name__}."
    capacity = _account()["capacity"]
    for base in (300, 900, 1100, 2900):
        found, truth = answer(list(DEMAND), base), _runs_out(DEMAND, base, capacity)
        if found == truth and not isinstance(found, bool):
            continue
        told = f"With {base} a second it gives {found!r}."
        if found == _runs_out(DEMAND, base, capacity, has_limit=False):
            return f"{told} In quiet hours an account fills up to {capacity:,} and no further."
        if truth is None:
            return f"{told} There the account lasts for the whole day: None is wanted."
        return f"{told} Hour {truth}, counted from 0, is the first in which the account would fall below 0."
    return None


def _runs_out(demand: list[int], base: int, capacity: int, *, has_limit: bool = True) -> int | None:
    held = capacity
    for hour, per_s in enumerate(demand):
        held += (base - per_s) * HOUR_S
        if held < 0:
            return hour
        held = min(capacity, held) if has_limit else held
    return None


def _detector_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of I/Os and idle seconds; this is {type(answer).__name__}."
    limit = _account("micro-burst")["base"]
    found = [answer(ios, idle_s) for ios, idle_s in MINUTES]
    wanted = [idle_s < MINUTE_S and ios / (MINUTE_S - idle_s) >= 0.99 * limit for ios, idle_s in MINUTES]
    if found == wanted:
        return None
    if not all(isinstance(each, bool) for each in found):
        return f"It gives {found}; wanted is True or False for each minute."
    minute = next(nth for nth, pair in enumerate(zip(found, wanted, strict=True)) if pair[0] != pair[1])
    ios, idle_s = MINUTES[minute]
    told = f"A minute of {ios:,} I/Os that was idle for {idle_s:g} s: it says {found[minute]}."
    if ios == 0:
        return f"{told} Nothing was asked for, so nothing waited."
    rate = ios / (MINUTE_S - idle_s)
    if found[minute]:
        return f"{told} While it was active it did {rate:.0f} a second, less than the {limit} that it may do."
    return f"{told} While it was active it did {rate:.0f} a second, as many as it may."


TASKS = {
    "credits/lasts": Task(
        question=(
            "A volume has a full account of 5,400,000 credits and does 3000 I/Os a second, each of which costs one. It "
            "earns base credits a second all the while. Write a function of base: after how many seconds is the "
            "account empty?"
        ),
        wants="a function of one number that gives seconds",
        wrong=_lasts_wrong,
        why="A volume that earns three quarters of the burst lasts four times as long as one that earns nothing.",
        hints=(
            "How much does the account lose in one second?",
            "It loses 3000 and gets base.",
            "lambda base: 5_400_000 / (3000 - base)",
        ),
        answer="def lasts(base):\n    return 5_400_000 / (3000 - base)",
    ),
    "credits/runs-out": Task(
        question=(
            "Write a function of a day's demand (a list: I/Os a second in each hour) and of base. The account starts "
            "full and holds at most 5,400,000. In which hour, counted from 0, does it run out first? None if never."
        ),
        wants="a function of a list and a number that gives an hour, or None",
        wrong=_runs_out_wrong,
        why="It is not the mean that decides, and not the peak alone: what the quiet hours before it could save does.",
        hints=(
            "One variable, held, that starts at 5_400_000; a loop over the hours.",
            "In each hour held += (base - per_s) * 3600. Below 0: that is the hour.",
            "Before the next hour: held = min(5_400_000, held). After the loop: return None.",
        ),
        answer=(
            "def runs_out(demand, base):\n"
            "    held = 5_400_000\n"
            "    for hour_of_day, wanted in enumerate(demand):\n"
            "        held += (base - wanted) * 3600\n"
            "        if held < 0:\n"
            "            return hour_of_day\n"
            "        held = min(5_400_000, held)\n"
            "    return None"
        ),
    ),
    "credits/detector": Task(
        question=(
            "A volume may do 950 I/Os a second. For each minute the graph has the I/Os and the seconds in which the "
            "volume was idle. Write a function of the two that says whether I/Os waited for the limit in that minute: "
            "whether the volume did at least 99 % of 950 a second while it was active."
        ),
        wants="a function of two numbers that gives True or False",
        wrong=_detector_wrong,
        why="Do not round the active seconds up, as the documented formula does: its own example then escapes it.",
        hints=(
            "A minute has 60 s; the volume was active in those in which it was not idle.",
            "I/Os / (60 - idle_s) is the rate while it was active.",
            "A minute that was idle throughout has no rate: return False before you divide.",
        ),
        answer=(
            "def waited(ios, idle_s):\n"
            "    active_s = 60 - idle_s\n"
            "    return active_s > 0 and ios / active_s >= 0.99 * 950"
        ),
    ),
}
