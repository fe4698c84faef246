"""Pipes of a shift's shell: `grep`, `head`, `tail` and `wc -l` behind a command.

A pattern of `grep` is text with `.*`, `^`, `$` and alternatives; anything else in it means itself. So no pattern takes
long, whatever a player types.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Filter = Callable[[list[str]], list[str]]

TEN = 10
"""Lines that `head` and `tail` print without a number."""
MAX_CONTEXT = 1_000
GREPS = ("grep", "egrep", "fgrep", "zgrep")
AROUND = re.compile(r"-([ABC])(\d{0,4})")
COUNT = re.compile(r"-n?(\d{1,6})")
ACCEPTED = "grep, head, tail and wc -l can follow a pipe here"


class UnknownFilterError(Exception):
    """A part of a pipe that the shell cannot run; its text is the shell's answer."""


def stages(command: str) -> list[str]:
    """Return the commands between the pipes of a line; a pipe in quotes is text."""
    parts, quote, begin = [], "", 0
    for at, letter in enumerate(command):
        if letter in "'\"" and quote in ("", letter):
            quote = "" if quote else letter
        elif letter == "|" and not quote:
            parts.append(command[begin:at])
            begin = at + 1
    return [part.strip() for part in (*parts, command[begin:])]


def filters(commands: Sequence[str]) -> list[Filter]:
    """Return the function of each command behind a pipe."""
    return [_filter(command) for command in commands]


def _filter(command: str) -> Filter:
    try:
        word, *rest = shlex.split(command)
    except ValueError:
        message = f"{command}: a quote is open, or a command is missing"
        raise UnknownFilterError(message) from None
    if word in GREPS:
        return _grep(word, rest)
    if word in ("head", "tail") and (most := _count(rest)) is not None:
        return (lambda lines: lines[:most]) if word == "head" else (lambda lines: lines[max(0, len(lines) - most) :])
    if word in ("cat", "less", "more") and not rest:
        return lambda lines: lines
    if word == "wc" and rest == ["-l"]:
        return lambda lines: [str(len(lines))]
    message = f"{' '.join((word, *rest))}: {ACCEPTED}"
    raise UnknownFilterError(message)


def _count(words: Sequence[str]) -> int | None:
    text = "".join(words)
    found = COUNT.fullmatch(text)
    return TEN if not text else int(found[1]) if found else None


def _grep(name: str, words: Sequence[str]) -> Filter:
    flags, patterns = set[str](), list[str]()
    before = after = 0
    rest = iter(words)
    for word in rest:
        if around := AROUND.fullmatch(word):
            number = around[2] or next(rest, "")
            if not number.isascii() or not number.isdigit():
                message = f"{name}: {word}: write a number of lines"
                raise UnknownFilterError(message)
            before = min(int(number), MAX_CONTEXT) if around[1] in "BC" else before
            after = min(int(number), MAX_CONTEXT) if around[1] in "AC" else after
        elif word == "-e":
            patterns.append(next(rest, ""))
        elif len(word) > 1 and word.startswith("-") and not patterns:
            flags |= set(word[1:])
        else:
            patterns.append(word)
    if not patterns or not flags <= set("EFGPaivc"):
        message = f"{name}: write {name} [-i] [-v] [-c] [-A N] [-B N] PATTERN; {ACCEPTED}"
        raise UnknownFilterError(message)
    wanted = [part for pattern in patterns for part in ([pattern] if "F" in flags else _alternatives(pattern))]
    is_plain, is_folded = "F" in flags or name == "fgrep", "i" in flags

    def chosen(lines: list[str]) -> list[str]:
        folded = [line.lower() for line in lines] if is_folded else lines
        parts = [part.lower() for part in wanted] if is_folded else wanted
        hits = [
            at
            for at, line in enumerate(folded)
            if any((part in line) if is_plain else _fits(part, line) for part in parts) != ("v" in flags)
        ]
        if "c" in flags:
            return [str(len(hits))]
        kept = {at for hit in hits for at in range(max(0, hit - before), min(len(lines), hit + after + 1))}
        return [lines[at] for at in sorted(kept)]

    return chosen


def _alternatives(pattern: str) -> list[str]:
    """Return the alternatives of a pattern, without a group around them and without escapes."""
    parts = re.split(r"\\?\|", pattern.replace("\\.", "."))
    if len(parts) > 1:
        parts = [part.removeprefix("\\").removeprefix("(").removesuffix(")").removesuffix("\\") for part in parts]
    return parts


def _fits(pattern: str, line: str) -> bool:
    """Return whether the pieces between `.*` follow each other in a line."""
    *pieces, last = pattern.removeprefix("^").removesuffix("$").split(".*")
    at = 0
    for number, piece in enumerate(pieces):
        place = line.find(piece, at)
        if place < 0 or (number == 0 and pattern.startswith("^") and place > 0):
            return False
        at = place + len(piece)
    is_at_start = pattern.startswith("^") and not pieces
    if pattern.endswith("$"):
        return line == last if is_at_start else line.endswith(last) and len(line) - len(last) >= at
    return line.startswith(last) if is_at_start else line.find(last, at) >= 0
