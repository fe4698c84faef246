"""A cache policy in Python, for the tests that replay one."""

from __future__ import annotations

from collections import OrderedDict


class Lru:
    """Least recently used, as a learner would write it."""

    def __init__(self) -> None:
        self.order: OrderedDict[int, None] = OrderedDict()

    def hit(self, key: int) -> None:
        self.order.move_to_end(key)

    def admitted(self, key: int, size: int) -> None:
        del size
        self.order[key] = None

    def evicted(self, key: int) -> None:
        del self.order[key]

    def evict(self, incoming: int) -> int:
        del incoming
        return next(iter(self.order))
