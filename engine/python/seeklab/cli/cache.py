"""`seeklab cache`: the hits of cache policies over a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import seeklab
from seeklab._progress import ProgressBar
from seeklab.cli import _values
from seeklab.cli._exit import DONE
from seeklab.cli._options import add_trace_options
from seeklab.cli._output import note, print_json, print_table

if TYPE_CHECKING:
    from argparse import Namespace

    from seeklab.cli._commands import Commands

COLUMNS = ("policy", "size", "requests", "hits")


def add(commands: Commands) -> None:
    """Add the command."""
    added = commands.add("cache", cache, "Count the hits of cache policies over a trace.")
    added.add_argument("trace", metavar="TRACE", help="lines of time,object,size, or any trace that replay accepts")
    policies = "policies, such as lru or arc; belady is the optimum"
    added.add_argument("--policy", metavar="P,...", type=_values.words, required=True, help=policies)
    sizes = "cache sizes in bytes, such as 1000 or 4MiB"
    added.add_argument("--size", metavar="N,...", type=_values.words, required=True, help=sizes)
    added.add_argument("--objects", action="store_true", help="count objects instead of bytes")
    added.add_argument(
        "--one-in", metavar="N", type=_values.whole, default=1, help="sample one object in N (an estimate)"
    )
    added.add_argument("--block", metavar="N", help="block size for recorded requests, in bytes (default 4KiB)")
    add_trace_options(added)


def cache(options: Namespace) -> int:
    """Count the hits of each policy at each size."""
    with ProgressBar() as progress:
        rows = seeklab.cache(
            options.trace,
            options.policy,
            options.size,
            objects=options.objects,
            one_in=options.one_in,
            block=options.block,
            format=options.format,
            target=options.target,
            columns=options.columns,
            progress=progress,
            tell=note,
        )
    if options.json:
        print_json([{name: row[name] for name in COLUMNS} for row in rows])
    else:
        lines = [(*(str(row[name]) for name in COLUMNS), _percent(row["hits"], row["requests"])) for row in rows]
        print_table((*COLUMNS, "hit %"), lines, right=(1, 2, 3, 4))
    return DONE


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f}" if whole else "-"
