"""A question that the reader answers before a run does, in a notebook, an exercise or a case."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from seeklab.data.format import format_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from seeklab._case import Case

NEAR = 1.5
"""A number counts as right within this factor."""

BYTES = {"GB": 1e9, "MB": 1e6, "KB": 1e3, "B": 1.0}
"""Units for an answer in bytes: the largest of which the low end of the range is at least a tenth."""

Answer = float | str


@dataclass(frozen=True)
class Question:
    """A number or a choice to predict."""

    text: str
    low: float = 0.0
    high: float = 100.0
    scale: str = "linear"
    """The scale of the range: linear or log."""
    unit: str = ""
    unit_size: float = 1.0
    """The size of the unit: a measured number is divided by it."""
    choices: Sequence[str] = ()
    """What may be chosen; without any, the answer is a number."""
    because: Mapping[str, str] = field(default_factory=dict)
    """Why a choice is wrong, by choice."""
    reveal: str = ""
    """The sentence after the answer, which may hold {answer}."""

    def __str__(self) -> str:
        """Return the text."""
        return self.text

    @classmethod
    def of_case(cls, case: Case) -> Question:
        """Return a case's own question."""
        ask = case.document["ask"]
        unit, size = ask["unit"], 1.0
        if unit == "B":
            unit, size = next(((name, size) for name, size in BYTES.items() if ask["min"] >= size / 10), (unit, size))
        return cls(
            ask["question"],
            ask["min"] / size,
            ask["max"] / size,
            ask["scale"],
            unit,
            size,
            reveal=ask["reveal"],
        )

    def compare(self, given: Answer | None, actual: Answer) -> str:
        """Return an answer beside the right one, in sentences; None for a question that was skipped."""
        right = actual if isinstance(actual, str) else format_number(actual)
        reveal = self.reveal.replace("{answer}", right)
        if isinstance(given, str) or isinstance(actual, str):
            return f"{self._compare_choice(given, right)} {reveal}".strip()
        unit = f" {self.unit}" if self.unit else ""
        you_said = "Skipped" if given is None else f"You said {format_number(given)}{unit}"
        off = "" if given is None else distance(given, actual)
        off = f": {off}" if off else ""
        if self.reveal.startswith("{answer}"):
            return f"{you_said}{off}. The run gives {reveal}"
        if given is None:
            return f"{you_said}. The run gives {right}{unit}. {reveal}".strip()
        return f"{you_said}; the run gives {right}{unit}{off}. {reveal}".strip()

    def _compare_choice(self, given: Answer | None, right: str) -> str:
        if given is None:
            return f"Skipped. The run gives {right}."
        if given == right:
            return f"Right: {right}."
        return f"You said {given}; the run shows {right}. {self.because.get(str(given), '')}".rstrip()


def factor_between(value: float, actual: float) -> float:
    """Return how many times one number is larger than the other."""
    if value == actual:
        return 1.0
    if value <= 0 or actual <= 0:
        return math.inf
    return max(value / actual, actual / value)


def is_near(given: Answer, actual: Answer) -> bool:
    """Whether an answer counts as right."""
    if isinstance(given, str) or isinstance(actual, str):
        return given == actual
    return factor_between(given, actual) <= NEAR


def distance(given: float, actual: float) -> str:
    """Return how far a number is off, in words; nothing if no factor says it."""
    factor = factor_between(given, actual)
    if math.isinf(factor):
        return ""
    told = format_number(factor)
    return "exactly" if told == "1" else f"off by a factor {told}"
