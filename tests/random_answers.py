"""Answers that no learner thinks of: the limits of what is accepted, and what is beyond them, drawn by a seed."""

from __future__ import annotations

import importlib
import math
import string
from typing import TYPE_CHECKING, Any

from seeklab.judge import (
    Choice,
    Code,
    Counts,
    Fields,
    Function,
    Items,
    Number,
    OrNone,
    Settings,
    Table,
    Truth,
    Word,
    catalogue,
)

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from seeklab.judge.answers import Kind

DEEP: list[Any] = []
for _ in range(100):
    DEEP = [DEEP]

ODD: tuple[Any, ...] = (
    *(None, True, "", [], {}, ..., object(), b"bytes", 1 + 2j, DEEP, list(range(30_000)), {1: 2}, {"\udfff": "\ud800"}),
    *("\ud800", "\x1b]52;c;cHduZWQ=\x07\x1b[2J", "=1+1", "\t=1", "\r", "<script>", "\u202e", "\0", "x" * 200_000),
    *(math.nan, math.inf, -math.inf, 10**400, 1e308, -1e308, 5e-324, -0.0, 2**59, -1, 0),
)
"""Values of every kind that something may stumble over."""

SETTINGS = (
    *(0, 1, 2, 3, 7, 64, 1024, 10**6, 10**12, 2**59, 0.5, 1e-9, -1, math.nan, True, False, None),
    *("0", "1", "4KiB", "64KiB", "1MiB", "8MiB", "1GiB", "1EiB", "1ns", "1us", "5ms", "1s", "10h", "off", "\ud800"),
)


def random_answer(kind: Kind, source: random.Random, gives: Kind | None = None) -> Any:
    """Draw an answer: odd altogether, or of its kind with odd parts; a program gives such answers of `gives`."""
    if source.random() < 0.15:
        return source.choice(ODD)
    if isinstance(kind, Number):
        return _number(kind, source)
    if isinstance(kind, Choice):
        return source.choice(list(kind.options))
    if isinstance(kind, Fields):
        return {name: random_answer(part, source) for name, part in kind.kinds.items() if source.random() < 0.95}
    if isinstance(kind, Settings):
        paths = source.sample(list(kind.may_set), source.randint(1, min(3, len(kind.may_set))))
        return {path: source.choice(SETTINGS) for path in paths}
    return _program(kind, source, gives) if isinstance(kind, (Code, Function)) else _data(kind, source)


def _data(kind: Kind, source: random.Random) -> Any:
    """Draw what only the tasks of notebooks ask for."""
    count = source.randrange(6)
    if isinstance(kind, Items):
        return tuple(random_answer(kind.kind, source) for _ in range(kind.count or count))
    if isinstance(kind, (Counts, Table)):
        keys = [random_answer(kind.keys, source) for _ in range(count)]
        values = kind.values if isinstance(kind, Table) else Number(whole=True)
        return {key if is_hashable(key) else str(key): random_answer(values, source) for key in keys}
    if isinstance(kind, OrNone):
        return source.choice((None, random_answer(kind.kind, source)))
    assert isinstance(kind, (Truth, Word))
    return source.choice((True, False) if isinstance(kind, Truth) else string.ascii_letters)


def is_hashable(value: object) -> bool:
    """Whether a value can be a key."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _number(kind: Number, source: random.Random) -> float:
    limits = [limit for limit in (kind.at_least, kind.at_most) if math.isfinite(limit)]
    drawn = [*limits, *(limit + step for limit in limits for step in (-1, 1))]
    drawn += [source.uniform(-10, 1000), math.exp(source.uniform(-20, 40)), source.randrange(200)]
    return source.choice(drawn)


def _program(kind: Code | Function, source: random.Random, gives: Kind | None) -> Callable[..., Any]:
    """Make a function, or a class of policies, that answers at random; now and then it raises."""

    def answer(*_: object) -> Any:
        if source.random() < 0.02:
            raise ValueError(source.choice(("\ud800", "\x1b[2J", "", "x" * 10_000)))
        if gives is not None:
            return random_answer(gives, source)
        odd: list[Any] = [source.choice(ODD), source.uniform(-5, 5), source.randrange(100), list(string.ascii_letters)]
        return source.choice([*odd, [source.uniform(-1, 99) for _ in range(source.randrange(9))], [[0, 1, 2]]])

    if isinstance(kind, Function) or not kind.made:
        return answer
    return type("Policy", (), {"__call__": answer, **dict.fromkeys(kind.methods, answer)})


def gives_of(name: str) -> Kind | None:
    """Return what the rule of an exercise gives, where the exercise declares it."""
    shape = getattr(importlib.import_module(f"seeklab.exercises.{name.replace('-', '_')}"), "SHAPE", None)
    found: Kind | None = getattr(shape, "gives", None)
    return found


def random_answers(name: str, source: random.Random) -> dict[str, Any]:
    """Draw an answer to each question of an exercise."""
    gives = gives_of(name)
    return {one: random_answer(kind, source, gives) for one, kind in catalogue.assignment(name).kinds.items()}
