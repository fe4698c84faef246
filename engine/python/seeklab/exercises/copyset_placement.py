"""The assignment on copysets: a function in Python that says on which nodes the copies of chunks lie.

Each learner has a fleet in racks. The function gives the sets of nodes that chunks are spread over; the engine then
draws outages and loses a node. It is judged by what both do, on the learner's own fleet and on one that the seed draws.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from seeklab._case import case as load_case
from seeklab.exercises._shapes import at_least, at_most, exercise
from seeklab.judge import Asked, Code, Commitment, Evidence, Task, draws_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CASE = "copysets"
COPIES = 3
CHUNKS = 100_000
DARK_PERCENT = 2
OUTAGES = 100_000
RESTORE_MIB = 16_384
RATE_MIB = 100
MAX_SETS = 4900
"""A program's answer holds at most 20,000 values."""

LOSS_TIMES = 1.3
"""How many times as often as the fewest sets of that scatter width a placement may lose data."""
WIDTH_SHARE = 0.97
"""Of the scatter width that is asked for; a few nodes meet twice."""
RESTORE_TIMES = 1.4
"""How much longer than an even share for each of so many nodes a restore may take."""
BALANCE_PERCENT = 5

QUESTIONS = {
    "random_percent": (
        f"{CHUNKS:,} chunks, each on {COPIES} nodes drawn at random: how many percent of the outages lose some chunk?"
    ),
    "fewest_percent": f"All nodes cut once into groups of {COPIES}, each chunk on one of them: how many percent?",
}
"""What a learner commits to."""


@dataclass(frozen=True)
class Fleet:
    """A fleet: racks with nodes, and with how many others a node shall share its chunks."""

    racks: int
    per_rack: int
    scatter: int

    @cached_property
    def rack_of(self) -> tuple[int, ...]:
        """Give the rack of each node."""
        return tuple(rack for rack in range(self.racks) for _ in range(self.per_rack))

    @property
    def nodes(self) -> int:
        """Count the nodes."""
        return self.racks * self.per_rack

    def __str__(self) -> str:
        """Say it in a line."""
        return f"{self.nodes:,} nodes in {self.racks} racks, scatter width {self.scatter}"

    def run(self, changes: Mapping[str, object], seed: int = 1) -> Mapping[str, float]:
        """Draw outages of this fleet with a placement, and lose a node: what the engine measured."""
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
    # A number of nodes that makes whole groups.
    return Fleet(3 * source.randrange(10, 15), source.randrange(26, 36), source.choice((8, 10, 12)))


def fleet(learner: object) -> Fleet:
    """Give the learner's own fleet."""
    return _drawn(random.Random(bytes(draws_of(learner))))  # noqa: S311 -- a system, not a secret


def briefing(learner: object) -> str:
    """Tell the learner's fleet."""
    own = fleet(learner)
    return (
        f"The fleet of {learner}: {own.nodes:,} nodes, {own.per_rack} in each of {own.racks} racks, {COPIES} copies "
        f"of each chunk. After an outage {DARK_PERCENT} % of the nodes stay dark. Each node shall share its chunks "
        f"with {own.scatter} others, so that a lost one is copied again from as many."
    )


def _near(asked: Asked) -> dict[str, tuple[float, str]]:
    own, once = fleet(asked.draws), {"fleet.outages": 1, "jobs[restore].number_ios": 1}
    fewest = own.run({**once, "fleet.placement": "copysets", "fleet.scatter": COPIES - 1}, asked.seed)
    drawn = own.run({**once, "fleet.placement": "random"}, asked.seed)
    return {
        "random_percent": (drawn["fleet_expected_loss_percent"], "%"),
        "fewest_percent": (fewest["fleet_expected_loss_percent"], "%"),
    }


def _broken(sets: Any, on: Fleet) -> str | None:  # noqa: ANN401 -- whatever the learner's function gives
    """Say what is no placement about an answer."""
    if not isinstance(sets, (list, tuple)) or not sets:
        return f"the function gives {str(sets)[:80]}; what is asked for is a list of sets of nodes"
    if len(sets) > MAX_SETS:
        return f"the function gives {len(sets):,} sets; at most {MAX_SETS:,} are looked at"
    for nodes in sets:
        if not isinstance(nodes, (list, tuple)) or len(nodes) != COPIES:
            return f"{str(nodes)[:80]} is no set of {COPIES} nodes"
        if any(type(node) is not int or not 0 <= node < on.nodes for node in nodes):
            return f"{str(nodes)[:80]} holds what is no node; they are numbered from 0 to {on.nodes - 1}"
        if len(set(nodes)) < COPIES:
            return f"{str(nodes)[:80]} names a node twice; each copy is on another node"
    return None


MANY = (
    "too many different sets: each of them is one more chance that an outage meets it as a whole. A scatter width of "
    f"S takes no more than S / {COPIES - 1} groups for each node"
)
NARROW = (
    f"too few: a node that is in one group shares its chunks with {COPIES - 1} others, and they alone can copy it "
    "again. Cut the nodes into groups several times, each time in another order"
)
RACKS = "two copies in a rack are gone together when its switch fails; groups have to be of different racks"
UNEVEN = (
    "the fullest node holds more than its share: sets that are drawn one by one meet some nodes more often than "
    "others. Cut all nodes into groups, so that each is in one group of every cut"
)


def _measure(asked: Asked, on: Fleet) -> list[Evidence]:
    with asked.play("place") as play:
        sets: Any = play(list(on.rack_of), COPIES, on.scatter)
    names = ("racks", "outages that lose data", "scatter width", "a lost node copied again", "a node's share")
    broken = _broken(sets, on)
    if broken is not None:
        return [Evidence(f"{on}: {name}", None, "a placement", met=False, why=broken) for name in names]
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
        at_most(f"{on}: sets with two nodes in a rack", shared, 0, "sets", seed, RACKS),
        at_most(f"{on}: outages that lose data", found["fleet_loss_percent"], loss, "%", seed, MANY),
        at_least(f"{on}: scatter width", found["fleet_scatter_width_mean"], width, "nodes", seed, NARROW),
        at_most(f"{on}: a lost node copied again", found["elapsed_s"], restore, "s", seed, NARROW),
        at_most(f"{on}: a node's share, off the mean", uneven, asked.bound("balance_percent"), "%", seed, UNEVEN),
    ]


def _own(asked: Asked) -> list[Evidence]:
    return _measure(asked, fleet(asked.draws))


def _elsewhere(asked: Asked) -> list[Evidence]:
    return _measure(asked, _drawn(random.Random(asked.seed)))  # noqa: S311 -- a system like another, not a secret


PLACE = Code(shape=(None, None, None))
HINTS = (
    "How many different sets does a node have to be in, if it shall share chunks with so many others?",
    "Put all nodes into an order and cut it into groups of three: everybody is in one group. Do that several times.",
    (
        "Draw an order of the racks and of the nodes within them. Node i of the first third, of the second and of "
        "the last third of that line are in different racks."
    ),
)

ASSIGNMENT, check, hint = exercise(
    "copyset-placement",
    Commitment("check-prediction", 2, "prediction", QUESTIONS, _near),
    Task("check-place", 4, {"place": PLACE}, _own, HINTS),
    Task("check-place-elsewhere", 3, {"place": PLACE}, _elsewhere, HINTS),
    bounds={
        "loss_times": LOSS_TIMES,
        "width_share": WIDTH_SHARE,
        "restore_times": RESTORE_TIMES,
        "balance_percent": BALANCE_PERCENT,
    },
)
