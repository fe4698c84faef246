"""Output that no reader knows, named by the command that a shell's prompt shows above it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seeklab.bring.block import Block
from seeklab.bring.lines import command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from seeklab.bring.lines import Lines

CLEAR_PROMPT = re.compile(
    r"\s*(?:\[[^\]\s]{1,64}\s[^\]]{0,64}\]|[\w.-]{1,64}@[\w.-]{1,64}[: ]\S{0,128}|[\w.~/-]{0,64}\$)"
)
"""A prompt that is not a heading of Markdown (`# words`) or a quote (`> words`)."""
PREFIXES = frozenset(
    ("sudo", "time", "watch", "env", "nohup", "doas", "timeout", "nice", "ionice", "docker", "kubectl")
)
NAME = re.compile(r"[a-z][\w.+-]{1,40}$")
SHELL = frozenset(
    ("cd", "echo", "for", "while", "if", "done", "do", "export", "ls", "vi", "vim", "nano", "exit", "date")
)
KNOWN = frozenset(
    (
        *("arc_summary", "arcstat", "ceph", "ethtool", "fio", "gluster", "hdparm", "iostat"),
        *("iotop", "iozone", "lsblk", "lspci", "mdadm", "mount", "nfsstat", "nvme"),
        *("perf", "ping", "sar", "smartctl", "storcli", "megacli", "strace", "sysctl"),
        *("systemctl", "top", "uname", "vmstat", "zdb", "zfs", "zpool", "zpool-iostat"),
    )
)
"""Tools whose names are accepted behind a prompt that may be something else."""
MAX_OUTPUT = 400


def named(lines: Lines, begin: int, end: int) -> Iterator[Block]:
    """Yield a block for each command between two line indexes that has output, up to the next prompt."""
    at = begin
    while at < end:
        name = _name(lines[at])
        last = at + 1
        if name:
            while last < min(end, at + MAX_OUTPUT) and command(lines[last]) is None:
                last += 1
            while last > at + 1 and not lines[last - 1].strip():
                last -= 1
            if last > at + 1:
                yield Block(name, at + 1, last, notes=["no reader knows the output of this command"])
        at = last


def _name(line: str) -> str:
    text = command(line)
    if text is None:
        return ""
    words = [word for word in text.split() if "=" not in word and not word.startswith("-")]
    while len(words) > 1 and words[0] in PREFIXES:
        words = words[1:]
    if not words:
        return ""
    program = words[0].rpartition("/")[2]
    name = words[1].rpartition("/")[2] if program in ("cat", "tail", "head", "grep") and len(words) > 1 else program
    if not NAME.fullmatch(name) or program in SHELL or not (CLEAR_PROMPT.match(line) or program in KNOWN):
        return ""
    return name
