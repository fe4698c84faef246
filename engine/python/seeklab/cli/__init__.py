"""The command line, one file for each command.

Output is for people unless `--json` requests one JSON document; errors are sentences on stderr. A command's file has
`add`, which defines its arguments, and the function that runs it and returns the exit status.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from seeklab.cli import (
    align,
    cache,
    calibrate,
    cases,
    collect,
    course,
    curve,
    design,
    desk,
    diagnose,
    facts,
    fio,
    grade,
    inventory,
    next_step,
    oncall,
    presets,
    replay,
    review,
    run,
    schema,
    show,
    sweep,
    ticket,
    tools,
    validate,
    version,
)
from seeklab.cli._commands import Commands
from seeklab.cli._exit import BAD_INPUT, CHECK_FAILED, DEFECT, DONE, INTERRUPTED, LACKS_MEMORY, NOT_WRITTEN, ended

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Sequence

__all__ = [
    "BAD_INPUT",
    "CHECK_FAILED",
    "DEFECT",
    "DONE",
    "INTERRUPTED",
    "LACKS_MEMORY",
    "NOT_WRITTEN",
    "main",
    "parser",
]

IN_ORDER = (
    *(cases, run, sweep, facts, show, tools, fio, replay, cache, curve),
    *(
        calibrate,
        collect,
        diagnose,
        design,
        align,
        validate,
        presets,
        schema,
        course,
        oncall,
        grade,
        ticket,
        desk,
        review,
        inventory,
        next_step,
        version,
    ),
)
"""The commands in the order of `seeklab --help`."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit status."""
    return ended(lambda: _command(arguments))


def parser() -> ArgumentParser:
    """Return the parser with all commands, for documentation."""
    return _commands().parser


def _command(arguments: Sequence[str] | None) -> int:
    return _commands().run(arguments)


def _commands() -> Commands:
    commands = Commands()
    for command in IN_ORDER:
        command.add(commands)
    return commands
