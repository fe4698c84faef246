"""What a notebook shows in words: tables, what a tool printed, and sentences whose numbers come from a run."""

from __future__ import annotations

import html
import inspect
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Rows:
    """A small table of words for a notebook: as HTML, and as text where that is all there is."""

    def __init__(self, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Take the headings, and for each row what `str` makes of its cells."""
        self._head = [str(cell) for cell in head]
        self._rows = [[str(cell) for cell in row] for row in rows]

    def __repr__(self) -> str:
        """Give the table as text, in columns."""
        lines = [self._head, *self._rows]
        widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
        )

    def _repr_html_(self) -> str:
        """Give the table as HTML."""
        head = "".join(f'<th style="text-align:left">{html.escape(cell)}</th>' for cell in self._head)
        body = "".join(
            "<tr>" + "".join(f'<td style="text-align:left">{html.escape(cell)}</td>' for cell in row) + "</tr>"
            for row in self._rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


class Text:
    """What a tool has printed, in lines that a notebook does not break: those that are too long are scrolled."""

    def __init__(self, text: str) -> None:
        """Take the text, such as `result.text("oplog")`."""
        self._text = text.rstrip("\n")

    def __repr__(self) -> str:
        """Give the text itself."""
        return self._text

    def _repr_html_(self) -> str:
        """Give the text as HTML."""
        return f'<pre style="white-space:pre;overflow-x:auto;line-height:1.3">{html.escape(self._text)}</pre>'


def paragraphs(*texts: str, before: str = "", bold: bool = False) -> str:
    """Give texts as HTML for a widget, in the size and spacing of a notebook's prose. What stands in backticks is code.

    `before` is said in bold before the first of them.
    """
    style = "margin:0 0 0.5em;line-height:1.5;font-size:var(--jp-content-font-size1,inherit)"
    told = [re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text)) for text in texts]
    if bold:
        told = [f"<b>{text}</b>" for text in told]
    if before:
        told[0] = f"<b>{html.escape(before)}</b> {told[0]}"
    return "".join(f'<p style="{style}">{text}</p>' for text in told)


class Words:
    """A paragraph in Markdown whose numbers come from a run, so that text and tables cannot part.

    `Words("Each read misses {gap:,.0f} KiB.", gap=...)` takes its fields as `str.format` does. What stands in it is
    seen when the cell runs and not before: text that gives an answer away stands in such a cell, below the
    question's gate.
    """

    def __init__(self, text: str, **fields: object) -> None:
        """Take the paragraphs and the values of their fields."""
        self._text = inspect.cleandoc(text).format(**fields)

    def __repr__(self) -> str:
        """Give the text itself."""
        return self._text

    def _repr_markdown_(self) -> str:
        """Give it as Markdown."""
        return self._text
