"""Requests to the engine, as JSON. A value that JSON or the engine cannot hold is refused, with its path."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import NoReturn, SupportsFloat, SupportsIndex

from seeklab._errors import Problem, SeeklabError

DEEPEST = 60
"""Maximum nesting of lists and dictionaries; a scenario has fewer than ten levels, and the engine reads 128."""
MAX_PARTS = 30
"""Maximum number of parts of a path, such as the four of `volume.prefetch.chunk[0]`."""
MAX_BITS = 1023
"""Maximum bits of a whole number; JSON readers take larger ones for infinity."""
MAX_PLAIN = 1 << 53
"""Whole numbers up to this need no check, because every JSON reader accepts them."""
ENVELOPE = frozenset(("scenario", "set"))
"""Keys of a request that are not in the paths shown to people."""
SHOWN_CHARACTERS = 60


def encode(payload: Mapping[str, object]) -> str:
    """Return a request as JSON. Number types of other libraries become plain numbers."""
    if all(type(value) is int and -MAX_PLAIN <= value <= MAX_PLAIN for value in payload.values()):
        return json.dumps(payload)  # the fast way for answers, because a run may ask tens of thousands of questions
    for name, value in payload.items():
        if value is None:
            _refuse(name, "is None; pass a value, or omit it")
    return json.dumps(_fields(payload, "", 0), allow_nan=False)


def shortened(text: str) -> str:
    """Return as much of a text as fits into an error."""
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}... ({len(text)} characters)"


def _fields(fields: Mapping[str, object], path: str, depth: int) -> dict[str, object]:
    plain = {}
    for name, value in fields.items():
        if not isinstance(name, str):
            _refuse(path or "input", f"has the key {name!r}; keys must be texts")
        _check_text(name, path or "input")
        if path == "set":
            _check_path(name)
        place = f"{path}.{name}" if path and path not in ENVELOPE else name
        plain[name] = _plain(value, place, depth + 1)
    return plain


def _plain(value: object, path: str, depth: int) -> object:
    if depth > DEEPEST:
        _refuse(shortened(path), f"is nested more than {DEEPEST} levels deep; a scenario has fewer than ten")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        _check_text(value, path)
        return value
    if isinstance(value, Mapping):
        return _fields(value, path, depth)
    if isinstance(value, (list, tuple)):
        return [_plain(entry, f"{path}[{number}]", depth + 1) for number, entry in enumerate(value)]
    return _number(value, path)


def _number(value: object, path: str) -> float:
    number: float
    # The usual types first, because a check for a method takes twenty times as long.
    if isinstance(value, (int, SupportsIndex)):
        number = value.__index__()
        if number.bit_length() > MAX_BITS:
            _refuse(path, f"is a whole number of {number.bit_length()} bits; write one below 2^{MAX_BITS}")
    elif isinstance(value, (float, SupportsFloat)):
        number = float(value)
        if not math.isfinite(number):
            _refuse(path, f"is {number}; write a finite number")
    else:
        kind = type(value).__name__
        _refuse(
            path,
            f"a value of type {kind} is not JSON-serializable; use numbers, strings, booleans, lists and dictionaries",
        )
    return number


def _check_text(text: str, path: str) -> None:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            found = f"character {error.start + 1} is U+{ord(text[error.start]):04X}, half of a surrogate pair"
            _refuse(path, f"{found}; write valid Unicode (a byte that is not UTF-8 can cause this)")
    if "\0" in text and "\n" not in text:  # a text with line breaks is a file's, which the engine checks line by line
        _refuse(path, f"character {text.index(chr(0)) + 1} is NUL; write text without it")


def _check_path(path: str) -> None:
    parts = path.count(".") + path.count("[") + 1
    if parts > MAX_PARTS:
        _refuse(shortened(path), f"has {parts} parts; a path in a scenario has at most {MAX_PARTS}")


def _refuse(path: str, message: str) -> NoReturn:
    raise SeeklabError([Problem(path, message)]) from None
