"""`seeklab presets`: the modelled devices, and the sources of their numbers."""

from __future__ import annotations

import shutil
import textwrap
from typing import TYPE_CHECKING

import seeklab
from seeklab.cli._exit import DONE
from seeklab.cli._output import print_json, print_table

if TYPE_CHECKING:
    from argparse import Namespace

    from seeklab.cli._commands import Commands

WIDEST = 100


def add(commands: Commands) -> None:
    """Add the command."""
    commands.add("presets", presets, "List the modelled devices.")


def presets(options: Namespace) -> int:
    """List the presets, each with its source."""
    found = seeklab.presets()
    if options.json:
        print_json(found)
        return DONE
    rows = [(preset["name"], preset["kind"], preset["basis"] or "", preset["title"]) for preset in found]
    print_table(("preset", "kind", "from", "what"), rows)
    width = min(WIDEST, shutil.get_terminal_size().columns)
    for preset in found:
        print()
        print(textwrap.fill(f"{preset['name']}: {preset['source']}", width=width, subsequent_indent="  "))
    return DONE
