"""`seeklab diagnose`: interpret tool output from a slow system, and find the incidents that it resembles."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from seeklab.cli._exit import DONE
from seeklab.cli._output import complain, print_json
from seeklab.diagnosis.signatures import diagnose

if TYPE_CHECKING:
    from argparse import Namespace

    from seeklab.cli._commands import Commands
    from seeklab.diagnosis.signatures import Diagnosis

WIDTH = 110


def add(commands: Commands) -> None:
    """Add the command."""
    text = "Interpret reports of observation tools from a slow system and list similar incidents."
    added = commands.add("diagnose", run, text)
    help_ = (
        "reports of the same time: iostat -x (text or JSON), zpool iostat, fio's JSON, blkparse, an operation log (CSV)"
    )
    added.add_argument("files", metavar="FILE", nargs="+", help=help_)


def run(options: Namespace) -> int:
    """Diagnose."""
    found = diagnose(options.files)
    for source in found.sources:
        complain(f"note: {source}")
    if options.json:
        print_json(found.document())
    else:
        _print(found)
    return DONE


def _print(found: Diagnosis) -> None:
    print("Observations in the numbers")
    for sentence in found.says or ["Nothing stands out."]:
        print(textwrap.fill(sentence, WIDTH, initial_indent="- ", subsequent_indent="  "))
    print()
    if found.is_none:
        print(f"No incident fits: {found.why}.")
    else:
        print("Incidents that fit")
        for number, fit in enumerate(found.ranked, 1):
            line = f"{number}. {fit.mechanism} (as in {fit.incident}), {fit.percent:.0f}%"
            like = f": similar in {'; '.join(fit.alike)}" if fit.alike else ""
            unlike = f". Different in {'; '.join(fit.unlike)}" if fit.unlike else ""
            print(textwrap.fill(f"{line}{like}{unlike}", WIDTH, subsequent_indent="   "))
    if found.next:
        print("\nNext measurements")
        for sentence in found.next:
            print(textwrap.fill(sentence, WIDTH, initial_indent="- ", subsequent_indent="  "))
