"""JSON and TOML from other authors: parsed to plain values, or refused with a sentence.

Python's parsers recurse for each level, convert digits without a useful limit, and build everything that a small text
asks for. This module limits all of that, so that callers see only one kind of error.
"""

from __future__ import annotations

import json
import re
import tomllib
from math import isfinite
from typing import TYPE_CHECKING, Any

from seeklab.data.json_depth import DEEPEST, is_too_deep

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_CONTAINERS = 1_000_000
"""Maximum number of lists and objects of a text; a recording of a day has a tenth of it."""
MAX_DIGITS = 4300
"""The same as Python's own limit, which bounds the time for one number."""
LARGEST = 2**63 - 1
BETWEEN_KEYS = re.compile(r"[\n,={}\[\]#]")


class UnreadableError(ValueError):
    """A text cannot be read; the message continues a sentence that starts with its name."""


def read_json(text: str) -> Any:
    """Parse JSON; raise UnreadableError with the reason if that is not possible."""
    if is_too_deep(text):
        message = f"is truncated JSON, or nested deeper than {DEEPEST} levels"
        raise UnreadableError(message)
    return _parsed(text, json.loads, "JSON")


def read_toml(text: str) -> dict[str, Any]:
    """Parse TOML; raise UnreadableError with the reason if that is not possible."""
    # Python's parser takes quadratic time in the number of parts of a dotted key.
    outside = "".join(text.replace("\\\\", "").replace('\\"', "").split('"')[::2])
    if any(part.count(".") >= DEEPEST for part in BETWEEN_KEYS.split(outside)):
        message = f"has a key of more than {DEEPEST} parts"
        raise UnreadableError(message)
    read: dict[str, Any] = _parsed(text, tomllib.loads, "TOML")
    return read


def _parsed(text: str, parse: Callable[[str], Any], form: str) -> Any:
    message = f"contains a whole number of more than {MAX_DIGITS:,} digits"
    try:
        if text.count("[") + text.count("{") <= MAX_CONTAINERS:
            return parse(text)
        message = f"contains more than {MAX_CONTAINERS:,} lists and objects"
    except (json.JSONDecodeError, tomllib.TOMLDecodeError) as error:
        message = f"is not {form}: {error}"
    except RecursionError:
        message = f"is nested deeper than {DEEPEST} levels"
    except ValueError:
        pass  # Python's error for a number with too many digits
    raise UnreadableError(message)


def odd_value(document: object) -> tuple[str, str] | None:
    """Return the path and the problem of a value that no scenario can contain; None if there is none."""
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
            return path, f"is {value}, a {type(value).__name__}; write a number, a text, true or false"
    return None
