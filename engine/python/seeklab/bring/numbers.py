"""Numbers as tools print them: decimal commas, units glued to digits, dashes for values that do not exist."""

from __future__ import annotations

import re
from math import isfinite

K = 1024
MAX = 2.0**63
"""Upper limit for a number in a report: no measured value is larger, and squares stay finite."""
NUMBER = re.compile(r"([+-]?\d{1,18}(?:[.,]\d{1,12})?(?:[eE][+-]?\d{1,3})?)\s?([A-Za-z%/]{0,8})")
BINARY = {"": 1, "b": 1, "k": K, "m": K**2, "g": K**3, "t": K**4, "p": K**5, "e": K**6}
DECIMAL = {"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "p": 1e15}
MS = {
    "ns": 1e-6,
    "us": 1e-3,
    "usec": 1e-3,
    "\u00b5s": 1e-3,
    "msec": 1.0,
    "ms": 1.0,
    "s": 1e3,
    "sec": 1e3,
    "m": 6e4,
    "h": 3.6e6,
}


def number(text: str) -> float | None:
    """Return a plain number (`99.10`, `99,10`, `99.1%`), or None."""
    match = NUMBER.fullmatch(text)
    if not match or match[2] not in ("", "%"):
        return None
    return _finite(match[1])


def scaled(text: str, scale: dict[str, float] | dict[str, int] = BINARY) -> float | None:
    """Return a number with a size letter (`9.41M`, `16.0k`, `512`); None for a dash or a word."""
    match = NUMBER.fullmatch(text)
    if not match:
        return None
    unit = match[2].lower().removesuffix("/s").removesuffix("ib").removesuffix("b") if match[2] else ""
    value = _finite(match[1])
    return None if unit not in scale or value is None else value * scale[unit]


GO = re.compile(r"(?:(\d{1,6})h)?(?:(\d{1,6})m(?!s))?(\d{1,9}(?:\.\d{1,12})?)s$")


def ms(text: str, bare: str | None = None) -> float | None:
    """Return a time in milliseconds (`9ms`, `512ns`, `1m2.5s`); a bare number counts in the unit `bare`, if given."""
    match = NUMBER.fullmatch(text)
    unit = (match[2] or bare) if match else None
    value = _finite(match[1]) if match else None
    if match is None and (parts := GO.match(text)):
        hours, minutes, seconds = (float(part or 0) for part in parts.groups())
        return 3.6e6 * hours + 6e4 * minutes + 1e3 * seconds
    return None if unit not in MS or value is None else value * MS[unit]


def _finite(digits: str) -> float | None:
    value = float(digits.replace(",", "."))
    return value if isfinite(value) and abs(value) < MAX else None
