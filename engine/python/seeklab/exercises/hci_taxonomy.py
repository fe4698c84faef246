"""The assignment on where data are: a cluster for each learner, and the checks of its two predictions.

A learner's cluster is drawn from the name: nodes, copies, the machines' sizes, the links. So a number copied from the
course, or from a neighbour, is wrong here; the way to it is the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import seeklab
from seeklab import checks
from seeklab._errors import Problem, SeeklabError
from seeklab.exercises import draws_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from seeklab._result import Result
    from seeklab.checks import Verdict

MIB = 1 << 20

DESIGNS = ("locality", "hash", "dedup-pairs", "dedup-spread", "redirect-pairs")
"""The five designs, by the names that a scenario uses."""

LOCAL_QUESTION = "How much of the moved machine's disk is on its new node at the moment it comes there, in %?"
PROTECT_QUESTION = "How long after the loss has every block all its copies again, in s?"

FULL_WITHIN = 1.25
"""Nearly six standard deviations of the most scattered truth: a fifteenth of 4096 blocks, averaged over three seeds."""

QUESTIONS = {
    "local_percent": f"With locality. {LOCAL_QUESTION}",
    "local_percent_hash": f"With hash placement. {LOCAL_QUESTION}",
    "moved_mb": "With locality. The machine then reads a quarter of its disk, each block once. How many MB move?",
    "protected_s": f"With hash placement. {PROTECT_QUESTION}",
    "protected_s_pairs": f"With redirection in pairs. {PROTECT_QUESTION}",
}
"""What a learner commits to before the first run."""

CLAIMS = {
    "local_again": "the design whose local share comes back by itself, by its name",
    "asks_most": "the design that asks the most nodes for a read at home",
}
"""What a learner reads off the runs."""


def numbers(learner: object) -> dict[str, int]:
    """Give the learner's cluster in numbers: nodes, copies, size of each machine in MiB, link in MB/s."""
    draws = draws_of(learner)
    return {
        "nodes": 6 + 2 * (draws[0] % 6),
        "copies": 2,
        "machine_mib": 256 + 64 * (draws[1] % 9),
        "link_mb_per_s": 250 + 50 * (draws[2] % 16),
    }


def briefing(learner: object) -> str:
    """Tell a learner about the cluster."""
    own = numbers(learner)
    return (
        f"The cluster of {learner}: {own['nodes']} nodes, {own['copies']} copies of each block, one machine on each"
        f" node with a disk of {own['machine_mib']} MiB.\nThe link of a node carries {own['link_mb_per_s']} MB/s each"
        " way; devices are faster.\nThe machine of node 0 moves to node 3. Later, node 2 is lost."
    )


def system(learner: object, design: str, *, reads: bool = True, loss: bool = True) -> dict[str, Any]:
    """Give the scenario of the learner's cluster under one design; without `reads` next to nothing is read."""
    if design not in DESIGNS:
        raise SeeklabError([Problem("design", f"{design!r} is none of {', '.join(DESIGNS)}")])
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
    """Run the learner's cluster under one design, once a prediction has been committed to."""
    given = prediction if isinstance(prediction, dict) else {}
    missing = [name for name in QUESTIONS if checks.as_number(given.get(name)) is None]
    if missing:
        message = f"{', '.join(missing)} is no number yet; predict all of them before the first run"
        raise SeeklabError([Problem("prediction", message)])
    return seeklab.run(system(learner, design))


def check_prediction(prediction: object, learner: object) -> Verdict:
    """Judge the predictions by their distance from what fresh runs give."""
    given: Mapping[str, object] = prediction if isinstance(prediction, dict) else {}
    seeds = checks.fresh_seeds(checks.SEEDS)

    def measured(design: str, metric: str) -> float:
        """Average over seeds: placement draws nodes, and a share of some hundred blocks varies by several percent."""
        return sum(runs[design, seed][metric] for seed in seeds) / len(seeds)

    designs = ("locality", "hash", "redirect-pairs")
    runs = {
        (design, seed): seeklab.run(system(learner, design), seed=seed).metrics for design in designs for seed in seeds
    }
    truths = {
        "local_percent": (measured("locality", "cluster_placed_local_at_move_percent"), "%"),
        "local_percent_hash": (measured("hash", "cluster_placed_local_at_move_percent"), "%"),
        "moved_mb": (measured("locality", "cluster_moved_bytes") / 1e6, "MB"),
        "protected_s": (measured("hash", "cluster_reprotect_s"), "s"),
        "protected_s_pairs": (measured("redirect-pairs", "cluster_reprotect_s"), "s"),
    }
    return checks.combine(
        checks.judge_prediction(
            given.get(name), truth, within_factor=1.5, full_within_factor=FULL_WITHIN, what=name, unit=unit
        )
        for name, (truth, unit) in truths.items()
    )


def check_claims(claims: object, learner: object) -> Verdict:
    """Judge what was read off the runs by running all five designs on a fresh seed."""
    given: Mapping[str, object] = claims if isinstance(claims, dict) else {}
    (seed,) = checks.fresh_seeds(1)
    gained, asked = {}, {}
    for design in DESIGNS:
        found = seeklab.run(system(learner, design, loss=False), seed=seed).metrics
        gained[design] = found["cluster_placed_local_percent"] - found["cluster_placed_local_at_move_percent"]
        home = system(learner, design, loss=False)
        home["cluster"]["moves"] = []
        asked[design] = seeklab.run(home, seed=seed).metrics["cluster_lookups_per_read"]
    return checks.combine(
        [
            checks.judge_choice(given.get("local_again"), gained, what="local share gained:", unit="%"),
            checks.judge_choice(given.get("asks_most"), asked, what="nodes asked per read:", unit=""),
        ]
    )
