"""Tickets: the data that a student receives about a system whose cause only the instructor knows.

If students may only observe the system, its ticket contains the output of tools and nothing else. If they run the
system, the ticket contains the draws, so that their notebook builds exactly that system. The names of students with a
ticket are stored next to the course's secret. Their work is judged on the ticket's system; all others are judged on the
practice system of their name.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from seeklab._errors import Problem, SeeklabError
from seeklab.judge.practice import TICKET

if TYPE_CHECKING:
    from pathlib import Path

    from seeklab.judge.assignment import Assignment
    from seeklab.judge.identity import Course, Share

HANDED_OUT = "tickets.json"


def ticket_document(assignment: Assignment, student: str, course: Course | Share) -> dict[str, Any]:
    """Return the ticket of a student, as the JSON document for the notebook's folder."""
    draws = course.draws(student, assignment.id)
    ticket: dict[str, Any] = {"student": student, "assignment": assignment.id}
    if assignment.blind is None:
        return {**ticket, "draws": draws.hex()}
    return {**ticket, "evidence": assignment.blind(draws)}


def hand_out(assignment: Assignment, student: str, course: Course, folder: Path) -> list[Path]:
    """Write a student's ticket: the notebook's file, and each tool's output as text; record that it was handed out."""
    document = ticket_document(assignment, student, course)
    place = folder / student / assignment.id
    try:
        place.mkdir(parents=True, exist_ok=True)
        written = [place / TICKET]
        written[0].write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        for name, text in document.get("evidence", {}).items():
            path = place / f"{name.replace(' ', '-')}.txt"
            path.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
            written.append(path)
    except OSError as error:
        raise SeeklabError([Problem("--out", f"{error.filename} cannot be written: {error.strerror}")]) from None
    _note(course, student, assignment.id)
    return written


def handed_out(course: Course) -> dict[str, list[str]]:
    """Return the students with tickets, by assignment."""
    if course.folder is None:
        return {}
    try:
        kept = json.loads((course.folder / HANDED_OUT).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        message = f"{course.folder / HANDED_OUT} cannot be read ({error}); it must list the students with tickets"
        raise SeeklabError([Problem("tickets", message)]) from None
    return {str(name): [str(student) for student in students] for name, students in kept.items()}


def is_ticketed(course: Course, student: str, assignment: str) -> bool:
    """Return whether the student received a ticket."""
    return student in handed_out(course).get(assignment, ())


def _note(course: Course, student: str, assignment: str) -> None:
    if course.folder is None:
        return
    kept = handed_out(course)
    if student in kept.get(assignment, ()):
        return
    kept[assignment] = sorted({*kept.get(assignment, ()), student})
    path = course.folder / HANDED_OUT
    fresh = path.with_name(f".{HANDED_OUT}.{os.getpid()}")
    fresh.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    fresh.replace(path)
