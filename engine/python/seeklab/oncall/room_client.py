"""A player of a test shift: turns typed lines into messages for the teacher's server, and answers into text."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

from seeklab._errors import Problem, SeeklabError
from seeklab.oncall.shell import HELP, tool_of

SCHEMES = ("http://", "https://")
TIMEOUT_S = 60.0
SET_WORDS = 3


def check_address(address: str) -> None:
    """Raise SeeklabError for a text that is not an address of a server."""
    if not address.startswith(SCHEMES):
        raise SeeklabError([Problem("join", f"{address!r} is not an address; write http:// or https://")])


class Client:
    """One student's side of a test shift."""

    def __init__(self, address: str, token: str) -> None:
        """Fetch the ticket; raise SeeklabError if the server does not answer or does not know the token."""
        check_address(address)
        self._address, self._token = address, token
        self._opened = self._ask({"do": "ticket"})
        self.is_over = bool(self._opened.get("is_over"))

    def welcome(self) -> str:
        """Return the ticket."""
        if self.is_over:
            return "This shift was handed in."
        return f"{self._opened['ticket']}\nType `help` for the commands. `done` hands the shift in.\n"

    def enter(self, line: str) -> str:
        """Answer a typed line."""
        words = line.split()
        command = " ".join(words)
        lists = {
            "help": [*(f"{look['command']:<18} {look['shows']}" for look in self._opened["looks"]), HELP],
            "about": [self._opened["sheet"]],
            "get": self._opened["settings"],
            "causes": [f"{number:2}  {cause}" for number, cause in enumerate(self._opened["causes"], 1)],
        }
        if command in lists:
            return "\n".join(lists[command]) + "\n"
        message = _message(words, command)
        if message is None:
            return f"{words[0]}: not understood; type `help` for the list\n"
        told = self._ask(message)
        if not told["ok"]:
            return f"{told['error']['message']}\n"
        if told.get("handed_in"):
            self.is_over = True
            return "Handed in. Your teacher has the result.\n"
        points = f"[{told['spent']} points spent]"
        return f"{told.get('output', 'Noted.').rstrip()}\n{points}\n"

    def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        asked = urllib.request.Request(self._address, json.dumps(message).encode(), headers)  # noqa: S310 -- checked
        try:
            with urllib.request.urlopen(asked, timeout=TIMEOUT_S) as answer:  # noqa: S310 -- http or https, checked
                told: dict[str, Any] = json.loads(answer.read())
        except urllib.error.HTTPError as error:
            what = "does not know this token" if error.code == 403 else f"answered with status {error.code}"
            raise SeeklabError([Problem("join", f"the server {what}")]) from None
        except (OSError, ValueError) as error:
            raise SeeklabError([Problem("join", f"the server does not answer: {error}")]) from None
        return told


def _message(words: list[str], command: str) -> dict[str, Any] | None:
    """Return the message of a typed line, or None."""
    word, *rest = words
    if command == "done":
        return {"do": "done"}
    if word in {"think", "name"} and len(rest) == 1 and rest[0].isascii() and rest[0].isdigit():
        return {"do": word, "cause": int(rest[0][:9])}
    if word == "get" and len(rest) == 1:
        return {"do": "get", "path": rest[0]}
    if word == "set" and len(words) >= SET_WORDS:
        return {"do": "set", "path": rest[0], "value": " ".join(rest[1:])}
    return {"do": "look", "command": command} if tool_of(command) else None
