"""The tasks of the notebooks, one module each."""

from __future__ import annotations

import functools
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from seeklab.course.task import Task


@functools.cache
def tasks() -> Mapping[str, Task]:
    """Return all tasks by name."""
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    return {task.id: task for module in modules for task in module.TASKS}
