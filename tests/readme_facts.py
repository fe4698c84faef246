"""The README's tables, written from runs: `.venv/bin/python tests/readme_facts.py`."""

from __future__ import annotations

import re
from pathlib import Path

import measured
import seeklab

README = Path(__file__).parent.parent / "README.md"
TABLE = re.compile(r"(?<=facts.py`, checked by a test -->\n).*?(?=<!-- /facts -->)", re.DOTALL)
DRIVES = re.compile(r"(?<=drives.json, checked by a test -->\n).*?(?=<!-- /drives -->)", re.DOTALL)


def _number(value: float | list[float]) -> str:
    if isinstance(value, list):
        return " to ".join(map(_number, value))
    return f"{value:,.0f}" if value == round(value) else f"{value:,.2f}"


def table() -> str:
    """Write the table as Markdown."""
    rows = ["| fact | documented | simulated | unit | tolerance | kind |", "|---|---|---|---|---|---|"]
    for fact in seeklab.facts("odx-prefetch"):
        verdict = "" if fact["ok"] else " **misses**"
        numbers = [_number(fact[name]) for name in ("documented", "simulated")]
        cells = [f"{fact['id']} {fact['title']}{verdict}", *numbers, fact["unit"], fact["tolerance"], fact["kind"]]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def current(place: re.Pattern[str] = TABLE) -> str:
    """Read a table that the README shows."""
    found = place.search(README.read_text(encoding="utf-8"))
    return found.group() if found else ""


if __name__ == "__main__":
    measured.store()
    text = README.read_text(encoding="utf-8")
    for place, written in ((TABLE, table()), (DRIVES, measured.table())):
        text = place.sub(written.replace("\\", r"\\"), text)
    README.write_text(text, encoding="utf-8")
