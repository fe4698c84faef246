"""A task of a notebook: the question, the check, the hints, the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from seeklab._errors import SeeklabError
from seeklab.judge import Assignment, Code, Evidence, Outcome, Seeds, Variant, Verdict, judge
from seeklab.judge import Task as Judged
from seeklab.judge.mistakes import ANSWER
from seeklab.judge.programs import Live

if TYPE_CHECKING:
    from collections.abc import Callable

    from seeklab.judge import Asked
    from seeklab.judge.answers import Kind

MAX_EVENTS = 10**9
"""Events that the runs of a check may take together: a notebook's reader waits for nobody else."""


@dataclass(frozen=True)
class Task:
    """A few lines to write, which the judge checks on one seed, for no points."""

    id: str
    question: str
    kind: Kind
    """What the answer may be."""
    check: Callable[[Asked], list[Evidence]]
    """Measures the answer."""
    why: str
    """What a right answer shows."""
    hints: tuple[str, str, str]
    answer: str
    """Code that gives a right answer: the value of the last name that it assigns or defines."""
    setup: str = ""
    """Code that makes what the notebook has before this task, as far as the answer needs it."""

    def judge(self, answer: object) -> Verdict:
        """Return the judge's verdict on an answer."""
        task = Judged(self.id, 0, {ANSWER: self.kind}, self.check, self.hints, seeds=1, events=MAX_EVENTS)
        given = Live(answer) if isinstance(self.kind, Code) and callable(answer) else answer
        (verdict,) = judge(Assignment("course", (task,), {}), {ANSWER: given}, Variant(b""), Seeds(b""))
        return verdict


@dataclass(frozen=True)
class UnconvertedTask:
    """A task with a check of its own, until it is a `Task`."""

    question: str
    wants: str
    wrong: Callable[[Any], str | None]
    """Why an answer is wrong, in a sentence; None when it is right."""
    why: str
    hints: tuple[str, str, str]
    answer: str
    setup: str = ""

    def judge(self, answer: object) -> Verdict:
        """Return the sentence of its check as a verdict."""
        try:
            wrong = self.wrong(answer)
        except SeeklabError as error:
            wrong = str(error)
        except Exception as error:  # noqa: BLE001 -- a check looks into values of any kind
            wrong = f"This is not what was asked for: {type(error).__name__}: {error}. Wanted is {self.wants}."
        return Verdict("", Outcome.FAIL if wrong else Outcome.PASS, 0.0, 0.0, wrong or "")
