"""`seeklab tools`: list the observation tools whose output a run can print."""

from __future__ import annotations

from typing import TYPE_CHECKING

import seeklab
from seeklab.cli._exit import DONE
from seeklab.cli._output import print_json, print_table

if TYPE_CHECKING:
    from argparse import Namespace

    from seeklab.cli._commands import Commands


def add(commands: Commands) -> None:
    """Add the command."""
    commands.add("tools", tools, "List the tools whose output `show` prints.")


def tools(options: Namespace) -> int:
    """List the tools, each with a description."""
    found = seeklab.tools()
    if options.json:
        print_json(found)
    else:
        print_table(("tool", "what it shows"), [(tool["name"], tool["help"]) for tool in found])
    return DONE
