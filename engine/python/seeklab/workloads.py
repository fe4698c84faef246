"""Made-up sequences of requests for caches, each with one trait that a policy may or may not cope with.

Every function gives object numbers in the order in which they are asked for; `text` writes them as a trace of
`time,object,size` lines that `seeklab.cache` and `seeklab.play_cache` take. The same seed gives the same sequence on
every host.
"""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def zipf(requests: int, objects: int, *, skew: float = 0.9, seed: int = 1) -> list[int]:
    """Draw from `objects` by Zipf's law: the nth most popular is asked for in proportion to 1 / n**skew."""
    source = random.Random(f"zipf {seed}")
    names = list(range(objects))
    source.shuffle(names)
    weights = list(itertools.accumulate(1 / rank**skew for rank in range(1, objects + 1)))
    return source.choices(names, cum_weights=weights, k=requests)


def loop(requests: int, objects: int) -> list[int]:
    """Go round and round over `objects`, in order."""
    return [number % objects for number in range(requests)]


def scan(requests: int, first: int = 0) -> list[int]:
    """Ask for each object once and never again."""
    return list(range(first, first + requests))


def shifting(requests: int, objects: int, *, shifts: int = 4, skew: float = 0.9, seed: int = 1) -> list[int]:
    """Draw by Zipf's law, and change which objects are popular `shifts` times."""
    parts = shifts + 1
    lengths = [requests * (part + 1) // parts - requests * part // parts for part in range(parts)]
    drawn = (zipf(length, objects, skew=skew, seed=seed * parts + part) for part, length in enumerate(lengths))
    return list(itertools.chain.from_iterable(drawn))


def interrupted(popular: Sequence[int], scans: int, length: int) -> list[int]:
    """Interrupt a sequence `scans` times, evenly, by `length` objects that nobody asks for again."""
    fresh = itertools.count(max(popular, default=0) + 1)
    every = len(popular) // (scans + 1)
    mixed: list[int] = []
    for number, name in enumerate(popular):
        if number and number % every == 0 and number // every <= scans:
            mixed += itertools.islice(fresh, length)
        mixed.append(name)
    return mixed


def text(names: Iterable[int]) -> str:
    """Write a sequence as a trace, one request in each unit of time, every object of size 1."""
    return "time,object,size\n" + "".join(f"{time},{name},1\n" for time, name in enumerate(names))
