"""Who is judged, and by which draws: the gradebook says who, the course's secret says which.

A student's variant is HMAC-SHA256 of the secret over student and assignment, so nobody can know it, or another's,
without the secret. The secret is a file of the instructor's, outside the course folder and never in a release. Beside
it may lie the graded bank, which replaces bounds of the practice bank that ships with the package.
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
        """A connection to a database, as Python's standard has it."""

        def cursor(self) -> Any:
            """Give a cursor."""

        def commit(self) -> None:
            """Write what was changed."""


SECRET_BYTES = 32
SECRET_VARIABLE = "SEEKLAB_COURSE_SECRET"  # noqa: S105 -- no password
BANK_NAME = "bank.toml"
REMEMBERED = "create table if not exists seeklab_secret (fingerprint varchar(16) not null)"
"""In a file of grades, and in nbgrader's gradebook, whatever database that is."""


def practice_draws(name: object) -> bytes:
    """Give 32 bytes that depend on a name alone, to draw a system from; case and spaces do not count."""
    folded = "".join(name.split()).casefold() if isinstance(name, str) else ""
    if not folded:
        message = f"{name!r} is not a name; write your own between quotes, so that you get a system of your own"
        raise SeeklabError([Problem("LEARNER", message)])
    return hashlib.sha256(folded.encode(errors="replace")).digest()


def same_name(one: object, other: object) -> bool:
    """Whether two names mean the same learner."""
    try:
        return practice_draws(one) == practice_draws(other)
    except SeeklabError:
        return False


@dataclass(frozen=True)
class Share:
    """What grading one student's work on one assignment needs of a course. It tells nothing about any other."""

    student: str
    assignment: str
    given: bytes = field(repr=False)
    """The student's draws."""
    key: bytes = field(repr=False)
    """From which, with a submission's digest, its seeds follow."""
    bounds: Mapping[str, float] = field(default_factory=dict)

    def draws(self, student: str, assignment: str) -> bytes:
        """Give the student's draws."""
        self._must_be(student, assignment)
        return self.given

    def seeds(self, student: str, assignment: str, submission: bytes = b"") -> Seeds:
        """Give the seeds of one submission: those of another do not tell them."""
        self._must_be(student, assignment)
        return Seeds(hmac.new(self.key, submission, hashlib.sha256).digest())

    def variant(self, student: str, assignment: str, *, ticketed: bool) -> Variant:
        """Give the variant that the student was handed."""
        self._must_be(student, assignment)
        return Variant(self.given if ticketed else practice_draws(student), self.bounds)

    def _must_be(self, student: str, assignment: str) -> None:
        if (student, assignment) != (self.student, self.assignment):
            message = f"these are the draws of {self.student}, {self.assignment}, not of {student}, {assignment}"
            raise ValueError(message)


@dataclass(frozen=True)
class Course:
    """The secret of a course, and its bank."""

    secret: bytes = field(repr=False)
    bank: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    folder: Path | None = None
    """The instructor's own, where the secret lies."""

    def draws(self, student: str, assignment: str) -> bytes:
        """Give the student's draws for an assignment."""
        return self.share(student, assignment).given

    def seeds(self, student: str, assignment: str, submission: bytes = b"") -> Seeds:
        """Give the seeds that a submission of the student's is judged on, by the digest of the submission."""
        return self.share(student, assignment).seeds(student, assignment, submission)

    def variant(self, student: str, assignment: str, *, ticketed: bool) -> Variant:
        """Give the variant that the student was handed: the ticket's, or the practice system of that name."""
        return self.share(student, assignment).variant(student, assignment, ticketed=ticketed)

    def share(self, student: str, assignment: str) -> Share:
        """Give what grading one student's work needs, without the secret."""
        given, key = (self._digest(purpose, student, assignment) for purpose in ("variant", "seeds"))
        return Share(student, assignment, given, key, self.bank.get(assignment, {}))

    @property
    def fingerprint(self) -> str:
        """Give a fingerprint of the secret alone, which is kept with the grades."""
        return hmac.new(self.secret, b"fingerprint", hashlib.sha256).hexdigest()[:16]

    @property
    def print(self) -> str:
        """Give a fingerprint of what decides, to tell grades of one term from another's."""
        named = repr(sorted((name, sorted(bounds.items())) for name, bounds in self.bank.items()))
        return hmac.new(self.secret, b"print\0" + named.encode(), hashlib.sha256).hexdigest()[:16]

    def _digest(self, *words: str) -> bytes:
        # A length before each word: no two lists of words give the same message.
        message = b"".join(len(word.encode()).to_bytes(4, "big") + word.encode() for word in words)
        return hmac.new(self.secret, message, hashlib.sha256).digest()


def secret_path() -> Path:
    """Say where the instructor's secret is, unless another file is named."""
    named = os.environ.get(SECRET_VARIABLE)
    return Path(named) if named else settings_folder() / "course-secret"


def open_course(
    path: Path | None = None, outside: Path | None = None, fingerprint: str | None = None
) -> tuple[Course, bool]:
    """Read the course's secret and bank, or make the secret; give also whether it was made.

    The file may be read by its owner alone, and must lie outside the folder `outside`, the course's. With the
    `fingerprint` of the secret that made earlier grades, no other secret is read, and none is made.
    """
    path = (path or secret_path()).absolute()
    if outside is not None and outside.resolve() in path.resolve().parents:
        message = f"{path} lies in the course folder {outside}; keep it where no release and no learner can reach it"
        raise SeeklabError([Problem("secret", message)])
    made = not path.exists()
    if made and fingerprint is not None:
        raise _other_secret(path, "is not there", fingerprint)
    try:
        if made:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(secrets.token_hex(SECRET_BYTES) + "\n")
        if os.name == "posix" and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            message = f"{path} can be read by others; run: chmod 600 {path}"
            raise SeeklabError([Problem("secret", message)])
        secret = bytes.fromhex(path.read_text(encoding="ascii").strip())
    except (OSError, ValueError) as error:
        message = f"{path} cannot be used ({error}); it holds {2 * SECRET_BYTES} hexadecimal digits"
        raise SeeklabError([Problem("secret", message)]) from None
    if len(secret) < SECRET_BYTES:
        message = f"{path} holds {len(secret)} bytes; give at least {SECRET_BYTES}"
        raise SeeklabError([Problem("secret", message)])
    course = Course(secret, _bank(path.with_name(BANK_NAME)), path.parent)
    if fingerprint is not None and course.fingerprint != fingerprint:
        raise _other_secret(path, f"holds the secret {course.fingerprint}", fingerprint)
    return course, made


def _other_secret(path: Path, found: str, fingerprint: str) -> SeeklabError:
    message = (
        f"{path} {found}; the grades here were made with the secret {fingerprint}, and another draws other systems; "
        f"name that secret's file with {SECRET_VARIABLE}, or grade into a new file of grades"
    )
    return SeeklabError([Problem("secret", message)])


def remembered(database: Database) -> str | None:
    """Give the fingerprint of the secret that the grades in a database were made with; None when there is none."""
    rows = database.cursor()
    rows.execute(REMEMBERED)
    rows.execute("select fingerprint from seeklab_secret")
    found = rows.fetchone()
    return None if found is None else str(found[0])


def remember(database: Database, course: Course) -> None:
    """Keep the fingerprint of a course's secret, if none is kept yet."""
    if remembered(database) is None:
        database.cursor().execute(f"insert into seeklab_secret values ('{course.fingerprint}')")  # noqa: S608 -- hexadecimal
        database.commit()


def kept_fingerprint(grades: Path) -> str | None:
    """Give the fingerprint that a file of grades keeps; None when there is no such file, or none that can be read."""
    if not grades.exists():
        return None
    try:
        with closing(sqlite3.connect(grades)) as database:
            return remembered(database)
    except sqlite3.Error:
        return None  # the store says what is wrong with the file


def keep_fingerprint(grades: Path, course: Course) -> None:
    """Keep the fingerprint of a course's secret in a file of grades."""
    with closing(sqlite3.connect(grades)) as database:
        remember(database, course)


def _bank(path: Path) -> dict[str, dict[str, float]]:
    """Read the graded bank: a table for each assignment, with numbers."""
    if not path.exists():
        return {}
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        return {name: {bound: float(value) for bound, value in table.items()} for name, table in tables.items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        message = f"{path} cannot be read ({error}); it holds a table of numbers for each assignment"
        raise SeeklabError([Problem("bank", message)]) from None
