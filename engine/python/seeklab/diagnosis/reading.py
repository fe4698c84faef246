"""A reading: one thing that a report says, as a sentence with its calculation, and the numbers that rules use."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class Strength(IntEnum):
    """The kinds of readings, strongest first."""

    WORDS = 0
    """The report states it."""
    IMPOSSIBLE = 1
    """Something hangs, or the numbers contradict each other."""
    RESOURCE = 2
    """Rate, time and concurrency of one resource."""
    PEERS = 3
    """Devices compared with each other."""
    ROUND = 4
    """A limit that shows in a round number."""
    LAYERS = 5
    """An upper layer compared with a lower one."""
    CONTEXT = 6
    """Data that were not recorded, or that the report cannot show."""


@dataclass(frozen=True)
class Reading:
    """One thing that a report says."""

    id: str
    subject: str
    sentence: str
    sum: str = ""
    """The calculation behind the sentence, such as `74/s x 13.4 ms = 0.99`."""
    strength: Strength = Strength.RESOURCE
    values: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    """Numbers for the rules, with units in their names."""

    def document(self) -> dict[str, str]:
        """Return the reading as JSON."""
        return {"id": self.id, "subject": self.subject, "sentence": self.sentence, "sum": self.sum}


def count(value: float) -> str:
    """Return a number with at most three significant digits: 0.99, 13.4, 1,240."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def time(ms: float) -> str:
    """Return a time with its unit: 140 us, 13.4 ms, 1.6 s."""
    if ms >= 1000:
        return f"{count(ms / 1000)} s"
    return f"{count(ms)} ms" if ms >= 1 else f"{count(1000 * ms)} us"


def size(value: float) -> str:
    """Return a size in binary units: 5.9 KiB, 1.2 MiB."""
    for unit, name in ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if value >= unit:
            return f"{count(value / unit)} {name}"
    return f"{count(value)} B"


def rate(value: float) -> str:
    """Return a rate in decimal units, as drives and networks are sold: 20.5 MB/s."""
    for unit, name in ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s")):
        if value >= unit:
            return f"{count(value / unit)} {name}"
    return f"{count(value)} B/s"
