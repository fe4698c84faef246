"""JSON documents within a text: found by their braces, parsed within limits, and read without trusting their types."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from seeklab._documents import UnreadableError, read_json
from seeklab.bring.numbers import MAX

if TYPE_CHECKING:
    from seeklab.bring.lines import Lines

MAX_LINES = 400_000


def document_at(lines: Lines, at: int) -> tuple[Any, int] | None:
    """Return the JSON document that starts on line index `at`, and its last line from 1; None if there is none."""
    end = end_of(lines, at)
    if end is None:
        return None
    try:
        return read_json("\n".join(lines[at:end])), end
    except UnreadableError:
        return None


def end_of(lines: Lines, at: int) -> int | None:
    """Return the line, from 1, that closes the first brace; strings are skipped."""
    depth = 0
    for index in range(at, min(len(lines), at + MAX_LINES)):
        lines.budget -= 1
        if lines.budget < 0:
            return None
        line = lines[index]
        if '"' in line:
            line = "".join(line.replace("\\\\", "").replace('\\"', "").split('"')[::2])
        depth += line.count("{") + line.count("[") - line.count("}") - line.count("]")
        if depth <= 0:
            return index + 1
    return None


def mapping(value: object) -> dict[str, Any]:
    """Return an object of the document, or an empty one."""
    return value if isinstance(value, dict) else {}


def rows_of(value: object) -> list[dict[str, Any]]:
    """Return the objects of a list of the document, or none."""
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def finite(value: object) -> float | None:
    """Return a number that a measurement can have, or None."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if isfinite(value) and abs(value) < MAX else None
