"""Gates of cells: a cell waits for a question that is not answered, or a task that is neither solved nor skipped.

After an error a kernel drops the cells that are queued, but it runs cells that arrive a moment later. Each cell
therefore checks for itself. A kernel also does not know the order of cells in the notebook. A task therefore closes
nothing before its box is shown. A cell that was open once stays open, so cells above an open task, including the one
with its box, can be run again.
"""

from __future__ import annotations

import linecache
import os
import sys
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

GATES = "SEEKLAB_GATES"
"""The value `open` of this environment variable opens all gates, for authors and for tests."""

OF_QUESTION = "Above is a question: commit to an answer, or skip it."
OF_TURN = "A task is open: replace its dots and run that cell, or press Skip in the box before it."

_shown_turns: set[str] = set()
"""Tasks whose box was shown in this kernel."""

_waiting_turns: dict[str, Callable[[], bool]] = {}
"""Those whose cell was run with its dots, each with a function that says whether it was skipped."""

_opened_cells: set[str] = set()
"""The texts of the cells that have passed their gate once."""


class NotYetError(Exception):
    """The question of a cell is still open. A notebook shows only the sentence, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class Question(Protocol):
    """A question that a cell can wait for."""

    @property
    def is_open(self) -> bool:
        """Whether the reader has neither committed nor skipped."""


def gates_are_open() -> bool:
    """Return whether the environment opens all gates."""
    return os.environ.get(GATES) == "open"


def after(*questions: Question) -> None:
    """Raise NotYetError unless these questions were answered or skipped, and no task above still has its dots."""
    if gates_are_open():
        return
    for name in [name for name, is_skipped in _waiting_turns.items() if is_skipped()]:
        turn_is_done(name)
    cell = _text_of(sys._getframe(1).f_code.co_filename)  # noqa: SLF001 -- the documented way to one's caller
    turn_is_open = bool(_waiting_turns) and cell not in _opened_cells
    waiting = OF_QUESTION if any(question.is_open for question in questions) else OF_TURN if turn_is_open else ""
    if waiting:
        message = f"Not yet. {waiting}\nThen run this cell and those below with Shift+Enter, one after the other."
        raise NotYetError(message)
    _opened_cells.add(cell)


def _text_of(file: str) -> str:
    """Return the text of a cell by its compiled file name, or the name itself if the text is not stored."""
    return "".join(linecache.getlines(file)) or file


def turn_is_shown(name: str) -> None:
    """Record that the reader sees the task, with its hints and the button to skip it."""
    _shown_turns.add(name)


def turn_waits(name: str, is_skipped: Callable[[], bool]) -> bool:
    """Close the cells after this task until it is solved or skipped; return False if its box was not shown yet."""
    if name not in _shown_turns:
        return False
    _waiting_turns[name] = is_skipped
    return True


def turn_is_done(name: str) -> None:
    """Open the cells that waited for this task."""
    _waiting_turns.pop(name, None)
