"""The assignment on sizing a buffer: how much must it hold, so that no write of a burst is delayed.

Each learner has a burst and a backend of their own, and writes a function that gives the size for any other. It is
judged by runs: not one write delayed at that size, and delayed writes at a size a little smaller.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from seeklab import checks
from seeklab._case import Case
from seeklab._case import case as load_case
from seeklab._errors import SeeklabError
from seeklab.checks import Evidence
from seeklab.exercises import draws_of

if TYPE_CHECKING:
    from seeklab._result import Result
    from seeklab.checks import Verdict

CASE = "dirty-sizing"
MB = 1_000_000
SYNC_BYTES = 64 << 20
"""Dirty bytes that make a group sync; before that nothing is written."""
FOUND_SHARE = 0.4
"""The buffer as found, as a share of what the burst leaves behind by plain arithmetic."""
WASTE_PERCENT = 3
"""So much less must be too little."""
OTHERS = 3

QUESTIONS = {
    "first_delay_s": "The buffer as found: after how many seconds of the burst is the first write delayed?",
    "peak_mb": "With a buffer so large that nothing is delayed: how many MB are dirty at most?",
}
"""What a learner commits to before the first run."""

DEMANDS = (
    "at the size that the function gives, not one write of the burst is delayed",
    f"with {WASTE_PERCENT} % less, some are",
)


@dataclass(frozen=True)
class Burst:
    """A load that lasts for a while, the backend behind it, and where the throttle begins."""

    load: int
    """In B/s."""
    backend: int
    """In B/s."""
    burst_s: int
    delay_percent: int
    """Share of the buffer from which on writes are delayed."""

    @property
    def left_behind(self) -> int:
        """Bytes by which the load exceeds what the backend takes."""
        return (self.load - self.backend) * self.burst_s

    def __str__(self) -> str:
        """Say it in a line."""
        return (
            f"{self.load // MB} MB/s for {self.burst_s} s onto {self.backend // MB} MB/s,"
            f" delays from {self.delay_percent} % on"
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
    """Give the learner's burst."""
    return _drawn(draws_of(learner))


def found(learner: object) -> int:
    """Give the learner's buffer as found, in bytes."""
    return round(burst(learner).left_behind * FOUND_SHARE / MB) * MB


def briefing(learner: object) -> str:
    """Tell the learner's system."""
    return (
        f"The burst of {learner}: {burst(learner)}. As found the buffer holds {found(learner) // MB} MB."
        f" A group begins to sync when {SYNC_BYTES:,} bytes of it are dirty."
    )


def check_prediction(prediction: object, learner: object) -> Verdict:
    """Judge the predictions by their distance from what fresh runs give."""
    given = prediction if isinstance(prediction, dict) else {}
    own = burst(learner)
    (seed,) = checks.fresh_seeds(1)
    small, large = own.run(found(learner), seed), own.run(4 * own.left_behind, seed)
    truths = {
        "first_delay_s": (small.metrics["zfs_first_delay_s"], 1.5, 1.15, "s"),
        "peak_mb": (large.metrics["zfs_dirty_max_bytes"] / MB, 1.3, 1.1, "MB"),
    }
    return checks.combine(
        checks.judge_prediction(
            given.get(name), truth, within_factor=within, full_within_factor=full, what=name, unit=unit
        )
        for name, (truth, within, full, unit) in truths.items()
    )


def check_size(size: object, learner: object) -> Verdict:
    """Judge the function on the learner's own burst.

    `size` takes the load and the backend in B/s, the length of the burst in s and the percentage where delays begin,
    and gives bytes.
    """
    try:
        own = burst(learner)
    except SeeklabError as error:  # a learner without a name
        return checks.refused(error)
    return checks.judge_on_fresh_seeds(lambda seed: _measure(size, own, seed), 1)


def check_size_elsewhere(size: object) -> Verdict:
    """Judge it on bursts drawn at the moment of the check."""
    return checks.combine(
        checks.judge_on_fresh_seeds(lambda seed: _measure(size, _drawn(random.Random(seed).randbytes(4)), seed), 1)  # noqa: S311 -- a load, not a secret
        for _ in range(OTHERS)
    )


def _measure(size: object, on: Burst, seed: int) -> list[Evidence]:
    if not callable(size):
        return [Evidence("size", repr(size), "a function", met=False)]
    try:
        given = size(on.load, on.backend, on.burst_s, on.delay_percent)
    except Exception as error:  # noqa: BLE001 -- a learner's code may raise anything
        return [Evidence(str(on), checks.told(error), "a number of bytes", met=False, seed=seed)]
    number = checks.as_number(given)
    if number is None or number < 1:
        return [Evidence(str(on), repr(given), "a number of bytes", met=False, seed=seed)]
    try:
        enough, less = (on.run(number * share, seed) for share in (1, 1 - WASTE_PERCENT / 100))
    except SeeklabError as error:
        return list(checks.refused(error).evidence)
    told = f"{on}: delayed writes at {number / MB:,.0f} MB"
    delayed, fewer = (run.metrics["zfs_delayed_writes"] for run in (enough, less))
    return [
        Evidence(told, delayed, "0", delayed == 0, seed=seed),
        Evidence(f"{told} less {WASTE_PERCENT} %", fewer, ">= 1", fewer >= 1, seed=seed),
    ]
