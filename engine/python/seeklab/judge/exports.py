"""Exports of the grades: Canvas and Moodle (CSV), Gradescope (JSON), nbgrader's gradebook, feedback pages (HTML)."""

from __future__ import annotations

import csv
import html
import json
import os
import sys
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seeklab.judge.catalogue import assignment as find_assignment
from seeklab.judge.printable import short_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Grade = Mapping[str, Any]
    """A grade as `seeklab grade --json` prints it."""

MAX_NAME = 200
"""Maximum length of a folder's name in bytes, below the 255 that file systems allow."""
POLICY = (
    "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src 'unsafe-inline'; "
    "img-src data:; font-src data:; form-action 'none'; base-uri 'none'\">"
)
"""Policy of a feedback page: it runs no script and fetches nothing."""
MAX_WHOLE = 1e15
"""Whole numbers below it are shown with all digits."""
MARKUP = "<>\"'\\`"
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem; color: #1b1f24; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin: 1.5rem 0 .3rem; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; margin: .8rem 0; }
td, th { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #d8dee4; vertical-align: top; }
td, p { overflow-wrap: anywhere; }
.wide { overflow-x: auto; } .wide td { overflow-wrap: normal; }
.pass { color: #116329; } .fail { color: #a40e26; } .cannot { color: #7d4e00; } .note { color: #57606a; }
.comment { border-left: 3px solid #0969da; padding-left: .6rem; }
"""


def read_roster(path: Path) -> dict[str, dict[str, str]]:
    """Read a CSV of a class, with the columns login, name, id, sis_id and section; only login is needed.

    Raises:
        OSError: If it cannot be read, or has no column login.
    """
    try:
        rows = list(csv.DictReader(path.read_text(encoding="utf-8-sig").splitlines()))
    except (UnicodeDecodeError, csv.Error) as error:
        raise OSError(0, f"is not a CSV in UTF-8 ({error})", str(path)) from None
    if not rows or "login" not in rows[0]:
        message = "has no column login; accepted: login, name, id, sis_id, section"
        raise OSError(0, message, str(path))
    return {row["login"]: {name: value or "" for name, value in row.items() if name} for row in rows if row["login"]}


def comments_table(graded: Iterable[tuple[Grade, Mapping[str, Any]]], path: Path) -> None:
    """Write the teachers' comments: a row for each submission that has one."""
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["student", "assignment", "score", "of", "comment"])
        for grade, details in graded:
            said = comment_of(details)
            if said:
                rows.writerow(
                    [_cell(grade["student"]), grade["assignment"], grade["score"], grade["max_score"], _cell(said)]
                )


def comment_of(details: Mapping[str, Any]) -> str:
    """Return all comments on a submission, and the reasons of points that were set by hand, as one text."""
    said = [f"{one['task']}: {one['text']}" if one["task"] else one["text"] for one in details.get("comments", ())]
    said += [f"{task}: {points:g} points, {why}" for task, (points, why, _) in details.get("overrides", {}).items()]
    return "\n".join(said)


def table(
    graded: Sequence[tuple[Grade, Mapping[str, Any]]],
    system: str,
    path: Path,
    roster: Mapping[str, Mapping[str, str]] | None = None,
) -> None:
    """Write a row for each student and a column for each assignment, as Canvas or Moodle imports them.

    With a roster, its students without a submission have a row too, and Canvas gets names, ids and sections. Moodle
    gets a second column for each assignment, with the comments; Canvas imports none.
    """
    grades = [grade for grade, _ in graded]
    said = {(grade["student"], grade["assignment"]): comment_of(details) for grade, details in graded}
    known = roster or {}
    assignments = sorted({grade["assignment"] for grade in grades})
    scores = {(grade["student"], grade["assignment"]): grade["score"] for grade in grades}
    most = {grade["assignment"]: grade["max_score"] for grade in grades}
    students = sorted({grade["student"] for grade in grades} | set(known))
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        if system == "canvas":
            rows.writerow(["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *assignments])
            rows.writerow(["    Points Possible", "", "", "", "", *(most[name] for name in assignments)])
            for student in students:
                own = [scores.get((student, name), "") for name in assignments]
                listed = known.get(student, {})
                name, *ids = (_cell(listed.get(field, "")) for field in ("name", "id", "sis_id"))
                section = _cell(listed.get("section", ""))
                rows.writerow([name or _cell(student), *ids, _cell(student), section, *own])
        else:
            rows.writerow(["username", *(head for name in assignments for head in (name, f"{name} feedback"))])
            for student in students:
                keys = [(student, name) for name in assignments]
                cells = [cell for key in keys for cell in (scores.get(key, ""), _cell(said.get(key, "")))]
                rows.writerow([_cell(student), *cells])


def _cell(text: str) -> str:
    """Return the cell's text so that a spreadsheet does not read it as a formula, not even one in wide characters."""
    start = unicodedata.normalize("NFKC", text).lstrip()
    return f"'{text}" if start.startswith(("=", "+", "-", "@")) or text.startswith(("\t", "\r")) else text


def gradescope(grade: Grade) -> dict[str, Any]:
    """Return one grade in the results format of Gradescope's autograder."""
    return {
        "score": grade["score"],
        "output": "\n".join(grade["flags"]),
        "visibility": "visible",
        "tests": [
            {
                "name": task["id"],
                "score": task["score"],
                "max_score": task["max_score"],
                "status": "passed" if task["verdict"] == "pass" else "failed",
                "output": f"{task['verdict']}: {task['reason']}",
            }
            for task in grade["tasks"]
        ],
    }


def write_gradescope(grades: Iterable[Grade], folder: Path) -> None:
    """Write a results file for each submission."""
    for grade in grades:
        place = folder / _file_name(grade["student"]) / grade["assignment"]
        place.mkdir(parents=True, exist_ok=True)
        document = json.dumps(gradescope(grade), indent=1, ensure_ascii=False)
        (place / "results.json").write_text(document + "\n", encoding="utf-8")


def write_feedback(graded: Iterable[tuple[Grade, Mapping[str, Any]]], folder: Path) -> None:
    """Write a page for each submission; learners' text is escaped."""
    for grade, details in graded:
        place = folder / _file_name(grade["student"]) / grade["assignment"]
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{grade['assignment']}.html").write_text(feedback(grade, details), encoding="utf-8")


def feedback(grade: Grade, details: Mapping[str, Any]) -> str:
    """Return the page for the learner: points, measured values, what is wrong, and a hint."""
    told = html.escape
    parts = [f"<h1>{told(grade['assignment'])}: {grade['score']:g} of {grade['max_score']:g} points</h1>"]
    parts.append(f"<p class=note>{told(grade['student'])}</p>")
    parts += [f"<p class=cannot>{told(flag)}</p>" for flag in grade["flags"]]
    comments, by_hand = details.get("comments", ()), details.get("overrides", {})
    parts += [comment_block(one["text"], one["author"]) for one in comments if not one["task"]]
    hints = {task.id: getattr(task, "hints", ("",)) for task in find_assignment(grade["assignment"]).tasks}
    for task in grade["tasks"]:
        kind = task["verdict"].partition(" ")[0]
        parts.append(f"<h2>{told(task['id'])}: {task['score']:g} of {task['max_score']:g}</h2>")
        parts.append(f"<p><b class={told(kind)}>{told(task['verdict'])}</b>. {told(task['reason'])}</p>")
        parts.append(evidence_table(details.get("evidence", {}).get(task["id"], [])))
        parts += [comment_block(one["text"], one["author"]) for one in comments if one["task"] == task["id"]]
        if task["id"] in by_hand:
            points, why, author = by_hand[task["id"]]
            parts.append(comment_block(f"{points:g} points, set by hand: {why}", author))
        hint = hints.get(task["id"], ("",))[0]
        if task["verdict"] != "pass" and hint:
            parts.append(f"<p class=note>Hint: {told(hint)}</p>")
    parts += [_answer(name, value) for name, value in details.get("answers", {}).items() if isinstance(value, str)]
    title = told(f"{grade['assignment']}, {grade['student']}")
    head = '<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content="width=device-width">'
    return f"{head}{POLICY}<title>{title}</title><style>{STYLE}</style>{''.join(parts)}</html>\n"


def comment_block(text: str, author: str) -> str:
    """Return a teacher's comment."""
    return f"<p class=comment><b>{html.escape(author)}:</b> {html.escape(text)}</p>"


def _answer(name: str, source: str) -> str:
    return f"<h2>Your answer: {html.escape(name)}</h2><div class=wide><pre>{html.escape(source)}</pre></div>"


def evidence_table(items: Sequence[Mapping[str, Any]]) -> str:
    """Return the measured numbers with their bounds, as a table."""
    if not items:
        return ""
    rows = "".join(
        f"{_system(items, nth)}<tr><td>{html.escape(str(item['what']))}<td>{_measured(item)}"
        f"<td>{html.escape(str(item['bound']))}<td>{ {True: 'met', False: 'broken', None: 'undecided'}[item['met']] }"
        for nth, item in enumerate(items)
    )
    head = "<tr><th scope=col>measured<th scope=col>found<th scope=col>bound<td>"
    return f"<div class=wide><table>{head}{rows}</table></div>"


def _system(items: Sequence[Mapping[str, Any]], nth: int) -> str:
    """Return a row that states the measured system, if it differs from the one of the row before."""
    on = items[nth].get("on", "")
    if not on or (nth and on == items[nth - 1].get("on")):
        return ""
    return f"<tr><th colspan=4>on {html.escape(str(on))}"


def _measured(item: Mapping[str, Any]) -> str:
    found = item["measured"]
    is_whole = isinstance(found, (int, float)) and float(found).is_integer() and abs(found) < MAX_WHOLE
    number = f"{found:,.0f}" if is_whole else f"{found:,.6g}" if isinstance(found, (int, float)) else str(found)
    shown = "-" if found is None else number
    return html.escape(f"{shown} {item.get('unit') or ''}".strip())


def _file_name(student: str) -> str:
    """Return a folder name for a student, without path separators; a hash keeps cleaned names distinct."""
    safe = "".join(letter if letter.isalnum() or letter in "-_. @" else "_" for letter in student).lstrip(".")
    safe = safe.encode()[:MAX_NAME].decode(errors="ignore")
    return safe if safe == student else f"{safe}-{short_hash(student)}"


def write_gradebook(grades: Iterable[Grade], url: str) -> list[str]:
    """Write the scores into nbgrader's gradebook through nbgrader's own interface.

    Return a sentence for each student who cannot be written; the others are.
    """
    try:
        from nbgrader.api import Gradebook
        from sqlalchemy.exc import SQLAlchemyError
    except ImportError:
        raise OSError(0, "requires the package nbgrader; run: pip install nbgrader", url) from None
    # nbgrader runs alembic by name, so it must be on PATH.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    refused: list[str] = []
    try:
        with Gradebook(url) as gradebook:
            for grade in grades:
                if looks_like_html(grade["student"]):
                    refused.append(f"{grade['student']} is not written: the formgrader would render the name as HTML")
                else:
                    _write_scores(gradebook, grade)
    except SQLAlchemyError as error:
        raise OSError(0, str(error).partition("\n")[0], url) from None
    return list(dict.fromkeys(refused))


def looks_like_html(name: str) -> bool:
    """Return whether a student's name could act as HTML in the formgrader, which does not escape names."""
    return not name.isprintable() or any(letter in name for letter in MARKUP)


def _write_scores(gradebook: Any, grade: Grade) -> None:
    from nbgrader.api import MissingEntry

    name, student = grade["assignment"], grade["student"]
    gradebook.update_or_create_assignment(name)
    gradebook.update_or_create_notebook(name, name)
    for task in grade["tasks"]:
        try:
            gradebook.find_grade_cell(task["id"], name, name)
        except MissingEntry:
            cell = {"max_score": task["max_score"], "cell_type": "code"}
            gradebook.update_or_create_grade_cell(task["id"], name, name, **cell)
    gradebook.update_or_create_student(student)
    gradebook.update_or_create_submission(name, student)
    for task in grade["tasks"]:
        kept = gradebook.find_grade(task["id"], name, name, student)
        kept.auto_score, kept.needs_manual_grade = task["score"], False
    gradebook.db.commit()
