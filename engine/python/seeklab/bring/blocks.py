"""Cuts a text into blocks at the headings of the tools that wrote them."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Protocol

from seeklab.bring.block import Block, Skipped
from seeklab.bring.commands import named
from seeklab.bring.lines import Lines, cleaned, command
from seeklab.bring.long_text import is_long, numbered, thinned

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LOOSE = frozenset(("smartctl", "nvme-smart", "nvme-id-ctrl", "controller"))
"""Tools whose reports are `name: value` lines among others, so that their readers take any line."""
COMMON = 1_000
"""Places of a text in a long text that are looked for, at most: more of them are not rare."""
MAX_MISSES = 20_000
"""The reader skips the rest of a text after this many lines that only look like headings."""


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
    notes: list[str] = field(default_factory=list)
    """Notes about the text itself: lines that were left out, or why a file has no text."""


def blocks(text: str, source: str = "") -> Found:
    """Cut a text into blocks. Unknown lines are skipped and listed; nothing is refused."""
    from seeklab.bring.readers import HEADLESS, READERS

    return cut(cleaned(text), source, READERS, HEADLESS)


def cut(lines: Lines, source: str, readers: Sequence[Reader], headless: Sequence[Reader] = ()) -> Found:
    """Cut cleaned lines into blocks with the given readers, which are asked in order."""
    if not is_long(lines):
        return _cut(lines, source, Marks(lines, (*readers, *headless)))
    kept = thinned(lines, Marks(lines, readers, COMMON).kinds())
    found = _cut(kept, source, Marks(kept, readers))
    return numbered(found, kept, len(lines))


def _cut(lines: Lines, source: str, marks: Marks) -> Found:
    found = Found(source)
    at, unknown, misses = 0, 0, 0
    while (at := marks.next(at)) < len(lines) and misses < MAX_MISSES:
        block = next((block for reader in marks.readers(at) if (block := reader.read(lines, at)) is not None), None)
        if block is None:
            misses += 1
            at += 1
            continue
        if not block.records or block.tool in LOOSE:
            block.last = _end_of(lines, marks, block)
            block.records = [each for each in block.records if getattr(each, "line", 0) <= block.last]
        block.source = source
        block.first = max(block.first, unknown + 1)
        if block.first - 2 >= unknown and command(lines[block.first - 2]):
            block.first -= 1
        is_printed_above = command(lines[block.first - 1]) is None
        _skip(found, lines, unknown, block.first - 1, is_above_a_block=is_printed_above)
        found.blocks.append(block)
        at = unknown = max(block.last, at + 1)
    _skip(found, lines, unknown, len(lines))
    if misses >= MAX_MISSES:
        found.notes.append(f"More than {MAX_MISSES:,} lines look like headings and are none; the rest is not read.")
    return found


def _end_of(lines: Lines, marks: Marks, block: Block) -> int:
    """Return the last line of a block that takes any line: it ends where a reader finds records of another tool."""
    own = {getattr(record, "line", 0) for record in block.records}
    at = block.first
    while (at := marks.next(at)) < block.last:
        if at + 1 not in own:
            found = (reader.read(lines, at) for reader in marks.readers(at))
            if any(other is not None and other.records and other.tool != block.tool for other in found):
                return at
        at += 1
    return block.last


class Marks:
    """The lines that may be headings, found for the whole text at once, because most lines are not."""

    def __init__(self, lines: Lines, readers: Sequence[Reader], most: int = sys.maxsize) -> None:
        """Find the lines, up to a maximum number of places for each text that marks a line."""
        self._all = readers
        self._lines = lines
        self._starts, by_first, literals = _compiled(tuple(readers))
        others = by_first[""].match
        matchers = {first: expression.match for first, expression in by_first.items()}
        stripped = (line.lstrip() for line in lines)
        self._marked = bytearray(matchers.get(line[:1], others)(line) is not None for line in stripped)
        self._held: dict[int, set[str]] = {}
        text = "\n".join(lines)
        ends = list(accumulate(len(line) + 1 for line in lines))
        for literal in literals:
            place, left = text.find(literal), most
            while place >= 0 and left:
                left -= 1
                line = bisect_right(ends, place)
                self._marked[line] = 1
                self._held.setdefault(line, set()).add(literal)
                place = text.find(literal, ends[line])

    def next(self, at: int) -> int:
        """Return the next marked line from `at` on, or the number of lines."""
        found = self._marked.find(1, at)
        return len(self._marked) if found < 0 else found

    def readers(self, at: int) -> list[Reader]:
        """Return the readers whose marks are in a line."""
        stripped, held = self._lines[at].lstrip(), self._held.get(at, set())
        return [
            reader
            for reader, start in zip(self._all, self._starts, strict=True)
            if (start is not None and start.match(stripped)) or not held.isdisjoint(reader.HOLDS)
        ]

    def kinds(self) -> list[tuple[int, str]]:
        """Return each marked line with its kind: the text or the first word that marks it."""
        found = []
        at = self.next(0)
        while at < len(self._marked):
            held = self._held.get(at)
            found.append((at, min(held) if held else self._lines[at].split(None, 1)[0].rstrip("0123456789.,:")))
            at = self.next(at + 1)
        return found


@cache
def _compiled(
    readers: tuple[Reader, ...],
) -> tuple[list[re.Pattern[str] | None], dict[str, re.Pattern[str]], frozenset[str]]:
    """Return the expression of each reader, an expression of all by first letter, and the texts that mark a line.

    Most lines are no headings, and most headings begin with a letter of their own. So each line is compared only with
    the headings that may begin with its first letter; "" has those that may begin with any.
    """
    starts = [re.compile(reader.STARTS) if reader.STARTS else None for reader in readers]
    groups: dict[str, list[str]] = {"": []}
    for alternative in (part for reader in readers if reader.STARTS for part in alternatives(reader.STARTS)):
        for first in firsts(alternative):
            groups.setdefault(first, []).append(alternative)
    anywhere = groups[""]
    by_first = {
        first: re.compile("|".join(f"(?:{part})" for part in (found if not first else [*found, *anywhere])) or "(?!)")
        for first, found in groups.items()
    }
    return starts, by_first, frozenset(literal for reader in readers for literal in reader.HOLDS)


def alternatives(pattern: str) -> Iterator[str]:
    """Yield the parts of an expression between its outermost bars."""
    depth, begin, in_class = 0, 0, False
    for match in re.finditer(r"\\.|\[\^?\]?|[\](|)]", pattern):
        found = match[0]
        if in_class:
            in_class = found != "]"
        elif found.startswith("["):
            in_class = True
        elif found == "(":
            depth += 1
        elif found == ")":
            depth -= 1
        elif found == "|" and not depth:
            yield pattern[begin : match.start()]
            begin = match.end()
    yield pattern[begin:]


def firsts(alternative: str) -> str | tuple[str]:
    """Return the first letters of the texts that match; ("",) if they are not known."""
    if (alternative.startswith("\\d") and alternative[2:3] not in ("*", "?", "{")) or re.match(
        r"\\d\{[1-9]", alternative
    ):
        return "0123456789"
    first, after = alternative[:1], alternative[1:2]
    is_plain = first.isalnum() or first in "%#@-/\"'<>_"
    return first if is_plain and after not in ("*", "?", "{") else ("",)


def _skip(found: Found, lines: Lines, begin: int, end: int, *, is_above_a_block: bool = False) -> None:
    """List lines that no reader knows; output below a command is a block of the command's name.

    The last command above a block printed that block.
    """
    of_block = 0
    if is_above_a_block:
        of_block = next((at for at in range(end - 1, begin - 1, -1) if command(lines[at])), 0)
    for block in named(lines, begin, of_block or end):
        _list(found, lines, begin, block.first - 1)
        block.source = found.source
        found.blocks.append(block)
        begin = block.last
    _list(found, lines, begin, end)


def _list(found: Found, lines: Lines, begin: int, end: int) -> None:
    while begin < end and not lines[begin].strip():
        begin += 1
    while end > begin and not lines[end - 1].strip():
        end -= 1
    if begin < end:
        found.skipped.append(Skipped(begin + 1, end, lines[begin].strip()[:120]))
