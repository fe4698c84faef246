"""A table of result columns: plain typed memory that data libraries can use without a copy."""

from __future__ import annotations

import csv
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seeklab.data.columns import TextColumn
from seeklab.data.html_table import html_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from _typeshed import SupportsWrite

    from seeklab.data.columns import Column

Number = float | int

SHOWN_ROWS = 8
"""Number of rows that a notebook shows."""


def plain(value: Number | str) -> str:
    """Return a number without a needless `.0`; NaN becomes an empty text."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else "" if value != value else str(value)  # noqa: PLR0124 -- NaN
    return str(value)


class Table:
    """Named columns of equal length.

    `table["latency_ns"]` is a read-only `memoryview` of the column's own memory; texts are a tuple. The table
    implements the Arrow PyCapsule interface, so `pyarrow.table(t)`, `polars.DataFrame(t)`,
    `pandas.DataFrame.from_arrow(t)` and DuckDB accept it directly.
    """

    __slots__ = ("_columns", "_length")

    def __init__(self, columns: Mapping[str, Column]) -> None:
        """Create a table from columns of equal length, which must not change afterwards."""
        lengths = {len(values) for values in columns.values()}
        if len(lengths) > 1:
            message = f"The columns of a table must have the same length; found {sorted(lengths)}."
            raise ValueError(message)
        self._columns = dict(columns)
        self._length = lengths.pop() if lengths else 0

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._columns)

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._length

    def __getitem__(self, name: str) -> Any:
        """Return one column, as a read-only view of its memory, or as a tuple of texts."""
        try:
            values = self._columns[name]
        except KeyError:
            message = f"no column {name!r}; the columns are {', '.join(self._columns)}"
            raise KeyError(message) from None
        return values.texts if isinstance(values, TextColumn) else memoryview(values).toreadonly()

    def __contains__(self, name: object) -> bool:
        """Return whether a column of this name exists."""
        return name in self._columns

    def rows(self) -> Iterator[dict[str, Any]]:
        """Iterate over the rows, each as a dictionary of its values."""
        names = tuple(self._columns)
        for values in zip(*self._columns.values(), strict=True):
            yield dict(zip(names, values, strict=True))

    def to_csv(self, target: str | PathLike[str] | SupportsWrite[str]) -> None:
        """Write the table as comma-separated values, with a header, to a path or an open text file."""
        if isinstance(target, (str, PathLike)):
            with Path(target).open("w", encoding="utf-8", newline="") as file:
                self.to_csv(file)
            return
        writer = csv.writer(target, lineterminator="\n")
        writer.writerow(self._columns)
        writer.writerows(map(plain, values) for values in zip(*self._columns.values(), strict=True))

    def __arrow_c_schema__(self) -> object:
        """Return the columns' names and types as an Arrow schema capsule."""
        from seeklab.data.arrow import schema_capsule

        return schema_capsule(self._columns)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the table as an Arrow stream capsule. A requested schema is ignored, as the interface allows."""
        from seeklab.data.arrow import stream_capsule

        del requested_schema
        return stream_capsule(self._columns)

    def __repr__(self) -> str:
        """Return the number of rows, and the columns."""
        return f"<Table of {self._length} rows: {', '.join(self._columns)}>"

    def _repr_html_(self) -> str:
        """Return the first rows as HTML, for a notebook."""
        shown = min(self._length, SHOWN_ROWS)
        rows = [[plain(values[row]) for values in self._columns.values()] for row in range(shown)]
        caption = f"{shown} of {self._length} rows" if shown < self._length else ""
        return html_table(list(self._columns), rows, caption=caption)
