"""Options that several commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import seeklab
from seeklab._progress import ProgressBar
from seeklab._replay import TraceFormat
from seeklab.cli import _values
from seeklab.cli._output import complain

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from seeklab._result import Result


def add_case(added: ArgumentParser) -> None:
    """Add the argument for a case."""
    added.add_argument("case", metavar="CASE", help="a case's name; `seeklab cases` lists them")


def add_device(added: ArgumentParser) -> None:
    """Add the option for the device to run on."""
    help_ = "the device: a preset (`seeklab presets` lists them), your own preset (`mine`), or a preset's file"
    added.add_argument("--on", metavar="PRESET", required=True, help=help_)


def add_seed(added: ArgumentParser) -> None:
    """Add the option for a seed."""
    help_ = "seed of the run's randomness (default 1)"
    added.add_argument("--seed", metavar="N", type=_values.seed, default=1, help=help_)


def add_set(added: ArgumentParser, metavar: str, help_: str) -> None:
    """Add the option for values by name, which may be repeated."""
    help_ = f"{help_}; may be repeated"
    added.add_argument("--set", metavar=metavar, action="append", default=[], type=_values.assignment, help=help_)


def add_trace_options(added: ArgumentParser) -> None:
    """Add the options for a trace's format, and for the part to use."""
    added.add_argument(
        "--format", choices=get_args(TraceFormat), help="the trace's format (default: detected from the first line)"
    )
    help_ = (
        "columns of any other table, from 1: time=1,op=2,offset=3,bytes=4; sector and sectors count 512 bytes, and a "
        "unit of time follows its name (time:us=1)"
    )
    added.add_argument("--columns", metavar="C=N,...", help=help_)
    added.add_argument("--target", metavar="NAME", help="one file or device of a trace that contains several")


def add_run(added: ArgumentParser) -> None:
    """Add the options of a run of a case."""
    add_case(added)
    added.add_argument("--variant", metavar="V", help="a variant of the case (default: the case's default variant)")
    add_set(added, "PATH=VALUE", "change a value of the scenario, such as volume.prefetch.chunk=4MiB; null removes it")
    help_ = "put the case's data on this device instead: a preset, your own preset (`mine`), or a preset's file"
    added.add_argument("--on", metavar="PRESET", help=help_)
    add_seed(added)


def run_case(options: Namespace) -> Result:
    """Run the case with the options of `add_run`."""
    case = seeklab.case(options.case)
    if options.on is not None:
        case = case.on(options.on, options.variant)
    case = case.with_(dict(options.set))
    with ProgressBar() as progress:
        result = case.run(options.variant, seed=options.seed, progress=progress)
    for warning in result.warnings:
        complain(f"note: {warning.path}: {warning.message}")
    return result
