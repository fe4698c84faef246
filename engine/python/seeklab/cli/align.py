"""`seeklab align`: check whether a partition starts at a whole block; exit status 1 if not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import seeklab
from seeklab.cli._exit import CHECK_FAILED, DONE
from seeklab.cli._output import print_json

if TYPE_CHECKING:
    from argparse import Namespace

    from seeklab.cli._commands import Commands


def add(commands: Commands) -> None:
    """Add the command."""
    added = commands.add("align", align, "Check whether a partition starts at a whole block; exit 1 if not.")
    added.add_argument("start", metavar="START", help="first byte, such as 1536, 1MiB, or 63s in sectors")
    added.add_argument("--block", metavar="SIZE", default="4096", help="size of a physical block (default 4096)")
    added.add_argument("--bs", metavar="SIZE", default="1MiB", help="size of a write (default 1MiB)")


def align(options: Namespace) -> int:
    """Print whether a start is aligned, and the cost if it is not."""
    found = seeklab.alignment(options.start, block=options.block, bs=options.bs)
    if options.json:
        print_json(found)
    elif found["aligned"]:
        print(f"{found['start']} is aligned: a whole number of blocks of {found['block']} bytes.")
    else:
        print(f"{found['start']} is not aligned: {found['into_block']} bytes into a block of {found['block']} bytes.")
        print(
            f"A write of {found['bs']} bytes needs {found['extra_reads']} reads; {found['bytes_written']} are written."
        )
        print(f"The nearest aligned starts are {found['before']} and {found['after']}.")
    return DONE if found["aligned"] else CHECK_FAILED
