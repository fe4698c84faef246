"""What a notebook shows in words: tables, what a tool printed, and sentences whose numbers come from a run."""

from __future__ import annotations

import html
import inspect
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_NUMBER = re.compile(r"[-+]?\d[\d,]*(\.\d+)?( to \d[\d,]*(\.\d+)?)?( ?%| ?x| [A-Za-zµ]{1,3}(/s)?)?")
"""A number or a range as tables have it, with its unit."""
_ADDRESS = re.compile(r"https?://\S+")
_EM_PER_LETTER = 0.62
"""What a letter of a monospaced font takes in width, and a little more."""
_SMALLEST_PX = 9
"""Letters do not shrink further."""


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
        """Give the table as HTML: columns of numbers end at the right, and addresses are links."""
        styles = [_style(column) for column in zip(*self._rows, strict=True)] or ["text-align:left"] * len(self._head)
        head = "".join(_cell("th", style, cell) for style, cell in zip(styles, self._head, strict=True))
        body = "".join(
            f"<tr>{''.join(_cell('td', style, cell) for style, cell in zip(styles, row, strict=True))}</tr>"
            for row in self._rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


class Text:
    """What a tool has printed, in lines that a notebook does not break.

    Lines that are too long for the page are drawn smaller, and scrolled where that would make them too small to read.
    """

    def __init__(self, text: str) -> None:
        """Take the text, such as `result.text("oplog")`."""
        self._text = text.rstrip("\n")

    def __repr__(self) -> str:
        """Give the text itself."""
        return self._text

    def _repr_html_(self) -> str:
        """Give the text as HTML."""
        longest = max(map(len, self._text.splitlines()), default=0) + 1
        size = f"clamp({_SMALLEST_PX}px,calc(100cqi/{longest * _EM_PER_LETTER:.1f}),1em)"
        style = f"white-space:pre;overflow-x:auto;line-height:1.3;font-size:{size}"
        return f'<div style="container-type:inline-size"><pre style="{style}">{html.escape(self._text)}</pre></div>'


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


class Prose:
    """A paragraph in Markdown whose numbers come from a run, so that text and tables cannot part.

    `Prose("Each read misses {gap:,.0f} KiB.", gap=...)` takes its fields as `str.format` does. What stands in it is
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


def spaced(setting: object) -> str:
    """Write a setting as prose does: "64KiB" as 64 KiB, "20us" as 20 µs."""
    return re.sub(r"(?<=\d)(?=[A-Za-z])", " ", str(setting)).replace(" us", " µs")


def sentence(words: str) -> str:
    """Begin with a capital what was written to follow a colon, such as why a fact is missed."""
    return words[:1].upper() + words[1:]


def _style(column: Sequence[str]) -> str:
    said = [cell for cell in column if cell not in ("", "-")]
    is_numbers = bool(said) and all(map(_NUMBER.fullmatch, said))
    return "text-align:right;white-space:nowrap" if is_numbers else "text-align:left"


def _cell(tag: str, style: str, words: str) -> str:
    shown = html.escape(words)
    if _ADDRESS.fullmatch(words):
        shown = f'<a href="{shown}">{shown}</a>'
    return f'<{tag} style="{style if tag == "td" else style.partition(";")[0]}">{shown}</{tag}>'
