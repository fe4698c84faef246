"""Notebook 03, what a cache keeps: its tasks."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from seeklab import workloads
from seeklab._traces import cache as replay
from seeklab.course.task import Task
from seeklab.decisions.eviction import play_cache
from seeklab.judge import ANSWER, Code, Counts, Evidence, Fields, Mistake, Number, Value, diagnose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seeklab.judge import Asked

LOOP = 260
REQUESTS = 10_000
CACHE = 600
METHODS = ("hit", "admitted", "evicted", "evict")
"""The methods of a policy in Python."""
POLICIES = ("lru", "arc", "sieve", "s3-fifo")
SMALL = 100
BETTER = 1.06


@cache
def report() -> tuple[int, ...]:
    """Return the requests of the hourly report: the same objects in the same order, repeatedly."""
    return tuple(workloads.loop(REQUESTS, LOOP))


@cache
def users() -> tuple[int, ...]:
    """Return the users' requests: a few popular objects, and many that are rarely requested."""
    return tuple(workloads.zipf(20_000, 1000))


@cache
def with_backup() -> tuple[int, ...]:
    """Return the users' requests, interrupted by a backup twelve times."""
    return tuple(workloads.interrupted(users(), 12, 800))


@cache
def hits(names: Sequence[int], policy: str, size: int) -> int:
    """Count the hits of one of the engine's policies."""
    (row,) = replay(workloads.text(names), [policy], [size], objects=True)
    return int(row["hits"])


def _gaps(difference: int = LOOP) -> dict[int, int]:
    return {difference: REQUESTS - LOOP}


def _percent(requests: int) -> dict[str, float]:
    return {policy: 100 * hits(with_backup(), policy, CACHE) / requests for policy in POLICIES}


def _policy(asked: Asked) -> list[Evidence]:
    trace = tuple(workloads.interrupted(workloads.zipf(2400, 500, seed=7), 4, 300))
    with asked.play(ANSWER) as policy:
        found = play_cache(workloads.text(trace), policy, SMALL, objects=True)["hits"]
    lru, fifo = hits(trace, "lru", SMALL), hits(trace, "fifo", SMALL)
    bound = f">= {BETTER * lru:,.0f}, {BETTER:g} times those of LRU ({lru:,})"
    mistakes = (
        Mistake(
            "is-lru",
            "Your policy *is* LRU. A scan's objects are always the most recently used. How do they differ from the "
            "others?",
            gives=lru,
        ),
        Mistake(
            "is-fifo",
            ("FIFO has as many hits. Does anything in evict() depend on the objects that were used?"),
            gives=fifo,
        ),
        Mistake("no-probation", "Evict objects that were requested once before those that were requested twice."),
    )
    return [Evidence("hits", found, bound, found >= BETTER * lru).because(diagnose(mistakes, found))]


TASKS = (
    Task(
        "cache/gaps",
        question=(
            "report() returns the objects that the report requests, in order; each object is a number. For each "
            "request for an object that was requested before, how many requests ago was that? Count how often "
            "each gap occurs. Assign a dictionary with the gaps as keys and the counts as values."
        ),
        kind=Counts(Number(whole=True), "a gap, and how often it occurs"),
        check=Value(
            _gaps,
            (
                Mistake(
                    "between",
                    f"You counted the requests between the two. Take the difference of their numbers: {LOOP}.",
                    gives=_gaps(LOOP - 1),
                ),
                Mistake(
                    "first-request",
                    "Your counts add up to {match:,}, which is too many. The first request for an object has no gap.",
                    when=lambda found, truth: sum(found.values()) > sum(truth.values()) and sum(found.values()),
                ),
                Mistake(
                    "not-the-last",
                    "You found {match:,} different gaps. Remember the *last* request for an object: store its number "
                    "after each request.",
                    when=lambda found, _: len(found) > 1 and len(found),
                ),
                Mistake(
                    "other",
                    "A request for an object seen before has one gap: subtract the number of the last such request.",
                ),
            ),
            whole=True,
        ),
        why="The gap is always the same, and larger than the cache: LRU's worst case, on every request.",
        hints=(
            "enumerate(report()) yields the number of each request with its object.",
            "Keep a dictionary of the number of the last request for each object.",
            "If the object is in it, count the difference. Then store the new number in any case.",
        ),
        answer=(
            "gaps, last = Counter(), {}\n"
            "for number, name in enumerate(report()):\n"
            "    if name in last:\n"
            "        gaps[number - last[name]] += 1\n"
            "    last[name] = number"
        ),
    ),
    Task(
        "cache/users",
        question=(
            f"hits(with_backup(), 'lru', {CACHE}) counts LRU's hits in the requests of the users and the backup "
            "together; users() returns the users' requests alone. What percentage of the users' requests are hits "
            "while the backup runs, with lru, arc, sieve and s3-fifo?"
        ),
        kind=Fields(dict.fromkeys(POLICIES, Number())),
        check=Value(
            lambda: _percent(len(users())),
            (
                Mistake(
                    "all-requests",
                    "That is what the dashboard shows: hits over all requests. The backup's requests can never "
                    "hit, and no user waits for them. Divide by the users' requests.",
                    gives=lambda: _percent(len(with_backup())),
                ),
                Mistake("fraction", "Multiply by 100 for percent.", times=0.01),
                Mistake("other", "Divide the hits of each policy by the users' {users:,} requests."),
            ),
            unit="%",
            facts=lambda: {"users": len(users())},
        ),
        why="Three of the four hardly notice the backup.",
        hints=(
            "An object that is read once never hits, so all hits belong to the users.",
            "Divide by len(users()), not by len(with_backup()).",
            "A dictionary comprehension over the four names.",
        ),
        answer=(
            "served = {policy: 100 * hits(with_backup(), policy, 600) / len(users())\n"
            '          for policy in ("lru", "arc", "sieve", "s3-fifo")}'
        ),
    ),
    Task(
        "cache/policy",
        question=(
            f"Write a policy that has {100 * BETTER - 100:.0f}% more hits than LRU while a backup runs: {SMALL} "
            "objects fit, and users request 500. Start from Fifo above, and favor objects that were requested "
            "again."
        ),
        kind=Code(made=True, methods=METHODS),
        check=_policy,
        why="ARC, S3-FIFO and many databases all keep newcomers on probation.",
        hints=(
            "Keep two dictionaries: objects that have not been used since they were admitted, and objects that have.",
            "hit() moves an object to the end of the second one, so that it is in the order of use.",
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
)
