"""The tasks of the notebooks, one module each."""

from __future__ import annotations

import functools
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from seeklab.course.task import Task, UnconvertedTask


@functools.cache
def tasks() -> Mapping[str, Task | UnconvertedTask]:
    """Return all tasks by name."""
    found: dict[str, Task | UnconvertedTask] = {}
    for module in iter_modules(__path__):
        named = import_module(f"{__name__}.{module.name}").TASKS
        found.update(named if isinstance(named, dict) else {task.id: task for task in named})
    return found
