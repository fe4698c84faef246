"""How alike two programs are, whatever their names, comments, numbers and order of statements.

A program is parsed. Each statement becomes a list of tokens: kinds of nodes, names of attributes and of Python's own
functions. Other names, constants, comments and docstrings do not count. Five tokens in a row are a gram, and grams do
not cross statements, so the order of statements does not count. Grams of the code that all learners were given are
left out. The likeness of two programs is their common share of grams (Jaccard, on counts).

A pair is reported if it is at least 0.85 alike and among the most alike 5% of its class. A pair is shown, and never
costs points: short programs on one task may agree by chance.
"""

from __future__ import annotations

import ast
import builtins
import random
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

GRAM = 5
ALIKE = 0.85
PERCENTILE = 0.95
LEAST = 12
"""Programs with fewer own grams are too short to compare."""
MAX_PAIRS = 5_000
"""Pairs that the class's percentile is taken from; larger classes are sampled."""
OWN = frozenset(dir(builtins))


@dataclass(frozen=True, order=True)
class Pair:
    """Two students with programs that are alike."""

    one: str
    other: str
    share: float
    """Their likeness, from 0 to 1."""


def grams(source: str, given: str = "") -> Counter[tuple[str, ...]]:
    """Return a program's grams without the given code's grams; empty for text that is not Python."""
    return _grams(source) - _grams(given)


def likeness(one: Counter[tuple[str, ...]], other: Counter[tuple[str, ...]]) -> float:
    """Return the common share of grams, from 0 to 1; 0 if both are empty."""
    every = (one | other).total()
    return (one & other).total() / every if every else 0.0


def alike(programs: Mapping[str, str], given: str = "") -> list[Pair]:
    """Return the pairs of students to look at, the most alike first."""
    found = {student: grams(source, given) for student, source in sorted(programs.items())}
    found = {student: own for student, own in found.items() if own.total() >= LEAST}
    least = max(ALIKE, _percentile(list(found.values())))
    pairs = (Pair(one, other, likeness(found[one], found[other])) for one, other in _candidates(found))
    return sorted((pair for pair in pairs if pair.share >= least), key=lambda pair: (-pair.share, pair))


def _percentile(programs: list[Counter[tuple[str, ...]]]) -> float:
    """Return the likeness that 95% of the pairs of a class do not exceed; 0 for a class of one."""
    count = len(programs)
    pairs: Iterable[tuple[int, int]] = combinations(range(count), 2)
    if count * (count - 1) // 2 > MAX_PAIRS:
        source = random.Random(count)
        pairs = (tuple(source.sample(range(count), 2)) for _ in range(MAX_PAIRS))  # type: ignore[misc]
    ranked = sorted(likeness(programs[one], programs[other]) for one, other in pairs)
    # Copies are themselves among the pairs, so the value at the rank below theirs counts.
    return ranked[int(PERCENTILE * (len(ranked) - 1))] if ranked else 0.0


def _candidates(found: Mapping[str, Counter[tuple[str, ...]]]) -> Iterator[tuple[str, str]]:
    """Return the pairs that can reach the threshold.

    Two such programs share a gram among the rarest of each: with n grams, all but 0.85 n of them, and one more.
    """
    holders = Counter(gram for own in found.values() for gram in own)
    by_gram: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for student, own in found.items():
        ranked = sorted(own.elements(), key=lambda gram: (holders[gram], gram))
        for gram in set(ranked[: len(ranked) - int(ALIKE * len(ranked)) + 1]):
            by_gram[gram].append(student)
    seen: set[tuple[str, str]] = set()
    for students in by_gram.values():
        for pair in combinations(students, 2):
            if pair not in seen:
                seen.add(pair)
                yield pair


def _grams(source: str) -> Counter[tuple[str, ...]]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Counter()
    counted: Counter[tuple[str, ...]] = Counter()
    for statement in ast.walk(tree):
        if isinstance(statement, ast.stmt) and not _is_docstring(statement):
            told = list(_tokens(statement, is_top=True))
            counted.update(tuple(told[nth : nth + GRAM]) for nth in range(max(1, len(told) - GRAM + 1)))
    return counted


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _tokens(node: ast.AST, *, is_top: bool = False) -> Iterator[str]:
    """Return the tokens of a statement; statements inside it count for themselves."""
    if isinstance(node, ast.stmt) and not is_top:
        return
    yield type(node).__name__
    if isinstance(node, ast.Name) and node.id in OWN:
        yield node.id
    if isinstance(node, ast.Attribute) and not (isinstance(node.value, ast.Name) and node.value.id == "self"):
        yield node.attr
    for child in ast.iter_child_nodes(node):
        yield from _tokens(child)
