"""Operations of an OSD with their steps: `ceph daemon osd.N dump_historic_ops`, `dump_ops_in_flight` and relatives.

People cut this JSON, so it is read line by line. Each operation becomes values of the subject `op N`: its time (`ms`),
and the milliseconds that passed before the steps of one kind (`queue`, `store`, `peers`, `other`). The difference
between the times of two steps belongs to the later one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING

from seeklab.bring.block import Block, Value
from seeklab.bring.numbers import number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from seeklab.bring.lines import Lines

TOOL = "ceph-ops"
STARTS = ""
HOLDS: tuple[str, ...] = ('"description": "osd_', '"flag_point"', '"type_data"')
PART = re.compile(r"\"(description|duration|flag_point|event|time)\": \"?([^\",}]{1,400})")
PEER = re.compile(r"sub_op_\w{3,12}_rec(?: from (\d{1,6}))?")
KINDS = (
    ("peers", PEER),
    ("store", re.compile(r"(?:op_commit|op_applied|commit_sent|journaled|commit_queued|write_thread|done)")),
    ("queue", re.compile(r"(?:queued_for_pg|reached_pg|dequeue|waiting for (?:rw|scrub|missing|degraded)|throttled)")),
)
CLOCK = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d{1,9})?")
MAX_LINES, MAX_OPS, MAX_DIGITS = 20_000, 400, 12


@dataclass
class _Operation:
    """An operation while its lines are read."""

    subject: str
    line: int
    ms: float | None = None
    state: str = ""
    steps: list[tuple[str, float]] = field(default_factory=list)
    """The name of each step, and its time in seconds."""
    event: str = ""
    clock: float | None = None

    def take(self, key: str, text: str) -> None:
        """Take one part of a line; the name and the time of a step come in either order."""
        if key == "duration" and not self.steps and not self.event and self.ms is None:
            seconds = number(text[:MAX_DIGITS])  # JSON prints more digits than a number has
            self.ms = None if seconds is None else 1e3 * seconds
        elif key == "flag_point":
            self.state = text
        elif key == "event":
            self.event = text
        elif key == "time":
            self.clock = _clock(text)
        if self.event and self.clock is not None:
            self.steps.append((self.event, self.clock))
            self.event, self.clock = "", None

    def values(self) -> Iterator[Value]:
        """Yield the operation's time and the times of its steps by kind."""
        if self.ms is None:
            return
        yield Value(self.subject, "ms", self.ms, "ms", self.line)
        times = dict.fromkeys((*(kind for kind, _ in KINDS), "other"), 0.0)
        for (_, before), (name, after) in pairwise(self.steps):
            kind = next((kind for kind, pattern in KINDS if pattern.match(name)), "other")
            ms = 1e3 * max(0.0, after - before)
            times[kind] += ms
            if (peer := PEER.match(name)) and peer[1] and ms > self.ms / 2:
                yield Value(self.subject, "slow peer", f"osd.{peer[1]}", line=self.line)
        if self.steps:
            yield from (Value(self.subject, kind, ms, "ms", self.line) for kind, ms in times.items())
        if self.state:
            yield Value(self.subject, "state", self.state, line=self.line)


def read(lines: Lines, at: int) -> Block | None:
    """Return the operations from `at` on."""
    found: list[_Operation] = []
    end = at
    for index in range(at, min(len(lines), at + MAX_LINES)):
        line = lines[index].strip()
        if (line and line[0] not in '"{}[]') or len(found) > MAX_OPS:
            break
        for part in PART.finditer(line):
            if part[1] == "description":
                found.append(_Operation(f"op {len(found)}", index + 1))
            elif found:
                found[-1].take(part[1], part[2].strip())
        end = index + 1 if line else end
    values = [value for operation in found for value in operation.values()]
    return Block(TOOL, at + 1, end, list(values)) if values else None


def _clock(text: str) -> float | None:
    match = CLOCK.match(text)
    try:
        whole = datetime.fromisoformat(f"{match[1]}T{match[2]}+00:00") if match else None
    except ValueError:
        return None
    return None if whole is None or match is None else whole.timestamp() + float(match[3] or 0)
