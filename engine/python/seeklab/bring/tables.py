"""Tables with one heading: rows by column name, as many tools print them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from seeklab.bring.numbers import number, scaled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seeklab.bring.lines import Lines


@dataclass(frozen=True)
class Row:
    """A row of a table."""

    line: int
    """Line number, from 1."""
    words: dict[str, str]

    def number(self, *columns: str) -> float | None:
        """Return the first of the columns that has a number; letters of size (K, M, G) count in 1024."""
        for column in columns:
            cell = self.words.get(column)
            if cell is not None and (value := number(cell) if not cell[-1:].isalpha() else scaled(cell)) is not None:
                return value
        return None

    def scaled(self, factor: float, *columns: str) -> float | None:
        """Return the number times a factor."""
        value = self.number(*columns)
        return None if value is None else value * factor


def rows(lines: Lines, at: int, columns: Sequence[str], *, blanks: int = 0, skip: str = "") -> tuple[list[Row], int]:
    """Return the rows below index `at`, and the index behind the last.

    A row has as many cells as there are columns. At most `blanks` empty lines may follow each other; a line that starts
    with the heading's first two columns, or with `skip`, is a repeated heading and not a row.
    """
    found: list[Row] = []
    end, empty = at, 0
    index = at
    while index < len(lines):
        cells = lines[index].split()
        if not cells:
            empty += 1
            if empty > blanks:
                break
        elif cells[:2] == list(columns[:2]) or (skip and lines[index].lstrip().startswith(skip)):
            end, empty = index + 1, 0
        elif len(cells) == len(columns):
            found.append(Row(index + 1, dict(zip(columns, cells, strict=True))))
            end, empty = index + 1, 0
        else:
            break
        index += 1
    return found, end


def unique(columns: Sequence[str]) -> list[str]:
    """Return column names without repetition: the second `kBps` becomes `kBps.2`."""
    found: list[str] = []
    for column in columns:
        found.append(column if column not in found else f"{column}.{found.count(column) + 1}")
    return found
