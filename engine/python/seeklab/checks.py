"""Verdicts on a learner's work: pass, fail or cannot tell, always with what was measured and the bound it met or broke.

Nothing here knows an answer. Work is judged by what it does: the engine runs it on seeds drawn at the moment of the
check, and bounds come from the case's documented facts or from a reference variant run on those same seeds. So a value
that was copied, or tuned to one seed, is judged like any other.

A check passes when every seed meets every bound and fails when every seed breaks one. When the seeds disagree, twice as
many are drawn, and those decide; when they disagree too, the answer is "cannot tell", with all the numbers.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from seeklab._case import Case, case
from seeklab._errors import LimitExceeded, Problem, SeeklabError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from seeklab._result import Result

SEEDS = 3
"""Fresh seeds of a check; twice as many more are drawn when these disagree."""

MANY = 2**53
"""Seeds are whole numbers below this."""


class Outcome(Enum):
    """What a check found."""

    PASS = "pass"  # noqa: S105 -- a verdict, not a password
    FAIL = "fail"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True)
class Evidence:
    """One measured number beside its bound."""

    what: str
    """What was measured, in words or as a metric's name."""
    measured: float | str | None
    """What was found; None when there was nothing to measure."""
    bound: str
    """What was demanded, with its number."""
    met: bool | None
    """Whether the bound holds; None when it cannot be told."""
    unit: str = ""
    seed: int | None = None
    """The seed of the run it was measured in."""

    def __str__(self) -> str:
        """One line: what, how much, against which bound, in which run."""
        found = "nothing to measure" if self.measured is None else _number(self.measured)
        unit = f" {self.unit}" if self.unit and self.measured is not None else ""
        mark = {True: "met", False: "broken", None: "undecided"}[self.met]
        run = "" if self.seed is None else f" (seed {self.seed})"
        return f"{self.what}: {found}{unit}; bound {self.bound}: {mark}{run}"


class CannotTellError(AssertionError):
    """A check that could not decide. It does not count as passed, and says so in other words than a failure."""


@dataclass(frozen=True)
class Verdict:
    """The outcome of a check, with its evidence."""

    outcome: Outcome
    evidence: tuple[Evidence, ...] = ()
    reason: str = ""
    """Why the outcome is what it is, when the evidence does not say it."""
    score: float = field(default=0.0)
    """Points from 0 to 1: 1 for a pass, a part of it for a near prediction, 0 otherwise."""

    @property
    def passed(self) -> bool:
        """Whether the work passed."""
        return self.outcome is Outcome.PASS

    def require(self) -> None:
        """Raise an AssertionError with the evidence on a fail, and a CannotTellError when it cannot tell."""
        if self.outcome is Outcome.FAIL:
            raise AssertionError(str(self))
        if self.outcome is Outcome.CANNOT_TELL:
            raise CannotTellError(str(self))

    def __str__(self) -> str:
        """Tell the outcome, the reason, and every number behind it."""
        lines = [f"{self.outcome.value}: {self.reason}" if self.reason else self.outcome.value]
        lines += [f"  {item}" for item in self.evidence]
        return "\n".join(lines)

    def _repr_markdown_(self) -> str:
        """Show the same in a notebook."""
        lines = [f"**{self.outcome.value}** {self.reason}".rstrip()]
        lines += [f"- {item}" for item in self.evidence]
        return "\n".join([lines[0], "", *lines[1:]])


@dataclass(frozen=True)
class Bound:
    """A demand on one metric of a run.

    The limits are plain numbers, or shares of the same metric in a reference variant that is run on the same seed: a
    bound with `at_most=1.1, of="fixed"` allows ten percent more than the variant `fixed` has.
    """

    metric: str
    at_least: float | None = None
    at_most: float | None = None
    of: str | None = None
    """The reference variant whose metric multiplies the limits."""

    def __str__(self) -> str:
        """Say the demand, before anything is measured."""
        limits = (("at least", self.at_least), ("at most", self.at_most))
        reference = "" if self.of is None else f" times that of the variant {self.of}"
        told = " and ".join(f"{words} {_number(limit)}" for words, limit in limits if limit is not None)
        return f"{self.metric}: {told}{reference}"

    @classmethod
    def from_fact(cls, case_id: str, fact_id: str, metric: str) -> Bound:
        """Demand of `metric` the documented value or range of one of the case's facts."""
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
            source = f" ({self.of} has {_number(factor)})"
        low = None if self.at_least is None else self.at_least * factor
        high = None if self.at_most is None else self.at_most * factor
        parts = [f">= {_number(low)}"] if low is not None else []
        parts += [f"<= {_number(high)}"] if high is not None else []
        text = " and ".join(parts) + source
        unit = result.units.get(self.metric, "")
        found = result.metrics.get(self.metric)
        if found is None or math.isnan(found):
            return Evidence(self.metric, None, text, None, unit, result.seed)
        met = (low is None or found >= low) and (high is None or found <= high)
        return Evidence(self.metric, found, text, met, unit, result.seed)


def fresh_seeds(count: int) -> list[int]:
    """Seeds that nobody can know in advance."""
    source = random.SystemRandom()
    return [source.randrange(1, MANY) for _ in range(count)]


def judge_fix(  # noqa: PLR0913 -- each keyword is one part of the task
    system: str | Case,
    learner_set: Mapping[str, object],
    bounds: Sequence[Bound],
    *,
    variant: str | None = None,
    may_set: Collection[str] | None = None,
    seeds: int = SEEDS,
) -> Verdict:
    """Judge a change of configuration: apply it to a variant and measure every bound on fresh seeds.

    `system` is a case's name, or a case with changes of its own, which the reference variants of the bounds have too.
    `may_set` lists the paths that the task allows to change; a change elsewhere fails, with its path.
    """
    if not isinstance(learner_set, dict) or not learner_set:
        return _fail("changes", "nothing", "at least one changed path, as a dictionary of path and value")
    if may_set is not None:
        outside = [path for path in learner_set if path not in may_set]
        if outside:
            return _fail("changed path", outside[0], f"one of {', '.join(sorted(may_set))}")
    base = system if isinstance(system, Case) else case(system)
    try:
        changed = base.with_(learner_set)
        changed.scenario(variant)
    except SeeklabError as error:
        return refused(error)

    def measure(seed: int) -> list[Evidence]:
        references = {name: base.run(name, seed=seed) for name in {bound.of for bound in bounds} if name}
        result = changed.run(variant, seed=seed)
        return [bound.check(result, references.get(bound.of or "")) for bound in bounds]

    return judge_on_fresh_seeds(measure, seeds)


def judge_check(
    check: Callable[[Result], object],
    case_id: str,
    *,
    accept: Iterable[str | Case],
    reject: Iterable[str | Case],
    seeds: int = SEEDS,
) -> Verdict:
    """Judge a test that a learner wrote: it must accept the runs of some variants and reject those of others.

    `check` takes a result and returns whether it is healthy. Variants are names, or cases with changes of their own.
    """
    cases = [*((True, item) for item in accept), *((False, item) for item in reject)]

    def measure(seed: int) -> list[Evidence]:
        found = []
        for wanted, item in cases:
            result = item.run(seed=seed) if isinstance(item, Case) else case(case_id).run(item, seed=seed)
            changes = f" with {dict(item.changes)}" if isinstance(item, Case) and item.changes else ""
            label = f"check of {result.variant}{changes}"
            try:
                answer = check(result)
            except Exception as error:  # noqa: BLE001 -- a learner's code may raise anything
                found.append(Evidence(label, told(error), "True or False", met=False, seed=seed))
                continue
            if not isinstance(answer, bool) and answer not in (0, 1):
                found.append(Evidence(label, repr(answer), "True or False", met=False, seed=seed))
                continue
            words = {True: "accepted", False: "rejected"}
            found.append(Evidence(label, words[bool(answer)], words[wanted], bool(answer) is wanted, seed=seed))
        return found

    return judge_on_fresh_seeds(measure, seeds)


def judge_prediction(  # noqa: PLR0913 -- each keyword is one part of the task
    value: object,
    measure: float | Callable[[int], float],
    *,
    within_factor: float = 2.0,
    full_within_factor: float = 1.0,
    what: str = "prediction",
    unit: str = "",
) -> Verdict:
    """Judge a predicted number by its distance, as a factor, from what is measured.

    `measure` is the measured number, or a function that measures it for a seed, which is drawn fresh. The score is 1
    within `full_within_factor` and falls to 0 at twice the allowed distance.
    """
    number = as_number(value)
    if number is None:
        return Verdict(
            Outcome.CANNOT_TELL,
            (Evidence(what, None if value is None else repr(value), "a number", None),),
            "no prediction to judge; commit to a number first",
        )
    actual = measure(fresh_seeds(1)[0]) if callable(measure) else measure
    factor = _factor_between(number, actual)
    evidence = Evidence(
        what,
        number,
        f"within a factor {_number(within_factor)} of the measured {_number(actual)}",
        factor <= within_factor,
        unit,
    )
    full, none = math.log(full_within_factor), 2 * math.log(within_factor)
    distance = math.log(factor) if math.isfinite(factor) else math.inf
    score = 1.0 if distance <= full else max(0.0, 1.0 - (distance - full) / (none - full)) if none > full else 0.0
    reason = f"off by a factor {_number(factor)}"
    return Verdict(Outcome.PASS if factor <= within_factor else Outcome.FAIL, (evidence,), reason, score)


def judge_number(  # noqa: PLR0913 -- each keyword is one part of the task
    value: object,
    measure: float | Callable[[Result], float],
    *,
    what: str,
    case_id: str | None = None,
    variant: str | None = None,
    within_percent: float = 0.0,
    unit: str = "",
) -> Verdict:
    """Judge a number that a learner read off tool output, against the engine's own.

    `measure` is the number, or takes it from the result of `case_id` and `variant` run on a fresh seed.
    """
    number = as_number(value)
    if number is None:
        evidence = Evidence(what, None, "a number", None, unit)
        return Verdict(Outcome.CANNOT_TELL, (evidence,), "no number to judge; fill in the answer")
    seed = None
    if callable(measure):
        if case_id is None:
            message = "judge_number needs case_id when the number is taken from a run"
            raise TypeError(message)
        seed = fresh_seeds(1)[0]
        actual = measure(case(case_id).run(variant, seed=seed))
    else:
        actual = measure
    allowed = abs(actual) * within_percent / 100
    bound = f"{_number(actual)}" + (f" +-{_number(within_percent)} %" if within_percent else " exactly")
    met = abs(number - actual) <= allowed
    evidence = Evidence(what, number, bound, met, unit, seed)
    return Verdict(Outcome.PASS if met else Outcome.FAIL, (evidence,), score=float(met))


def judge_choice(  # noqa: PLR0913 -- each keyword is one part of the task
    choice: object,
    measured: Mapping[str, float] | Callable[[Result], Mapping[str, float]],
    *,
    what: str,
    case_id: str | None = None,
    variant: str | None = None,
    margin_percent: float = 5.0,
    unit: str = "",
) -> Verdict:
    """Judge a choice among named things by which of them measures most; a tie within the margin cannot be told."""
    seed = None
    if callable(measured):
        if case_id is None:
            message = "judge_choice needs case_id when the numbers are taken from a run"
            raise TypeError(message)
        seed = fresh_seeds(1)[0]
        measured = measured(case(case_id).run(variant, seed=seed))
    if not isinstance(choice, str) or choice not in measured:
        known = ", ".join(measured)
        return Verdict(
            Outcome.CANNOT_TELL,
            (Evidence(what, None if choice is None else repr(choice), f"one of {known}", None, seed=seed),),
            "no choice to judge",
        )
    found = measured[choice]
    largest = max(value for name, value in measured.items() if name != choice)
    bound = f">= {_number(largest)}, the largest of the others"
    evidence = (Evidence(f"{what} {choice}", found, bound, found >= largest, unit, seed),)
    if abs(found - largest) <= margin_percent / 100 * max(abs(found), abs(largest)):
        reason = f"too close: within {_number(margin_percent)} % of each other"
        return Verdict(Outcome.CANNOT_TELL, evidence, reason)
    met = found > largest
    return Verdict(Outcome.PASS if met else Outcome.FAIL, evidence, score=float(met))


def combine(verdicts: Iterable[Verdict]) -> Verdict:
    """Several checks as one: it fails when one fails, cannot tell when one cannot, and passes when all pass."""
    parts = list(verdicts)
    evidence = tuple(item for part in parts for item in part.evidence)
    reason = "; ".join(part.reason for part in parts if part.reason)
    outcomes = {part.outcome for part in parts}
    outcome = next((worst for worst in (Outcome.FAIL, Outcome.CANNOT_TELL) if worst in outcomes), Outcome.PASS)
    score = sum(part.score for part in parts) / len(parts) if parts else 1.0
    return Verdict(outcome, evidence, reason, score)


def judge_on_fresh_seeds(measure: Callable[[int], list[Evidence]], seeds: int) -> Verdict:
    """Measure on fresh seeds; when they disagree, twice as many others decide."""
    draws: list[list[list[Evidence]]] = []
    for count in (seeds, 2 * seeds):
        try:
            draws.append([measure(seed) for seed in fresh_seeds(count)])
        except LimitExceeded as error:
            return refused(error)
        outcomes = [_outcome(column) for column in zip(*draws[-1], strict=True)]
        if Outcome.CANNOT_TELL not in outcomes or Outcome.FAIL in outcomes or _nothing_to_measure(draws[-1]):
            break
    rows = [row for draw in draws for row in draw]
    evidence = tuple(item for column in zip(*rows, strict=True) for item in column)
    earlier = f", after {seeds} that disagreed" if len(draws) > 1 else ""
    if Outcome.FAIL in outcomes:
        broken = tuple(item for item in evidence if item.met is False)
        return Verdict(Outcome.FAIL, broken, f"a bound is broken on every seed{earlier}")
    if Outcome.CANNOT_TELL in outcomes:
        reason = "there is nothing to measure" if _nothing_to_measure(rows) else "the seeds disagree"
        return Verdict(Outcome.CANNOT_TELL, evidence, reason)
    return Verdict(Outcome.PASS, evidence, f"every bound holds on {len(draws[-1])} fresh seeds{earlier}", 1.0)


def _outcome(column: Iterable[Evidence]) -> Outcome:
    met = {item.met for item in column}
    if met == {True}:
        return Outcome.PASS
    return Outcome.FAIL if met == {False} else Outcome.CANNOT_TELL


def _nothing_to_measure(rows: Iterable[Iterable[Evidence]]) -> bool:
    return any(item.met is None for row in rows for item in row)


def refused(error: SeeklabError) -> Verdict:
    """Fail a change that the engine does not run, with the engine's own sentences."""
    kind = "stopped at a limit" if isinstance(error, LimitExceeded) else "refused by the engine"
    evidence = tuple(_problem(problem) for problem in error.problems)
    return Verdict(Outcome.FAIL, evidence, kind)


def told(error: Exception) -> str:
    """Say what stopped a learner's code: the engine's own sentences, or the exception that it raised."""
    return str(error) if isinstance(error, SeeklabError) else f"raised {type(error).__name__}: {error}"


def _problem(problem: Problem) -> Evidence:
    return Evidence(problem.path, problem.message, "a scenario that runs", met=False)


def _fail(what: str, found: str, bound: str) -> Verdict:
    return Verdict(Outcome.FAIL, (Evidence(what, found, bound, met=False),))


def as_number(value: object) -> float | None:
    """Read a learner's answer as a finite number; None when it is not one."""
    if isinstance(value, bool) or value is None or value is Ellipsis:
        return None
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _factor_between(value: float, actual: float) -> float:
    """How many times one is larger than the other."""
    if value == actual:
        return 1.0
    if value <= 0 or actual <= 0:
        return math.inf
    return max(value / actual, actual / value)


def _number(value: Any) -> str:  # noqa: ANN401 -- a number or a word
    """Write a number with the digits that carry meaning, whole numbers in full."""
    if isinstance(value, str):
        return value
    if math.isinf(value):
        return "infinite"
    if float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:.4g}"
