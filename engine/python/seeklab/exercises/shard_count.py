"""The assignment on the number of shards: enough of them, and no core set aside for nothing.

Each learner has a node, disks and costs of their own. A choice is judged against every other number of shards on fresh
seeds, a rule on nodes that are drawn at the moment of the check.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from seeklab import checks
from seeklab._case import case as load_case
from seeklab._errors import SeeklabError
from seeklab.checks import Evidence, Outcome, Verdict
from seeklab.exercises import draws_of

if TYPE_CHECKING:
    from collections.abc import Mapping

CASE = "vdisk-sharding"
MOST_SHARDS = 10
LEAST_RATE = 0.93
MOST_P99 = 3.0
LEAST_PER_CORE = 0.96

QUESTIONS = {
    "one_per_s": "How many reads a second do all disks together do with one controller each?",
    "most_per_s": "And with as many shards as you like?",
}
"""What a learner commits to before the first run."""

DEMANDS = (
    f"at least {LEAST_RATE:g} times the reads a second of the best number of shards",
    f"99 % of the reads within {MOST_P99:g} times what the best number gives",
    f"of the numbers that meet both, at least {LEAST_PER_CORE:g} times the most reads a second per core set aside",
)


@dataclass(frozen=True)
class Node:
    """A node and its load."""

    cores: int
    disks: int
    dispatch_us: float
    """The primary's work on each read."""
    read_us: float
    """A shard's work on each read."""
    depth: int
    """Reads outstanding on each disk."""

    def __str__(self) -> str:
        """Say it in a line."""
        return (
            f"{self.cores} cores; {self.disks} disks with {self.depth} reads outstanding on each; a read costs its"
            f" shard {self.read_us:.1f} us and, where there are several, the primary {self.dispatch_us:.1f} us"
        )

    def metrics(self, shards: int, seed: int = 1) -> Mapping[str, float]:
        """Run the load with so many shards for each disk."""
        changes = {
            "controller.cores": self.cores,
            "controller.dispatch": round(1000 * self.dispatch_us),
            "controller.read": round(1000 * self.read_us),
            "controller.per_byte": 0,
            "controller.shards": shards,
            "controller.only_spare_cores": False,
            "jobs[reads].numjobs": self.disks,
            "jobs[reads].iodepth": self.depth,
            "jobs[reads].number_ios": 12_000 // self.disks,
            "jobs[oltp].number_ios": 10,
            "jobs[restore].number_ios": 1,
            "record.log": False,
        }
        return load_case(CASE).with_(changes).run("before", seed=seed).metrics

    def cores_set_aside(self, shards: int) -> int:
        """Count a core for each shard, and one for the primary where there are several."""
        return self.disks * (shards if shards == 1 else shards + 1)


def _drawn(source: random.Random, *, cores_bind: bool) -> Node:
    """Draw a node whose bend, the primary's or that of the cores, lies clearly between two numbers of shards."""
    read_us = source.uniform(40, 80)
    bend = source.randint(2, 4) + source.uniform(0.35, 0.6)
    if not cores_bind:
        disks = source.randint(1, 2)
        return Node(source.randint(14, 20), disks, read_us / bend, read_us, 256 // disks)
    disks, dispatch_us = source.choice((2, 3)), read_us / source.uniform(12, 20)
    # n / c of each disk meets cores / (c + d) of all.
    bends = {cores: cores / disks / (1 + dispatch_us / read_us) for cores in range(2 * disks + 1, 5 * disks)}
    clear = [cores for cores, at in bends.items() if 0.3 <= at % 1 <= 0.65]  # noqa: PLR2004 -- far from a whole number
    return Node(source.choice(clear), disks, dispatch_us, read_us, 384 // disks)


def node(learner: object) -> Node:
    """Give the learner's own node."""
    draws = draws_of(learner)
    return _drawn(random.Random(bytes(draws)), cores_bind=draws[0] % 2 == 0)  # noqa: S311 -- a load, not a secret


def briefing(learner: object) -> str:
    """Tell the learner's node."""
    return f"The node of {learner}: {node(learner)}."


def table(learner: object, counts: object = (1, 2, 4)) -> list[tuple[str, ...]]:
    """Run the learner's node with some numbers of shards, as rows: shards, reads/s, p99 in ms, reads/s per core."""
    own = node(learner)
    numbers = [int(count) for count in counts] if isinstance(counts, (list, tuple, range)) else [1]
    rows: list[tuple[str, ...]] = []
    for shards in numbers:
        found = own.metrics(shards)
        per_core = found["reads.read_iops"] / own.cores_set_aside(shards)
        values = (f"{found['reads.read_iops']:,.0f}", f"{found['reads.read_latency_p99_ms']:.2f}", f"{per_core:,.0f}")
        rows.append((str(shards), *values))
    return rows


def check_prediction(prediction: object, learner: object) -> Verdict:
    """Judge the predictions by their distance from what fresh runs give."""
    given = prediction if isinstance(prediction, dict) else {}
    own = node(learner)
    (seed,) = checks.fresh_seeds(1)
    rates = [own.metrics(shards, seed)["reads.read_iops"] for shards in range(1, MOST_SHARDS + 1)]
    truths = {"one_per_s": rates[0], "most_per_s": max(rates)}
    return checks.combine(
        checks.judge_prediction(
            given.get(name), truth, within_factor=1.5, full_within_factor=1.1, what=name, unit="reads/s"
        )
        for name, truth in truths.items()
    )


def check_shards(shards: object, learner: object, seeds: int = checks.SEEDS) -> Verdict:
    """Judge a number of shards for the learner's node."""
    try:
        own = node(learner)
    except SeeklabError as error:
        return checks.refused(error)
    return checks.judge_on_fresh_seeds(lambda seed: _judge(shards, own, seed), seeds)


def check_rule(rule: object, learner: object, seeds: int = checks.SEEDS) -> Verdict:
    """Judge `rule(cores, disks, dispatch_us, read_us)`, which gives a number of shards, on nodes unseen so far."""
    try:
        draws_of(learner)
    except SeeklabError as error:
        return checks.refused(error)
    if not callable(rule):
        evidence = Evidence("rule", None if rule is None else repr(rule), "a function that gives a number", None)
        return Verdict(Outcome.CANNOT_TELL, (evidence,), "no rule to judge")
    return checks.judge_on_fresh_seeds(lambda seed: _judge_rule(rule, seed), seeds)


def _judge_rule(rule: Any, seed: int) -> list[Evidence]:  # noqa: ANN401 -- a learner's
    """Ask the rule about a node of each kind."""
    rows = []
    for cores_bind in (False, True):
        drawn = _drawn(random.Random(seed), cores_bind=cores_bind)  # noqa: S311 -- a load, not a secret
        try:
            shards = rule(drawn.cores, drawn.disks, drawn.dispatch_us, drawn.read_us)
        except Exception as error:  # noqa: BLE001 -- a learner's code may raise anything
            shards = checks.told(error)
        rows += _judge(shards, drawn, seed)
    return rows


def _judge(shards: object, on: Node, seed: int) -> list[Evidence]:
    if isinstance(shards, bool) or not isinstance(shards, int) or not 1 <= shards <= MOST_SHARDS:
        found = None if shards is None else shards if isinstance(shards, str) else repr(shards)
        bound = f"a whole number from 1 to {MOST_SHARDS}"
        return [Evidence(f"{on}: shards", found, bound, None if shards is None else False, seed=seed)] * len(DEMANDS)
    runs = {count: on.metrics(count, seed) for count in range(1, MOST_SHARDS + 1)}
    rates = {count: found["reads.read_iops"] for count, found in runs.items()}
    late = {count: found["reads.read_latency_p99_ms"] for count, found in runs.items()}
    least = LEAST_RATE * max(rates.values())
    most = MOST_P99 * min(late[count] for count in runs if rates[count] >= least)
    enough = [count for count in runs if rates[count] >= least and late[count] <= most]
    per_core = {count: rates[count] / on.cores_set_aside(count) for count in runs}
    thrifty = LEAST_PER_CORE * max(per_core[count] for count in enough)
    where = f"{shards} shards on {on}"
    rows = (
        ("reads", rates[shards], f">= {least:,.0f}", rates[shards] >= least, "1/s"),
        ("p99", late[shards], f"<= {most:.3g}", late[shards] <= most, "ms"),
        ("reads per core set aside", per_core[shards], f">= {thrifty:,.0f}", per_core[shards] >= thrifty, "1/s"),
    )
    return [Evidence(f"{where}: {name}", value, bound, met, unit, seed) for name, value, bound, met, unit in rows]
