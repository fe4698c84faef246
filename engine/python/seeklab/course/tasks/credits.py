"""Notebook 18, fast for half an hour: its tasks."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from seeklab._case import case
from seeklab.course.task import Task
from seeklab.judge import Cases, Function, Mistake, Number, OrNone, Truth

if TYPE_CHECKING:
    from collections.abc import Sequence

DEMAND = [400, 300, 2600, 2600, 500, 300, 200, 2900, 800, 300]
"""I/Os per second, hour by hour."""
HOUR_S, MINUTE_S = 3600, 60


@cache
def _account(variant: str = "migration") -> dict[str, Any]:
    """Return the balance and the earnings of a volume's account."""
    account: dict[str, Any] = case("burst-credits").scenario(variant)["devices"][0]["lun"]["credits"]
    return account


def _lasts(base: float) -> float:
    return float(_account()["capacity"] / (_account()["burst"] - base))


def _runs_out(demand: Sequence[int], base: int, *, has_limit: bool = True) -> int | None:
    held = capacity = _account()["capacity"]
    for hour, per_s in enumerate(demand):
        held += (base - per_s) * HOUR_S
        if held < 0:
            return hour
        held = min(capacity, held) if has_limit else held
    return None


def _waited(ios: int, idle_s: float) -> bool:
    return idle_s < MINUTE_S and _rate(ios, idle_s) >= 0.99 * _account("micro-burst")["base"]


def _rate(ios: int, idle_s: float) -> float:
    return ios / (MINUTE_S - idle_s)


TASKS = (
    Task(
        "credits/lasts",
        question=(
            "A volume has a full account of 5,400,000 credits. It does 3000 I/Os per second, and each costs one "
            "credit. Meanwhile it earns base credits per second. Write a function of base: after how many "
            "seconds is the account empty?"
        ),
        kind=Function("the credits that a volume earns per second"),
        check=Cases(
            _lasts,
            [(100,), (300,), (2250,)],
            "With {base} credits per second",
            (
                Mistake(
                    "no-income",
                    "You divided the account by the burst alone. The volume earns credits while it spends them.",
                    gives=lambda _: _lasts(0),
                ),
                Mistake(
                    "filling",
                    "That is the time to fill the account; how long do 3000 I/Os per second take to empty it?",
                    gives=lambda base: _account()["capacity"] / base,
                ),
                Mistake("other", "Each second the account loses the burst minus the credits that it earns."),
            ),
            unit=" s",
        ),
        why="A volume that earns three quarters of the burst lasts four times as long as one that earns nothing.",
        hints=(
            "How much does the account lose in one second?",
            "It loses 3000 and gets base.",
            "lambda base: 5_400_000 / (3000 - base)",
        ),
        answer="def lasts(base):\n    return 5_400_000 / (3000 - base)",
    ),
    Task(
        "credits/runs-out",
        question=(
            "Write a function of a day's demand (a list: I/Os per second in each hour) and of base. The account starts "
            "full and holds at most 5,400,000. In which hour, counted from 0, does it first run out? None if never."
        ),
        kind=Function("a demand and the credits per second"),
        check=Cases(
            _runs_out,
            [(DEMAND, base) for base in (300, 900, 1100, 2900)],
            "With {base} credits per second",
            (
                Mistake(
                    "overfull",
                    "In quiet hours the account fills up to 5,400,000, but no further.",
                    gives=lambda demand, base: _runs_out(demand, base, has_limit=False),
                ),
                Mistake(
                    "never-empty",
                    "The account lasts for the whole day: return None.",
                    when=lambda _, truth, *__: truth is None,
                ),
                Mistake("other", "Count hours from 0, and return the first hour when the account would go below 0."),
            ),
            gives=OrNone(Number(whole=True)),
        ),
        why="Neither the mean nor the peak decides alone: the savings of the quiet hours before count as well.",
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
    Task(
        "credits/detector",
        question=(
            "A volume may do 950 I/Os per second. For each minute the graph has the I/Os and the seconds when the "
            "volume was idle. Write a function of the two: did I/Os wait for the limit in that minute? Return True if "
            "the volume did at least 99% of 950 per second while it was active, and False otherwise."
        ),
        kind=Function("I/Os and idle seconds"),
        check=Cases(
            _waited,
            [(5000, 54.737), (5000, 54.0), (30_000, 10.0), (57_000, 0.0), (0, 60.0)],
            "For a minute of {ios:,} I/Os that was idle for {idle_s:g} s",
            (
                Mistake("no-ios", "There were no I/Os, so none waited.", when=lambda _, __, ios, ___: not ios),
                Mistake(
                    "below-limit",
                    "While it was active it did {match:.0f} per second, fewer than it may.",
                    when=lambda found, _, *minute: found and _rate(*minute),
                ),
                Mistake(
                    "at-limit",
                    "While it was active it did {match:.0f} per second, as many as it may.",
                    when=lambda _, __, *minute: _rate(*minute),
                ),
            ),
            gives=Truth(),
        ),
        why="Do not round the active seconds up: the documented formula does, and misses its own example.",
        hints=(
            "A minute has 60 s; the volume was active in the seconds when it was not idle.",
            "I/Os / (60 - idle_s) is the rate while it was active.",
            "A minute that was idle throughout has no rate: return False before you divide.",
        ),
        answer=(
            "def waited(ios, idle_s):\n"
            "    active_s = 60 - idle_s\n"
            "    return active_s > 0 and ios / active_s >= 0.99 * 950"
        ),
    ),
)
