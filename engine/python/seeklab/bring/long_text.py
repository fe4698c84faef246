"""Long texts: what is read of them, so that any text takes a second or two and not minutes.

A recording of a day repeats itself. Of a long text, the readers get stretches at even distances, among them the first
and the last lines. They also get all places with a heading or a message that is rare in the text. Each stretch is
whole, so that no row gets the heading of another table. The answer says how many lines were read.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from seeklab.bring.block import Block, Event, PoolSample, Sample, Skipped, Value
from seeklab.bring.json_block import MAX_LINES as MAX_JSON_LINES
from seeklab.bring.json_block import end_of
from seeklab.bring.lines import Lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from seeklab.bring.blocks import Found

MAX_LINES, MAX_LETTERS = 20_000, 1_500_000
"""A text below both limits is read as a whole."""
STRETCHES = 24
STRETCH_LINES, STRETCH_LETTERS = 500, 45_000
RARE, RARE_LINES, MAX_RARE = 8, 120, 60
"""Maximum number of places of a rare mark, lines read from each of its places, and maximum number of such places."""
SEAM = 6
"""Lines that stand for each gap: more than any reader passes over."""
JOINED = ("iostat-x", "iostat", "solaris-iostat", "freebsd-iostat", "gstat", "sar-d", "zpool-iostat", "vmstat")
"""Tools whose tables in neighbouring stretches are one recording."""


def is_long(lines: Lines) -> bool:
    """Return whether a text is too long to be read as a whole."""
    return len(lines) > MAX_LINES or sum(map(len, lines)) > MAX_LETTERS


def thinned(lines: Lines, kinds: Sequence[tuple[int, str]]) -> Lines:
    """Return the lines to read, with their numbers; `kinds` are the marked lines, each with its kind."""
    kept: list[str] = []
    numbers: list[int] = []
    for begin, end in _joined(sorted(_stretches(lines, kinds))):
        if begin > (numbers[-1] if numbers else 0):
            kept += ["..."] * SEAM
            numbers += [0] * SEAM
        kept += lines[begin:end]
        numbers += range(begin + 1, end + 1)
    return Lines(kept, numbers)


def _stretches(lines: Lines, kinds: Sequence[tuple[int, str]]) -> Iterator[tuple[int, int]]:
    """Yield stretches as pairs of indices. Where a mark follows soon, a stretch starts at it."""
    marks = [at for at, _ in kinds]
    for number in range(STRETCHES):
        start = number * max(0, len(lines) - STRETCH_LINES) // (STRETCHES - 1)
        place = bisect_right(marks, start - 1)
        if number and place < len(marks) and marks[place] < start + STRETCH_LINES:
            start = marks[place]
        yield start, _end(lines, start, STRETCH_LINES, STRETCH_LETTERS)
    counts = Counter(kind for _, kind in kinds)
    rare = [at for at, kind in kinds if counts[kind] <= RARE]
    for at in rare[:MAX_RARE]:
        yield max(0, at - 3), _end(lines, at, RARE_LINES, STRETCH_LETTERS)
    documents = [at for at, _ in kinds if lines[at].lstrip().startswith("{")]
    lines.budget = MAX_JSON_LINES
    for at in documents[:RARE]:
        # The parser of JSON is fast, and half a document is none.
        if (end := end_of(lines, at)) is not None and end > at + RARE_LINES:
            yield at, end
            break


def _end(lines: Lines, start: int, most: int, letters: int) -> int:
    end = start
    while end < min(len(lines), start + most) and letters > 0:
        letters -= len(lines[end])
        end += 1
    return end


def _joined(stretches: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield stretches that do not overlap."""
    begin, end = stretches[0]
    for start, stop in stretches[1:]:
        if start > end:
            yield begin, end
            begin, end = start, stop
        else:
            end = max(end, stop)
    yield begin, end


def numbered(found: Found, lines: Lines, total: int) -> Found:
    """Return the blocks with the line numbers of the text; blocks of one recording are joined."""
    numbers = lines.numbers
    joined: list[Block] = []
    for block in found.blocks:
        block.first, block.last = numbers[block.first - 1], numbers[block.last - 1]
        block.records = [renumbered(record, numbers) for record in block.records]
        before = joined[-1] if joined else None
        if before is not None and block.tool == before.tool and block.tool in JOINED and not block.version:
            before.records += block.records
            before.last = block.last
        else:
            joined.append(block)
    found.blocks = joined
    found.skipped = [part for each in found.skipped if (part := _numbered_part(each, lines)) is not None]
    read = len(numbers) - numbers.count(0)
    parts = 1 + sum(1 for one, two in pairwise(numbers) if one and not two)
    found.notes.append(
        f"The text is long: {read:,} of its {total:,} lines are read, in {parts} stretches from the first line to the "
        "last, with all messages that are rare in it."
    )
    return found


def _numbered_part(part: Skipped, lines: Lines) -> Skipped | None:
    """Return skipped lines with the line numbers of the text; None if they are only a gap."""
    known = [index for index in range(part.first - 1, part.last) if lines.numbers[index] and lines[index].strip()]
    if not known:
        return None
    return Skipped(lines.numbers[known[0]], lines.numbers[known[-1]], lines[known[0]].strip()[:120])


def renumbered(record: Any, numbers: Sequence[int]) -> Any:
    """Return a record with the line number of the whole text, which has this index in the shorter one."""
    if isinstance(record, (Sample, PoolSample, Value, Event)) and 0 < record.line <= len(numbers):
        number = numbers[record.line - 1]
        if isinstance(record, Value):  # `replace` takes six times as long, and reports have tens of thousands
            return Value(record.subject, record.name, record.value, record.unit, number)
        return replace(record, line=number)
    return record
