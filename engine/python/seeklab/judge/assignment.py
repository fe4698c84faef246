"""An assignment as a declaration, and the judge: answers, a variant and seeds in, verdicts out.

`judge` is a pure function: the same arguments return the same verdicts in a notebook, in a browser and in the grader.
Only the seeds determine random draws. Budgets count decisions and events; the sandbox limits time.

A task passes when every seed meets every bound, and fails when every seed breaks one. When the seeds disagree, twice as
many are drawn, and those decide. If they disagree too, the verdict is "cannot tell", with all the numbers. This module
contains no answers: it judges work by its effects.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from seeklab._errors import LimitExceeded, SeeklabError
from seeklab._result import at_most_events
from seeklab.judge.answers import UNREADABLE, Code, Fields, Kind, UnreadableError
from seeklab.judge.evidence import Evidence, Outcome
from seeklab.judge.printable import sentence
from seeklab.judge.programs import ProgramError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from seeklab._question import Question

MANY = 2**53
"""Seeds of runs are whole numbers below this."""
SEEDS = 2
"""Seeds of a check; twice as many more are drawn when these disagree."""
MAX_EVENTS = 5_000_000
"""Limit of events in all runs of one measurement, so that no answer keeps the judge busy for long."""
BROKEN, UNDECIDED, REFUSED, LIMIT, PROGRAM = "bound", "undecided", "refused", "limit", "program"
"""Codes of a verdict if no mistake has a name. In order: a broken bound, seeds that disagree, an input that the engine
refuses, a limit of its runs, an error of the learner's program."""
HINTS = 3
HINT_COSTS = 0.05
"""The share of a task's points that each hint costs."""


@dataclass(frozen=True)
class Seeds:
    """Seeds that are secret without the key."""

    key: bytes

    def draw(self, task: str, count: int, nth: int = 0) -> list[int]:
        """Return seeds of runs for a task; `nth` is the number of the first."""
        return [1 + self._number(f"{task}\0{number}") % (MANY - 1) for number in range(nth, nth + count)]

    def _number(self, message: str) -> int:
        return int.from_bytes(hmac.new(self.key, message.encode(), hashlib.sha256).digest()[:8], "big")


@dataclass(frozen=True)
class Variant:
    """A student's system, and the demanded bounds."""

    draws: bytes
    """32 bytes that determine the student's system."""
    bounds: Mapping[str, float] = field(default_factory=dict)
    """Bounds that replace the practice bank's, by name."""


@dataclass(frozen=True)
class Asked:
    """The input of a task's measurement: readable answers, the variant, and one seed."""

    answers: Mapping[str, Any]
    variant: Variant
    seed: int
    practice: Mapping[str, float]
    kinds: Mapping[str, Kind]

    @property
    def draws(self) -> bytes:
        """The bytes that determine the student's system."""
        return self.variant.draws

    def bound(self, name: str) -> float:
        """Return the variant's bound, or else the practice bank's."""
        return self.variant.bounds.get(name, self.practice[name])

    def play(self, name: str) -> AbstractContextManager[Any]:
        """Start a submitted program for one run."""
        kind = self.kinds[name]
        if not isinstance(kind, Code):
            message = f"{name} is not a program"
            raise TypeError(message)
        playing: AbstractContextManager[Any] = self.answers[name].start(kind)
        return playing


@dataclass(frozen=True)
class Task:
    """One task, with its points."""

    id: str
    """The name of its check's cell."""
    points: float
    takes: Mapping[str, Kind]
    """The required answers."""
    measure: Callable[[Asked], Iterable[Evidence]]
    """Measures the answers on one seed: always the same bounds in the same order, unless it raises."""
    hints: tuple[str, str, str]
    """Three hints, from vague to nearly complete; each costs part of the points."""
    seeds: int = SEEDS
    by_parts: bool = False
    """Whether each bound that holds earns its share of the points."""
    guessed: int = 0
    """How many of the parts a guess gets right; only the parts beyond earn points."""
    events: int = MAX_EVENTS
    """Limit of events in all its runs for one seed."""


@dataclass(frozen=True)
class Commitment:
    """Predictions: complete and valid ones earn their points, however accurate they are."""

    id: str
    points: float
    answer: str
    """The name of the answer that holds them."""
    questions: Mapping[str, Question]
    near: Callable[[Asked], Mapping[str, float]]
    """Measures the answer to each question, in its unit."""

    @property
    def takes(self) -> Mapping[str, Kind]:
        """Return the required answer."""
        from seeklab.judge.answers import Number

        return {self.answer: Fields(dict.fromkeys(self.questions, Number()))}


@dataclass(frozen=True)
class Verdict:
    """The verdict on a task."""

    task: str
    outcome: Outcome
    points: float
    max_points: float
    reason: str
    """The reason; for a failure, the learner's exact error."""
    evidence: tuple[Evidence, ...] = ()
    code: str = ""
    """The name of the reason; none for work that passes."""

    def __post_init__(self) -> None:
        """Clean the reason, which may quote a learner."""
        object.__setattr__(self, "reason", sentence(self.reason))

    @property
    def passed(self) -> bool:
        """Whether the work passed."""
        return self.outcome is Outcome.PASS

    @property
    def score(self) -> float:
        """Points as a share, from 0 to 1."""
        return self.points / self.max_points if self.max_points else 0.0

    def __str__(self) -> str:
        """Return the outcome, the reason, and every number behind it."""
        lines = [f"{self.outcome.value}: {self.reason}" if self.reason else self.outcome.value]
        for nth, item in enumerate(self.evidence):
            if item.on and (not nth or item.on != self.evidence[nth - 1].on):
                lines.append(f"  System: {item.on}")
            lines.append(f"{'    ' if item.on else '  '}{item}")
        return "\n".join(lines)

    def document(self) -> dict[str, Any]:
        """Return the JSON that `seeklab grade` prints."""
        return {
            "id": self.task,
            "score": self.points,
            "max_score": self.max_points,
            "verdict": self.outcome.value,
            "reason": self.reason,
        }


@dataclass(frozen=True)
class Assignment:
    """Tasks, the kinds of their answers, and the notebook cells of the answers."""

    id: str
    tasks: Sequence[Task | Commitment]
    cells: Mapping[str, str]
    """The cell of each answer."""
    bounds: Mapping[str, float] = field(default_factory=dict)
    """The bounds of the practice bank, by name."""
    blind: Callable[[bytes], dict[str, str]] | None = None
    """For a system that the learner may only observe: the output of each tool, by name."""

    def task(self, name: str) -> Task | Commitment:
        """Return a task by its name."""
        return next(task for task in self.tasks if task.id == name)

    @property
    def kinds(self) -> dict[str, Kind]:
        """Return the kind of each answer."""
        return {name: kind for task in self.tasks for name, kind in task.takes.items()}


def judge(
    assignment: Assignment,
    answers: Mapping[str, object],
    variant: Variant,
    seeds: Seeds,
    tasks: Iterable[str] | None = None,
) -> list[Verdict]:
    """Judge answers (plain data by name; programs that can be started); return a verdict for each task."""
    wanted = None if tasks is None else set(tasks)
    return [
        _judged(assignment, task, answers, variant, seeds)
        for task in assignment.tasks
        if wanted is None or task.id in wanted
    ]


def _judged(
    assignment: Assignment, task: Task | Commitment, answers: Mapping[str, object], variant: Variant, seeds: Seeds
) -> Verdict:
    read: dict[str, Any] = {}
    broken: list[Evidence] = []
    for name, kind in task.takes.items():
        try:
            read[name], parts = kind.read(name, answers.get(name))
        except UnreadableError as error:
            return Verdict(task.id, Outcome.FAIL, 0.0, task.points, error.why, (error.evidence(name),), error.code)
        broken += parts
    if isinstance(task, Commitment):
        return _committed(task, broken)
    return _measured(assignment, task, read, broken, variant, seeds)


def _committed(task: Commitment, broken: Sequence[Evidence]) -> Verdict:
    """Count the committed predictions."""
    share = 1 - len(broken) / len(task.questions)
    if not broken:
        return Verdict(task.id, Outcome.PASS, task.points, task.points, "every question has a number")
    reason = f"{len(broken)} of {len(task.questions)} questions have no number: {broken[0].why}"
    return Verdict(task.id, Outcome.FAIL, _rounded(share * task.points), task.points, reason, tuple(broken), UNREADABLE)


def _measured(
    assignment: Assignment,
    task: Task,
    read: Mapping[str, Any],
    broken: Sequence[Evidence],
    variant: Variant,
    seeds: Seeds,
) -> Verdict:
    count = int(variant.bounds.get("seeds", task.seeds))
    rows: list[list[Evidence]] = []
    decided: list[Outcome] = []
    later: list[list[Evidence]] = []
    for some, nth in ((count, 0), (2 * count, count)):
        try:
            later = []
            for seed in seeds.draw(task.id, some, nth):
                with at_most_events(task.events):
                    later.append([*task.measure(Asked(read, variant, seed, assignment.bounds, assignment.kinds))])
        except (ProgramError, SeeklabError) as error:
            return _stopped(task, error)
        rows += later
        decided = [_outcome(column) for column in zip(*later, strict=True)]
        undecided = Outcome.CANNOT_TELL in decided
        if not undecided or (Outcome.FAIL in decided and not task.by_parts) or _nothing_to_measure(later):
            break
    columns = list(zip(*rows, strict=True))
    drawn_again = f", after {count} that disagreed" if len(rows) > count else ""
    return _verdict(task, columns, decided, broken, len(later), drawn_again)


def _verdict(
    task: Task,
    columns: Sequence[Sequence[Evidence]],
    decided: Sequence[Outcome],
    broken: Sequence[Evidence],
    count: int,
    drawn_again: str,
) -> Verdict:
    parts = len(decided) + len(broken)
    right = sum(outcome is Outcome.PASS for outcome in decided) - task.guessed
    share = max(0, right) / (parts - task.guessed) if parts > task.guessed else 0.0
    points = task.points * share if task.by_parts else task.points * (share == 1.0)
    failed = [column for column, outcome in zip(columns, decided, strict=True) if outcome is Outcome.FAIL]
    wrong = [*broken, *(next(item for item in reversed(column) if item.met is False) for column in failed)]
    if wrong:
        said = next((item for item in wrong if item.why), wrong[0])
        reason = said.why or f"a bound is broken on every seed{drawn_again}"
        return Verdict(task.id, Outcome.FAIL, _rounded(points), task.points, reason, tuple(wrong), said.code or BROKEN)
    if Outcome.CANNOT_TELL in decided:
        evidence = tuple(item for column in columns for item in column)
        nothing = any(item.measured is None for item in evidence)
        reason = "there is nothing to measure" if nothing else "the seeds disagree, or the numbers are too close"
        return Verdict(task.id, Outcome.CANNOT_TELL, _rounded(points), task.points, reason, evidence, UNDECIDED)
    evidence = tuple(column[-1] for column in columns)
    reason = f"every bound holds on {count} new seed{'s' * (count > 1)}{drawn_again}"
    return Verdict(task.id, Outcome.PASS, _rounded(points), task.points, reason, evidence)


def _rounded(points: float) -> float:
    return round(points, 2)


def _stopped(task: Task, error: ProgramError | SeeklabError) -> Verdict:
    """Return the verdict on work that the engine refuses, or a program that fails."""
    if isinstance(error, SeeklabError):
        code = LIMIT if isinstance(error, LimitExceeded) else REFUSED
        kind = "stopped at a limit" if code == LIMIT else "refused by the engine"
        evidence = tuple(
            Evidence(problem.path, problem.message, "what runs", met=False, code=code) for problem in error.problems
        )
        reason = f"{kind}: {error.problems[0].path} {error.problems[0].message}" if error.problems else kind
    else:
        code = PROGRAM
        reason = f"the program {error}"
        evidence = (Evidence("program", str(error), "an answer", met=False, code=code),)
    return Verdict(task.id, Outcome.FAIL, 0.0, task.points, reason, evidence, code)


def _outcome(column: Iterable[Evidence]) -> Outcome:
    met = {item.met for item in column}
    if met == {True}:
        return Outcome.PASS
    return Outcome.FAIL if met == {False} else Outcome.CANNOT_TELL


def _nothing_to_measure(rows: Iterable[Iterable[Evidence]]) -> bool:
    return any(item.met is None for row in rows for item in row)
