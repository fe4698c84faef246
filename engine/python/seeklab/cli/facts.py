"""`seeklab facts`: what the sources document against what the engine simulates; exit status 1 when one misses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import seeklab
from seeklab._progress import ProgressBar
from seeklab.cli._ending import CHECK_FAILED, DONE
from seeklab.cli._output import number, print_json, print_table

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping

    from seeklab.cli._commands import Commands

HEAD = ("fact", "kind", "documented", "simulated", "unit", "tolerance", "", "what")


def add(commands: Commands) -> None:
    """Add the command."""
    added = commands.add("facts", facts, "Compare what the sources document with what the engine simulates.")
    added.add_argument("case", metavar="CASE", nargs="?", help="one case; all when left out")


def facts(options: Namespace) -> int:
    """Compare facts one by one, and say why those miss that do."""
    cases = [case["id"] for case in seeklab.cases()] if options.case is None else [options.case]
    asked = [(case.id, fact["id"]) for case in map(seeklab.case, cases) for fact in case.facts]
    rows: list[dict[str, Any]] = []
    with ProgressBar() as progress:
        for index, (case_id, fact_id) in enumerate(asked):
            progress(index / len(asked), fact_id)
            rows += seeklab.facts(case_id, fact_id)
    missed = [row for row in rows if not row["ok"]]
    if options.json:
        print_json(rows)
    else:
        print_table(HEAD, [line for row in rows for line in _lines(row)], right={2, 3})
        for row in missed:
            if row["misses_because"]:
                print(f"\n{row['id']} misses because {row['misses_because']}")
        print(f"\n{len(rows) - len(missed)} of {len(rows)} facts hold.")
    return CHECK_FAILED if missed else DONE


def _lines(row: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Write a fact, and below it those of its further checks that miss: a fact may miss by one of these alone."""
    missed = [{**check, "id": "", "kind": ""} for check in row["checks"] if not check["ok"]]
    return [_line(line) for line in (row, *missed)]


def _line(row: Mapping[str, Any]) -> tuple[str, ...]:
    documented = row["documented"]
    text = " to ".join(map(number, documented)) if isinstance(documented, list) else number(documented)
    held = "ok" if row["ok"] else "MISS"
    return (row["id"], row["kind"], text, number(row["simulated"]), row["unit"], row["tolerance"], held, row["title"])
