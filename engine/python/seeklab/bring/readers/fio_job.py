"""fio's job files, which people paste with its output: the options of each section, those of `[global]` included."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seeklab.bring.block import Block, Value

if TYPE_CHECKING:
    from seeklab.bring.lines import Lines

TOOL = "fio-job"
STARTS = r"\[[\w][\w .-]{0,63}\]$"
HOLDS: tuple[str, ...] = ()
SECTION = re.compile(r"\[([\w][\w .-]{0,63})\]$")
OPTION = re.compile(r"([a-z][a-z_0-9]{1,31})(?:\s?=\s?(\S.{0,120}))?$")
KNOWN = frozenset(
    ("rw", "readwrite", "ioengine", "bs", "blocksize", "iodepth", "size", "filename", "numjobs", "direct")
)
MAX_LINES = 400
MAX_UNKNOWN = 20
"""Lines without a known option after which a section belongs to another format."""


def read(lines: Lines, at: int) -> Block | None:
    """Return the job file that starts with the section at `at`."""
    shared: dict[str, str] = {}
    sections: dict[str, dict[str, str]] = {}
    current: dict[str, str] | None = None
    end = at
    is_known = False
    for index in range(at, min(len(lines), at + MAX_LINES)):
        if not is_known and index - at > MAX_UNKNOWN:
            return None
        line = lines[index].strip()
        if section := SECTION.match(line):
            current = shared if section[1] == "global" else sections.setdefault(section[1], {})
        elif option := OPTION.match(line):
            is_known |= option[1] in KNOWN
            if current is not None:
                current[{"readwrite": "rw", "blocksize": "bs"}.get(option[1], option[1])] = option[2] or "1"
        elif line and not line.startswith(("#", ";")):
            break
        if line:
            end = index + 1
    if not is_known:
        return None
    values = [
        Value(name, option, value, line=at + 1)
        for name, options in sections.items()
        for option, value in {**shared, **options}.items()
    ]
    return Block(TOOL, at + 1, end, list(values)) if values else None
