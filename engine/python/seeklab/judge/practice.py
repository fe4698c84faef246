"""Practice: the judge in the learner's notebook, on the practice bank, with hints and predictions.

It uses the grader's `judge`, on seeds drawn at the time of the check. Predictions are committed to `commits.json`
next to the notebook. After the commitment only the learner sees how close the prediction was.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seeklab import _commitments as kept
from seeklab._errors import Problem, SeeklabError
from seeklab._question import distance, is_near
from seeklab.judge._sandbox_child import NotDataError, strict
from seeklab.judge.answers import Code
from seeklab.judge.assignment import (
    HINT_COSTS,
    HINTS,
    Asked,
    Assignment,
    Commitment,
    Seeds,
    Task,
    Variant,
    Verdict,
    judge,
)
from seeklab.judge.evidence import Evidence, Outcome, number
from seeklab.judge.identity import practice_draws, same_name
from seeklab.judge.programs import Live

if TYPE_CHECKING:
    from collections.abc import Mapping

COMMITS = kept.FILE
LOOK_ONLY = "this notebook comes with a ticket: you can observe its system but not change it"
TICKET = "ticket.json"
MAX_FILE = 1 << 20


STOPPED = "Stopped. Your answer was not checked. If your program has a loop, does it end?"


class StoppedError(Exception):
    """The learner stopped a check. A notebook shows the sentence, and no frame of the check, which has the answer."""

    def __init__(self) -> None:
        """Say what happened."""
        super().__init__(STOPPED)

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def fresh_seeds() -> Seeds:
    """Return seeds that cannot be known in advance."""
    return Seeds(os.urandom(32))


def read_beside(name: str) -> Any:
    """Read a small JSON file next to the notebook; return None if there is none."""
    path = Path(name)
    try:
        return json.loads(path.read_text(encoding="utf-8")) if path.stat().st_size <= MAX_FILE else None
    except (OSError, ValueError, RecursionError):
        return None


def ticket_of(learner: object) -> dict[str, Any] | None:
    """Return the ticket next to the notebook if it is this learner's, or None."""
    ticket = read_beside(TICKET)
    return ticket if isinstance(ticket, dict) and same_name(ticket.get("student"), learner) else None


def draws_of(learner: object) -> bytes:
    """Return the 32 bytes that determine a learner's system: from the name, from the ticket, or the argument itself."""
    if isinstance(learner, bytes):
        return learner
    ticket = ticket_of(learner)
    if ticket is None:
        return practice_draws(learner)
    if "draws" not in ticket:
        raise SeeklabError([Problem("LEARNER", LOOK_ONLY)])
    return bytes.fromhex(ticket["draws"])


def handed_text(learner: object, name: str) -> str | None:
    """Return a text of the ticket next to the notebook, such as a tool's output, by its name; None without one."""
    ticket = ticket_of(learner)
    texts = ticket.get("evidence") if ticket else None
    return str(texts[name]) if isinstance(texts, dict) and name in texts else None


@dataclass(frozen=True)
class Practice:
    """An assignment as a learner practices it in a notebook."""

    assignment: Assignment

    def check(self, task: str, learner: object, **answers: object) -> Verdict:
        """Judge one task on the learner's practice system, with new seeds.

        Raises StoppedError if the learner interrupts it; a notebook shows it as a sentence.
        """
        found = self.assignment.task(task)
        kinds = self.assignment.kinds
        given = {
            name: Live(value) if isinstance(kinds.get(name), Code) and callable(value) else value
            for name, value in answers.items()
        }
        try:
            variant = Variant(draws_of(learner))
        except SeeklabError as error:
            evidence = Evidence("LEARNER", None, "your name between quotes", met=False)
            return Verdict(task, Outcome.FAIL, 0.0, found.points, str(error), (evidence,))
        seeds = fresh_seeds()
        try:
            (verdict,) = judge(self.assignment, given, variant, seeds, [task])
        except (KeyboardInterrupt, SystemExit):
            raise StoppedError from None
        if isinstance(found, Commitment):
            self._commit(found, answers.get(found.answer))
            if verdict.passed:
                return replace(verdict, evidence=self._near(found, given[found.answer], variant, seeds))
        return verdict

    def hint(self, task: str, step: int = 1) -> str:
        """Return the first, second or third hint; each costs a twentieth of the task's points."""
        found = self.assignment.task(task)
        if not isinstance(found, Task) or step not in range(1, HINTS + 1):
            message = f"no such hint; tasks have hints 1 to {HINTS}, and predictions have none"
            raise SeeklabError([Problem("hint", message)])
        record(f"hint/{task}/{step}", None)
        return found.hints[step - 1]

    def _commit(self, task: Commitment, predicted: object) -> None:
        given: Mapping[str, Any] = predicted if isinstance(predicted, dict) else {}
        for name in task.questions:
            record(f"{self.assignment.id}/{name}", given.get(name))

    def _near(self, task: Commitment, predicted: Any, variant: Variant, seeds: Seeds) -> tuple[Evidence, ...]:
        (seed,) = seeds.draw(task.id, 1)
        truths = task.near(Asked({}, variant, seed, self.assignment.bounds, self.assignment.kinds))
        return tuple(
            _nearness(name, float(predicted[name]), truth, task.questions[name].unit) for name, truth in truths.items()
        )


def _nearness(what: str, predicted: float, truth: float, unit: str) -> Evidence:
    """Compare a prediction with the truth, for the learner only; it does not affect the points."""
    bound = ", ".join(filter(None, (f"measured {number(truth)}", distance(predicted, truth))))
    return Evidence(what, predicted, bound, met=is_near(predicted, truth), unit=unit, is_prediction=True)


def record(name: str, value: object) -> None:
    """Append a commitment to `commits.json` next to the notebook, once per name; do nothing if it cannot be written."""
    plain = value if isinstance(value, (int, float, str)) and not isinstance(value, bool) else None
    if any((given.id, given.value) == (name, plain) for given in kept.commitments()):
        return
    kept.keep(kept.Commitment(name, plain, skipped=plain is None and not name.startswith("hint/")))


def hints_taken(commits: object, task: str) -> int:
    """Return the number of a task's hints among the commitments that a learner handed in."""
    entries = commits if isinstance(commits, list) else []
    names = {entry.get("id") for entry in entries if isinstance(entry, dict) and isinstance(entry.get("id"), str)}
    return sum(f"hint/{task}/{step}" in names for step in range(1, HINTS + 1))


def less_hints(verdict: Verdict, commits: object) -> Verdict:
    """Return the verdict with the cost of the hints subtracted from its points."""
    taken = hints_taken(commits, verdict.task)
    if not taken or not verdict.points:
        return verdict
    points = round(verdict.points * (1 - HINT_COSTS * taken), 2)
    reason = f"{verdict.reason}; {taken} hint{'s' * (taken > 1)} taken"
    return replace(verdict, points=points, reason=reason)


def committed(assignment: Assignment, answers: Mapping[str, Any], commits: object) -> dict[str, Any]:
    """Add the predictions of `commits.json` to the answers; for each question the first commitment counts."""
    entries = commits if isinstance(commits, list) else []
    first: dict[str, Any] = {}
    for entry in entries:
        if isinstance(entry, dict) and isinstance(entry.get("id"), str) and entry.get("value") is not None:
            with suppress(NotDataError):  # such as NaN, which JSON readers accept, but which is no prediction
                first.setdefault(entry["id"], strict(entry["value"]))
    joined = dict(answers)
    for task in assignment.tasks:
        if isinstance(task, Commitment):
            given = joined.get(task.answer)
            known = {name: first.get(f"{assignment.id}/{name}") for name in task.questions}
            stated = given if isinstance(given, dict) else {}
            if any(value is not None for value in known.values()):
                joined[task.answer] = {**stated, **{name: value for name, value in known.items() if value is not None}}
    return joined
