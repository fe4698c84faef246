"""The depth of a JSON text, found before it is parsed.

A parser recurses for each level. Python's parser stops at a few thousand levels. In a browser, the stack belongs to the
page, and Python ends when it overflows.
"""

from __future__ import annotations

import re

DEEPEST = 64
"""Maximum number of levels; reports of tools have fewer than ten."""
NO_BRACKET = re.compile(r"[^][{}]+")
INNERMOST = re.compile(r"\[\]|\{\}")


def is_too_deep(text: str) -> bool:
    """Return whether a parser would go deeper than `DEEPEST` levels; for broken JSON, whether it could."""
    outside = "".join(text.replace("\\\\", "").replace('\\"', "").split('"')[::2])
    left = NO_BRACKET.sub("", outside)
    for _ in range(DEEPEST // 2):
        # Each step removes the innermost level.
        shorter = INNERMOST.sub("", left)
        if len(shorter) == len(left):
            break
        left = shorter
    return left.count("[") + left.count("{") > DEEPEST // 2
