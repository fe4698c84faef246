"""`seeklab collect`: print a shell script that records what `seeklab diagnose` reads."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from seeklab._errors import Problem, SeeklabError
from seeklab.cli import _values
from seeklab.cli._exit import DONE
from seeklab.cli._output import print_json
from seeklab.diagnosis.collect import MAX_SECONDS, SECONDS, script

if TYPE_CHECKING:
    from argparse import Namespace

    from seeklab.cli._commands import Commands


def add(commands: Commands) -> None:
    """Add the command."""
    text = (
        "Print a shell script that records 30 s of storage activity for `seeklab diagnose`. It needs coreutils, and "
        "uses sysstat, zfs, nvme-cli and bpftrace where they are present."
    )
    added = commands.add("collect", run, text)
    added.add_argument(
        "--seconds",
        metavar="S",
        type=_values.whole,
        default=SECONDS,
        help="length of the recording in seconds (default 30)",
    )


def run(options: Namespace) -> int:
    """Print the script."""
    if not 1 <= options.seconds <= MAX_SECONDS:
        message = f"{options.seconds} is not a length; accepted: 1 to {MAX_SECONDS}"
        raise SeeklabError([Problem("seconds", message)])
    text = script(options.seconds)
    if options.json:
        print_json({"script": text})
    else:
        sys.stdout.write(text)
    return DONE
