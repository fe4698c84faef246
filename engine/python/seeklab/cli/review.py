"""`seeklab review`: a teacher's comments, points, extensions, likeness of answers, and questions for a viva."""

from __future__ import annotations

import getpass
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seeklab._errors import Problem, SeeklabError
from seeklab.cli._exit import DONE
from seeklab.cli._output import print_json, print_table, print_text

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping

    from seeklab.cli._commands import Commands
    from seeklab.judge.store import Store

    Graded = tuple[Mapping[str, Any], Mapping[str, Any]]

ACTIONS = ("comment", "override", "extend", "extensions", "task", "likeness", "viva")


def add(commands: Commands) -> None:
    """Add the command."""
    added = commands.add("review", review, "Comment on graded work, set points by hand, and compare answers.")
    added.add_argument(
        "action",
        choices=ACTIONS,
        help="what to do; `docs/instructor/class.md` shows when",
    )
    added.add_argument("--grades", metavar="FILE", type=Path, default=Path("grades.db"), help="default grades.db")
    added.add_argument("--student", metavar="S", help="a student's login")
    added.add_argument("--assignment", metavar="NAME", help="an assignment")
    added.add_argument("--task", metavar="ID", default="", help="a task of the assignment")
    added.add_argument("--text", metavar="TEXT", help="comment: what you say to the student")
    added.add_argument("--points", metavar="P", type=float, help="override: the task's points")
    added.add_argument("--reason", metavar="TEXT", help="override, extend: why")
    added.add_argument("--until", metavar="DATE", help="extend: the new deadline, such as 2026-03-20")
    added.add_argument("--author", metavar="NAME", help="your name (default: that of your account)")


def review(options: Namespace) -> int:
    """Do the requested action."""
    from seeklab.judge.review import ReviewError
    from seeklab.judge.store import Store

    if not options.grades.exists():
        raise SeeklabError([Problem("--grades", f"{options.grades} does not exist; create it with `seeklab grade`")])
    actions = {
        "comment": _comment,
        "override": _override,
        "extend": _extend,
        "extensions": _extensions,
        "task": _task,
        "likeness": _likeness,
        "viva": _viva,
    }
    with Store(options.grades) as store:
        try:
            return actions[options.action](options, store)
        except ReviewError as error:
            raise SeeklabError([Problem(f"--{error.field}", error.message)]) from None


def _comment(options: Namespace, store: Store) -> int:
    from seeklab.judge import review as reviews

    grade, _ = _graded(options, store)
    _must_have(options, "text")
    reviews.comment(store, grade, options.task, options.text, _author(options))
    return DONE


def _override(options: Namespace, store: Store) -> int:
    from seeklab.judge import review as reviews

    grade, _ = _graded(options, store)
    _must_have(options, "task", "points", "reason")
    reviews.override(store, grade, options.task, options.points, options.reason, _author(options))
    return DONE


def _extend(options: Namespace, store: Store) -> int:
    from seeklab.judge import review as reviews

    _must_have(options, "student", "assignment", "until", "reason")
    reviews.extend(store, options.student, options.assignment, options.until, options.reason, _author(options))
    return DONE


def _extensions(options: Namespace, store: Store) -> int:
    head = ("student", "assignment", "until", "reason")
    rows = store.extensions()
    if options.json:
        print_json([dict(zip(head, row, strict=True)) for row in rows])
    else:
        print_table(head, rows)
    return DONE


def _task(options: Namespace, store: Store) -> int:
    """Show one task of every student, and ask for a comment and points; what has a comment already is left out."""
    from seeklab.judge import review as reviews

    _must_have(options, "assignment", "task")
    found = [one for one in _all(store) if one[0]["assignment"] == options.assignment]
    if not found:
        raise SeeklabError([Problem("--assignment", f'no grade of "{options.assignment}" is in {options.grades}')])
    open_ = [one for one in found if not reviews.is_reviewed(one[1], options.task)]
    for nth, (grade, details) in enumerate(open_, 1):
        task = reviews.task_of(grade, options.task)
        print(f"\n{nth} of {len(open_)}: {grade['student']}, {task['score']:g} of {task['max_score']:g}")
        print(f"{task['verdict']}: {task['reason']}")
        for name, value in details["answers"].items():
            print_text(f"--- {name}\n{value}")
        for item in details["evidence"].get(options.task, ()):
            print(f"    {item['what']}: {item['measured']} ({item['bound']})")
        text = _line("Comment (Enter: none, q: stop): ")
        if text in {"q", None}:
            break
        if text:
            store.comment(grade["student"], options.assignment, options.task, text, _author(options))
        _points(task, grade["student"], options, store)
    return DONE


def _points(task: Mapping[str, Any], student: str, options: Namespace, store: Store) -> None:
    while given := _line(f"Points 0 to {task['max_score']:g} (Enter: keep {task['score']:g}): "):
        try:
            points = float(given)
        except ValueError:
            continue
        if 0 <= points <= task["max_score"]:
            reason = _line("Reason: ") or "set in review"
            store.override(student, options.assignment, options.task, points, reason, _author(options))
            return


def _likeness(options: Namespace, store: Store) -> int:
    from seeklab.course.copies import given_code
    from seeklab.judge import review as reviews

    rows = [(*pair[:4], f"{pair.share:.2f}") for pair in reviews.pairs(_all(store), given_code, options.assignment)]
    head = ("assignment", "answer", "student", "and", "alike")
    if options.json:
        print_json([dict(zip(head, row, strict=True)) for row in rows])
    elif rows:
        print_table(head, rows, right=(4,))
        print("\nRead both before you ask. Short programs on one task may agree by chance.")
    else:
        print("No two programs are alike enough to look at.")
    return DONE


def _viva(options: Namespace, store: Store) -> int:
    from seeklab.judge.viva import sheet, viva

    _must_have(options, "student")
    found = [
        one
        for one in _all(store)
        if one[0]["student"] == options.student and options.assignment in {None, one[0]["assignment"]}
    ]
    if not found:
        raise SeeklabError([Problem("--student", f'"{options.student}" has no such grade in {options.grades}')])
    if options.json:
        print_json(
            [
                {"assignment": grade["assignment"], "asked": [vars(one) for one in viva(grade, details)]}
                for grade, details in found
            ]
        )
    else:
        print_text(sheet(options.student, found))
    return DONE


def _all(store: Store) -> list[Graded]:
    return list(store.details())


def _graded(options: Namespace, store: Store) -> Graded:
    _must_have(options, "student", "assignment")
    for grade, details in _all(store):
        if (grade["student"], grade["assignment"]) == (options.student, options.assignment):
            return grade, details
    message = f'"{options.student}" has no grade of "{options.assignment}" in {options.grades}'
    raise SeeklabError([Problem("--student", message)])


def _must_have(options: Namespace, *names: str) -> None:
    missing = [
        Problem(f"--{name}", f"is needed for {options.action}")
        for name in names
        if getattr(options, name) in {None, ""}
    ]
    if missing:
        raise SeeklabError(missing)


def _author(options: Namespace) -> str:
    return options.author or getpass.getuser()


def _line(prompt: str) -> str | None:
    """Return a typed line; None at the end of the input."""
    print(prompt, end="", flush=True)
    line = sys.stdin.readline()
    return line.strip() if line else None
