"""The grades of a class in one SQLite file: each is written at once and whole, so that killing the grader loses none.

A grade belongs to a student, an assignment, and the print of what decided it: the submission's bytes, the course's
secret and bank, the ticket, and this version of the package. What is graded already is not graded again.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from seeklab._errors import Problem, SeeklabError
from seeklab.judge.practice import COMMITS, LONGEST_FILE
from seeklab.judge.submission import MOST_BYTES, UnreadableSubmissionError, read_submitted

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
"""


def print_of(work: Work, course: Course) -> str:
    """Give the print of what decides a grade."""
    from seeklab import __version__  # noqa: PLC0415 -- what not every host has, or every command needs

    found = (__version__, course.print, work.ticketed, work.refused, work.flags)
    digest = hashlib.sha256(repr(found).encode())
    notebook = Path(work.path)
    for path, most in ((notebook, MOST_BYTES), (notebook.parent / COMMITS, LONGEST_FILE)):
        try:
            digest.update(b"\0" + read_submitted(path, most))
        except (UnreadableSubmissionError, MemoryError) as error:
            digest.update(b"\0none" + str(error).encode())
    return digest.hexdigest()[:32]


class Store:
    """A file of grades."""

    def __init__(self, path: Path) -> None:
        """Open the file, or make it."""
        try:
            self._file = sqlite3.connect(path, timeout=60)
            self._file.executescript(TABLE)
        except sqlite3.Error as error:
            raise SeeklabError([Problem("--grades", f"{path} cannot be used as a file of grades: {error}")]) from None

    def __enter__(self) -> Self:
        """Hold it open."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self._file.close()

    def known(self) -> dict[tuple[str, str], str]:
        """Give the prints of what is graded, by student and assignment."""
        with closing(self._file.execute("select student, assignment, print from grades")) as rows:
            return {(student, assignment): kept for student, assignment, kept in rows}

    def keep(self, grade: Grade, print_: str) -> None:
        """Write one grade, and that it was an attempt, at once."""
        document = json.dumps(grade.document(), allow_nan=False)
        details = json.dumps(grade.details(), allow_nan=False)
        with self._file:
            self._file.execute(
                "insert or replace into grades (student, assignment, print, document, details) values (?, ?, ?, ?, ?)",
                (grade.student, grade.assignment, print_, document, details),
            )
            self._file.execute(
                "insert into attempts (student, assignment, print, score) values (?, ?, ?, ?)",
                (grade.student, grade.assignment, print_, grade.score),
            )

    def documents(self) -> list[dict[str, Any]]:
        """Give all grades in the order of students and assignments."""
        order = "select document from grades order by assignment, student"
        with closing(self._file.execute(order)) as rows:
            return [json.loads(document) for (document,) in rows]

    def details(self) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Give each grade with its evidence and answers."""
        order = "select document, details from grades order by assignment, student"
        with closing(self._file.execute(order)) as rows:
            for document, details in rows:
                yield json.loads(document), json.loads(details)

    def attempts(self) -> list[tuple[str, str, float]]:
        """Give student, assignment and score of each time that something new was graded."""
        with closing(self._file.execute("select student, assignment, score from attempts order by rowid")) as rows:
            return [(student, assignment, score) for student, assignment, score in rows]
