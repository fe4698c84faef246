"""JSON and TOML that others wrote: read into plain values, or refused in a sentence.

Python's parsers call themselves for each level, turn digits into numbers without a limit of our own, and build whatever
a small text asks for. All of that is limited here, so that a reader has one kind of error to tell.
"""

from __future__ import annotations

import json
import re
import tomllib
from math import isfinite
from typing import Any

from seeklab.data.json_depth import DEEPEST, is_too_deep

MAX_CONTAINERS = 1_000_000
"""Lists and objects of one text; a recording of a day has a tenth of it."""
MAX_DIGITS = 4300
"""As in Python's own limit, which keeps the time for one number in bounds."""
LARGEST = 2**63 - 1
BETWEEN_KEYS = re.compile(r"[\n,={}\[\]#]")


class UnreadableError(ValueError):
    """A text that cannot be read; the message continues a sentence that begins with its name."""


def read_json(text: str) -> Any:
    """Read JSON; raise UnreadableError with the reason where that is not possible."""
    _refuse_many(text)
    if is_too_deep(text):
        message = f"is JSON nested deeper than {DEEPEST} levels, or not whole"
        raise UnreadableError(message)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        message = f"is JSON that is not whole ({error})"
        raise UnreadableError(message) from None
    except ValueError:
        raise _too_many_digits() from None


def read_toml(text: str) -> dict[str, Any]:
    """Read TOML; raise UnreadableError with the reason where that is not possible."""
    _refuse_many(text)
    # Python's parser takes a time that grows with the square of the parts of a dotted key.
    outside = "".join(text.replace("\\\\", "").replace('\\"', "").split('"')[::2])
    if any(part.count(".") >= DEEPEST for part in BETWEEN_KEYS.split(outside)):
        message = f"has a key of more than {DEEPEST} parts"
        raise UnreadableError(message)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = f"is not TOML: {error}"
        raise UnreadableError(message) from None
    except RecursionError:
        message = f"is nested deeper than {DEEPEST} levels"
        raise UnreadableError(message) from None
    except ValueError:
        raise _too_many_digits() from None


def odd_value(document: object) -> tuple[str, str] | None:
    """Find a value that no scenario can hold: its path and what is wrong with it; None when there is none."""
    waiting: list[tuple[str, object, int]] = [("", document, 0)]
    while waiting:
        path, value, depth = waiting.pop()
        if depth > DEEPEST:
            return path[:60], f"is nested deeper than {DEEPEST} levels"
        if isinstance(value, dict):
            waiting += [(f"{path}.{key}" if path else str(key), inner, depth + 1) for key, inner in value.items()]
        elif isinstance(value, list):
            waiting += [(f"{path}[{at}]", inner, depth + 1) for at, inner in enumerate(value)]
        elif isinstance(value, int) and not -LARGEST <= value <= LARGEST:
            return path, "is a number that needs more than 64 bits"
        elif isinstance(value, float) and not isfinite(value):
            return path, f"is {value}, which is not a finite number"
        elif value is not None and not isinstance(value, (str, int, float)):
            return path, f"is {value}, a {type(value).__name__}; give a number, a text, true or false"
    return None


def _refuse_many(text: str) -> None:
    if text.count("[") + text.count("{") > MAX_CONTAINERS:
        message = f"holds more than {MAX_CONTAINERS:,} lists and objects"
        raise UnreadableError(message)


def _too_many_digits() -> UnreadableError:
    return UnreadableError(f"holds a whole number of more than {MAX_DIGITS:,} digits")
