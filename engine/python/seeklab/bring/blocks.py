"""Cuts a text into blocks at the headings of the tools that wrote them."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Protocol, TypeVar

from seeklab.bring.block import Block, Skipped
from seeklab.bring.commands import named
from seeklab.bring.lines import Lines, cleaned, command
from seeklab.bring.long_text import is_long, numbered, thinned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    from seeklab.bring.forms import Forms

    Match: TypeAlias = Callable[[str], re.Match[str] | None]

Made = TypeVar("Made")
LOOSE = frozenset(("smartctl", "nvme-smart", "nvme-id-ctrl", "controller"))
"""Tools whose reports are `name: value` lines among others, so that their readers take any line."""
TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\]){0,200}\]|.")
"""A part of a regular expression: an escape, a class, or a character."""
REPEATS = re.compile(r"(?:[?*+]|\{[\d,]{1,12}\})[?+]?")
MAX_WORD = 60
COMMON = 1_000
"""Places of a text in a long text that are looked for, at most: more of them are not rare."""
DIGITS = b"0123456789.,"
ZEROS = bytes.maketrans(b"123456789", b"000000000")
SHAPE, FEW_SHAPES = 64, 2000
"""Letters of a line that tell its shape, and how many shapes any text may have."""
MUCH, PORTION = 1 << 20, 4096
"""Bytes of distinct lines that are searched without their words, and lines whose words are collected at a time."""
MUCH_SEARCHED = 8 << 20
"""Bytes of distinct lines, at most, that are searched instead of the text."""
MAX_MISSES = 20_000
"""The reader skips the rest of a text after this many lines that only look like headings."""
FEW_MISSES, ALIKE = 200, 8
"""After this number of false headings, a heading is skipped if it and the lines below it were read before."""


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
    missed: set[tuple[str, ...]] = set()
    while (at := marks.next(at)) < len(lines) and misses < MAX_MISSES:
        look = tuple(lines[at : at + ALIKE]) if misses > FEW_MISSES else ()
        if look in missed:
            misses += 1
            at += 1
            continue
        block = next((block for reader in marks.readers(at) if (block := reader.read(lines, at)) is not None), None)
        if block is None:
            if look:
                missed.add(look)
            misses += 1
            at += 1
            continue
        block.first = max(block.first, unknown + 1)
        if not block.records or block.tool in LOOSE:
            block.last = _end_of(lines, marks, block)
            block.records = [each for each in block.records if getattr(each, "line", 0) <= block.last]
        block.source = source
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
            readers = (reader for reader in marks.readers(at) if _tool_at(reader, lines[at]) != block.tool)
            found = (reader.read(lines, at) for reader in readers)
            if any(other is not None and other.records and other.tool != block.tool for other in found):
                return at
        at += 1
    return block.last


def _tool_at(reader: Reader, line: str) -> str | None:
    """Return the tool that a reader of several finds in a line without reading on; reading costs a long block."""
    forms: Forms | None = getattr(reader, "FORMS", None)
    return None if forms is None else forms.tool(line)


class Marks:
    """The lines that may be headings, found for the whole text at once, because most lines are not."""

    def __init__(self, lines: Lines, readers: Sequence[Reader], most: int = sys.maxsize) -> None:
        """Find the lines, up to a maximum number of places for each text that marks a line."""
        self._lines = lines
        self._starts = _starts(tuple(readers))
        matches = self._starts.matches
        if most < sys.maxsize:
            self._marked = _marked_by_shape(lines, matches)
            self._held = _held_by_shape(lines, self._starts.literals, most)
        else:
            self._marked = _marked(lines, matches)
            self._held = _held(lines, self._starts.literals)
        for line in self._held:
            self._marked[line] = 1

    def next(self, at: int) -> int:
        """Return the next marked line from `at` on, or the number of lines."""
        found = self._marked.find(1, at)
        return len(self._marked) if found < 0 else found

    def readers(self, at: int) -> list[Reader]:
        """Return the readers whose marks are in a line."""
        stripped, held = self._lines[at].lstrip(), self._held.get(at, set())
        return [
            reader
            for reader, match in self._starts.readers[stripped[:1]]
            if match(stripped) or not held.isdisjoint(reader.HOLDS)
        ]

    def kinds(self) -> list[tuple[int, str]]:
        """Return each marked line with its kind: the text or the first word that marks it."""
        found = []
        at = self.next(0)
        while at < len(self._marked):
            held = self._held.get(at)
            word = min(held) if held else self._lines[at].lstrip()[:MAX_WORD].partition(" ")[0].rstrip("0123456789.,:")
            found.append((at, word))
            at = self.next(at + 1)
        return found


def _marked(lines: Sequence[str], matches: Mapping[str, Match]) -> bytearray:
    """Return 1 for each line that begins like a heading."""
    stripped = (line.lstrip() for line in lines)
    return bytearray(matches[line[:1]](line) is not None for line in stripped)


def _marked_by_shape(lines: Sequence[str], matches: Mapping[str, Match]) -> bytearray:
    """Return 1 for each line that begins like a heading, judging lines that differ only in digits once.

    Recordings repeat a few shapes. A text whose lines are all different has nothing to gain, so each line is judged.
    """
    text = "\n".join(lines).encode("utf-8", "surrogatepass").translate(ZEROS)
    found = bytearray()
    judged: dict[bytes, bool] = {}
    for line in text.split(b"\n"):
        shape = line[:SHAPE]
        is_marked = judged.get(shape)
        if is_marked is None:
            if len(judged) > FEW_SHAPES and len(judged) > len(found) / 2:
                return _marked(lines, matches)
            start = lines[len(found)].lstrip()
            is_marked = judged[shape] = matches[start[:1]](start) is not None
        found.append(is_marked)
    return found


def _held(lines: Sequence[str], literals: Sequence[str], most: int = sys.maxsize) -> dict[int, set[str]]:
    """Return the literals of each line that has any, up to a maximum number of lines for each literal."""
    found: dict[int, set[str]] = {}
    text = "\n".join(lines)
    ends = list(accumulate(len(line) + 1 for line in lines))
    for literal in literals:
        place, left = text.find(literal), most
        while place >= 0 and left:
            left -= 1
            line = bisect_right(ends, place)
            found.setdefault(line, set()).add(literal)
            place = text.find(literal, ends[line])
    return found


def _held_by_shape(lines: Sequence[str], literals: Sequence[str], most: int) -> dict[int, set[str]]:
    """Return the literals of each line that has any, searching lines that differ only in digits once.

    A search of the whole text for each literal takes far longer. A text with little repetition is searched for those
    literals that its words may be part of.
    """
    bare = "\n".join(lines).encode("utf-8", "surrogatepass").translate(None, DIGITS).split(b"\n")
    distinct = list(set(bare))
    literals = may_hold(distinct, literals)
    joined = b"\n".join(distinct)
    if len(joined) > MUCH_SEARCHED:
        return _held(lines, literals, most)
    ends = list(accumulate(len(shape) + 1 for shape in distinct))
    shapes: dict[bytes, list[str]] = {}
    for literal in literals:
        part = literal.encode().translate(None, DIGITS)
        place = joined.find(part)
        while place >= 0:
            at = bisect_right(ends, place)
            shapes.setdefault(distinct[at], []).append(literal)
            place = joined.find(part, ends[at])
    found = {}
    for at, shape in enumerate(bare):
        if shape in shapes and (held := {literal for literal in shapes[shape] if literal in lines[at]}):
            found[at] = held
    return found


def may_hold(distinct: Sequence[bytes], literals: Sequence[str]) -> list[str]:
    """Return the literals that lines without digits may contain: in their words, if the lines are many."""
    is_varied = sum(map(len, distinct)) > MUCH
    if is_varied:
        words: set[bytes] = set()
        for start in range(0, len(distinct), PORTION):
            words.update(b" ".join(distinct[start : start + PORTION]).split())
        distinct = list(words)
    joined = b"\n".join(distinct)
    parts = ((literal, literal.encode().translate(None, DIGITS)) for literal in literals)
    return [
        literal for literal, part in parts if (max(part.split(), key=len, default=b"") if is_varied else part) in joined
    ]


class _Starts:
    """Beginnings of the readers' headings, by the first letter of a line.

    Most lines are no headings, and most headings begin with a letter of their own. So each line is compared only with
    the headings that may begin with its first letter. Expressions are compiled when a text has a line for them.
    """

    def __init__(self, readers: tuple[Reader, ...]) -> None:
        self._parts = [(reader, list(alternatives(reader.STARTS)) if reader.STARTS else []) for reader in readers]
        self.literals = sorted({literal for reader in readers for literal in reader.HOLDS})
        self.matches = _ByLetter(self._match)
        """A function for each letter: it matches a line that begins with it, if the line may be a heading."""
        self.readers = _ByLetter(self._readers)
        """All readers for each letter, in their order, each with the function that matches its headings."""

    def _match(self, letter: str) -> Match:
        return _matcher(part for _, parts in self._parts for part in parts if may_begin(part, letter))

    def _readers(self, letter: str) -> list[tuple[Reader, Match]]:
        return [(reader, _matcher(part for part in parts if may_begin(part, letter))) for reader, parts in self._parts]


class _ByLetter(dict[str, Made]):
    """A table that makes the entry of a letter when it is asked for. All letters beyond ASCII share one."""

    def __init__(self, make: Callable[[str], Made]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, letter: str) -> Made:
        made = self[letter] = self[""] if letter > "\x7f" else self._make(letter)
        return made


_starts = cache(_Starts)


def _matcher(parts: Iterable[str]) -> Match:
    return re.compile("|".join(f"(?:{part})" for part in parts) or "(?!)").match


def alternatives(pattern: str) -> Iterator[str]:
    """Yield the parts of an expression between its outermost bars."""
    depth, begin = 0, 0
    for match in TOKEN.finditer(pattern):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if match[0] == "|" and not depth:
            yield pattern[begin : match.start()]
            begin = match.end()
    yield pattern[begin:]


def may_begin(pattern: str, letter: str) -> bool:
    """Return whether a text that begins with this letter may match an expression; "" is any letter beyond ASCII."""
    if not pattern:
        return True
    end, inner = _first_part(pattern)
    repeats = REPEATS.match(pattern, end)
    rest = pattern[repeats.end() if repeats else end :]
    is_optional = repeats is not None and repeats[0].startswith(("?", "*", "{0", "{,"))
    if inner is not None:
        found = any(may_begin(each + rest, letter) for each in alternatives(inner))
    else:
        found = pattern[:end] == "$" or (re.match(pattern[:end], letter) is not None if letter else end > 1)
    return found or (is_optional and may_begin(rest, letter))


def _first_part(pattern: str) -> tuple[int, str | None]:
    """Return the end of the first part of an expression, and the inside of it if it is a group."""
    depth = 0
    for match in TOKEN.finditer(pattern):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if not depth:
            return match.end(), re.sub(r"^\?:", "", pattern[1 : match.start()]) if match.start() else None
    message = f"{pattern!r} has an open group"
    raise ValueError(message)


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
