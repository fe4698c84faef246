"""Numbers for people: on the command line, in charts, tables and verdicts."""

from __future__ import annotations

import math

ALMOST_ZERO = 1e-6
"""Numbers closer to zero are residues of a subtraction."""


def format_number(value: float | None, digits: int = 3, *, separator: str = ",", missing: str = "-") -> str:
    """Return a number with `digits` significant digits; integers and larger numbers keep all digits before the point.

    `separator` groups thousands. `missing` is for None and NaN. An infinite number is "infinite".
    """
    if isinstance(value, int):  # of any size, also beyond the range of a float
        return f"{value:,}".replace(",", separator)
    if value is None or math.isnan(value):
        return missing
    if math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    if 0 < abs(value) < ALMOST_ZERO:
        return "almost 0"
    short = f"{value:.{digits}g}"
    if value.is_integer() or "e+" in short:
        return f"{value:,.0f}".replace(",", separator)
    return short
