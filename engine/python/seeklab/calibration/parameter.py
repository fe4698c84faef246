"""A parameter of a device, and how well it is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

How = Literal["measured", "sum", "bound", "assumed"]


@dataclass(frozen=True)
class Parameter:
    """A parameter with its value and its origin."""

    name: str
    value: str
    """The value with its unit."""
    how: How
    why: str
    """The job or sum that it comes from, or the source of an assumed value."""

    def __str__(self) -> str:
        """Return the parameter as a line of the evidence."""
        return f"{self.name} {self.value}: {self.how}, {self.why}"


ROUNDING = 1e-9
"""Smaller values are residues of a subtraction."""


def number(value: float) -> str:
    """Return the value with four digits."""
    return "0" if abs(value) < ROUNDING else f"{value:.4g}"


def times(us: float) -> str:
    """Return a time in the syntax of scenarios."""
    return f"{round(us * 1000)}ns"


def rate(bytes_per_us: float) -> str:
    """Return a rate in the syntax of scenarios."""
    return f"{round(bytes_per_us * 1e6)}"
