"""The README's tables, written from runs: `.venv/bin/python tests/readme_facts.py`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import measured
import seeklab

README = Path(__file__).parent.parent / "README.md"
TABLE = re.compile(r"(?<=facts.py`, checked by a test -->\n).*?(?=<!-- /facts -->)", re.DOTALL)
CASES = re.compile(r"(?<=case files, checked by a test -->\n).*?(?=<!-- /cases -->)", re.DOTALL)
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


def cases_table() -> str:
    """Write every incident with its facts. Which ones miss is in the case files, and a test holds them to it."""
    rows = ["| | incident | facts | predicted | miss |", "|---|---|---|---|---|"]
    for entry in sorted(seeklab.cases(), key=_course_order):
        facts = seeklab.case(entry["id"]).facts
        predicted = sum(fact["kind"] == "predicted" for fact in facts)
        misses = [fact["id"] for fact in facts if fact.get("misses_because")]
        cells = [entry["code"], f"`{entry['id']}` {entry['title']}", len(facts), predicted, ", ".join(misses)]
        rows.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(rows) + "\n"


def _course_order(entry: dict[str, Any]) -> tuple[int, int]:
    code = entry["code"]
    return "QZNS".index(code[0]), int(code[1:])


def current(place: re.Pattern[str] = TABLE) -> str:
    """Read a table that the README shows."""
    found = place.search(README.read_text(encoding="utf-8"))
    return found.group() if found else ""


if __name__ == "__main__":
    measured.store()
    text = README.read_text(encoding="utf-8")
    for place, written in ((TABLE, table()), (CASES, cases_table()), (DRIVES, measured.table())):
        text = place.sub(written.replace("\\", r"\\"), text)
    README.write_text(text, encoding="utf-8")
