"""A table as HTML, the same in a notebook, in a widget and in a report."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_NUMBER = re.compile(r"[-+]?\d[\d,]*(\.\d+)?( to \d[\d,]*(\.\d+)?)?( ?%| ?x| [A-Za-zµ]{1,3}(/s)?)?")
"""A number or a range with its unit, as in tables."""
_ADDRESS = re.compile(r"https?://\S+")


def html_table(head: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str = "") -> str:
    """Return a table of text as HTML: columns of numbers are right-aligned, and addresses are links.

    The head names the columns and the first cell names its row, so a screen reader says both with each number.
    """
    rows = list(rows)
    styles = [_style(column) for column in zip(*rows, strict=True)] or ["text-align:left"] * len(head)
    top = "".join(_cell("col", style.partition(";")[0], words) for style, words in zip(styles, head, strict=True))
    body = "".join(f"<tr>{_row(styles, row)}</tr>" for row in rows)
    named = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    top = f"<thead><tr>{top}</tr></thead>" if any(head) else ""
    return f"<table>{named}{top}<tbody>{body}</tbody></table>"


def _row(styles: Sequence[str], row: Sequence[str]) -> str:
    first, *others = (_cell("", style, words) for style, words in zip(styles, row, strict=True))
    if others:
        first = _cell("row", f"{styles[0]};font-weight:normal", row[0])
    return "".join([first, *others])


def _style(column: Sequence[str]) -> str:
    said = [cell for cell in column if cell not in ("", "-")]
    is_numbers = bool(said) and all(map(_NUMBER.fullmatch, said))
    return "text-align:right;white-space:nowrap" if is_numbers else "text-align:left"


def _cell(scope: str, style: str, words: str) -> str:
    """Return a cell, a heading if it has a scope. An empty cell is not a heading."""
    shown = html.escape(words)
    if _ADDRESS.fullmatch(words):
        shown = f'<a href="{shown}">{shown}</a>'
    if scope and words:
        return f'<th scope="{scope}" style="{style}">{shown}</th>'
    return f'<td style="{style}">{shown}</td>'
