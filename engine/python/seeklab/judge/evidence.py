"""A judge's evidence: measured numbers with their bounds, and the reason for each broken bound."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from seeklab._case import case
from seeklab._errors import Problem, SeeklabError
from seeklab.data.format import format_number
from seeklab.judge.printable import sentence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from seeklab._result import Result
    from seeklab.judge.mistakes import Mistake


class Outcome(Enum):
    """The outcome of a check."""

    PASS = "pass"  # noqa: S105 -- no password
    FAIL = "fail"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True)
class Evidence:
    """One measured number with its bound."""

    what: str
    """The measured quantity: a description, or a metric's name."""
    measured: float | str | None
    """The measured value: a finite number, or a word; None when there was nothing to measure."""
    bound: str
    """The demand, with its number."""
    met: bool | None
    """Whether the bound holds; None when this is undecided."""
    unit: str = ""
    seed: int | None = None
    """The seed of the measured run."""
    why: str = ""
    """The learner's error, if the bound is broken in this way."""
    code: str = ""
    """The name of the mistake, or of another reason."""
    on: str = ""
    """The measured system, which a verdict states once for all its numbers."""
    is_prediction: bool = False
    """Whether the measured value is a prediction; it can be far from the truth, but it breaks no bound."""

    def __post_init__(self) -> None:
        """Clean the texts, because learners write some of them; a number that is not finite becomes a word."""
        for name in ("what", "bound", "unit", "why", "on"):
            object.__setattr__(self, name, sentence(getattr(self, name)))
        found = self.measured
        if isinstance(found, float) and not math.isfinite(found):
            found = None if math.isnan(found) else number(found)
        object.__setattr__(self, "measured", sentence(found) if isinstance(found, str) else found)

    def __str__(self) -> str:
        """Return one line: quantity, value and bound, without the seed, because work could be fitted to it."""
        found = "nothing to measure" if self.measured is None else number(self.measured)
        unit = f" {self.unit}" if self.unit and self.measured is not None else ""
        if self.is_prediction:
            return f"{self.what}: predicted {found}{unit}, {self.bound}: {'near' if self.met else 'far'}"
        mark = {True: "met", False: "broken", None: "undecided"}[self.met]
        return f"{self.what}: {found}{unit}; bound {self.bound}: {mark}"

    def because(self, why: str | Mistake) -> Evidence:
        """Return the same with a reason, and with its code if it is a named mistake."""
        return replace(self, why=why) if isinstance(why, str) else replace(self, why=why.why, code=why.code)


@dataclass(frozen=True)
class Bound:
    """A demand on one metric of a run.

    The limits are plain numbers, or multiples of the same metric in a reference variant with the same seed. A bound
    with `at_most=1.1, of="fixed"` allows ten percent more than the variant `fixed` has.
    """

    metric: str
    at_least: float | None = None
    at_most: float | None = None
    of: str | None = None
    """The reference variant whose metric multiplies the limits."""
    why: str | Mistake = ""
    """The mistake of a change that breaks this bound."""

    def __str__(self) -> str:
        """Return the demand, for use before any measurement."""
        limits = (("at least", self.at_least), ("at most", self.at_most))
        reference = "" if self.of is None else f" times the value of the variant {self.of}"
        told = " and ".join(f"{words} {number(limit)}" for words, limit in limits if limit is not None)
        return f"{self.metric}: {told}{reference}"

    @classmethod
    def from_fact(cls, case_id: str, fact_id: str, metric: str) -> Bound:
        """Return the bound of `metric` that is the documented value or range of one of the case's facts."""
        documented = next((fact["documented"] for fact in case(case_id).facts if fact["id"] == fact_id), None)
        if documented is None:
            known = ", ".join(fact["id"] for fact in case(case_id).facts)
            message = f'"{fact_id}" is not a fact of {case_id}; known: {known}'
            raise SeeklabError([Problem("fact", message)])
        low, high = documented if isinstance(documented, list) else (None, documented)
        return cls(metric, at_least=low, at_most=high)

    def check(self, result: Result, reference: Result | None) -> Evidence:
        """Measure this bound in one run."""
        factor = 1.0
        source = ""
        if self.of is not None:
            measured = reference.metrics.get(self.metric) if reference is not None else None
            if measured is None:
                bound = f"relative to {self.of}, which has no such metric"
                return Evidence(self.metric, None, bound, None, seed=result.seed)
            factor = measured
            source = f" ({self.of} has {number(factor)})"
        low = None if self.at_least is None else self.at_least * factor
        high = None if self.at_most is None else self.at_most * factor
        parts = [f">= {number(low)}"] if low is not None else []
        parts += [f"<= {number(high)}"] if high is not None else []
        text = " and ".join(parts) + source
        unit = result.units.get(self.metric, "")
        found = result.metrics.get(self.metric)
        if found is None or math.isnan(found):
            return Evidence(self.metric, None, text, None, unit, result.seed)
        met = (low is None or found >= low) and (high is None or found <= high)
        return Evidence(self.metric, found, text, met, unit, result.seed).because(self.why)


def near(
    what: str,
    given: float,
    truth: float,
    *,
    within_percent: float = 0.0,
    unit: str = "",
    seed: int | None = None,
    told: str = "",
    why: str | Mistake = "",
) -> Evidence:
    """Compare a number with the true one; `told` replaces the truth in the text when it must stay hidden."""
    allowed = abs(truth) * within_percent / 100
    exact = f" +-{number(within_percent)}%" if within_percent else " exactly"
    bound = told or f"{number(truth)}{exact}"
    return Evidence(what, given, bound, abs(given - truth) <= allowed, unit, seed).because(why)


def largest(
    what: str,
    choice: str,
    measured: Mapping[str, float],
    *,
    margin_percent: float = 5.0,
    unit: str = "",
    seed: int | None = None,
    why: str | Mistake = "",
) -> Evidence:
    """Compare a choice with the alternatives: it must have the largest value; a near tie is undecided."""
    found = measured[choice]
    rival = max(value for name, value in measured.items() if name != choice)
    close = abs(found - rival) <= margin_percent / 100 * max(abs(found), abs(rival))
    bound = f">= {number(rival)}, the largest of the others"
    return Evidence(f"{what} {choice}", found, bound, None if close else found > rival, unit, seed).because(why)


def number(value: float | str) -> str:
    """Return a number with four digits, or a word unchanged."""
    return value if isinstance(value, str) else format_number(value, 4, missing="none")
