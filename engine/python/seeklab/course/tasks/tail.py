"""Notebook 19, the slowest of a hundred: what the learner writes."""

from __future__ import annotations

from typing import Any

from seeklab.course.task import UnconvertedTask as Task

NEAR = 0.005
FANOUTS = ((0.01, 10), (0.01, 100), (0.0001, 2000))
"""Share of slow answers of one server, and how many servers are asked."""
LEAVES = (
    (10, 11, 10, 1000, 12, 10, 9, 10, 10, 11),
    (10, 10, 10, 10, 10, 10, 10, 10, 10, 10),
    (1000, 980, 10, 10, 10, 10, 10, 10, 10, 10),
)
"""Answers to the leaves of a request, in ms."""
AFTER_MS = 15
PAIRS = ((10, 10), (1000, 10), (1000, 1000), (14, 10), (20, 10), (1000, 990))
"""What the first and the second copy of a leaf take, in ms."""


def _late_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of a share and a number of servers; this is {type(answer).__name__}."
    for share, servers in FANOUTS:
        found, truth = float(answer(share, servers)), 1 - (1 - share) ** servers
        if abs(found - truth) <= NEAR:
            continue
        told = f"With {share:g} and {servers} servers it gives {found:.4g}."
        if abs(found - (1 - share) ** servers) <= NEAR:
            return f"{told} That is the share of users for whom all servers are in time; the others wait."
        if abs(found - share * servers) <= NEAR or abs(found - min(1, share * servers)) <= NEAR:
            return (
                f"{told} A sum counts a user twice for whom two servers are slow. With 100 servers at 1 % not all wait."
            )
        if abs(found - share) <= NEAR:
            return f"{told} So many wait who ask one server; these ask {servers}."
        return f"{told} A user is in time when all servers are: multiply their chances."
    return None


def _waits_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of a list and a number; this is {type(answer).__name__}."
    for leaves in LEAVES:
        for needed in (10, 9, 8):
            found, truth = answer(list(leaves), needed), sorted(leaves)[needed - 1]
            if found == truth:
                continue
            told = f"Of {list(leaves)} with {needed} needed it gives {found!r}."
            if found == max(leaves):
                return f"{told} That is the slowest of all; {needed} answers are there before."
            if found == leaves[needed - 1]:
                return f"{told} The list is in the order of asking; put it into the order of answering."
            if needed < len(leaves) and found == sorted(leaves)[needed]:
                return f"{told} One too far: lists count from 0."
            return f"{told} The request is done when the {needed}th answer has come."
    return None


def _hedged_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of three numbers; this is {type(answer).__name__}."
    for first, second in PAIRS:
        found, truth = answer(first, second, AFTER_MS), _hedged(first, second, AFTER_MS)
        if found == truth:
            continue
        told = f"A first copy of {first} ms, a second of {second}, asked after {AFTER_MS}: it gives {found!r}."
        if found == min(first, second):
            return (
                f"{told} The second copy is sent {AFTER_MS} ms later than the first, so its answer comes as much later."
            )
        if first <= AFTER_MS and found == AFTER_MS + second:
            return f"{told} The first answer was there before a second copy was sent."
        if found == AFTER_MS + second:
            return f"{told} The first copy goes on; its answer is taken when it comes sooner."
        return f"{told} Two answers are under way; the leaf takes the one that is there first."
    return None


def _hedged(first: float, second: float, after: float) -> float:
    return first if first <= after else min(first, after + second)


TASKS = {
    "tail/late": Task(
        question=(
            "Each server is late for a share of its answers, independent of the others. A user asks a number of "
            "servers and waits for all. Write a function of share and servers: which share of the users waits for a "
            "late answer?"
        ),
        wants="a function of two numbers that gives a share, 0 to 1",
        wrong=_late_wrong,
        why="What is rare for one is the rule for a hundred: the chance of being in time is multiplied, not averaged.",
        hints=(
            "When is a user in time?",
            "When all servers are, each with a chance of 1 - share.",
            "lambda share, servers: 1 - (1 - share) ** servers",
        ),
        answer="def late(share, servers):\n    return 1 - (1 - share) ** servers",
    ),
    "tail/hedged": Task(
        question=(
            "One leaf of a request has sent its question to a server, which will take `first` ms. If there is no "
            "answer after `after` ms, the question goes to a second server as well, which will take `second` ms from "
            "then on. Write a function of first, second and after: after how many ms does the leaf have an answer?"
        ),
        wants="a function of three numbers that gives ms",
        wrong=_hedged_wrong,
        why="The second copy can only shorten what is longer than `after`, and never below it.",
        hints=(
            "What happens when first is at most after?",
            "Otherwise two answers come, at first and at after + second.",
            "first if first <= after else min(first, after + second)",
        ),
        answer="def hedged(first, second, after):\n    return first if first <= after else min(first, after + second)",
    ),
    "tail/waits": Task(
        question=(
            "A request asks several servers at once; each of these questions is called a leaf. A list says after how "
            "many ms each leaf has its answer, in the order in which the servers were asked. Any `needed` answers "
            "are enough, as with an erasure code, which computes missing parts from the others. Write a function of "
            "the list and needed: how long does the request wait?"
        ),
        wants="a function of a list and a number that gives ms",
        wrong=_waits_wrong,
        why="One spare answer hides one slow server, whichever it is, and needs no clock.",
        hints=(
            "Put the answers into the order in which they come.",
            "sorted(leaves) does; the request waits for one of them.",
            "lambda leaves, needed: sorted(leaves)[needed - 1]",
        ),
        answer="def waits(leaves, needed):\n    return sorted(leaves)[needed - 1]",
    ),
}
