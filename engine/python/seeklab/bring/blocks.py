"""Cuts a text into blocks at the headings of the tools that wrote them."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, Protocol

from seeklab.bring.block import Block, Skipped
from seeklab.bring.lines import Lines, cleaned

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Reader(Protocol):
    """A reader of one tool's output: a module of `seeklab.bring.readers`."""

    TOOL: str
    """The tool's name in documents, such as `iostat-x`."""
    STARTS: str
    """A regular expression that matches the beginning of each line where a block may start, after its blanks; "" for "
    "none."""
    HOLDS: tuple[str, ...]
    """Texts that a line contains where a block may start: one of them is enough."""

    def read(self, lines: Lines, at: int) -> Block | None:
        """Return the block that starts at index `at`, or None if the line only looks like a heading.

        `Block.first` may be above `at` (a heading that precedes the marked line) but not within an earlier block;
        `Block.last` is the last line that belongs to the block.
        """


@dataclass
class Found:
    """The contents of a text."""

    source: str
    blocks: list[Block] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)


def blocks(text: str, source: str = "") -> Found:
    """Cut a text into blocks. Unknown lines are skipped and listed; nothing is refused."""
    from seeklab.bring.readers import READERS

    return cut(cleaned(text), source, READERS)


def cut(lines: Lines, source: str, readers: Sequence[Reader]) -> Found:
    """Cut cleaned lines into blocks with the given readers, which are asked in order."""
    marks = _Marks(lines, readers)
    found = Found(source)
    at, unknown = 0, 0
    while (at := marks.next(at)) < len(lines):
        block = next((block for reader in marks.readers(at) if (block := reader.read(lines, at)) is not None), None)
        if block is None:
            at += 1
            continue
        block.source = source
        _skip(found, lines, unknown, block.first - 1)
        found.blocks.append(block)
        at = unknown = max(block.last, at + 1)
    _skip(found, lines, unknown, len(lines))
    return found


class _Marks:
    """The lines that may be headings, found for the whole text at once, because most lines are not."""

    def __init__(self, lines: Lines, readers: Sequence[Reader]) -> None:
        self._all = readers
        self._starts = [re.compile(reader.STARTS) if reader.STARTS else None for reader in readers]
        any_start = re.compile("|".join(f"(?:{reader.STARTS})" for reader in readers if reader.STARTS))
        self._stripped = [line.lstrip() for line in lines]
        self._marked = bytearray(bool(any_start.match(line)) for line in self._stripped)
        text = "\n".join(lines)
        ends = list(accumulate(len(line) + 1 for line in lines))
        self._lines = lines
        for literal in {literal for reader in readers for literal in reader.HOLDS}:
            place = text.find(literal)
            while place >= 0:
                line = bisect_right(ends, place)
                self._marked[line] = 1
                place = text.find(literal, ends[line])

    def next(self, at: int) -> int:
        """Return the next marked line from `at` on, or the number of lines."""
        found = self._marked.find(1, at)
        return len(self._marked) if found < 0 else found

    def readers(self, at: int) -> Iterator[Reader]:
        """Yield the readers whose marks are in a line."""
        line, stripped = self._lines[at], self._stripped[at]
        for reader, start in zip(self._all, self._starts, strict=True):
            if (start is not None and start.match(stripped)) or any(literal in line for literal in reader.HOLDS):
                yield reader


def _skip(found: Found, lines: Lines, begin: int, end: int) -> None:
    while begin < end and not lines[begin].strip():
        begin += 1
    while end > begin and not lines[end - 1].strip():
        end -= 1
    if begin < end:
        found.skipped.append(Skipped(begin + 1, end, lines[begin].strip()[:120]))
