"""`seeklab run`: run a case and print its metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seeklab.cli._exit import DONE
from seeklab.cli._options import add_run, run_case
from seeklab.cli._output import print_json, print_metrics, run_document

if TYPE_CHECKING:
    from argparse import Namespace

    from seeklab.cli._commands import Commands


def add(commands: Commands) -> None:
    """Add the command."""
    add_run(commands.add("run", run, "Run a case and print its metrics."))


def run(options: Namespace) -> int:
    """Run a case and print its metrics."""
    result = run_case(options)
    if options.json:
        print_json(run_document(result))
        return DONE
    times = f"{result.simulated_s:.3f} s simulated in {result.wall_s:.3f} s"
    print(f"{result.case} {result.variant}, seed {result.seed}: {times}")
    print_metrics(result)
    return DONE
