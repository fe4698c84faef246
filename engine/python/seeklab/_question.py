"""A question that the reader answers before a run does, in a notebook, an exercise or a case."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING, Any

from seeklab.data.format import format_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from seeklab._case import Case

_SHARED: dict[str, Any] = json.loads(resources.files("seeklab").joinpath("question.json").read_text(encoding="utf-8"))

NEAR: float = _SHARED["near"]
"""A number on a logarithmic range counts as right within this factor."""

NEAR_NOTHING = 1.1
"""A ratio of 1 says that nothing changes: only answers within this factor count as right."""

NEAR_POINTS = 10
"""A percentage is right only within this many points as well: 67 is not near 100."""

NEAR_SHARE = 0.1
"""A number on a linear range counts as right within this share of the range."""

WORDS: dict[str, str] = _SHARED["words"]
"""The phrases that compare an answer with the right one, in pages and notebooks."""

BYTES = {"GB": 1e9, "MB": 1e6, "KB": 1e3, "B": 1.0}
"""Units for an answer in bytes: the first whose tenth is not above the low end of the range applies."""

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
    """The choices; without any, the answer is a number."""
    because: Mapping[str, str] = field(default_factory=dict)
    """The reason why each wrong choice is wrong."""
    reveal: str = ""
    """The sentence after the answer, which may contain {answer}."""

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
        """Return sentences that compare an answer with the right one; `given` is None for a skipped question."""
        reveal = self.reveal.replace("{answer}", actual if isinstance(actual, str) else format_number(actual))
        if isinstance(given, str) and given == actual:
            return f"{WORDS['right'].format(answer=given)}. {reveal}".rstrip()
        said = WORDS["skipped"] if given is None else WORDS["said"].format(given=self._with_unit(given))
        off = "" if given is None else distance(given, actual)
        compared = f"{said}: {off}" if off else said
        told = reveal
        if not self.reveal.startswith("{answer}"):
            told = " ".join(filter(None, (f"{self._with_unit(actual)}.", self.because.get(str(given)), reveal)))
        return f"{compared}. {WORDS['gives'].format(answer=told)}"

    def is_near(self, given: Answer, actual: Answer) -> bool:
        """Whether an answer counts as right; how near it must be depends on the kind of question."""
        if isinstance(given, str) or isinstance(actual, str):
            return given == actual
        if self.scale == "linear":
            return abs(given - actual) <= self.tolerance
        ratio_of_one = self.unit == "x" and factor_between(actual, 1) <= NEAR_NOTHING
        near = factor_between(given, actual) <= (NEAR_NOTHING if ratio_of_one else NEAR)
        return near and (self.unit != "%" or abs(given - actual) <= NEAR_POINTS)

    @property
    def tolerance(self) -> float:
        """The distance within which a number on a linear range counts as right."""
        return NEAR_SHARE * (self.high - self.low)

    def _with_unit(self, answer: Answer) -> str:
        if isinstance(answer, str):
            return answer
        return f"{format_number(answer)} {self.unit}".rstrip()


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


def distance(given: Answer, actual: Answer) -> str:
    """Return the distance of an answer as a phrase; an empty text if no factor describes it."""
    if isinstance(given, str) or isinstance(actual, str):
        return ""
    factor = factor_between(given, actual)
    if math.isinf(factor):
        return ""
    told = format_number(factor)
    return WORDS["exactly"] if told == "1" else WORDS["off"].format(factor=told)
