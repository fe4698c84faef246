"""Evidence from the field: numbers that tools showed in reports which turned out to be an incident."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any


def in_the_field(case: str) -> list[dict[str, Any]]:
    """Return evidence for a case: tool, numbers, what they say, and the address of a public report."""
    text = resources.files("seeklab").joinpath("field.json").read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = json.loads(text).get(case, [])
    return rows
