"""What keeps a cell closed: a question that is not answered, or a turn that is neither written nor skipped.

A kernel that meets an error forgets the cells that wait behind it, but those that reach it a moment later it runs. So
each cell looks for itself.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

GATES = "SEEKLAB_GATES"
"""With the value `open` in the environment nothing waits for a commitment: for authors and for tests."""

OF_QUESTION = "Above is a question: commit to an answer, or skip it."
OF_TURN = "A turn is open: replace its dots and run that cell, or press Skip in the box before it."

_waiting_turns: dict[str, Callable[[], bool]] = {}
"""Turns whose dots were met in this kernel, each with what tells whether it was skipped since."""


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
    waiting = OF_QUESTION if any(question.is_open for question in questions) else OF_TURN if _waiting_turns else ""
    if waiting:
        message = f"Not yet. {waiting}\nThen run this cell and those below (menu Run, Run Selected Cell and All Below)."
        raise NotYetError(message)


def turn_waits(name: str, is_skipped: Callable[[], bool]) -> None:
    """Keep the cells behind this turn closed until it is written or skipped."""
    _waiting_turns[name] = is_skipped


def turn_is_done(name: str) -> None:
    """Open what waited for this turn."""
    _waiting_turns.pop(name, None)
