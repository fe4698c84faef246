"""An on-call shift: a faulty system, commands that cost time, a cause to name, a change to make, and a debrief.

The system stays under load during the whole shift. Each command makes its own run, with its own random numbers. The
engine cannot change a system in the middle of a run. A change therefore applies to all later runs from their start.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from seeklab._errors import SeeklabError
from seeklab._result import run
from seeklab.oncall.fact_sheet import sheet
from seeklab.oncall.incidents import causes, complaint_metric, system_of
from seeklab.oncall.schedule import pool
from seeklab.oncall.settings import changed, needs_a_restart, offered, refusal, settable, unit_of, value_of
from seeklab.oncall.tools import TOOLS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from seeklab._result import Result
    from seeklab.oncall.incidents import Incident
    from seeklab.oncall.learner_case import LearnerCase
    from seeklab.oncall.tools import Tool

CAUSE_POINTS, FIX_POINTS, TIME_POINTS = 40, 40, 20
TRIES = 3
WRONG_COSTS = 10
MAX_SPENT = 2 * TIME_POINTS
"""The most points that commands and changes can cost."""
SET_COSTS, GUESS_COSTS = 1, 8
"""Costs of a change after and before the cause is settled. Trying settings until users are happy is no diagnosis."""
RESTART_S, RESTART_COSTS = 120, 4
SHARE_OF_GAIN = 0.6
"""A change holds if it brings at least this share of the remedy's improvement, in logarithms."""
FREE = "No points charged."
NOTHING_HAPPENED = f"Nothing was changed. {FREE}"
NO_TRIES_LEFT = "There are no tries left."
LEFT = ((0.1, "less than a tenth"), (0.5, "less than half"), (math.inf, "more than half, but not all,"))
"""How much of last month's number is left, told only roughly."""
LEAST = 1e-12
LATENCY_CV = 0.08
"""Variation of a unit's latency that tools see."""
TICKET_SEED = 1
"""The number of the run that the ticket's figures come from."""
JUDGED_ON_SEEDS = (7, 8)
"""The numbers of the runs that judge a change."""


def seed_of(shift: int, number: int) -> int:
    """Return the seed of one run of a shift."""
    return 1 + (shift * 1000 + number) % (2**53 - 1)


@dataclass
class Shift:
    """The state of one shift."""

    seed: int
    weeks: str | None = None
    """Weeks of the course to draw the incident from, such as `1-5`; None draws from all."""
    own: LearnerCase | None = None
    """A case file to play instead of a drawn incident."""
    incident: Incident = field(init=False)
    scenario: dict[str, Any] = field(init=False)
    remedy: dict[str, Any] = field(init=False)
    """The case's fix: values by path."""
    changes: dict[str, Any] = field(default_factory=dict)
    """The player's changes: values by path."""
    named: list[str] = field(default_factory=list)
    """The causes that the player has named."""
    seconds: int = 0
    spent: int = 0
    looked: list[str] = field(default_factory=list)
    users: list[tuple[int, float]] = field(default_factory=list)
    """The users' metric during the shift: seconds since the start, and the share of last month's value."""

    thoughts: list[dict[str, Any]] = field(default_factory=list)
    """The causes that the player expected: each with the number of looks before it."""

    _known: dict[tuple[str, int], float] = field(default_factory=dict, init=False, repr=False)
    """The users' metric of earlier runs. The same changes and the same seed result in the same value."""

    def __post_init__(self) -> None:
        """Draw the incident and the size of the system."""
        if self.own:
            system = self.own.system
        else:
            source = random.Random(f"on call {self.seed}")
            system = system_of(source.choice(pool(self.weeks)), source)
        self.incident, self.scenario, self.remedy = system.incident, dict(system.scenario), dict(system.remedy)
        self._last_month = self._measured(self.remedy, TICKET_SEED)
        self._left = self._better(self._measured({}, TICKET_SEED), self._last_month)
        self.users.append((0, self._left))

    @property
    def ticket(self) -> str:
        """Return the complaint: the same wording for every cause, unless the author of the case wrote one."""
        share = next(words for share, words in LEFT if self._left <= share)
        if self.own and self.own.ticket:
            complaint = f"TICKET {self.seed}. {self.own.ticket}"
            return f"{complaint} By the users' measure it delivers {share} of what it delivered before."
        return (
            f"TICKET {self.seed}. Users say that the application has become slow. By their measure it delivers"
            f" {share} of what it delivered last month."
            " All colleagues deny changing anything."
        )

    @property
    def causes(self) -> tuple[str, ...]:
        """The possible causes, in the order that the player sees."""
        return self.own.causes if self.own else causes()

    @property
    def settled(self) -> bool:
        """Whether the player can name no further cause."""
        return self.right or len(self.named) >= self.tries

    @property
    def tries(self) -> int:
        """How many causes can be named."""
        return TRIES

    @property
    def sheet(self) -> str:
        """The sheet: facts that everyone knows about the system."""
        return sheet(self.scenario)

    @property
    def right(self) -> bool:
        """Whether the last named cause is the right one."""
        return bool(self.named) and self.named[-1] == self.incident.cause

    @property
    def truth(self) -> str:
        """The true cause, or several."""
        return self.incident.cause

    @property
    def identity(self) -> dict[str, Any]:
        """Further fields that identify the shift, besides seed, weeks and case file."""
        return {}

    def carry_out(self, command: str, reports: int = 1, *, with_boot: bool = True) -> str:
        """Run the system for a few seconds and return what a tool prints about it.

        A tool that was given an interval prints a series: each report is a run of its own, with other random numbers.
        Its first report averages since boot, unless an option leaves it out.
        """
        tool = TOOLS[command]
        scenario = self._seen_by(tool, self.changes)
        result = self._run(scenario, 101 + len(self.looked))
        printed = self.prints(command, result, scenario)
        if tool.repeats is not None and reports > 1:
            for number in range(1, reports + with_boot):
                printed += tool.repeats(self._run(scenario, 10 * (101 + len(self.looked)) + number), scenario)
        self.looked.append(command)
        self.seconds += tool.seconds
        self.spent += tool.points
        self._notice(result.metrics[complaint_metric(self.incident)])
        return printed

    def telling(self) -> str:
        """Return the output of the one command that shows the cause, on the system before any change."""
        tool = TOOLS[self.incident.command]
        scenario = self._seen_by(tool, {})
        return self.prints(self.incident.command, self._run(scenario, 99), scenario)

    def prints(self, command: str, result: Result, scenario: Mapping[str, Any]) -> str:
        """Return what a command prints about a run."""
        return TOOLS[command].prints(result, scenario)

    def settable(self) -> dict[str, Any]:
        """Return the current value of each setting that can be changed, by path."""
        return self.values(changed(self.scenario, self.changes))

    def offered(self) -> list[str]:
        """Return every path that `get` and `set` know, including those of parts that this system does not have."""
        return self._offered(changed(self.scenario, self.changes))

    def values(self, scenario: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of all settings of a scenario, by path."""
        return settable(scenario)

    def _offered(self, scenario: Mapping[str, Any]) -> list[str]:
        return offered(scenario)

    def setting(self, path: str) -> str:
        """Return one value as text, or a message that the path is unknown."""
        if path not in self.offered():
            return f"get: {path}: no such setting (type `get` for the list). {FREE}"
        found = self.settable()
        self._charge_a_question()
        if path not in found:
            return f"get: {_lacking(path)}"
        is_number = isinstance(found[path], int | float) and not isinstance(found[path], bool)
        unit = unit_of(path) if is_number else None
        return f"{path} = {_written(found[path])}{f' {unit}' if unit else ''}"

    def read(self, path: str, text: str) -> object:
        """Parse a value as typed. Where the path takes text, a value that looks like a number stays text."""
        return text if isinstance(self.settable().get(path), str) else value_of(text)

    def set(self, path: str, value: object) -> str:
        """Change a value if the system accepts it; return a message with the effect."""
        if path not in self.offered():
            return f"set: {path}: not a setting that can be changed (type `get` for the list). {NOTHING_HAPPENED}"
        if path not in self.settable():
            self._charge_a_question()  # the answer reveals as much as `get` would
            return f"set: {_lacking(path)}. Nothing was changed."
        before = self._measured(self.changes, 50)
        tried = {**self.changes, path: value}
        try:
            refused = refusal(path, self.values(changed(self.scenario, tried))[path])
            if refused:
                return f"set: {refused}. {NOTHING_HAPPENED}"
            after = self._measured(tried, 50)
        except SeeklabError as error:
            return f"set: {self._in_names(str(error))}. {NOTHING_HAPPENED}"
        except KeyError:
            told = f"set: with {path} = {_written(value)} the application would stop, so the change was not applied."
            return f"{told} {NOTHING_HAPPENED}"
        self.changes = tried
        restart = needs_a_restart(path)
        self.seconds += RESTART_S if restart else 1
        self.spent += (SET_COSTS if self.settled else GUESS_COSTS) + (RESTART_COSTS if restart else 0)
        pause = f" The application was stopped for {RESTART_S} s." if restart else ""
        self._notice(after)
        times = self._better(after, before)
        told = f"{path} = {_written(value)}.{pause} The users' measure: {times:.2f} times its value before the change."
        return f"{told} {self._too_good(after)}".rstrip()

    def think(self, number: int) -> str:
        """Note the cause that the player expects; it costs nothing and says nothing about the truth."""
        cause = self.causes[number - 1]
        self.thoughts.append({"looks": len(self.looked), "cause": cause})
        return f"Noted: {cause} Choose a look that could show that it is wrong. {FREE}"

    def advance(self) -> None:
        """Bring the system to the state that belongs to the clock; most shifts have only one."""

    def name(self, number: int) -> str:
        """Name a cause by its number in the list; return the answer."""
        if self.settled:
            return "The cause has been found." if self.right else NO_TRIES_LEFT
        cause = self.causes[number - 1]
        if cause in self.named:
            return f"You have already named {number}; it is not the cause. {FREE}"
        self.named.append(cause)
        if self.right:
            return "That is it."
        left = self.tries - len(self.named)
        return f"That is not it. {left} {'try' if left == 1 else 'tries'} left." if left else "That is not it either."

    def holds(self) -> bool:
        """Return whether the changes bring most of the remedy's improvement, on other seeds."""
        return (
            bool(self.changes)
            and not self.hides
            and all(self._share(number) >= SHARE_OF_GAIN for number in JUDGED_ON_SEEDS)
        )

    @property
    def hides(self) -> bool:
        """Whether the users' measure exceeds a healthy system's: then the changes hide the fault or its metric."""
        return any(self._too_good(self._measured(self.changes, number)) for number in JUDGED_ON_SEEDS)

    def score(self) -> dict[str, int]:
        """Return the points for the cause, for the change, and for the time taken."""
        wrong = len(self.named) - (1 if self.right else 0)
        cause = (CAUSE_POINTS if self.right else 0) - WRONG_COSTS * wrong
        fix = FIX_POINTS if self.holds() else 0
        if not self.right and not fix:
            return {"cause": 0, "fix": 0, "time": 0}
        time = TIME_POINTS - min(self.spent, MAX_SPENT)
        # The total is never negative.
        return {"cause": cause, "fix": fix, "time": max(time, -cause - fix)}

    def debrief(self) -> str:
        """Return the cause, the command that shows it, the fix and the case."""
        again = f"--seed {self.seed}" + (f" --weeks {self.weeks}" if self.weeks else "")
        remedy = ", ".join(f"{path} = {_written(value)}" for path, value in self.remedy.items())
        return (
            f"Cause: {self.incident.cause}\n"
            f"The command that shows it, `{self.incident.command}`: {self.incident.tells}\n"
            f"Fix: set {remedy}\n"
        ) + (
            f"Case: {self.own.title}{f', by {self.own.author}' if self.own.author else ''}."
            if self.own
            else f"Read more: seeklab facts {self.incident.case}. Repeat this shift: seeklab oncall {again}"
        )

    def _seen_by(self, tool: Tool, changes: dict[str, Any], of: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the system (or another, `of`) with changes, and with the operation log if the tool reads it."""
        scenario = changed(of or self.scenario, changes)
        if tool.log:
            scenario["record"] = {**scenario["record"], "log": True}
        for device in scenario["devices"]:
            unit = device.get("lun")
            if unit and unit.get("latency") and not unit.get("latency_cv"):
                # No device answers in the same time twice; the measure that judges changes has no such noise.
                device["lun"] = {**unit, "latency_cv": LATENCY_CV}
        return scenario

    def _notice(self, metric: float) -> None:
        """Record the users' current measure."""
        self.users.append((self.seconds, self._better(metric, self._last_month)))

    def _run(self, scenario: dict[str, Any], number: int) -> Result:
        return run(scenario, seed=seed_of(self.seed, number))

    def _measured(self, changes: dict[str, Any], number: int) -> float:
        key = (repr(sorted(changes.items())), number)
        if key not in self._known:
            metrics = self._run(changed(self.scenario, changes), number).metrics
            self._known[key] = metrics[complaint_metric(self.incident)]
        return self._known[key]

    def _better(self, own: float, than: float) -> float:
        """Return how many times better `own` is than `than`, in the users' sense."""
        ratio = max(own, LEAST) / max(than, LEAST)
        return ratio if self.incident.more_is_better else 1 / ratio

    def _too_good(self, metric: float) -> str:
        """Return a message if users get more than a healthy system gives, unless only the fix's settings differ."""
        times, most = self._better(metric, self._last_month), self.incident.at_most
        if times <= most or self._only_more_of_what_mends_it():
            return ""
        return (
            f"That is {times:.1f} times last month's value. Above {most:g} times a change is no longer a fix: it only"
            " hides the fault, or it changes what the users measure."
        )

    def _only_more_of_what_mends_it(self) -> bool:
        """Return whether only settings of the remedy differ from the values at the start of the shift."""
        began, now = self.values(self.scenario), self.settable()
        return all(path in self.remedy or began[path] == now[path] for path in self.changes)

    def _charge_a_question(self) -> None:
        self.seconds += 1
        self.spent += 1

    def _in_names(self, told: str) -> str:
        """Replace indices in paths by names, as the player writes them."""
        for kind in ("devices", "jobs"):
            names = [str(one["name"]) for one in self.scenario[kind]]
            for number, name in enumerate(names):
                told = told.replace(f"{kind}[{number}].", f"{kind}[{name}].")
        return told

    def _share(self, number: int) -> float:
        found, own, best = (self._measured(some, number) for some in ({}, self.changes, self.remedy))
        whole = math.log(self._better(best, found))
        return math.log(self._better(own, found)) / whole if whole else 0.0


def _lacking(path: str) -> str:
    part = path.rpartition(".")[0]
    return f"{path}: this system has no {part.rpartition('.')[2]}"


def _written(value: object) -> str:
    if value is None:
        return "default"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
