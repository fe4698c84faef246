"""`seeklab oncall`: an on-call shift in a shell whose tools show a simulated system."""

from __future__ import annotations

import contextlib
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
LOOPBACK = "127.0.0.1"
"""Tests are served to this machine; a class reaches it through a proxy with TLS."""


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
        help="for programs: shifts as JSON lines on the standard input and output (docs/oncall-protocol.md)",
    )
    which.add_argument(
        "--serve",
        metavar="STUDENTS",
        help="serve a test shift to each student of a file, one a line; needs --secret and --out",
    )
    which.add_argument("--join", metavar="URL", help="play your test shift on a teacher's server; asks for your token")
    added.add_argument(
        "--secret", metavar="FILE", help="with --serve: a file of at least 16 bytes that only you can read"
    )
    added.add_argument("--port", metavar="N", type=int, default=8123, help="with --serve: the port (default 8123)")
    added.add_argument(
        "--level",
        metavar="N",
        type=int,
        choices=(1, 2, 3, 4),
        help="a shift on a platform that several causes share. 1: one cause. 2: with a harmless oddity. 3: two causes."
        " 4: one that gets worse. Without a seed the default is 1",
    )
    added.add_argument("--bank", metavar="FILE", help="draw the causes of shifts from a teacher's file")
    added.add_argument("--weeks", metavar="N-M", help="draw the shift from these weeks of the course, such as 1-5")
    added.add_argument(
        "--out",
        metavar="FILE",
        help=f"output of --seal (default: next to the case, ending in {ENDING}), or the log of --serve",
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
    if options.serve:
        return _serve(options)
    if options.join:
        return _join(options.join)
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


def _serve(options: Namespace) -> int:
    """Serve test shifts on this machine until an interrupt; then print the results."""
    from seeklab.oncall.room_server import Rooms, server

    if not (options.secret and options.out):
        raise SeeklabError([Problem("serve", "needs --secret FILE and --out LOG")])
    try:
        secret = Path(options.secret).read_bytes().strip()
        lines = Path(options.serve).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SeeklabError([Problem("serve", f"{error}; pass two files that can be read")]) from None
    students = [line.strip() for line in lines if line.strip()]
    rooms = Rooms(secret, students, Path(options.out), options.level or 1, _bank(options))
    try:
        serving = server(rooms, LOOPBACK, options.port)
    except (OSError, OverflowError) as error:
        raise SeeklabError([Problem("port", f"{options.port} cannot be used: {error}")]) from None
    for student, token in rooms.tokens.items():
        print(f"{token}  {student}")
    print(
        f"Serving {len(rooms.tokens)} shifts at http://{LOOPBACK}:{options.port}/; Ctrl+C ends and prints the results."
    )
    with serving, contextlib.suppress(KeyboardInterrupt):
        serving.serve_forever()
    results = rooms.results()
    if options.json:
        print_json(results)
    for row in () if options.json else results:
        print(f"{row['student']}: {row['score']['total']} of 100, {len(row['looks'])} looks. {' '.join(row['causes'])}")
    return DONE


def _join(address: str) -> int:
    """Play a test shift on a server from the standard input."""
    import getpass
    import os

    from seeklab.oncall.room_client import Client, check_address

    check_address(address)
    token = os.environ.get("SEEKLAB_TOKEN", "")
    if not token:
        if sys.stdin is None or not sys.stdin.isatty():
            raise SeeklabError([Problem("token", "is missing; set SEEKLAB_TOKEN, or use a terminal")])
        token = getpass.getpass("Token: ")
    client = Client(address, token)
    _say(client.welcome())
    while sys.stdin is not None and (line := sys.stdin.readline()):
        if line.strip():
            _say(client.enter(line))
        if client.is_over:
            break
    return DONE


def _refuse_what_does_not_go_together(options: Namespace) -> None:
    if (options.level or options.bank) and (options.case or options.check or options.seal or options.weeks):
        raise SeeklabError([Problem("level", "--level and --bank cannot be combined with --weeks or your own case")])
    if options.protocol and (options.level or options.weeks):
        raise SeeklabError([Problem("protocol", "its messages name the level; remove --level and --weeks")])
    if options.weeks and (options.case or options.check or options.seal):
        raise SeeklabError([Problem("weeks", "--weeks cannot be combined with your own case")])
    if options.out and not (options.seal or options.serve):
        raise SeeklabError([Problem("out", "is only used with --seal and --serve; add one of them or remove --out")])
    if options.secret and not options.serve:
        raise SeeklabError([Problem("secret", "is only used with --serve; add --serve or remove --secret")])


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
