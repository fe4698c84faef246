"""An on-call shift: a system with something wrong, commands that cost time, a cause to name, a change, and the truth.

The system goes on under its load while one looks: each command prints what a run of its own did, with other random
numbers. A change acts from the start of the runs that come after it; the engine has no changes in the middle of a run,
so what is seen next is the system as if it had been set up that way.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from seeklab._errors import SeeklabError
from seeklab._result import run
from seeklab.oncall.incidents import causes, complaint_metric, system_of
from seeklab.oncall.schedule import pool
from seeklab.oncall.settings import changed, needs_a_restart, offered, refusal, settable, unit_of, value_of
from seeklab.oncall.tools import TOOLS

if TYPE_CHECKING:
    from seeklab._result import Result
    from seeklab.oncall.incidents import Incident
    from seeklab.oncall.learner_case import LearnerCase
    from seeklab.oncall.tools import Tool

CAUSE_POINTS, FIX_POINTS, TIME_POINTS = 40, 40, 20
TRIES = 3
WRONG_COSTS = 10
MAX_SPENT = 2 * TIME_POINTS
"""Commands and changes cost points up to here."""
SET_COSTS, GUESS_COSTS = 1, 8
"""What a change costs once the cause is settled, and before: turning knobs until users are content is no diagnosis."""
RESTART_S, RESTART_COSTS = 120, 4
SHARE_OF_GAIN = 0.6
"""A change holds when it brings so much of what the remedy of the case brings, in logarithms."""
FREE = "No points charged."
NOTHING_HAPPENED = f"Nothing was changed. {FREE}"
NO_TRIES_LEFT = "There are no tries left."
LEFT = ((0.1, "less than a tenth"), (0.5, "less than half"), (math.inf, "more than half, but not all,"))
"""How much is left, in words that say no more than that."""
LEAST = 1e-12
TICKET_SEED = 1
"""Which of a shift's runs the ticket's numbers come from."""
JUDGED_ON_SEEDS = (7, 8)
"""Those on which a change is judged."""


def seed_of(shift: int, number: int) -> int:
    """Give the seed of one of a shift's runs."""
    return 1 + (shift * 1000 + number) % (2**53 - 1)


@dataclass
class Shift:
    """One shift, and what has happened in it."""

    seed: int
    weeks: str | None = None
    """Weeks of the course that it is drawn from, such as `1-5`; all when there are none."""
    own: LearnerCase | None = None
    """A case that somebody wrote, in place of one that is drawn."""
    incident: Incident = field(init=False)
    scenario: dict[str, Any] = field(init=False)
    remedy: dict[str, Any] = field(init=False)
    """What the case does about it, by path."""
    changes: dict[str, Any] = field(default_factory=dict)
    """What the player has set."""
    named: list[str] = field(default_factory=list)
    """Causes that were named."""
    seconds: int = 0
    spent: int = 0
    looked: list[str] = field(default_factory=list)
    users: list[tuple[int, float]] = field(default_factory=list)
    """The users' own number over the shift: after so many seconds, as a share of last month's."""

    _known: dict[tuple[str, int], float] = field(default_factory=dict, init=False, repr=False)
    """The users' number of runs that were made: the same changes and the same seed give the same."""

    def __post_init__(self) -> None:
        """Draw what is wrong, and how large the system is."""
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
        """Tell the complaint: one wording for every cause, unless the author of the case has written another."""
        share = next(words for share, words in LEFT if self._left <= share)
        if self.own and self.own.ticket:
            return f"TICKET {self.seed}. {self.own.ticket} By the users' own number it gives {share} of what it did."
        return (
            f"TICKET {self.seed}. Users of the application say that it is not what it was. By their own number it gives"
            f" {share} of what such a system gave last month."
            " Nobody admits to having changed anything."
        )

    @property
    def causes(self) -> tuple[str, ...]:
        """What it may be, in the order in which a player is offered it."""
        return self.own.causes if self.own else causes()

    @property
    def settled(self) -> bool:
        """Whether nothing more can be named."""
        return self.right or len(self.named) >= TRIES

    @property
    def right(self) -> bool:
        """Whether the cause that was named last is the one."""
        return bool(self.named) and self.named[-1] == self.incident.cause

    def carry_out(self, command: str) -> str:
        """Print what a tool shows of the next seconds."""
        tool = TOOLS[command]
        scenario = self._seen_by(tool, self.changes)
        result = self._run(scenario, 101 + len(self.looked))
        printed = tool.prints(result, scenario)
        self.looked.append(command)
        self.seconds += tool.seconds
        self.spent += tool.points
        self._notice(result.metrics[complaint_metric(self.incident)])
        return printed

    def telling(self) -> str:
        """Print the one command that would have told it, of the system as it was found."""
        tool = TOOLS[self.incident.command]
        scenario = self._seen_by(tool, {})
        return tool.prints(self._run(scenario, 99), scenario)

    def settable(self) -> dict[str, Any]:
        """Give what may be set, as it is now."""
        return settable(changed(self.scenario, self.changes))

    def offered(self) -> list[str]:
        """Give every path that may be asked for, also of parts that this system lacks."""
        return offered(changed(self.scenario, self.changes))

    def setting(self, path: str) -> str:
        """Print one value, or say that there is none of that name."""
        if path not in self.offered():
            return f"get: {path}: no such value here (`get` lists what there is). {FREE}"
        found = self.settable()
        self._charge_a_question()
        if path not in found:
            return f"get: {_lacking(path)}"
        is_number = isinstance(found[path], int | float) and not isinstance(found[path], bool)
        unit = unit_of(path) if is_number else None
        return f"{path} = {_written(found[path])}{f' {unit}' if unit else ''}"

    def read(self, path: str, text: str) -> object:
        """Read a value as it is typed: where the path holds a word, a word that looks like a number is one, too."""
        return text if isinstance(self.settable().get(path), str) else value_of(text)

    def set(self, path: str, value: object) -> str:
        """Change a value, if the system takes it; say what came of it."""
        if path not in self.offered():
            return f"set: {path}: not a value that can be set here (`get` lists those that can). {NOTHING_HAPPENED}"
        if path not in self.settable():
            self._charge_a_question()  # it tells what `get` would have told
            return f"set: {_lacking(path)}. Nothing was changed."
        before = self._measured(self.changes, 50)
        tried = {**self.changes, path: value}
        try:
            refused = refusal(path, settable(changed(self.scenario, tried))[path])
            if refused:
                return f"set: {refused}. {NOTHING_HAPPENED}"
            after = self._measured(tried, 50)
        except SeeklabError as error:
            return f"set: {self._in_names(str(error))}. {NOTHING_HAPPENED}"
        except KeyError:
            told = f"set: with {path} = {_written(value)} the application does nothing any more; it stays as it was."
            return f"{told} {NOTHING_HAPPENED}"
        self.changes = tried
        restart = needs_a_restart(path)
        self.seconds += RESTART_S if restart else 1
        self.spent += (SET_COSTS if self.settled else GUESS_COSTS) + (RESTART_COSTS if restart else 0)
        pause = f" The application was stopped for {RESTART_S} s." if restart else ""
        self._notice(after)
        times = self._better(after, before)
        told = f"{path} = {_written(value)}.{pause} The users' number: {times:.2f} times what it was before."
        return f"{told} {self._too_good(after)}".rstrip()

    def name(self, number: int) -> str:
        """Name a cause by its number in the list."""
        if self.settled:
            return "The cause has been found." if self.right else NO_TRIES_LEFT
        cause = self.causes[number - 1]
        if cause in self.named:
            return f"{number} has been named, and is not it. {FREE}"
        self.named.append(cause)
        if self.right:
            return "That is it."
        left = TRIES - len(self.named)
        return f"That is not it. {left} {'try' if left == 1 else 'tries'} left." if left else "That is not it either."

    def holds(self) -> bool:
        """Whether what was set brings most of what the remedy brings, on other seeds."""
        return (
            bool(self.changes)
            and not self.hides
            and all(self._share(number) >= SHARE_OF_GAIN for number in JUDGED_ON_SEEDS)
        )

    @property
    def hides(self) -> bool:
        """Whether what was set gives more than such a system can: then it hides what is wrong, or what is measured."""
        return any(self._too_good(self._measured(self.changes, number)) for number in JUDGED_ON_SEEDS)

    def score(self) -> dict[str, int]:
        """Give the points: for the cause, for the change, for the time that it took."""
        wrong = len(self.named) - (1 if self.right else 0)
        cause = (CAUSE_POINTS if self.right else 0) - WRONG_COSTS * wrong
        fix = FIX_POINTS if self.holds() else 0
        if not self.right and not fix:
            return {"cause": 0, "fix": 0, "time": 0}
        time = TIME_POINTS - min(self.spent, MAX_SPENT)
        # No shift costs what was not earned.
        return {"cause": cause, "fix": fix, "time": max(time, -cause - fix)}

    def debrief(self) -> str:
        """Tell what it was."""
        again = f"--seed {self.seed}" + (f" --weeks {self.weeks}" if self.weeks else "")
        remedy = ", ".join(f"{path} = {_written(value)}" for path, value in self.remedy.items())
        return (
            f"It was: {self.incident.cause}\n"
            f"One command that tells it, `{self.incident.command}`: {self.incident.tells}\n"
            f"What mends it: set {remedy}\n"
        ) + (
            f"The case: {self.own.title}{f', by {self.own.author}' if self.own.author else ''}."
            if self.own
            else f"Read on: seeklab facts {self.incident.case}. The same shift again: seeklab oncall {again}"
        )

    def _seen_by(self, tool: Tool, changes: dict[str, Any]) -> dict[str, Any]:
        """Give the system with these changes, and with the log where the tool reads it."""
        scenario = changed(self.scenario, changes)
        if tool.log:
            scenario["record"] = {**scenario["record"], "log": True}
        return scenario

    def _notice(self, metric: float) -> None:
        """Write down what the users have now."""
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
        """How many times better one number is than another, as the users see it."""
        ratio = max(own, LEAST) / max(than, LEAST)
        return ratio if self.incident.more_is_better else 1 / ratio

    def _too_good(self, metric: float) -> str:
        """Say that users have more than such a system gives, unless it is by more of what mends it."""
        times, most = self._better(metric, self._last_month), self.incident.at_most
        if times <= most or self._only_more_of_what_mends_it():
            return ""
        return (
            f"That is {times:.1f} times last month's. Above {most:g} times it does not count as mended: what is wrong"
            " is only hidden, or something else is measured."
        )

    def _only_more_of_what_mends_it(self) -> bool:
        """Whether no value but those that the remedy sets is another than the shift began with."""
        began, now = settable(self.scenario), self.settable()
        return all(path in self.remedy or began[path] == now[path] for path in self.changes)

    def _charge_a_question(self) -> None:
        self.seconds += 1
        self.spent += 1

    def _in_names(self, told: str) -> str:
        """Put names in place of numbers in paths, as a player writes them."""
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
