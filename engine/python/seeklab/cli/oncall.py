"""`seeklab oncall`: a night on call, in a shell whose tools print what a simulated system does."""

from __future__ import annotations

import datetime as dt
import secrets
import sys
from typing import TYPE_CHECKING

from seeklab.cli import _values
from seeklab.cli._ending import DONE
from seeklab.cli._output import print_json

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from seeklab.cli._commands import Commands
    from seeklab.oncall.shell import Shell

SEEDS = 100_000


def add(commands: Commands) -> None:
    """Add the command."""
    text = "Be on call for a night: a ticket, a shell with the tools of the trade, a cause to name, a change to make."
    added = commands.add("oncall", oncall, text)
    which = added.add_mutually_exclusive_group()
    which.add_argument(
        "--seed", metavar="N", type=_values.whole, help="which night: the same number is the same night for everybody"
    )
    which.add_argument("--today", action="store_true", help="the ticket of the day, the same for everybody")
    added.add_argument(
        "--weeks", metavar="N-M", help="draw it from these weeks of the course: 1-5 is what the first five have taught"
    )


def oncall(options: Namespace) -> int:
    """Play a night on the standard input."""
    from seeklab.oncall.night import Night  # noqa: PLC0415 -- what not every host has, or every command needs
    from seeklab.oncall.shell import Shell  # noqa: PLC0415 -- as above

    seed = options.seed
    if options.today:
        seed = int(dt.datetime.now(tz=dt.UTC).strftime("%Y%m%d"))
    if seed is None:
        seed = secrets.randbelow(SEEDS)
    shell = Shell(Night(seed, options.weeks), (lambda _: None) if options.json else _say)
    document = shell.play(_lines(shell, quiet=options.json))
    if options.json:
        print_json(document)
    return DONE


def _say(text: str) -> None:
    print(text, flush=True)


def _lines(shell: Shell, *, quiet: bool) -> Iterator[str]:
    """Give lines until there are no more; a terminal is prompted."""
    terminal = sys.stdin is not None and sys.stdin.isatty() and not quiet
    while sys.stdin is not None:
        if terminal:
            print(f"{shell.clock()} nas1# ", end="", flush=True)
        try:
            line = sys.stdin.readline()
        except UnicodeDecodeError:
            line = "(what was typed is no text)\n"
        if not line:
            return
        yield line
