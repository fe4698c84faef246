"""The assignments: one module for each, named like it, with the system that a learner gets and its tasks.

A module holds no answers: each truth is measured by running systems. `ASSIGNMENT` declares what may be handed in and
how it is measured; `check` and `hint` are for the learner's notebook.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from seeklab._errors import Problem, SeeklabError

if TYPE_CHECKING:
    from seeklab.judge import Assignment

NAMES = (
    "blind-diagnosis",
    "bonnie-decoded",
    "buffer-size",
    "burst-budget",
    "cache-policies",
    "disk-time",
    "hci-taxonomy",
    "honest-percentiles",
    "monitors-lie",
    "odx-prefetch",
    "pool-design",
    "read-ahead",
    "shard-count",
    "shard-map",
    "tune-scheduler",
    "which-throttle",
    "write-throttle",
)
"""The assignments that there are."""


def assignment(name: str) -> Assignment:
    """Give an assignment by its name."""
    if name not in NAMES:
        raise SeeklabError([Problem("assignment", f'"{name}" is none; known: {", ".join(NAMES)}')])
    found: Assignment = import_module(f"seeklab.exercises.{name.replace('-', '_')}").ASSIGNMENT
    return found
