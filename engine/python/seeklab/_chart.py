"""Two small SVG charts for notebooks, without any library: lines, and bars stacked by phase.

Below each is its table, folded, and its `alt` text has the ends of its lines. Without graphics, it prints the table.
The colours are the page's. No line depends on its colour alone: each has its own dash, and its name at its end.

The SVG is the source of an `img`. JupyterLab does not trust a stored notebook at first, and then removes the tags of an
inline SVG and leaves its labels as one long word. An image remains. The notebook's theme does not affect it, so it has
a white background.
"""

from __future__ import annotations

import html
import math
from itertools import pairwise
from typing import TYPE_CHECKING
from urllib.parse import quote

from seeklab.data.format import format_number
from seeklab.data.html_table import html_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PHASE_COLOURS = {
    "memory": "#0072b2",
    "queue": "#8b8f94",
    "overhead": "#c9ccd0",
    "seek": "#f7b38a",
    "rotation": "#e69f00",
    "transfer": "#7a3300",
}
"""The page's colours."""
_OTHERS = {"flash read": "#009e73", "flash program": "#56b4e9", "gc": "#b3578a"}
"""Phases of flash alone; the page distinguishes them by a pattern or a label."""
_ANY = "#7d6a00"

_LINES = (
    ("#d55e00", ""),
    ("#0072b2", "6 3"),
    ("#009e73", "2 3"),
    ("#b3578a", "8 3 2 3"),
    ("#e69f00", "10 4"),
    ("#56b4e9", "4 2 1 2"),
    ("#8b8f94", "1 2"),
)
_PLAIN = " /:;,=.()'!*~"
"""Characters that a data URL in double quotes may contain unescaped."""
_WIDTH, _HEIGHT = 640, 300
_LEFT, _TOP, _BOTTOM = 58, 26, 42
_PLOT_END = 520
"""The x position where lines end and their names start."""
_KEY = 24
"""Length of the line sample next to a name, which shows the dash."""
_NAME_STEP = 15
_MOST_TICKS = 10
"""Maximum number of labels on a logarithmic axis; with more, only powers of ten are labelled."""
_LETTER = 6.8
"""Average width of a character of a name."""
"""Numbers from this value on are shown without a fraction."""
_DIGIT, _GAP = 7, 4
"""Maximum width of a digit, and the minimum gap between two numbers."""
_INK = "#1b1f24"
_SOFT = "#585f67"
_RULE = "#e3e6e9"


class Lines:
    """Lines over one axis, each with its name at its end; without graphics, a table."""

    def __init__(
        self,
        series: Mapping[str, Sequence[tuple[float, float]]],
        *,
        x: str,
        y: str,
        log_x: bool = False,
        log_y: bool = False,
    ) -> None:
        """Take points by the line's name, and the axes' labels with units."""
        self._series = {name: list(points) for name, points in series.items()}
        self._x, self._y = x, y
        self._log = (log_x, log_y)

    def _table(self) -> list[list[str]]:
        at = sorted({point[0] for points in self._series.values() for point in points})
        values = {name: dict(points) for name, points in self._series.items()}
        rows = [
            [format_number(x), *(format_number(values[name].get(x), missing="") for name in self._series)] for x in at
        ]
        return [[self._x, *self._series], *rows]

    def __repr__(self) -> str:
        """Return the points as a table."""
        return f"{self._y}\n{_columns(self._table())}"

    def _repr_html_(self) -> str:
        """Draw."""
        points = [point for series in self._series.values() for point in series]
        across = _Axis([x for x, _ in points], _LEFT, _PLOT_END, is_log=self._log[0], from_zero=False)
        up = _Axis([y for _, y in points], _HEIGHT - _BOTTOM, _TOP, is_log=self._log[1], from_zero=True)
        parts = [
            *(_line(_LEFT, up.at(y), _PLOT_END, up.at(y), _RULE) for y in up.ticks),
            *(_text(_LEFT - 8, up.at(y) + 4, format_number(y), "end") for y in up.ticks),
            *(_text(at, _HEIGHT - _BOTTOM + 18, words, "middle") for at, words in _apart(across)),
            _text(_LEFT - 50, 12, self._y, "start"),
            _text((_LEFT + _PLOT_END) / 2, _HEIGHT - 6, self._x, "middle"),
        ]
        names = _names([up.at(series[-1][1]) for series in self._series.values()])
        for (name, series), look, at in zip(self._series.items(), _LINES * 3, names, strict=False):
            parts.append(_stroke([(across.at(x), up.at(y)) for x, y in series], look))
            # The leader to the name, the line sample, and the name.
            parts.append(_line(_PLOT_END, up.at(series[-1][1]), _PLOT_END + 8, at, _SOFT))
            parts.append(_key(_PLOT_END + 8, at, look))
            parts.append(_text(_PLOT_END + 14 + _KEY, at + 4, name, "start", ink=_INK))
        label = f"{self._y} by {self._x}. {_told(self._table())}"
        width = _PLOT_END + 14 + _KEY + _LETTER * max(map(len, self._series), default=0)
        drawn = _svg(parts, max(_WIDTH, width), max([_HEIGHT, *(at + 12 for at in names)]), label)
        return drawn + _numbers(self._table(), self._y)


class Bars:
    """One bar for each row, stacked from its phases; without graphics, a table."""

    def __init__(self, rows: Mapping[str, Mapping[str, float]], *, unit: str) -> None:
        """Take the parts of each row by the names of the phases."""
        self._rows = {name: {part: value for part, value in parts.items() if value} for name, parts in rows.items()}
        self._unit = unit
        used = {part for parts in self._rows.values() for part in parts}
        others = sorted(used - set(PHASE_COLOURS))
        self._parts = [name for name in PHASE_COLOURS if name in used] + others
        self._colours = PHASE_COLOURS | {name: _OTHERS.get(name, _ANY) for name in others}

    def _table(self) -> list[list[str]]:
        rows = [
            [
                name,
                *(format_number(parts.get(part), missing="") for part in self._parts),
                format_number(sum(parts.values())),
            ]
            for name, parts in self._rows.items()
        ]
        return [[self._unit, *self._parts, "sum"], *rows]

    def __repr__(self) -> str:
        """Return the parts as a table."""
        return _columns(self._table())

    def _repr_html_(self) -> str:
        """Draw."""
        left, right, step = 210, 70, 30
        longest = max((sum(parts.values()) for parts in self._rows.values()), default=0) or 1
        scale = (_WIDTH - left - right) / longest
        drawn = []
        x = float(left)
        for part in self._parts:
            drawn.append(f'<rect x="{x:.1f}" y="6" width="11" height="11" fill="{self._colours[part]}"/>')
            drawn.append(_text(x + 16, 16, part, "start"))
            x += 34 + 7 * len(part)
        for row, (name, parts) in enumerate(self._rows.items()):
            top = 30 + row * step
            drawn.append(_text(left - 10, top + 15, name, "end", ink=_INK))
            x = left
            for part in self._parts:
                width = parts.get(part, 0) * scale
                drawn.append(
                    f'<rect x="{x:.1f}" y="{top}" width="{width:.1f}" height="20" fill="{self._colours[part]}"/>'
                )
                x += width
            drawn.append(
                _text(x + 8, top + 15, f"{format_number(sum(parts.values()))} {self._unit}", "start", ink=_INK)
            )
        sums = "; ".join(f"{name}: {format_number(sum(parts.values()))}" for name, parts in self._rows.items())
        label = f"{self._unit} by phase. {sums}"
        return _svg(drawn, _WIDTH, 36 + step * len(self._rows), label) + _numbers(self._table(), self._unit)


class _Axis:
    """The positions of values between two ends, and the ticks."""

    def __init__(self, values: Sequence[float], start: float, end: float, *, is_log: bool, from_zero: bool) -> None:
        self._start, self._end, self._is_log = start, end, is_log
        low, high = min(values, default=0), max(values, default=1)
        if is_log:
            self._low, self._high = low, max(high, low * 1.01)
            decades = range(math.floor(math.log10(low)), math.ceil(math.log10(self._high)) + 1)
            for steps in ((1, 2, 5), (1,)):
                ticks = [m * 10.0**decade for decade in decades for m in steps]
                self.ticks = [tick for tick in ticks if low * 0.999 <= tick <= self._high * 1.001]
                if len(self.ticks) <= _MOST_TICKS:
                    return
            return
        low = min(0, low) if from_zero else low
        step = 10 ** math.floor(math.log10((high - low) or 1))
        step *= next((m for m in (0.2, 0.5, 1, 2) if (high - low) / (step * m) <= 6), 2)
        self._low, self._high = low, math.ceil(high / step - 1e-9) * step if from_zero else high
        first = math.ceil(self._low / step - 1e-9)
        self.ticks = [nth * step for nth in range(first, math.floor(self._high / step + 1e-9) + 1)]

    def at(self, value: float) -> float:
        scale = math.log if self._is_log else float
        low, high = scale(self._low), scale(self._high)
        return self._start + (scale(value) - low) / ((high - low) or 1) * (self._end - self._start)


def _names(ends: Sequence[float]) -> list[float]:
    """Place names next to the ends of lines; spread names that would overlap, above the axis if they fit."""
    order = sorted(range(len(ends)), key=lambda nth: (ends[nth], nth))
    at = list(ends)
    for upper, lower in pairwise(order):
        at[lower] = max(at[lower], at[upper] + _NAME_STEP)
    bottom = float(_HEIGHT - _BOTTOM)
    for nth in reversed(order):
        at[nth] = min(at[nth], bottom)
        bottom = at[nth] - _NAME_STEP
    too_high = max(0.0, _TOP - min(at, default=_TOP))
    return [place + too_high for place in at]


def _apart(across: _Axis) -> list[tuple[float, str]]:
    """Return the positions and labels of the ticks, without labels that would touch the one before."""
    kept: list[tuple[float, str]] = []
    free = -math.inf
    for tick in across.ticks:
        at, words = across.at(tick), format_number(tick)
        half = _DIGIT * len(words) / 2
        if at - half >= free:
            kept.append((at, words))
            free = at + half + _GAP
    return kept


def _columns(lines: Sequence[Sequence[str]]) -> str:
    widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def _told(table: Sequence[Sequence[str]]) -> str:
    """Return the start and the end of each line of a chart."""
    (_, *names), *rows = table
    told = []
    for nth, name in enumerate(names, 1):
        points = [(row[0], row[nth]) for row in rows if row[nth]]
        if points:
            (first, start), (last, end) = points[0], points[-1]
            told.append(f"{name}: from {start} at {first} to {end} at {last}")
    return "; ".join(told)


def _numbers(table: Sequence[Sequence[str]], caption: str) -> str:
    """Return the chart's table, folded: its numbers for a screen reader, and for copying."""
    head, *rows = table
    return f"<details><summary>Numbers</summary>{html_table(head, rows, caption=caption)}</details>"


def _line(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


def _key(x: float, y: float, look: tuple[str, str]) -> str:
    colour, dash = look
    return f'<path d="M{x:.1f} {y:.1f}h{_KEY}" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'


def _stroke(points: Sequence[tuple[float, float]], look: tuple[str, str]) -> str:
    colour, dash = look
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'


def _text(x: float, y: float, words: str, anchor: str, ink: str = _SOFT) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{ink}">{html.escape(words)}</text>'


def _svg(parts: Sequence[str], width: float, height: float, label: str) -> str:
    size = f"{width:.0f} {height:.0f}"
    drawn = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" font-size="12" font-family="sans-serif">'
        f'<rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}</svg>'
    )
    style = f"max-width:{width:.0f}px;width:100%"
    return f'<img alt="{html.escape(label)}" style="{style}" src="data:image/svg+xml,{quote(drawn, safe=_PLAIN)}">'
