"""A teacher's additions to grades: comments, points, later deadlines; and the pairs of answers that are alike."""

from __future__ import annotations

from collections import defaultdict
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple

from seeklab.judge.catalogue import assignment as find_assignment
from seeklab.judge.likeness import alike

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from seeklab.judge.store import Store

    Grade = Mapping[str, Any]
    Graded = tuple[Grade, Mapping[str, Any]]


class ReviewError(ValueError):
    """A value that cannot be stored: a sentence that follows its field's name, and that name."""

    def __init__(self, message: str, field: str) -> None:
        """Take the sentence and the field's name."""
        super().__init__(f"{field} {message}")
        self.field = field
        self.message = message


class Alike(NamedTuple):
    """Two students whose programs for one answer are alike."""

    assignment: str
    answer: str
    one: str
    other: str
    share: float


def task_of(grade: Grade, name: str) -> Mapping[str, Any]:
    """Return the grade's task; raises ReviewError if it has none of this name."""
    found: dict[str, Mapping[str, Any]] = {task["id"]: task for task in grade["tasks"]}
    if name not in found:
        message = f'is "{name}"; the tasks are {", ".join(found)}'
        raise ReviewError(message, "task")
    return found[name]


def comment(store: Store, grade: Grade, task: str, text: str, author: str) -> None:
    """Store a comment on a task, or with an empty task on the submission."""
    if task:
        task_of(grade, task)
    if not text.strip():
        message = "is empty"
        raise ReviewError(message, "text")
    store.comment(grade["student"], grade["assignment"], task, text.strip(), author)


def check_points(grade: Grade, task: str, points: float, reason: str) -> None:
    """Raise ReviewError unless the task can have these points, and there is a reason."""
    most = task_of(grade, task)["max_score"]
    if not 0 <= points <= most:
        message = f"is {points:g}; {task} has 0 to {most:g} points"
        raise ReviewError(message, "points")
    if not reason.strip():
        message = "is empty; the student reads it next to the points"
        raise ReviewError(message, "reason")


def override(store: Store, grade: Grade, task: str, points: float, reason: str, author: str) -> None:
    """Set a task's points by hand."""
    check_points(grade, task, points, reason)
    store.override(grade["student"], grade["assignment"], task, points, reason.strip(), author)


def extend(store: Store, student: str, assignment: str, until: str, reason: str, author: str) -> None:
    """Record a later deadline."""
    find_assignment(assignment)
    if not reason.strip():
        message = "is empty"
        raise ReviewError(message, "reason")
    try:
        day = date.fromisoformat(until).isoformat()
    except ValueError:
        message = f'is "{until}"; write a date such as 2026-03-20'
        raise ReviewError(message, "until") from None
    store.extend(student, assignment, day, reason.strip(), author)


def pairs(graded: Iterable[Graded], given_code: Callable[[str], str], assignment: str | None = None) -> list[Alike]:
    """Return the pairs of programs to look at, by assignment and answer; `given_code` returns what all have."""
    programs: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for grade, details in graded:
        if assignment in {None, grade["assignment"]}:
            for name, value in details["answers"].items():
                if isinstance(value, str) and "\n" in value:
                    programs[grade["assignment"], name][grade["student"]] = value
    return [
        Alike(of, name, pair.one, pair.other, pair.share)
        for (of, name), texts in sorted(programs.items())
        for pair in alike(texts, given_code(of))
    ]


def is_reviewed(details: Mapping[str, Any], task: str) -> bool:
    """Return whether a task has a comment, or points that were set by hand."""
    return task in {one["task"] for one in details["comments"]} | set(details["overrides"])
