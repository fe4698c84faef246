"""The assignment on sizing a buffer, so that no write of a burst is delayed.

Each learner has a burst and a backend, and writes a function that returns the size for any other. Runs judge it: no
write is delayed at that size, and some are at a slightly smaller size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from seeklab._case import Case
from seeklab._case import case as load_case
from seeklab._question import Question
from seeklab.exercises._shapes import exercise, named, returned, source_from
from seeklab.judge import Asked, Code, Commitment, Evidence, Number, Task, diagnose, draws_of

if TYPE_CHECKING:
    from seeklab._result import Result

CASE = "dirty-sizing"
MB = 1_000_000
SYNC_BYTES = 64 << 20
"""Dirty bytes that start the sync of a group; below that, nothing is written."""
FOUND_SHARE = 0.4
"""The buffer as found, as a share of the bytes that the backend cannot write during the burst."""
WASTE_PERCENT = 3
"""A buffer that is smaller by this much must be too small."""
OTHERS = 3

QUESTIONS = {
    "first_delay_s": Question(
        "The buffer as found: after how many seconds of the burst is the first write delayed?", unit="s"
    ),
    "peak_mb": Question("With a buffer so large that no write is delayed: how many MB are dirty at most?", unit="MB"),
}
"""Questions that a learner answers before the first run."""

DEMANDS = (
    "at the size that the function returns, no write of the burst is delayed",
    f"with {WASTE_PERCENT}% less, some are",
)


@dataclass(frozen=True)
class Burst:
    """A load of limited duration, its backend, and the threshold of the throttle."""

    load: int
    """In B/s."""
    backend: int
    """In B/s."""
    burst_s: int
    delay_percent: int
    """Share of the buffer above which writes are delayed."""

    @property
    def left_behind(self) -> int:
        """Bytes that the backend cannot write during the burst."""
        return (self.load - self.backend) * self.burst_s

    def __str__(self) -> str:
        """Describe it in one line."""
        return (
            f"{self.load // MB} MB/s for {self.burst_s} s onto {self.backend // MB} MB/s, delayed from "
            f"{self.delay_percent}%"
        )

    def run(self, dirty_data_max: float, seed: int = 1) -> Result:
        """Run the burst with a buffer of this size, in bytes."""
        return self._system(dirty_data_max).run(seed=seed)

    def _system(self, dirty_data_max: float) -> Case:
        base = load_case(CASE)
        workers = base.scenario()["jobs"][0]["numjobs"]
        return base.with_(
            {
                "zfs.dirty_data_max": round(dirty_data_max),
                "zfs.dirty_data_sync": SYNC_BYTES,
                "zfs.delay_min_dirty_percent": self.delay_percent,
                "devices[pool].lun.rate": self.backend,
                "jobs[client].rate": self.load // workers,
                "jobs[client].runtime": f"{self.burst_s}s",
                "record.log": False,
            }
        )


def _drawn(draws: bytes) -> Burst:
    """Draw a burst."""
    backend = 80 + 4 * (draws[0] % 16)
    load = backend * (150 + draws[1] % 46) // 100 // 4 * 4
    return Burst(load * MB, backend * MB, 5 + draws[2] % 4, 50 + 2 * (draws[3] % 11))


def burst(learner: object) -> Burst:
    """Return the learner's burst."""
    return _drawn(draws_of(learner))


def found(learner: object) -> int:
    """Return the learner's buffer as found, in bytes."""
    return round(burst(learner).left_behind * FOUND_SHARE / MB) * MB


def briefing(learner: object) -> str:
    """Describe the learner's system."""
    return (
        f"The burst of {learner}: {burst(learner)}. As found, the buffer holds {found(learner) // MB} MB. A group "
        f"starts to sync when {SYNC_BYTES:,} bytes of it are dirty."
    )


def _near(asked: Asked) -> dict[str, float]:
    own = burst(asked.draws)
    small, large = own.run(found(asked.draws), asked.seed), own.run(4 * own.left_behind, asked.seed)
    return {
        "first_delay_s": small.metrics["zfs_first_delay_s"],
        "peak_mb": large.metrics["zfs_dirty_max_bytes"] / MB,
    }


def _measure(asked: Asked, on: Burst) -> list[Evidence]:
    """Run the returned size, and one slightly smaller."""
    with asked.play("size") as size:
        given = size(on.load, on.backend, on.burst_s, on.delay_percent)
    given, broken = returned(Number(at_least=1, at_most=100 * on.left_behind), given, on, 2)
    if broken:
        return broken
    enough, less = (on.run(given * share, asked.seed) for share in (1, 1 - asked.bound("waste_percent") / 100))
    what = f"{on}: delayed writes at {given / MB:,.0f} MB"
    delayed, fewer = (run.metrics["zfs_delayed_writes"] for run in (enough, less))
    small = diagnose([WHY["full-buffer" if given <= on.left_behind else "late-start"]], on.delay_percent)
    return [
        Evidence(what, delayed, "0", delayed == 0, seed=asked.seed).because(small),
        Evidence(f"{what} less {asked.bound('waste_percent'):g}%", fewer, ">= 1", fewer >= 1, seed=asked.seed).because(
            WHY["too-large"]
        ),
    ]


WHY = named(
    full_buffer="too small: the size covers the bytes left after the burst, but delays start long before the buffer is "
    "full; these bytes must stay below {found}% of it",
    late_start="too small: the backend is idle while the first 64 MiB arrive, so more data remain than load minus "
    "backend suggests",
    too_large="too large: a buffer a few percent smaller would also be enough, and memory costs money",
)
HINTS = (
    "How much data arrives during the burst, and how much is written? The rest is dirty at the end.",
    "Writes are delayed when the dirty data exceed delay_percent of the buffer, not when it is full.",
    (
        "A group starts to sync when 64 MiB of it are dirty; until then the backend writes nothing. In that time "
        "it could have written backend * 64 MiB / load."
    ),
)
CODE = Code(("load", "backend", "burst_s", "delay_percent"))

ASSIGNMENT, check, hint = exercise(
    "buffer-size",
    Commitment("check-prediction", 2, "prediction", QUESTIONS, _near),
    Task("check-size", 2, {"size": CODE}, lambda asked: _measure(asked, burst(asked.draws)), HINTS, seeds=1),
    Task(
        "check-size-elsewhere",
        5,
        {"size": CODE},
        lambda asked: _measure(asked, _drawn(source_from(asked.seed).randbytes(4))),
        HINTS,
        seeds=OTHERS,
    ),
    bounds={"waste_percent": WASTE_PERCENT},
)
