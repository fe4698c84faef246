"""The command line's parser: it knows the commands that were added, and runs the requested one."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any, Never

from seeklab import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from _typeshed import SupportsWrite

    Command = Callable[[argparse.Namespace], int]
    """Runs with the parsed arguments, and returns the exit status."""


class _Parser(argparse.ArgumentParser):
    def print_help(self, file: SupportsWrite[str] | None = None) -> None:
        """Print the help; argparse itself would hide an error of the output."""
        print(self.format_help(), end="", file=file)


class _PrintVersion(argparse.Action):
    """Prints the version; argparse's own action would hide an error of the output."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any, **__: Any) -> Never:
        """Print the version and end."""
        print(f"seeklab {__version__}")
        parser.exit()


class Commands:
    """The commands and their arguments."""

    def __init__(self) -> None:
        """Create a parser without commands."""
        self.parser = _Parser(
            prog="seeklab",
            description="Reproduce documented storage incidents, and test the effect of changes.",
            epilog=(
                "Exit status: 0 done, 1 a fact misses, 2 bad input, 71 too little memory, "
                "74 the output cannot be written, 130 interrupted."
            ),
            allow_abbrev=False,
        )
        self.parser.add_argument("--version", action=_PrintVersion, nargs=0, help="print the version and exit")
        self._commands = self.parser.add_subparsers(metavar="COMMAND", required=True)
        self._prepare: dict[str, Callable[[list[str]], list[str]]] = {}

    def add(
        self,
        name: str,
        command: Command,
        text: str,
        *,
        json_option: bool = True,
        prepare: Callable[[list[str]], list[str]] | None = None,
    ) -> argparse.ArgumentParser:
        """Add a command; `text` is its one-line help. `prepare` changes its arguments before they are parsed."""
        if prepare is not None:
            self._prepare[name] = prepare
        added = self._commands.add_parser(name, help=text, description=text, allow_abbrev=False)
        added.set_defaults(command=command)
        if json_option:
            added.add_argument("--json", action="store_true", help="print one JSON document")
        return added

    def run(self, arguments: Sequence[str] | None) -> int:
        """Run the command that `arguments` name; None uses the arguments of the process."""
        given = list(sys.argv[1:] if arguments is None else arguments)
        if given and given[0] in self._prepare:
            given[1:] = self._prepare[given[0]](given[1:])
        options = self.parser.parse_args(given)
        command: Command = options.command
        return command(options)
