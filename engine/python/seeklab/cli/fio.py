"""`seeklab fio`: fio job files on a modelled device."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import seeklab
from seeklab._errors import Problem, SeeklabError
from seeklab._fio import TOOLS, formats
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
OWN = ("on", "output-format", "output", "section", "env", "most-operations", "seed")
"""Options of this command, each with a value; fio has some of them too. All others are fio's."""


def add(commands: Commands) -> None:
    """Add the command."""
    text = "Run fio job files, or a command line of fio, on a modelled device."
    added = commands.add("fio", fio, text, json_option=False, prepare=_prepare)
    help_ = (
        "fio job files, whose jobs run one after the other; - reads the standard input. As in fio, a file can name "
        "others to read (include) and to write (write_lat_log). Options of fio, such as --name=reader --rw=randread, "
        "make jobs as on its command line"
    )
    added.add_argument("jobfile", metavar="JOBFILE", nargs="*", help=help_)
    added.add_argument("--command", dest="line", help=argparse.SUPPRESS)
    add_device(added)
    help_ = f"{', '.join(TOOLS)}, or several with commas, as fio's option (default normal)"
    added.add_argument("--output-format", metavar="FORMAT", help=help_)
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


def fio(options: Namespace) -> int:
    """Run job files and print fio's report."""
    job = seeklab.fio(
        options.jobfile,
        options.on,
        command=options.line,
        environment=dict(options.env),
        sections=options.section,
        most_operations=options.most_operations or None,
    )
    output_format = options.output_format or job.output_format or "normal"
    formats(output_format)
    for warning in dict.fromkeys(job.warnings):
        complain(f"note: {warning}")
    sections: dict[tuple[str, str, str], list[str]] = {}
    for item in job.ignored:
        sections.setdefault((item["option"], item["value"], item["reason"]), []).append(item["job"])
    for (option, value, reason), names in sections.items():
        what = f"{option}={value}" if value else option
        complain(f"note: [{', '.join(dict.fromkeys(names))}] {what} is ignored: {reason}")
    with ProgressBar() as progress:
        result = job.run(seed=options.seed, progress=progress)
    for sentence in job.stopped(result):
        complain(f"note: {sentence}")
    report = job.report(result, output_format)
    if options.output:
        _write(options.output, report)
    else:
        print_text(report)
    for name, text in job.log_files(result).items():
        _write(name, text)
    return DONE


def _prepare(arguments: list[str]) -> list[str]:
    """Separate this command's options from a command line of fio, which is passed on as a text."""
    own: list[str] = []
    rest: list[str] = []
    words = iter(arguments)
    for word in words:
        name, sign, _ = word.lstrip("-").partition("=")
        if word in ("-h", "--help"):
            own.append(word)
        elif word.startswith("-") and name in OWN:
            own.append(f"--{name}{sign}{word.partition('=')[2]}")
            value = None if sign else next(words, None)
            own += [] if value is None else [value]
        elif word == "--command":
            return arguments
        else:
            rest.append(word)
    # A job file's name has no blanks before an option, and a pasted line in quotes has.
    if any(word.startswith("-") and word != "-" for word in rest):
        return [*own, f"--command={shlex.join(['fio', *rest])}"]
    if len(rest) == 1 and " -" in rest[0] and not Path(rest[0]).exists():
        return [*own, f"--command={rest[0]}"]
    return [*own, "--", *rest] if rest else own


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
