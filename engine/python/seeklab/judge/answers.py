"""Kinds of answers. Each kind reads a raw answer strictly: a value to judge, or a sentence about the error.

Answers come from learners, so nothing about them is taken for granted. In an answer with several parts, the readable
parts are judged; each other part is one broken bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from seeklab.judge._sandbox_child import NotDataError, strict
from seeklab.judge.evidence import Evidence

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST_SHOWN = 80
NO_DATA = "no data"
UNANSWERED = "there is no answer yet"
UNREADABLE = "unreadable"
"""The code of an answer of the wrong kind."""
SETTING = "setting"
"""The code of a change to a setting that the task does not offer."""
ONLY = "the answer"
"""The name of an answer without one."""


class UnreadableError(Exception):
    """An answer that cannot be judged, with the found value and a description of accepted ones."""

    def __init__(self, found: str | None, accepted: str, why: str, code: str = UNREADABLE) -> None:
        """Take the found value, the accepted ones, the sentence and its code."""
        super().__init__(why)
        self.found, self.accepted, self.why, self.code = found, accepted, why, code

    def evidence(self, what: str) -> Evidence:
        """Return it as a broken bound."""
        return Evidence(what, self.found, self.accepted, met=False, why=self.why, code=self.code)


def expected(name: str, raw: object, accepted: str) -> UnreadableError:
    """Return the error for an answer that is not accepted; an answer without a name is the only one."""
    found = shown(raw)
    if not name:
        return UnreadableError(found, accepted, f"Expected {accepted}; got {found}.")
    return UnreadableError(found, accepted, f"{name}: expected {accepted}; got {found}")


@dataclass(frozen=True)
class Missing:
    """The stand-in for an answer that has no value, with the reason."""

    reason: str


class Kind(Protocol):
    """A kind of answer."""

    def read(self, name: str, raw: object) -> tuple[Any, list[Evidence]]:
        """Return the readable value, and a broken bound for each unreadable part; raises UnreadableError."""


def plain(name: str, raw: object) -> Any:
    """Read an answer as plain data."""
    if isinstance(raw, Missing):
        raise UnreadableError(None, "an answer", f"{name or ONLY} {raw.reason}")
    try:
        value = strict(raw)
    except NotDataError as error:
        accepted = "a number, a text, a list or a dictionary"
        raise UnreadableError(NO_DATA, accepted, f"{name or ONLY} {error}") from None
    if value is None:
        raise UnreadableError(None, "an answer", f"{name or ONLY}: {UNANSWERED}")
    return value


def shown(value: object) -> str:
    """Return a short text for a learner's value."""
    if callable(value):
        return "a class" if isinstance(value, type) else "a function"
    text = repr(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


@dataclass(frozen=True)
class Number:
    """A finite number."""

    whole: bool = False
    at_least: float = -math.inf
    at_most: float = math.inf

    def __str__(self) -> str:
        """Return the description of accepted answers."""
        kind = "a whole number" if self.whole else "a number"
        if math.isfinite(self.at_least) and math.isfinite(self.at_most):
            return f"{kind} from {self.at_least:g} to {self.at_most:g}"
        return kind

    def read(self, name: str, raw: object) -> tuple[Any, list[Evidence]]:
        """Return the number."""
        value = plain(name, raw)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise expected(name, value, str(self))
        if (self.whole and not float(value).is_integer()) or not self.at_least <= value <= self.at_most:
            raise expected(name, value, str(self))
        return (int(value) if self.whole else value), []


@dataclass(frozen=True)
class Choice:
    """One of several texts, copied exactly; each wrong one has a reason."""

    options: Mapping[str, str]
    """The choices, each with the message if it is wrong."""

    def read(self, name: str, raw: object) -> tuple[Any, list[Evidence]]:
        """Return the choice."""
        value = plain(name, raw)
        if not isinstance(value, str) or value not in self.options:
            raise expected(name, value, "the exact text of one of the choices")
        return value, []


@dataclass(frozen=True)
class Fields:
    """A dictionary with an answer for each name, or for each number."""

    kinds: Mapping[Any, Kind]

    def read(self, name: str, raw: object) -> tuple[Any, list[Evidence]]:
        """Return the readable answers by name, and a broken bound for each of the others."""
        has_names = all(isinstance(part, str) for part in self.kinds)
        value = plain(name, raw) if has_names or not isinstance(raw, Mapping) else raw
        accepted = f"a dictionary of {', '.join(map(str, self.kinds))}"
        if not isinstance(value, Mapping):
            raise expected(name, value, accepted)
        read: dict[Any, Any] = {}
        broken: list[Evidence] = []
        for part, kind in self.kinds.items():
            try:
                read[part], _ = kind.read(str(part), value.get(part))
            except UnreadableError as error:
                broken.append(error.evidence(str(part)))
        if not read:
            raise UnreadableError(None, accepted, broken[0].why)
        return read, broken


@dataclass(frozen=True)
class Settings:
    """Values by name, such as paths of a scenario; a task may offer only some."""

    may_set: Sequence[str] = ()
    """The names on offer; empty if any name is accepted."""
    others: Mapping[str, str] = field(default_factory=dict)
    """The message for each name that is not on offer."""

    def read(self, name: str, raw: object) -> tuple[Any, list[Evidence]]:
        """Return the settings."""
        value = plain(name, raw)
        names = ", ".join(self.may_set)
        if not isinstance(value, dict) or not value:
            raise expected(name, value, f"a dictionary that sets {f'some of {names}' if names else 'a path'}")
        outside = [path for path in value if self.may_set and path not in self.may_set]
        if outside:
            accepted = f"one of {names}"
            why = self.others.get(outside[0], f"{outside[0][:LONGEST_SHOWN]} cannot be set here; set {accepted}")
            raise UnreadableError(outside[0][:LONGEST_SHOWN], accepted, why, SETTING)
        return value, []


@dataclass(frozen=True)
class Code:
    """A program: a function to call, or a class whose instances are called."""

    takes: Sequence[str] = ()
    """The names of its arguments."""
    records: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The fields of each argument that is a record; the others are plain data."""
    made: bool = False
    """Whether it is first called without arguments, for a new policy."""
    methods: Sequence[str] = ()
    """Its required methods; if empty, the object itself is called."""
    notes: Sequence[str] = ()
    """The methods whose results are not used."""

    def __str__(self) -> str:
        """Return the description of accepted answers."""
        arguments = ", ".join(self.takes)
        if not self.made:
            return f"a function of {arguments}"
        has = f"the methods {', '.join(self.methods)}" if self.methods else f"__call__(self, {arguments})"
        return f"a class with {has}, or a function that returns such an object"

    def read(self, name: str, raw: object) -> tuple[Any, list[Evidence]]:
        """Return the program."""
        if isinstance(raw, Missing):
            raise UnreadableError(None, "a program", f"{name or ONLY} {raw.reason}")
        if raw is None or raw is Ellipsis:
            raise UnreadableError(None, "a program", f"{name or ONLY}: {UNANSWERED}")
        if not hasattr(raw, "start"):
            raise expected(name, raw, str(self))
        return raw, []


@dataclass(frozen=True)
class Function:
    """A function in the learner's own notebook: its results may be of any kind."""

    of: str
    """A description of its arguments."""

    def read(self, name: str, raw: object) -> tuple[Any, list[Evidence]]:
        """Return the function."""
        if not callable(raw):
            raise expected(name, raw, f"a function of {self.of}")
        return raw, []


@dataclass(frozen=True)
class Table:
    """A dictionary with one kind of keys and one kind of values; the keys may be numbers or tuples."""

    keys: Kind
    values: Kind
    of: str
    """A description of its keys and values."""

    def __str__(self) -> str:
        """Return the description of accepted answers."""
        return f"a dictionary: {self.of}"

    def read(self, name: str, raw: object) -> tuple[Any, list[Evidence]]:
        """Return the dictionary."""
        if not isinstance(raw, Mapping):
            raise expected(name, raw, str(self))
        read: dict[Any, Any] = {}
        for key, value in raw.items():
            one, _ = self.keys.read("", key)
            read[one], _ = self.values.read(shown(key), value)
        return read, []


@dataclass(frozen=True)
class Counts:
    """A dictionary of counts, such as a Counter; counts of zero are dropped."""

    keys: Kind
    of: str
    """A description of the things counted."""

    def read(self, name: str, raw: object) -> tuple[Any, list[Evidence]]:
        """Return the counts."""
        counts, broken = Table(self.keys, Number(whole=True), self.of).read(name, raw)
        return {key: count for key, count in counts.items() if count}, broken


@dataclass(frozen=True)
class Items:
    """A list or a tuple of answers of one kind, which is read as a tuple."""

    kind: Kind
    count: int | None = None
    """The required number of items."""

    def __str__(self) -> str:
        """Return the description of accepted answers."""
        return f"a list of {f'{self.count} items' if self.count else 'items'}"

    def read(self, name: str, raw: object) -> tuple[Any, list[Evidence]]:
        """Return the items."""
        if isinstance(raw, (str, bytes, Mapping)) or not isinstance(raw, Iterable):
            raise expected(name, raw, str(self))
        items = tuple(self.kind.read(name, item)[0] for item in raw)
        if self.count is not None and len(items) != self.count:
            raise expected(name, raw, str(self))
        return items, []


@dataclass(frozen=True)
class Word:
    """A text from the learner."""

    def read(self, name: str, raw: object) -> tuple[Any, list[Evidence]]:
        """Return the text."""
        value = plain(name, raw)
        if not isinstance(value, str):
            raise expected(name, value, "a text")
        return value, []


@dataclass(frozen=True)
class OrNone:
    """An answer of a kind, or None."""

    kind: Kind

    def read(self, name: str, raw: object) -> tuple[Any, list[Evidence]]:
        """Return the answer, or None."""
        return (None, []) if raw is None else self.kind.read(name, raw)


@dataclass(frozen=True)
class Truth:
    """True or False."""

    def read(self, name: str, raw: object) -> tuple[Any, list[Evidence]]:
        """Return the truth value."""
        value = plain(name, raw)
        if value not in (True, False):
            raise expected(name, value, "True or False")
        return bool(value), []


def is_number(value: object) -> bool:
    """Whether a learner's value is a finite number."""
    try:
        Number().read("value", value)
    except UnreadableError:
        return False
    return True
