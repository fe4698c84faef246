"""The runs behind the items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seeklab._case import case
from seeklab._traces import cache

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MIB = 1 << 20
MS = 1_000_000
"""Nanoseconds in a millisecond."""


def metric(name: str, of: str, variant: str, changes: Mapping[str, object] | None = None) -> float:
    """Return one metric of a run of a case, without its operation log."""
    changed = {"record.log": False, **(changes or {})}
    return float(case(of).with_(changed).run(variant).metrics[name])


def ratio(
    name: str, of: str, after: tuple[str, Mapping[str, object]], before: tuple[str, Mapping[str, object]]
) -> float:
    """Return a metric of one run divided by that of another; each is a variant with changes."""
    return metric(name, of, *after) / metric(name, of, *before)


def lru_hits(reads: Iterable[int], blocks: int) -> int:
    """Return the hits of reads of numbered blocks in an LRU cache of this many blocks."""
    trace = "time,object,size\n" + "".join(f"{nth},{block},1\n" for nth, block in enumerate(reads))
    (row,) = cache(trace, ["lru"], [blocks], objects=True)
    return int(row["hits"])
