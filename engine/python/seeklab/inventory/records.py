"""Answers to the inventory as rows: read from learners' files, scored with the keys, and made anonymous."""

from __future__ import annotations

import csv
import hashlib
import hmac
import io
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from seeklab._errors import Problem, SeeklabError
from seeklab.inventory.forms import CONFIDENCES, FORMS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

WAVES = ("first", "last")
PSEUDONYM = 12
"""Length of a pseudonym, in hexadecimal digits."""

CODEBOOK = {
    "learner": "pseudonym: the same learner has the same one in all files of this study, and no other study has it",
    "wave": "first: before the course; last: after it",
    "form": "A or B: the same items with other numbers",
    "item": "the item's name",
    "option": "the chosen option, from 0; empty if none",
    "right": "1 if the option is the key, which follows from a run; otherwise 0",
    "misconception": "the code of the misconception that leads to the option; empty for the key and without an answer",
    "confidence": "the stated confidence in percent: 0, 25, 50, 75 or 100; empty if none",
    "seconds": "seconds until the answer; empty if not measured",
}


@dataclass(frozen=True)
class Answer:
    """One answer of one learner, scored. `CODEBOOK` explains the fields."""

    learner: str
    wave: str
    form: str
    item: str
    option: int | None
    right: int
    misconception: str
    confidence: int | None = None
    seconds: float | None = None


def read_answers(text: str, place: str, keys: Mapping[str, Mapping[str, Any]]) -> list[Answer]:
    """Read a learner's or a class's CSV: student, wave, form, item, option, confidence, seconds; score it.

    `keys` has the key of each form by its name. The student's name is still the learner's. Raises SeeklabError for a
    row that is not an answer to one of these forms.
    """
    rows = csv.DictReader(io.StringIO(text))
    needed = ("student", "wave", "form", "item", "option")
    missing = [name for name in needed if name not in (rows.fieldnames or ())]
    if missing:
        raise SeeklabError([Problem(place, f"has no column {', '.join(missing)}; needed: {', '.join(needed)}")])
    return [_scored(row, f"{place}, line {rows.line_num}", keys) for row in rows]


def _scored(row: Mapping[str, str], place: str, keys: Mapping[str, Mapping[str, Any]]) -> Answer:
    if row["wave"] not in WAVES:
        raise SeeklabError([Problem(place, f'wave is "{row["wave"]}"; use {" or ".join(WAVES)}')])
    if row["form"] not in keys:
        raise SeeklabError([Problem(place, f'form is "{row["form"]}"; keys were given for {", ".join(sorted(keys))}')])
    item = next((one for one in keys[row["form"]]["items"] if one["id"] == row["item"]), None)
    if item is None:
        raise SeeklabError([Problem(place, f'item is "{row["item"]}", which form {row["form"]} does not have')])
    last = len(item["misconceptions"]) - 1
    option = _whole(row["option"], range(last + 1), f"0 to {last}, or empty", f"{place}: option")
    sure = _whole(row.get("confidence") or "", CONFIDENCES, ", ".join(map(str, CONFIDENCES)), f"{place}: confidence")
    return Answer(
        row["student"],
        row["wave"],
        row["form"],
        row["item"],
        option,
        int(option == item["key"]),
        "" if option is None else item["misconceptions"][option],
        sure,
        _seconds(row.get("seconds") or "", f"{place}: seconds"),
    )


def _whole(text: str, accepted: Sequence[int], words: str, place: str) -> int | None:
    if not text.strip():
        return None
    found = next((number for number in accepted if text.strip() == str(number)), None)
    if found is None:
        raise SeeklabError([Problem(place, f'is "{text}"; use {words}')])
    return found


def _seconds(text: str, place: str) -> float | None:
    if not text.strip():
        return None
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise SeeklabError([Problem(place, f'is "{text}"; use a number of at least 0')])
    return value


def anonymous(answers: Iterable[Answer], consenting: set[str], study_key: bytes) -> list[Answer]:
    """Return the answers of those who consented, with pseudonyms, sorted by pseudonym."""
    kept = [
        Answer(**{**asdict(one), "learner": pseudonym(one.learner, study_key)})
        for one in answers
        if one.learner in consenting
    ]
    return sorted(kept, key=lambda one: (one.learner, one.wave, one.form, one.item))


def pseudonym(student: str, study_key: bytes) -> str:
    """Return a student's name in the study; only the key's owner can compute it."""
    return hmac.new(study_key, student.encode(), hashlib.sha256).hexdigest()[:PSEUDONYM]


def as_csv(answers: Iterable[Answer]) -> str:
    """Return the rows of a study as CSV, with the columns of the code book."""
    written = io.StringIO()
    rows = csv.writer(written, lineterminator="\n")
    rows.writerow(CODEBOOK)
    for one in answers:
        rows.writerow(["" if value is None else value for value in asdict(one).values()])
    return written.getvalue()


def from_csv(text: str, place: str) -> list[Answer]:
    """Read the rows of a study.

    Raises:
        SeeklabError: If a column or a value is not in the code book.
    """
    rows = csv.DictReader(io.StringIO(text))
    names = [one.name for one in fields(Answer)]
    if list(rows.fieldnames or ()) != names:
        raise SeeklabError([Problem(place, f"is not a file of answers; its columns should be {', '.join(names)}")])
    found = []
    for row in rows:
        at = f"{place}, line {rows.line_num}"
        if row["wave"] not in WAVES or row["form"] not in FORMS or row["right"] not in {"0", "1"}:
            message = f"wave {row['wave']}, form {row['form']}, right {row['right']}: not values of the code book"
            raise SeeklabError([Problem(at, message)])
        found.append(
            Answer(
                row["learner"],
                row["wave"],
                row["form"],
                row["item"],
                _whole(row["option"], range(10), "0 to 9, or empty", f"{at}: option"),
                int(row["right"]),
                row["misconception"] or "",
                _whole(row["confidence"] or "", CONFIDENCES, ", ".join(map(str, CONFIDENCES)), f"{at}: confidence"),
                _seconds(row["seconds"] or "", f"{at}: seconds"),
            )
        )
    return found
