"""Forms: reports of several tools that one reader recognises by their first lines, each with its parser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from seeklab.bring.block import Block

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from seeklab.bring.block import Record
    from seeklab.bring.lines import Lines

    Parser: TypeAlias = Callable[[Lines, int], tuple[Sequence[Record], int]]
    """Return a report's records from an index on, and the index after it; without a report, the same index."""


class Form(NamedTuple):
    """A form of report: its tool, its first line, its parser, and a note without the tool's name in front."""

    tool: str
    mark: str
    parse: Parser
    note: str = ""
    holds: str = ""
    """A text that finds the form faster than its mark, if the mark fits the beginning of many lines."""


class Forms:
    """The forms of one reader. The first whose mark fits and whose parser finds a report is the right one."""

    def __init__(self, *forms: Form) -> None:
        """Take the forms, those with the most specific marks first."""
        self._forms = [(re.compile(form.mark), form) for form in forms]
        self.starts = "|".join(form.mark for form in forms if not form.holds)
        self.holds = tuple(form.holds for form in forms if form.holds)

    def tool(self, line: str) -> str | None:
        """Return the tool of the first form whose mark fits a line."""
        line = line.lstrip()
        return next((form.tool for mark, form in self._forms if mark.match(line)), None)

    def read(self, lines: Lines, at: int) -> Block | None:
        """Return the report that starts at `at`."""
        line = lines[at].lstrip()
        for mark, form in self._forms:
            if mark.match(line):
                records, end = form.parse(lines, at)
                if end > at:
                    notes = [f"{form.tool} {form.note}"] if form.note else []
                    return Block(form.tool, at + 1, end, list(records), notes=notes)
        return None


def paragraph(most: int) -> Parser:
    """Return a parser of a report that is only named: its lines up to a blank one, at most so many."""

    def parse(lines: Lines, at: int) -> tuple[Sequence[Record], int]:
        end = at
        while end < min(len(lines), at + most) and lines[end].strip():
            end += 1
        return [], end

    return parse
