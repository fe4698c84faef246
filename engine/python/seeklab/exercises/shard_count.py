"""The assignment on the number of shards: enough of them, with no core reserved in vain.

Each learner has a node with disks and costs. On new seeds, the judge compares a choice with every other number of
shards. A rule is judged on nodes that the check draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from seeklab._case import case as load_case
from seeklab._question import Question
from seeklab.exercises._shapes import exercise, named, returned, source_from
from seeklab.judge import Asked, Code, Commitment, Evidence, Mistake, Number, Task, draws_of

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

CASE = "vdisk-sharding"
MAX_SHARDS = 10
MIN_RATE = 0.93
MAX_P99 = 3.0
MIN_PER_CORE = 0.96

QUESTIONS = {
    "one_per_s": Question("How many reads a second do all disks together do with one controller each?", unit="reads/s"),
    "most_per_s": Question("And with the best number of shards?", unit="reads/s"),
}
"""Questions that a learner answers before the first run."""

DEMANDS = (
    f"at least {MIN_RATE:g} times the reads a second of the best number of shards",
    f"99% of the reads within {MAX_P99:g} times the time with the best number",
    f"among the numbers that meet both, at least {MIN_PER_CORE:g} times the most reads a second per core set aside",
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
        """Describe it in one line."""
        return (
            f"{self.cores} cores; {self.disks} disks with {self.depth} reads in flight on each; a read costs its "
            f"shard {self.read_us:.1f} us and, with several shards, the primary {self.dispatch_us:.1f} us"
        )

    def metrics(self, shards: int, seed: int = 1) -> Mapping[str, float]:
        """Run the load with N shards for each disk."""
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
        """Return the number of cores: one for each shard, and one for the primary if there are several."""
        return self.disks * (shards if shards == 1 else shards + 1)


def _drawn(source: random.Random, *, cores_bind: bool) -> Node:
    """Draw a node whose limit, by the primary or by the cores, is clearly between two numbers of shards."""
    read_us = source.uniform(40, 80)
    bend = source.randint(2, 4) + source.uniform(0.35, 0.6)
    if not cores_bind:
        disks = source.randint(1, 2)
        return Node(source.randint(14, 20), disks, read_us / bend, read_us, 256 // disks)
    disks, dispatch_us = source.choice((2, 3)), read_us / source.uniform(12, 20)
    # The limit n / c of each disk equals cores / (c + d) of all disks.
    bends = {cores: cores / disks / (1 + dispatch_us / read_us) for cores in range(2 * disks + 1, 5 * disks)}
    clear = [cores for cores, at in bends.items() if 0.3 <= at % 1 <= 0.65]
    return Node(source.choice(clear), disks, dispatch_us, read_us, 384 // disks)


def node(learner: object) -> Node:
    """Return the learner's own node."""
    draws = draws_of(learner)
    return _drawn(source_from(bytes(draws)), cores_bind=draws[0] % 2 == 0)


def briefing(learner: object) -> str:
    """Describe the learner's node."""
    return f"The node of {learner}: {node(learner)}."


def table(learner: object, counts: object = (1, 2, 4)) -> list[tuple[str, ...]]:
    """Run the learner's node with several numbers of shards, as rows: shards, reads/s, p99 in ms, reads/s per core."""
    own = node(learner)
    numbers = [int(count) for count in counts] if isinstance(counts, (list, tuple, range)) else [1]
    rows: list[tuple[str, ...]] = []
    for shards in numbers:
        found = own.metrics(shards)
        per_core = found["reads.read_iops"] / own.cores_set_aside(shards)
        values = (f"{found['reads.read_iops']:,.0f}", f"{found['reads.read_latency_p99_ms']:.2f}", f"{per_core:,.0f}")
        rows.append((str(shards), *values))
    return rows


def _near(asked: Asked) -> dict[str, float]:
    own = node(asked.draws)
    rates = [own.metrics(shards, asked.seed)["reads.read_iops"] for shards in range(1, MAX_SHARDS + 1)]
    return {"one_per_s": rates[0], "most_per_s": max(rates)}


def _own(asked: Asked) -> list[Evidence]:
    """Judge a number of shards for the learner's node."""
    return _judge(asked, asked.answers["shards"], node(asked.draws))


def _rule(asked: Asked) -> list[Evidence]:
    """Judge a rule on a node of each kind."""
    rows = []
    with asked.play("rule") as rule:
        for cores_bind in (False, True):
            drawn = _drawn(source_from(asked.seed), cores_bind=cores_bind)
            rows += _judge(asked, rule(drawn.cores, drawn.disks, drawn.dispatch_us, drawn.read_us), drawn)
    return rows


WHY = named(
    too_few="too few: the shards are always busy, while the primary and some cores still have capacity",
    full_primary="too many: past the knee no shard adds a read, because the primary is saturated; each further shard "
    "only takes a core from others",
    full_cores="too many: past the knee no shard adds a read, because all cores are saturated; further shards only "
    "share the cores that reads need",
)


def _too_many(on: Node) -> Mistake:
    """Return what is saturated past the knee: the primary or the cores."""
    primary, cores = on.read_us / on.dispatch_us, on.cores * on.read_us / (on.disks * (on.read_us + on.dispatch_us))
    return WHY["full-primary" if primary <= cores else "full-cores"]


def _judge(asked: Asked, given: object, on: Node) -> list[Evidence]:
    shards, broken = returned(SHARDS, given, on, len(DEMANDS))
    if broken:
        return broken
    runs = {count: on.metrics(count, asked.seed) for count in range(1, MAX_SHARDS + 1)}
    rates = {count: found["reads.read_iops"] for count, found in runs.items()}
    late = {count: found["reads.read_latency_p99_ms"] for count, found in runs.items()}
    least = asked.bound("least_rate") * max(rates.values())
    most = asked.bound("most_p99") * min(late[count] for count in runs if rates[count] >= least)
    enough = [count for count in runs if rates[count] >= least and late[count] <= most]
    per_core = {count: rates[count] / on.cores_set_aside(count) for count in runs}
    thrifty = asked.bound("least_per_core") * max(per_core[count] for count in enough)
    where, many = f"{shards} shards on {on}", _too_many(on)
    rows = (
        ("reads", rates[shards], f">= {least:,.0f}", rates[shards] >= least, "1/s", WHY["too-few"]),
        (
            "p99",
            late[shards],
            f"<= {most:.3g}",
            late[shards] <= most,
            "ms",
            WHY["too-few"] if shards < min(enough) else many,
        ),
        ("reads per core set aside", per_core[shards], f">= {thrifty:,.0f}", per_core[shards] >= thrifty, "1/s", many),
    )
    return [
        Evidence(f"{where}: {name}", value, bound, met, unit, asked.seed).because(why)
        for name, value, bound, met, unit, why in rows
    ]


CODE = Code(("cores", "disks", "dispatch_us", "read_us"))
SHARDS = Number(whole=True, at_least=1, at_most=MAX_SHARDS)
HINTS = (
    "How many reads a second can one shard handle, how many can the primary pass on, and how many do all cores allow?",
    "Shards add reads until the primary is saturated: read time over dispatch time.",
    (
        "Or until the cores are saturated: each read costs time of the shard and of the primary. The smaller of the "
        "two, rounded up."
    ),
)

ASSIGNMENT, check, hint = exercise(
    "shard-count",
    Commitment("check-prediction", 2, "prediction", QUESTIONS, _near),
    Task("check-shards", 1, {"shards": SHARDS}, _own, HINTS),
    Task("check-rule", 2, {"rule": CODE}, _rule, HINTS),
    Task("check-rule-elsewhere", 5, {"rule": CODE}, _rule, HINTS, seeds=3),
    bounds={"least_rate": MIN_RATE, "most_p99": MAX_P99, "least_per_core": MIN_PER_CORE},
)
