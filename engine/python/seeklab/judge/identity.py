"""The identity of students, and their draws: the gradebook has the name, and the course's secret determines the draws.

A student's variant is the HMAC-SHA256 of student and assignment, with the secret as key, so it cannot be computed
without the secret. The secret is the instructor's file, outside the course folder and never part of a release. An
optional graded bank next to it replaces bounds of the practice bank in the package.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import sqlite3
import stat
import tomllib
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seeklab._errors import Problem, SeeklabError
from seeklab._settings_folder import settings_folder
from seeklab.judge.assignment import Seeds, Variant

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol

    class Database(Protocol):
        """A database connection with Python's standard interface (DB-API)."""

        def cursor(self) -> Any:
            """Return a cursor."""

        def commit(self) -> None:
            """Commit the transaction."""


SECRET_BYTES = 32
SECRET_VARIABLE = "SEEKLAB_COURSE_SECRET"  # noqa: S105 -- no password
BANK_NAME = "bank.toml"
REMEMBERED = "create table if not exists seeklab_secret (fingerprint varchar(16) not null)"
"""Works in a file of grades and in nbgrader's gradebook, on any database."""


def practice_draws(name: object) -> bytes:
    """Return 32 bytes that depend only on a name, to draw a system from; case and spaces are ignored."""
    folded = "".join(name.split()).casefold() if isinstance(name, str) else ""
    if not folded:
        message = f"{name!r} is not a name; write your name between quotes to get your own system"
        raise SeeklabError([Problem("LEARNER", message)])
    return hashlib.sha256(folded.encode(errors="replace")).digest()


def same_name(one: object, other: object) -> bool:
    """Return whether two names mean the same learner."""
    try:
        return practice_draws(one) == practice_draws(other)
    except SeeklabError:
        return False


@dataclass(frozen=True)
class Share:
    """The draws that grading one student's work on one assignment needs. They reveal nothing about any other work."""

    student: str
    assignment: str
    given: bytes = field(repr=False)
    """The student's draws."""
    key: bytes = field(repr=False)
    """The key that determines the seeds, together with a submission's digest."""
    bounds: Mapping[str, float] = field(default_factory=dict)

    def draws(self, student: str, assignment: str) -> bytes:
        """Return the student's draws."""
        self._must_be(student, assignment)
        return self.given

    def seeds(self, student: str, assignment: str, submission: bytes = b"") -> Seeds:
        """Return the seeds of one submission; they reveal nothing about the seeds of another."""
        self._must_be(student, assignment)
        return Seeds(hmac.new(self.key, submission, hashlib.sha256).digest())

    def variant(self, student: str, assignment: str, *, ticketed: bool) -> Variant:
        """Return the student's variant."""
        self._must_be(student, assignment)
        return Variant(self.given if ticketed else practice_draws(student), self.bounds)

    def _must_be(self, student: str, assignment: str) -> None:
        if (student, assignment) != (self.student, self.assignment):
            message = f"these draws are for {self.student} in {self.assignment}, not for {student} in {assignment}"
            raise ValueError(message)


@dataclass(frozen=True)
class Course:
    """The secret of a course, and its bank."""

    secret: bytes = field(repr=False)
    bank: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    folder: Path | None = None
    """The folder of the secret, which belongs to the instructor."""

    def draws(self, student: str, assignment: str) -> bytes:
        """Return the student's draws for an assignment."""
        return self.share(student, assignment).given

    def seeds(self, student: str, assignment: str, submission: bytes = b"") -> Seeds:
        """Return the seeds to judge a student's submission with; `submission` is its digest."""
        return self.share(student, assignment).seeds(student, assignment, submission)

    def variant(self, student: str, assignment: str, *, ticketed: bool) -> Variant:
        """Return the student's variant: the ticket's, or the practice system of the name."""
        return self.share(student, assignment).variant(student, assignment, ticketed=ticketed)

    def share(self, student: str, assignment: str) -> Share:
        """Return what grading one student's work needs, without the secret."""
        given, key = (self._digest(purpose, student, assignment) for purpose in ("variant", "seeds"))
        return Share(student, assignment, given, key, self.bank.get(assignment, {}))

    @property
    def fingerprint(self) -> str:
        """Return a fingerprint of the secret alone, which is stored with the grades."""
        return hmac.new(self.secret, b"fingerprint", hashlib.sha256).hexdigest()[:16]

    @property
    def print(self) -> str:
        """Return a fingerprint of the secret and the bank, which distinguishes the grades of different terms."""
        named = repr(sorted((name, sorted(bounds.items())) for name, bounds in self.bank.items()))
        return hmac.new(self.secret, b"print\0" + named.encode(), hashlib.sha256).hexdigest()[:16]

    def _digest(self, *words: str) -> bytes:
        # A length precedes each word, so different lists of words give different messages.
        message = b"".join(len(word.encode()).to_bytes(4, "big") + word.encode() for word in words)
        return hmac.new(self.secret, message, hashlib.sha256).digest()


def secret_path() -> Path:
    """Return the path of the instructor's secret: the default, or the file named by the environment."""
    named = os.environ.get(SECRET_VARIABLE)
    return Path(named) if named else settings_folder() / "course-secret"


def open_course(
    path: Path | None = None, outside: Path | None = None, fingerprint: str | None = None
) -> tuple[Course, bool]:
    """Read the course's secret and bank, or create the secret; return the course, and whether it was created.

    Only the owner may be able to read the file, and it must be outside the course folder `outside`. If earlier grades
    have the `fingerprint` of another secret, neither read nor create a secret, but raise SeeklabError.
    """
    path = (path or secret_path()).absolute()
    if outside is not None and outside.resolve() in path.resolve().parents:
        message = (
            f"{path} is in the course folder {outside}; move it to a folder that is not released and that learners "
            "cannot read"
        )
        raise SeeklabError([Problem("secret", message)])
    made = not path.exists()
    if made and fingerprint is not None:
        raise _other_secret(path, "is missing", fingerprint)
    try:
        if made:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(secrets.token_hex(SECRET_BYTES) + "\n")
        if os.name == "posix" and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            message = f"other users can read {path}; run: chmod 600 {path}"
            raise SeeklabError([Problem("secret", message)])
        secret = bytes.fromhex(path.read_text(encoding="ascii").strip())
    except (OSError, ValueError) as error:
        message = f"{path} cannot be used ({error}); it must contain {2 * SECRET_BYTES} hexadecimal digits"
        raise SeeklabError([Problem("secret", message)]) from None
    if len(secret) < SECRET_BYTES:
        message = f"{path} has {len(secret)} bytes; the minimum is {SECRET_BYTES}"
        raise SeeklabError([Problem("secret", message)])
    course = Course(secret, _bank(path.with_name(BANK_NAME)), path.parent)
    if fingerprint is not None and course.fingerprint != fingerprint:
        raise _other_secret(path, f"contains the secret {course.fingerprint}", fingerprint)
    return course, made


def _other_secret(path: Path, found: str, fingerprint: str) -> SeeklabError:
    message = (
        f"{path} {found}. The grades here were made with the secret {fingerprint}; another secret gives other systems. "
        f"Set {SECRET_VARIABLE} to the file of that secret, or grade into a new file of grades"
    )
    return SeeklabError([Problem("secret", message)])


def remembered(database: Database) -> str | None:
    """Return the fingerprint of the secret that a database's grades were made with; None if there is none."""
    rows = database.cursor()
    rows.execute(REMEMBERED)
    rows.execute("select fingerprint from seeklab_secret")
    found = rows.fetchone()
    return None if found is None else str(found[0])


def remember(database: Database, course: Course) -> None:
    """Store the fingerprint of a course's secret, if none is stored yet."""
    if remembered(database) is None:
        database.cursor().execute(f"insert into seeklab_secret values ('{course.fingerprint}')")  # noqa: S608 -- hexadecimal
        database.commit()


def kept_fingerprint(grades: Path) -> str | None:
    """Return the fingerprint stored in a file of grades; None if the file is missing or has no readable one."""
    if not grades.exists():
        return None
    try:
        with closing(sqlite3.connect(grades)) as database:
            return remembered(database)
    except sqlite3.Error:
        return None  # the store reports what is wrong with the file


def keep_fingerprint(grades: Path, course: Course) -> None:
    """Store the fingerprint of a course's secret in a file of grades."""
    with closing(sqlite3.connect(grades)) as database:
        remember(database, course)


def _bank(path: Path) -> dict[str, dict[str, float]]:
    """Read the graded bank: a table of numbers for each assignment."""
    if not path.exists():
        return {}
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        return {name: {bound: float(value) for bound, value in table.items()} for name, table in tables.items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        message = f"{path} cannot be read ({error}); it must have a table of numbers for each assignment"
        raise SeeklabError([Problem("bank", message)]) from None
