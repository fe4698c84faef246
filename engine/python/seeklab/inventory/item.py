"""An item of the concept inventory: a question with drawn numbers, whose key follows from runs of the simulator.

No item stores its key. `measured` runs the simulator, and the option that the result falls on is the key. Each other
option is the answer to which one misconception leads. `law` is the answer of the concept, written as a formula, so a
test can compare the two. Two forms have the same items with other numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping, Sequence

APART = 1.2
"""Two numbers among the options differ at least by this factor."""
AGREES = 1.2
"""A run and the law agree within this factor."""
DIGITS = 2
"""Significant digits of a number among the options."""


@dataclass(frozen=True)
class Option:
    """One answer to choose."""

    text: str
    misconception: str
    """The code of the misconception that leads to it; empty for the key."""


class Posed(Protocol):
    """An item with drawn numbers."""

    @property
    def stem(self) -> str:
        """The question."""

    @property
    def misconceptions(self) -> list[str]:
        """The codes behind the distractors."""

    def misconception_of(self, text: str) -> str:
        """Return the misconception behind an answer, without a run; empty for the key."""

    def options(self, measured: float) -> list[Option]:
        """Return the options, ordered as learners see them."""

    def faults(self, measured: float) -> list[str]:
        """Return what makes the item unusable, as sentences; empty for a sound item."""

    def measure(self) -> float:
        """Run the simulator."""


@dataclass(frozen=True)
class Numbers:
    """A question with four numbers to choose from, in ascending order."""

    stem: str
    unit: str
    law: float
    """The answer according to the concept, in the unit."""
    measured: Callable[[], float]
    wrong: Mapping[str, float]
    """The number that each misconception leads to."""

    @property
    def misconceptions(self) -> list[str]:
        """The codes behind the distractors."""
        return list(self.wrong)

    def measure(self) -> float:
        """Run the simulator; return the answer in the unit."""
        return self.measured()

    def misconception_of(self, text: str) -> str:
        """Return the misconception behind a number with its unit, as among the options."""
        return next((code for code, value in self.wrong.items() if _with_unit(value, self.unit) == text), "")

    def options(self, measured: float) -> list[Option]:
        """Return the key, which is the run's number, among the distractors."""
        ranked = sorted([(measured, ""), *((value, code) for code, value in self.wrong.items())])
        return [Option(_with_unit(value, self.unit), code) for value, code in ranked]

    def faults(self, measured: float) -> list[str]:
        """Check that the run agrees with the law, and that all numbers differ."""
        found = []
        if not _close(measured, self.law, AGREES):
            found.append(f"the run gives {measured:g} {self.unit}, the concept {self.law:g}")
        named = [("the key", measured), *self.wrong.items()]
        found += [
            f"{one} ({value:g}) is too near to {other} ({beside:g})"
            for nth, (one, value) in enumerate(named)
            for other, beside in named[:nth]
            if _close(value, beside, APART, inclusive=False)
        ]
        return found


@dataclass(frozen=True)
class Range:
    """An answer as text, and the range of results that make it right."""

    text: str
    low: float
    high: float
    """The end of the range, which does not belong to it."""
    misconception: str = ""


@dataclass(frozen=True)
class Words:
    """A question with texts to choose from, each right for a range of results."""

    stem: str
    measured: Callable[[], float]
    ranges: Sequence[Range]

    @property
    def misconceptions(self) -> list[str]:
        """The codes behind the distractors."""
        return [one.misconception for one in self.ranges if one.misconception]

    def measure(self) -> float:
        """Run the simulator; return the result that the ranges divide."""
        return self.measured()

    def misconception_of(self, text: str) -> str:
        """Return the misconception behind an answer's words."""
        return next((one.misconception for one in self.ranges if one.text == text), "")

    def options(self, measured: float) -> list[Option]:
        """Return the answers; the one whose range contains the result is the key."""
        return [Option(one.text, "" if one.low <= measured < one.high else one.misconception) for one in self.ranges]

    def faults(self, measured: float) -> list[str]:
        """Check that the result falls into the range of the concept, and into no other."""
        found = [one.text for one in self.ranges if one.low <= measured < one.high]
        wanted = [one.text for one in self.ranges if not one.misconception]
        texts = {one.text for one in self.ranges}
        problems = [] if found == wanted else [f"the run gives {measured:g}: {found} instead of {wanted}"]
        return problems + (["two answers have the same words"] if len(texts) < len(self.ranges) else [])


@dataclass(frozen=True)
class Item:
    """A concept, and how to ask about it."""

    id: str
    concept: str
    week: int
    pose: Callable[[random.Random], Posed]
    """Draws the numbers. Its documentation is the principle, after "Ask: "."""

    @property
    def principle(self) -> str:
        """The principle that answers the question, in a sentence."""
        return (self.pose.__doc__ or "").partition("Ask: ")[2].strip()


def shown(value: float) -> str:
    """Return a number with two significant digits, without an exponent."""
    if value == 0:
        return "0"
    places = DIGITS - 1 - math.floor(math.log10(abs(value)))
    rounded = round(value, places)
    text = f"{rounded:,.{max(0, places)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _with_unit(value: float, unit: str) -> str:
    return f"{shown(value)}{unit}" if unit == "%" else f"{shown(value)} {unit}".rstrip()


def _close(one: float, other: float, factor: float, *, inclusive: bool = True) -> bool:
    """Return whether two numbers differ by at most a factor (or by less, if not inclusive); 0 is close to 0 only."""
    if one <= 0 or other <= 0:
        return one == other
    apart = max(one / other, other / one)
    return apart <= factor if inclusive else apart < factor * (1 - 1e-9)
