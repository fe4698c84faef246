"""Columns of a table: typed numbers as `array.array`, or texts."""

from __future__ import annotations

from array import array
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class TextColumn:
    """A column of texts in Arrow's layout: their UTF-8 bytes together, and the offset of each."""

    __slots__ = ("data", "offsets", "texts")

    def __init__(self, texts: Iterable[str]) -> None:
        """Build the column."""
        self.texts: tuple[str, ...] = tuple(texts)
        encoded = [text.encode() for text in self.texts]
        self.data: array[int] = array("B", b"".join(encoded))
        self.offsets: array[int] = array("i", chain((0,), accumulate(map(len, encoded))))

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.texts)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the texts."""
        return iter(self.texts)

    def __getitem__(self, row: int) -> str:
        """Return the text of one row."""
        return self.texts[row]


Column: TypeAlias = "array[Any] | TextColumn"
