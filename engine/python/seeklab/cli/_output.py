"""Output that commands share: tables and numbers for people, JSON for programs, notes and errors on stderr."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from seeklab import __version__
from seeklab.data.format import format_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from seeklab._result import Result

MAX_COMPLAINTS = 20
MAX_COMPLAINT = 1000


def note(sentence: str) -> None:
    """Print a note on stderr."""
    complain(f"note: {sentence}")


def complain(text: str) -> None:
    """Print an error or a note on stderr, with the program's name on every line."""
    if sys.stderr is None:
        return
    lines = text.splitlines()
    for line in lines[:MAX_COMPLAINTS]:
        cut = line if len(line) <= MAX_COMPLAINT else f"{line[:MAX_COMPLAINT]}..."
        print(f"seeklab: {cut}", file=sys.stderr)
    if len(lines) > MAX_COMPLAINTS:
        print(f"seeklab: and {len(lines) - MAX_COMPLAINTS} more", file=sys.stderr)


def print_json(document: Any) -> None:
    """Print one JSON document."""
    print(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))


def print_text(text: str) -> None:
    """Print a text, and end it with a line break."""
    print(text, end="" if text.endswith("\n") else "\n")


def print_table(head: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> None:
    """Print rows in columns as wide as needed; columns in `right` are right-aligned."""
    lines = [tuple(head), *(tuple(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    rights = set(right)
    for line in lines:
        cells = [
            cell.rjust(width) if column in rights else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())


def print_metrics(result: Result) -> None:
    """Print the fingerprint and every metric of a run."""
    print(f"fingerprint {result.fingerprint}, {result.events} events")
    print()
    rows = [(name, number(value), result.units.get(name, "")) for name, value in result.metrics.items()]
    print_table(("metric", "value", "unit"), rows, right={1})


def run_document(result: Result) -> dict[str, Any]:
    """Return the JSON document of a run."""
    return {
        "case": result.case,
        "variant": result.variant,
        "seed": result.seed,
        "fingerprint": result.fingerprint,
        "metrics": dict(result.metrics),
        "events": result.events,
        "wall_s": result.wall_s,
        "version": __version__,
    }


def number(value: float | None) -> str:
    """Return a number with six digits, which other programs can parse; "-" for None."""
    return format_number(value, 6, separator="")
