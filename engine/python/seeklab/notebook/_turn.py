"""The learner's turn: a few lines to write, checked at once, with three hints and then the answer.

While the cell still has its dots, it waits like one behind a question, until the learner writes or skips the turn.
"""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import ipywidgets

from seeklab._commitments import TURN, Attempt, Commitment, attempts, first_commitment, keep
from seeklab._errors import Problem, SeeklabError
from seeklab.course.tasks import tasks
from seeklab.judge.practice import StoppedError
from seeklab.notebook._gate import fill_places, gates_are_open, turn_is_done, turn_is_shown, turn_waits
from seeklab.notebook._stored import with_data
from seeklab.notebook._tables import CONTROLS, paragraphs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seeklab.course.task import Task


OF_DOTS = "Your turn: replace the dots and run this cell again. The box above has hints, and a button to skip."
OF_BOX = "Your turn comes here: once the box above has opened, replace the dots and run this cell."


_hints_seen: dict[str, int] = {}
"""The number of hints of each task that were shown in this kernel."""


class Checked:
    """The result of a check, as a line in a notebook."""

    def __init__(self, told: str, *, passed: bool | None, code: str = "") -> None:
        """Take the sentence, whether the answer was right (None when there was none), and the code of the mistake."""
        self.passed = passed
        self.code = code
        self._told = told

    def __repr__(self) -> str:
        """Return the sentence."""
        return {True: "Right. ", False: "Not yet. ", None: ""}[self.passed] + self._told

    def _repr_markdown_(self) -> str:
        """Return Markdown that starts with a mark, in a region that a screen reader speaks when it appears.

        An author's run stores it without the region, because a page shows all results at once.
        """
        told = {True: "**✓ Right.** ", False: "**✗ Not yet.** ", None: ""}[self.passed] + self._told
        return told if gates_are_open() else f'<div role="alert">\n\n{told}\n\n</div>'


class Turn(ipywidgets.VBox):  # type: ignore[misc] # ipywidgets has no types
    """The box of a turn. The notebook's file keeps its question and hints."""

    def __init__(self, name: str, task: Task, children: Sequence[ipywidgets.Widget]) -> None:
        """Take the task, and the widgets in the box."""
        super().__init__(children)
        self.add_class(CONTROLS)
        self._name = name
        self._task = task

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return with_data(
            super()._repr_mimebundle_(**options),
            "turn",
            name=self._name,
            question=self._task.question,
            hints=list(self._task.hints),
        )


def turn(name: str) -> Turn:
    """Show the task, with a button for three hints and then the answer."""
    task = _task(name)
    given = ipywidgets.HTML()
    button = ipywidgets.Button(description="Hint", tooltip="Show the next hint, and the answer after the last one")
    answer = f'<pre style="line-height:1.4;margin:0.3em 0">{html.escape(task.answer)}</pre>'
    steps = [*map(paragraphs, task.hints), answer]
    shown: list[str] = []

    def show(_button: object) -> None:
        shown.append(steps[len(shown)])
        _hints_seen[name] = len(shown)
        given.value = f'<div role="alert">{"".join(shown)}</div>'
        button.description = "Answer" if len(shown) == len(task.hints) else "Hint"
        button.disabled = len(shown) == len(steps)

    skipped = ipywidgets.Button(description="Skip", tooltip="Continue without writing it")

    def close() -> None:
        skipped.disabled = True
        skipped.description = "Skipped"

    def skip(_button: object) -> None:
        if not _is_solved(name):
            keep(Commitment(_record(name), None, skipped=True))
        close()
        fill_places()

    if _is_skipped(name):
        close()

    turn_is_shown(name)
    button.on_click(show)
    skipped.on_click(skip)
    words = ipywidgets.HTML(paragraphs(task.question, before="Your turn."))
    return Turn(name, task, [words, ipywidgets.HBox([button, skipped]), given])


def check(name: str, answer: Any) -> Checked:
    """Judge the answer; for a wrong one, return the measured values with their bounds, and the reason.

    An answer that is still dots closes the cells below until it is written or skipped. Each check is recorded in
    `commits.json`. Raises StoppedError if the learner interrupts the check; a notebook shows it as a sentence.
    """
    task = _task(name)
    if answer is ...:
        if _is_skipped(name):
            return Checked("Skipped.", passed=None)
        waits = turn_waits(name, lambda: _is_skipped(name))
        return Checked(OF_DOTS if waits else OF_BOX, passed=None)
    turn_is_done(name)
    try:
        verdict = task.judge(answer)
    except (KeyboardInterrupt, SystemExit):
        raise StoppedError from None
    if not gates_are_open():
        tried = 1 + len(attempts(_record(name)))
        keep(Attempt(_record(name), tried, verdict.passed, verdict.code, _hints_seen.get(name, 0)))
    if verdict.passed:
        return Checked(task.why, passed=True)
    measured = [f"{item}." for item in verdict.evidence if isinstance(item.measured, (int, float))]
    return Checked(" ".join([*measured, verdict.reason]), passed=False, code=verdict.code)


def _record(name: str) -> str:
    return f"{TURN}/{name}"


def _is_skipped(name: str) -> bool:
    return first_commitment(_record(name)) is not None


def _is_solved(name: str) -> bool:
    return any(entry.get("ok") is True for entry in attempts(_record(name)))


def _task(name: str) -> Task:
    known = tasks()
    if name not in known:
        raise SeeklabError([Problem("turn", f'"{name}" is not a task; known: {", ".join(sorted(known))}')])
    return known[name]
