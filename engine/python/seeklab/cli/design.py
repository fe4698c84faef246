"""`seeklab design`: cost, capacity and bounds of a pool; with `--run` the results of eleven tests on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import seeklab
from seeklab._errors import Problem, SeeklabError
from seeklab._progress import ProgressBar
from seeklab.cli._exit import DONE
from seeklab.cli._options import add_seed, add_set
from seeklab.cli._output import complain, number, print_json, print_table

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable

    from seeklab import Design, Measured
    from seeklab.cli._commands import Commands

PRICE = "prices."


def add(commands: Commands) -> None:
    """Add the command."""
    added = commands.add("design", design, "Print cost, capacity and bounds of a pool for eleven tests.")
    add_set(added, "PART=NUMBER", "such as disks=24, memory_gib=64 or prices.disks=250")
    added.add_argument("--run", action="store_true", help="run the tests too")
    add_seed(added)


def design(options: Namespace) -> int:
    """Design a pool, and run its tests if requested."""
    prices = {name.removeprefix(PRICE): value for name, value in options.set if name.startswith(PRICE)}
    numbers = {name: value for name, value in options.set if not name.startswith(PRICE)}
    if "prices" in numbers:
        raise SeeklabError(
            [Problem("prices", "needs the price of a single part; write, for example, prices.disks=250")]
        )
    pool = seeklab.design(prices=prices, **numbers)
    for warning in pool.warnings:
        complain(f"note: {warning}")
    measured = []
    with ProgressBar() as progress:
        for nth, name in enumerate(pool.tests if options.run else ()):
            progress(nth / len(pool.tests), name)
            measured.append(pool.run(name, seed=options.seed))
    if options.json:
        found = [{"test": row.name, "value": row.value, "unit": row.unit, "binds": row.binds} for row in measured]
        print_json({**pool.document, "measured": found} if options.run else pool.document)
        return DONE
    _print_parts(pool)
    held = f"{pool.capacity_bytes / 1e12:.1f} TB in {pool.document['layout']}"
    print(f"\n{held}. Prices are sample values; set yours with prices.PART=NUMBER.\n")
    _print_tests(pool, measured)
    return DONE


def _print_parts(pool: Design) -> None:
    parts = [part for part in pool.document["parts"] if part["number"] or part["cost"]]
    lines = [(f"{part['title']}, {part['unit']}".rstrip(", "), part["number"], part["cost"]) for part in parts]
    shown = [(title, number(count), number(cost) if cost else "") for title, count, cost in lines]
    print_table(("part", "number", "cost"), [*shown, ("all", "", number(pool.cost))], right=(1, 2))


def _print_tests(pool: Design, measured: Iterable[Measured]) -> None:
    values = {row.name: row for row in measured}
    rows = []
    for test in pool.document["tests"]:
        least, row = test["bounds"][0], values.get(test["name"])
        run = (number(row.value), f"{100 * row.share:.0f}%", row.binds) if row else ("", "", least["what"])
        rows.append((test["title"], run[0], number(least["most"]), run[1], test["unit"], run[2]))
    print_table(("test", "measured", "at most", "", "unit", "binds"), rows, right=(1, 2, 3))
