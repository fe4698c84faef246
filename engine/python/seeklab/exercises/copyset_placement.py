"""The assignment on copysets: a Python function chooses the nodes for the copies of chunks.

Each learner has a fleet in racks. The function returns the sets of nodes that chunks are spread over. The engine then
draws outages and loses a node, on the learner's fleet and on a fleet drawn from the seed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from seeklab._case import case as load_case
from seeklab._question import Question
from seeklab.exercises._shapes import at_least, at_most, exercise, named, returned, source_from
from seeklab.judge import Asked, Code, Commitment, Evidence, Items, Number, Task, draws_of

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence

CASE = "copysets"
COPIES = 3
CHUNKS = 100_000
DARK_PERCENT = 2
OUTAGES = 100_000
RESTORE_MIB = 16_384
RATE_MIB = 100
MAX_SETS = 4900
"""Limit of sets: a program's answer has at most 20,000 values."""

LOSS_TIMES = 1.3
"""Limit of the chance of data loss, relative to the fewest sets of that scatter width."""
WIDTH_SHARE = 0.97
"""Required share of the demanded scatter width; a few nodes meet twice."""
RESTORE_TIMES = 1.4
"""Limit of a restore's time, relative to an even share among the demanded nodes."""
BALANCE_PERCENT = 5

QUESTIONS = {
    "random_percent": Question(
        f"{CHUNKS:,} chunks, each on {COPIES} random nodes: how many % of the outages lose a chunk?", unit="%"
    ),
    "fewest_percent": Question(
        f"All nodes divided once into groups of {COPIES}, each chunk on one group: how many %?", unit="%"
    ),
}
"""Questions that a learner answers first."""


@dataclass(frozen=True)
class Fleet:
    """A fleet: racks with nodes, and the number of others that each node should share chunks with."""

    racks: int
    per_rack: int
    scatter: int

    @cached_property
    def rack_of(self) -> tuple[int, ...]:
        """Return the rack of each node."""
        return tuple(rack for rack in range(self.racks) for _ in range(self.per_rack))

    @property
    def nodes(self) -> int:
        """Count the nodes."""
        return self.racks * self.per_rack

    def __str__(self) -> str:
        """Describe it in one line."""
        return f"{self.nodes:,} nodes in {self.racks} racks, scatter width {self.scatter}"

    def run(self, changes: Mapping[str, object], seed: int = 1) -> Mapping[str, float]:
        """Draw outages of this fleet with a placement, and lose a node; return the measurements."""
        fleet = {
            "fleet.nodes": self.nodes,
            "fleet.copies": COPIES,
            "fleet.dark_percent": DARK_PERCENT,
            "fleet.chunks": CHUNKS,
            "fleet.rate": RATE_MIB << 20,
            "jobs[restore].number_ios": RESTORE_MIB,
        }
        return load_case(CASE).with_({**fleet, **changes}).run(seed=seed).metrics

    def placed(self, sets: Sequence[Sequence[int]], seed: int = 1) -> Mapping[str, float]:
        """Draw outages with chunks spread evenly over these sets of nodes."""
        given = {
            "fleet.placement": "given",
            "fleet.sets": [node for nodes in sets for node in nodes],
            "fleet.outages": OUTAGES,
        }
        return self.run(given, seed)


def _drawn(source: random.Random) -> Fleet:
    # The number of nodes is a multiple of the group size.
    return Fleet(3 * source.randrange(10, 15), source.randrange(26, 36), source.choice((8, 10, 12)))


def fleet(learner: object) -> Fleet:
    """Return the learner's own fleet."""
    return _drawn(source_from(bytes(draws_of(learner))))


def briefing(learner: object) -> str:
    """Describe the learner's fleet."""
    own = fleet(learner)
    return (
        f"The fleet of {learner}: {own.nodes:,} nodes, {own.per_rack} in each of {own.racks} racks, {COPIES} copies "
        f"of each chunk. After an outage {DARK_PERCENT}% of the nodes stay dark. Each node should share its chunks "
        f"with {own.scatter} others, so that as many can copy a lost one again."
    )


def _near(asked: Asked) -> dict[str, float]:
    own, once = fleet(asked.draws), {"fleet.outages": 1, "jobs[restore].number_ios": 1}
    fewest = own.run({**once, "fleet.placement": "copysets", "fleet.scatter": COPIES - 1}, asked.seed)
    drawn = own.run({**once, "fleet.placement": "random"}, asked.seed)
    return {
        "random_percent": drawn["fleet_expected_loss_percent"],
        "fewest_percent": fewest["fleet_expected_loss_percent"],
    }


WHY = named(
    many_sets="too many different sets: each is one more chance that an outage hits a whole set; a scatter width of S "
    f"needs only S / {COPIES - 1} groups for each node",
    few_sets=f"too few: a node in one group shares its chunks with {COPIES - 1} others, and only they can restore it; "
    "divide the nodes into groups several times, in different orders",
    same_node="a set names a node twice, but each copy must be on another node",
    one_rack="two copies in one rack are lost together when its switch fails; use different racks for the nodes of a "
    "group",
    uneven="the fullest node holds more than its share: independently drawn sets hit some nodes more often; in every "
    "division, each node must be in exactly one group",
)


def _measure(asked: Asked, on: Fleet) -> list[Evidence]:
    with asked.play("place") as play:
        sets: Any = play(list(on.rack_of), COPIES, on.scatter)
    sets, broken = returned(Items(Items(Number(whole=True, at_least=0, at_most=on.nodes - 1), COPIES)), sets, on, 5)
    if broken:
        return broken
    if not 0 < len(sets) <= MAX_SETS:
        return [
            Evidence(f"{on}: sets", len(sets), f"1 to {MAX_SETS:,}", met=False).because(
                WHY["many-sets" if sets else "few-sets"]
            )
        ] * 5
    twice = next((nodes for nodes in sets if len(set(nodes)) < COPIES), None)
    if twice:
        return [
            Evidence(f"{on}: a set", str(twice), "another node for each copy", met=False).because(WHY["same-node"])
        ] * 5
    found, seed = on.placed(sets, asked.seed), asked.seed
    shared = sum(len({on.rack_of[node] for node in nodes}) < COPIES for nodes in sets)
    held = Counter(node for nodes in sets for node in nodes)
    mean = COPIES * len(sets) / on.nodes
    uneven = 100 * max(max(held.values()) / mean - 1, 1 - min(held[node] for node in range(on.nodes)) / mean)
    even_s = RESTORE_MIB / RATE_MIB / on.scatter
    least = on.run(
        {
            "fleet.placement": "copysets",
            "fleet.scatter": on.scatter,
            "fleet.outages": 1,
            "jobs[restore].number_ios": 1,
        }
    )["fleet_expected_loss_percent"]
    width, restore = asked.bound("width_share") * on.scatter, asked.bound("restore_times") * even_s
    loss = asked.bound("loss_times") * least
    return [
        at_most(f"{on}: sets with two nodes in a rack", shared, 0, "sets", seed, WHY["one-rack"]),
        at_most(f"{on}: outages that lose data", found["fleet_loss_percent"], loss, "%", seed, WHY["many-sets"]),
        at_least(f"{on}: scatter width", found["fleet_scatter_width_mean"], width, "nodes", seed, WHY["few-sets"]),
        at_most(f"{on}: a lost node copied again", found["elapsed_s"], restore, "s", seed, WHY["few-sets"]),
        at_most(
            f"{on}: a node's share, off the mean", uneven, asked.bound("balance_percent"), "%", seed, WHY["uneven"]
        ),
    ]


PLACE = Code(("racks", "copies", "scatter"))
HINTS = (
    "How many sets must include a node, so that it shares chunks with that many others?",
    "Order all nodes and cut the order into groups of three: each node is in one group. Repeat that several times.",
    (
        "Draw an order of the racks, and of the nodes within each. Then take node i of the first, second and "
        "last third of that order: they are in different racks."
    ),
)

ASSIGNMENT, check, hint = exercise(
    "copyset-placement",
    Commitment("check-prediction", 2, "prediction", QUESTIONS, _near),
    Task("check-place", 2, {"place": PLACE}, lambda asked: _measure(asked, fleet(asked.draws)), HINTS),
    Task(
        "check-place-elsewhere",
        5,
        {"place": PLACE},
        lambda asked: _measure(asked, _drawn(source_from(asked.seed))),
        HINTS,
    ),
    bounds={
        "loss_times": LOSS_TIMES,
        "width_share": WIDTH_SHARE,
        "restore_times": RESTORE_TIMES,
        "balance_percent": BALANCE_PERCENT,
    },
)
