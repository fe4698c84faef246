"""The README's tables, written from runs: `make update what=readme`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import measured
import seeklab

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ROOT = Path(__file__).parent.parent
CASE = "odx-prefetch"
"""The case whose facts the README shows."""
README = ROOT / "README.md"
TABLE = re.compile(r"(?<=update what=readme`, checked by a test -->\n).*?(?=<!-- /facts -->)", re.DOTALL)
CASES = re.compile(r"(?<=case files, checked by a test -->\n).*?(?=<!-- /cases -->)", re.DOTALL)
COURSE = re.compile(r"(?<=notebooks, checked by a test -->\n).*?(?=<!-- /course -->)", re.DOTALL)
DRIVES = re.compile(r"(?<=drives.json, checked by a test -->\n).*?(?=<!-- /drives -->)", re.DOTALL)


def _number(value: float | list[float]) -> str:
    if isinstance(value, list):
        return " to ".join(map(_number, value))
    return f"{value:,.0f}" if value == round(value) else f"{value:,.2f}"


def table(facts: Iterable[Mapping[str, Any]]) -> str:
    """Write the table of a case's facts as Markdown."""
    rows = ["| fact | documented | simulated | unit | tolerance | kind | verdict |", "|---|---|---|---|---|---|---|"]
    for fact in facts:
        numbers = [_number(fact[name]) for name in ("documented", "simulated")]
        last = (fact["unit"], fact["tolerance"], fact["kind"], fact["verdict"])
        cells = [f"{fact['id']} {fact['title']}", *numbers, *last]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def cases_table() -> str:
    """Write every incident with its facts. Which ones miss is in the case files, and a test holds them to it."""
    rows = [
        "| | incident | facts | predicted | hold | the model misses | the source contradicts itself |",
        "|---|---|---|---|---|---|---|",
    ]
    sums = [0, 0, 0]
    for entry in seeklab.cases():
        facts = seeklab.case(entry["id"]).facts
        predicted = sum(fact["kind"] == "predicted" for fact in facts)
        found = [fact["id"] for fact in facts if fact["kind"] == "discrepancy"]
        missed = [fact["id"] for fact in facts if fact["kind"] != "discrepancy" and fact.get("misses_because")]
        held = len(facts) - len(found) - len(missed)
        sums = [total + more for total, more in zip(sums, (held, len(missed), len(found)), strict=True)]
        counts = (len(facts), predicted, held)
        cells = [entry["code"], f"`{entry['id']}` {entry['title']}", *counts, ", ".join(missed), ", ".join(found)]
        rows.append(f"| {' | '.join(map(str, cells))} |")
    held, missed_sum, found_sum = sums
    total = (
        f"{held} of {sum(sums)} facts hold, the model misses {missed_sum}, "
        f"the source contradicts itself in {found_sum}."
    )
    return "\n".join([*rows, "", total, ""])


def course_table() -> str:
    """Write every notebook with the incidents that name it, then every exercise."""
    rows = ["| notebook | incidents |", "|---|---|"]
    cases = [seeklab.case(entry["id"]).document for entry in seeklab.cases()]
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        codes = [case["code"] for case in cases if case.get("notebook") == path.stem]
        rows.append(f"| {_link(path)} | {', '.join(codes)} |")
    exercises = [_link(path) for path in sorted((ROOT / "exercises").glob("*/*.ipynb"))]
    return "\n".join(rows) + f"\n\nExercises, each graded by what the answer does: {', '.join(exercises)}.\n"


def _link(path: Path) -> str:
    """Make a link to a notebook, of its own title."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    headings = (line for cell in cells for line in "".join(cell["source"]).splitlines() if line.startswith("# "))
    return f"[{next(headings)[2:].strip()}]({path.relative_to(ROOT).as_posix()})"


def current(place: re.Pattern[str] = TABLE) -> str:
    """Read a table that the README shows."""
    found = place.search(README.read_text(encoding="utf-8"))
    return found.group() if found else ""


if __name__ == "__main__":
    measured.store()
    text = README.read_text(encoding="utf-8")
    tables = {TABLE: table(seeklab.facts(CASE)), CASES: cases_table(), COURSE: course_table(), DRIVES: measured.table()}
    for place, written in tables.items():
        text = place.sub(written.replace("\\", r"\\"), text)
    README.write_text(text, encoding="utf-8")
