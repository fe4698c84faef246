"""`seeklab diagnose`: say what the output of tools shows, which causes it supports, and what to look at next."""

from __future__ import annotations

import json
import shlex
import sys
import textwrap
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from seeklab._errors import Problem, SeeklabError
from seeklab._saving import write_whole
from seeklab.cli._exit import DONE
from seeklab.cli._output import print_json, print_table
from seeklab.data.files import STANDARD_INPUT, shown
from seeklab.diagnosis import diagnose, redacted
from seeklab.diagnosis.reading import count

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from seeklab.cli._commands import Commands
    from seeklab.diagnosis import Diagnosis, Verdict
    from seeklab.diagnosis.replay import Replay

WIDTH = 110
MAX_BLOCKS = 60
"""Blocks that are listed: a reader does not look through more."""


def add(commands: Commands) -> None:
    """Add the command."""
    text = (
        "Read pasted output of tools from a slow system: what it says, which causes it supports, what to look at next."
    )
    added = commands.add("diagnose", run, text)
    help_ = (
        "text files with any mixture of iostat, zpool, fio, dmesg, vmstat, dd, application logs and others, prompts "
        "and "
        "prose included; - or nothing reads the standard input"
    )
    added.add_argument("files", metavar="FILE", nargs="*", help=help_)
    help_ = (
        "write the texts to OUT without names of hosts and users, addresses, serial numbers and paths, and diagnose "
        "what was written"
    )
    added.add_argument("--redact", metavar="OUT", help=help_)
    help_ = (
        "run the incidents of likely causes with the report's numbers, and print what the fix would change; more "
        "than a factor of two apart refutes the cause"
    )
    added.add_argument("--replay", action="store_true", help=help_)


def run(options: Namespace) -> int:
    """Diagnose."""
    if not options.files and sys.stdin.isatty():
        sys.stderr.write("Paste the output of tools, then press Ctrl-D.\n")
    files = options.files or [STANDARD_INPUT]
    if options.redact is not None:
        files = [_redact(files, options.redact)]
    found = diagnose(files, replays=options.replay)
    if options.json:
        print_json(found.document())
    else:
        _print(found)
        if options.replay and not found.replays:
            print("\nReplay")
            _line("No cause that is shown or likely has an incident and the numbers to run it.")
    return DONE


def _redact(files: Sequence[str], out: str) -> str:
    """Write the texts without names to one file; return its path."""
    parts = [text.content.rstrip() for text in redacted(files) if text.content]
    try:
        write_whole(Path(out), "\n\n".join(parts) + "\n")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "is not a possible file name"
        raise SeeklabError([Problem("redact", f"{shown(out)} cannot be written: {reason}")]) from None
    return out


def _line(text: str, first: str = "- ") -> None:
    print(textwrap.fill(text, WIDTH, initial_indent=first, subsequent_indent=" " * len(first)))


def _print(found: Diagnosis) -> None:
    _print_blocks(found)
    print("\nReadings")
    for reading in found.readings:
        _line(f"{reading.sentence} [{reading.sum}]" if reading.sum else reading.sentence)
    if not found.readings:
        _line("These columns do not explain a complaint.")
    print("\nCauses")
    for verdict in found.causes:
        _print_cause(verdict)
    if not found.causes:
        _line("This text does not show a cause.")
    for run in found.replays:
        _print_replay(run)
    print("\nNext look")
    for look in found.next:
        _line(look.command, "$ ")
        for outcome, then in look.outcomes:
            _line(f"{outcome}: {then}", "  - ")
    if found.not_recorded:
        print("\nNot recorded")
        for part in found.not_recorded:
            _line(part)


def _print_replay(run: Replay) -> None:
    plan = run.plan
    print(f"\nReplay of {plan.incident} with your numbers")
    settings = " ".join(f"--set {shlex.quote(f'{path}={_value(value)}')}" for path, value in plan.set.items())
    print(f"$ seeklab run {plan.incident} --variant {plan.variant} {settings}")
    rows = [
        (f"{one.name}, {one.unit}", count(one.reported), count(value), count(fixed))
        for one, value, fixed in zip(plan.compared, run.simulated, run.with_fix, strict=True)
    ]
    print_table(("", "report", "simulated", "with the fix"), rows)
    _line(f"The fix is {plan.fix}.{f' {plan.assumed}' if plan.assumed else ''}")
    if not run.is_near:
        _line("The simulation is further away than a factor of two, so this cause loses its rank.")


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _print_blocks(found: Diagnosis) -> None:
    print("Found")
    blocks = found.document()["blocks"]
    for block in blocks[:MAX_BLOCKS]:
        note = f" ({block['note']})" if block["note"] else ""
        used = "" if block["used"] else ", not used"
        _line(f"{block['source']} lines {block['lines'][0]}-{block['lines'][1]}: {block['tool']}{used}{note}")
    if len(blocks) > MAX_BLOCKS:
        tools = Counter(block["tool"] for block in blocks[MAX_BLOCKS:])
        rest = ", ".join(f"{number:,} {tool}" for tool, number in tools.most_common(10))
        _line(f"and {len(blocks) - MAX_BLOCKS:,} more blocks ({rest}); --json lists them all")
    for each in found.found:
        for note in each.notes:
            _line(f"{each.source}: {note}")
    if not blocks:
        _line("no output of a known tool. Paste the tool's whole output, with its heading.")


def _print_cause(verdict: Verdict) -> None:
    incidents = f" (incidents: {', '.join(verdict.cause.incidents)})" if verdict.cause.incidents else ""
    _line(f"{verdict.confidence}: {verdict.cause.sentence}{incidents}")
    for name, of in (("supported by", verdict.supported_by), ("against", verdict.against)):
        if of:
            _line(", ".join(f"{reading.id} of {reading.subject}" for reading in of), f"  {name}: ")
