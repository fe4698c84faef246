"""What tests compare of sentences that people read: the numbers in them, so that the words can change."""

from __future__ import annotations

import re


def numbers(text: str) -> list[str]:
    """Return the numbers of a text, as they are written."""
    return re.findall(r"\d+(?:[.,]\d+)*", text)
