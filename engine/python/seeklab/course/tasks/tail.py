"""Notebook 19, the slowest of a hundred: its tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seeklab.course.task import Task
from seeklab.judge import Cases, Function, Mistake

if TYPE_CHECKING:
    from collections.abc import Sequence

LEAVES = (
    (10, 11, 10, 1000, 12, 10, 9, 10, 10, 11),
    (10, 10, 10, 10, 10, 10, 10, 10, 10, 10),
    (1000, 980, 10, 10, 10, 10, 10, 10, 10, 10),
)
"""The answer times of a request's leaves, in ms."""
AFTER_MS = 15
PAIRS = ((10, 10), (1000, 10), (1000, 1000), (14, 10), (20, 10), (1000, 990))
"""The durations of the first and second copy of a leaf, in ms."""


def _late(share: float, servers: int) -> float:
    return 1 - (1 - share) ** servers


def _hedged(first: float, second: float, after: float) -> float:
    return first if first <= after else min(first, after + second)


def _waits(leaves: Sequence[float], needed: int) -> float:
    return sorted(leaves)[needed - 1]


TASKS = (
    Task(
        "tail/late",
        question=(
            "Each server is late for a share of its answers, independently of the others. A user asks a number of "
            "servers and waits for all of them. Write a function of share and servers: what share of the users waits "
            "for a late answer?"
        ),
        kind=Function("a share and a number of servers"),
        check=Cases(
            _late,
            ((0.01, 10), (0.01, 100), (0.0001, 2000)),
            "With a share of {share:g} and {servers} servers",
            (
                Mistake(
                    "in-time",
                    "That is the share of users whose servers are all in time; the others wait.",
                    gives=lambda share, servers: 1 - _late(share, servers),
                ),
                Mistake(
                    "sum",
                    "A sum counts a user twice if two servers are slow. With 100 servers at 1%, not all users wait.",
                    gives=lambda share, servers: share * servers,
                ),
                Mistake(
                    "one-server",
                    "That is the share for a user who asks one server; these users ask {servers}.",
                    gives=lambda share, _: share,
                ),
                Mistake("other", "A user is in time if all servers are in time: multiply their probabilities."),
            ),
        ),
        why=(
            "An answer that is rare for one server is normal among a hundred: the probabilities of being in time are "
            "multiplied, not averaged."
        ),
        hints=(
            "When is a user in time?",
            "When all servers are in time, each with a probability of 1 - share.",
            "lambda share, servers: 1 - (1 - share) ** servers",
        ),
        answer="def late(share, servers):\n    return 1 - (1 - share) ** servers",
    ),
    Task(
        "tail/hedged",
        question=(
            "One leaf of a request sends its question to a server, which takes `first` ms. If there is no answer "
            "after `after` ms, the leaf also sends the question to a second server, which takes `second` ms from "
            "then on. Write a function of first, second and after: after how many ms does the leaf have an "
            "answer?"
        ),
        kind=Function("three numbers: first, second and after"),
        check=Cases(
            _hedged,
            [(*pair, AFTER_MS) for pair in PAIRS],
            "With first = {first}, second = {second} and after = {after} ms",
            (
                Mistake(
                    "no-delay",
                    "The second copy is sent {after} ms later than the first, so its answer comes {after} ms later.",
                    gives=lambda first, second, _: min(first, second),
                ),
                Mistake(
                    "always-hedged",
                    "The first answer had arrived before the second copy was sent.",
                    when=lambda found, _, first, second, after: first <= after and found == after + second,
                ),
                Mistake(
                    "first-dropped",
                    "The first copy continues; the leaf takes its answer if it arrives sooner.",
                    gives=lambda first, second, after: first if first <= after else after + second,
                ),
                Mistake("other", "Two answers will arrive; the leaf takes the first one."),
            ),
            unit=" ms",
            within=0,
        ),
        why="The second copy shortens only waits that are longer than `after`, and never to less than `after`.",
        hints=(
            "What happens if first is at most after?",
            "Otherwise two answers arrive, at first and at after + second.",
            "first if first <= after else min(first, after + second)",
        ),
        answer="def hedged(first, second, after):\n    return first if first <= after else min(first, after + second)",
    ),
    Task(
        "tail/waits",
        question=(
            "A request asks several servers at once; each of these questions is called a leaf. A list has the "
            "time in ms when each leaf has its answer, in the order the servers were asked. Any "
            "`needed` answers are enough, as with an erasure code, which computes missing parts from the others. "
            "Write a function of the list and needed: how long does the request wait?"
        ),
        kind=Function("a list and a number"),
        check=Cases(
            _waits,
            [(list(leaves), needed) for leaves in LEAVES for needed in (8, 9, 10)],
            "For {leaves} with {needed} needed",
            (
                Mistake(
                    "slowest",
                    "That is the slowest of all; {needed} answers arrive before it.",
                    gives=lambda leaves, _: max(leaves),
                ),
                Mistake(
                    "not-sorted",
                    "The list is in the order of asking; sort it into the order of answering.",
                    gives=lambda leaves, needed: leaves[needed - 1],
                ),
                Mistake(
                    "off-by-one",
                    "That is one too far: lists count from 0.",
                    gives=lambda leaves, needed: _waits(leaves, min(needed + 1, len(leaves))),
                ),
                Mistake("other", "The request is done when {needed} answers have arrived."),
            ),
            unit=" ms",
            within=0,
        ),
        why="One spare answer hides any one slow server, and needs no clock.",
        hints=(
            "Put the answers into order of arrival.",
            "sorted(leaves) does this; the request waits for one of them.",
            "lambda leaves, needed: sorted(leaves)[needed - 1]",
        ),
        answer="def waits(leaves, needed):\n    return sorted(leaves)[needed - 1]",
    ),
)
