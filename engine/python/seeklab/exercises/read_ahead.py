"""The assignment on read-ahead: a function in Python that serves five thousand streams in the memory there is.

Each learner has a media server of their own. The read-ahead is judged on servers drawn at the moment of the check,
where thousands of players read in order and others jump about in their files.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import seeklab
from seeklab import checks
from seeklab._errors import SeeklabError
from seeklab._questions.read_ahead import run_prefetcher
from seeklab.checks import Evidence, Verdict
from seeklab.exercises import draws_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from seeklab._questions.read_ahead import Prefetcher
    from seeklab._result import Result

MIB = 1 << 20
RECORD = 128 << 10
RATE = 125_000
"""What a player takes, in B/s."""
WINDOW = 256
"""Records that a stream of 2008 may have ahead."""
WARM_UP_S = 2
RUN_S = 3
FROM_MEMORY_PERCENT = 75
WASTED_PERCENT = 1
DISK_TIMES = 1.5
JUDGED_SEEDS = 2
"""A run asks some thirty thousand questions."""

QUESTIONS = {
    "asked_gib": f"With the {WINDOW} records of 2008 for each stream: how much memory may read-ahead take, in GiB?",
    "needed_mb_per_s": "What do all players together take, in MB/s?",
}
"""What a learner commits to before the first run."""

DEMANDS = (
    f"after {WARM_UP_S} s the players find at least {FROM_MEMORY_PERCENT} % of their bytes in memory",
    f"at most {WASTED_PERCENT} % of what was read ahead is evicted before anybody reads it",
    f"the disks read at most {DISK_TIMES:g} times what was asked for",
)


@dataclass(frozen=True)
class Server:
    """A media server: players who read in order, readers who jump, and memory."""

    players: int
    jumps_per_s: int
    memory: int
    """Bytes for cached records."""

    def __str__(self) -> str:
        """Say it in a line."""
        return f"{self.players} players, {self.jumps_per_s} jumps a second, {self.memory / MIB:,.0f} MiB"

    def scenario(self, *, is_roomy: bool = False) -> dict[str, Any]:
        """Give the scenario; a roomy one has all the memory that anybody asks for, and nobody who jumps."""
        memory = 1 << 39 if is_roomy else self.memory
        timing = {"time_based": True, "ramp_time": f"{WARM_UP_S}s", "runtime": f"{RUN_S if not is_roomy else 12}s"}
        players = {
            "name": "players",
            "rw": "read",
            "bs": RECORD,
            "numjobs": self.players,
            "size": "69MiB",
            "rate": RATE,
            "stagger": 10**9 // self.players,
            **timing,
        }
        jumpers = {
            "name": "jumpers",
            "rw": "randread",
            "bs": RECORD,
            "numjobs": 10,
            "size": "10GiB",
            "norandommap": True,
            "rate_iops": self.jumps_per_s / 10,
            "iodepth": 64,
            **timing,
        }
        return {
            "zfs": {
                "era": "zfs-2008-12",
                "record": RECORD,
                "memory": max(memory, 1 << 33),
                "arc": {"size": memory},
                "prefetch": {},
            },
            "layout": {"unit": RECORD},
            "devices": [
                {
                    "name": "disk",
                    "count": 8,
                    "lun": {"capacity": "1TiB", "rate": "100GB" if is_roomy else "250MB", "latency": "6ms"},
                }
            ],
            "jobs": [players] if is_roomy else [players, jumpers],
            "record": {"log": False},
            "limits": {"memory": "2GiB"},
        }

    def run(self, prefetcher: Prefetcher | None, seed: int = 1) -> Result:
        """Run a read-ahead, or that of 2008, on this server."""
        return run_prefetcher(self.scenario(), prefetcher, seed=seed)


def _drawn(source: random.Random, players: int) -> Server:
    """Draw a server that nobody has seen."""
    memory = players * source.randint(900, 1000) << 10
    return Server(players, players * source.randint(25, 35) // 100, memory)


def server(learner: object) -> Server:
    """Give the learner's own server."""
    draws = draws_of(learner)
    return _drawn(random.Random(draws), 4000 + 10 * (draws[0] % 100))  # noqa: S311 -- a system, not a secret


def briefing(learner: object) -> str:
    """Tell the learner's system."""
    return f"The server of {learner}: {server(learner)}. A player takes {RATE:,} B/s in records of {RECORD >> 10} KiB."


def numbers(result: Result) -> tuple[float, float, float]:
    """Say how much came from memory after the warm-up and was wasted, in %, and disk bytes over those asked for."""
    metrics = result.metrics
    jobs = result.series
    asked = sum(jobs["read_bytes"])
    return (
        metrics["players.read_cached_share_percent"],
        metrics["zfs_ahead_wasted_percent"],
        metrics["zfs_io_read_bytes"] / max(1.0, asked),
    )


def practise(prefetcher: Callable[[], Prefetcher], learner: object, seed: int = 1) -> list[tuple[str, ...]]:
    """Race a read-ahead with the engine's of 2008 on the learner's server, as rows of a table."""
    own = server(learner)
    rows: list[tuple[str, ...]] = []
    for name, racer in (("yours", prefetcher()), ("2008", None)):
        memory, wasted, times = numbers(own.run(racer, seed))
        rows.append((name, f"{memory:.1f}", f"{wasted:.1f}", f"{times:.2f}"))
    return rows


def check_prediction(prediction: object, learner: object) -> Verdict:
    """Judge the predictions by their distance from what fresh runs give."""
    given = prediction if isinstance(prediction, dict) else {}
    own = server(learner)
    (seed,) = checks.fresh_seeds(1)
    roomy = seeklab.run(own.scenario(is_roomy=True), seed=seed).metrics
    truths = {
        "asked_gib": (roomy["zfs_ahead_asked_bytes"] / (1 << 30), "GiB"),
        "needed_mb_per_s": (roomy["players.read_mb_per_s"], "MB/s"),
    }
    return checks.combine(
        checks.judge_prediction(given.get(name), truth, within_factor=1.5, full_within_factor=1.1, what=name, unit=unit)
        for name, (truth, unit) in truths.items()
    )


def check_prefetcher(prefetcher: object, learner: object, seeds: int = JUDGED_SEEDS) -> Verdict:
    """Judge a read-ahead with the learner's number of players, on servers drawn from fresh seeds.

    `prefetcher` makes one that knows nothing yet: a class with `__call__`, or a function that gives a function.
    """
    try:
        own = server(learner)
    except SeeklabError as error:  # a learner without a name
        return checks.refused(error)
    return checks.judge_on_fresh_seeds(
        lambda seed: _measure(prefetcher, _drawn(random.Random(seed), own.players), seed),  # noqa: S311 -- as above
        seeds,
    )


def check_prefetcher_elsewhere(prefetcher: object) -> Verdict:
    """Judge it with five thousand players."""
    return checks.judge_on_fresh_seeds(
        lambda seed: _measure(prefetcher, _drawn(random.Random(seed), 5000), seed),  # noqa: S311 -- as above
        1,
    )


def _measure(prefetcher: object, on: Server, seed: int) -> list[Evidence]:
    if not callable(prefetcher):
        return [Evidence("read-ahead", repr(prefetcher), "a class, or a function that makes one", met=False)]
    try:
        memory, wasted, times = numbers(on.run(prefetcher(), seed))
    except Exception as error:  # noqa: BLE001 -- a learner's code may raise anything
        told = checks.told(error)
        return [Evidence(str(on), told, demand, met=False, seed=seed) for demand in DEMANDS]
    return [
        Evidence(f"{on}: from memory", memory, f">= {FROM_MEMORY_PERCENT}", memory >= FROM_MEMORY_PERCENT, "%", seed),
        Evidence(f"{on}: read ahead in vain", wasted, f"<= {WASTED_PERCENT}", wasted <= WASTED_PERCENT, "%", seed),
        Evidence(f"{on}: disks over readers", times, f"<= {DISK_TIMES:g}", times <= DISK_TIMES, "x", seed),
    ]
