"""The shell of a shift: commands in, what they print out, and a transcript of both.

It reads lines from anything: a terminal, a pipe, a test. Whatever is typed is answered; an end of the input, or an
interrupt, ends the shift with its debrief.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from seeklab._errors import SeeklabError
from seeklab.oncall.fact_sheet import sheet
from seeklab.oncall.shift import FREE
from seeklab.oncall.tools import TOOLS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from seeklab.oncall.shift import Shift

START_S = 3 * 3600
MAX_LINE = 400
SET_WORDS = 3
BARE = {
    "iostat": "iostat -x",
    "zpool": "zpool iostat",
    "zfs": "zfs get all",
    "mpstat": "mpstat -P ALL",
    "perf": "perf report",
    "ss": "ss -ti",
    "parted": "parted -l",
}
"""What a tool's name alone stands for."""

HELP = """about              what everybody knows of the system (free)
get                what can be set here (free)
get PATH           what it is set to (1 s, 1)
set PATH VALUE     change it (1 once the cause is named; 8 before; 4 more and 120 s where the application must stop)
causes             what it may be, by number (free)
name NUMBER        name the cause: three tries, each wrong one costs 10 points
done               end the shift (also quit, exit); what was set is judged on other seeds
help               this list (free)
What is not understood or refused changes nothing and costs nothing."""


WELCOME = "`help` lists what can be typed. The clock runs with every command."
ENDS = ("done", "quit", "exit")
HIDES = "since it hides what is wrong"


@dataclass
class Shell:
    """A shift and its transcript."""

    shift: Shift
    says: Callable[[str], None]
    transcript: list[dict[str, Any]] = field(default_factory=list)

    def play(self, lines: Iterator[str]) -> dict[str, Any]:
        """Play until it is done; give the transcript."""
        self.says(self.shift.ticket)
        self.says(f"{WELCOME}\n")
        ending = "The shift ends."
        try:
            for line in lines:
                if not self.enter(line):
                    break
        except KeyboardInterrupt:
            ending = "\nThe shift ends early."
        return self.end(ending)

    def enter(self, line: str) -> bool:
        """Answer a line; give whether the shift goes on."""
        command = " ".join(_visible(line[:MAX_LINE]).split())
        if command in ENDS:
            return False
        if command and not command.startswith("#"):
            self._answer(command, len(line.strip()))
        return True

    def clock(self) -> str:
        """Tell the time of the shift."""
        now = START_S + self.shift.seconds
        return f"{now // 3600:02}:{now % 3600 // 60:02}:{now % 60:02}"

    def _answer(self, command: str, typed: int) -> None:
        seconds, points = self.shift.seconds, self.shift.spent
        try:
            output = self._output(command) if typed <= MAX_LINE else _too_long(typed)
        except SeeklabError as error:
            output = f"bash: {error}"
        took, cost = self.shift.seconds - seconds, self.shift.spent - points
        self.transcript.append(
            {"command": command, "clock": self.clock(), "seconds": took, "points": cost, "output": output}
        )
        self.says(output.rstrip("\n"))
        if took:
            total = self.shift.spent
            self.says(f"[{self.clock()}, {total} {'point' if total == 1 else 'points'} spent]")
        self.says("")

    def _output(self, command: str) -> str:
        tool = BARE.get(command, command)
        if tool in TOOLS:
            return self.shift.carry_out(tool)
        word, *rest = command.split()
        free: dict[str, Callable[[], str]] = {
            "help": _help,
            "about": lambda: sheet(self.shift.scenario),
            "get": lambda: "\n".join(self.shift.offered()),
            "causes": lambda: "\n".join(f"{number:2}  {cause}" for number, cause in enumerate(self.shift.causes, 1)),
        }
        if word in free and not rest:
            return free[word]()
        if word in {"get", "set", "name"}:
            return self._asked(word, rest)
        if word in free or word in ENDS:
            return f"{word} takes nothing after it here; type {word} alone. {FREE}"
        near = [name for name in TOOLS if name.split()[0] == word]
        if near:
            return f"{word}: what there is here is {', '.join(near)}. {FREE}"
        return f"bash: {word}: command not found (`help` lists what there is). {FREE}"

    def _asked(self, word: str, rest: list[str]) -> str:
        """Answer what takes a path or a number."""
        if word == "name":
            last = len(self.shift.causes)
            known = len(rest) == 1 and rest[0].isascii() and rest[0].isdigit() and 1 <= int(rest[0]) <= last
            return self.shift.name(int(rest[0])) if known else f"name NUMBER, from 1 to {last}; see `causes`. {FREE}"
        if word == "get":
            return self.shift.setting(rest[0]) if len(rest) == 1 else f"get PATH, or get alone for the list. {FREE}"
        if len(rest) < SET_WORDS - 1:
            return f"set PATH VALUE. {FREE}"
        return self.shift.set(rest[0], self.shift.read(rest[0], " ".join(rest[1:])))

    def so_far(self) -> dict[str, Any]:
        """Give what has happened, from which the shift can be taken up again."""
        return {
            "seed": self.shift.seed,
            "weeks": self.shift.weeks,
            "own": self.shift.own.digest if self.shift.own else None,
            "commands": list(self.transcript),
            "looked": list(self.shift.looked),
            "named": list(self.shift.named),
            "set": dict(self.shift.changes),
            "seconds": self.shift.seconds,
            "spent": self.shift.spent,
            "users": list(self.shift.users),
        }

    def end(self, ending: str) -> dict[str, Any]:
        """End the shift: tell points and truth, give the transcript with both."""
        score, debrief = self.shift.score(), self.shift.debrief()
        total = sum(score.values())
        cause = "right" if self.shift.right else "wrong" if self.shift.named else "not named"
        fix = self._verdict(holds=bool(score["fix"]))
        self.says(f"{ending} Your cause: {cause}. Your change: {fix}.")
        parts = f"cause {score['cause']}, change {score['fix']}, time {score['time']}"
        self.says(f"Points: {parts}; {total} of 100, at {self.clock()}.\n")
        self.says(debrief)
        return {
            **self.so_far(),
            "ticket": self.shift.ticket,
            "right": self.shift.right,
            "holds": bool(score["fix"]),
            "score": {**score, "total": total},
            "cause": self.shift.incident.cause,
            "case": self.shift.incident.case or None,
            "look": self.shift.incident.command,
            "debrief": debrief,
        }

    def _verdict(self, *, holds: bool) -> str:
        if holds:
            return "holds on other seeds"
        if not self.shift.changes:
            return "not made"
        return f"does not hold{f', {HIDES}' if self.shift.hides else ''}"


def _visible(line: str) -> str:
    """Give the line without what a terminal would obey: control characters, and those that turn the way of writing."""
    return "".join(one for one in line if one.isspace() or unicodedata.category(one) not in {"Cc", "Cf", "Cs"})


def _too_long(typed: int) -> str:
    return f"bash: a line has at most {MAX_LINE} characters here; this one has {typed:,}, and was not carried out"


def _help() -> str:
    tools = "\n".join(f"{name:<18} {tool.shows} ({tool.seconds} s, {tool.points})" for name, tool in TOOLS.items())
    return f"{tools}\n{HELP}"
