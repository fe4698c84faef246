"""The catalogue of assignments: their names and kinds, and how to load one by its name.

The modules of `seeklab.exercises` import the judge. The judge loads them by name, so it does not import them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from seeklab._errors import Problem, SeeklabError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from seeklab.judge.assignment import Assignment

PREDICT, DIAGNOSE, FIX, POLICY, DESIGN = KINDS = ("predict", "diagnose", "fix", "policy", "design")
"""The kinds of exercises: commit to numbers, name a cause, change a system, write a program, weigh costs."""

ASKS: Mapping[str, tuple[str, ...]] = {
    "battery-planner": (PREDICT, POLICY),
    "blind-diagnosis": (DIAGNOSE,),
    "bonnie-decoded": (PREDICT, DIAGNOSE),
    "buffer-size": (PREDICT, POLICY),
    "burst-budget": (PREDICT, DESIGN),
    "by-heart": (PREDICT, POLICY),
    "cache-policies": (PREDICT, POLICY),
    "combined-size": (PREDICT, DESIGN),
    "commit-policy": (PREDICT, POLICY),
    "context-window": (PREDICT, POLICY),
    "copy-beside-service": (PREDICT, POLICY),
    "copy-way": (PREDICT, POLICY),
    "copyset-placement": (PREDICT, POLICY),
    "dirty-limits": (PREDICT, POLICY),
    "disk-time": (PREDICT, FIX),
    "flash-reserve": (PREDICT, DESIGN),
    "group-length": (PREDICT, FIX),
    "hci-taxonomy": (PREDICT, DIAGNOSE),
    "hedge-budget": (PREDICT, POLICY),
    "honest-data": (PREDICT, FIX),
    "honest-percentiles": (PREDICT, POLICY),
    "incast-admission": (PREDICT, POLICY),
    "log-lane": (PREDICT, FIX),
    "monitors-lie": (PREDICT, DIAGNOSE),
    "odx-prefetch": (PREDICT, DIAGNOSE, FIX),
    "pool-design": (DIAGNOSE, DESIGN),
    "read-ahead": (PREDICT, POLICY),
    "rebuild-order": (PREDICT, POLICY),
    "server-cycles": (PREDICT, FIX),
    "shaken-disks": (PREDICT, DIAGNOSE),
    "shard-count": (PREDICT, DESIGN),
    "shard-map": (PREDICT, POLICY),
    "throttle-sum": (PREDICT, POLICY),
    "tune-scheduler": (PREDICT, FIX),
    "warm-cache": (PREDICT, DESIGN),
    "which-throttle": (PREDICT, DIAGNOSE),
    "write-throttle": (PREDICT, POLICY),
}
"""All assignments, with the kinds of each."""
NAMES = tuple(ASKS)

MECHANISMS: Mapping[str, tuple[str, ...]] = {
    "02-how-a-disk-spends-your-time": ("disk-time",),
    "03-what-a-cache-keeps": ("cache-policies",),
    "13-what-a-flash-drive-does": ("flash-reserve",),
}
"""Notebooks about a mechanism that is not an incident, with their exercises."""


def assignment(name: str) -> Assignment:
    """Return an assignment by its name; raise SeeklabError for an unknown name."""
    if name not in NAMES:
        raise SeeklabError([Problem("assignment", f'"{name}" is unknown; accepted: {", ".join(NAMES)}')])
    found: Assignment = import_module(f"seeklab.exercises.{name.replace('-', '_')}").ASSIGNMENT
    return found
