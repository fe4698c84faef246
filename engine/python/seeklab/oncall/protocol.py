"""The protocol of shifts for programs: one JSON object a line in, one JSON object a line out.

`docs/oncall-protocol.md` describes the messages. The exchange is the game of the shell, with the same costs and points;
errors are data and never end the exchange.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from seeklab._case import engine_version
from seeklab._errors import SeeklabError
from seeklab.engine.requests import shortened
from seeklab.oncall.platform_shift import LEVELS, PlatformShift
from seeklab.oncall.shell import START_S, Shell, tool_of
from seeklab.oncall.tools import TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from seeklab.oncall.platform import Bank

VERSION = 1
MAX_LINE = 1 << 16
MAX_SEED = 10**9
MAX_COMMAND = 400
NO_SHIFT = "no shift is open; send open first"
BENCHMARK: tuple[tuple[int, int], ...] = (
    *((seed, 1) for seed in range(101, 111)),
    *((seed, 2) for seed in range(201, 206)),
    *((seed, 3) for seed in range(301, 306)),
    *((seed, 4) for seed in range(401, 406)),
)
"""The 25 shifts of the open benchmark: seed and level."""


class Code(StrEnum):
    """Why a message cannot be answered."""

    BAD_JSON = "bad-json"
    BAD_MESSAGE = "bad-message"
    BAD_VALUE = "bad-value"
    SHIFT_OVER = "shift-over"
    NO_SHIFT = "no-shift"
    NO_TRIES = "no-tries"
    TOO_LONG = "too-long"
    UNKNOWN_LOOK = "unknown-look"
    UNKNOWN_MESSAGE = "unknown-message"
    UNKNOWN_SETTING = "unknown-setting"
    VERSION = "version"


class RefusedError(Exception):
    """A message that cannot be answered, with a code for programs and a sentence for people."""

    def __init__(self, code: Code, message: str) -> None:
        """Keep the code and the sentence."""
        super().__init__(message)
        self.code = code


class Exchange:
    """One program's exchange: at most one shift at a time."""

    def __init__(self, bank: Bank | None = None) -> None:
        """Begin without a shift; with a bank, shifts are drawn from it."""
        self._bank = bank
        self._shell: Shell | None = None
        self._played: PlatformShift | None = None
        self._is_over = False

    def lines(self, lines: Iterable[str]) -> Iterator[str]:
        """Answer each line that is not empty with one line."""
        for line in lines:
            if line.strip():
                yield json.dumps(self.answer_line(line), ensure_ascii=False, allow_nan=False)

    def answer_line(self, line: str) -> dict[str, Any]:
        """Answer one line."""
        if len(line) > MAX_LINE:
            message = f"the line has {len(line):,} characters; the limit is {MAX_LINE:,}"
            return {"id": None, "ok": False, "error": {"code": Code.TOO_LONG, "message": message}}
        try:
            asked = json.loads(line)
        except (ValueError, RecursionError) as error:
            message = f"is not JSON: {shortened(str(error))}; send one object a line"
            return {"id": None, "ok": False, "error": {"code": Code.BAD_JSON, "message": message}}
        return self.answer(asked)

    def answer(self, asked: object) -> dict[str, Any]:
        """Answer one message."""
        number = asked.get("id") if isinstance(asked, Mapping) else None
        number = number if isinstance(number, int | str) else None
        try:
            return {"id": number, "ok": True, **self._told_to_do(asked)}
        except RefusedError as error:
            return {"id": number, "ok": False, "error": {"code": error.code, "message": str(error)}}
        except SeeklabError as error:
            return {"id": number, "ok": False, "error": {"code": Code.BAD_VALUE, "message": str(error)}}

    def _told_to_do(self, asked: object) -> dict[str, Any]:
        if not isinstance(asked, Mapping):
            raise RefusedError(Code.BAD_MESSAGE, "a message is a JSON object with a field do")
        word, answers = asked.get("do"), self._answers()
        if not isinstance(word, str) or word not in answers:
            raise RefusedError(
                Code.UNKNOWN_MESSAGE, f"do: {_told(word)} is not a message; accepted: {', '.join(answers)}"
            )
        return answers[word](asked)

    def _answers(self) -> dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]]:
        return {
            "hello": self._hello,
            "open": self._open,
            "look": self._look,
            "get": self._get,
            "set": self._set,
            "think": self._think,
            "name": self._name,
            "done": self._done,
        }

    def _hello(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        wanted = asked.get("version", VERSION)
        if wanted != VERSION:
            raise RefusedError(Code.VERSION, f"version: {_told(wanted)} is not spoken here; accepted: {VERSION}")
        shifts = [{"seed": seed, "level": level} for seed, level in BENCHMARK]
        return {
            "version": VERSION,
            "engine": engine_version(),
            "levels": {str(level): what for level, what in LEVELS.items()},
            "benchmark": shifts,
        }

    def _open(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        seed = _whole(asked, "seed", 0, MAX_SEED)
        self.begin(PlatformShift(seed, level=_whole(asked, "level", min(LEVELS), max(LEVELS), 1), bank=self._bank))
        return self.opened()

    def begin(self, shift: PlatformShift) -> None:
        """Begin a shift."""
        self._shell, self._played, self._is_over = Shell(shift, lambda _: None), shift, False

    def opened(self) -> dict[str, Any]:
        """Return what a player sees of a shift that has begun."""
        shift = self._played
        if shift is None:
            raise RefusedError(Code.NO_SHIFT, NO_SHIFT)
        looks = [
            {"command": command, "shows": tool.shows, "seconds": tool.seconds, "points": tool.points}
            for command, tool in TOOLS.items()
        ]
        return {
            "ticket": shift.ticket,
            "sheet": shift.sheet,
            "causes": list(shift.causes),
            "settings": shift.offered(),
            "looks": looks,
            **_state(shift),
        }

    def _look(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        command = " ".join(_text(asked, "command", MAX_COMMAND).split())
        if tool_of(command) is None:
            raise RefusedError(Code.UNKNOWN_LOOK, f"command: {_told(command)} is not a look; `open` lists them")
        return self._entered(command)

    def _get(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        return self._entered(f"get {self._path(asked)}")

    def _set(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        value = asked.get("value")
        if not isinstance(value, str | int | float | bool):
            raise RefusedError(Code.BAD_VALUE, f"value: {_told(value)} is not a number, a text or a boolean")
        text = str(value).lower() if isinstance(value, bool) else str(value)
        return self._entered(f"set {self._path(asked)} {text}"[:MAX_COMMAND])

    def _think(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        _, shift = self._current()
        shift.think(_whole(asked, "cause", 1, len(shift.causes)))
        return _state(shift)

    def _name(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        _, shift = self._current()
        number = _whole(asked, "cause", 1, len(shift.causes))
        if shift.settled:
            raise RefusedError(Code.NO_TRIES, "there is nothing left to name")
        told = self._entered(f"name {number}")
        return {**told, "is_cause": shift.causes[number - 1] in shift.found}

    def _done(self, _: Mapping[str, Any]) -> dict[str, Any]:
        shell, shift = self._current()
        shell.enter("done")
        document = shell.end("")
        self._is_over = True
        return {
            "score": document["score"],
            "right": document["right"],
            "holds": document["holds"],
            "causes": [cause.incident.cause for cause in shift.truths],
            "fix": shift.remedy,
            "debrief": document["debrief"],
            "excluded": [
                {
                    "cause": row["cause"],
                    "looks": [
                        {"command": one.command, "field": one.field, "here": one.here, "there": one.there}
                        for one in row["looks"]
                    ],
                }
                for row in shift.exclusions()
            ],
            "looks": list(shift.looked),
        }

    def _current(self) -> tuple[Shell, PlatformShift]:
        if self._shell is None or self._played is None:
            raise RefusedError(Code.NO_SHIFT, NO_SHIFT)
        if self._is_over:
            raise RefusedError(Code.SHIFT_OVER, "the shift is over; send open for another")
        return self._shell, self._played

    def _path(self, asked: Mapping[str, Any]) -> str:
        path = _text(asked, "path", MAX_COMMAND)
        if path not in self._current()[1].offered():
            raise RefusedError(Code.UNKNOWN_SETTING, f"path: {_told(path)} is not a setting; `open` lists them")
        return path

    def _entered(self, command: str) -> dict[str, Any]:
        """Enter a command in the shell; return its output, its cost and the state."""
        shell, shift = self._current()
        shell.enter(command)
        entry = shell.transcript[-1]
        cost = {name: entry[name] for name in ("seconds", "points")}
        return {"output": entry["output"], **cost, **_state(shift)}


def _state(shift: PlatformShift) -> dict[str, Any]:
    """Return what a player knows at any time: clock, points, tries, and the users' number."""
    return {
        "clock_s": START_S + shift.seconds,
        "spent": shift.spent,
        "tries": 0 if shift.settled else shift.tries - len(shift.named),
        "users_share": round(shift.users[-1][1], 3),
    }


def _told(value: object) -> str:
    return shortened(json.dumps(value, ensure_ascii=True, default=str))


def _text(asked: Mapping[str, Any], name: str, longest: int) -> str:
    value = asked.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= longest or not value.isprintable():
        raise RefusedError(Code.BAD_VALUE, f"{name}: {_told(value)} is not a text of 1 to {longest} characters")
    return value


def _whole(asked: Mapping[str, Any], name: str, least: int, most: int, default: int | None = None) -> int:
    value = asked.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise RefusedError(Code.BAD_VALUE, f"{name}: {_told(value)} is not a whole number from {least} to {most}")
    return value
