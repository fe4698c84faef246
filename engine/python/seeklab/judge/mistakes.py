"""Named mistakes, and checks that compare an answer with the right one and name its mistake.

A mistake is data: a code, a sentence, and a way to recognize it. Often the best sign is the wrong value, or the wrong
program, that it leads to.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from seeklab.judge import _sandbox_child
from seeklab.judge.answers import LONGEST_SHOWN, Number, UnreadableError, shown
from seeklab.judge.evidence import Evidence, number
from seeklab.judge.programs import ProgramError

if TYPE_CHECKING:
    from collections.abc import Callable

    from seeklab._result import Result
    from seeklab.judge.answers import Kind
    from seeklab.judge.assignment import Asked
    from seeklab.judge.evidence import Bound

ANSWER = ""
"""The name of the answer of a task with a single answer."""


@dataclass(frozen=True)
class Near:
    """The allowed difference of two numbers: a share or a distance, whichever is more."""

    within: float = 0.0
    apart: float = 0.0

    def alike(self, found: Any, other: Any, times: float = 1.0) -> bool:
        """Whether two answers have the same shape and near numbers; the distance is in units of 1 / `times`."""
        if isinstance(found, Mapping) and isinstance(other, Mapping):
            return found.keys() == other.keys() and all(self.alike(found[key], other[key], times) for key in other)
        if isinstance(found, (list, tuple)) and isinstance(other, (list, tuple)):
            pairs = zip(found, other, strict=False)
            return len(found) == len(other) and all(self.alike(one, another, times) for one, another in pairs)
        if isinstance(found, (int, float)) and isinstance(other, (int, float)):
            return math.isclose(found, other, rel_tol=0, abs_tol=max(self.within * abs(other), self.apart * times))
        return bool(found == other)


EXACT = Near()


@dataclass(frozen=True)
class Mistake:
    """A likely mistake. Without a way to recognize it, it matches any answer: use such a one last in a list."""

    code: str
    why: str
    """The sentence for work with this mistake; names in braces are filled in, such as {found}."""
    gives: Any = None
    """The wrong value that it leads to, or a function of the case's arguments that returns it."""
    times: float | None = None
    """The factor between the wrong and the right value, such as 1000 for a wrong unit."""
    when: Callable[..., object] | None = None
    """Whether the answer has this mistake; its return value is {match} in the sentence. It must accept any answer of
    the kind without raising, because no error is caught here."""

    def match(self, found: Any, truth: Any = ..., case: Sequence[Any] = (), near: Near = EXACT) -> object:
        """Return a true value if the answer has this mistake."""
        if self.when is not None:
            return self.when(found, *([] if truth is ... else [truth]), *case)
        if self.times is not None:
            return near.alike(found, scaled(truth, self.times), abs(self.times))
        if self.gives is not None:
            return near.alike(found, self.gives(*case) if callable(self.gives) else self.gives)
        return True

    def unit(self, unit: str) -> str:
        """Return the unit to write after an answer: none after a number in another unit."""
        return unit if self.times is None else ""


OTHER = Mistake("other", "")
"""A wrong answer without a named mistake."""


def diagnose(
    mistakes: Iterable[Mistake],
    found: Any,
    truth: Any = ...,
    *,
    case: Sequence[Any] = (),
    near: Near = EXACT,
    facts: Mapping[str, Any] | None = None,
) -> Mistake:
    """Return the first mistake of the answer, with the facts filled into its sentence."""
    for mistake in mistakes:
        match = mistake.match(found, truth, case, near)
        if match:
            return replace(mistake, why=mistake.why.format(**{"found": found, "match": match, **(facts or {})}))
    return OTHER


def scaled(value: Any, times: float) -> Any:
    """Multiply a number, or each of several numbers."""
    if isinstance(value, Mapping):
        return {key: scaled(item, times) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [scaled(item, times) for item in value]
    return value * times


def _written(value: object, unit: str = "") -> str:
    if isinstance(value, (list, tuple)):
        text = f"[{', '.join(_written(item).replace(',', '') for item in value)}]"
        return (text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}...") + unit
    return (number(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else shown(value)) + unit


def called(program: Callable[..., Any], *arguments: object) -> Any:
    """Call a learner's function; raises ProgramError if it raises."""
    try:
        return program(*arguments)
    except ProgramError:
        raise
    except Exception as error:
        raise ProgramError(_sandbox_child.told(error)) from error


@dataclass(frozen=True)
class Cases:
    """Call the answer, a function, and compare its results with the right one's, case by case."""

    right: Callable[..., Any]
    cases: Sequence[Sequence[Any]] | Callable[[], Iterable[Sequence[Any]]]
    """The arguments of each case."""
    says: str | Callable[..., str]
    """The case in the sentence, such as "With {disks} disks", by the names of the right function's parameters; or a
    function of the case that returns this text."""
    mistakes: Sequence[Mistake]
    gives: Kind = field(default_factory=Number)
    """The kind of the function's results."""
    unit: str = ""
    within: float = 0.005
    accepts: Callable[..., object] | None = None
    """Whether to accept a result, by the result and the case's arguments; None accepts results near the right one."""

    def __call__(self, asked: Asked) -> list[Evidence]:
        """Return the first case with a wrong result, or the number of right ones."""
        program, cases = asked.answers[ANSWER], list(self.cases() if callable(self.cases) else self.cases)
        for case in cases:
            wrong = self._wrong(program, case)
            if wrong is not None:
                return [wrong]
        return [Evidence("cases", len(cases), f"all {len(cases)}", met=True)]

    def _wrong(self, program: Callable[..., Any], case: Sequence[Any]) -> Evidence | None:
        facts = dict(zip(inspect.signature(self.right).parameters, case, strict=False))
        says = self.says(*case) if callable(self.says) else self.says.format(**facts)
        truth = self.right(*case)
        raw = called(program, *(deepcopy(given) if isinstance(given, (list, dict, set)) else given for given in case))
        try:
            found, _ = self.gives.read("", raw)
        except UnreadableError as error:
            why = f"{says}, your function returns {shown(raw)}. {error.why}"
            return replace(error.evidence(says), why=why)
        near = Near(self.within)
        if near.alike(found, truth) if self.accepts is None else self.accepts(found, *case):
            return None
        mistake = diagnose(self.mistakes, found, truth, case=case, near=near, facts=facts)
        why = f"{says}, your function returns {_written(found, mistake.unit(self.unit))}. {mistake.why}"
        return Evidence(says, shown(found), "", met=False, why=why, code=mistake.code)


@dataclass(frozen=True)
class Value:
    """Compare the answer, of any kind, with the right one; in a dictionary, compare each value."""

    right: Callable[[], Any]
    mistakes: Sequence[Mistake]
    """In a dictionary, the mistakes of the wrong values."""
    unit: str = ""
    within: float = 0.01
    apart: float = 0.0
    also: Callable[[], Sequence[Any]] = tuple
    """Other right answers."""
    facts: Callable[[], Mapping[str, Any]] = dict
    """Numbers for the sentences, in addition to {found} and, for a dictionary, {key}; never the right answer."""
    label: str = "{key}"
    """The name of a dictionary's value in a sentence."""
    whole: bool = False
    """Whether a dictionary is one value, such as counts: its keys are part of the answer, and its values are exact."""

    def __call__(self, asked: Asked) -> list[Evidence]:
        """Return the first error of the answer, or that there is none."""
        found, truth = asked.answers[ANSWER], self.right()
        near = EXACT if self.whole else Near(self.within, self.apart)
        parts = isinstance(truth, Mapping) and not self.whole
        if parts:
            found = {key: found[key] for key in truth if key in found}
        if any(near.alike(found, right) for right in (truth, *self.also())):
            return [Evidence("answer", shown(found), "right", met=True)]
        return [self._wrong_part(found, truth, near) if parts else self._wrong(found, truth, near)]

    def _wrong(self, found: Any, truth: Any, near: Near) -> Evidence:
        mistake = diagnose(self.mistakes, found, truth, near=near, facts=self.facts())
        lead = "" if isinstance(found, Mapping) else f"You have {_written(found, mistake.unit(self.unit))}. "
        return Evidence("answer", shown(found), "", met=False, why=lead + mistake.why, code=mistake.code)

    def _wrong_part(self, found: Mapping[Any, Any], truth: Mapping[Any, Any], near: Near) -> Evidence:
        lacking = [key for key in truth if key not in found]
        if lacking:
            without = [
                replace(mistake, gives=self._given(mistake, truth)) for mistake in self.mistakes if mistake.gives
            ]
            mistake = diagnose(without, found, truth, near=near, facts={**self.facts(), "key": lacking[0]})
            why = f"Your dictionary has no key {lacking[0]!r}; the keys are {', '.join(map(repr, truth))}."
            code, why = ("keys", why) if mistake is OTHER else (mistake.code, mistake.why)
            return Evidence("keys", shown(list(found)), "", met=False, why=why, code=code)
        wrong = [key for key in truth if not near.alike(found[key], truth[key])]
        key = wrong[0]
        facts = {**self.facts(), "key": key, "found": found[key]}
        compared = [replace(mistake, gives=self._given(mistake, wrong)) for mistake in self.mistakes]
        given, right = ({one: values[one] for one in wrong} for values in (found, truth))
        mistake = diagnose(compared, given, right, near=near, facts=facts)
        why = f"{self.label.format(key=key)}: you have {_written(found[key], mistake.unit(self.unit))}. {mistake.why}"
        return Evidence(str(key), shown(found[key]), "", met=False, why=why, code=mistake.code)

    @staticmethod
    def _given(mistake: Mistake, wrong: Iterable[Any]) -> Any:
        gives = mistake.gives() if callable(mistake.gives) else mistake.gives
        return {key: gives[key] for key in wrong if key in gives} if isinstance(gives, Mapping) else gives


@dataclass(frozen=True)
class Without:
    """Search an answer for mistakes; without any, it is right."""

    mistakes: Sequence[Mistake]

    def __call__(self, asked: Asked) -> list[Evidence]:
        """Return the first mistake, or that there is none."""
        found = asked.answers[ANSWER]
        mistake = diagnose(self.mistakes, found)
        return [Evidence("answer", shown(found), "", met=mistake is OTHER).because(mistake)]


@dataclass(frozen=True)
class Change:
    """Run a system with the answer, a change of settings, and compare the results with bounds."""

    run: Callable[[Mapping[str, Any]], Result]
    bounds: Callable[[], Sequence[Bound]]
    stays: Sequence[Mistake] = ()
    """Changes that the task rules out; they are checked before the run."""
    mistakes: Sequence[Mistake] = ()
    """Likely reasons for a broken bound, by the change; they see only values that the engine accepts."""

    def __call__(self, asked: Asked) -> list[Evidence]:
        """Return each bound with its measured value."""
        changes = asked.answers[ANSWER]
        ruled_out = diagnose(self.stays, changes)
        if ruled_out is not OTHER:
            return [Evidence("settings", shown(changes), "", met=False).because(ruled_out)]
        result = self.run(changes)
        mistake = diagnose(self.mistakes, changes)
        checked = [bound.check(result, None) for bound in self.bounds()]
        return [item if item.why else item.because(mistake) for item in checked]
