"""The teacher's desk: the dashboard, each submission with its code, and forms for comments, points and deadlines.

A server shows the pages on this machine only, behind a token. It reads the grades again for each page. The pages have
no scripts, and all text of learners is escaped.
"""

from __future__ import annotations

import html
import json
import secrets
from hmac import compare_digest
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode

from seeklab._errors import SeeklabError
from seeklab.judge import review
from seeklab.judge.dashboard import Dashboard, Links, report, table
from seeklab.judge.exports import STYLE, comment_block, evidence_table
from seeklab.judge.review import Alike, ReviewError, is_reviewed, task_of
from seeklab.judge.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from seeklab.judge.review import Graded

    Fields = Mapping[str, str]

LOCAL = ("127.0.0.1", "localhost")
MAX_FORM = 1 << 16
"""Maximum length of a form in bytes."""
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; form-action 'self'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
}
MORE_STYLE = """
body.wide-page { max-width: 85rem; }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 2rem; align-items: start; }

@media (max-width: 60rem) { .pair { grid-template-columns: 1fr; } }

form { margin: .8rem 0; padding: .6rem; border: 1px solid #d8dee4; border-radius: 6px; }

label { display: block; margin: .4rem 0; } textarea { width: 100%; box-sizing: border-box; font: inherit; }
input, button { font: inherit; } pre { white-space: pre-wrap; font-size: .85rem; }
"""
LINKS = Links(
    lambda student, assignment: _address("submission", student=student, assignment=assignment),
    lambda assignment, task: _address("task", assignment=assignment, task=task),
    "alike",
)


class MissingPageError(LookupError):
    """There is no page of this name."""


class Desk:
    """The pages of a file of grades, and what their forms write to it."""

    def __init__(self, grades: Path, author: str, given_code: Callable[[str], str]) -> None:
        """Take the file, the name under comments, and a function that returns the code given in an exercise."""
        self._path = grades
        self._author = author
        self._given_code = given_code
        self._alike: tuple[dict[tuple[str, str], str], list[Alike]] | None = None
        self._lock = Lock()

    def page(self, name: str, given: Fields, said: str = "") -> str:
        """Return a page; `given` has its parameters, or what was typed into a form that could not be stored.

        Raises:
            MissingPageError: If there is none of this name.
        """
        pages: dict[str, Callable[[Store, Fields, str], str]] = {
            "": self._dashboard,
            "submission": self._submission,
            "task": self._task,
            "alike": self._alike_page,
        }
        if name not in pages:
            raise MissingPageError(name)
        with Store(self._path) as store:
            return pages[name](store, given, said)

    def save(self, fields: Fields) -> str:
        """Store what a form contains; return the address of the page to show next.

        Raises:
            ReviewError: If a field cannot be stored; then nothing is stored.
            MissingPageError: If there is no such submission.
        """
        student, assignment, task = (fields.get(name, "") for name in ("student", "assignment", "task"))
        with Store(self._path) as store:
            grade, _ = _one(store, student, assignment)
            if fields.get("form") == "deadline":
                until, why = fields.get("until", ""), fields.get("reason", "")
                review.extend(store, student, assignment, until, why, self._author)
            else:
                self._save_comment(store, grade, task, fields)
        if fields.get("then") == "task":
            return _address("task", assignment=assignment, task=task, after=student)
        return _address("submission", student=student, assignment=assignment)

    def _save_comment(self, store: Store, grade: Mapping[str, Any], task: str, fields: Fields) -> None:
        text, points, reason = (fields.get(name, "").strip() for name in ("text", "points", "reason"))
        given = _number(points) if points else None
        is_changed = given is not None and given != task_of(grade, task)["score"]
        if given is not None and is_changed:
            review.check_points(grade, task, given, reason)
        if text or not is_changed:
            review.comment(store, grade, task, text, self._author)
        if given is not None and is_changed:
            review.override(store, grade, task, given, reason, self._author)

    def _dashboard(self, store: Store, _: Fields, __: str) -> str:
        return report(Dashboard.read(store), LINKS)

    def _submission(self, store: Store, given: Fields, said: str) -> str:
        grade, details = _one(store, given.get("student", ""), given.get("assignment", ""))
        student, assignment = grade["student"], grade["assignment"]
        tasks = [
            part
            for task in grade["tasks"]
            for part in (_told_task(task, details), _task_form(grade, task["id"], given, "submission"))
        ]
        likeness = [pair for pair in self._pairs(store) if pair.assignment == assignment and student in pair[2:4]]
        deadlines = [row for row in store.extensions() if row[:2] == (student, assignment)]
        parts = [
            _error(said),
            *(f"<p class=cannot>{html.escape(flag)}</p>" for flag in grade["flags"]),
            *(comment_block(one["text"], one["author"]) for one in details["comments"] if not one["task"]),
            _task_form(grade, "", given, "submission"),
            f"<div class=pair><div>{_answers(details)}</div><div>{''.join(tasks)}</div></div>",
            "<h2>Alike</h2>",
            _alike_table(likeness) if likeness else "<p>No other program is alike enough to look at.</p>",
            "<h2>Deadline</h2>",
            *(f"<p>Until {html.escape(until)}: {html.escape(why)}</p>" for _, _, until, why in deadlines),
            _deadline_form(grade, given),
        ]
        title = f"{assignment}, {student}: {grade['score']:g} of {grade['max_score']:g} points"
        return _document(title, parts)

    def _task(self, store: Store, given: Fields, said: str) -> str:
        """Show one task of the next student whose answer has no comment on it."""
        assignment, task, after = (given.get(name, "") for name in ("assignment", "task", "after"))
        graded = [one for one in store.details() if one[0]["assignment"] == assignment]
        found = [one for one in graded if task in {part["id"] for part in one[0]["tasks"]}]
        if not found:
            raise MissingPageError(task)
        left = [one for one in found if not is_reviewed(one[1], task)]
        wanted = given.get("student", "")
        order = [one for one in left if (one[0]["student"] == wanted if wanted else one[0]["student"] > after)]
        title = f"{assignment}, {task}"
        done = f"<p>{len(found) - len(left)} of {len(found)} have a comment or points by hand.</p>"
        if not order:
            again = f'<p><a href="{_link("task", assignment=assignment, task=task)}">Those that are left</a></p>'
            return _document(f"{title}: the end of the list", [done, again if left else ""])
        grade, details = order[0]
        one = task_of(grade, task)
        skip = _link("task", assignment=assignment, task=task, after=grade["student"])
        right = _told_task(one, details) + _task_form(grade, task, given, "task")
        right += f'<p><a href="{skip}">Next without a comment</a></p>'
        pair = f"<div class=pair><div>{_answers(details)}</div><div>{right}</div></div>"
        return _document(f"{title}: {grade['student']}", [_error(said), done, pair])

    def _alike_page(self, store: Store, _: Fields, __: str) -> str:
        found = self._pairs(store)
        note = "<p>Read both before you ask. Short programs on one task may agree by chance.</p>"
        empty = "<p>No two programs are alike enough to look at.</p>"
        return _document("Programs that are alike", [note + _alike_table(found) if found else empty])

    def _pairs(self, store: Store) -> list[Alike]:
        """Return the pairs of alike programs, computed again only if a grade has changed."""
        with self._lock:
            known = store.known()
            if self._alike is None or self._alike[0] != known:
                self._alike = known, review.pairs(store.details(), self._given_code)
            return self._alike[1]


def _one(store: Store, student: str, assignment: str) -> Graded:
    for grade, details in store.details():
        if (grade["student"], grade["assignment"]) == (student, assignment):
            return grade, details
    raise MissingPageError(student)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        message = f'is "{text}", not a number'
        raise ReviewError(message, "points") from None


def _address(page: str, **given: str) -> str:
    return f"{page}?{urlencode(given)}"


def _link(page: str, **given: str) -> str:
    return html.escape(_address(page, **given))


def _document(title: str, parts: Sequence[str]) -> str:
    head = '<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content="width=device-width">'
    told = html.escape(title)
    back = '<p><a href="./">Dashboard</a></p>'
    body = f"<body class=wide-page>{back}<h1>{told}</h1>{''.join(parts)}</body>"
    return f"{head}<title>{told}</title><style>{STYLE}{MORE_STYLE}</style>{body}</html>\n"


def _error(said: str) -> str:
    return f"<p class=fail role=alert><b>Not stored.</b> {html.escape(said)}</p>" if said else ""


def _answers(details: Mapping[str, Any]) -> str:
    """Return the answers: programs as they are, all others as JSON."""
    shown = [
        (name, value if isinstance(value, str) else json.dumps(value, indent=1, ensure_ascii=False))
        for name, value in details["answers"].items()
    ]
    told = [f"<h2>Answer: {html.escape(name)}</h2><pre>{html.escape(text)}</pre>" for name, text in shown]
    return "".join(told) or "<p>No answer could be read.</p>"


def _told_task(task: Mapping[str, Any], details: Mapping[str, Any]) -> str:
    """Return a task's verdict, evidence, comments and points."""
    name, kind = task["id"], task["verdict"].partition(" ")[0]
    parts = [
        f"<h2>{html.escape(name)}: {task['score']:g} of {task['max_score']:g}</h2>",
        f"<p><b class={html.escape(kind)}>{html.escape(task['verdict'])}</b>. {html.escape(task['reason'])}</p>",
        evidence_table(details["evidence"].get(name, [])),
        *(comment_block(one["text"], one["author"]) for one in details["comments"] if one["task"] == name),
    ]
    if name in details["overrides"]:
        points, why, author = details["overrides"][name]
        parts.append(comment_block(f"{points:g} points, set by hand: {why}", author))
    return "".join(parts)


def _form(button: str, hidden: Fields, *inside: str) -> str:
    kept = "".join(f'<input type=hidden name={name} value="{html.escape(value)}">' for name, value in hidden.items())
    return f"<form method=post action=save>{kept}{''.join(inside)}<button>{button}</button></form>"


def _task_form(grade: Mapping[str, Any], task: str, given: Fields, then: str) -> str:
    """Return the form for a comment and, for a task, its points, with what was typed before."""
    typed = given if given.get("form") == "comment" and given.get("task") == task else {}
    hidden = {"form": "comment", "student": grade["student"], "assignment": grade["assignment"]}
    text = html.escape(typed.get("text", ""))
    on = html.escape(task) or "the submission"
    inside = [f"<label>Comment on {on} <textarea name=text rows=3>{text}</textarea></label>"]
    if task:
        one = task_of(grade, task)
        points, reason = (
            html.escape(typed.get(name, before)) for name, before in (("points", f"{one['score']:g}"), ("reason", ""))
        )
        inside.append(
            f'<label>Points, 0 to {one["max_score"]:g} <input name=points inputmode=decimal size=5 value="{points}">'
            f'</label><label>Reason for other points <input name=reason size=40 value="{reason}"></label>'
        )
    button = "Save and next" if then == "task" else "Save"
    return _form(button, {**hidden, "task": task, "then": then}, *inside)


def _deadline_form(grade: Mapping[str, Any], given: Fields) -> str:
    typed = given if given.get("form") == "deadline" else {}
    until, reason = (html.escape(typed.get(name, "")) for name in ("until", "reason"))
    hidden = {"form": "deadline", "student": grade["student"], "assignment": grade["assignment"], "then": "submission"}
    return _form(
        "Extend",
        hidden,
        f'<label>New deadline <input type=date name=until value="{until}"></label>',
        f'<label>Reason <input name=reason size=40 value="{reason}"></label>',
    )


def _alike_table(pairs: Sequence[Alike]) -> str:
    def to(student: str, assignment: str) -> str:
        return f'<a href="{_link("submission", student=student, assignment=assignment)}">{html.escape(student)}</a>'

    rows = [
        [html.escape(of), html.escape(answer), to(one, of), to(other, of), f"{share:.2f}"]
        for of, answer, one, other, share in pairs
    ]
    return table(["assignment", "answer", "student", "and", "alike"], rows)


class _Server(ThreadingHTTPServer):
    """A server on this machine's loopback address."""

    def __init__(self, desk: Desk, port: int) -> None:
        """Take the desk and a port; 0 is any."""
        super().__init__((LOCAL[0], port), _Handler)
        self.desk = desk
        self.token = secrets.token_urlsafe(24)


class _Handler(BaseHTTPRequestHandler):
    """Answers requests that contain the token, and refuses all others."""

    server: _Server

    def do_GET(self) -> None:
        """Send a page."""
        page, query = self._asked()
        if page is not None:
            self._show(page, _fields(query))

    def do_POST(self) -> None:
        """Store a form, and send the browser to the next page."""
        page, _ = self._asked()
        if page is None:
            return
        length = self.headers.get("Content-Length", "")
        if page != "save" or not length.isdecimal() or int(length) > MAX_FORM:
            self._send(HTTPStatus.BAD_REQUEST, f"A form has {MAX_FORM} bytes at most.\n")
            return
        fields = _fields(self.rfile.read(int(length)).decode("utf-8", "replace"))
        try:
            self._go(self.server.desk.save(fields))
        except ReviewError as error:
            page = "task" if fields.get("then") == "task" else "submission"
            self._show(page, fields, f"{error}.", HTTPStatus.BAD_REQUEST)
        except MissingPageError:
            self._send(HTTPStatus.NOT_FOUND, "There is no such submission.\n")
        except SeeklabError as error:
            self._send(HTTPStatus.INTERNAL_SERVER_ERROR, f"{error}\n")

    def _asked(self) -> tuple[str | None, str]:
        """Return the page's name and query; send a refusal and return None without the token or the local host."""
        path, _, query = self.path.partition("?")
        given, slash, page = path.removeprefix("/").partition("/")
        hosts = {f"{name}:{self.server.server_port}" for name in LOCAL}
        if self.headers.get("Host") not in hosts or not compare_digest(given.encode(), self.server.token.encode()):
            self._send(HTTPStatus.FORBIDDEN, "Open the dashboard with the address that `seeklab desk` printed.\n")
            return None, ""
        return page if slash else "no page", query

    def _show(self, page: str, given: Fields, said: str = "", status: HTTPStatus = HTTPStatus.OK) -> None:
        try:
            self._send(status, self.server.desk.page(page, given, said))
        except MissingPageError:
            self._send(HTTPStatus.NOT_FOUND, "There is no such page.\n")
        except SeeklabError as error:
            self._send(HTTPStatus.INTERNAL_SERVER_ERROR, f"{error}\n")

    def _go(self, address: str) -> None:
        self.send_response(HTTPStatus.SEE_OTHER)
        self.send_header("Location", address)
        self.send_header("Content-Length", "0")
        self._end()

    def _send(self, status: HTTPStatus, page: str) -> None:
        content = page.encode("utf-8", "replace")
        self.send_response(status)
        kind = "text/html" if page.startswith("<!doctype") else "text/plain"
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self._end()
        self.wfile.write(content)

    def _end(self) -> None:
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Keep the terminal quiet, and the token out of it."""


def serve(desk: Desk, port: int) -> tuple[ThreadingHTTPServer, str]:
    """Return a server, and its URL with the token.

    The token is part of the path. Browsers would send a cookie to every server of this machine, including other users',
    and with the forms of other sites.
    """
    server = _Server(desk, port)
    return server, f"http://{LOCAL[0]}:{server.server_address[1]}/{server.token}/"


def _fields(text: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(text, keep_blank_values=True).items()}
