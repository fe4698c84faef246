"""The assignment on tuning the I/O scheduler: one setting for a quiet hour and a rush, for reads and writes.

Each learner has a backend that gains speed with depth, and a pool that was tuned in a hurry. A setting is judged on two
loads. Bounds are multiples of the results of the pool as found, on the same seed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from seeklab._case import Case
from seeklab._case import case as load_case
from seeklab._question import Question
from seeklab.exercises._shapes import exercise, named
from seeklab.judge import Asked, Bound, Commitment, Evidence, Settings, Task, draws_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from seeklab._result import Result

CASE = "picket-fence"
MB = 1_000_000
WRITERS = 8
READERS = 4
LOADS = {"quiet": 0.6, "rush": 1.1}
"""The writers' load, as a share of the backend's full rate."""
ONE_IN_FLIGHT = 0.4
"""The backend's rate with a single request in flight, as a share of the full one."""
FULL_AT = 10

FOUND: Mapping[str, object] = {
    "async_write_min_active": 10,
    "async_write_max_active": 20,
    "dirty_data_max": "256MiB",
    "delay_scale": "100us",
}
"""The pool as found."""

MAY_SET = (
    "async_write_min_active",
    "async_write_max_active",
    "async_write_min_dirty_percent",
    "async_write_max_dirty_percent",
    "dirty_data_max",
    "delay_min_dirty_percent",
    "delay_scale",
)
"""The settings that a choice may change. Other teams own load and backend."""

QUESTIONS = {
    "flight_times": Question(
        "In the rush: how many times as many bytes a second do the writers reach with 20 writes in flight as with 5?",
        unit="x",
    ),
    "read_times": Question("And how many times as long does a read then take, on average?", unit="x"),
}
"""Questions that a learner answers before the first run."""

READS = "readers.read_latency_p99_ms"
WHY = named(
    early_delay="writers are delayed in a quiet hour: the delay starts below the level where the dirty data settle",
    bursts="writes still arrive in bursts: with many in flight from the start, a little data is written at once, and "
    "then nothing; let the ramp start low",
    as_before="reads wait behind as many writes as before, although the backend has time for both",
    few_writes="too few writes are in flight for a backend that is faster with more of them, so throughput is lost",
    deep_queue="a read waits for the writes ahead of it, and in the rush their number is at its limit",
    small_delay=(
        "with so small a delay_scale, the delay slows writers down only near the limit, so dirty data settle there"
    ),
)

DEMANDS: Mapping[str, Sequence[Bound]] = {
    "quiet": (
        Bound("zfs_delayed_writes", at_most=0, why=WHY["early-delay"]),
        Bound("zfs_write_rate_variation_percent", at_most=0.3, of="found", why=WHY["bursts"]),
        Bound(READS, at_most=0.85, of="found", why=WHY["as-before"]),
    ),
    "rush": (
        Bound("writers.write_mib_per_s", at_least=0.8, of="found", why=WHY["few-writes"]),
        Bound(READS, at_most=0.53, of="found", why=WHY["deep-queue"]),
        Bound("zfs_dirty_max_bytes", at_most=0.8, of="found", why=WHY["small-delay"]),
    ),
}
"""The bounds for a choice, on every seed."""


def _full_rate(learner: object) -> int:
    return (80 + 4 * (draws_of(learner)[0] % 16)) * MB


def system(learner: object, choice: Mapping[str, object], load: str) -> Case:
    """Build the learner's pool with a choice, under one of the loads."""
    full = _full_rate(learner)
    settings = {f"zfs.{name}": value for name, value in {**FOUND, **choice}.items()}
    return load_case(CASE).with_(
        {
            "devices[pool].lun.rate": full,
            "devices[pool].lun.varies.one_in_flight": round(full * ONE_IN_FLIGHT),
            "devices[pool].lun.varies.full_at": FULL_AT,
            "jobs[writers].rate": round(full * LOADS[load]) // WRITERS,
            "jobs[readers].rate_iops": 2 * full // MB // READERS,
            **{f"jobs[{job}].{when}": f"{s}s" for job in ("writers", "readers") for when, s in _TIMES.items()},
            "record.log": False,
            **settings,
        }
    )


_TIMES = {"ramp_time": 10, "runtime": 20}


def run(learner: object, choice: Mapping[str, object], load: str, seed: int = 1) -> Result:
    """Run the learner's pool with a choice, under the load `quiet` or `rush`."""
    return system(learner, choice, load).run("new", seed=seed)


def briefing(learner: object) -> str:
    """Describe the learner's pool."""
    full = _full_rate(learner)
    return (
        f"The backend of {learner} moves {full // MB} MB/s with {FULL_AT} requests in flight, {ONE_IN_FLIGHT:.0%} of "
        f"it with one; it also serves {2 * full // MB} random reads a second. Writers send {LOADS['quiet']:.0%} of "
        f"the full rate in a quiet hour, and {LOADS['rush']:.0%} in the rush."
    )


def _near(asked: Asked) -> dict[str, float]:
    deep, shallow = (
        run(asked.draws, {"async_write_min_active": depth, "async_write_max_active": depth}, "rush", asked.seed).metrics
        for depth in (20, 5)
    )
    return {
        "flight_times": deep["writers.write_mib_per_s"] / shallow["writers.write_mib_per_s"],
        "read_times": deep["readers.read_latency_mean_ms"] / shallow["readers.read_latency_mean_ms"],
    }


def _judge(asked: Asked, load: str) -> list[Evidence]:
    found = run(asked.draws, {}, load, asked.seed)
    own = run(asked.draws, asked.answers["choice"], load, asked.seed)
    return [bound.check(own, found) for bound in DEMANDS[load]]


CHOICE = Settings(MAY_SET)
HINTS = (
    "In the quiet hour: why do writes arrive in bursts? In the rush: what does a read wait for?",
    "A ramp that starts at one write smooths the quiet hour. The maximum in flight determines how long a read waits.",
    "The backend gains from up to ten in flight; a few fewer cost little. A larger delay_scale lowers the dirty data.",
)

ASSIGNMENT, check, hint = exercise(
    "tune-scheduler",
    Commitment("check-prediction", 2, "prediction", QUESTIONS, _near),
    # In the quiet hour: smooth writes without delays, and faster reads.
    Task("check-quiet", 2, {"choice": CHOICE}, lambda asked: _judge(asked, "quiet"), HINTS),
    # The same choice in the rush: reads, throughput and memory.
    Task("check-rush", 4, {"choice": CHOICE}, lambda asked: _judge(asked, "rush"), HINTS),
)
