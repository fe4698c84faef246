"""A task of a notebook: the question, the check, the hints, the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from seeklab.judge import Assignment, Code, Seeds, Variant, judge
from seeklab.judge import Task as Judged
from seeklab.judge.mistakes import ANSWER
from seeklab.judge.programs import Live

if TYPE_CHECKING:
    from collections.abc import Callable

    from seeklab.judge import Asked, Evidence, Verdict
    from seeklab.judge.answers import Kind

MAX_EVENTS = 10**9
"""Limit of events in all runs of a check, because a notebook's reader waits for it."""


@dataclass(frozen=True)
class Task:
    """A few lines for the learner to write; the judge checks them on one seed, without points."""

    id: str
    question: str
    kind: Kind
    """The accepted kind of answer."""
    check: Callable[[Asked], list[Evidence]]
    """Measures the answer."""
    why: str
    """The insight that a correct answer shows."""
    hints: tuple[str, str, str]
    answer: str
    """Code for a correct answer: the value of the last name that it assigns or defines."""
    setup: str = ""
    """Code that sets up the notebook's names before this task, if the answer needs them."""

    def judge(self, answer: object) -> Verdict:
        """Return the judge's verdict on an answer."""
        task = Judged(self.id, 0, {ANSWER: self.kind}, self.check, self.hints, seeds=1, events=MAX_EVENTS)
        given = Live(answer) if isinstance(self.kind, Code) and callable(answer) else answer
        (verdict,) = judge(Assignment("course", (task,), {}), {ANSWER: given}, Variant(b""), Seeds(b""))
        return verdict
