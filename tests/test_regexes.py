"""Regular expressions of the package: none takes quadratic time, on any text that its own parts can be repeated into.

Each is found in the source, together with the methods that it is called with. It then gets long texts that almost
match: a sample of every part before a repetition, many samples of what is repeated, and an end that matches nothing.
"""

from __future__ import annotations

import ast
import re
import time
from itertools import islice
from pathlib import Path
from re import _constants as sre  # type: ignore[attr-defined] # the parser of the standard library, without types
from re import _parser  # type: ignore[attr-defined] # as above
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

import seeklab

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PACKAGE = Path(seeklab.__file__).parent
METHODS = ("search", "match", "fullmatch", "sub", "findall", "finditer", "split")
LENGTHS = (25, 500, 20_000)
"""Characters of a text. Of the last, linear time is below a millisecond, and quadratic time above 100; the first ends
within a second even in exponential time."""
SLOW_S = 0.05
ENDS = ("\0", "\n\0")
REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)
MANY = 1000
"""A repetition with at least this limit counts as one without a limit."""


class Used(NamedTuple):
    """A regular expression in the source."""

    place: str
    pattern: str | bytes
    flags: int
    methods: frozenset[str]


def _flags(nodes: Iterable[ast.expr]) -> int:
    found = 0
    for node in nodes:
        for part in ast.walk(node):
            if isinstance(part, ast.Attribute) and isinstance(getattr(re, part.attr, None), re.RegexFlag):
                found |= getattr(re, part.attr)
    return found


def _text(node: ast.expr) -> str | bytes | None:
    """Return a pattern that is written out; parts of an f-string count as a word."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "word" for part in node.values)
    return None


def _methods(tree: ast.Module) -> dict[str, set[str]]:
    """Return the methods that a module calls on each name."""
    called: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in METHODS:
            owner = node.value
            name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
            called.setdefault(name, set()).add(node.attr)
    return called


def used() -> list[Used]:
    """Return every regular expression of the package that is written out."""
    found = []
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}
    everywhere: dict[str, set[str]] = {}
    within = {path: _methods(tree) for path, tree in trees.items()}
    for called in within.values():
        for name, methods in called.items():
            everywhere.setdefault(name, set()).update(methods)
    for path, tree in trees.items():
        names = {
            id(node.value): ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)
            for node in ast.walk(tree)
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None
        }
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
                continue
            if ast.unparse(node.func.value) != "re" or node.func.attr not in {*METHODS, "compile"}:
                continue
            pattern = _text(node.args[0])
            if pattern is None:
                continue
            flags = _flags([*node.args[1:], *(keyword.value for keyword in node.keywords)])
            name = names.get(id(node), "")
            # One in a table, without a name of its own, is matched at the beginning of a line.
            methods = within[path].get(name) or everywhere.get(name) or {"match"}
            methods = {node.func.attr} if node.func.attr in METHODS else methods
            found.append(Used(f"{path.relative_to(PACKAGE)}:{node.lineno}", pattern, flags, frozenset(methods)))
    return found


REGEXES = used()


def _sample(part: Any) -> str:
    """Return a short text that a parsed part of a pattern matches."""
    return "".join(_sample_of(kind, value) for kind, value in part)


def _sample_of(kind: Any, value: Any) -> str:
    found = ""  # of an anchor, or of a look around
    if kind is sre.LITERAL:
        found = chr(value)
    elif kind is sre.NOT_LITERAL:
        found = "a" if value != ord("a") else "b"
    elif kind is sre.ANY:
        found = "a"
    elif kind is sre.IN:
        found = next(_characters(value), "a")
    elif kind in REPEATS:
        least, _, body = value
        found = _sample(body) * max(1, least) if least < MANY else ""
    elif kind is sre.SUBPATTERN:
        found = _sample(value[3])
    elif kind is sre.ATOMIC_GROUP:
        found = _sample(value)
    elif kind is sre.BRANCH:
        found = _sample(value[1][0])
    return found


def _characters(members: Any) -> Iterator[str]:
    """Yield characters of a set."""
    negated = members[0][0] is sre.NEGATE
    letters = [chr(number) for number in (*range(32, 127), 9, 10, 13)]
    yield from (letter for letter in letters if negated != any(_is_in(letter, *member) for member in members))


def _is_in(letter: str, kind: Any, value: Any) -> bool:
    if kind is sre.LITERAL:
        return bool(ord(letter) == value)
    if kind is sre.RANGE:
        return bool(value[0] <= ord(letter) <= value[1])
    if kind is sre.CATEGORY:
        classes = {sre.CATEGORY_DIGIT: r"\d", sre.CATEGORY_SPACE: r"\s", sre.CATEGORY_WORD: r"\w"}
        classes |= {sre.CATEGORY_NOT_DIGIT: r"\D", sre.CATEGORY_NOT_SPACE: r"\S", sre.CATEGORY_NOT_WORD: r"\W"}
        return re.fullmatch(classes[value], letter) is not None
    return False


def _repeated(part: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """Yield for each repetition a text that leads to it, and what can be repeated: a sample, and other characters."""
    for kind, value in part:
        if kind in REPEATS:
            _, most, body = value
            if most >= MANY:
                yield before, _sample(body)
                if len(body) == 1 and body[0][0] is sre.IN:
                    yield from ((before, letter) for letter in islice(_characters(body[0][1]), 0, None, 12))
                    yield from ((before, letter) for letter in "\n\t \r" if letter in set(_characters(body[0][1])))
            yield from _repeated(body, before)
        elif kind is sre.SUBPATTERN:
            yield from _repeated(value[3], before)
        elif kind is sre.BRANCH:
            for branch in value[1]:
                yield from _repeated(branch, before)
        before += _sample_of(kind, value)


def _texts(pattern: str, flags: int) -> Iterator[tuple[str, str]]:
    """Yield beginnings and what is repeated after them."""
    pairs = {*_repeated(_parser.parse(pattern, flags)), *(("", letter) for letter in "\n \t0a.,-:")}
    for before, body in sorted(pair for pair in pairs if pair[1]):
        yield before, body
        if before:
            yield "", body
            yield "", before + body


def slowest(one: Used) -> tuple[float, str]:
    """Return the longest time that the expression takes for a text, with a description of the text."""
    pattern = one.pattern.decode("latin-1") if isinstance(one.pattern, bytes) else one.pattern
    compiled = re.compile(pattern, one.flags)
    worst = (0.0, "")
    for long in LENGTHS:
        for start, body in dict.fromkeys(_texts(pattern, one.flags)):
            for end in ENDS:
                text = start + (body * long)[:long] + end
                for method in sorted(one.methods):
                    began = time.process_time()
                    _use(compiled, method, text)
                    worst = max(worst, (time.process_time() - began, f"{method} {start!r} + many {body!r} + {end!r}"))
                    if worst[0] > SLOW_S:
                        return worst
    return worst


def _use(compiled: re.Pattern[str], method: str, text: str) -> None:
    if method == "sub":
        compiled.sub("", text)
    elif method == "finditer":
        for _ in compiled.finditer(text):
            pass
    else:
        getattr(compiled, method)(text)


def test_the_expressions_of_the_package_are_found() -> None:
    assert len(REGEXES) > 50
    assert len({one.place.partition("/")[0] for one in REGEXES}) > 5


@pytest.mark.parametrize("one", REGEXES, ids=[one.place for one in REGEXES])
def test_a_regular_expression_takes_linear_time(one: Used) -> None:
    seconds, text = slowest(one)
    assert seconds < SLOW_S, f"{one.pattern!r} takes {seconds:.2f} s: {text}"


@pytest.mark.parametrize(
    ("pattern", "flags", "method"),
    [
        (r"^\s*x", re.MULTILINE, "search"),
        (r"\s+$", 0, "sub"),
        (r".*x", 0, "search"),
        (r"(\d+)+x", 0, "match"),
        (r"a*[a-z]*x", 0, "match"),
        (r"<[^>]*>", 0, "findall"),
    ],
)
def test_what_takes_quadratic_time_is_found(pattern: str, flags: int, method: str) -> None:
    assert slowest(Used("", pattern, flags, frozenset((method,))))[0] > SLOW_S
