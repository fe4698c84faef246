"""The shell of a shift: it reads commands, prints their output, and keeps a transcript of both.

The input is any iterator of lines, such as a terminal, a pipe or a test. The shell answers every line. The end of the
input or an interrupt ends the shift with its debrief.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from seeklab._errors import SeeklabError
from seeklab.oncall.pipes import UnknownFilterError, filters, stages
from seeklab.oncall.shift import FREE
from seeklab.oncall.tools import TOOLS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from seeklab.oncall.shift import Shift

START_S = 3 * 3600
MAX_LINE = 400
SET_WORDS = 3
FLAGS = r"(?: -[\w-]+)*(?: \d+){0,2}"
DISKS = r"(?: (?:-p )?(?:ALL|(?:/dev/)?(?:[sv]d|xvd|nvme|dm-|md)\w{0,8}))*(?: \d+){0,2}"
TYPED = tuple(
    (re.compile(pattern), tool)
    for pattern, tool in (
        (
            rf"iostat{FLAGS}{DISKS}|sar -[dpbD]+(?: \d+){{0,2}}|cat /proc/diskstats",
            "iostat -x",
        ),
        (rf"(?:iotop|pidstat -d){FLAGS}", "pidstat -d"),
        (rf"arcstat(?:\.py)?(?: -f \S+)?{FLAGS}", "arcstat"),
        (r"cat /proc/mdstat", "cat /proc/mdstat"),
        (r"(?:cat|head|tail|grep \S+) /proc/pressure/(?:io|\*)", "cat /proc/pressure/io"),
        (r"zpool(?: iostat(?: -[vynHpPLgTdu]+)*(?: tank)?(?: \d+){0,2})?", "zpool iostat"),
        (r"zpool status(?: -\w+)*(?: tank)?", "zpool status"),
        (r"zfs(?: get \S+(?: tank\S*)?)?", "zfs get all"),
        (
            rf"(?:mpstat|vmstat|top|htop|uptime|w|sar|pidstat|sar -u){FLAGS}(?: (?:ALL|%\w+))?(?: \d+){{0,2}}",
            "mpstat -P ALL",
        ),
        (r"cat /proc/(?:loadavg|stat|pressure/cpu)", "mpstat -P ALL"),
        (r"perf(?: (?:top|record|report))?(?: -\S+)*", "perf report"),
        (r"ss(?: -\w+)*", "ss -ti"),
        (r"ping(?: -c \d+)?(?: \S+)?", "ping"),
        (rf"(?:nfsstat|nfsiostat|mountstats){FLAGS}", "nfsstat"),
        (
            r"(?:nstat|netstat)(?: -\w+)*|ethtool -S(?: \S+)?|cat /proc/net/\w+|sar -n \w+(?: \d+){0,2}",
            "nstat -az",
        ),
        (r"parted(?: -\w+)*|fdisk -l(?: \S+)?", "parted -l"),
        (r"smartctl(?: -\w+)*(?: /dev/\S+)?", "smartctl -a"),
        (r"(?:dmesg|journalctl)(?: -\w+| --\S+)*", "dmesg"),
        (r"lsblk(?: -\w+)*(?: [A-Z,+-]+)?(?: /dev/\w+)?", "lsblk"),
        (r"cat \S*txgs", "cat /proc/spl/kstat/zfs/tank/txgs"),
    )
)
"""The tools behind commands as engineers type them, with or without flags and intervals."""
ELSEWHERE = tuple(
    (re.compile(pattern), answer)
    for pattern, answer in (
        (
            r"zpool iostat\b.{0,40} -\w*[lq]\w*\b.{0,40}",
            "-l and -q are not recorded here; `iostat -x` shows time and queue of each disk",
        ),
        (
            r"zpool iostat\b.{0,40} -\w*[rw]\w*\b.{0,40}",
            "-w and -r are not recorded here; `lat` shows the times of the pool's disks by powers of two",
        ),
        (
            r"(?:zpool list|zpool get|zfs list|df)\b.{0,80}",
            "not recorded here; `about` says what is known, `zpool status` shows the pool",
        ),
        (
            r"(?:free|cat /proc/meminfo|cat /proc/vmstat|slabtop)\b.{0,80}",
            "not recorded here; `arcstat` shows the cache of ZFS, `about` what is known of the host",
        ),
        (
            r"arc_summary.{0,80}|cat /proc/spl/kstat/zfs/\w{1,20}",
            "not recorded here; `arcstat` shows hits, misses and size of the ARC",
        ),
        (
            r"(?:blktrace|btrace|blkparse|biolatency|biosnoop|biotop|bpftrace|opensnoop)\b.{0,80}",
            "not installed; `lat` shows the times of the disks by powers of two, `oplog` single operations",
        ),
        (
            r"(?:ps|lsof|strace|iotop|fatrace)\b.{0,80}",
            "not recorded here; `pidstat -d` shows what programs read and write, `perf report` what uses processors",
        ),
        (
            r"journalctl\b.{0,80}",
            "no service writes messages here; `dmesg` shows the kernel's messages",
        ),
        (r"nvme\b.{0,80}", "not recorded here; `smartctl -a` shows the health of a drive, `lsblk` lists them"),
        (
            r"(?:cat|head|more|less) /(?:proc|sys)/\S{1,80}",
            "not recorded here; `get` lists the settings, `help` the commands",
        ),
        (
            (
                r"(?:lscpu|nproc|lspci|lsscsi|hdparm|uname|hostname|date|mount|lvs|pvs|vgs|multipath|mdadm|sysctl|"
                r"systemctl|crontab|numactl)\b.{0,80}"
            ),
            "not recorded here; `about` says what is known, `lsblk` lists the disks, `get` the settings",
        ),
        (
            r"(?:ip|ifconfig|ethtool|mtr|traceroute|tcpdump|iperf3?)\b.{0,80}",
            "not recorded here; `ping` shows the round trip, `ss -ti` the connections, `nstat -az` counters of TCP",
        ),
        (r"(?:dd|fio) .{1,200}", "a load of your own is not possible here; `fio` reports the application's"),
        (r"mountstats\b.{0,80}", "not recorded here; `nfsstat` shows the client's requests"),
    )
)
"""Answers to commands that the room does not print: what shows the same."""

HELP = """about              what is known about the system (free)
get                list the settings you can change (free)
get PATH           print a setting (1 s, 1 point)
set PATH VALUE     change it (1 point once the cause is settled, else 8; if the application must stop, 4 more and 120 s)
causes             list the possible causes by number (free)
think NUMBER       note the cause that you expect, before a look (free)
name NUMBER        name the cause: three tries, each wrong one costs 10 points
done               end the shift and read its debrief; your changes are judged on other seeds
quit, exit         leave; before an answer, the cause stays hidden
help               this list (free)
COMMAND | grep X   print some lines: grep, head, tail and wc -l can follow a pipe
Invalid and refused commands change nothing and cost nothing."""


WELCOME = "Type `help` for the commands. Each command takes time on the clock."
ENDS = ("done", "quit", "exit")
HIDDEN = (
    "The cause stays hidden, because you named none and changed nothing: others may still play this shift. Play it "
    "again, or end it with `done` to read the debrief."
)
MAX_REPORTS = 3
WITHOUT_BOOT = re.compile(r" -\w{0,8}y")
INTERVAL = re.compile(r"\b(?:iostat|zpool iostat)\b.{0,60}? \d+(?: (\d+))?$")
BESIDE = re.compile(r"^(?:sudo |watch (?:-n ?\d{1,4} )?|time )+| 2>(?:/dev/null|&1)$")
HIDES = "because it hides the fault"


@dataclass
class Shell:
    """The shell of one shift, with its transcript."""

    shift: Shift
    says: Callable[[str], None]
    transcript: list[dict[str, Any]] = field(default_factory=list)
    _asks: bool = field(default=False, init=False)
    """Whether the player asked for the debrief."""

    def play(self, lines: Iterator[str]) -> dict[str, Any]:
        """Play until the shift ends; return the transcript."""
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
        """Answer one line; return whether the shift continues."""
        command = " ".join(_visible(line[:MAX_LINE]).split())
        if command in ENDS:
            self._asks = command == ENDS[0]
            return False
        if command and not command.startswith("#"):
            self._answer(command, len(line.strip()))
        return True

    def clock(self) -> str:
        """Return the time of the shift as text."""
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
        first, *behind = stages(command)
        first = _plain(first)
        if tool := tool_of(first):
            return self._looked(tool, first, behind)
        word, *rest = command.split()
        free: dict[str, Callable[[], str]] = {
            "help": _help,
            "about": lambda: self.shift.sheet,
            "get": lambda: "\n".join(self.shift.offered()),
            "causes": lambda: "\n".join(f"{number:2}  {cause}" for number, cause in enumerate(self.shift.causes, 1)),
        }
        if word in free and not rest:
            return free[word]()
        if word in {"get", "set", "name", "think"}:
            return self._asked(word, rest)
        if word in free or word in ENDS:
            return f"{word} takes no arguments here; type {word} alone. {FREE}"
        return f"{_unknown(first, word)}. {FREE}"

    def _looked(self, tool: str, typed: str, behind: list[str]) -> str:
        """Run a tool, and print what the commands behind pipes leave of its output."""
        try:
            chosen = filters(behind)
        except UnknownFilterError as error:
            return f"bash: {error}. {FREE}"
        printed = self.shift.carry_out(tool, _reports(typed), with_boot=not WITHOUT_BOOT.search(typed))
        if chosen:
            lines = printed.splitlines()
            for choose in chosen:
                lines = choose(lines)
            printed = "".join(f"{line}\n" for line in lines)
        # Another tool than the one that was typed names itself, as a prompt would.
        return printed if tool.partition(" ")[0] == typed.partition(" ")[0] else f"# {tool}\n{printed}"

    def _asked(self, word: str, rest: list[str]) -> str:
        """Answer a command that takes a path or a number."""
        if word in {"name", "think"}:
            last = len(self.shift.causes)
            known = len(rest) == 1 and rest[0].isascii() and rest[0].isdigit() and 1 <= int(rest[0]) <= last
            if not known:
                return f"{word} NUMBER, from 1 to {last}; see `causes`. {FREE}"
            return self.shift.name(int(rest[0])) if word == "name" else self.shift.think(int(rest[0]))
        if word == "get":
            return self.shift.setting(rest[0]) if len(rest) == 1 else f"get PATH, or get alone for the list. {FREE}"
        if len(rest) < SET_WORDS - 1:
            return f"set PATH VALUE. {FREE}"
        return self.shift.set(rest[0], self.shift.read(rest[0], " ".join(rest[1:])))

    def so_far(self) -> dict[str, Any]:
        """Return the events so far; they can resume the shift."""
        return {
            "seed": self.shift.seed,
            "weeks": self.shift.weeks,
            "own": self.shift.own.digest if self.shift.own else None,
            "commands": list(self.transcript),
            "looked": list(self.shift.looked),
            "thoughts": list(self.shift.thoughts),
            **self.shift.identity,
            "named": list(self.shift.named),
            "set": dict(self.shift.changes),
            "seconds": self.shift.seconds,
            "spent": self.shift.spent,
            "users": list(self.shift.users),
        }

    def end(self, ending: str) -> dict[str, Any]:
        """End the shift: print points and debrief, and return the transcript with both."""
        is_hidden = not (self._asks or self.shift.named or self.shift.changes)
        score, debrief = self.shift.score(), HIDDEN if is_hidden else self.shift.debrief()
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
            "hidden": is_hidden,
            "cause": None if is_hidden else self.shift.truth,
            "case": None if is_hidden else self.shift.incident.case or None,
            "look": None if is_hidden else self.shift.incident.command,
            "debrief": debrief,
        }

    def _verdict(self, *, holds: bool) -> str:
        if holds:
            return "holds on other seeds"
        if not self.shift.changes:
            return "not made"
        return f"does not hold{f', {HIDES}' if self.shift.hides else ''}"


def _reports(command: str) -> int:
    """Return how many reports a command with an interval prints: 1 without an interval, else at most `MAX_REPORTS`."""
    found = INTERVAL.search(command)
    return 1 if found is None else max(1, min(MAX_REPORTS, int(found[1] or MAX_REPORTS)))


def tool_of(command: str) -> str | None:
    """Return the tool that a typed command runs, if any; what follows a pipe does not matter."""
    command = _plain(stages(command)[0])
    if command in TOOLS:
        return command
    return next((tool for pattern, tool in TYPED if pattern.fullmatch(command)), None)


def _unknown(command: str, word: str) -> str:
    """Return the answer to a command that prints nothing: what does instead, if anything."""
    if elsewhere := next((answer for pattern, answer in ELSEWHERE if pattern.fullmatch(command)), None):
        return f"{command.partition(' ')[0]}: {elsewhere}"
    near = [name for name in TOOLS if name.split()[0] == word]
    if near:
        return f"{word}: available here: {', '.join(near)}"
    return f"bash: {word}: command not found (type `help` for the list)"


def _plain(command: str) -> str:
    """Return a command without what goes before or behind it on a real shell: sudo, and where errors go."""
    return BESIDE.sub("", command).strip()


def _visible(line: str) -> str:
    """Return the line without control characters and characters that change the writing direction."""
    return "".join(one for one in line if one.isspace() or unicodedata.category(one) not in {"Cc", "Cf", "Cs"})


def _too_long(typed: int) -> str:
    return f"bash: the line has {typed:,} characters; the limit is {MAX_LINE}. The command was not run"


def _help() -> str:
    tools = "\n".join(f"{name:<18} {tool.shows} ({tool.seconds} s, {tool.points})" for name, tool in TOOLS.items())
    return f"{tools}\n{HELP}"
