"""A shift for a front-end other than a terminal: a browser page or a notebook widget.

It takes lines as typed and returns plain data; the answers are the shell's. `Handler` does the same in JSON,
for hosts that exchange text. A front-end can store a shift at any moment and resume it, for example after a page
reload. The stored data are the past events, so no run is repeated.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from seeklab._case import case as load_case
from seeklab._errors import Problem, SeeklabError
from seeklab._json_handlers import JsonHandler
from seeklab.oncall.learner_case import LearnerCase, case_of
from seeklab.oncall.platform_shift import PlatformShift
from seeklab.oncall.settings import changed
from seeklab.oncall.shell import ENDS, START_S, WELCOME, Shell
from seeklab.oncall.shift import CAUSE_POINTS, FIX_POINTS, TIME_POINTS, Shift
from seeklab.oncall.tools import TOOLS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from seeklab.oncall.platform import Bank

MAX_COMMANDS = 2000
"""More than any shift has; a longer transcript does not come from this program."""
MOST = {
    "cause": CAUSE_POINTS,
    "fix": FIX_POINTS,
    "time": TIME_POINTS,
    "total": CAUSE_POINTS + FIX_POINTS + TIME_POINTS,
}
NOT_BEGUN = "No shift has begun."
UNREADABLE = "The stored shift cannot be read; the shift starts again."


class Session:
    """One shift with its shell, and the data that a front-end shows. In a notebook it displays itself as a widget."""

    def __init__(
        self,
        shift: int | LearnerCase,
        weeks: str | None = None,
        *,
        level: int | None = None,
        kept: Mapping[str, Any] | None = None,
    ) -> None:
        """Start a shift by its number or from a case that `read_case` returned, or resume a stored one.

        With a level from 1 to 4 it is a shift on a platform (`PlatformShift`) instead of an incident of a case.

        Raises:
            SeeklabError: If the arguments are invalid.
        """
        begun = Shift(shift.seed, own=shift) if isinstance(shift, LearnerCase) else begin(shift, weeks, level)
        self._shell = Shell(begun, lambda _: None)
        self._ended: dict[str, Any] | None = None
        if kept is not None:
            _take_up(self._shell, kept)

    def __repr__(self) -> str:
        """Return the ticket."""
        return self._shell.shift.ticket

    @property
    def document(self) -> dict[str, Any]:
        """The events of the shift; after its end also the points and the debrief."""
        return self._ended or self._shell.so_far()

    def type(self, line: str) -> dict[str, Any]:
        """Run one line; return the new output and the state of the shift."""
        said = len(self._shell.transcript)
        if self._ended is None and not self._shell.enter(line):
            self._ended = self._end()
        return {**self._now(), "answers": self._shell.transcript[said:]}

    def view(self) -> dict[str, Any]:
        """Return everything that a front-end shows."""
        return {
            **self._now(),
            "ticket": self._shell.shift.ticket,
            "welcome": WELCOME,
            "answers": self._shell.transcript,
            "tools": [
                {"command": command, "shows": tool.shows, "seconds": tool.seconds, "points": tool.points}
                for command, tool in TOOLS.items()
            ],
            "words": self._words(),
        }

    def _now(self) -> dict[str, Any]:
        shift = self._shell.shift
        return {
            "clock": self._shell.clock(),
            "start_s": START_S,
            "tries": 0 if shift.right else shift.tries - len(shift.named),
            "kept": self._shell.so_far(),
            "ended": self._ended,
        }

    def _words(self) -> list[str]:
        """Return the completions of the input line; one that needs a further word ends with a space."""
        paths = self._shell.shift.offered()
        return [
            *TOOLS,
            *("about", "get", "causes", "help", ENDS[0], "name ", "think "),
            *(f"get {path}" for path in paths),
            *(f"set {path} " for path in paths),
        ]

    def _end(self) -> dict[str, Any]:
        document = self._shell.end("The shift ends.")
        shift = self._shell.shift
        incident, own = shift.incident, shift.own
        if document["hidden"]:
            return {**document, "most": MOST, "title": "", "tells": "", "telling": "", "remedy": {}}
        ended = {
            **document,
            "most": MOST,
            "title": own.title if own else _title(shift),
            "tells": incident.tells,
            "telling": shift.telling(),
            "remedy": shift.remedy,
        }
        if not isinstance(shift, PlatformShift):
            return ended
        (_, tells), *others = shift.tells()
        also = [{"command": command, "tells": told} for command, told in others]
        return {**ended, "tells": tells, "also": also, "excluded": shift.excluded()}


def begin(seed: int, weeks: str | None = None, level: int | None = None, bank: Bank | None = None) -> Shift:
    """Begin a shift of a level, or without a level a shift of a case; raise SeeklabError for invalid arguments."""
    if level is None:
        return Shift(seed, weeks)
    if weeks:
        raise SeeklabError([Problem("level", "shifts of a level have no weeks; remove the level or the weeks")])
    return PlatformShift(seed, level=level, bank=bank)


def _title(shift: Shift) -> str:
    if isinstance(shift, PlatformShift):
        return shift.platform.title
    found = load_case(shift.incident.case).document
    return f"{found['code']} · {found['title']}"


class Handler(JsonHandler):
    """Answers requests of shifts: `{"open": seed or text of a case, "weeks", "level", "kept"}` and `{"type": line}`."""

    def __init__(self) -> None:
        """Create a handler without a shift."""
        self._session: Session | None = None

    def _answer(self, asked: Mapping[str, Any], _: Callable[[float], object]) -> Mapping[str, Any]:
        if "open" in asked:
            asked_for = asked["open"]
            shift = case_of(asked_for) if isinstance(asked_for, str) else asked_for
            self._session = Session(shift, asked.get("weeks"), level=asked.get("level"), kept=asked.get("kept"))
            return self._session.view()
        if self._session is None:
            raise SeeklabError([Problem("", NOT_BEGUN)])
        return self._session.type(asked["type"])


def _take_up(shell: Shell, kept: Mapping[str, Any]) -> None:
    """Restore a shift from stored events; check every part, because the data can come from anywhere."""
    shift = shell.shift
    of = shift.own.digest if shift.own else None
    try:
        commands = [_entry(entry) for entry in kept["commands"][:MAX_COMMANDS]]
        changes = {path: kept["set"][path] for path in shift.settable() if path in kept["set"]}
        changed(shift.scenario, changes)
        users = [(_count(seconds), float(share)) for seconds, share in kept["users"]]
        looked = [command for command in kept["looked"] if command in TOOLS]
        named = [cause for cause in kept["named"] if cause in shift.causes][: shift.tries]
        seconds, spent = _count(kept["seconds"]), _count(kept["spent"])
        thoughts = [
            {"looks": _count(one["looks"]), "cause": one["cause"]}
            for one in kept.get("thoughts", [])[:MAX_COMMANDS]
            if one["cause"] in shift.causes
        ]
        paths = [path for path in kept.get("read", []) if path in shift.offered()]
        fits = (
            (kept["seed"], kept["weeks"], kept.get("own")) == (shift.seed, shift.weeks, of)
            and kept.get("level") == shift.identity.get("level")
            and users != []
            and all(math.isfinite(share) for _, share in users)
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        fits = False
    if not fits:
        raise SeeklabError([Problem("", UNREADABLE)])
    shell.transcript[:] = commands
    shift.changes, shift.named, shift.looked, shift.users = changes, named, looked, users
    shift.seconds, shift.spent, shift.thoughts = seconds, spent, thoughts
    if isinstance(shift, PlatformShift):
        shift.read_paths = paths
    shift.advance()


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
