"""How deep a JSON text goes, found out before it is parsed.

A parser calls itself for each level. Python's own stops at some thousand of them; in a browser the stack is the
page's, and when it ends, so does Python.
"""

from __future__ import annotations

import re

DEEPEST = 64
"""Levels of what we read: reports of tools have less than ten."""
NO_BRACKET = re.compile(r"[^][{}]+")
INNERMOST = re.compile(r"\[\]|\{\}")


def is_too_deep(text: str) -> bool:
    """Whether parsing would go down more than `DEEPEST` levels; of broken JSON, whether it may."""
    outside = "".join(text.replace("\\\\", "").replace('\\"', "").split('"')[::2])
    left = NO_BRACKET.sub("", outside)
    for _ in range(DEEPEST // 2):
        # What is innermost goes, a level at a time.
        shorter = INNERMOST.sub("", left)
        if len(shorter) == len(left):
            break
        left = shorter
    return left.count("[") + left.count("{") > DEEPEST // 2
