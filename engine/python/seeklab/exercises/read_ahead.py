"""The assignment on read-ahead: a Python function serves five thousand streams with limited memory.

Each learner has a media server. The check draws other servers, where thousands of players read in order and other
clients jump in their files.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import seeklab
from seeklab._question import Question
from seeklab.decisions.read_ahead import Read, run_prefetcher
from seeklab.exercises._shapes import at_least, at_most, exercise, named, source_from
from seeklab.judge import Asked, Code, Commitment, Evidence, Task, draws_of

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from seeklab._result import Result
    from seeklab.decisions.read_ahead import Prefetcher

MIB = 1 << 20
RECORD = 128 << 10
RATE = 125_000
"""Bytes a second of a player that reads one record at a time."""
WINDOW = 256
"""Records that a stream of 2008 may read ahead."""
WARM_UP_S = 2
RUN_S = 2
FROM_MEMORY_PERCENT = 75
WASTED_PERCENT = 1
DISK_TIMES = 1.5
OTHER_PLAYERS, OTHER_RECORDS = 999, 3
FILE_RECORDS = 552
"""Records that a player can read in its file after its place: more than it reads in a run."""
PLACES = 3
"""Players begin at as many places of their files, so that a record's number does not tell a player from a jump."""
JUDGED_SEEDS = 1
"""A run asks about ten thousand questions, and more with more players."""

QUESTIONS = {
    "asked_gib": Question(
        f"With the {WINDOW} records of 2008 for each stream: how much memory may read-ahead take, in GiB?", unit="GiB"
    ),
    "needed_mb_per_s": Question("How many MB/s do all players read together?", unit="MB/s"),
}
"""Questions that a learner answers before the first run."""

DEMANDS = (
    f"after {WARM_UP_S} s the players find at least {FROM_MEMORY_PERCENT}% of their bytes in memory",
    f"at most {WASTED_PERCENT}% of the records that were read ahead are evicted before they are read",
    f"the disks read at most {DISK_TIMES:g} times the bytes that readers requested",
)


PLAYERS = ("players", *(f"players-{number}" for number in range(1, PLACES)))
"""The jobs of the players, one for each place."""


@dataclass(frozen=True)
class Server:
    """A media server: players who read in order, readers who jump, and memory."""

    players: int
    jumps_per_s: int
    memory: int
    """Bytes for cached records."""
    records: int
    """Records that a player reads at a time."""
    places: tuple[int, ...]
    """The records where players begin."""

    def __str__(self) -> str:
        """Describe it in one line."""
        reads = f"{self.records} record{'s' * (self.records > 1)} at a time"
        return f"{self.players} players, {reads}, {self.jumps_per_s} jumps a second, {self.memory / MIB:,.0f} MiB"

    def scenario(self, *, is_roomy: bool = False) -> dict[str, Any]:
        """Return the scenario; a roomy one has enough memory for every request, and no jumps."""
        memory = 1 << 39 if is_roomy else self.memory
        timing = {"time_based": True, "ramp_time": f"{WARM_UP_S}s", "runtime": f"{RUN_S if not is_roomy else 12}s"}
        places = self.places[:1] if is_roomy else self.places
        players = [
            {
                "name": f"players-{number}" if number else "players",
                "rw": "read",
                "bs": RECORD * self.records,
                "numjobs": self.players // len(places),
                "offset": place * RECORD,
                "size": FILE_RECORDS * RECORD * self.records,
                "rate": RATE * self.records,
                "stagger": 10**9 // (self.players // len(places)),
                **timing,
            }
            for number, place in enumerate(places)
        ]
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
                    "lun": {"capacity": "4TiB", "rate": "100GB" if is_roomy else "250MB", "latency": "6ms"},
                }
            ],
            "jobs": players if is_roomy else [*players, jumpers],
            "record": {"log": False},
            "limits": {"memory": "2GiB"},
        }

    def run(self, prefetcher: Prefetcher | None, seed: int = 1) -> Result:
        """Run a read-ahead, or that of 2008, on this server."""
        return run_prefetcher(self.scenario(), prefetcher, seed=seed)


def _drawn(source: random.Random, players: int, records: int) -> Server:
    """Draw an unseen server."""
    players -= players % PLACES
    memory = players * records * source.randint(900, 1000) << 10
    places = tuple(source.randrange(1000, 60_000) for _ in range(PLACES))
    return Server(players, players * source.randint(25, 35) // 100, memory, records, places)


def server(learner: object) -> Server:
    """Return the learner's own server."""
    draws = draws_of(learner)
    return _drawn(source_from(draws), 1000 + 10 * (draws[0] % 100), 1 + draws[1] % 2)


def briefing(learner: object) -> str:
    """Describe the learner's system."""
    pause = f"a player reads once in {RECORD / RATE:.2f} s"
    return f"The server of {learner}: {server(learner)}. A record has {RECORD >> 10} KiB, and {pause}."


def numbers(result: Result) -> tuple[float, float, float]:
    """Return the bytes from memory after the warm-up and the wasted ones, in %, and disk bytes over requested bytes."""
    metrics = result.metrics
    jobs = result.series
    asked = sum(jobs["read_bytes"])
    shares = [metrics[f"{name}.read_cached_share_percent"] for name in PLAYERS]
    return (
        sum(shares) / len(shares),
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


def _near(asked: Asked) -> dict[str, float]:
    roomy = seeklab.run(server(asked.draws).scenario(is_roomy=True), seed=asked.seed).metrics
    return {
        "asked_gib": roomy["zfs_ahead_asked_bytes"] / (1 << 30),
        "needed_mb_per_s": roomy["players.read_mb_per_s"],
    }


def _served(asked: Asked, players: int, records: int) -> list[Evidence]:
    """Judge a read-ahead on a server drawn from the seed."""
    on = _drawn(source_from(asked.seed), players, records)
    with asked.play("Policy") as policy:
        memory, wasted, times = numbers(on.run(policy, asked.seed))
    least, most, reads = (asked.bound(name) for name in ("from_memory_percent", "wasted_percent", "disk_times"))
    lost = WHY["evicted" if wasted > most else "too-little"]
    return [
        at_least(f"{on}: from memory", memory, least, "%", asked.seed, lost),
        at_most(f"{on}: read ahead, unused", wasted, most, "%", asked.seed, WHY["wasted"]),
        at_most(f"{on}: disks over readers", times, reads, "x", asked.seed, WHY["busy-disks"]),
    ]


WHY = named(
    evicted="players wait for disks: records fetched for them were evicted before use, because the policy requests "
    "more than fits into memory",
    too_little="players wait for disks: the policy fetches too little for readers in order, or too late",
    wasted="memory is full of records that no player reads: clients that jump do not read on, and a player needs "
    "only the next records",
    busy_disks="the disks read more than the readers requested, and players wait for the extra disk time",
)
CODE = Code(("read",), {"read": Read._fields}, made=True)
HINTS = (
    "How much memory is there for each player? How many records is that?",
    "Jumps are easy to recognize: the next read does not start where the last one ended.",
    (
        "Store for each file where its last read ended, when, and how many records it read at that time. For a reader "
        "who continues there fetch as many again, at least two; fetch nothing for the others."
    ),
)

ASSIGNMENT, check, hint = exercise(
    "read-ahead",
    Commitment("check-prediction", 2, "prediction", QUESTIONS, _near),
    Task(
        "check-read-ahead",
        2,
        {"Policy": CODE},
        lambda asked: _served(asked, server(asked.draws).players, server(asked.draws).records),
        HINTS,
        seeds=JUDGED_SEEDS,
    ),
    Task(
        "check-read-ahead-elsewhere",
        4,
        {"Policy": CODE},
        lambda asked: _served(asked, OTHER_PLAYERS, OTHER_RECORDS),
        HINTS,
        seeds=1,
    ),
    cells={"Policy": "read-ahead"},
    bounds={
        "from_memory_percent": FROM_MEMORY_PERCENT,
        "wasted_percent": WASTED_PERCENT,
        "disk_times": DISK_TIMES,
    },
)
