"""`seeklab show`: run a case and print the output of an observation tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

import seeklab
from seeklab.cli import _values
from seeklab.cli._exit import DONE
from seeklab.cli._options import add_run, run_case
from seeklab.cli._output import print_json, print_text, run_document

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from seeklab.cli._commands import Commands

TOOL_OPTIONS = ("by", "job", "skip", "limit", "window", "phase", "from", "to", "step")


class _Tools:
    """The names of the tools, loaded from the engine at their first use."""

    def __iter__(self) -> Iterator[str]:
        return (tool["name"] for tool in seeklab.tools())


def add(commands: Commands) -> None:
    """Add the command."""
    show_ = commands.add("show", show, "Run a case and print the output of an observation tool.")
    add_run(show_)
    tool_help = "the tool; `seeklab tools` lists them"
    show_.add_argument("--as", dest="tool", choices=_Tools(), metavar="TOOL", required=True, help=tool_help)
    show_.add_argument("--by", choices=("time", "client", "device"), help="rows of the server's analytics")
    show_.add_argument("--job", metavar="NAME", help="only this job in the operation log")
    show_.add_argument("--skip", metavar="N", type=_values.whole, help="skip the first N lines of the operation log")
    show_.add_argument(
        "--limit", metavar="N", type=_values.whole, help="print at most N lines of the operation log (default 40)"
    )
    show_.add_argument("--window", metavar="TIME", help="averaging window of the monitor, such as 20s")
    show_.add_argument("--phase", metavar="TIME", help="start of the monitor's windows, such as 5.5s")
    for name, help_ in (("from", "start (default 0)"), ("to", "end (default 50, at most 1000)"), ("step", "width (1)")):
        show_.add_argument(f"--{name}", metavar="MS", type=_values.whole, help=f"{help_} of lquantize's buckets")


def show(options: Namespace) -> int:
    """Run a case and print a tool's output."""
    if options.tool == "analytics":
        options.set = [*options.set, ("record.analytics", True)]
    result = run_case(options)
    chosen = {name: getattr(options, name) for name in TOOL_OPTIONS if getattr(options, name) is not None}
    text = result.text(options.tool, **chosen)
    if options.json:
        print_json({**run_document(result), "tool": options.tool, "text": text})
    else:
        print_text(text)
    return DONE
