"""A line of settings that a user wrote above a measurement: `encryption=aes-256-ccm compression=off`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seeklab.bring.block import Block, Value

if TYPE_CHECKING:
    from seeklab.bring.lines import Lines

TOOL = "settings"
STARTS = r"(?:encryption|compression|recordsize|volblocksize|sync|checksum|dedup|logbias|primarycache|atime)=\S+"
HOLDS: tuple[str, ...] = ()
SETTING = re.compile(r"(\w{2,24})=(\S{1,40})")


def read(lines: Lines, at: int) -> Block | None:
    """Return the settings of a line that has nothing else."""
    words = lines[at].split()
    pairs = [SETTING.fullmatch(word) for word in words]
    if not all(pairs):
        return None
    found = [Value("measurement", pair[1], pair[2], line=at + 1) for pair in pairs if pair]
    return Block(TOOL, at + 1, at + 1, list(found))
