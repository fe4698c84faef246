"""What keeps a cell closed: a question that is not answered, or a turn that is neither written nor skipped.

A kernel that meets an error forgets the cells that wait behind it, but those that reach it a moment later it runs. So
each cell looks for itself. A kernel does not know which cells stand above others either. So a turn keeps nothing closed
before its box was shown, and a cell that was open once stays so: cells above a turn that waits can be run again, the
one with its box among them.
"""

from __future__ import annotations

import linecache
import os
import sys
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

GATES = "SEEKLAB_GATES"
"""With the value `open` in the environment nothing waits for a commitment: for authors and for tests."""

OF_QUESTION = "Above is a question: commit to an answer, or skip it."
OF_TURN = "A turn is open: replace its dots and run that cell, or press Skip in the box before it."

_shown_turns: set[str] = set()
"""Turns whose box was shown in this kernel."""

_waiting_turns: dict[str, Callable[[], bool]] = {}
"""Of these, those whose dots were met since, each with what tells whether it was skipped."""

_opened_cells: set[str] = set()
"""The texts of the cells that have gone on once."""


class NotYetError(Exception):
    """A cell whose question is still open. A notebook shows the sentence alone, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class Question(Protocol):
    """What a cell can wait for."""

    @property
    def is_open(self) -> bool:
        """Whether the reader has neither committed nor skipped."""


def gates_are_open() -> bool:
    """Tell whether nothing waits, as the environment says."""
    return os.environ.get(GATES) == "open"


def after(*questions: Question) -> None:
    """Let a cell go on only when these questions were answered or skipped, and no turn above still shows its dots."""
    if gates_are_open():
        return
    for name in [name for name, is_skipped in _waiting_turns.items() if is_skipped()]:
        turn_is_done(name)
    cell = _text_of(sys._getframe(1).f_code.co_filename)  # noqa: SLF001 -- the documented way to one's caller
    turn_is_open = bool(_waiting_turns) and cell not in _opened_cells
    waiting = OF_QUESTION if any(question.is_open for question in questions) else OF_TURN if turn_is_open else ""
    if waiting:
        message = f"Not yet. {waiting}\nThen run this cell and those below (menu Run, Run Selected Cell and All Below)."
        raise NotYetError(message)
    _opened_cells.add(cell)


def _text_of(file: str) -> str:
    """Give the text of a cell by the name under which Python has compiled it; the name itself where no text is kept."""
    return "".join(linecache.getlines(file)) or file


def turn_is_shown(name: str) -> None:
    """Note that the reader sees what is to be written, with its hints and the button to skip."""
    _shown_turns.add(name)


def turn_waits(name: str, is_skipped: Callable[[], bool]) -> bool:
    """Keep the cells behind this turn closed until it is written or skipped; False when its box was not shown yet."""
    if name not in _shown_turns:
        return False
    _waiting_turns[name] = is_skipped
    return True


def turn_is_done(name: str) -> None:
    """Open what waited for this turn."""
    _waiting_turns.pop(name, None)
