"""Strict collection from nbgrader's exchange: a folder counts only for the account that owns it.

In `inbound/` every user can make folders with any name. When a folder names one learner but belongs to another,
nbgrader only warns. It also takes the newest folder for each name, and follows links with the instructor's rights.
"""

from __future__ import annotations

import os
import pwd
import stat
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbgrader.exchange.default import ExchangeCollect
from nbgrader.utils import parse_utc

from seeklab.judge.nbgrader import FILES
from seeklab.judge.submission import MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
MAX_COPIED = MAX_BYTES + 1
"""One byte more than the limit, so that the judge still sees that a file is too large."""
NOBODY = ""


class Collect(ExchangeCollect):  # type: ignore[misc] # nbgrader is published without types
    """Collects folders that the named learner owns, and from them only the files of a submission."""

    src_records: list[dict[str, Any]]

    def init_src(self) -> None:
        """Find the submissions to collect."""
        course = Path(self.root) / self.coursedir.course_id
        for place in (course, course / "inbound"):
            # The owner of the exchange's folder can read and replace everything in it.
            is_strange = place.is_symlink() or (place.exists() and place.stat().st_uid != os.geteuid())
            if is_strange and self.check_owner and not self.coursedir.groupshared:
                self.fail(f"{place} belongs to another account; only the account that collects may own it")
        super().init_src()
        self.src_records = [record for record in self.src_records if record["username"] != NOBODY]

    def _path_to_record(self, path: str) -> dict[str, Any]:
        """Parse a folder's name; a refused folder belongs to NOBODY, so that it displaces no other."""
        name = Path(path).name
        student, _, rest = name.partition(f"+{self.coursedir.assignment_id}+")
        refused = {"username": NOBODY, "filename": name, "timestamp": datetime.min}  # noqa: DTZ901 -- as nbgrader has it
        try:
            taken = parse_utc(rest.split("+")[0])
            with self._opened(path, student):
                return {"username": student, "filename": name, "timestamp": taken}
        except (ValueError, OverflowError, OSError) as error:
            self.log.warning("Refused %a: %s", path, error)
            return refused

    def do_copy(self, src: str, dest: str, log: object = None) -> None:  # noqa: ARG002 -- as nbgrader has it
        """Copy a submission's files, without following links that were created meanwhile."""
        to = Path(dest)
        student = to.parent.name
        try:
            with self._opened(src, student) as inside:
                to.mkdir()
                for name in (f"{to.name}.ipynb", *FILES):
                    self._copy(inside, name, to / name, student)
        except (ValueError, OSError) as error:
            self.log.warning("Refused %a: %s", src, error)

    @contextmanager
    def _opened(self, path: str, student: str) -> Iterator[int]:
        """Open a submission's folder if it belongs to the student."""
        if student in {NOBODY, ".", ".."}:
            message = "it does not name a student"
            raise ValueError(message)
        inside = os.open(path, FOLDER)
        try:
            owner = _owner(inside)
            if self.check_owner and owner != student:
                message = f"it names {student!a} but belongs to {owner}"
                raise ValueError(message)
            yield inside
        finally:
            os.close(inside)

    def _copy(self, inside: int, name: str, to: Path, student: str) -> None:
        try:
            file = os.open(name, FILE, dir_fd=inside)
        except FileNotFoundError:
            return
        except OSError as error:
            self.log.warning("Did not copy %s of %s: %s", name, student, error.strerror)
            return
        with os.fdopen(file, "rb") as source:
            # Everyone who knows its name can open a learner's folder, so that the instructor can remove it.
            is_own = not self.check_owner or _owner(source.fileno()) == student
            if stat.S_ISREG(os.fstat(source.fileno()).st_mode) and is_own:
                to.write_bytes(source.read(MAX_COPIED))
            else:
                self.log.warning("Did not copy %s of %s: it is not the student's regular file", name, student)


def _owner(file: int) -> str:
    uid = os.fstat(file).st_uid
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"
