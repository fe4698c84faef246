"""The assignment on data placement: a cluster for each learner, and the checks of its two predictions.

The learner's name determines the cluster: nodes, copies, the machines' sizes and the links. A number copied from the
course or from a neighbour is therefore wrong; the method stays the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import seeklab
from seeklab._errors import Problem, SeeklabError
from seeklab._question import Question
from seeklab.exercises._shapes import exercise, source_from
from seeklab.judge import Asked, Choice, Commitment, Evidence, Fields, Mistake, Task, draws_of, largest
from seeklab.judge.answers import is_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from seeklab._result import Result

MIB = 1 << 20

DESIGNS = ("locality", "hash", "dedup-pairs", "dedup-spread", "redirect-pairs")
"""The five designs, by their names in a scenario."""

LOCAL_QUESTION = "How much of the moved machine's disk is on its new node at the moment it arrives there, in %?"
PROTECT_QUESTION = "How long after the loss does every block have all its copies again, in s?"

QUESTIONS = {
    "local_percent": Question(f"With locality. {LOCAL_QUESTION}", unit="%"),
    "local_percent_hash": Question(f"With hash placement. {LOCAL_QUESTION}", unit="%"),
    "moved_mb": Question(
        "With locality. The machine then reads a quarter of its disk, each block once. How many MB move?", unit="MB"
    ),
    "protected_s": Question(f"With hash placement. {PROTECT_QUESTION}", unit="s"),
    "protected_s_pairs": Question(f"With redirection in pairs. {PROTECT_QUESTION}", unit="s"),
}
"""Questions that a learner answers before the first run."""

PLACES = {
    "locality": "it keeps a copy where the machine runs, and asks no other node for that data",
    "hash": "the hash determines the place of each block, so it asks no node, and no data follow the machine",
    "dedup-pairs": "its index is split between two nodes, so it asks at most one other",
    "dedup-spread": "its index is spread over all nodes, and placed blocks stay where their content hash puts them",
    "redirect-pairs": "it leaves a pointer at the old place, and the data stay with the pair",
}
"""The reason why each design is a wrong answer."""

CLAIMS = {
    "local_again": "the cluster whose local share recovers by itself, by its letter",
    "asks_most": "the cluster that asks the most nodes for a read at home",
}
"""The claims that a learner assigns to clusters."""
LETTERS = ("A", "B", "C", "D", "E")
"""The names of the five clusters. Each learner's have the designs in another order."""


def numbers(learner: object) -> dict[str, int]:
    """Return the learner's cluster in numbers: nodes, copies, size of each machine in MiB, link in MB/s."""
    draws = draws_of(learner)
    return {
        "nodes": 6 + 2 * (draws[0] % 6),
        "copies": 2,
        "machine_mib": 256 + 64 * (draws[1] % 9),
        "link_mb_per_s": 250 + 50 * (draws[2] % 16),
    }


def lettered(learner: object) -> dict[str, str]:
    """Return the design of each of the learner's clusters."""
    designs = list(DESIGNS)
    source_from(bytes(draws_of(learner))).shuffle(designs)
    return dict(zip(LETTERS, designs, strict=True))


def briefing(learner: object) -> str:
    """Describe the learner's cluster."""
    own = numbers(learner)
    return (
        f"The cluster of {learner}: {own['nodes']} nodes, {own['copies']} copies of each block, one machine on each "
        f"node with a disk of {own['machine_mib']} MiB.\nThe link of a node carries {own['link_mb_per_s']} MB/s each "
        "way; devices are faster.\nThe machine of node 0 moves to node 3. Later, node 2 is lost."
    )


def system(learner: object, design: str, *, reads: bool = True, loss: bool = True) -> dict[str, Any]:
    """Return the scenario of a cluster, by its letter or its design; without `reads`, almost nothing is read."""
    design = lettered(learner).get(design, design)
    if design not in DESIGNS:
        raise SeeklabError([Problem("design", f"{design!r} is not one of {', '.join((*LETTERS, *DESIGNS))}")])
    own = numbers(learner)
    block = 65_536
    quarter = own["machine_mib"] * MIB // block // 4
    job = {"rw": "randread", "bs": block, "size": own["machine_mib"] * MIB}
    machines = [
        {**job, "name": f"vm{node}", "number_ios": quarter if reads and node == 0 else 1, "startdelay": "2ms"}
        for node in range(own["nodes"])
    ]
    return {
        "jobs": machines,
        "cluster": {
            "design": design,
            "nodes": own["nodes"],
            "copies": own["copies"],
            "block": block,
            "link": own["link_mb_per_s"] * 1_000_000,
            "moves": [{"vm": "vm0", "at": "1ms", "to": 3}],
            "failures": [{"node": 2, "at": "5s"}] if loss else [],
        },
        "devices": [{"name": "node", "count": own["nodes"], "lun": {"rate": 5_000_000_000, "capacity": "8GiB"}}],
        "record": {"log": False},
    }


def run(learner: object, prediction: object, design: str) -> Result:
    """Run the learner's cluster under one design, after a prediction has been made."""
    given = prediction if isinstance(prediction, dict) else {}
    missing = [name for name in QUESTIONS if not is_number(given.get(name))]
    if missing:
        message = f"{', '.join(missing)} is not a number yet; predict all of them before the first run"
        raise SeeklabError([Problem("prediction", message)])
    return seeklab.run(system(learner, design))


TRUTH_SEEDS = 3
"""Placement is random: a share of a few hundred blocks varies by several percent, so the judge averages it."""


def _near(asked: Asked) -> dict[str, float]:
    def measured(design: str, metric: str) -> float:
        seeds = range(asked.seed, asked.seed + TRUTH_SEEDS)
        runs = [seeklab.run(system(asked.draws, design), seed=seed).metrics[metric] for seed in seeds]
        return sum(runs) / len(runs)

    return {
        "local_percent": measured("locality", "cluster_placed_local_at_move_percent"),
        "local_percent_hash": measured("hash", "cluster_placed_local_at_move_percent"),
        "moved_mb": measured("locality", "cluster_moved_bytes") / 1e6,
        "protected_s": measured("hash", "cluster_reprotect_s"),
        "protected_s_pairs": measured("redirect-pairs", "cluster_reprotect_s"),
    }


def _claims(asked: Asked) -> list[Evidence]:
    """Judge the claims by running all five designs."""
    gained: dict[str, float] = {}
    nodes_asked: dict[str, float] = {}
    for design in DESIGNS:
        moved = system(asked.draws, design, loss=False)
        found = seeklab.run(moved, seed=asked.seed).metrics
        gained[design] = found["cluster_placed_local_percent"] - found["cluster_placed_local_at_move_percent"]
        home = {**moved, "cluster": {**moved["cluster"], "moves": []}}
        nodes_asked[design] = seeklab.run(home, seed=asked.seed).metrics["cluster_lookups_per_read"]
    measured: Mapping[str, tuple[str, Mapping[str, float], str]] = {
        "local_again": ("local share gained:", gained, "%"),
        "asks_most": ("nodes asked per read:", nodes_asked, ""),
    }
    found_all = []
    clusters = lettered(asked.draws)
    for claim, letter in asked.answers["claims"].items():
        what, values, unit = measured[claim]
        design = clusters[letter]
        why = Mistake(design, f"{claim} is not {letter}, which has the design {design}: {PLACES[design]}")
        found = {one: values[of] for one, of in clusters.items()}
        found_all.append(largest(what, letter, found, unit=unit, seed=asked.seed, why=why))
    return found_all


LETTER = Choice({letter: f"compare the row of {letter} in the table with the four others" for letter in LETTERS})

ASSIGNMENT, check, hint = exercise(
    "hci-taxonomy",
    Commitment("check-prediction", 2, "prediction", QUESTIONS, _near),
    Task(
        "check-claims",
        7,
        {"claims": Fields(dict.fromkeys(CLAIMS, LETTER))},
        _claims,
        (
            "Compare two columns of the table: the local share at the move, and at the end.",
            "A share recovers by itself only if reading a remote block creates a local copy.",
            (
                "How many nodes know where a block is? A design that computes the place asks none. A design with "
                "a list of all content asks the node with that part of the list."
            ),
        ),
        seeds=1,
        by_parts=True,
    ),
)
