"""What an answer may be. Each kind reads a raw answer strictly: a value to judge, or a sentence on what is wrong.

Answers are data that a learner made, so nothing of them is taken for granted. What is readable of an answer in several
parts is judged; each part that is not is one broken bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from seeklab.judge._sandbox_child import NotDataError, strict
from seeklab.judge.evidence import Evidence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LONGEST_SHOWN = 80
NO_DATA = "no data"
UNANSWERED = "there is no answer yet"


class UnreadableError(Exception):
    """An answer that cannot be judged: what was found, and what is accepted."""

    def __init__(self, found: str | None, accepted: str, why: str) -> None:
        """Say it in three parts."""
        super().__init__(why)
        self.found, self.accepted, self.why = found, accepted, why

    def evidence(self, what: str) -> Evidence:
        """Give it as a broken bound."""
        return Evidence(what, self.found, self.accepted, met=False, why=self.why)


@dataclass(frozen=True)
class Missing:
    """What stands for an answer that has no value, with the reason."""

    reason: str


class Kind(Protocol):
    """A kind of answer."""

    def read(self, name: str, raw: object) -> tuple[Any, list[Evidence]]:
        """Give what can be judged, and a broken bound for each part that cannot; raises UnreadableError."""


def plain(name: str, raw: object) -> Any:  # noqa: ANN401 -- plain data, or a learner's
    """Read an answer as plain data."""
    if isinstance(raw, Missing):
        raise UnreadableError(None, "an answer", f"{name} {raw.reason}")
    try:
        value = strict(raw)
    except NotDataError as error:
        raise UnreadableError(NO_DATA, "a number, a text, a list or a dictionary", f"{name} {error}") from None
    if value is None:
        raise UnreadableError(None, "an answer", f"{name}: {UNANSWERED}")
    return value


def shown(value: object) -> str:
    """Write what was given, shortened."""
    text = repr(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


@dataclass(frozen=True)
class Number:
    """A finite number."""

    whole: bool = False
    at_least: float = -math.inf
    at_most: float = math.inf

    def __str__(self) -> str:
        """Say what is accepted."""
        kind = "a whole number" if self.whole else "a number"
        if math.isfinite(self.at_least) and math.isfinite(self.at_most):
            return f"{kind} from {self.at_least:g} to {self.at_most:g}"
        return kind

    def read(self, name: str, raw: object) -> tuple[Any, list[Evidence]]:
        """Give the number."""
        value = plain(name, raw)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise UnreadableError(shown(value), str(self), f"{name} is {shown(value)}; give {self}")
        if self.whole and not float(value).is_integer():
            raise UnreadableError(shown(value), str(self), f"{name} is {value:g}; give {self}")
        if not self.at_least <= value <= self.at_most:
            raise UnreadableError(shown(value), str(self), f"{name} is {value:g}; give {self}")
        return (int(value) if self.whole else value), []


@dataclass(frozen=True)
class Choice:
    """One of several texts, word for word; each that may be wrong has the reason why."""

    options: Mapping[str, str]
    """What may be chosen, and what is told of it when it is not the right one."""

    def read(self, name: str, raw: object) -> tuple[Any, list[Evidence]]:
        """Give the choice."""
        value = plain(name, raw)
        if not isinstance(value, str) or value not in self.options:
            accepted = "one of those offered, word for word"
            raise UnreadableError(shown(value), accepted, f"{name} is {shown(value)}; give {accepted}")
        return value, []


@dataclass(frozen=True)
class Fields:
    """A dictionary with an answer of a kind for each name."""

    kinds: Mapping[str, Number | Choice]

    def read(self, name: str, raw: object) -> tuple[Any, list[Evidence]]:
        """Give what is readable by name, and a broken bound for each name without."""
        value = plain(name, raw)
        if not isinstance(value, dict):
            accepted = f"a dictionary of {', '.join(self.kinds)}"
            raise UnreadableError(shown(value), accepted, f"{name} is {shown(value)}; give {accepted}")
        read: dict[str, Any] = {}
        broken: list[Evidence] = []
        for part, kind in self.kinds.items():
            try:
                read[part], _ = kind.read(part, value.get(part))
            except UnreadableError as error:
                broken.append(error.evidence(part))
        if not read:
            raise UnreadableError(None, f"a dictionary of {', '.join(self.kinds)}", broken[0].why)
        return read, broken


@dataclass(frozen=True)
class Settings:
    """Values by name, such as paths of a scenario; only some may be set."""

    may_set: Sequence[str]
    others: Mapping[str, str] = field(default_factory=dict)
    """What is told of a name that may not be set, by name."""

    def read(self, name: str, raw: object) -> tuple[Any, list[Evidence]]:
        """Give the settings."""
        value = plain(name, raw)
        if not isinstance(value, dict) or not value:
            accepted = f"a dictionary that sets some of {', '.join(self.may_set)}"
            found = "nothing" if value == {} else shown(value)
            raise UnreadableError(found, accepted, f"{name} is {found}; give at least one value that is set")
        outside = [path for path in value if path not in self.may_set]
        if outside:
            accepted = f"one of {', '.join(self.may_set)}"
            why = self.others.get(outside[0], f"{outside[0][:LONGEST_SHOWN]} is not yours to set; set {accepted}")
            raise UnreadableError(outside[0][:LONGEST_SHOWN], accepted, why)
        return value, []


@dataclass(frozen=True)
class Code:
    """A program: a function that is called, or a class that makes what is asked."""

    shape: Sequence[Sequence[str] | None] = ()
    """For each argument the fields of a record, or None for plain data."""
    made: bool = False
    """Whether it is called without arguments first, for a policy that knows nothing yet."""
    methods: Sequence[str] = ()
    """What it must have; without any it is called itself."""
    notes: Sequence[str] = ()
    """Those of its methods whose answers nobody waits for."""

    def read(self, name: str, raw: object) -> tuple[Any, list[Evidence]]:
        """Give the program."""
        if isinstance(raw, Missing):
            raise UnreadableError(None, "a program", f"{name} {raw.reason}")
        if raw is None or raw is Ellipsis:
            raise UnreadableError(None, "a program", f"{name}: {UNANSWERED}")
        if not hasattr(raw, "start"):
            kind = "a class, or a function that makes a policy" if self.made else "a function"
            raise UnreadableError(shown(raw), kind, f"{name} is {shown(raw)}; give {kind}")
        return raw, []


def is_number(value: object) -> bool:
    """Whether a learner's value is a finite number."""
    try:
        Number().read("value", value)
    except UnreadableError:
        return False
    return True
