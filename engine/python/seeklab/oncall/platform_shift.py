"""A platform shift: its causes look the same before a look.

The sheet, the list of settings and the ticket depend on the platform alone. A shift has a level: one cause; one cause
and an oddity that does no harm; two causes at once; one cause that gets worse with the clock. Before a look a player
can say which cause to expect. The debrief says, for every other cause of the platform, which look would have differed:
it runs the same shift with that cause and compares what the commands print.
"""

from __future__ import annotations

import math
import random
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from seeklab._errors import Problem, SeeklabError
from seeklab._result import run
from seeklab.oncall.fact_sheet import sheet
from seeklab.oncall.incidents import APP, complaint_metric
from seeklab.oncall.platform import GET, changes_of, platforms
from seeklab.oncall.printed import numbers
from seeklab.oncall.settings import offered, settable
from seeklab.oncall.shift import (
    CAUSE_POINTS,
    FIX_POINTS,
    FREE,
    MAX_SPENT,
    NO_TRIES_LEFT,
    TICKET_SEED,
    TIME_POINTS,
    TRIES,
    WRONG_COSTS,
    Shift,
    seed_of,
)
from seeklab.oncall.tools import TOOLS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from seeklab._result import Result
    from seeklab.oncall.platform import Bank, Cause, Oddity, Platform

LEVELS = {
    1: "one cause",
    2: "one cause, and an oddity that does no harm",
    3: "two causes at once",
    4: "one cause that gets worse while you look",
}
TWO, WORSE = 3, 4
AS_BEFORE = "as before"
"""A fix with this value restores the healthy system's value."""
STAGES_S = (20, 45, 75)
"""When a cause that gets worse reaches its next stages, in seconds on the clock."""
APART = 2.0
"""Two outputs differ if a number is this many times as large in one, and two runs of each differ by less."""
SMALL = 0.01
"""Added to numbers before they are compared, so that 0 and 0.001 are not infinitely apart."""
NOT_COMPARED = ("oplog", "dashboard")
"""Commands that debriefs do not compare: the log needs runs of its own, and the dashboard repeats fio."""
COMPARED_SEEDS = (99, 98)


@dataclass(frozen=True)
class Difference:
    """A number that excludes a cause: what a command prints here, and what it would print with the cause."""

    command: str
    field: str
    here: Any
    there: Any

    def __str__(self) -> str:
        """Return it as one sentence without a verb."""
        return f"`{self.command}`: {self.field} is {_short(self.here)}, with that cause {_short(self.there)}"


@dataclass
class PlatformShift(Shift):
    """The state of one shift."""

    level: int = 1
    bank: Bank | None = None
    """Causes that a teacher keeps apart: the shift is drawn from them alone, and the list of causes contains them."""
    is_test: bool = False
    """Whether the ticket hides the number, so that the shift cannot be played again elsewhere."""
    platform: Platform = field(init=False)
    truths: tuple[Cause, ...] = field(init=False)
    oddity: Oddity | None = field(init=False)
    read_paths: list[str] = field(default_factory=list)
    """The settings that the player has read."""

    _healthy: dict[str, Any] = field(init=False, repr=False)
    _drawn: dict[str, Any] = field(init=False, repr=False)
    _stage: int = field(default=0, init=False, repr=False)

    def __post_init__(self) -> None:
        """Draw the platform, its values, and the causes.

        Raises:
            SeeklabError: If the level is not 1 to 4, or the bank has no cause for it.
        """
        if self.level not in LEVELS:
            raise SeeklabError([Problem("level", f"{self.level} is not a level; accepted: 1, 2, 3, 4")])
        source = random.Random(f"night {self.seed}")
        order = list(platforms().values())
        source.shuffle(order)
        self.platform = next((one for one in order if len(self._possible(one)) >= self._needed), order[0])
        possible = self._possible(self.platform)
        if len(possible) < self._needed:
            raise SeeklabError(
                [Problem("level", f"no platform has causes for level {self.level}: {LEVELS[self.level]}")]
            )
        self._drawn = self.platform.numbers(random.Random(f"platform {self.seed}"))
        self.truths = self._choose(possible, source)
        is_odd = self.level == 2
        self.oddity = random.Random(f"oddity {self.seed}").choice(self.platform.oddities) if is_odd else None
        self.incident = self.truths[0].incident
        self._healthy = self.system_with(())
        self.scenario = self.system_with(self.truths)
        self.remedy = self._remedy()
        self._last_month = float(run(self._healthy, seed=seed_of(self.seed, TICKET_SEED)).metrics[self._metric])
        self._left = self._better(self._measured({}, TICKET_SEED), self._last_month)
        self.users.append((0, self._left))

    @property
    def _needed(self) -> int:
        """The number of causes at once."""
        return 2 if self.level == TWO else 1

    @property
    def _metric(self) -> str:
        return complaint_metric(self.incident)

    def _possible(self, platform: Platform) -> tuple[Cause, ...]:
        """Return the causes of a platform that this level can use."""
        causes = self.bank.of(platform.id) if self.bank else platform.causes
        if self.level == TWO:
            return tuple(cause for cause in causes if cause.incident.fix)
        if self.level == WORSE:
            return tuple(cause for cause in causes if cause.worse)
        return causes

    def _choose(self, possible: tuple[Cause, ...], source: random.Random) -> tuple[Cause, ...]:
        """Choose the causes; two at once change different fields."""
        first = source.choices(possible, [cause.weight for cause in possible])[0]
        if self.level != TWO:
            return (first,)
        fields = set(changes_of(first, self.seed))
        others = [cause for cause in possible if cause is not first and not fields & set(changes_of(cause, self.seed))]
        return (first, source.choice(others))

    def system_with(self, causes: tuple[Cause, ...], stage: int = 0) -> dict[str, Any]:
        """Return this shift's system with some causes; without any it is healthy."""
        odd = self.oddity.set if self.oddity else {}
        changes = [changes_of(cause, self.seed, stage) for cause in causes]
        return self.platform.system(self._drawn, odd, *changes)

    def _remedy(self) -> dict[str, Any]:
        """Return the values that fix the causes, by path."""
        before = self.values(self._healthy)
        fixes = {path: value for cause in self.truths for path, value in cause.incident.fix.items()}
        return {path: before[path] if value == AS_BEFORE else value for path, value in fixes.items()}

    @property
    def sheet(self) -> str:
        """The sheet of the healthy system: what was written down before the shift."""
        return sheet(self._healthy)

    @property
    def ticket(self) -> str:
        """The complaint: the same words on every shift of a level."""
        more = {
            1: "",
            2: "",
            TWO: " There may be more than one cause.",
            WORSE: " It gets worse by the minute.",
        }[self.level]
        number = "" if self.is_test else f" {self.seed}"
        return (
            f"TICKET{number}, level {self.level}. Users say that the application has become slow: it delivers clearly"
            f" less than last month.{more} All colleagues deny changing anything."
        )

    @property
    def known_causes(self) -> tuple[Cause, ...]:
        """The causes that can be named, in the order that the player sees."""
        causes = (*self.platform.causes, *(self.bank.of(self.platform.id) if self.bank else ()))
        return tuple(sorted(causes, key=lambda cause: cause.incident.cause))

    @property
    def causes(self) -> tuple[str, ...]:
        """The sentences of the causes that can be named."""
        return tuple(cause.incident.cause for cause in self.known_causes)

    @property
    def tries(self) -> int:
        """How many causes can be named."""
        return TRIES + self._needed - 1

    @property
    def found(self) -> list[str]:
        """The true causes that were named."""
        return [cause.incident.cause for cause in self.truths if cause.incident.cause in self.named]

    @property
    def truth(self) -> str:
        """The true causes."""
        return " ".join(cause.incident.cause for cause in self.truths)

    @property
    def identity(self) -> dict[str, Any]:
        """The level."""
        return {"level": self.level, "read": list(self.read_paths)}

    @property
    def right(self) -> bool:
        """Whether all true causes were named."""
        return len(self.found) == len(self.truths)

    def name(self, number: int) -> str:
        """Name a cause by its number in the list; return the answer."""
        cause = self.causes[number - 1]
        if cause in self.found:
            return f"You have already named {number}, and it is right. {FREE}"
        told = super().name(number)
        if cause in self.found and not self.right:
            return "That is one of two. Name the other." if not self.settled else f"That is one of two. {NO_TRIES_LEFT}"
        if cause in self.named and cause not in self.found and not self.settled:
            # The look is one that the player has already taken, so it gives away nothing new.
            difference = self._difference_seen(self._by_sentence(cause))
            told += f" You have seen what excludes it: {difference}." if difference else ""
        return told

    def _by_sentence(self, sentence: str) -> Cause:
        return next(cause for cause in self.known_causes if cause.incident.cause == sentence)

    def carry_out(self, command: str, reports: int = 1, *, with_boot: bool = True) -> str:
        """Run a command, after which the shift may have got worse."""
        printed = super().carry_out(command, reports, with_boot=with_boot)
        self.advance()
        return printed

    def setting(self, path: str) -> str:
        """Return one value as text, and note that the player has read it."""
        told = super().setting(path)
        if path in self.offered():
            self.read_paths.append(path)
        self.advance()
        return told

    def set(self, path: str, value: object) -> str:
        """Change a value, after which the shift may have got worse."""
        told = super().set(path, value)
        if path in self.offered():
            self.read_paths.append(path)
        self.advance()
        return told

    def advance(self) -> None:
        """Bring the system to the stage that belongs to the clock."""
        stage = sum(self.seconds >= second for second in STAGES_S) if self.level == WORSE else 0
        if stage != self._stage:
            self._stage = stage
            self.scenario = self.system_with(self.truths, stage)
            self._known.clear()

    def holds(self) -> bool:
        """Return whether the changes fix it; where no setting would, whether the player left all settings alone."""
        if not self.remedy:
            return self.right and not self.changes
        return super().holds()

    def score(self) -> dict[str, int]:
        """Return the points for causes, change and time; two causes share the points of one."""
        wrong = len(self.named) - len(self.found)
        cause = CAUSE_POINTS * len(self.found) // len(self.truths) - WRONG_COSTS * wrong
        fix = FIX_POINTS if self.holds() else 0
        if not self.found and not fix:
            return {"cause": 0, "fix": 0, "time": 0}
        time = TIME_POINTS - min(self.spent, MAX_SPENT)
        return {"cause": cause, "fix": fix, "time": max(time, -cause - fix)}

    def telling(self) -> str:
        """Return the output of the look that shows the first cause, on the system before any change."""
        command = self.incident.command
        if not command.startswith(GET):
            return super().telling()
        path = command.removeprefix(GET)
        return f"{path} = {self.values(self.scenario)[path]}"

    def shows(self, cause: Cause) -> bool:
        """Return whether the sentence about a cause holds for what the looks print in this shift."""
        scenario = self._seen_by(TOOLS["fio"], {}, of=self.system_with(self.truths))
        result = run(scenario, seed=seed_of(self.seed, COMPARED_SEEDS[0]))

        def printed(look: str) -> str:
            if look.startswith(GET):
                path = look.removeprefix(GET)
                return f"{path} = {self.values(scenario).get(path)}"
            return self.prints(look, result, scenario)

        return all(condition.holds(printed) for condition in cause.tell)

    def tells(self) -> list[tuple[str, str]]:
        """Return for each true cause the look that shows it, and what it shows."""
        found = []
        for cause in self.truths:
            hidden = "" if self.shows(cause) else "what else differs in this shift hides it. Alone it shows: "
            found.append((cause.incident.command, f"{hidden}{cause.incident.tells}"))
        return found

    def prints(self, command: str, result: Result, scenario: Mapping[str, Any]) -> str:
        """Return what a command prints about a run; fio and lat watch the application and no other program."""
        if command == "fio":
            return _report_of_one(super().prints(command, result, scenario))
        if command == "lat" and not scenario.get("zfs"):
            return result.text("quantize", job=APP).rstrip("\n") + "\n"
        return super().prints(command, result, scenario)

    def exclusions(self) -> list[dict[str, Any]]:
        """Return, for each cause that it was not, the looks that differ, clearest first, and what the player saw."""
        rows = []
        for cause in self.known_causes:
            if cause in self.truths:
                continue
            differences = self._differences(cause)
            seen = self._first_seen(differences)
            rows.append({"cause": cause.incident.cause, "looks": differences, "seen": seen})
        return rows

    def excluded(self) -> list[dict[str, str]]:
        """Return, for each cause that it was not, the number that excludes it, and whether the player saw it."""
        rows = []
        for row in self.exclusions():
            best = row["seen"] or (row["looks"][0] if row["looks"] else None)
            mark = "you saw it" if row["seen"] else "you did not look" if best else "no look"
            why = str(best or "No single number differs clearly.")
            rows.append({"cause": row["cause"], "why": why, "mark": mark})
        return rows

    def debrief(self) -> str:
        """Return causes, fix, the oddity, and what excluded every other cause."""
        lines = []
        for cause, (command, tells) in zip(self.truths, self.tells(), strict=True):
            lines += [f"Cause: {cause.incident.cause}", f"The look that shows it, `{command}`: {tells}"]
        remedy = ", ".join(f"{path} = {value}" for path, value in self.remedy.items())
        lines.append(f"Fix: set {remedy}" if remedy else "Fix: no setting fixes it. Leave them alone and report it.")
        if self.oddity:
            lines.append(f"The oddity that does no harm: {self.oddity.says}")
        lines.append("\nWhat excluded the others:")
        lines += [f"- {row['cause']} {row['why']} ({row['mark']})" for row in self.excluded()]
        lines += [
            f"You expected before look {thought['looks'] + 1}: {thought['cause']}"
            f" {'Right.' if thought['cause'] in {one.incident.cause for one in self.truths} else 'Not it.'}"
            for thought in self.thoughts
        ]
        again = "" if self.is_test else f"\n\nRepeat this shift: seeklab oncall --level {self.level} --seed {self.seed}"
        return "\n".join(lines) + again

    def values(self, scenario: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of all settings of a scenario, by path."""
        found = settable(scenario)
        for path in self.platform.settable:
            part: Any = scenario
            for step in path.split("."):
                name, _, which = step.rstrip("]").partition("[")
                part = part.get(name) if isinstance(part, dict) else None
                part = next((one for one in part or () if one["name"] == which), None) if which else part
            found[path] = part
        return dict(sorted(found.items()))

    def offered(self) -> list[str]:
        """Return every path that `get` and `set` know: the healthy system's, whatever the cause."""
        return sorted({*offered(self._healthy), *self.platform.settable})

    def _differences(self, cause: Cause) -> list[Difference]:
        """Return the clearest difference of each look between this shift and the same shift with another cause."""
        here = [self._compared(self.truths, seed) for seed in COMPARED_SEEDS]
        there = [self._compared((cause,), seed) for seed in COMPARED_SEEDS]
        found = []
        for command in TOOLS:
            if command in NOT_COMPARED:
                continue
            best = _clearest(command, [one[command] for one in here], [one[command] for one in there])
            if best:
                found.append(best)
        found.sort(key=lambda one: -_distance(one.here, one.there))
        return found + self._settings_apart(cause)

    def _settings_apart(self, cause: Cause) -> list[Difference]:
        """Return the settings whose values differ between this shift and the same shift with another cause."""
        here, there = (self.values(self.system_with(some)) for some in (self.truths, (cause,)))
        return [
            Difference(f"{GET}{path}", path, here[path], there[path])
            for path in self.offered()
            if path in here and path in there and here[path] != there[path]
        ]

    def _difference_seen(self, cause: Cause) -> Difference | None:
        return self._first_seen(self._differences(cause))

    def _first_seen(self, differences: list[Difference]) -> Difference | None:
        """Return the clearest difference in a look that the player has taken."""
        looks = {*self.looked, *(f"{GET}{path}" for path in self.read_paths)}
        return next((one for one in differences if one.command in looks), None)

    def _compared(self, causes: tuple[Cause, ...], number: int) -> dict[str, dict[str, float]]:
        """Return what all commands print on this shift with some causes, as numbers by name."""
        key = (tuple(cause.id for cause in causes), number)
        if key not in self._printed:
            scenario = self._seen_by(TOOLS["fio"], {}, of=self.system_with(causes))
            result: Result = run(scenario, seed=seed_of(self.seed, number))
            looks = [name for name in TOOLS if name not in NOT_COMPARED]
            self._printed[key] = {name: numbers(self.prints(name, result, scenario)) for name in looks}
        return self._printed[key]

    _printed: dict[tuple[tuple[str, ...], int], dict[str, dict[str, float]]] = field(
        default_factory=dict, init=False, repr=False
    )


def _report_of_one(report: str) -> str:
    """Return fio's report of its first job alone."""
    jobs = re.findall(r"(?m)^(\S+): \(g=\d+\)", report)
    for job in jobs[1:]:
        report = re.sub(rf"(?m)^{re.escape(job)}: \(g=\d+\).*\n", "", report)
        report = re.sub(rf"(?ms)^{re.escape(job)}: \(groupid=.*?(?=^\S+: \(groupid=|^Run status|\Z)", "", report)
    head = re.sub(r"(?m)^Starting .*$", "Starting 1 process", report)
    return head.partition("\nRun status")[0].rstrip("\n") + "\n"


def _clearest(command: str, here: list[dict[str, float]], there: list[dict[str, float]]) -> Difference | None:
    """Return the number of a command that differs most between two systems, if any differs clearly."""
    best, most = None, math.log(APART)
    for name in here[0]:
        if not all(name in one for one in (*here, *there)):
            continue
        own, other = ([one[name] for one in some] for some in (here, there))
        apart = min(_distance(a, b) for a in own for b in other)
        noise = max(_distance(*own), _distance(*other))
        if apart > most and apart > 2 * noise:
            best, most = Difference(command, name, own[0], other[0]), apart
    return best


def _distance(one: float, other: float) -> float:
    """Return how far two numbers are apart: the logarithm of their ratio, or infinity if the signs differ."""
    if one < 0 or other < 0:
        return math.inf if one * other < 0 else _distance(-one, -other)
    return abs(math.log((one + SMALL) / (other + SMALL)))


def _short(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"
