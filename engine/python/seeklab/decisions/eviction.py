"""Your own eviction policy: the replay of a trace pauses at each eviction, and asks which object leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from seeklab.data.error_location import LocatedTrace
from seeklab.data.files import MAX_LINE_BYTES, Kind
from seeklab.decisions import ASKS, STEPS_AT_ONCE, ask, refuse, whole
from seeklab.engine.host import engine

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from os import PathLike

    from seeklab.engine.protocol import RunHandle

HIT, ADMITTED, EVICTED = 0, 1, 2
LINES = Kind("a trace of time,object,size lines", longest_line=MAX_LINE_BYTES)


class EvictionPolicy(Protocol):
    """The methods of a policy: three notifications and one question."""

    def hit(self, key: int) -> None:
        """Record that the object was in the cache."""

    def admitted(self, key: int, size: int) -> None:
        """Record that the object entered the cache."""

    def evicted(self, key: int) -> None:
        """Record that the object left the cache."""

    def evict(self, incoming: int) -> int:
        """Return an object in the cache that leaves to make room for `incoming`."""


def _events(run: RunHandle, question: Mapping[str, Any]) -> Iterable[Sequence[float]]:
    """Return the events since the last question; a short list is part of the question itself."""
    told: list[list[int]] | None = question["told"]
    if told is not None:
        return told
    count = question["events"]
    return zip(
        run.column("events.kind", "I", count),
        run.column("events.key", "d", count),
        run.column("events.size", "d", count),
        strict=True,
    )


def play_cache(
    trace: str | PathLike[str], policy: EvictionPolicy, size: int | str, *, objects: bool = False
) -> dict[str, int]:
    r"""Replay a trace with your own policy; return requests, hits, bytes, hit_bytes.

    `trace` is a file of `time,object,size` lines whose objects are numbers, or the text of one (with line breaks).
    `size` is the cache's, in bytes or, with `objects`, in objects.

    >>> class Newest(list):
    ...     def admitted(self, key, size):
    ...         self.append(key)
    ...     def hit(self, key): ...
    ...     def evicted(self, key):
    ...         self.remove(key)
    ...     def evict(self, incoming):
    ...         return self[-1]
    >>> trace = "".join(f"{time},{key},1\n" for time, key in enumerate([1, 2, 3, 1, 2, 3]))
    >>> seeklab.play_cache(trace, Newest(), 2, objects=True)["hits"]
    1

    Raises:
        SeeklabError: If an answer does not name an object in the cache.
    """
    located = LocatedTrace(trace, LINES)
    with located.named():
        run = engine().open_run({"cache": {"trace": located.text, "size": size, "objects": objects}})
    try:
        while True:
            progress = run.step(STEPS_AT_ONCE)
            question = run.question()
            for kind, key, bytes_ in _events(run, question):
                if kind == HIT:
                    policy.hit(int(key))
                elif kind == ADMITTED:
                    policy.admitted(int(key), int(bytes_))
                else:
                    policy.evicted(int(key))
            if progress == 1:
                summary: dict[str, int] = run.summary()
                return summary
            if progress == ASKS:
                run.answer({"key": _evicted(policy, question)})
    finally:
        run.close()


def _evicted(policy: EvictionPolicy, question: Mapping[str, Any]) -> int:
    place = f"request {question['request']} of the trace"
    chosen = ask("eviction policy", place, policy.evict, question["key"])
    number = whole(chosen)
    if number is None:
        refuse("evict", chosen, place, "the number of an object in the cache")
    return number
