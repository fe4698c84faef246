"""A server for test shifts: the scenario and the truth stay with the teacher.

Each student has a token and one shift. A request is a message of the protocol (`seeklab.oncall.protocol`), sent by POST
with the token in the header `Authorization: Bearer TOKEN`. The shift's seed derives from the teacher's secret, and no
answer contains it, so a student cannot rehearse the shift. `done` closes the shift and reveals nothing. The server logs
every message before it answers; when it is started again, it replays the log.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from seeklab._errors import Problem, SeeklabError
from seeklab.oncall.platform_shift import PlatformShift
from seeklab.oncall.protocol import MAX_LINE, Exchange

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from seeklab.oncall.platform import Bank

MAX_MESSAGES = 1000
"""More than any shift has."""
MIN_SECRET = 16
HEADER = "Bearer "
TIMEOUT_S = 20.0


def token_of(secret: bytes, student: str) -> str:
    """Return a student's token."""
    return hmac.new(secret, f"token {len(student)} {student}".encode(), hashlib.sha256).hexdigest()[:32]


def seed_of_student(secret: bytes, student: str) -> int:
    """Return the seed of a student's shift."""
    digest = hmac.new(secret, f"night {len(student)} {student}".encode(), hashlib.sha256).digest()
    return int.from_bytes(digest[:5], "big")


@dataclass
class Room:
    """One student's shift."""

    student: str
    exchange: Exchange
    messages: int = 0
    ended: dict[str, Any] | None = None

    def answer(self, asked: Any) -> dict[str, Any]:
        """Answer a message; keep back what would reveal the truth."""
        self.messages += 1
        word = asked.get("do") if isinstance(asked, dict) else None
        if word == "open":
            return {
                "id": asked.get("id"),
                "ok": False,
                "error": {"code": "shift-over", "message": "it is open already"},
            }
        told = self.exchange.answer(asked)
        if word == "done" and told["ok"]:
            self.ended = told
            return {"id": told["id"], "ok": True, "handed_in": True}
        return told


@dataclass
class Rooms:
    """The shifts of a class."""

    secret: bytes = field(repr=False)
    students: Iterable[str]
    log: Path
    level: int = 1
    bank: Bank | None = None
    _rooms: dict[str, Room] = field(init=False, repr=False, default_factory=dict)
    _lock: threading.Lock = field(init=False, repr=False, default_factory=threading.Lock)

    def __post_init__(self) -> None:
        """Replay the log.

        Raises:
            SeeklabError: If the secret is short or the log cannot be read.
        """
        if len(self.secret) < MIN_SECRET:
            raise SeeklabError([Problem("secret", f"has {len(self.secret)} bytes; use at least {MIN_SECRET}")])
        self._by_token = {token_of(self.secret, student): student for student in self.students}
        for number, line in enumerate(self.log.read_text("utf-8").splitlines() if self.log.exists() else (), 1):
            try:
                entry = json.loads(line)
                room = self._room(token_of(self.secret, entry["student"]))
            except (ValueError, KeyError, TypeError):
                raise SeeklabError([Problem(f"{self.log}:{number}", "is not a line of this log")]) from None
            if room:
                room.answer(entry["message"])

    @property
    def tokens(self) -> dict[str, str]:
        """The token of each student."""
        return {student: token for token, student in self._by_token.items()}

    def answer(self, token: str, message: Any) -> dict[str, Any] | None:
        """Answer a message; None for an unknown token."""
        with self._lock:
            room = self._room(token)
            if room is None:
                return None
            if isinstance(message, dict) and message.get("do") == "ticket":
                return {"id": message.get("id"), "ok": True, **self._opened(room)}
            if room.messages >= MAX_MESSAGES:
                error = {"code": "too-long", "message": f"a shift has at most {MAX_MESSAGES} messages"}
                return {"id": None, "ok": False, "error": error}
            with self.log.open("a", encoding="utf-8") as log:
                log.write(json.dumps({"student": room.student, "message": message}) + "\n")
            return room.answer(message)

    def results(self) -> list[dict[str, Any]]:
        """Return the shifts that were handed in, for the teacher: student, score, causes, looks."""
        with self._lock:
            return [{"student": room.student, **room.ended} for room in self._rooms.values() if room.ended]

    def _room(self, token: str) -> Room | None:
        student = self._by_token.get(token)
        if student is None:
            return None
        if token not in self._rooms:
            shift = PlatformShift(seed_of_student(self.secret, student), level=self.level, bank=self.bank, is_test=True)
            exchange = Exchange()
            exchange.begin(shift)
            self._rooms[token] = Room(student, exchange)
        return self._rooms[token]

    def _opened(self, room: Room) -> dict[str, Any]:
        return {**room.exchange.opened(), "is_over": room.ended is not None}


def server(rooms: Rooms, host: str, port: int) -> ThreadingHTTPServer:
    """Return a server, bound and not yet serving."""

    class Handler(BaseHTTPRequestHandler):
        """Answers POST requests."""

        timeout = TIMEOUT_S

        def do_POST(self) -> None:
            length = self.headers.get("Content-Length", "")
            if not length.isascii() or not length.isdigit() or int(length) > MAX_LINE:
                return self._send(413, {"problem": f"Content-Length must be 0 to {MAX_LINE}"})
            header = self.headers.get("Authorization", "")
            token = header.removeprefix(HEADER) if header.startswith(HEADER) else ""
            try:
                message = json.loads(self.rfile.read(int(length)))
            except (ValueError, RecursionError):
                return self._send(400, {"problem": "the body is not JSON"})
            told = rooms.answer(token, message)
            return self._send(403, {"problem": "the token is unknown"}) if told is None else self._send(200, told)

        def _send(self, status: int, document: dict[str, Any]) -> None:
            body = json.dumps(document).encode()
            self.send_response(status)
            for name, value in {
                "Content-Type": "application/json",
                "Content-Length": str(len(body)),
                "Cache-Control": "no-store",
                "X-Content-Type-Options": "nosniff",
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Keep tokens and addresses out of the terminal."""

    return ThreadingHTTPServer((host, port), Handler)
