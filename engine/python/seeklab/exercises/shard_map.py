"""The assignment on shard maps: a function in Python that names the owner of each range, and survives hot ranges.

Each learner has a disk of their own with a few hot ranges, all of which the interleaved map gives to one shard. The map
is judged on hot ranges that are drawn at the moment of the check and change their place during the run, beside the
engine's interleaved map.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from seeklab import checks
from seeklab._errors import SeeklabError
from seeklab._questions.shard_map import INTERLEAVED, run_shard_map
from seeklab.checks import Evidence
from seeklab.exercises import draws_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from seeklab._questions.shard_map import ShardMap
    from seeklab._result import Result
    from seeklab.checks import Verdict

MIB = 1 << 20
RANGES = 256
SHARDS = (4, 6)
HOT = 6
READ_US = 80
TAKEOVER_US = 400
RUN_MS = 80
READS_TIMES = 2.2
TOLD_TIMES = 0.9
P99_TIMES = 0.75

QUESTIONS = {
    "interleaved_per_s": "The interleaved map on your disk: how many reads a second to the hot ranges, all together?",
    "spread_times": "How many times as many, if the hot ranges were spread evenly over the shards?",
}
"""What a learner commits to before the first run."""

DEMANDS = (
    f"at least {READS_TIMES:g} times the reads of the interleaved map",
    f"99 % of them within {P99_TIMES:g} times its time",
    f"at least {TOLD_TIMES:g} times the reads of a map that was told the hot ranges beforehand",
)


@dataclass(frozen=True)
class Disk:
    """A disk, its shards, and ranges that are hot in the first and in the second half of the run."""

    shards: int
    hot: tuple[tuple[int, ...], tuple[int, ...]]

    def __str__(self) -> str:
        """Say it in a line."""
        first, second = (", ".join(map(str, ranges)) for ranges in self.hot)
        return f"{self.shards} shards, hot ranges {first}, later {second}"

    def scenario(self) -> dict[str, Any]:
        """Give the scenario with the engine's own map."""
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
        """Give the scenario with a fixed map that knows the hot ranges, and spreads those of each half evenly."""
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
    """Draw hot ranges that the interleaved map gives to one shard."""
    owner = source.randrange(shards)
    return tuple(sorted(source.sample(range(owner, RANGES, shards), HOT)))


def _drawn(source: random.Random, shards: int | None = None) -> Disk:
    """Draw a disk whose hot ranges nobody has seen."""
    count = shards or source.choice(SHARDS)
    return Disk(count, (_hot(source, count), _hot(source, count)))


def disk(learner: object) -> Disk:
    """Give the learner's own disk."""
    draws = draws_of(learner)
    return _drawn(random.Random(bytes(draws)), SHARDS[draws[0] % len(SHARDS)])  # noqa: S311 -- a load, not a secret


def briefing(learner: object) -> str:
    """Tell the learner's disk."""
    return (
        f"The disk of {learner}: {RANGES} ranges of 1 MiB; {disk(learner)} (after {RUN_MS} ms). On each hot range 16"
        f" reads are outstanding, 4 on all others together. A read costs its shard {READ_US} us, the first one of a"
        f" range that has come from another shard {TAKEOVER_US} us more."
    )


def numbers(result: Result) -> tuple[float, float]:
    """Give the reads a second to the hot ranges, and the time within which 99 % of them are done, in ms."""
    hot = [nth for nth, name in enumerate(result.jobs) if name.startswith("hot")]
    times = sorted(row["latency_ns"] for row in result.ops.rows() if row["job"] in hot)
    return len(times) / (2 * RUN_MS / 1000), times[len(times) * 99 // 100] / 1e6


def practise(policy: Callable[[], ShardMap], learner: object, seed: int = 1) -> list[tuple[str, ...]]:
    """Race a map with the engine's on the learner's disk, as rows: map, reads/s, 99 % within ms, moves, busy shards."""
    rows: list[tuple[str, ...]] = []
    for name, racer in (("yours", policy()), (INTERLEAVED, INTERLEAVED)):
        result = disk(learner).run(racer, seed)
        per_s, late_ms = numbers(result)
        moved = f"{result.metrics.get('moved_ranges', 0):,.0f}"
        elapsed_ns = result.metrics["elapsed_s"] * 1e9
        busy = [f"{100 * row['busy_ns'] / elapsed_ns:.0f} %" for row in result.cpu.rows() if row["number"]]
        rows.append((name, f"{per_s:,.0f}", f"{late_ms:.2f}", moved, ", ".join(busy)))
    return rows


def check_prediction(prediction: object, learner: object) -> Verdict:
    """Judge the predictions by their distance from what fresh runs give."""
    given = prediction if isinstance(prediction, dict) else {}
    own = disk(learner)
    (seed,) = checks.fresh_seeds(1)
    now, _ = numbers(own.run(INTERLEAVED, seed))
    # The same number of hot ranges, the first of them with the first shard, and so on.
    even = tuple(own.shards * nth + nth % own.shards for nth in range(HOT))
    spread, _ = numbers(Disk(own.shards, (even, even)).run(INTERLEAVED, seed))
    truths = {"interleaved_per_s": (now, 1.4, 1.1, "1/s"), "spread_times": (spread / now, 1.4, 1.15, "x")}
    return checks.combine(
        checks.judge_prediction(
            given.get(name), truth, within_factor=within, full_within_factor=full, what=name, unit=unit
        )
        for name, (truth, within, full, unit) in truths.items()
    )


def check_map(policy: object, learner: object, seeds: int = checks.SEEDS) -> Verdict:
    """Judge a map on the learner's shards, with hot ranges drawn from fresh seeds.

    `policy` makes a map that knows nothing yet: a class with `__call__`, or a function that gives a function.
    """
    try:
        own = disk(learner)
    except SeeklabError as error:  # a learner without a name
        return checks.refused(error)
    return checks.judge_on_fresh_seeds(
        lambda seed: _measure(policy, _drawn(random.Random(seed), own.shards), seed),  # noqa: S311 -- a load
        seeds,
    )


def check_map_elsewhere(policy: object) -> Verdict:
    """Judge it with other numbers of shards."""
    return checks.judge_on_fresh_seeds(
        lambda seed: _measure(policy, _drawn(random.Random(seed)), seed),  # noqa: S311 -- a load, not a secret
        checks.SEEDS,
    )


def _measure(policy: object, on: Disk, seed: int) -> list[Evidence]:
    if not callable(policy):
        return [Evidence("map", repr(policy), "a class, or a function that makes a map", met=False)]
    try:
        per_s, late_ms = numbers(on.run(policy(), seed))
    except Exception as error:  # noqa: BLE001 -- a learner's code may raise anything
        told = checks.told(error)
        return [Evidence(str(on), told, demand, met=False, seed=seed) for demand in DEMANDS]
    rival_per_s, rival_ms = numbers(on.run(INTERLEAVED, seed))
    told_per_s, _ = numbers(run_shard_map(on.told(), INTERLEAVED, seed=seed))
    least, most, near = READS_TIMES * rival_per_s, P99_TIMES * rival_ms, TOLD_TIMES * told_per_s
    return [
        Evidence(
            f"{on}: reads", per_s, f">= {least:,.0f} ({READS_TIMES:g} times interleaved)", per_s >= least, "1/s", seed
        ),
        Evidence(
            f"{on}: p99", late_ms, f"<= {most:.3g} ({P99_TIMES:g} times interleaved)", late_ms <= most, "ms", seed
        ),
        Evidence(
            f"{on}: reads", per_s, f">= {near:,.0f} ({TOLD_TIMES:g} times a map that knows)", per_s >= near, "1/s", seed
        ),
    ]
