"""`seeklab facts`: compare documented numbers with simulated ones; exit status 1 if the model misses one."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import seeklab
from seeklab._facts import HOLDS, MODEL_MISSES, SOURCE_CONTRADICTS_ITSELF
from seeklab._progress import ProgressBar
from seeklab.cli._exit import CHECK_FAILED, DONE
from seeklab.cli._output import number, print_json, print_table

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Mapping, Sequence

    from seeklab.cli._commands import Commands

HEAD = ("fact", "kind", "documented", "simulated", "range", "unit", "tolerance", "inputs", "verdict", "what")
NUMBERS = (2, 3, 4)
WORDS = {HOLDS: "holds", MODEL_MISSES: "MISSES", SOURCE_CONTRADICTS_ITSELF: "source contradicts itself"}


def add(commands: Commands) -> None:
    """Add the command."""
    added = commands.add("facts", facts, "Compare documented numbers with simulated ones.")
    added.add_argument("case", metavar="CASE", nargs="?", help="one case (default: all)")
    added.add_argument(
        "--seeds", metavar="N", type=int, default=1, help="judge each fact on N seeds and print the range"
    )
    added.add_argument("--inputs", action="store_true", help="judge each fact at other values of its inputs as well")


def facts(options: Namespace) -> int:
    """Compare facts one by one, and print the reason for each miss."""
    with ProgressBar() as progress:
        rows = seeklab.facts(options.case, seeds=options.seeds, inputs=options.inputs, progress=progress)
    missed = [row for row in rows if row["verdict"] == MODEL_MISSES]
    if options.json:
        print_json(rows)
    else:
        print_table(HEAD, [line for row in rows for line in _lines(row)], right=NUMBERS)
        for row in missed:
            print(f"\n{row['id']}: the model misses. {row['misses_because'] or _where(row)}")
        for row in rows:
            if row["verdict"] == SOURCE_CONTRADICTS_ITSELF:
                print(f"\n{row['id']}: the source contradicts itself. {row['misses_because']}")
        print(f"\n{tally(rows)}")
    return CHECK_FAILED if missed else DONE


def tally(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a sentence that counts the facts by verdict."""
    counts = Counter(row["verdict"] for row in rows)
    return (
        f"{counts[HOLDS]} of {len(rows)} facts hold, the model misses {counts[MODEL_MISSES]}, "
        f"the source contradicts itself in {counts[SOURCE_CONTRADICTS_ITSELF]}."
    )


def _where(row: Mapping[str, Any]) -> str:
    """Return where a fact misses that has no documented reason."""
    stored = row.get("stored")
    if row["ok"] and stored:
        place = "another seed" if not stored["held"] else "another value of its inputs"
        return f"It holds in this run, but the stored results miss on {place}; measure all with --seeds and --inputs."
    return "The reason is unknown."


def _lines(row: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield the rows of a fact: its own value, and below it the further checks that determine its verdict."""
    stored = row.get("stored") or {}
    measured = {**row, "range": row.get("range") or stored.get("range")}
    yield _line(measured, WORDS[row["verdict"]], row["id"], row["kind"], _inputs(row))
    for check in row["checks"]:
        if not check["ok"]:  # a fact can miss because of one of these alone
            yield _line(check, WORDS[row["verdict"]], "", "also")
    for check in row["instead"]:
        yield _line(check, _word(holds=check["ok"]), "", "instead")
    for check in row.get("inputs", ()):
        yield _line(check, _word(holds=check["ok"]), "", "elsewhere")


def _inputs(row: Mapping[str, Any]) -> str:
    """Return the number of other input values that a fact was judged with, now or when stored, and the result."""
    if "inputs" in row:
        count, holds = len(row["inputs"]), all(check["ok"] for check in row["inputs"])
    else:
        stored = row.get("stored") or {"inputs": 0, "inputs_held": True}
        count, holds = stored["inputs"], stored["inputs_held"]
    return f"{count}, {_word(holds=holds)}" if count else ""


def _word(*, holds: bool) -> str:
    return WORDS[HOLDS if holds else MODEL_MISSES]


def _line(check: Mapping[str, Any], verdict: str, name: str = "", kind: str = "", inputs: str = "") -> tuple[str, ...]:
    documented, extremes = check["documented"], check.get("range")
    text = " to ".join(map(number, documented)) if isinstance(documented, list) else number(documented)
    measured = " to ".join(dict.fromkeys(map(number, extremes or ())))
    numbers = (text, number(check["simulated"]), measured)
    return (name, kind, *numbers, check["unit"], check["tolerance"], inputs, verdict, check["title"])
