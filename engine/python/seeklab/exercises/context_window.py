"""The assignment on context read-ahead: a Python policy that ignores chance and serves streams.

Each learner has a file on flash. The check draws other files and SSDs. It measures the excess bytes for random reads,
at several cached shares of the file. It also measures the rate of a thread that reads at four places of a file in turn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import seeklab
from seeklab._question import Question
from seeklab.decisions.read_ahead import Read, run_prefetcher
from seeklab.exercises._shapes import exercise, named, source_from
from seeklab.judge import Asked, Code, Commitment, Evidence, Task, draws_of

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterable

    from seeklab._result import Result
    from seeklab.decisions.read_ahead import Prefetcher

MIB = 1 << 20
SURPLUS = 1.05
"""Limit of the bytes read, as a multiple of those that random reads request."""
KEPT = 0.95
"""Required share of the best kernel's rate for streams."""
STREAMS = 4
STREAM_READS = 512
"""Reads at each place: enough that the start hardly matters."""
CONTEXTS = ("off", "2009", "ramp", "2013")
"""Kernel rules for the cached pages before a missing one."""
SHARES = ((10, 25), (30, 45), (50, 61))
"""Ranges of the share of the file that is requested in the end, in %."""

EAGER = 0.5
"""A policy that reads ahead for more than this share of random reads reads ahead of everything."""

QUESTIONS = {
    "surplus_percent": Question(
        "Random reads have asked for 40% of the file. How much more than that did the guess of 2009 read, in % of it?",
        unit="%",
    ),
    "stream_mib_per_s": Question(
        "Without any read-ahead: at how many MiB/s does a thread read at four places in turn?", unit="MiB/s"
    ),
}
"""Questions that a learner answers before the first run."""

DEMANDS = (
    f"random reads, when they have asked for 10 to 60% of the file: at most {SURPLUS:g} times as many bytes are read",
    f"a thread that reads at four places in turn: at least {100 * KEPT:g}% of the rate of the best of four kernels",
    "the second check asks for both, because a policy that reads ahead of everything serves streams too",
)


@dataclass(frozen=True)
class Flash:
    """A file on an SSD."""

    file_mib: int
    read_kib: int
    """Size of a random read."""
    stream_kib: int
    """Size of a read of a stream."""
    rate_mb: int
    latency_us: int

    def __str__(self) -> str:
        """Describe it in one line."""
        return (
            f"a file of {self.file_mib} MiB, random reads of {self.read_kib} KiB, reads in order of {self.stream_kib} "
            f"KiB, an SSD of {self.rate_mb} MB/s and {self.latency_us} us"
        )

    def _on(self, context: str, jobs: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "page_cache": {"memory": "16GiB", "read_ahead": {"context": context}},
            "devices": [
                {
                    "name": "ssd",
                    "lun": {"capacity": "64GiB", "rate": f"{self.rate_mb}MB", "latency": f"{self.latency_us}us"},
                }
            ],
            "jobs": jobs,
            "record": {"log": False},
        }

    def random_reads(self, share_percent: float, context: str = "off") -> dict[str, Any]:
        """Return the scenario of random reads until this share of the file has been requested."""
        places = self.file_mib * 1024 // self.read_kib
        reads = round(math.log(1 - share_percent / 100) / math.log(1 - 1 / places))
        job = {
            "name": "rand",
            "rw": "randread",
            "bs": f"{self.read_kib}KiB",
            "size": f"{self.file_mib}MiB",
            "norandommap": True,
            "number_ios": reads,
        }
        return self._on(context, [job])

    def streams(self, context: str = "off", count: int = STREAMS) -> dict[str, Any]:
        """Return the scenario of a thread that reads at N places of its file in turn, in order at each."""
        job = {
            "name": "merge",
            "rw": "read",
            "bs": f"{self.stream_kib}KiB",
            "size": f"{self.file_mib}MiB",
            "nrfiles": count,
            "number_ios": count * STREAM_READS,
        }
        return self._on(context, [job])


def _drawn(source: random.Random) -> Flash:
    """Draw an unseen file."""
    return Flash(
        file_mib=source.choice((128, 160, 192)),
        read_kib=source.choice((32, 64)),
        stream_kib=source.choice((16, 32)),
        rate_mb=source.randrange(180, 260, 10),
        latency_us=source.randrange(160, 260, 10),
    )


def flash(learner: object) -> Flash:
    """Return the learner's own file."""
    return _drawn(source_from(bytes(draws_of(learner))))


def briefing(learner: object) -> str:
    """Describe the learner's system."""
    return f"Of {learner}: {flash(learner)}."


def surplus(on: Flash, share_percent: float, prefetcher: Prefetcher | None, seed: int, context: str = "2009") -> float:
    """Return the bytes that random reads cause under a read-ahead, over those without it."""
    system = on.random_reads(share_percent, context)
    found: Result = run_prefetcher(system, prefetcher, seed=seed)
    least = seeklab.run(on.random_reads(share_percent), seed=seed)
    return float(found.metrics["device_bytes"] / least.metrics["device_bytes"])


def rate(on: Flash, prefetcher: Prefetcher | None, seed: int, context: str = "off", count: int = STREAMS) -> float:
    """Return the rate of reads at four places in turn under a read-ahead, in MiB/s."""
    found: Result = run_prefetcher(on.streams(context, count), prefetcher, seed=seed)
    return float(found.metrics["rate_mib_per_s"])


def best_rate(on: Flash, seed: int, count: int = STREAMS) -> float:
    """Return the rate of the best kernel."""
    return max(rate(on, None, seed, context, count) for context in CONTEXTS)


def practise(policy: Callable[[], Prefetcher], learner: object, seed: int = 1) -> list[tuple[str, ...]]:
    """Race a read-ahead with the kernels' on the learner's file, as rows of a table."""
    own = flash(learner)

    def row(name: str, racer: Callable[[], Prefetcher | None], context: str) -> tuple[str, ...]:
        shares = [f"{surplus(own, share, racer(), seed, context):.3f}" for share in (15, 40, 60)]
        return (name, *shares, f"{rate(own, racer(), seed, context):.0f}")

    yours = row("yours", policy, "off")
    return [yours, *(row(context, lambda: None, context) for context in CONTEXTS)]


def _near(asked: Asked) -> dict[str, float]:
    own = flash(asked.draws)
    return {
        "surplus_percent": 100 * (surplus(own, 40, None, asked.seed) - 1),
        "stream_mib_per_s": rate(own, lambda _read: [], asked.seed),
    }


WHY = named(
    every_read="the policy reads ahead of every read, but random reads do not continue there: even when little of the "
    "file is cached, it reads too much",
    chance="the policy mistakes chance for a stream: the more of the file was read, the more often a random read "
    "starts where another ended long ago",
    one_stream="the policy follows reads at one place, but not at four in turn, where three others come in between",
    too_little=(
        "the streams wait for the SSD: the policy reads too little ahead, so most reads start only when the thread asks"
    ),
)


class _Watched:
    """A read-ahead that counts the reads before which it fetched something."""

    def __init__(self, policy: Prefetcher) -> None:
        self.policy = policy
        self.reads = self.ahead = 0

    def __call__(self, read: Read) -> Iterable[tuple[int, int]]:
        """Ask the read-ahead for its decision."""
        runs = self.policy(read)
        self.reads += 1
        self.ahead += bool(runs)
        return runs


def _random(asked: Asked) -> list[Evidence]:
    """Judge a read-ahead by random reads of a file drawn from the seed."""
    source = source_from(asked.seed)
    on = _drawn(source)
    shares = [source.randrange(*bounds) for bounds in SHARES]
    most = asked.bound("surplus")
    found, reads = [], []
    for share in shares:
        with asked.play("Policy") as policy:
            watched = _Watched(policy)
            found.append(surplus(on, share, watched, asked.seed))
            reads.append(watched)
    why = WHY["every-read" if reads[0].ahead > EAGER * reads[0].reads else "chance"]
    return [
        Evidence(
            f"{on}, {share}% asked for: read over asked", value, f"<= {most:g}", value <= most, "x", asked.seed
        ).because(why)
        for share, value in zip(shares, found, strict=True)
    ]


def _streams(asked: Asked) -> list[Evidence]:
    """Judge a read-ahead by a thread that reads at four places in turn, on a file drawn from the seed."""
    on = _drawn(source_from(asked.seed))
    least = asked.bound("kept") * best_rate(on, asked.seed)
    with asked.play("Policy") as policy:
        found = rate(on, policy, asked.seed)
    why = WHY["too-little"]
    if found < least:
        with asked.play("Policy") as policy:
            alone = rate(on, policy, asked.seed, count=1)
        why = WHY["one-stream" if alone >= asked.bound("kept") * best_rate(on, asked.seed, count=1) else "too-little"]
    # A policy that reads ahead of everything serves streams too.
    return [
        Evidence(f"{on}: four places in turn", found, f">= {least:.1f}", found >= least, "MiB/s", asked.seed).because(
            why
        ),
        *_random(asked),
    ]


CODE = Code(("read",), {"read": Read._fields}, made=True)
HINTS = (
    (
        "How can you distinguish a stream from chance? An earlier read may have ended here, but how recently, and "
        "how often?"
    ),
    "Keep the ends of the last dozen reads. A read that starts at one of them continues it; forget older ones.",
    (
        "For each of the last 16 ends, store the number of continuations and how far you have fetched. From the "
        "second continuation on, keep 64 pages ahead: when fewer remain, fetch the next 64. Fetch nothing for "
        "other reads."
    ),
)

ASSIGNMENT, check, hint = exercise(
    "context-window",
    Commitment("check-prediction", 2, "prediction", QUESTIONS, _near),
    Task("check-random", 2, {"Policy": CODE}, _random, HINTS, seeds=1),
    Task("check-streams", 4, {"Policy": CODE}, _streams, HINTS, seeds=1),
    cells={"Policy": "read-ahead"},
    bounds={"surplus": SURPLUS, "kept": KEPT},
)
