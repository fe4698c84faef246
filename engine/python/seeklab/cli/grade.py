"""`seeklab grade`: grade a class's submissions, and export the scores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from seeklab._errors import Problem, SeeklabError
from seeklab._progress import ProgressBar
from seeklab.cli._exit import CHECK_FAILED, DONE
from seeklab.cli._output import complain, print_json, print_table

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

    from seeklab.cli._commands import Commands
    from seeklab.judge.grading import Grade
    from seeklab.judge.store import Store


def add(commands: Commands) -> None:
    """Add the command."""
    added = commands.add("grade", grade, "Grade submissions of the exercises.")
    added.add_argument("folders", metavar="FOLDER", nargs="+", type=Path, help="nbgrader's submitted/, or notebooks")
    how = added.add_mutually_exclusive_group()
    how.add_argument("--jobs", metavar="N", type=int, default=1, help="processes to grade in (default 1)")
    how.add_argument("--dask", metavar="ADDRESS", help="a Dask scheduler, such as tls://127.0.0.1:8786")
    added.add_argument(
        "--grades", metavar="FILE", type=Path, default=Path("grades.db"), help="database of grades (default grades.db)"
    )
    added.add_argument("--assignment", metavar="NAME", help="the assignment of notebooks whose names do not contain it")
    layout = "STUDENT/ASSIGNMENT/ASSIGNMENT.ipynb, or STUDENT_ASSIGNMENT.ipynb (default: detected from FOLDER)"
    added.add_argument("--layout", choices=("nbgrader", "flat"), help=layout)
    add_secret(added)
    added.add_argument("--unsafe", action="store_true", help="run learners' code without the sandbox")
    added.add_argument(
        "--seconds", metavar="S", type=int, default=60, help="processor time for a submission's code (default 60)"
    )
    added.add_argument(
        "--memory", metavar="MIB", type=int, default=1024, help="memory for a submission's code (default 1024)"
    )
    added.add_argument("--feedback", metavar="FOLDER", type=Path, help="write a page for each submission")
    added.add_argument("--canvas", metavar="FILE", type=Path, help="write a CSV that Canvas imports")
    added.add_argument("--moodle", metavar="FILE", type=Path, help="write a CSV that Moodle imports")
    added.add_argument("--comments", metavar="FILE", type=Path, help="write a CSV of the comments (`seeklab review`)")
    added.add_argument(
        "--roster", metavar="FILE", type=Path, help="CSV of the class for --canvas and --moodle: login, name, id, ..."
    )
    added.add_argument("--gradescope", metavar="FOLDER", type=Path, help="write results that Gradescope reads")
    added.add_argument("--gradebook", metavar="URL", help="nbgrader's, such as sqlite:///.grading/gradebook.db")


def add_secret(added: object) -> None:
    """Add the option for the file of the course's secret."""
    help_ = "the course's secret, outside the course folder (default ~/.config/seeklab/course-secret)"
    added.add_argument("--secret", metavar="FILE", type=Path, help=help_)  # type: ignore[attr-defined]


def grade(options: Namespace) -> int:
    """Grade all submissions that are not graded yet, and write the requested exports."""
    from seeklab.judge import batch
    from seeklab.judge.catalogue import assignment
    from seeklab.judge.identity import keep_fingerprint, kept_fingerprint, open_course
    from seeklab.judge.layout import submissions
    from seeklab.judge.sandbox import Limits, Sandbox
    from seeklab.judge.store import Store

    for name, least in (("jobs", 1), ("seconds", 1), ("memory", 64)):
        if getattr(options, name) < least:
            raise SeeklabError([Problem(f"--{name}", f"is {getattr(options, name)}; the minimum is {least}")])
    if options.assignment is not None:
        assignment(options.assignment)
    course, made = open_course(options.secret, Path.cwd(), kept_fingerprint(options.grades))
    if made:
        complain(f"note: created the course's secret in {course.folder}; back it up, and keep it from learners")
    limits = Limits(memory_bytes=options.memory << 20, cpu_s=options.seconds, wall_s=2.0 * options.seconds)
    sandbox = Sandbox(limits, unsafe=options.unsafe)
    works = submissions(
        options.folders, course, options.assignment, options.layout, lambda text: complain(f"note: {text}")
    )
    if not works:
        raise SeeklabError([Problem("folder", "has no submissions: no notebook names a student and an assignment")])
    if options.unsafe:
        complain("note: learners' code runs without a sandbox and can do everything that you can")
    for lacks in sandbox.missing():
        complain(f"note: {lacks}")
    run = batch.here if options.jobs == 1 else batch.in_processes(options.jobs)
    if options.dask is not None:
        run = batch.on_dask(options.dask)
    with Store(options.grades) as store, ProgressBar() as progress:
        keep_fingerprint(options.grades, course)

        def told(done: int, of: int, last: Grade | None) -> None:
            progress(done / max(1, of), "" if last is None else f"{last.student}, {last.assignment}")

        with store.grading():
            batch.grade_all(works, store, course, sandbox, run, told)
        return _written(options, store, {(work.student, work.assignment) for work in works})


def _written(options: Namespace, store: Store, wanted: set[tuple[str, str]]) -> int:
    """Write the grades of these submissions in every requested format."""
    from seeklab.judge import exports

    graded = [item for item in store.details() if (item[0]["student"], item[0]["assignment"]) in wanted]
    grades = [document for document, _ in graded]
    roster = _roster(options.roster)
    if roster is not None:
        for student in sorted({grade["student"] for grade in grades} - set(roster)):
            complain(f"note: {student} is not in the roster")
    forms: dict[str, Callable[[Any], list[str] | None]] = {
        "feedback": lambda folder: exports.write_feedback(graded, folder),
        "canvas": lambda path: exports.table(graded, "canvas", path, roster),
        "moodle": lambda path: exports.table(graded, "moodle", path, roster),
        "comments": lambda path: exports.comments_table(graded, path),
        "gradescope": lambda folder: exports.write_gradescope(grades, folder),
        "gradebook": lambda url: exports.write_gradebook(grades, url),
    }
    problems: list[Problem] = []
    for name, write in forms.items():
        target = getattr(options, name)
        try:
            if target is not None:
                for text in write(target) or ():
                    complain(f"note: {text}")
        except OSError as error:
            message = f"{error.filename or target} cannot be written: {error.strerror or error}"
            problems.append(Problem(f"--{name}", message))
    if options.json:
        print_json(grades)
    else:
        rows = [(g["student"], g["assignment"], f"{g['score']:g}", f"{g['max_score']:g}", _note(g)) for g in grades]
        print_table(("student", "assignment", "score", "of", ""), rows, right=(2, 3))
    if problems:
        raise SeeklabError(problems)
    return DONE if len(grades) == len(wanted) else CHECK_FAILED


def _roster(path: Path | None) -> dict[str, dict[str, str]] | None:
    from seeklab.judge.exports import read_roster

    try:
        return None if path is None else read_roster(path)
    except OSError as error:
        raise SeeklabError([Problem("--roster", f"{path} {error.strerror or error}")]) from None


def _note(grade: dict[str, list[str]]) -> str:
    flags = grade["flags"]
    return "" if not flags else flags[0] if len(flags) == 1 else f"{flags[0]} (and {len(flags) - 1} more)"
