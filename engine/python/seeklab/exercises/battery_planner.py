"""The assignment on learn cycles: a function plans those of forty controllers for a year.

Each learner has forty controllers in replica sets. Their batteries differ in age and in cycle times. The function
returns each controller's first start and the days between its cycles, and the engine runs a year of each battery. The
bounds cover the hours of the cycles, overlaps within a set, the age of each battery, and the load.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from seeklab._case import case as load_case
from seeklab._question import Question
from seeklab.exercises._shapes import at_most, exercise, named, returned, source_from
from seeklab.judge import Asked, Code, Commitment, Evidence, Items, Number, Task, draws_of

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence

CASE = "battery-learns"
CONTROLLERS = 40
DAY_S = 86_400
YEAR_DAYS = 364
"""Simulated days; a run must end within a year."""
LATEST_DAYS = 100
MAX_CYCLES = 5
NIGHT_FROM_H, NIGHT_HOURS = 22, 8
WAITING = 1000
"""Limit of waiting transactions."""
QUIET_S, BUSY_S = 60, 120
"""Seconds of load before and after write-through."""
START, DISCHARGING, BELOW, THROUGH, COMPLETE, BACK, ENOUGH = range(7)
"""Names of the lines in the controller's log, by number."""

MAX_EVENTS = 15_000_000
"""Limit of events in the runs that test a plan: a year, and the hours around its cycles."""

QUESTIONS = {
    "slow_s": Question(
        "For how many seconds does your first controller write through, in each of its cycles?", unit="s"
    ),
    "waiting": Question(
        "By day, at its load: how many transactions wait when write-back returns?", unit="transactions"
    ),
}
"""Questions that a learner answers first."""


@dataclass(frozen=True)
class Site:
    """Forty controllers, and the load of their servers by day and by night."""

    controllers: tuple[Mapping[str, Any], ...]
    night_tps: int
    day_tps: int

    def __str__(self) -> str:
        """Describe it in one line."""
        sets = len({one["set"] for one in self.controllers})
        load = f"{self.night_tps} transactions/s by night and {self.day_tps} by day"
        return f"{len(self.controllers)} controllers in {sets} sets, {load}"

    def tps(self, second: float) -> int:
        """Return the load at a time of the day."""
        return self.night_tps if night_left_s(second) > 0 else self.day_tps

    def cycles(self, nth: int, first_s: float, every_s: float, seed: int = 1) -> list[dict[int, float]]:
        """Run a controller's battery for a year: for each cycle, the time of each log line in seconds."""
        changes = {
            "raid_cache.battery": {
                **battery(self.controllers[nth]),
                "learn_at": _ns(first_s),
                "learn_every": _ns(every_s),
            },
            "jobs[clients].startdelay": f"{YEAR_DAYS * 24}h",
            "jobs[clients].runtime": "1h",
            "limits.time": f"{(YEAR_DAYS + 1) * 24}h",
            "record.interval": "24h",
        }
        found: dict[int, dict[int, float]] = {}
        for row in load_case(CASE).with_(changes).run("servers", seed=seed).learn_cycles.rows():
            found.setdefault(row["cycle"], {})[row["line"]] = row["time_ns"] / 1e9
        return list(found.values())

    def waiting(self, nth: int, tps: int, seed: int = 1) -> float:
        """Return the most transactions that wait while a server's commits run through one learn cycle."""
        through_s, back_s = slow_s(self.controllers[nth])
        changes = {
            "raid_cache.battery": {**battery(self.controllers[nth]), "learn_at": 0, "learn_every": "8760h"},
            "jobs[clients].rate_iops": tps,
            "jobs[clients].startdelay": _ns(max(0, through_s - QUIET_S)),
            "jobs[clients].runtime": _ns(back_s - through_s + QUIET_S + BUSY_S),
        }
        return load_case(CASE).with_(changes).run("afternoon", seed=seed).metrics["clients.write_backlog_max"]


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)


def battery(one: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a controller's battery for the engine."""
    return {
        "lead": _ns(one["lead_s"]),
        "discharge": _ns(one["discharge_s"]),
        "threshold": one["threshold"],
        "charge": _ns(one["charge_s"]),
        "write_back_returns": one["returns"],
    }


def slow_s(one: Mapping[str, Any]) -> tuple[float, float]:
    """Return the start and the end of a controller's write-through, in seconds from the start of a cycle."""
    begins = one["lead_s"] + (1 - one["threshold"]) * one["discharge_s"]
    ends = one["lead_s"] + one["discharge_s"]
    return begins, ends + (one["threshold"] * one["charge_s"] if one["returns"] == "threshold" else 0)


def night_left_s(second: float) -> float:
    """Return the remaining seconds of the night at a time; 0 by day."""
    return max(0, NIGHT_HOURS * 3600 - (second - NIGHT_FROM_H * 3600) % DAY_S)


def _drawn(source: random.Random) -> Site:
    per_set = source.choice((4, 5, 8))
    controllers = []
    for group in range(CONTROLLERS // per_set):
        # The batteries of a set were bought together.
        age = source.randrange(20, LATEST_DAYS - 2 * per_set)
        for _ in range(per_set):
            one = {
                "set": group,
                "age_days": age + source.randrange(per_set),
                "lead_s": source.randrange(30, 90),
                "discharge_s": 60 * source.randrange(90, 240),
                "threshold": source.randrange(20, 45) / 100,
                "charge_s": 60 * source.randrange(180, 300),
                "returns": source.choice(("complete", "threshold")),
            }
            controllers.append(one)
    source.shuffle(controllers)
    return Site(tuple(controllers), source.randrange(15, 40), source.randrange(120, 200))


def site(learner: object) -> Site:
    """Return the learner's own site."""
    return _drawn(source_from(bytes(draws_of(learner))))


def briefing(learner: object) -> str:
    """Describe the learner's site."""
    own = site(learner)
    first = own.controllers[0]
    returns = "the cycle is complete" if first["returns"] == "complete" else "the charge is at the threshold again"
    return (
        f"The site of {learner}: {own}. The first controller: discharge begins {first['lead_s']} s after the start "
        f"and takes {first['discharge_s']} s; write-through below {first['threshold']:.0%}; charging takes "
        f"{first['charge_s']} s; write-back returns when {returns}."
    )


def _near(asked: Asked) -> dict[str, float]:
    own = site(asked.draws)
    cycle = own.cycles(0, 0, LATEST_DAYS * DAY_S, asked.seed)[0]
    return {
        "slow_s": cycle[BACK] - cycle[THROUGH],
        "waiting": own.waiting(0, own.day_tps, asked.seed),
    }


WHY = named(
    by_day=f"a cycle must fit between {NIGHT_FROM_H}:00 and {(NIGHT_FROM_H + NIGHT_HOURS) % 24} :00, from its start "
    "until write-back returns, including any charging before that; only intervals of whole days keep the "
    "time of day",
    together="two of a set are in write-through together, so every commit of the set waits for disks; keep them apart "
    "in every round of the year, with equal intervals",
    late=f"a battery runs for more than {LATEST_DAYS} days without a cycle; earlier days count, so one that is 95 "
    f"days old on the first day has {LATEST_DAYS - 95} left",
    often=f"each cycle wears the battery: at most {MAX_CYCLES} in the year",
    queue="write-through handles 59 commits a second; by night that is enough, but by day more arrive, and "
    "transactions queue for as long as write-through lasts",
)


def _overlap_s(windows: Sequence[tuple[float, float]]) -> float:
    """Return how long at least two windows overlap, in total."""
    ends = sorted([(begin, 1) for begin, _ in windows] + [(end, -1) for _, end in windows])
    at_once, since, overlap = 0, 0.0, 0.0
    for time, step in ends:
        if at_once > 1:
            overlap += time - since
        at_once, since = at_once + step, time
    return overlap


def _measure(asked: Asked, on: Site) -> list[Evidence]:
    with asked.play("plan") as play:
        plan: Any = play([dict(one) for one in on.controllers], NIGHT_FROM_H, NIGHT_HOURS)
    pairs = Items(Items(Number(at_least=0, at_most=YEAR_DAYS * DAY_S), 2), len(on.controllers))
    plan, broken = returned(pairs, plan, on, 5)
    if broken:
        return broken
    shortest = min(every_s for _, every_s in plan) / DAY_S
    if shortest < 1:
        return [
            Evidence(f"{on}: days from one start to the next", shortest, ">= 1", met=False).because(WHY["often"])
        ] * 5
    seed, by_day, latest, most = asked.seed, 0, 0.0, 0
    windows: dict[int, list[tuple[float, float]]] = {}
    busiest = (0, 0)
    for nth, (one, (first_s, every_s)) in enumerate(zip(on.controllers, plan, strict=True)):
        cycles = on.cycles(nth, first_s, every_s, seed)
        starts = [cycle[START] for cycle in cycles]
        since = [-one["age_days"] * DAY_S, *starts]
        latest = max(latest, *(to - at for at, to in zip(since, [*starts, YEAR_DAYS * DAY_S], strict=True)))
        most = max(most, len(cycles))
        for cycle in cycles:
            if BACK in cycle:
                by_day += cycle[BACK] - cycle[START] > night_left_s(cycle[START])
                windows.setdefault(one["set"], []).append((cycle[THROUGH], cycle[BACK]))
                busiest = max(busiest, (on.tps(cycle[THROUGH]), nth))
    overlap = sum(_overlap_s(each) for each in windows.values())
    waiting = on.waiting(busiest[1], busiest[0] or on.night_tps, seed)
    bounds = (asked.bound("latest_days"), asked.bound("most_cycles"), asked.bound("waiting"))
    return [
        at_most(f"{on}: cycles by day", by_day, 0, "cycles", seed, WHY["by-day"]),
        at_most(f"{on}: two of a set in write-through", overlap, 0, "s", seed, WHY["together"]),
        at_most(f"{on}: days without a cycle", latest / DAY_S, bounds[0], "days", seed, WHY["late"]),
        at_most(f"{on}: cycles of a battery", most, bounds[1], "cycles", seed, WHY["often"]),
        at_most(f"{on}: waiting", waiting, bounds[2], "transactions", seed, WHY["queue"]),
    ]


PLAN = Code(("controllers", "night_from_h", "night_hours"))
HINTS = (
    "How long is a cycle from its start until write-back returns? On which day must it start at the latest?",
    "Return a different night for each controller of a set, the oldest batteries first, and the same interval for all.",
    (
        "Sort the controllers of each set by age, oldest first. The nth starts at 22:00 on day n and repeats every "
        "98 days."
    ),
)

ASSIGNMENT, check, hint = exercise(
    "battery-planner",
    Commitment("check-prediction", 2, "prediction", QUESTIONS, _near),
    Task(
        "check-plan",
        2,
        {"plan": PLAN},
        lambda asked: _measure(asked, site(asked.draws)),
        HINTS,
        seeds=1,
        events=MAX_EVENTS,
    ),
    Task(
        "check-plan-elsewhere",
        5,
        {"plan": PLAN},
        lambda asked: _measure(asked, _drawn(source_from(asked.seed))),
        HINTS,
        seeds=1,
        events=MAX_EVENTS,
    ),
    bounds={"latest_days": LATEST_DAYS, "most_cycles": MAX_CYCLES, "waiting": WAITING},
)
