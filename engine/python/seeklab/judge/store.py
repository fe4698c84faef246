"""The grades of a class in one SQLite file. Each is written in one transaction, so killing the grader loses none.

A grade belongs to a student, an assignment, and a fingerprint. The fingerprint covers the submission's bytes, the
course's secret and bank, the ticket, and the version of this package. Submissions already graded are not graded again.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from seeklab._errors import Problem, SeeklabError
from seeklab.judge.practice import COMMITS, MAX_FILE
from seeklab.judge.printable import printable
from seeklab.judge.submission import MAX_BYTES, UnreadableSubmissionError, read_submitted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from seeklab.judge.grading import Grade, Work
    from seeklab.judge.identity import Course

TABLE = """
create table if not exists grades (
    student text not null, assignment text not null, print text not null,
    document text not null, details text not null, graded_at text not null default current_timestamp,
    primary key (student, assignment)
);
create table if not exists attempts (
    student text not null, assignment text not null, print text not null, score real not null,
    graded_at text not null default current_timestamp
);
create table if not exists comments (
    student text not null, assignment text not null, task text not null, text text not null, author text not null,
    at text not null default current_timestamp
);
create table if not exists overrides (
    student text not null, assignment text not null, task text not null, points real not null, reason text not null,
    author text not null, at text not null default current_timestamp, primary key (student, assignment, task)
);
create table if not exists extensions (
    student text not null, assignment text not null, until text not null, reason text not null, author text not null,
    at text not null default current_timestamp, primary key (student, assignment)
);
"""


def print_of(work: Work, course: Course) -> str:
    """Return the fingerprint of what determines a grade."""
    from seeklab import __version__

    found = (__version__, course.print, work.ticketed, work.refused, work.flags)
    digest = hashlib.sha256(repr(found).encode())
    notebook = Path(work.path)
    for path, most in ((notebook, MAX_BYTES), (notebook.parent / COMMITS, MAX_FILE)):
        try:
            digest.update(b"\0" + read_submitted(path, most))
        except (UnreadableSubmissionError, MemoryError) as error:
            digest.update(b"\0none" + str(error).encode())
    return digest.hexdigest()[:32]


class Store:
    """A file of grades."""

    def __init__(self, path: Path) -> None:
        """Open the file, or create it."""
        self._path = path
        with self._told():
            self._file = sqlite3.connect(path, timeout=60)
            self._file.executescript(TABLE)

    def __enter__(self) -> Self:
        """Return the open store."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._file.close()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Convert database errors to SeeklabError, with one line about the file or its disk."""
        try:
            yield
        except (sqlite3.Error, ValueError, TypeError, RecursionError) as error:
            said = printable(str(error))
            message = f"{self._path} cannot be used as a file of grades ({said}); check its disk, or name another file"
            raise SeeklabError([Problem("--grades", message)]) from None

    @contextmanager
    def grading(self) -> Iterator[None]:
        """Hold a lock, so that no other process grades into the file; the system releases it when the process ends."""
        path = self._path.with_name(f"{self._path.name}.lock")
        with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as lock:
            try:
                lock.execute("begin exclusive")
            except sqlite3.Error as error:
                message = (
                    f"another seeklab grade is using {self._path}, according to {path.name} ({error}); "
                    "wait until it has ended, or name another file"
                )
                raise SeeklabError([Problem("--grades", message)]) from None
            yield

    def known(self) -> dict[tuple[str, str], str]:
        """Return the fingerprints of all grades, by student and assignment."""
        with self._told(), closing(self._file.execute("select student, assignment, print from grades")) as rows:
            return {(student, assignment): kept for student, assignment, kept in rows}

    def keep(self, grade: Grade, print_: str) -> None:
        """Write one grade and its attempt in one transaction."""
        with self._told():
            document = json.dumps(grade.document(), allow_nan=False)
            details = json.dumps(grade.details(), allow_nan=False)
            with self._file:
                self._file.execute(
                    "insert or replace into grades (student, assignment, print, document, details)"
                    " values (?, ?, ?, ?, ?)",
                    (grade.student, grade.assignment, print_, document, details),
                )
                self._file.execute(
                    "insert into attempts (student, assignment, print, score) values (?, ?, ?, ?)",
                    (grade.student, grade.assignment, print_, grade.score),
                )

    def documents(self) -> list[dict[str, Any]]:
        """Return all grades, sorted by student and assignment."""
        return [document for document, _ in self.details()]

    def details(self) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """Return each grade with its evidence and answers."""
        order = "select document, details from grades order by assignment, student"
        with self._told(), closing(self._file.execute(order)) as rows:
            found = [(_grade(json.loads(document)), _details(json.loads(details))) for document, details in rows]
        comments, overrides = self.comments(), self.overrides()
        for grade, details in found:
            _review(grade, details, comments, overrides)
        return found

    def comment(self, student: str, assignment: str, task: str, text: str, author: str) -> None:
        """Add a teacher's comment on a task, or with an empty task on the submission."""
        self._write(
            "insert into comments (student, assignment, task, text, author) values (?, ?, ?, ?, ?)",
            (student, assignment, task, text, author),
        )

    def override(self, student: str, assignment: str, task: str, points: float, reason: str, author: str) -> None:
        """Set a task's points by hand, with the reason; grading again keeps them."""
        self._write(
            "insert or replace into overrides (student, assignment, task, points, reason, author)"
            " values (?, ?, ?, ?, ?, ?)",
            (student, assignment, task, points, reason, author),
        )

    def extend(self, student: str, assignment: str, until: str, reason: str, author: str) -> None:
        """Record a later deadline of one student."""
        self._write(
            "insert or replace into extensions (student, assignment, until, reason, author) values (?, ?, ?, ?, ?)",
            (student, assignment, until, reason, author),
        )

    def comments(self) -> dict[tuple[str, str], list[tuple[str, str, str]]]:
        """Return task, text and author of each comment, by student and assignment, in the order of writing."""
        found: dict[tuple[str, str], list[tuple[str, str, str]]] = {}
        order = "select student, assignment, task, text, author from comments order by rowid"
        with self._told(), closing(self._file.execute(order)) as rows:
            for student, assignment, *rest in rows:
                found.setdefault((student, assignment), []).append(tuple(rest))
        return found

    def overrides(self) -> dict[tuple[str, str], dict[str, tuple[float, str, str]]]:
        """Return points, reason and author by task, by student and assignment."""
        found: dict[tuple[str, str], dict[str, tuple[float, str, str]]] = {}
        order = "select student, assignment, task, points, reason, author from overrides"
        with self._told(), closing(self._file.execute(order)) as rows:
            for student, assignment, task, *rest in rows:
                found.setdefault((student, assignment), {})[task] = tuple(rest)
        return found

    def extensions(self) -> list[tuple[str, str, str, str]]:
        """Return student, assignment, date and reason of each extension."""
        order = "select student, assignment, until, reason from extensions order by until, student, assignment"
        with self._told(), closing(self._file.execute(order)) as rows:
            return [tuple(row) for row in rows]

    def _write(self, statement: str, values: tuple[object, ...]) -> None:
        with self._told(), self._file:
            self._file.execute(statement, values)

    def attempts(self) -> list[tuple[str, str, float]]:
        """Return student, assignment and score of each attempt, in the order of grading."""
        order = "select student, assignment, score from attempts order by rowid"
        with self._told(), closing(self._file.execute(order)) as rows:
            return [(student, assignment, score) for student, assignment, score in rows]


def _review(
    grade: dict[str, Any],
    details: dict[str, Any],
    comments: dict[tuple[str, str], list[tuple[str, str, str]]],
    overrides: dict[tuple[str, str], dict[str, tuple[float, str, str]]],
) -> None:
    """Add the teacher's comments and points to a grade."""
    key = grade["student"], grade["assignment"]
    details["comments"] = [
        {"task": task, "text": text, "author": author} for task, text, author in comments.get(key, [])
    ]
    details["overrides"] = overrides.get(key, {})
    for task in grade["tasks"]:
        if task["id"] in details["overrides"]:
            task["score"] = details["overrides"][task["id"]][0]
    if details["overrides"]:
        grade["score"] = round(sum(task["score"] for task in grade["tasks"]), 2)


NUMBER, NOTHING = (int, float), type(None)
TASK = {"id": str, "score": NUMBER, "max_score": NUMBER, "verdict": str, "reason": str}
DOCUMENT = {"student": str, "assignment": str, "score": NUMBER, "max_score": NUMBER, "tasks": [TASK], "flags": [str]}
EVIDENCE = {"what": str, "measured": (*NUMBER, str, NOTHING), "bound": str, "met": (bool, NOTHING)}


def _grade(document: Any) -> dict[str, Any]:
    _check(document, DOCUMENT)
    found: dict[str, Any] = document
    return found


def _details(details: Any) -> dict[str, Any]:
    _check(details, {"evidence": dict, "answers": dict})
    for items in details["evidence"].values():
        _check(items, [EVIDENCE])
    found: dict[str, Any] = details
    return found


def _check(found: Any, shape: Any) -> None:
    """Raise TypeError or ValueError unless a value has a shape: a type, a list of a shape, or fields by name."""
    outer = type(shape) if isinstance(shape, (dict, list)) else shape
    if not isinstance(found, outer):
        message = f"{found!r:.80} is not valid in a grade"
        raise TypeError(message)
    if isinstance(shape, dict):
        for name, part in shape.items():
            if name not in found:
                message = f"a grade without {name}"
                raise ValueError(message)
            _check(found[name], part)
    elif isinstance(shape, list):
        for item in found:
            _check(item, shape[0])
