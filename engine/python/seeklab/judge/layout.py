"""The places of submissions, and their students: one layout per call, with a fixed depth and without following links.

In nbgrader's layout the student is the folder that the instructor's tools made, and the file is
STUDENT/ASSIGNMENT/ASSIGNMENT.ipynb. Other files in that folder are reported and not graded, because a learner could
name them like another student. A flat folder has notebooks with names STUDENT_ASSIGNMENT.ipynb.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import replace
from typing import TYPE_CHECKING

from seeklab._errors import Problem, SeeklabError
from seeklab.judge.catalogue import NAMES
from seeklab.judge.grading import Work
from seeklab.judge.practice import TICKET
from seeklab.judge.printable import alike, name_problem, printable, unique_name
from seeklab.judge.submission import IS_LINK
from seeklab.judge.tickets import handed_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from seeklab.judge.identity import Course

NBGRADER, FLAT = "nbgrader", "flat"
LAYOUTS = (NBGRADER, FLAT)
NOTEBOOK = ".ipynb"
BETWEEN = "_ .-"
COPY = re.compile(rf"[{BETWEEN}]*\(?\d*\)?")
BESIDE = "is graded; other files are ignored"
MAX_NAMED = 3
"""Maximum number of files that a message names; further ones are counted."""


def submissions(
    folders: Iterable[Path],
    course: Course,
    only: str | None = None,
    layout: str | None = None,
    note: Callable[[str], None] = lambda _: None,
) -> list[Work]:
    """Return the submissions in the folders, one for each student and assignment.

    `only` names the assignment of notebooks in a flat folder whose names do not contain it. Without a layout, it is
    nbgrader's if any student's folder contains the folder of an assignment. `note` receives a message for each file
    that is not graded.
    """
    places = list({folder.resolve(): folder for folder in folders}.values())
    for place in places:
        if not place.is_dir():
            raise SeeklabError(
                [Problem("folder", f"{place} is not a folder; pass nbgrader's submitted/, or a folder of notebooks")]
            )
    layout = layout or _layout_of(places)
    found: dict[tuple[str, str], list[Work]] = {}
    for place in places:
        for work in _in_folders(place, note) if layout == NBGRADER else _in_files(place, only, note):
            named = _named(work)
            found.setdefault((named.student, named.assignment), []).append(named)
    ticketed = handed_out(course)
    works = [
        replace(work, ticketed=work.student in ticketed.get(work.assignment, ())) for work in map(_one, found.values())
    ]
    return _told_apart(works)


def _layout_of(places: Iterable[Path]) -> str:
    """Return the layout of the folders; raise if they have both: one learner's folder could hide a class."""
    nested = flat = ""
    for place in places:
        nested = nested or (str(place) if _has_students(place) else "")
        flat = flat or next((work.path for work in _in_files(place, None, lambda _: None)), "")
    if nested and flat:
        message = (
            f"cannot be detected: {printable(nested)} has folders of students, and {printable(flat)} is a submission "
            f"next to them; pass --layout {NBGRADER} or --layout {FLAT}"
        )
        raise SeeklabError([Problem("layout", message)])
    return NBGRADER if nested else FLAT


def _told_apart(works: Sequence[Work]) -> list[Work]:
    """Flag submissions of one assignment whose students a reader or a learning platform could confuse."""
    names: dict[tuple[str, str], list[str]] = {}
    for work in works:
        names.setdefault((work.assignment, alike(work.student)), []).append(work.student)
    told = []
    for work in works:
        others = [name for name in names[work.assignment, alike(work.student)] if name != work.student]
        flag = (f"nearly the same name as {_listed(others)}",) if others else ()
        told.append(replace(work, flags=(*work.flags, *flag)))
    return told


def _entries(folder: str | Path) -> list[os.DirEntry[str]]:
    """Return the visible entries of a folder, sorted by name."""
    with os.scandir(folder) as entries:
        return sorted((entry for entry in entries if not entry.name.startswith(".")), key=lambda entry: entry.name)


def _is_folder(path: str) -> bool:
    """Return whether this is a folder and not a link to one, because links can form a loop."""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _has_students(place: Path) -> bool:
    return any(os.path.lexists(os.path.join(entry.path, name)) for entry in _entries(place) for name in NAMES)  # noqa: PTH118 -- the name may be no UTF-8


def _in_folders(place: Path, note: Callable[[str], None]) -> Iterator[Work]:
    """Yield the submissions of nbgrader's layout."""
    for student in _entries(place):
        if student.name.endswith(NOTEBOOK) and not _is_folder(student.path):
            note(f"{printable(student.path)} is not in a student's folder and is not graded")
            continue
        if student.is_symlink() and not os.path.exists(student.path):  # noqa: PTH110 -- the name may be no UTF-8
            note(f"{printable(student.path)} is a broken link and is not graded")
        try:
            others = _misplaced(student.path)
        except OSError as error:
            note(f"{printable(student.path)} cannot be read and is not graded: {error.strerror}")
            continue
        if others:
            note(
                f"{printable(student.path)} has entries that name no assignment and are not graded: {_listed(others)}; "
                f"submissions are STUDENT/ASSIGNMENT/ASSIGNMENT{NOTEBOOK}"
            )
        for name in NAMES:
            folder = f"{student.path}/{name}"
            if not os.path.lexists(folder):
                continue
            work = Work(student.name, name, f"{folder}/{name}{NOTEBOOK}")
            if student.is_symlink() or os.path.islink(folder):  # noqa: PTH114 -- as above
                yield replace(work, refused=f"the folder {IS_LINK}; hand in the folder")
            else:
                yield from _in_folder(work, folder)


def _misplaced(student: str) -> list[str]:
    """Return the folders and notebooks in a student's folder that are not an assignment's folder."""
    return [
        entry.name
        for entry in (_entries(student) if _is_folder(student) else ())
        if entry.name not in NAMES and not entry.name.startswith("__")
        if entry.name.endswith(NOTEBOOK) or _is_folder(entry.path)
    ]


def _in_folder(work: Work, folder: str) -> Iterator[Work]:
    """Yield the submission in a student's folder of an assignment, unless the folder contains only a ticket."""
    try:
        entries = _entries(folder)
    except OSError as error:
        yield replace(work, refused=f"the folder cannot be read: {error.strerror}")
        return
    wanted = f"{work.assignment}{NOTEBOOK}"
    names = {entry.name for entry in entries}
    others = [
        entry.name
        for entry in entries
        if entry.name != wanted and not entry.name.startswith("__")
        if entry.name.endswith(NOTEBOOK) or _is_folder(entry.path)
    ]
    flags = (f"only {wanted} {BESIDE}: {_listed(others)}",) if others else ()
    if wanted in names:
        yield replace(work, flags=flags)
    elif others or TICKET not in names:
        yield replace(work, flags=flags, refused=f"the folder has no {wanted}; hand in a notebook with this name")


def _in_files(place: Path, only: str | None, note: Callable[[str], None]) -> Iterator[Work]:
    """Yield the notebooks of a flat folder."""
    for entry in _entries(place):
        name, dot, _ = entry.name.rpartition(NOTEBOOK)
        if not dot or entry.name != name + NOTEBOOK:
            continue
        assignment, student = next(
            ((one, student) for one in NAMES if (student := _student_in(name, one))), (only, name)
        )
        if assignment is None or student in NAMES:
            note(f"{printable(entry.path)} does not name a student and an assignment, and is not graded")
        else:
            yield Work(student, assignment, entry.path)


def _student_in(name: str, assignment: str) -> str:
    """Return STUDENT of a file name STUDENT_ASSIGNMENT, or an empty text if the name has another form.

    A browser or a learning platform may have appended a suffix that distinguishes copies. The time is linear in the
    name's length; one regular expression would need quadratic time.
    """
    before, found, copy = name.rpartition(assignment)
    student = before.rstrip(BETWEEN) or before[:1]
    return student if found and len(student) < len(before) and COPY.fullmatch(copy) else ""


def _named(work: Work) -> Work:
    """Refuse a name that no student can have, and replace it by a printable one."""
    problem = name_problem(work.student)
    if not problem:
        return work
    return replace(work, student=unique_name(work.student), refused=f"{problem}; rename the folder or file")


def _one(works: Sequence[Work]) -> Work:
    """Return the one submission of a student for an assignment, or a refused one if there are several."""
    first = works[0]
    if len(works) == 1:
        return first
    told = _listed([work.path for work in works])
    return replace(first, flags=(), refused=f"there are {len(works)} submissions, so none is graded; keep one: {told}")


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return ", ".join(f'"{printable(name)}"' for name in names[:MAX_NAMED]) + more
