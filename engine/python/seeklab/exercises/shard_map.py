"""The assignment on shard maps: a Python function names the owner of each range, and copes with hot ranges.

Each learner has a disk with a few hot ranges that the interleaved map assigns to one shard. The check draws other hot
ranges, which change their place during the run, and compares the map with the engine's interleaved map.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from seeklab._question import Question
from seeklab.decisions.shard_map import INTERLEAVED, ShardHistory, run_shard_map
from seeklab.exercises._shapes import exercise, named, source_from
from seeklab.judge import Asked, Code, Commitment, Evidence, Task, diagnose, draws_of

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from seeklab._result import Result
    from seeklab.decisions.shard_map import ShardMap

MIB = 1 << 20
RANGES = 256
SHARDS = (4, 6)
HOT = 6
MANY_MOVES = 200
"""Number of moves in a run above which they cost more than they gain."""
READ_US = 80
TAKEOVER_US = 400
RUN_MS = 40
READS_TIMES = 2.2
TOLD_TIMES = 0.9
P99_TIMES = 0.75

QUESTIONS = {
    "interleaved_per_s": Question(
        "The interleaved map on your disk: how many reads a second to the hot ranges, all together?", unit="1/s"
    ),
    "spread_times": Question("How many times as many, if the hot ranges were spread evenly over the shards?", unit="x"),
}
"""Questions that a learner answers before the first run."""

DEMANDS = (
    f"at least {READS_TIMES:g} times the reads of the interleaved map",
    f"99% of them within {P99_TIMES:g} times its time",
    f"at least {TOLD_TIMES:g} times the reads of a map that knows the hot ranges in advance",
)


@dataclass(frozen=True)
class Disk:
    """A disk, its shards, and the hot ranges in the first and in the second half of the run."""

    shards: int
    hot: tuple[tuple[int, ...], tuple[int, ...]]

    def __str__(self) -> str:
        """Describe it in one line."""
        first, second = (", ".join(map(str, ranges)) for ranges in self.hot)
        return f"{self.shards} shards, hot ranges {first}, later {second}"

    def scenario(self) -> dict[str, Any]:
        """Return the scenario with the engine's own map."""
        job = {
            "rw": "randread",
            "bs": "8KiB",
            "filename": "disk",
            "size": "1MiB",
            "iodepth": 16,
            "norandommap": True,
            "time_based": True,
            "runtime": f"{RUN_MS}ms",
        }
        hot = [
            {**job, "name": f"hot{half}{number}", "offset": at * MIB, "startdelay": f"{half * RUN_MS}ms"}
            for half, ranges in enumerate(self.hot)
            for number, at in enumerate(ranges)
        ]
        cold = {**job, "name": "cold", "size": RANGES * MIB, "iodepth": 4, "runtime": f"{2 * RUN_MS}ms"}
        return {
            "controller": {
                "cores": 16,
                "disks": "one",
                "shards": self.shards,
                "range": MIB,
                "dispatch": "2us",
                "read": f"{READ_US}us",
                "takeover": f"{TAKEOVER_US}us",
            },
            "devices": [{"name": "flash", "lun": {"rate": "6GB", "latency": "100us", "capacity": "1TiB"}}],
            "jobs": [cold, *hot],
        }

    def told(self) -> dict[str, Any]:
        """Return the scenario with a fixed map that knows the hot ranges, and spreads each half's evenly."""
        owners = [at % self.shards for at in range(RANGES)]
        for ranges in self.hot:
            for number, at in enumerate(ranges):
                owners[at] = number % self.shards
        scenario = self.scenario()
        return {**scenario, "controller": {**scenario["controller"], "owners": owners}}

    def run(self, policy: ShardMap | str, seed: int = 1) -> Result:
        """Run a map, or the engine's "interleaved", on this disk."""
        return run_shard_map(self.scenario(), policy, seed=seed)


def _hot(source: random.Random, shards: int) -> tuple[int, ...]:
    """Draw hot ranges that the interleaved map assigns to one shard."""
    owner = source.randrange(shards)
    return tuple(sorted(source.sample(range(owner, RANGES, shards), HOT)))


def _drawn(source: random.Random, shards: int | None = None) -> Disk:
    """Draw a disk with unseen hot ranges."""
    count = shards or source.choice(SHARDS)
    return Disk(count, (_hot(source, count), _hot(source, count)))


def disk(learner: object) -> Disk:
    """Return the learner's own disk."""
    draws = draws_of(learner)
    return _drawn(source_from(bytes(draws)), SHARDS[draws[0] % len(SHARDS)])


def briefing(learner: object) -> str:
    """Describe the learner's disk."""
    return (
        f"The disk of {learner}: {RANGES} ranges of 1 MiB; {disk(learner)} (after {RUN_MS} ms). Each hot range has 16 "
        f"reads in flight, all others together have 4. A read costs its shard {READ_US} us. When a range moves to "
        f"another shard, its first read there costs {TAKEOVER_US} us more."
    )


def numbers(result: Result) -> tuple[float, float]:
    """Return the reads a second to the hot ranges, and their 99th percentile in ms."""
    hot = {nth for nth, name in enumerate(result.jobs) if name.startswith("hot")}
    of_job = zip(result.ops["job"], result.ops["latency_ns"], strict=True)
    times = sorted(latency_ns for job, latency_ns in of_job if job in hot)
    return len(times) / (2 * RUN_MS / 1000), times[len(times) * 99 // 100] / 1e6


def practise(policy: Callable[[], ShardMap], learner: object, seed: int = 1) -> list[tuple[str, ...]]:
    """Race a map with the engine's on the learner's disk, as rows: map, reads/s, 99% within ms, moves, busy shards."""
    rows: list[tuple[str, ...]] = []
    for name, racer in (("yours", policy()), (INTERLEAVED, INTERLEAVED)):
        result = disk(learner).run(racer, seed)
        per_s, late_ms = numbers(result)
        moved = f"{result.metrics.get('moved_ranges', 0):,.0f}"
        elapsed_ns = result.metrics["elapsed_s"] * 1e9
        busy = [f"{100 * row['busy_ns'] / elapsed_ns:.0f}%" for row in result.cpu.rows() if row["number"]]
        rows.append((name, f"{per_s:,.0f}", f"{late_ms:.2f}", moved, ", ".join(busy)))
    return rows


def _near(asked: Asked) -> dict[str, float]:
    own = disk(asked.draws)
    now, _ = numbers(own.run(INTERLEAVED, asked.seed))
    # The same number of hot ranges: the first on the first shard, and so on.
    even = tuple(own.shards * nth + nth % own.shards for nth in range(HOT))
    spread, _ = numbers(Disk(own.shards, (even, even)).run(INTERLEAVED, asked.seed))
    return {"interleaved_per_s": now, "spread_times": spread / now}


def _measure(asked: Asked, on: Disk) -> list[Evidence]:
    with asked.play("Policy") as policy:
        result = on.run(policy, asked.seed)
    per_s, late_ms = numbers(result)
    rival_per_s, rival_ms = numbers(on.run(INTERLEAVED, asked.seed))
    told_per_s, _ = numbers(run_shard_map(on.told(), INTERLEAVED, seed=asked.seed))
    times, p99, told = (asked.bound(name) for name in ("reads_times", "p99_times", "told_times"))
    least, most, near = times * rival_per_s, p99 * rival_ms, told * told_per_s
    moved = result.metrics.get("moved_ranges", 0)
    slow = diagnose([WHY["static" if not moved else "restless" if moved > MANY_MOVES else "late"]], moved)
    read = f"{on}: reads"
    return [
        Evidence(
            read, per_s, f">= {least:,.0f} ({times:g} times interleaved)", per_s >= least, "1/s", asked.seed
        ).because(slow),
        Evidence(
            f"{on}: p99", late_ms, f"<= {most:.3g} ({p99:g} times interleaved)", late_ms <= most, "ms", asked.seed
        ).because(slow),
        Evidence(
            read, per_s, f">= {near:,.0f} ({told:g} times a map that knows)", per_s >= near, "1/s", asked.seed
        ).because(slow),
    ]


WHY = named(
    static="no range ever changes its owner: a map that does not look at the load leaves the hot ranges together",
    restless=f"ranges were moved {{found:,.0f}} times, and each move costs the new owner {TAKEOVER_US} us: follow "
    "ranges that stay hot, not every queue",
    late="the hot ranges change halfway, but this map follows late, or leaves two on one shard: forget old heat; "
    "move ranges from the fullest shard to the emptiest",
)
CODE = Code(("range_", "shards", "history"), {"history": ShardHistory._fields}, made=True)
HINTS = (
    "Count the requests of each range. Which ranges are hot, and where are they?",
    "Hot ranges change: let the counts fade, for example by halving them now and then.",
    (
        "About every fifty requests, move one range from the shard with the longest queue to the one with the "
        "least load. Choose only a range that is no hotter than the gap between the two."
    ),
)

ASSIGNMENT, check, hint = exercise(
    "shard-map",
    Commitment("check-prediction", 2, "prediction", QUESTIONS, _near),
    Task(
        "check-map",
        2,
        {"Policy": CODE},
        lambda asked: _measure(asked, _drawn(source_from(asked.seed), disk(asked.draws).shards)),
        HINTS,
    ),
    Task(
        "check-map-elsewhere",
        4,
        {"Policy": CODE},
        lambda asked: _measure(asked, _drawn(source_from(asked.seed))),
        HINTS,
    ),
    cells={"Policy": "map"},
    bounds={"reads_times": READS_TIMES, "p99_times": P99_TIMES, "told_times": TOLD_TIMES},
)
