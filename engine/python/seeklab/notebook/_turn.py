"""The learner's turn: a few lines to write, checked at once, with three hints and then the answer."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import ipywidgets

from seeklab._errors import Problem, SeeklabError
from seeklab.course.tasks import tasks

if TYPE_CHECKING:
    from seeklab.course.tasks import Task


class Checked:
    """What came of a check, as a line in a notebook."""

    def __init__(self, told: str, *, passed: bool) -> None:
        """Take the sentence and whether the answer was right."""
        self.passed = passed
        self._told = told

    def __repr__(self) -> str:
        """Give the sentence."""
        return ("Right. " if self.passed else "Not yet. ") + self._told

    def _repr_markdown_(self) -> str:
        """Give it in Markdown, with a mark before it."""
        return ("**✓ Right.** " if self.passed else "**✗ Not yet.** ") + self._told


def turn(name: str) -> ipywidgets.VBox:
    """Show what is to be written, with a button that gives a hint, three times, and then the answer."""
    task = _task(name)
    given = ipywidgets.HTML()
    button = ipywidgets.Button(description="Hint")
    steps = [*task.hints, f"<pre>{html.escape(task.answer)}</pre>"]
    shown: list[str] = []

    def show(_button: object) -> None:
        shown.append(steps[len(shown)])
        given.value = "".join(f"<p>{step}</p>" for step in shown)
        button.description = "Answer" if len(shown) == len(task.hints) else "Hint"
        button.disabled = len(shown) == len(steps)

    button.on_click(show)
    return ipywidgets.VBox([ipywidgets.HTML(f"<b>Your turn.</b> {html.escape(task.question)}"), button, given])


def check(name: str, answer: Any) -> Checked:  # noqa: ANN401 -- whatever the learner has made
    """Check what was written; wrong answers get the reason that belongs to them, and none ends in a traceback."""
    task = _task(name)
    if answer is ...:
        return Checked("Nothing is there yet: replace the dots above, and run the cell again.", passed=False)
    try:
        wrong = task.wrong(answer)
    except SeeklabError as error:
        wrong = str(error)
    except Exception as error:  # noqa: BLE001 -- a check looks into values of any kind
        wrong = f"This is not what was asked for: {type(error).__name__}: {error}. Wanted is {task.wants}."
    return Checked(wrong or task.why, passed=not wrong)


def _task(name: str) -> Task:
    known = tasks()
    if name not in known:
        raise SeeklabError([Problem("turn", f'"{name}" is not a task; known: {", ".join(sorted(known))}')])
    return known[name]
