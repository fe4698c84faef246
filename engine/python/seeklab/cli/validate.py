"""`seeklab validate`: compare the disk model with a measured drive."""

from __future__ import annotations

from typing import TYPE_CHECKING

import seeklab
from seeklab.cli._exit import DONE
from seeklab.cli._output import number, print_json, print_table

if TYPE_CHECKING:
    from argparse import Namespace

    from seeklab.cli._commands import Commands

COLUMNS = ("requests", "mean_ms", "measured_mean_ms")

HEAD = ("class", "requests", "mean ms", "measured ms", "bias ms", "rms ms", "demerit")


def add(commands: Commands) -> None:
    """Add the command."""
    added = commands.add("validate", validate, "Replay a measured drive's trace on the disk model.")
    added.add_argument("drive", metavar="DRIVE.json", help="the drive's parameters")
    added.add_argument("trace", metavar="TRACE.csv.gz", help="requests and their measured service times")


def validate(options: Namespace) -> int:
    """Replay a trace on the disk model and print its error by class of request."""
    found = seeklab.validate_drive(options.drive, options.trace)
    if options.json:
        print_json(found)
        return DONE
    classes = [("all", found), ("reads", found["read"]), ("writes", found["write"])]
    lines = [
        (
            name,
            *(number(row[it]) for it in COLUMNS),
            f"{row['bias_ms']:+.3f}",
            number(row["rms_ms"]),
            f"{100 * row['demerit']:.3f}%",
        )
        for name, row in classes
    ]
    print(found["drive"])
    print_table(HEAD, lines, right=range(1, len(HEAD)))
    print(f"{100 * found['within_300_us']:.1f}% of requests are each within 0.3 ms of the measured time.")
    return DONE
