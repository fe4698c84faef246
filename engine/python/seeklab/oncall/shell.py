"""The shell of a night: commands in, what they print out, and a transcript of both.

It reads lines from anything: a terminal, a pipe, a test. Whatever is typed is answered; an end of the input, or an
interrupt, ends the night with its debrief.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from seeklab._errors import SeeklabError
from seeklab.oncall.looks import LOOKS
from seeklab.oncall.system import sheet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from seeklab.oncall.night import Night

START_S = 3 * 3600
LONGEST_LINE = 400
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
done               end the night (also quit, exit); what was set is judged on other seeds
help               this list (free)
What is not understood or refused changes nothing and costs nothing."""


WELCOME = "`help` lists what can be typed. The clock runs with every look."
ENDS = ("done", "quit", "exit")


@dataclass
class Shell:
    """A night and its transcript."""

    night: Night
    says: Callable[[str], None]
    transcript: list[dict[str, Any]] = field(default_factory=list)

    def play(self, lines: Iterator[str]) -> dict[str, Any]:
        """Play until it is done; give the transcript."""
        self.says(self.night.ticket)
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
        """Answer a line; give whether the night goes on."""
        command = " ".join(_visible(line[:LONGEST_LINE]).split())
        if command in ENDS:
            return False
        if command and not command.startswith("#"):
            self._answer(command, len(line.strip()))
        return True

    def clock(self) -> str:
        """Tell the time of the night."""
        now = START_S + self.night.seconds
        return f"{now // 3600:02}:{now % 3600 // 60:02}:{now % 60:02}"

    def _answer(self, command: str, typed: int) -> None:
        seconds, points = self.night.seconds, self.night.spent
        try:
            output = self._output(command) if typed <= LONGEST_LINE else _too_long(typed)
        except SeeklabError as error:
            output = f"bash: {error}"
        took, cost = self.night.seconds - seconds, self.night.spent - points
        self.transcript.append(
            {"command": command, "clock": self.clock(), "seconds": took, "points": cost, "output": output}
        )
        self.says(output.rstrip("\n"))
        if took:
            total = self.night.spent
            self.says(f"[{self.clock()}, {total} {'point' if total == 1 else 'points'} spent]")
        self.says("")

    def _output(self, command: str) -> str:
        look = BARE.get(command, command)
        if look in LOOKS:
            return self.night.look(look)
        word, *rest = command.split()
        free: dict[str, Callable[[], str]] = {
            "help": _help,
            "about": lambda: sheet(self.night.scenario),
            "get": lambda: "\n".join(self.night.offered()),
            "causes": lambda: "\n".join(f"{number:2}  {cause}" for number, cause in enumerate(self.night.causes, 1)),
        }
        if word in free and not rest:
            return free[word]()
        if word in {"get", "set", "name"}:
            return self._asked(word, rest)
        if word in free or word in ENDS:
            return f"{word} takes nothing after it here; type {word} alone"
        near = [name for name in LOOKS if name.split()[0] == word]
        if near:
            return f"{word}: what there is here is {', '.join(near)}; this cost nothing"
        return f"bash: {word}: command not found (`help` lists what there is; this cost nothing)"

    def _asked(self, word: str, rest: list[str]) -> str:
        """Answer what takes a path or a number."""
        if word == "name":
            last = len(self.night.causes)
            known = len(rest) == 1 and rest[0].isascii() and rest[0].isdigit() and 1 <= int(rest[0]) <= last
            return (
                self.night.name(int(rest[0]))
                if known
                else f"name NUMBER, from 1 to {last}; see `causes`. This cost nothing"
            )
        if word == "get":
            return self.night.setting(rest[0]) if len(rest) == 1 else "get PATH, or get alone for the list"
        if len(rest) < SET_WORDS - 1:
            return "set PATH VALUE; this cost nothing"
        return self.night.set(rest[0], self.night.read(rest[0], " ".join(rest[1:])))

    def so_far(self) -> dict[str, Any]:
        """Give what has happened, from which the night can be taken up again."""
        return {
            "seed": self.night.seed,
            "weeks": self.night.weeks,
            "own": self.night.own.digest if self.night.own else None,
            "commands": list(self.transcript),
            "looked": list(self.night.looked),
            "named": list(self.night.named),
            "set": dict(self.night.changes),
            "seconds": self.night.seconds,
            "spent": self.night.spent,
            "users": list(self.night.users),
        }

    def end(self, ending: str) -> dict[str, Any]:
        """End the night: tell points and truth, give the transcript with both."""
        score, debrief = self.night.score(), self.night.debrief()
        total = sum(score.values())
        cause = "right" if self.night.right else "wrong" if self.night.named else "not named"
        fix = self._verdict(holds=bool(score["fix"]))
        self.says(f"{ending} Your cause: {cause}. Your change: {fix}.")
        parts = f"cause {score['cause']}, change {score['fix']}, time {score['time']}"
        self.says(f"Points: {parts}; {total} of 100, at {self.clock()}.\n")
        self.says(debrief)
        return {
            **self.so_far(),
            "ticket": self.night.ticket,
            "right": self.night.right,
            "holds": bool(score["fix"]),
            "score": {**score, "total": total},
            "cause": self.night.incident.cause,
            "case": self.night.incident.case or None,
            "look": self.night.incident.look,
            "debrief": debrief,
        }

    def _verdict(self, *, holds: bool) -> str:
        if holds:
            return "holds on other seeds"
        if not self.night.changes:
            return "not made"
        return f"does not hold{', since it hides what is wrong' if self.night.hides else ''}"


def _visible(line: str) -> str:
    """Give the line without what a terminal would obey: control characters, and those that turn the way of writing."""
    return "".join(one for one in line if one.isspace() or unicodedata.category(one) not in {"Cc", "Cf", "Cs"})


def _too_long(typed: int) -> str:
    return f"bash: a line has at most {LONGEST_LINE} characters here; this one has {typed:,}, and was not carried out"


def _help() -> str:
    looks = "\n".join(f"{name:<18} {look.shows} ({look.seconds} s, {look.points})" for name, look in LOOKS.items())
    return f"{looks}\n{HELP}"
