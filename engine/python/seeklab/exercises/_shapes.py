"""Shared parts of the exercises, and two shapes: a rule for any system, and settings that must also work elsewhere.

Both shapes draw a system for each learner from the name. The judge then tries the same work on systems drawn from the
seed, one of each kind that needs a different answer. A constant that fits only the learner's system fails there.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from seeklab.judge import Asked, Assignment, Commitment, Evidence, Mistake, Practice, Settings, Task, draws_of, number
from seeklab.judge.answers import Code, Number, UnreadableError
from seeklab.judge.assignment import MAX_EVENTS
from seeklab.judge.printable import sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from seeklab._question import Question
    from seeklab.judge import Choice, Fields, Verdict

    Kind = Number | Choice | Fields


class Exercise(NamedTuple):
    """An assignment with the functions that a learner's notebook calls."""

    assignment: Assignment
    check: Callable[..., Verdict]
    hint: Callable[..., str]


def exercise(
    name: str,
    *tasks: Task | Commitment,
    bounds: Mapping[str, float] | None = None,
    cells: Mapping[str, str] | None = None,
    blind: Callable[[bytes], dict[str, str]] | None = None,
) -> Exercise:
    """Declare an assignment; an answer's cell has the answer's name unless `cells` maps it to another."""
    places = {answer: answer for task in tasks for answer in task.takes} | dict(cells or {})
    practice = Practice(Assignment(name, tasks, places, bounds or {}, blind))
    return Exercise(practice.assignment, practice.check, practice.hint)


@dataclass(frozen=True)
class System:
    """A drawn system: its numbers by name, and a sentence that states them."""

    known: Mapping[str, float]
    told: str

    def __getitem__(self, name: str) -> float:
        """Return one of its numbers."""
        return self.known[name]

    def __str__(self) -> str:
        """Return the sentence."""
        return self.told


@dataclass(frozen=True)
class Shape:
    """An exercise of one of the two shapes."""

    id: str
    what: str
    """The noun for a learner's system, such as `server`."""
    kinds: Mapping[str, Callable[[random.Random], System]]
    """Draws a system of each kind."""
    questions: Mapping[str, Question]
    near: Callable[[System, int], Mapping[str, float]]
    """Measures the answer to each question, in its unit."""
    judge: Callable[[System, Any, int], list[Evidence]]
    """Measures an answer on a system with a seed: always `parts` bounds, in the same order."""
    parts: int
    hints: tuple[str, str, str]
    gives: Kind | None = None
    """The kind of value that a rule must return."""
    fix: Settings | None = None
    """The allowed settings, if the exercise asks for settings."""
    seeds: int = 2
    events: int = MAX_EVENTS

    def own(self, learner: object) -> System:
        """Return the learner's own system."""
        draws = draws_of(learner)
        kind = list(self.kinds.values())[draws[0] % len(self.kinds)]
        return kind(source_from(bytes(draws)))

    def briefing(self, learner: object) -> str:
        """Describe the learner's system."""
        return f"The {self.what} of {learner}: {self.own(learner)}."

    @property
    def answer(self) -> str:
        """Return the name of the answer: `rule` or `fix`."""
        return "rule" if self.fix is None else "fix"

    def exercise(self) -> Exercise:
        """Declare it."""
        takes = {self.answer: Code(("system",)) if self.fix is None else self.fix}
        return exercise(
            self.id,
            Commitment(
                "check-prediction",
                2,
                "prediction",
                self.questions,
                lambda asked: self.near(self.own(asked.draws), asked.seed),
            ),
            Task("check-own", 2, takes, self._on_own, self.hints, seeds=1, events=self.events),
            Task("check-elsewhere", 5, takes, self._elsewhere, self.hints, seeds=self.seeds, events=self.events),
        )

    def _on_own(self, asked: Asked) -> Iterator[Evidence]:
        return self._judged(asked, [self.own(asked.draws)])

    def _elsewhere(self, asked: Asked) -> Iterator[Evidence]:
        source = source_from(asked.seed)
        return self._judged(asked, [draw(source) for draw in self.kinds.values()])

    def _judged(self, asked: Asked, systems: list[System]) -> Iterator[Evidence]:
        """Judge one system after the other; a caller that needs only the points can stop at a broken bound."""
        if self.fix is not None:
            fix = asked.answers["fix"]
            yield from (_on(one, item) for one in systems for item in self.judge(one, fix, asked.seed))
            return
        with asked.play("rule") as rule:
            given = [(one, rule(dict(one.known))) for one in systems]
        yield from (_on(one, item) for one, answer in given for item in self._ruled(one, answer, asked.seed))

    def _ruled(self, on: System, answer: object, seed: int) -> list[Evidence]:
        """Judge the return value of a rule for one system, if it is valid."""
        value, broken = returned(self.gives, answer, on, self.parts)
        return broken or self.judge(on, value, seed)


def _on(system: System, item: Evidence) -> Evidence:
    """Move the system out of the name of each number, so that a verdict states it once."""
    told = sentence(str(system))
    return replace(item, what=item.what.replace(f", {told}", "").replace(told, "the answer"), on=told)


def named(**sentences: str) -> dict[str, Mistake]:
    """Turn sentences into mistakes; an underscore in a name becomes a hyphen in the code."""
    codes = {name: name.replace("_", "-") for name in sentences}
    return {codes[name]: Mistake(codes[name], why) for name, why in sentences.items()}


def source_from(seed: int | bytes) -> random.Random:
    """Return random numbers for a system or a load."""
    return random.Random(seed)


def returned(kind: Any, answer: object, on: object, parts: int) -> tuple[Any, list[Evidence]]:
    """Read the return value of a learner's function: the value, or one broken bound for each part that needs it."""
    try:
        value, broken = kind.read("the function", answer)
    except UnreadableError as error:
        return None, [error.evidence(str(on))] * parts
    return value, broken[:1] * parts


def at_most(what: str, measured: float, most: float, unit: str, seed: int, why: Mistake) -> Evidence:
    """Compare a number with an upper bound."""
    return Evidence(what, measured, f"<= {number(most)}", measured <= most, unit, seed).because(why)


def at_least(what: str, measured: float, least: float, unit: str, seed: int, why: Mistake) -> Evidence:
    """Compare a number with a lower bound."""
    return Evidence(what, measured, f">= {number(least)}", measured >= least, unit, seed).because(why)
