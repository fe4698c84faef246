"""`seeklab cases`: list the cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import seeklab
from seeklab.cli._exit import DONE
from seeklab.cli._output import print_json, print_table

if TYPE_CHECKING:
    from argparse import Namespace

    from seeklab.cli._commands import Commands

IN_JSON = ("id", "code", "title", "family", "source", "variants", "controls")


def add(commands: Commands) -> None:
    """Add the command."""
    commands.add("cases", cases, "List the cases.")


def cases(options: Namespace) -> int:
    """List the cases."""
    found = seeklab.cases()
    if options.json:
        print_json([{name: case[name] for name in IN_JSON if name in case} for case in found])
    else:
        rows = [(case["id"], ", ".join(case["variants"]), case["title"]) for case in found]
        print_table(("case", "variants", "title"), rows)
    return DONE
