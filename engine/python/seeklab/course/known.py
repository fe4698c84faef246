"""A learner's knowledge and next step: a fold over the commitments in `commits.json`.

Each answer to a practice question moves its concept among six boxes (Leitner). A right answer moves it up, and the
next question comes after 1, 3, 7, 16 or 35 days. A wrong one moves it to box 1, due tomorrow. A right answer with a
confidence below 50% leaves the box as it is.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from importlib import resources
from typing import TYPE_CHECKING, Any

from seeklab._commitments import TURN
from seeklab.inventory.items import ITEMS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from seeklab._commitments import Commitment
    from seeklab.inventory.item import Item, Posed

PRACTICE = "practice"
"""Prefix of the ids of practice questions: `practice/ITEM/DRAW`."""
DAYS = (0, 1, 3, 7, 16, 35)
"""Days until a concept is due, by its box."""
MASTERED = 3
"""A concept in this box or a higher one is mastered."""
SURE = 50
"""A right answer below this confidence, in percent, does not move its concept."""
AGAIN = 2
"""A misconception met this often leads to a worked example."""
QUESTIONS = 3


@dataclass
class Known:
    """One concept."""

    item: Item
    box: int = 0
    due: date | None = None
    """The next date of a question; None before the first one."""
    seen: int = 0
    right: int = 0
    misconceptions: Counter[str] = field(default_factory=Counter)
    help: int = 0
    """Help before the next question: 0 none, 1 the principle, 2 a worked example as well."""

    def take(self, given: Commitment) -> None:
        """Take one answer, in the order of time."""
        day = _day(given.time)
        self.seen += 1
        if given.near:
            self.right += 1
            self.help = max(0, self.help - 1)
            if (given.confidence or 0) >= SURE:
                self.box = min(self.box + 1, len(DAYS) - 1)
        else:
            self.box = 1
            code = posed_of(given.id)[1].misconception_of(str(given.value)) if given.value is not None else ""
            if code:
                self.misconceptions[code] += 1
                if self.misconceptions[code] >= AGAIN:
                    self.help = 2
        self.due = day + timedelta(days=DAYS[max(1, self.box)])


def known(commitments: Iterable[Commitment]) -> dict[str, Known]:
    """Return each concept by its item's name; the first commitment to a question counts."""
    concepts = {item.id: Known(item) for item in ITEMS}
    first: dict[str, Commitment] = {}
    for given in commitments:
        first.setdefault(given.id, given)
    for given in sorted(first.values(), key=lambda one: one.time):
        prefix, _, rest = given.id.partition("/")
        item = rest.partition("/")[0]
        if prefix == PRACTICE and item in concepts and rest.count("/") == 1:
            concepts[item].take(given)
    return concepts


def due(concepts: Mapping[str, Known], today: date, week: int, count: int = QUESTIONS) -> list[Known]:
    """Return the concepts to ask about: those that are due, the oldest first, then unseen ones up to this week."""
    waiting = [one for one in concepts.values() if one.due is not None and one.due <= today]
    waiting.sort(key=lambda one: (one.due, one.box))
    fresh = [one for one in concepts.values() if one.due is None and one.item.week <= week]
    return [*waiting, *fresh][:count]


def question_id(one: Known) -> str:
    """Return the id of the next practice question on a concept, which determines its numbers."""
    return f"{PRACTICE}/{one.item.id}/{one.seen + 1}"


def posed_of(id_: str) -> tuple[Item, Posed]:
    """Return the item and the drawn question of a practice question's id."""
    name = id_.split("/")[1]
    item = next(one for one in ITEMS if one.id == name)
    return item, item.pose(random.Random(id_))


@dataclass(frozen=True)
class Step:
    """A notebook or a part of it, in the order of the course."""

    week: int
    number: str
    file: str
    title: str
    part: str
    minutes: float
    optional: bool
    needs: tuple[str, ...]
    """The numbers of notebooks that come before it."""
    asks: tuple[str, ...]
    """Ids of its questions, and of its tasks with the prefix `turn/`."""

    @property
    def key(self) -> str:
        """The number and the part: a notebook with two parts is two steps."""
        return f"{self.number} {self.part}".rstrip()


def weeks() -> list[dict[str, Any]]:
    """Return the weeks of the course: theme, notebooks with their questions and tasks, the graded exercise."""
    text = resources.files("seeklab.course").joinpath("weeks.json").read_text(encoding="utf-8")
    found: list[dict[str, Any]] = json.loads(text)
    return found


def steps() -> list[Step]:
    """Return the steps of the course's weeks, in order."""
    return [
        Step(week["week"], **{**one, "needs": tuple(one["needs"]), "asks": tuple(one["asks"])})
        for week in weeks()
        for one in week["notebooks"]
    ]


def done(step: Step, commitments: Iterable[Commitment], solved: Iterable[str] = ()) -> float:
    """Return the share of a notebook's questions and tasks with an answer or a skip, from 0 to 1."""
    given = {one.id for one in commitments} | set(solved)
    return sum(ask in given for ask in step.asks) / len(step.asks) if step.asks else 0.0


def next_step(course: Sequence[Step], shares: Mapping[str, float]) -> tuple[Step, str] | None:
    """Return the next notebook and why it comes next; None at the end. `shares` are those that are done, by key.

    A notebook that was begun comes first. Otherwise it is the first that is not optional, not begun, and whose needs
    are done.
    """
    begun = [step for step in course if 0 < shares[step.key] < 1]
    if begun:
        return begun[0], f"you have begun it ({100 * shares[begun[0].key]:.0f}% of its questions)"
    missing = {step.number for step in course if shares[step.key] < 1}
    for step in course:
        if shares[step.key] == 0 and not missing & set(step.needs) and not step.optional:
            after = f" and you have done {', '.join(step.needs)}" if step.needs else ""
            return step, f"it is the next of week {step.week}{after}"
    return None


def solved_tasks(entries: Iterable[Mapping[str, object]]) -> set[str]:
    """Return the ids of the tasks that were solved, from the entries of `commits.json`."""
    return {str(entry["id"]) for entry in entries if entry.get("kind") == TURN and entry.get("ok") is True}


def _day(time: str) -> date:
    try:
        return datetime.fromisoformat(time).astimezone(UTC).date()
    except ValueError:
        return datetime.now(UTC).date()
