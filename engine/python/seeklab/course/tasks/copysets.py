"""Notebook 20, a little often: what the learner writes."""

from __future__ import annotations

from math import comb
from typing import Any

from seeklab.course.task import UnconvertedTask as Task

NEAR = 0.01
OUTAGES = ((50, 5000, 3), (3, 6, 3), (100, 5000, 3), (10, 100, 2))
"""Dark nodes, nodes and copies."""
PLACED = ((9.4e-7, 1666), (9.4e-7, 1_000_000), (9.4e-7, 9_800_000), (0.05, 10))
"""The chance of a set, and how many sets there are."""
SETS = (
    ((0, 1, 2), (3, 4, 5)),
    ((0, 1, 2), (3, 4, 5), (0, 3, 1), (2, 5, 4)),
    ((4, 0, 5), (1, 2, 3), (0, 5, 1)),
)


def _chance(dark: int, nodes: int, copies: int) -> float:
    return comb(dark, copies) / comb(nodes, copies)


def _is_near(found: float, truth: float) -> bool:
    return abs(found - truth) <= NEAR * abs(truth)


def _chance_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of three numbers; this is {type(answer).__name__}."
    for dark, nodes, copies in OUTAGES:
        found, truth = float(answer(dark, nodes, copies)), _chance(dark, nodes, copies)
        if _is_near(found, truth):
            continue
        told = f"With {dark} of {nodes} nodes dark and {copies} copies it gives {found:.4g}."
        if _is_near(found, (dark / nodes) ** copies):
            return (
                f"{told} That draws each copy's node anew, so two copies could be on one node. They are on different"
                " ones: once one is dark, fewer dark ones are left."
            )
        if _is_near(found, dark / nodes):
            return f"{told} So likely is one of the nodes dark; here all {copies} have to be."
        if _is_near(found, copies * dark / nodes):
            return f"{told} A sum is about some node of the set being dark; here all {copies} have to be."
        return f"{told} Of all ways to choose {dark} dark nodes, which have these {copies} among them?"
    return None


def _loss_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of two numbers; this is {type(answer).__name__}."
    for chance, sets in PLACED:
        found, truth = float(answer(chance, sets)), 1 - (1 - chance) ** sets
        if _is_near(found, truth):
            continue
        told = f"With a chance of {chance:g} and {sets:,} sets it gives {found:.4g}."
        if _is_near(found, chance * sets) or _is_near(found, min(1, chance * sets)):
            return f"{told} That is how many sets are dark in the mean; an outage that loses two counts once."
        if _is_near(found, (1 - chance) ** sets):
            return f"{told} So likely does an outage lose nothing."
        if _is_near(found, chance):
            return f"{told} So likely is one given set dark; there are {sets:,}."
        return f"{told} Nothing is lost when no set is dark: multiply their chances of that."
    return None


def _sources_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of a list of sets and a node; this is {type(answer).__name__}."
    for sets in SETS:
        given = [list(nodes) for nodes in sets]
        for node in range(6):
            found, truth = answer([list(nodes) for nodes in given], node), _sources(given, node)
            if found == truth:
                continue
            told = f"Of {given} and node {node} it gives {found!r}."
            if found == truth + 1:
                return f"{told} The node itself is lost; it is no source."
            if found == sum(len(nodes) - 1 for nodes in given if node in nodes):
                return f"{told} A node that is in two of these sets is one source, not two."
            if found == sum(node in nodes for nodes in given):
                return f"{told} So many sets hold the node; each of them has others in it."
            return f"{told} Which other nodes are in a set with node {node}? Count each once."
    return None


def _sources(sets: Any, node: int) -> int:  # noqa: ANN401 -- sets of nodes, as any sequence
    return len({other for nodes in sets if node in nodes for other in nodes} - {node})


TASKS = {
    "copysets/chance": Task(
        question=(
            "An outage leaves `dark` of `nodes` nodes dark, any of them. A chunk has its `copies` on different nodes. "
            "Write a function of dark, nodes and copies: how likely is it that all of them are dark? "
            "(`math.comb(n, k)` says how many ways there are to choose k of n.)"
        ),
        wants="a function of three numbers that gives a probability",
        wrong=_chance_wrong,
        why="Three given nodes are all dark in one outage of a million. For one chunk three copies are plenty.",
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
    "copysets/loss": Task(
        question=(
            "Chunks are on `sets` different sets of nodes. A given one is dark as a whole with a probability of "
            "`chance`. Take the sets as independent of each other and write a function of chance and sets: how likely "
            "is an outage to lose something?"
        ),
        wants="a function of two numbers that gives a probability",
        wrong=_loss_wrong,
        why="The chunks are not in it, and neither are their bytes: only how many different sets there are.",
        hints=(
            "When does an outage lose nothing?",
            "When no set is dark, each with a probability of 1 - chance.",
            "lambda chance, sets: 1 - (1 - chance) ** sets",
        ),
        answer="def loss(chance, sets):\n    return 1 - (1 - chance) ** sets",
    ),
    "copysets/sources": Task(
        question=(
            "A node is lost. Write a function of a list of sets, each a list of nodes, and the node: from how many "
            "other nodes can its chunks be copied again?"
        ),
        wants="a function of a list and a number that gives a number",
        wrong=_sources_wrong,
        why="This is the node's scatter width. More sets for each node make it wider, and losses more frequent.",
        hints=(
            "Which sets hold the node?",
            "Collect the nodes of those sets in a set; take the node itself out.",
            "lambda sets, node: len({other for nodes in sets if node in nodes for other in nodes} - {node})",
        ),
        answer=(
            "def sources(sets, node):\n"
            "    return len({other for nodes in sets if node in nodes for other in nodes} - {node})"
        ),
    ),
}
