"""`seeklab ticket`: write the data that a student receives about one system."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from seeklab._errors import Problem, SeeklabError
from seeklab.cli._exit import DONE
from seeklab.cli._output import complain, print_json
from seeklab.cli.grade import add_secret

if TYPE_CHECKING:
    from argparse import Namespace

    from seeklab.cli._commands import Commands


def add(commands: Commands) -> None:
    """Add the command."""
    added = commands.add("ticket", ticket, "Write a student's tickets to hand out.")
    added.add_argument("--student", metavar="S", required=True, help="the student's name in the gradebook")
    added.add_argument("--assignment", metavar="NAME", help="one assignment (default: all that have tickets)")
    added.add_argument(
        "--out", metavar="FOLDER", type=Path, default=Path("tickets"), help="output folder (default tickets/)"
    )
    add_secret(added)


def ticket(options: Namespace) -> int:
    """Write the tickets, and record that they were handed out."""
    from seeklab.judge import catalogue
    from seeklab.judge.identity import open_course
    from seeklab.judge.tickets import hand_out

    if not options.student.strip() or Path(options.student).name != options.student:
        raise SeeklabError([Problem("--student", f"{options.student!r} cannot be a folder's name")])
    course, made = open_course(options.secret, Path.cwd())
    if made:
        complain(f"note: created the course's secret in {course.folder}; back it up, and keep it from learners")
    names = [options.assignment] if options.assignment else catalogue.NAMES
    found = [catalogue.assignment(name) for name in names]
    wanted = found if options.assignment else [one for one in found if one.blind is not None]
    written = {one.id: [str(path) for path in hand_out(one, options.student, course, options.out)] for one in wanted}
    if options.json:
        print_json({"student": options.student, "tickets": written})
    else:
        for paths in written.values():
            print(*paths, sep="\n")
    return DONE
