"""What the command line understands: the commands that were added, and the one that was asked for."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from _typeshed import SupportsWrite

    Command = Callable[[argparse.Namespace], int]
    """Runs with what was written, and gives the exit status."""


class _Parser(argparse.ArgumentParser):
    def print_help(self, file: SupportsWrite[str] | None = None) -> None:
        """Print the help; argparse itself would say nothing when it cannot be written."""
        print(self.format_help(), end="", file=file)


class Commands:
    """The commands and what each of them takes."""

    def __init__(self) -> None:
        """Begin without any."""
        self.parser = _Parser(
            prog="seeklab",
            description="Reproduce documented storage incidents, and see what a change does.",
            epilog=(
                "Exit status: 0 done, 1 a fact misses, 2 bad input, 71 too little memory, "
                "74 the output cannot be written, 130 interrupted."
            ),
            allow_abbrev=False,
        )
        self._commands = self.parser.add_subparsers(metavar="COMMAND", required=True)

    def add(self, name: str, command: Command, text: str, *, json_option: bool = True) -> argparse.ArgumentParser:
        """Add a command. `text` says what it does."""
        added = self._commands.add_parser(name, help=text, description=text, allow_abbrev=False)
        added.set_defaults(command=command)
        if json_option:
            added.add_argument("--json", action="store_true", help="print one JSON document")
        return added

    def run(self, arguments: Sequence[str] | None) -> int:
        """Run what `arguments` ask for; the process's own when None."""
        options = self.parser.parse_args(arguments)
        command: Command = options.command
        return command(options)
