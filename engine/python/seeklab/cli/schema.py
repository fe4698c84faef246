"""`seeklab schema`: the JSON Schema of a scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING

import seeklab
from seeklab.cli._exit import DONE
from seeklab.cli._output import print_json

if TYPE_CHECKING:
    from argparse import Namespace

    from seeklab.cli._commands import Commands


def add(commands: Commands) -> None:
    """Add the command."""
    commands.add("schema", schema, "Print the JSON Schema of a scenario.", json_option=False)


def schema(_options: Namespace) -> int:
    """Print the schema."""
    print_json(seeklab.schema())
    return DONE
