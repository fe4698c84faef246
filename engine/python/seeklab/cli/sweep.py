"""`seeklab sweep`: run one case at many values and seeds, and print one table."""

from __future__ import annotations

import csv
import math
import re
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import seeklab
from seeklab._sweep import stream
from seeklab.cli import _values
from seeklab.cli._exit import DONE
from seeklab.cli._options import add_case
from seeklab.cli._output import number, print_json, print_table
from seeklab.data.table import plain

if TYPE_CHECKING:
    from argparse import Namespace

    from seeklab._sweep import Stream
    from seeklab.cli._commands import Commands

MORE = "more"
"""The last CSV column, for metrics that had not occurred when the header was written."""


def add(commands: Commands) -> None:
    """Add the command."""
    added = commands.add("sweep", sweep, "Run a case at many values and seeds and print one table.")
    add_case(added)
    added.add_argument(
        "--set",
        metavar="PATH=V1,V2,...",
        action="append",
        default=[],
        type=_values.tried,
        help="values to try, such as volume.prefetch.chunk=4MiB,8MiB; repeated, every combination is run",
    )
    variants = "variants to run (default: the case's default variant)"
    added.add_argument("--variant", metavar="V,...", type=_values.words, help=variants)
    seeds = "such as 1-5 or 1,7 (default 1)"
    added.add_argument("--seeds", metavar="N,M-N", type=_values.seeds, default=[1], help=seeds)
    metrics = "columns to print (default: the case's own)"
    added.add_argument("--metric", metavar="M,...", type=_values.words, help=metrics)
    added.add_argument(
        "--csv",
        action="store_true",
        help=f"print every column as comma-separated values, row by row; {MORE} has metrics that are not in the header",
    )


def sweep(options: Namespace) -> int:
    """Run a case at many values and seeds and print one table."""
    case = seeklab.case(options.case)
    values = dict(options.set)
    if options.csv and not options.json:
        _write_csv(stream(case, values, variants=options.variant, seeds=options.seeds))
        return DONE
    table = seeklab.sweep(case, values, variants=options.variant, seeds=options.seeds)
    if options.json:
        print_json(
            [{name: None if _is_missing(value) else value for name, value in row.items()} for row in table.rows()]
        )
    else:
        named = options.metric or re.findall(r"\{([^{}]+)\}", str(case.document["sentence"]))
        shown = [*values, "seed", "variant", *(name for name in named if name in table)]
        lines = [[_cell(row[name]) for name in shown] for row in table.rows()]
        print_table(shown, lines, right=[nth for nth, name in enumerate(shown) if not isinstance(table[name], tuple)])
    return DONE


def _write_csv(sweep: Stream) -> None:
    """Write each row as soon as it is known, so that a killed sweep leaves all completed rows."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    more = [MORE] if sweep.may_have_more else []
    with closing(sweep.rows) as rows:
        writer.writerow([*sweep.columns, *more])
        for row in rows:
            further = " ".join(f"{name}={plain(row[name])}" for name in row if name not in sweep.columns)
            writer.writerow([*(plain(row.get(name, math.nan)) for name in sweep.columns), *([further] if more else [])])
            sys.stdout.flush()


def _is_missing(value: float | str) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _cell(value: float | str) -> str:
    return value if isinstance(value, str) else number(value)
