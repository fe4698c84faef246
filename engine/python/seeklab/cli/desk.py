"""`seeklab desk`: a class's grades as pages on this machine, with forms for comments; or statistics as a file."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import TYPE_CHECKING

from seeklab._errors import Problem, SeeklabError
from seeklab._saving import write_whole
from seeklab.cli._exit import DONE

if TYPE_CHECKING:
    from argparse import Namespace

    from seeklab.cli._commands import Commands


def add(commands: Commands) -> None:
    """Add the command."""
    added = commands.add(
        "desk", desk, "Show the instructor dashboard: scores, hard tasks and common wrong answers.", json_option=False
    )
    added.add_argument(
        "--grades",
        metavar="FILE",
        type=Path,
        default=Path("grades.db"),
        help="database of grades, as written by `grade`",
    )
    added.add_argument("--report", metavar="FILE", type=Path, help="write the page to a file and start no server")
    added.add_argument("--author", metavar="NAME", help="your name under comments (default: that of your account)")
    added.add_argument("--port", metavar="N", type=int, default=0, help="port of the server (default: any)")


def desk(options: Namespace) -> int:
    """Read the grades, and show them."""
    from seeklab.course.copies import given_code
    from seeklab.judge.dashboard import Dashboard, report
    from seeklab.judge.desk import Desk, serve
    from seeklab.judge.store import Store

    if not options.grades.exists():
        raise SeeklabError([Problem("--grades", f"{options.grades} does not exist; create it with `seeklab grade`")])
    with Store(options.grades) as store:
        read = Dashboard.read(store)
    if not read.grades:
        raise SeeklabError([Problem("--grades", f"{options.grades} contains no grades yet")])
    if options.report is not None:
        try:
            write_whole(options.report, report(read))
        except OSError as error:
            raise SeeklabError([Problem("--report", f"cannot be written: {error.strerror}")]) from None
        return DONE
    try:
        server, address = serve(Desk(options.grades, options.author or getpass.getuser(), given_code), options.port)
    except (OSError, OverflowError) as error:
        raise SeeklabError([Problem("--port", f"cannot serve on port {options.port}: {error}")]) from None
    print(f"The dashboard is at\n\n    {address}\n\nPress Ctrl-C here to stop it.", flush=True)
    with server:
        server.serve_forever()
    return DONE
