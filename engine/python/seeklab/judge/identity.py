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
import stat
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from seeklab._errors import Problem, SeeklabError
from seeklab.judge.assignment import Seeds, Variant

if TYPE_CHECKING:
    from collections.abc import Mapping

SECRET_BYTES = 32
SECRET_VARIABLE = "SEEKLAB_COURSE_SECRET"  # noqa: S105 -- no password
BANK_NAME = "bank.toml"


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
class Course:
    """The secret of a course, and its bank."""

    secret: bytes = field(repr=False)
    bank: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    folder: Path | None = None
    """The instructor's own, where the secret lies."""

    def draws(self, student: str, assignment: str) -> bytes:
        """Give the student's draws for an assignment."""
        return self._digest("variant", student, assignment)

    def seeds(self, student: str, assignment: str) -> Seeds:
        """Give the seeds that the student's work is judged on."""
        return Seeds(self._digest("seeds", student, assignment))

    def variant(self, student: str, assignment: str, *, ticketed: bool) -> Variant:
        """Give the variant that the student was handed: the ticket's, or the practice system of that name."""
        draws = self.draws(student, assignment) if ticketed else practice_draws(student)
        return Variant(draws, self.bank.get(assignment, {}))

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
    if named:
        return Path(named)
    root = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(root) / "seeklab" / "course-secret"


def open_course(path: Path | None = None, outside: Path | None = None) -> tuple[Course, bool]:
    """Read the course's secret and bank, or make the secret; give also whether it was made.

    The file may be read by its owner alone, and must lie outside the folder `outside`, the course's.
    """
    path = (path or secret_path()).absolute()
    if outside is not None and outside.resolve() in path.resolve().parents:
        message = f"{path} lies in the course folder {outside}; keep it where no release and no learner can reach it"
        raise SeeklabError([Problem("secret", message)])
    made = not path.exists()
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
    return Course(secret, _bank(path.with_name(BANK_NAME)), path.parent), made


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
