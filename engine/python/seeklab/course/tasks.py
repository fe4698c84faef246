"""What a learner writes in a notebook: the question, the check, the hints, the answer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from seeklab.course import turns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True)
class Task:
    """A few lines to write."""

    question: str
    wants: str
    """What kind of value is wanted, such as "a whole number of bytes"."""
    wrong: Callable[[Any], str | None]
    """Why an answer is wrong, in a sentence; None when it is right."""
    why: str
    """What a right answer shows."""
    hints: tuple[str, str, str]
    answer: str
    """Code that gives a right answer: the value of the last name that it assigns or defines."""
    setup: str = ""
    """Code that makes what the notebook has before this task, as far as the answer needs it."""


@cache
def tasks() -> Mapping[str, Task]:
    """Give all tasks by name; each module of `turns` has those of one notebook."""
    found: dict[str, Task] = {}
    for module in iter_modules(turns.__path__):
        found.update(import_module(f"{turns.__name__}.{module.name}").TASKS)
    return found
