"""`seeklab oncall`: an on-call shift in a shell whose tools show a simulated system."""

from __future__ import annotations

import datetime as dt
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from seeklab._errors import Problem, SeeklabError
from seeklab._saving import write_whole
from seeklab.cli import _values
from seeklab.cli._exit import CHECK_FAILED, DONE
from seeklab.cli._output import complain, print_json
from seeklab.data.files import read_text, shown

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from seeklab.cli._commands import Commands
    from seeklab.oncall.platform import Bank
    from seeklab.oncall.shell import Shell

SEEDS = 100_000
ENDING = ".sealed"


def add(commands: Commands) -> None:
    """Add the command."""
    text = "Play an on-call shift: read a ticket, investigate in a shell, name the cause, fix it."
    added = commands.add("oncall", oncall, text)
    which = added.add_mutually_exclusive_group()
    which.add_argument(
        "--seed",
        metavar="N",
        type=_values.seed,
        help="number of the shift; the same number gives everyone the same shift",
    )
    which.add_argument("--today", action="store_true", help="today's ticket, the same for everyone")
    which.add_argument("--case", metavar="FILE", help="play the shift of a case file, sealed or not")
    which.add_argument("--check", metavar="FILE", help="check that your own case is playable, then exit")
    which.add_argument(
        "--seal",
        metavar="FILE",
        help="check your own case and seal it, so that its answer is not seen by accident",
    )
    which.add_argument(
        "--protocol",
        action="store_true",
        help="for programs: nights as JSON lines on the standard input and output (docs/oncall-protocol.md)",
    )
    added.add_argument(
        "--level",
        metavar="N",
        type=int,
        choices=(1, 2, 3, 4),
        help="a night on a platform that several causes share: 1 one cause, 2 with a harmless oddity, 3 two causes,"
        " 4 one that gets worse; the default without a seed is 1",
    )
    added.add_argument("--bank", metavar="FILE", help="draw the causes of nights from a teacher's file")
    added.add_argument("--weeks", metavar="N-M", help="draw the shift from these weeks of the course, such as 1-5")
    added.add_argument(
        "--out", metavar="FILE", help=f"output file of --seal (default: next to the case, ending in {ENDING})"
    )


def oncall(options: Namespace) -> int:
    """Play a shift on the standard input, or check or seal your own case."""
    from seeklab.oncall.learner_case import read_case
    from seeklab.oncall.session import begin
    from seeklab.oncall.shell import Shell
    from seeklab.oncall.shift import Shift

    _refuse_what_does_not_go_together(options)
    if options.check or options.seal:
        return _prepare(options)
    bank = _bank(options)
    if options.protocol:
        return _protocol(bank)
    seed, level = options.seed, options.level
    if level is None and (bank or (seed is None and not (options.today or options.weeks or options.case))):
        level = 1
    if options.today:
        seed = int(dt.datetime.now(tz=dt.UTC).strftime("%Y%m%d"))
    if seed is None:
        seed = secrets.randbelow(SEEDS)
    own = read_case(options.case) if options.case else None
    shift = Shift(own.seed, own=own) if own else begin(seed, options.weeks, level, bank)
    shell = Shell(shift, (lambda _: None) if options.json else _say)
    document = shell.play(_lines(shell, quiet=options.json))
    if options.json:
        print_json(document)
    return DONE


def _bank(options: Namespace) -> Bank | None:
    from seeklab.oncall.platform import read_bank

    return read_bank(options.bank) if options.bank else None


def _protocol(bank: Bank | None) -> int:
    """Answer a program's messages until its input ends."""
    from seeklab.oncall.protocol import Exchange

    for line in Exchange(bank).lines(sys.stdin):
        print(line, flush=True)
    return DONE


def _refuse_what_does_not_go_together(options: Namespace) -> None:
    if (options.level or options.bank) and (options.case or options.check or options.seal or options.weeks):
        raise SeeklabError([Problem("level", "--level and --bank cannot be combined with --weeks or your own case")])
    if options.protocol and (options.level or options.weeks):
        raise SeeklabError([Problem("protocol", "its messages name the level; remove --level and --weeks")])
    if options.weeks and (options.case or options.check or options.seal):
        raise SeeklabError([Problem("weeks", "--weeks cannot be combined with your own case")])
    if options.out and not options.seal:
        raise SeeklabError([Problem("out", "is only used with --seal; add --seal or remove --out")])


def _prepare(options: Namespace) -> int:
    """Check a case; if requested, seal it when all checks pass."""
    from seeklab.oncall.learner_case import CASE_FILE, case_of
    from seeklab.oncall.seal import is_sealed, sealed
    from seeklab.oncall.validate import findings

    written = options.seal or options.check
    text = read_text(written, CASE_FILE)
    if options.seal and is_sealed(text):
        raise SeeklabError([Problem(shown(written), "is already sealed; play it with --case")])
    found = []
    for finding in findings(case_of(text, shown(written))):
        found.append(finding)
        if not options.json:
            print(f"{'ok' if finding.ok else 'no':<4}{finding.what}", flush=True)
    fits = all(finding.ok for finding in found)
    out = Path(options.out or str(Path(written).with_suffix(ENDING))) if options.seal and fits else None
    if out:
        _write(out, sealed(text), written)
    if options.json:
        rows = [{"field": finding.field, "ok": finding.ok, "what": finding.what} for finding in found]
        print_json({"findings": rows, "ok": fits, "sealed": shown(out) if out else None})
    elif out:
        print(f"\nSealed: {shown(out)}. A peer plays it with seeklab oncall --case, or on the page oncall.html.")
    if options.seal and not fits:
        complain('not sealed: fix the checks marked "no" and try again')
    return DONE if fits else CHECK_FAILED


def _write(out: Path, text: str, written: str) -> None:
    if out.exists() and Path(written).exists() and out.samefile(written):
        raise SeeklabError(
            [Problem("out", f"{shown(out)} is the case itself; choose another name for the sealed file")]
        )
    try:
        write_whole(out, text, encoding="ascii", newline="\n")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "is not a possible file name"
        raise SeeklabError([Problem("out", f"{shown(out)} cannot be written: {reason}")]) from None


def _say(text: str) -> None:
    print(text, flush=True)


def _lines(shell: Shell, *, quiet: bool) -> Iterator[str]:
    """Yield the lines of the input; print a prompt on a terminal."""
    terminal = sys.stdin is not None and sys.stdin.isatty() and not quiet
    while sys.stdin is not None:
        if terminal:
            print(f"{shell.clock()} nas1# ", end="", flush=True)
        try:
            line = sys.stdin.readline()
        except UnicodeDecodeError:
            line = "(the line was not valid text)\n"
        if not line:
            return
        yield line
