"""`seeklab next`: the next notebook of the course, and what is due for practice."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from seeklab._errors import Problem, SeeklabError
from seeklab.cli._exit import CHECK_FAILED, DONE
from seeklab.cli._output import print_json, print_table

if TYPE_CHECKING:
    from argparse import Namespace

    from seeklab.cli._commands import Commands


def add(commands: Commands) -> None:
    """Add the command."""
    added = commands.add("next", next_, "Say which notebook comes next, and which concepts are due for practice.")
    added.add_argument(
        "file", metavar="FILE", nargs="?", type=Path, default=Path("commits.json"), help="default: commits.json here"
    )
    added.add_argument("--certify", metavar="STUDENT", help="for teachers: sign a certificate of practice")
    added.add_argument("--check", action="store_true", help="for teachers: check the signature of the certificate FILE")
    added.add_argument("--secret", metavar="FILE", type=Path, help="the course's secret, for --certify and --check")


def next_(options: Namespace) -> int:
    """Print the next step, or write or check a certificate."""
    from seeklab._commitments import read_entries
    from seeklab.course import known as progress

    if not options.file.exists():
        message = "does not exist; it is in the folder of your notebooks after your first answer"
        raise SeeklabError([Problem(str(options.file), message)])
    if options.check:
        return _check(options)
    commitments, entries = read_entries(options.file)
    concepts = progress.known(commitments)
    if options.certify is not None:
        return _certify(options, concepts)
    course = progress.steps()
    solved = progress.solved_tasks(entries)
    shares = {step.key: progress.done(step, commitments, solved) for step in course}
    found = progress.next_step(course, shares)
    week = found[0].week if found else course[-1].week
    due = progress.due(concepts, datetime.now(UTC).date(), week)
    if options.json:
        step = None if found is None else {"notebook": found[0].file, "part": found[0].part, "because": found[1]}
        concepts_due = [{"item": one.item.id, "concept": one.item.concept, "box": one.box} for one in due]
        print_json({"next": step, "due": concepts_due})
        return DONE
    if found is None:
        print("All notebooks are done.")
    else:
        print(f"Next: {found[0].file}, because {found[1]}.")
    rows = [(one.item.concept, str(one.box), f"{one.right} of {one.seen}") for one in due]
    if rows:
        print("\nThree questions wait in 00-start.ipynb:")
        print_table(("concept", "box", "right"), rows)
    return DONE


def _certify(options: Namespace, concepts: object) -> int:
    from seeklab.course.certificate import certificate
    from seeklab.judge.identity import open_course

    course, _ = open_course(options.secret, Path.cwd())
    print_json(certificate(options.certify, concepts, datetime.now(UTC).date(), course))  # type: ignore[arg-type]
    return DONE


def _check(options: Namespace) -> int:
    import json

    from seeklab.course.certificate import is_genuine
    from seeklab.judge.identity import open_course

    try:
        document = json.loads(options.file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise SeeklabError([Problem(str(options.file), "is not a certificate, which is a JSON object")])
    course, _ = open_course(options.secret, Path.cwd())
    genuine = is_genuine(document, course)
    if options.json:
        print_json({"genuine": genuine})
    else:
        print("genuine" if genuine else "not genuine: it was changed, or signed with another course's secret")
    return DONE if genuine else CHECK_FAILED
