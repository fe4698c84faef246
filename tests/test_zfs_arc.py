"""Hits of the ARC against a reference written apart from the engine: plain ordered dictionaries, three generations."""

from __future__ import annotations

import random
from collections import OrderedDict

import pytest

import seeklab

BLOCK = 4096
LATER_NS = 60_000_000
ONE = 1 << 32


class Reference:
    """What a cache of `blocks` blocks of one size holds, all of them data."""

    def __init__(self, era: str, blocks: int) -> None:
        self.era = era
        self.most = blocks * BLOCK
        self.lists: dict[str, OrderedDict[int, int]] = {name: OrderedDict() for name in ("T1", "T2", "B1", "B2")}
        self.target = self.most // 2
        self.fraction = ONE // 2
        self.ghost_hits = {"B1": 0, "B2": 0}

    def bytes_of(self, *names: str) -> int:
        """Sum lists."""
        return sum(len(self.lists[name]) for name in names) * BLOCK

    def access(self, block: int, now_ns: int, done_ns: int) -> bool:
        """Read a block at a time; it arrives at another if it is missing. Whether it was there."""
        once, again = self.lists["T1"], self.lists["T2"]
        if block in once:
            if now_ns > once[block] + LATER_NS:
                del once[block]
                again[block] = now_ns
            else:
                once.move_to_end(block)
            return True
        if block in again:
            again.move_to_end(block)
            return True
        ghost = next((name for name in ("B1", "B2") if block in self.lists[name]), None)
        if ghost is not None:
            self.learn(ghost)
        self.make_room(ghost)
        for name in ("B1", "B2"):
            self.lists[name].pop(block, None)
        self.lists["T1" if ghost is None else "T2"][block] = done_ns
        if ghost is None and self.bytes_of("T1", "T2") < self.most and self.bytes_of("T1") > self.target:
            self.target = min(self.target + BLOCK, self.most)
        return False

    def learn(self, ghost: str) -> None:
        """Somebody asks for what was evicted."""
        self.ghost_hits[ghost] += BLOCK
        own, other = self.bytes_of(ghost), self.bytes_of({"B1": "B2", "B2": "B1"}[ghost])
        times = 1 if own >= other else other // own
        least = 0
        if self.era == "openzfs-2.1":
            least, times = self.most >> 4, min(times, 10)
        if ghost == "B1":
            self.target = min(self.most - least, self.target + times * BLOCK)
        else:
            self.target = max(least, self.target - min(self.target, times * BLOCK))

    def make_room(self, ghost: str | None) -> None:
        """Evict for one block."""
        is_full = self.bytes_of("T1", "T2") + BLOCK > self.most
        if is_full:
            first = self.victim(ghost)
            name = first if self.lists[first] else {"T1": "T2", "T2": "T1"}[first]
            gone, _ = self.lists[name].popitem(last=False)
            self.lists[{"T1": "B1", "T2": "B2"}[name]][gone] = 0
        if self.era == "openzfs-2.2":
            if is_full:
                self.trim("B1", self.bytes_of("T2") // 2)
                self.trim("B2", self.bytes_of("T1") // 2)
        elif is_full or self.era == "zfs-2010":
            self.trim("B1", max(0, self.most - self.bytes_of("T1")))
            self.trim("B2", max(0, self.most - self.bytes_of("B1")))

    def victim(self, ghost: str | None) -> str:
        """Say which list has to give."""
        once, again = self.bytes_of("T1"), self.bytes_of("T2")
        if self.era == "openzfs-2.2":
            self.move_fraction()
            return "T1" if once > ((once + again - BLOCK) * self.fraction) >> 32 else "T2"
        if self.era == "openzfs-2.1":
            comes_once = 0 if ghost == "B2" else BLOCK
            return "T1" if once + comes_once > self.target else "T2"
        if ghost == "B2":
            return "T1" if once > 0 and self.most - self.target > again else "T2"
        return "T2" if again > 0 and self.target > once else "T1"

    def move_fraction(self) -> None:
        """Let the ghost hits since the last eviction move the fraction."""
        up, down = self.ghost_hits["B1"], self.ghost_hits["B2"]
        self.ghost_hits = {"B1": 0, "B2": 0}
        total = self.bytes_of("B1", "B2")
        if total < 32 or up + down == 0:
            return
        if up + down >= total // 16:
            scale = (up + down) // (total // 32)
            up, down = up // scale, down // scale
        rest = ONE - self.fraction
        if self.fraction >= 4 * rest:
            up //= self.fraction // (2 * rest + 1)
        if rest >= 4 * self.fraction:
            down //= rest // (2 * self.fraction + 1)
        self.fraction = min(ONE, max(0, self.fraction + (up << 32) // total - (down << 32) // total))

    def trim(self, name: str, most: int) -> None:
        """Forget the oldest ghosts beyond so many bytes."""
        while self.bytes_of(name) > most:
            self.lists[name].popitem(last=False)


def drawn(seed: int, blocks: int) -> list[int]:
    """Draw reads: a skewed set, scans, loops a little larger than the cache, and bursts."""
    source = random.Random(seed)
    reads: list[int] = []
    while len(reads) < 6000:
        kind, length = source.randrange(4), source.randint(20, 300)
        if kind == 0:
            reads += [int(source.paretovariate(0.7)) % (4 * blocks) for _ in range(length)]
        elif kind == 1:
            start = source.randrange(50_000)
            reads += list(range(start, start + length))
        elif kind == 2:
            loop, start = source.randint(blocks // 2, 2 * blocks), source.randrange(3) * 10_000
            reads += [start + step % loop for step in range(length)]
        else:
            reads += [source.randrange(2 * blocks)] * source.randint(2, 5)
    return reads


@pytest.mark.parametrize("era", ["zfs-2010", "openzfs-2.1", "openzfs-2.2"])
@pytest.mark.parametrize(("seed", "blocks"), [(1, 64), (2, 200), (3, 33)])
def test_every_read_hits_or_misses_as_in_the_reference(era: str, seed: int, blocks: int) -> None:
    reads = drawn(seed, blocks)
    trace = "fio version 2 iolog\ndata add\ndata open\n" + "".join(f"data read {b * BLOCK} {BLOCK}\n" for b in reads)
    system = {
        "zfs": {"era": era, "record": BLOCK, "arc": {"size": blocks * BLOCK}, "copy_rate": 1_000_000_000_000},
        "devices": [{"lun": {"capacity": "1GiB", "rate": "100MB", "latency": "4ms"}}],
        "jobs": [{"name": "bystander", "size": "4KiB", "bs": "4KiB", "number_ios": 1, "startdelay": "3600s"}],
    }
    ops = seeklab.replay(trace, on=system, mode="fast", iodepth=1).ops
    rows = [row for row in ops.rows() if row["job"] != 0]
    assert [row["offset"] // BLOCK for row in rows] == reads
    reference = Reference(era, blocks)
    expected = [
        reference.access(row["offset"] // BLOCK, row["submit_ns"], row["submit_ns"] + row["latency_ns"]) for row in rows
    ]
    found = [row["cached_bytes"] > 0 for row in rows]
    assert found == expected
    assert 0.1 < sum(found) / len(found) < 0.95
    assert reference.lists["T2"]
    assert reference.lists["B1"] or reference.lists["B2"]
