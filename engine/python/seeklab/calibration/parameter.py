"""A parameter of a device, and how far it is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

How = Literal["measured", "sum", "bound", "assumed"]


@dataclass(frozen=True)
class Parameter:
    """A parameter, its value, and where it comes from."""

    name: str
    value: str
    """With its unit."""
    how: How
    why: str
    """From which job, a sum of what, or where the assumed value is from."""

    def __str__(self) -> str:
        """Write it as a line of the evidence."""
        return f"{self.name} {self.value}: {self.how}, {self.why}"


ROUNDING = 1e-9
"""What is smaller is left over from a subtraction."""


def number(value: float) -> str:
    """Write four digits."""
    return "0" if abs(value) < ROUNDING else f"{value:.4g}"


def times(us: float) -> str:
    """Write a time as scenarios take it."""
    return f"{round(us * 1000)}ns"


def rate(bytes_per_us: float) -> str:
    """Write a rate as scenarios take it."""
    return f"{round(bytes_per_us * 1e6)}"
