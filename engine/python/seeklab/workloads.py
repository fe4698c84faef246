"""Synthetic request sequences for caches, each with one property that challenges a policy.

Every function returns object numbers in the order of their requests. `text` writes them as a trace of
`time,object,size` lines for `seeklab.cache` and `seeklab.play_cache`. A seed always results in the same sequence, on
every host.
"""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def zipf(requests: int, objects: int, *, skew: float = 0.9, seed: int = 1) -> list[int]:
    """Draw from `objects` by Zipf's law: the nth most popular is requested in proportion to 1 / n**skew."""
    source = random.Random(f"zipf {seed}")
    names = list(range(objects))
    source.shuffle(names)
    weights = list(itertools.accumulate(1 / rank**skew for rank in range(1, objects + 1)))
    return source.choices(names, cum_weights=weights, k=requests)


def loop(requests: int, objects: int) -> list[int]:
    """Request `objects` in order, again and again."""
    return [number % objects for number in range(requests)]


def scan(requests: int, first: int = 0) -> list[int]:
    """Request each object exactly once."""
    return list(range(first, first + requests))


def shifting(requests: int, objects: int, *, shifts: int = 4, skew: float = 0.9, seed: int = 1) -> list[int]:
    """Draw by Zipf's law, and change the popular objects `shifts` times."""
    parts = shifts + 1
    lengths = [requests * (part + 1) // parts - requests * part // parts for part in range(parts)]
    drawn = (zipf(length, objects, skew=skew, seed=seed * parts + part) for part, length in enumerate(lengths))
    return list(itertools.chain.from_iterable(drawn))


def interrupted(popular: Sequence[int], scans: int, length: int) -> list[int]:
    """Interrupt a sequence `scans` times, at even distances, by `length` objects that are requested only once."""
    fresh = itertools.count(max(popular, default=0) + 1)
    every = len(popular) // (scans + 1)
    mixed: list[int] = []
    for number, name in enumerate(popular):
        if number and number % every == 0 and number // every <= scans:
            mixed += itertools.islice(fresh, length)
        mixed.append(name)
    return mixed


def renamed(names: Sequence[int], *, seed: int = 1) -> list[int]:
    """Give every object of a sequence another number at random, so that numbers tell nothing about their requests."""
    known = list(dict.fromkeys(names))
    numbers = list(range(len(known)))
    random.Random(f"renamed {seed}").shuffle(numbers)
    new = dict(zip(known, numbers, strict=True))
    return [new[name] for name in names]


def text(names: Iterable[int]) -> str:
    """Return a sequence as a trace, with one request per unit of time, and size 1 for every object."""
    return "time,object,size\n" + "".join(f"{time},{name},1\n" for time, name in enumerate(names))
