"""`seeklab replay`: a recorded trace on a modelled device."""

from __future__ import annotations

from typing import TYPE_CHECKING

import seeklab
from seeklab._progress import ProgressBar
from seeklab._replay import KINDS
from seeklab.cli import _values
from seeklab.cli._exit import DONE
from seeklab.cli._options import add_device, add_seed, add_trace_options
from seeklab.cli._output import note, print_json, print_metrics, run_document

if TYPE_CHECKING:
    from argparse import Namespace

    from seeklab.cli._commands import Commands


def add(commands: Commands) -> None:
    """Add the command."""
    added = commands.add("replay", replay, "Replay a recorded trace on a modelled device.")
    added.add_argument("trace", metavar="TRACE", help=f"{KINDS}, gzipped or not")
    add_device(added)
    modes = "issue at the recorded times, or when earlier requests complete: with the recorded pauses, or without"
    added.add_argument("--mode", choices=("open", "closed", "fast"), default="open", help=f"{modes} (default open)")
    added.add_argument(
        "--iodepth", metavar="N", type=_values.whole, help="maximum in flight (default: closed 1, fast 32)"
    )
    add_trace_options(added)
    added.add_argument(
        "--scale", metavar="X", type=_values.factor, help="multiply the recorded times; 0.5 is twice as fast"
    )
    add_seed(added)


def replay(options: Namespace) -> int:
    """Replay a trace, and print a note for each part of it that was not replayed."""
    with ProgressBar() as progress:
        result = seeklab.replay(
            options.trace,
            options.on,
            mode=options.mode,
            iodepth=options.iodepth,
            format=options.format,
            target=options.target,
            columns=options.columns,
            scale=options.scale,
            seed=options.seed,
            progress=progress,
            tell=note,
        )
    replayed = result.replay or {}
    if options.json:
        print_json({**run_document(result), "replay": dict(replayed)})
        return DONE
    for what, count in replayed["skipped"].items():
        note(f"not replayed: {count} {what}")
    if replayed["widened"]:
        note(f"{replayed['widened']} requests were widened to whole sectors of 512 bytes")
    what = f"{replayed['requests']} requests of a {replayed['format']} trace, {replayed['mode']}, on {options.on}"
    print(f"{what}: {result.simulated_s:.3f} s simulated in {result.wall_s:.3f} s")
    print_metrics(result)
    return DONE
