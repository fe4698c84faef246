"""`seeklab version`: the versions of the package and of the engine."""

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
    commands.add("version", version, "Print the versions of the package and of the engine.")


def version(options: Namespace) -> int:
    """Print the versions."""
    versions = {"seeklab": seeklab.__version__, "engine": seeklab.engine_version()}
    if options.json:
        print_json(versions)
    else:
        print(f"seeklab {versions['seeklab']}, engine {versions['engine']}")
    return DONE
