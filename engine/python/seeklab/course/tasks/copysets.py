"""Notebook 20, a little often: its tasks."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

from seeklab.course.task import Task
from seeklab.judge import Cases, Function, Mistake

if TYPE_CHECKING:
    from collections.abc import Sequence

NEAR = 0.01
SETS = (
    [[0, 1, 2], [3, 4, 5]],
    [[0, 1, 2], [3, 4, 5], [0, 3, 1], [2, 5, 4]],
    [[4, 0, 5], [1, 2, 3], [0, 5, 1]],
)


def _chance(dark: int, nodes: int, copies: int) -> float:
    return comb(dark, copies) / comb(nodes, copies)


def _loss(chance: float, sets: int) -> float:
    return 1 - (1 - chance) ** sets


def _together(sets: Sequence[Sequence[int]], node: int) -> list[int]:
    """Return the nodes of all sets that include the node."""
    return [other for nodes in sets if node in nodes for other in nodes]


def _sources(sets: Sequence[Sequence[int]], node: int) -> int:
    return len({*_together(sets, node)} - {node})


TASKS = (
    Task(
        "copysets/chance",
        question=(
            "An outage leaves any `dark` of `nodes` nodes dark. A chunk has its `copies` on different nodes. "
            "Write a function of dark, nodes and copies that returns the probability that all copies are dark. "
            "(`math.comb(n, k)` is the number of ways to choose k of n.)"
        ),
        kind=Function("three numbers"),
        check=Cases(
            _chance,
            [(50, 5000, 3), (3, 6, 3), (100, 5000, 3), (10, 100, 2)],
            "With {dark} of {nodes} nodes dark and {copies} copies",
            (
                Mistake(
                    "same-node",
                    "That lets two copies be on the same node. They are on different ones: once one of them is dark, "
                    "fewer dark nodes are left for the next.",
                    gives=lambda dark, nodes, copies: (dark / nodes) ** copies,
                ),
                Mistake(
                    "one-node",
                    "That is the probability that one of the nodes is dark; here all {copies} must be dark.",
                    gives=lambda dark, nodes, _: dark / nodes,
                ),
                Mistake(
                    "sum",
                    "A sum counts the cases where any node of the set is dark; here all {copies} must be dark.",
                    gives=lambda dark, nodes, copies: copies * dark / nodes,
                ),
                Mistake("other", "Of all ways to choose {dark} dark nodes, which include these {copies}?"),
            ),
            within=NEAR,
        ),
        why="Three given nodes are all dark in one outage of a million. For one chunk, three copies are enough.",
        hints=(
            "How many sets of that size are there among all nodes, and how many among the dark ones?",
            "Every set is as likely as any other.",
            "lambda dark, nodes, copies: comb(dark, copies) / comb(nodes, copies)",
        ),
        answer=(
            "from math import comb\n\n"
            "def chance(dark, nodes, copies):\n    return comb(dark, copies) / comb(nodes, copies)"
        ),
    ),
    Task(
        "copysets/loss",
        question=(
            "Chunks are on `sets` different sets of nodes. All nodes of a given set are dark with a probability of "
            "`chance`. Assume that the sets are independent, and write a function of chance and sets that returns the "
            "probability that an outage loses data."
        ),
        kind=Function("two numbers"),
        check=Cases(
            _loss,
            [(9.4e-7, 1666), (9.4e-7, 1_000_000), (9.4e-7, 9_800_000), (0.05, 10)],
            "With a chance of {chance:g} and {sets:,} sets",
            (
                Mistake(
                    "mean",
                    "That is the mean number of dark sets; an outage that loses two counts once.",
                    gives=lambda chance, sets: chance * sets,
                ),
                Mistake(
                    "no-loss",
                    "That is the probability that an outage loses nothing.",
                    gives=lambda chance, sets: (1 - chance) ** sets,
                ),
                Mistake(
                    "one-set",
                    "That is the probability that one given set is dark; there are {sets:,}.",
                    gives=lambda chance, _: chance,
                ),
                Mistake("other", "Nothing is lost when no set is dark: multiply the probabilities of that."),
            ),
            within=NEAR,
        ),
        why="Neither the number of chunks nor their size matters, only the number of different sets.",
        hints=(
            "When does an outage lose nothing?",
            "When no set is dark, each with a probability of 1 - chance.",
            "lambda chance, sets: 1 - (1 - chance) ** sets",
        ),
        answer="def loss(chance, sets):\n    return 1 - (1 - chance) ** sets",
    ),
    Task(
        "copysets/sources",
        question=(
            "A node is lost. Write a function of a list of sets, each a list of nodes, and the node: how many other "
            "nodes have copies of its chunks?"
        ),
        kind=Function("a list of sets and a node"),
        check=Cases(
            _sources,
            [(sets, node) for sets in SETS for node in range(6)],
            "For {sets} and node {node}",
            (
                Mistake(
                    "counted-twice",
                    "A node that is in two of these sets is one source, not two.",
                    gives=lambda sets, node: sum(other != node for other in _together(sets, node)),
                ),
                Mistake(
                    "itself",
                    "The node itself is lost; it is not a source.",
                    gives=lambda sets, node: len({*_together(sets, node)}),
                ),
                Mistake(
                    "sets",
                    "That is the number of sets that include the node; each of them has other nodes.",
                    gives=lambda sets, node: _together(sets, node).count(node),
                ),
                Mistake("other", "Which other nodes are in a set with node {node}? Count each once."),
            ),
            within=0,
        ),
        why="This is the node's scatter width. More sets per node make it wider, and losses more frequent.",
        hints=(
            "Which sets include the node?",
            "Collect the nodes of those sets in a set; remove the node itself.",
            "lambda sets, node: len({other for nodes in sets if node in nodes for other in nodes} - {node})",
        ),
        answer=(
            "def sources(sets, node):\n"
            "    return len({other for nodes in sets if node in nodes for other in nodes} - {node})"
        ),
    ),
)
