"""`seeklab curve`: print points of a mechanism's own curve."""

from __future__ import annotations

from typing import TYPE_CHECKING

import seeklab
from seeklab.cli import _values
from seeklab.cli._exit import DONE
from seeklab.cli._options import add_set
from seeklab.cli._output import print_json, print_table

if TYPE_CHECKING:
    from argparse import Namespace

    from seeklab.cli._commands import Commands


def add(commands: Commands) -> None:
    """Add the command."""
    added = commands.add("curve", curve, "Print points of a mechanism's own curve.")
    added.add_argument(
        "name", metavar="NAME", help="openzfs-delay, openzfs-async-writes, zfs2008-limit or ssd-write-amplification"
    )
    points = "points, such as 3435973836 or 3GiB"
    added.add_argument("--at", metavar="X,...", type=_values.words, required=True, help=points)
    add_set(added, "KEY=VALUE", "a setting of the curve, such as dirty_data_max=4GiB")


def curve(options: Namespace) -> int:
    """Print points of a curve."""
    points = seeklab.curve(options.name, options.at, dict(options.set))
    if options.json:
        print_json(points)
    else:
        lines = [(str(point["x"]), str(point["y"]), point["unit"]) for point in points]
        print_table(("x", "y", "unit"), lines, right=(0, 1))
    return DONE
