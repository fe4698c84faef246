"""Text displays of a notebook: tables, output of tools, and sentences with numbers from a run."""

from __future__ import annotations

import html
import inspect
import re
from typing import TYPE_CHECKING

from seeklab.data.html_table import html_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

CONTROLS = "seeklab-controls"
"""The class of a box whose controls keep their keys from JupyterLab; `question.js` sees to it."""
_EM_PER_LETTER = 0.62
"""Width of a character of a monospaced font, and a little more."""
_SMALLEST_PX = 9
"""Minimum font size."""


class Rows:
    """A small table of text for a notebook, shown as HTML, or as text where HTML is not available."""

    def __init__(self, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Take the headings and the rows, whose cells are converted with `str`."""
        self._head = [str(cell) for cell in head]
        self._rows = [[str(cell) for cell in row] for row in rows]

    def __repr__(self) -> str:
        """Return the table as text, in columns."""
        lines = [self._head, *self._rows]
        widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
        )

    def _repr_html_(self) -> str:
        """Return the table as HTML."""
        return html_table(self._head, self._rows)


class Text:
    """Output of a tool, in lines that a notebook does not break.

    Lines too long for the page are shown smaller; if they would become unreadable, they scroll.
    """

    def __init__(self, text: str) -> None:
        """Take the text, such as `result.text("oplog")`."""
        self._text = text.rstrip("\n")

    def __repr__(self) -> str:
        """Return the text itself."""
        return self._text

    def _repr_html_(self) -> str:
        """Return the text as HTML."""
        longest = max(map(len, self._text.splitlines()), default=0) + 1
        size = f"clamp({_SMALLEST_PX}px,calc(100cqi/{longest * _EM_PER_LETTER:.1f}),1em)"
        style = f"white-space:pre;overflow-x:auto;line-height:1.3;font-size:{size}"
        return f'<div style="container-type:inline-size"><pre style="{style}">{html.escape(self._text)}</pre></div>'


def paragraphs(*texts: str, before: str = "", bold: bool = False) -> str:
    """Return texts as HTML for a widget, in the size and spacing of a notebook's prose. Text in backticks is code.

    `before` is printed in bold in front of the first text.
    """
    style = "margin:0 0 0.5em;line-height:1.5;font-size:var(--jp-content-font-size1,inherit)"
    told = [re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text)) for text in texts]
    if bold:
        told = [f"<b>{text}</b>" for text in told]
    if before:
        told[0] = f"<b>{html.escape(before)}</b> {told[0]}"
    return "".join(f'<p style="{style}">{text}</p>' for text in told)


def announced(*texts: str) -> str:
    """Return texts as `paragraphs` does, in a region that a screen reader speaks when it appears."""
    return f'<div role="alert">{paragraphs(*texts)}</div>'


class Prose:
    """A paragraph in Markdown whose numbers come from a run, so that text and tables always agree.

    `Prose("Each read misses {gap:,.0f} KiB.", gap=...)` takes its fields as `str.format` does. Its text is visible only
    after the cell has run. Text that would reveal an answer therefore belongs in such a cell, below the question's
    gate.
    """

    def __init__(self, text: str, **fields: object) -> None:
        """Take the paragraphs and the values of their fields."""
        self._text = inspect.cleandoc(text).format(**fields)

    def __repr__(self) -> str:
        """Return the text itself."""
        return self._text

    def _repr_markdown_(self) -> str:
        """Return the text as Markdown."""
        return self._text


def spaced(setting: object) -> str:
    """Return a setting with a space before its unit: "64KiB" as 64 KiB, "20us" as 20 µs."""
    return re.sub(r"(?<=\d)(?=[A-Za-z])", " ", str(setting)).replace(" us", " µs")


def sentence(words: str) -> str:
    """Capitalize a text that was written to follow a colon, such as the reason for a miss."""
    return words[:1].upper() + words[1:]
