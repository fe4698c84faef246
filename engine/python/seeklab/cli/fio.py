"""`seeklab fio`: fio job files on a modelled device."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import seeklab
from seeklab._errors import Problem, SeeklabError
from seeklab._fio import TOOLS
from seeklab._progress import ProgressBar
from seeklab._saving import write_whole
from seeklab.cli import _values
from seeklab.cli._exit import DONE
from seeklab.cli._options import add_device, add_seed
from seeklab.cli._output import complain, print_text

if TYPE_CHECKING:
    from argparse import Namespace

    from seeklab.cli._commands import Commands

MAX_OPERATIONS = 250_000
"""Operations that take about ten seconds. Jobs that ask for hours run to this limit, and the report says it."""
WITHOUT_EFFECT = {
    "eta": "a terminal shows the progress",
    "eta-newline": "a terminal shows the progress",
    "eta-interval": "a terminal shows the progress",
    "status-interval": "the report is printed at the end of the run",
    "terse-version": "version 3 is printed",
    "max-jobs": "a job file can have 256 jobs",
    "alloc-size": "the engine manages its own memory",
    "warnings-fatal": "problems are always fatal",
    "allow-file-create": "files on the modelled storage exist from the start",
    "readonly": "only the model is written to",
    "idle-prof": "processors are not modelled",
    "cpuclock-test": "the model has its own clock",
    "trigger-file": "there are no triggers",
    "trigger-timeout": "there are no triggers",
    "trigger": "there are no triggers",
    "aux-path": "no state is stored",
    "debug": "the operation log of a run shows more",
    "client": "all jobs run in this process",
    "server": "all jobs run in this process",
    "remote-config": "all jobs run in this process",
    "daemonize": "all jobs run in this process",
}
"""fio's options without an effect here, with the reason."""
FLAGS = frozenset(("warnings-fatal", "readonly", "cpuclock-test"))


def add(commands: Commands) -> None:
    """Add the command."""
    added = commands.add("fio", fio, "Run fio job files on a modelled device.", json_option=False)
    help_ = (
        "fio job files, whose jobs run one after the other; - reads the standard input. As in fio, a file can name "
        "others to read (include) and to write (write_lat_log)"
    )
    added.add_argument("jobfile", metavar="JOBFILE", nargs="+", help=help_)
    add_device(added)
    added.add_argument("--output-format", choices=tuple(TOOLS), default="normal", help="same as fio's option")
    added.add_argument("--output", metavar="FILE", help="write the report to this file")
    help_ = "run only this section; may be repeated"
    added.add_argument("--section", metavar="NAME", action="append", default=[], help=help_)
    help_ = "value of ${NAME} in the job file, instead of the environment's; may be repeated"
    added.add_argument("--env", metavar="NAME=VALUE", action="append", default=[], type=_variable, help=help_)
    help_ = (
        "end the run after N operations; one larger than 64 KiB counts as several "
        f"(default {MAX_OPERATIONS}; 0 for no limit)"
    )
    added.add_argument("--most-operations", metavar="N", type=_values.whole, default=MAX_OPERATIONS, help=help_)
    add_seed(added)
    for name in WITHOUT_EFFECT:
        kind = {"action": "store_true"} if name in FLAGS else {"nargs": "?", "const": "", "default": None}
        added.add_argument(f"--{name}", dest=f"ignored_{name}", help=argparse.SUPPRESS, **kind)


def fio(options: Namespace) -> int:
    """Run job files and print fio's report."""
    job = seeklab.fio(
        options.jobfile,
        options.on,
        environment=dict(options.env),
        sections=options.section,
        most_operations=options.most_operations or None,
    )
    for name, reason in WITHOUT_EFFECT.items():
        if getattr(options, f"ignored_{name}") not in (None, False):
            complain(f"note: --{name} is ignored: {reason}")
    for warning in job.warnings:
        complain(f"note: {warning}")
    for item in job.ignored:
        complain(f"note: [{item['job']}] {item['option']}={item['value']} is ignored: {item['reason']}")
    with ProgressBar() as progress:
        result = job.run(seed=options.seed, progress=progress)
    for sentence in job.stopped(result):
        complain(f"note: {sentence}")
    report = job.report(result, options.output_format)
    if options.output:
        _write(options.output, report)
    else:
        print_text(report)
    for name, text in job.log_files(result).items():
        _write(name, text)
    return DONE


def _write(path: str, text: str) -> None:
    try:
        write_whole(Path(path), text)
    except OSError as error:
        raise SeeklabError([Problem(path, f"{error.strerror}; pass a file that can be written")]) from None


def _variable(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not name or not sign:
        message = f'"{text}" is not a variable; write NAME=VALUE'
        raise argparse.ArgumentTypeError(message)
    return name, value
