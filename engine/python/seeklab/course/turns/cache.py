"""Notebook 03, what a cache keeps: what the learner writes."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any

from seeklab import workloads
from seeklab._traces import cache as replay
from seeklab.course.tasks import Task
from seeklab.decisions.eviction import play_cache

if TYPE_CHECKING:
    from collections.abc import Sequence

LOOP = 260
REQUESTS = 10_000
CACHE = 600
METHODS = ("hit", "admitted", "evicted", "evict")
"""What a policy in Python has."""
POLICIES = ("lru", "arc", "sieve", "s3-fifo")
SMALL = 100
BETTER = 1.06


@cache
def report() -> tuple[int, ...]:
    """Give the requests of the hourly report: the same objects in the same order, again and again."""
    return tuple(workloads.loop(REQUESTS, LOOP))


@cache
def users() -> tuple[int, ...]:
    """Give the users' requests: few popular objects, many that are asked for seldom."""
    return tuple(workloads.zipf(20_000, 1000))


@cache
def with_backup() -> tuple[int, ...]:
    """Give the users' requests with a backup among them, twelve times."""
    return tuple(workloads.interrupted(users(), 12, 800))


@cache
def hits(names: Sequence[int], policy: str, size: int) -> int:
    """Count the hits of a policy of the engine."""
    (row,) = replay(workloads.text(names), [policy], [size], objects=True)
    return int(row["hits"])


def _gaps_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    found = Counter({int(gap): int(count) for gap, count in dict(answer).items()})
    truth = Counter({LOOP: REQUESTS - LOOP})
    if found == truth:
        return None
    if found == Counter({LOOP - 1: REQUESTS - LOOP}):
        return f"You counted the requests between the two. Take the difference of their numbers: {LOOP}."
    if sum(found.values()) > sum(truth.values()):
        return (
            f"You have {sum(found.values()):,} gaps and there are {sum(truth.values()):,}: the first request for an "
            "object has no gap."
        )
    if len(found) > 1:
        return (
            f"You found {len(found):,} different gaps. Remember the *last* request for an object: after each request "
            "write its number down anew."
        )
    return f"There are {sum(truth.values()):,} gaps, all of one length; you have {dict(found)}."


def _share_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    found = {str(policy): float(value) for policy, value in dict(answer).items()}
    missing = [policy for policy in POLICIES if policy not in found]
    if missing:
        return f"Missing among your keys: {', '.join(missing)}."
    for policy in POLICIES:
        counted = hits(with_backup(), policy, CACHE)
        truth = 100 * counted / len(users())
        given = found[policy]
        if abs(given - truth) <= 0.01 * truth:
            continue
        if abs(given - 100 * counted / len(with_backup())) <= 0.01 * truth:
            return (
                f"{policy}: {given:.1f} % is what the dashboard shows, hits over all requests. The backup's requests "
                "can never hit and nobody waits for them: divide by the users' requests."
            )
        if abs(given - truth / 100) <= 0.0001 * truth:
            return f"{policy}: you give {given:.3f}; wanted are percent."
        return f"{policy}: you give {given:.1f} %; {counted:,} of the users' {len(users()):,} requests hit."
    return None


def _policy_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a class (its name, without brackets); this is {type(answer).__name__}."
    lacking = [name for name in METHODS if not callable(getattr(answer(), name, None))]
    if lacking:
        return f"Your class has no method {lacking[0]}; it needs {', '.join(METHODS)}."
    trace = tuple(workloads.interrupted(workloads.zipf(2400, 500, seed=7), 4, 300))
    try:
        own = play_cache(workloads.text(trace), answer(), SMALL, objects=True)["hits"]
    except Exception as error:  # noqa: BLE001 -- a learner's code may raise anything
        return f"The engine played it and stopped: {type(error).__name__}: {error}"
    lru, fifo = hits(trace, "lru", SMALL), hits(trace, "fifo", SMALL)
    if own >= BETTER * lru:
        return None
    said = f"{own:,} hits; LRU has {lru:,} on the same requests, and wanted are {BETTER:g} times as many."
    if own == lru:
        reason = "Yours *is* LRU. A scan's objects are always the most recently used: what tells them from the rest?"
    elif own == fifo:
        reason = "As many as first-in first-out: does anything in evict() depend on what was used?"
    else:
        reason = "Objects that were asked for once should leave before those that were asked for twice."
    return f"{said} {reason}"


TASKS = {
    "cache/gaps": Task(
        question=(
            "report() gives the objects that the report asks for, request by request; each object is a number. For "
            "each request for an object that was asked for before, how many requests ago was that? Count how often "
            "each such gap occurs."
        ),
        wants="a dictionary or a Counter: a gap, and how often it occurs",
        wrong=_gaps_wrong,
        why="The gap is always the same, and larger than the cache: LRU's worst case, on every request.",
        hints=(
            "enumerate(report()) gives the number of each request with its object.",
            "Keep a dictionary: object, and the number of the last request for it.",
            "If the object is in it, count the difference. Then, in any case, write the new number down.",
        ),
        answer=(
            "gaps, last = Counter(), {}\n"
            "for number, name in enumerate(report()):\n"
            "    if name in last:\n"
            "        gaps[number - last[name]] += 1\n"
            "    last[name] = number"
        ),
    ),
    "cache/users": Task(
        question=(
            f"hits(with_backup(), 'lru', {CACHE}) counts LRU's hits in the requests of the users and the backup "
            "together; users() are the users' requests alone. What percentage of the users' requests are hits while "
            "the backup comes by, with lru, arc, sieve and s3-fifo?"
        ),
        wants="a dictionary: lru, arc, sieve and s3-fifo, and the percent of each",
        wrong=_share_wrong,
        why="Three of the four hardly notice the backup.",
        hints=(
            "An object that is read once never hits, so all hits are the users'.",
            "Divide by len(users()), not by len(with_backup()).",
            "A dictionary comprehension over the four names.",
        ),
        answer=(
            "served = {policy: 100 * hits(with_backup(), policy, 600) / len(users())\n"
            '          for policy in ("lru", "arc", "sieve", "s3-fifo")}'
        ),
    ),
    "cache/policy": Task(
        question=(
            f"Write a policy that has {100 * BETTER - 100:.0f} % more hits than LRU where a backup comes by: {SMALL} "
            "objects fit, and users ask for 500. Begin with Fifo above, and give objects that were asked for again an "
            "advantage."
        ),
        wants="a class with the methods hit, admitted, evicted and evict",
        wrong=_policy_wrong,
        why="A place on probation for newcomers is what ARC, S3-FIFO and many databases have in common.",
        hints=(
            "Keep two dictionaries: objects that came in and were not used since, and objects that were used again.",
            "hit() moves an object to the second one (to its end, so that it is in the order of use).",
            "evict() takes the oldest of the first, unless it holds less than about a fifth of the cache.",
        ),
        answer=(
            "class Mine:\n"
            "    def __init__(self):\n"
            "        self.once, self.again = {}, {}\n"
            "\n"
            "    def admitted(self, key, size):\n"
            "        self.once[key] = None\n"
            "\n"
            "    def hit(self, key):\n"
            "        self.evicted(key)\n"
            "        self.again[key] = None\n"
            "\n"
            "    def evicted(self, key):\n"
            "        self.once.pop(key, None)\n"
            "        self.again.pop(key, None)\n"
            "\n"
            "    def evict(self, incoming):\n"
            "        return next(iter(self.once if len(self.once) > 20 or not self.again else self.again))"
        ),
    ),
}
