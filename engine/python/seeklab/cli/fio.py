"""`seeklab fio`: a fio job file on a modelled device."""

from __future__ import annotations

from typing import TYPE_CHECKING

import seeklab
from seeklab._progress import ProgressBar
from seeklab.cli._ending import DONE
from seeklab.cli._options import add_device, add_seed
from seeklab.cli._output import complain, print_text

if TYPE_CHECKING:
    from argparse import Namespace

    from seeklab.cli._commands import Commands


def add(commands: Commands) -> None:
    """Add the command."""
    added = commands.add("fio", fio, "Run a fio job file on a modelled device.", json_option=False)
    added.add_argument("jobfile", metavar="JOBFILE", help="a fio job file; - reads the standard input")
    add_device(added)
    added.add_argument("--output-format", choices=("normal", "json"), default="normal", help="as fio's own option")
    add_seed(added)


def fio(options: Namespace) -> int:
    """Run a job file and print what fio would print."""
    job = seeklab.fio(options.jobfile, options.on)
    for warning in job.warnings:
        complain(f"note: {warning}")
    for item in job.ignored:
        complain(f"note: [{item['job']}] {item['option']}={item['value']} is ignored: {item['reason']}")
    with ProgressBar() as progress:
        result = job.run(seed=options.seed, progress=progress)
    print_text(job.report(result, options.output_format))
    return DONE
