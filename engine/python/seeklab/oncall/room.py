"""A night for a front-end that is no terminal: a page in the browser, or a notebook's widget.

What is typed goes in as lines, and plain data comes out; the answers are those of the shell. `Desk` is the same in
JSON, for hosts that send texts to each other. A night can be kept at any moment and taken up again, as after a page was
reloaded or a run stopped; what is kept is what has happened, so that nothing runs twice.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from seeklab import _json_handlers as _front
from seeklab._case import case as load_case
from seeklab._errors import Problem, SeeklabError
from seeklab.oncall.looks import LOOKS
from seeklab.oncall.night import CAUSE_POINTS, FIX_POINTS, TIME_POINTS, TRIES, Night
from seeklab.oncall.own import OwnCase, case_of
from seeklab.oncall.settings import changed
from seeklab.oncall.shell import ENDS, START_S, WELCOME, Shell

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MOST_COMMANDS = 2000
"""More than a night has; a transcript with more was not made here."""


class Room:
    """One night, its shell, and what a front-end shows of both. In a notebook it shows itself."""

    def __init__(
        self, night: int | OwnCase, weeks: str | None = None, *, kept: Mapping[str, Any] | None = None
    ) -> None:
        """Begin a night, by its number or from a case that `read_case` has read, or take up one that was kept.

        What does not fit raises SeeklabError.
        """
        begun = Night(night.seed, own=night) if isinstance(night, OwnCase) else Night(night, weeks)
        self._shell = Shell(begun, lambda _: None)
        self._ended: dict[str, Any] | None = None
        self._widget: Any = None
        if kept is not None:
            _take_up(self._shell, kept)

    def __repr__(self) -> str:
        """Give the ticket."""
        return self._shell.night.ticket

    def _repr_mimebundle_(self, **chosen: Any) -> Any:  # noqa: ANN401 -- as IPython asks, and as anywidget answers
        """Show the night as a widget, or its ticket where there are no widgets."""
        try:
            widget = self.widget
        except ImportError:
            return {"text/plain": repr(self)}
        return widget._repr_mimebundle_(**chosen)

    @property
    def widget(self) -> Any:  # noqa: ANN401 -- anywidget is not everywhere
        """The night as a notebook's widget; raises ImportError without the packages of the extra `notebook`."""
        from seeklab.notebook._night import NightOnCall  # noqa: PLC0415 -- see above

        self._widget = self._widget or NightOnCall(self)
        return self._widget

    @property
    def document(self) -> dict[str, Any]:
        """What has happened, and when the night has ended, points and truth as well."""
        return self._ended or self._shell.so_far()

    def type(self, line: str) -> dict[str, Any]:
        """Carry out a line; give what is new: the answer, and where the night stands."""
        said = len(self._shell.transcript)
        if self._ended is None and not self._shell.enter(line):
            self._ended = self._end()
        return {**self._now(), "answers": self._shell.transcript[said:]}

    def view(self) -> dict[str, Any]:
        """Give everything that there is to be shown."""
        return {
            **self._now(),
            "ticket": self._shell.night.ticket,
            "welcome": WELCOME,
            "answers": self._shell.transcript,
            "tools": [
                {"command": command, "shows": look.shows, "seconds": look.seconds, "points": look.points}
                for command, look in LOOKS.items()
            ],
            "words": self._words(),
        }

    def _now(self) -> dict[str, Any]:
        night = self._shell.night
        return {
            "clock": self._shell.clock(),
            "start_s": START_S,
            "tries": 0 if night.right else TRIES - len(night.named),
            "kept": self._shell.so_far(),
            "ended": self._ended,
        }

    def _words(self) -> list[str]:
        """Give what may be typed, for completion: a word that wants another ends with a space."""
        paths = self._shell.night.offered()
        return [
            *LOOKS,
            *("about", "get", "causes", "help", ENDS[0], "name "),
            *(f"get {path}" for path in paths),
            *(f"set {path} " for path in paths),
        ]

    def _end(self) -> dict[str, Any]:
        document = self._shell.end("The shift ends.")
        incident, own = self._shell.night.incident, self._shell.night.own
        found = load_case(incident.case).document if own is None else {}
        return {
            **document,
            "most": {
                "cause": CAUSE_POINTS,
                "fix": FIX_POINTS,
                "time": TIME_POINTS,
                "total": CAUSE_POINTS + FIX_POINTS + TIME_POINTS,
            },
            "title": own.title if own else f"{found['code']} · {found['title']}",
            "tells": incident.tells,
            "telling": self._shell.night.telling(),
            "remedy": self._shell.night.remedy,
        }


class Desk(_front.Desk):
    """The desk of the incident room: `{"open": seed or text of a case, "weeks": .., "kept": ..}`, `{"type": line}`."""

    def __init__(self) -> None:
        """Wait for a night."""
        self._room: Room | None = None

    def _answer(self, asked: Mapping[str, Any], _: Callable[[float], object]) -> Mapping[str, Any]:
        if "open" in asked:
            asked_for = asked["open"]
            night = case_of(asked_for) if isinstance(asked_for, str) else asked_for
            self._room = Room(night, asked.get("weeks"), kept=asked.get("kept"))
            return self._room.view()
        if self._room is None:
            raise SeeklabError([Problem("", "No night has begun.")])
        return self._room.type(asked["type"])


def _take_up(shell: Shell, kept: Mapping[str, Any]) -> None:
    """Set a night to what has happened in it; every part is looked at, since anybody may have written it."""
    night = shell.night
    of = night.own.digest if night.own else None
    try:
        commands = [_entry(entry) for entry in kept["commands"][:MOST_COMMANDS]]
        changes = {path: kept["set"][path] for path in night.settable() if path in kept["set"]}
        changed(night.scenario, changes)
        users = [(_count(seconds), float(share)) for seconds, share in kept["users"]]
        looked = [command for command in kept["looked"] if command in LOOKS]
        named = [cause for cause in kept["named"] if cause in night.causes][:TRIES]
        seconds, spent = _count(kept["seconds"]), _count(kept["spent"])
        fits = (
            (kept["seed"], kept["weeks"], kept.get("own")) == (night.seed, night.weeks, of)
            and users != []
            and all(math.isfinite(share) for _, share in users)
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        fits = False
    if not fits:
        raise SeeklabError([Problem("", "What was kept of this night cannot be read; the night begins anew.")])
    shell.transcript[:] = commands
    night.changes, night.named, night.looked, night.users = changes, named, looked, users
    night.seconds, night.spent = seconds, spent


def _entry(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "command": str(entry["command"]),
        "seconds": _count(entry["seconds"]),
        "points": _count(entry["points"]),
        "output": str(entry["output"]),
        "clock": str(entry["clock"]),
    }


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise TypeError
    return value
