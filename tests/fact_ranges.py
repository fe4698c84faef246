"""What every fact gives over several seeds and at other values of its inputs, stored in engine/ranges.json.

`make update what=ranges` writes the file; `.venv/bin/python tests/fact_ranges.py CASE...` only the lines of some cases.
One line for each fact, in the order of the facts, keeps changes readable.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import seeklab
from seeklab._progress import ProgressBar

ROOT = Path(__file__).resolve().parents[1]
STORE = ROOT / "engine" / "ranges.json"

SEEDS = 5
Row = dict[str, Any]
Stored = dict[str, Any]


def stored() -> dict[str, Stored]:
    """Read what is stored, by the fact's id."""
    document: dict[str, Stored] = json.loads(STORE.read_text(encoding="utf-8")) if STORE.exists() else {}
    return document


def of(row: Row) -> Stored:
    """Give what a row that was measured over all seeds and at its inputs leaves to be stored."""
    checks = [row, *row["checks"], *row["instead"]]
    kept: Stored = {"seeds": len(row["values"]), "ranges": [check["range"] for check in checks]}
    if "inputs" in row:
        kept["inputs"] = [check["simulated"] for check in row["inputs"]]
    return kept


def measure(case: str | None = None, fact: str | None = None) -> dict[str, Stored]:
    """Measure facts anew."""
    with ProgressBar() as progress:
        rows = seeklab.facts(case, fact, seeds=SEEDS, inputs=True, progress=progress)
    return {row["id"]: of(row) for row in rows}


def write(*cases: str) -> None:
    """Measure the facts of the cases, or of all, and write the file."""
    found = (
        {**stored(), **{fact: kept for case in cases for fact, kept in measure(case).items()}} if cases else measure()
    )
    facts = [fact["id"] for entry in seeklab.cases() for fact in seeklab.case(entry["id"]).facts]
    lines = [f" {json.dumps(fact)}: {json.dumps(found[fact], allow_nan=False)}" for fact in facts if fact in found]
    STORE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    write(*sys.argv[1:])
