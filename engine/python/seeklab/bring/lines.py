r"""Lines of a pasted text without the marks of the medium: quotes, fences, colours, odd blanks, byte-order marks.

Cleaning never joins or removes lines, so line numbers stay as in the pasted text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ANSI = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")
CONTROLS = bytes((*range(9), *range(11, 32), 127))
REPLACED = tuple(
    (odd.encode(), plain.encode())
    for odd, plain in (
        ("\r\n", "\n"),
        ("\r", "\n"),
        ("\u00a0", " "),
        ("\u202f", " "),
        ("\u2007", " "),
        ("\u2009", " "),
        ("\ufeff", ""),
        ("\u2212", "-"),
    )
)
"""Line ends, odd blanks, byte-order marks and minus signs."""
ASCII = 2
"""How many of these are ASCII; they come first."""
FENCE = re.compile(r"\s{0,3}(?:```|~~~)[\w.+-]{0,20}\s*$")
QUOTE = re.compile(r"(?:[ ]{0,3}>[ ]?){1,8}")
PROMPT = re.compile(
    r"(?:\[[^\]\s]{1,64}\s[^\]]{0,64}\]|[\w.-]{1,64}@[\w.-]{1,64}[: ]\S{0,128}|[\w.~/:-]{0,64})\s?[#$]\s+(?=\S)"
    r"|[%>]\s+(?=\S)"
)
STAMPED = re.compile(
    r"\[?(?:\d{4}-\d\d-\d\d[T ]|[A-Z][a-z]{2} {1,2}\d{1,2} )?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
    r"(?:Z|[+-]\d\d:?\d\d)?\]?(?: |$)"
)
TABLE = re.compile(r"\s*(?:avg-cpu:|Device:?\s+\S|pool\s+alloc\s|r\s+b\s+swpd\s|capacity\s+operations\s)")
LOOKED_AT = 400
MAX_LINE = 1 << 14
"""Longest part of a line that is looked at. No tool but JSON writes longer lines, and those are parsed as a whole."""
MAX_LINES = 500_000
"""A longer text is cut here."""
TAB = 8
SCANS = 4
MIN_BUDGET = 10_000


class Lines(list[str]):
    """The lines of a text, and how many more of them may be scanned for the end of a JSON document.

    A text of braces that never close would otherwise be scanned from each of them to its end.
    """

    def __init__(self, lines: Iterable[str] = (), numbers: Sequence[int] = ()) -> None:
        """Hold the lines, and their numbers if some lines of the text were left out."""
        super().__init__(lines)
        self.budget = SCANS * len(self) + MIN_BUDGET
        self.numbers = numbers


def cleaned(text: str) -> Lines:
    """Return the lines of a text, cleaned and cut to `MAX_LINE` letters; at most `MAX_LINES` of them."""
    if "\x1b" in text:
        text = ANSI.sub("", text)
    # Bytes are far faster to search and to filter than letters, and control characters are single bytes.
    data = text.encode("utf-8", "surrogatepass")
    for odd, plain in REPLACED[:ASCII] if text.isascii() else REPLACED:
        if odd in data:
            data = data.replace(odd, plain)
    text = data.translate(None, CONTROLS).decode("utf-8", "surrogatepass")
    if "\t" in text:
        text = text.expandtabs(TAB)
    found = [line[:MAX_LINE].rstrip() for line in text.split("\n", MAX_LINES)[:MAX_LINES]]
    if "```" in text or "~~~" in text:
        found = ["" if FENCE.match(line) else line for line in found]
        found = [line[3:] if line.startswith(("```", "~~~")) else line for line in found]
    quoted = sum(line.startswith((">", " >")) for line in found)
    if quoted and quoted * 2 > sum(map(bool, found)):
        found = [QUOTE.sub("", line, count=1) for line in found]
    return Lines(_unstamped(found))


def _unstamped(lines: list[str]) -> list[str]:
    """Remove the times that `ts` and the like write before each line of a table; a log keeps its times."""
    head = [line for line in lines[:LOOKED_AT] if line]
    stamped = [found.end() for line in head if (found := STAMPED.match(line))]
    if len(stamped) < 0.8 * len(head) or not any(
        (found := STAMPED.match(line)) and TABLE.match(line[found.end() :]) for line in head
    ):
        return lines
    return [line[found.end() :] if (found := STAMPED.match(line)) else line for line in lines]


def command(line: str) -> str | None:
    """Return the command that a line with a shell prompt contains, or None."""
    match = PROMPT.match(line.strip())
    return line.strip()[match.end() :] if match else None
