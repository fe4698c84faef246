"""The assignment on writing a throttle: a Python function beats the throttle of 2008 on varying backends.

Each learner has a number of writers and a backend. The check draws backends with unseen swings of their rate, and
compares the engine's throttle of 2008. As before 2013, a group's data count as dirty until the whole group is safe, so
the dirty data fall in steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from seeklab._question import Question
from seeklab.decisions.throttle import ThrottleHistory, run_throttle
from seeklab.exercises._shapes import exercise, named, source_from
from seeklab.judge import Asked, Code, Commitment, Evidence, Task, diagnose, draws_of

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from seeklab._result import Result
    from seeklab.decisions.throttle import ThrottlePolicy

RIVAL = "zfs2008"
SIZES_GROUPS = ("zfs2008", "zfs2010")
"""The engine's throttles that set the size of a group, with a given initial size."""
MIB = 1 << 20
BLOCK = 256 << 10
SYNC_S = 5
BUFFER_S = 12
"""Size of the buffer, in seconds of the backend's rate."""
WARM_UP_S = 10
RUN_S = 30
THREADS = (16, 64)
RATES_MIB = (12, 48)
"""So far apart that no one delay suits all: a fair write takes 83 ms to 1.3 s."""
P99_TIMES = 6
BYTES_TIMES = 0.92

QUESTIONS = {
    "rival_p50_ms": Question(
        "The throttle of 2008 on your backend at a steady rate: how long is the median write, in ms?", unit="ms"
    ),
    "fair_ms": Question("If all writes took the same time, how long would that be, in ms?", unit="ms"),
}
"""Questions that a learner answers before the first run."""

DEMANDS = (
    f"99% of the writes within {P99_TIMES:g} times the fair time, which all writes would take if they took the same",
    f"the backend writes at least {BYTES_TIMES:g} times the bytes that it writes with the throttle of 2008",
)


@dataclass(frozen=True)
class Backend:
    """Writers, and a backend whose rate may vary."""

    threads: int
    rate: int
    """On average, in B/s."""
    varies: dict[str, Any] | None = None
    """The variation, as in a scenario."""

    def __str__(self) -> str:
        """Describe it in one line."""
        how = self.varies
        swings = f", {how['shape']} of {how['period']} and {how['amplitude']}%" if how else ", steady"
        return f"{self.threads} writers on {self.rate / MIB:.0f} MiB/s{swings}"

    def scenario(self) -> dict[str, Any]:
        """Return the scenario without its throttle."""
        lun = {"capacity": "1TiB", "rate": self.rate, **({"varies": self.varies} if self.varies else {})}
        return {
            "zfs": {
                "era": "openzfs-2013",
                "release": "group_end",
                "record": BLOCK,
                "memory": "16GiB",
                "dirty_data_max": BUFFER_S * self.rate,
            },
            "devices": [{"name": "pool", "lun": lun}],
            "jobs": [
                {
                    "name": "writers",
                    "rw": "write",
                    "bs": BLOCK,
                    "numjobs": self.threads,
                    "size": "1GiB",
                    "time_based": True,
                    "ramp_time": f"{WARM_UP_S}s",
                    "runtime": f"{RUN_S}s",
                }
            ],
            "record": {"log": False},
        }

    @property
    def fair_ms(self) -> float:
        """Return the time that all writes would take if they took the same."""
        return 1000 * self.threads * BLOCK / self.rate

    def run(self, policy: ThrottlePolicy | str, seed: int = 1) -> Result:
        """Run a throttle, or one of the engine's by its name, on this backend."""
        scenario = self.scenario()
        if policy in SIZES_GROUPS:
            scenario["zfs"]["write_limit"] = SYNC_S * self.rate
        return run_throttle(scenario, policy, seed=seed)


def written_bytes(result: Result) -> float:
    """Return the bytes that the backend has written between warm-up and the end of the load."""
    interval_s = result.series["time_ns"][1] / 1e9
    first, last = (round(at_s / interval_s) for at_s in (WARM_UP_S, WARM_UP_S + RUN_S))
    return float(sum(result.zfs["written_bytes"][first:last]))


def _drawn(source: random.Random) -> Backend:
    """Draw an unseen backend."""
    shape = source.choice(("random", "sine"))
    period_s = source.randint(1, 3) if shape == "random" else source.randint(8, 24)
    varies = {"shape": shape, "period": f"{period_s}s", "amplitude": source.randint(35, 60)}
    return Backend(source.randint(*THREADS), source.randint(*RATES_MIB) * MIB, varies)


def backend(learner: object) -> Backend:
    """Return the learner's own backend, which is steady."""
    draws = draws_of(learner)
    threads, rate_mib = (
        least + draws[number] % (most - least + 1) for number, (least, most) in enumerate((THREADS, RATES_MIB))
    )
    return Backend(threads, rate_mib * MIB)


def briefing(learner: object) -> str:
    """Describe the learner's system."""
    own = backend(learner)
    return (
        f"The system of {learner}: {own}, {BLOCK >> 10} KiB in each write; the buffer holds {BUFFER_S} s of the "
        "backend."
    )


def practise(policy: Callable[[], ThrottlePolicy], learner: object, seed: int = 1) -> list[tuple[str, ...]]:
    """Race a throttle with the engine's on the learner's backend, steady and swinging, as rows of a table."""
    own = backend(learner)
    swinging = Backend(own.threads, own.rate, {"shape": "random", "period": "2s", "amplitude": 50})
    rows = []
    for system in (own, swinging):
        for name, racer in (("yours", policy()), (RIVAL, RIVAL), ("openzfs", "openzfs")):
            result = system.run(racer, seed)
            times = (result.metrics[f"writers.write_latency_{what}_ms"] for what in ("p50", "p99", "max"))
            rows.append(
                (str(system), name, f"{written_bytes(result) / RUN_S / MIB:.1f}", *(f"{ms:,.0f}" for ms in times))
            )
    return rows


def _near(asked: Asked) -> dict[str, float]:
    own = backend(asked.draws)
    old = own.run(RIVAL, asked.seed)
    return {
        "rival_p50_ms": old.metrics["writers.write_latency_p50_ms"],
        "fair_ms": 1000 * own.threads * BLOCK * RUN_S / written_bytes(old),
    }


def _own(asked: Asked) -> list[Evidence]:
    """Judge a throttle on the learner's writers, with a backend whose swings are drawn from the seed."""
    own = backend(asked.draws)
    drawn = _drawn(source_from(asked.seed))
    return _measure(asked, Backend(own.threads, own.rate, drawn.varies))


def _measure(asked: Asked, on: Backend) -> list[Evidence]:
    rival = on.run(RIVAL, asked.seed)
    with asked.play("Policy") as policy:
        own = on.run(policy, asked.seed)
    p99 = "writers.write_latency_p99_ms"
    times, share = asked.bound("p99_times"), asked.bound("bytes_times")
    most, least = times * on.fair_ms, share * written_bytes(rival)
    late, written = own.metrics[p99], written_bytes(own)
    stopped = own.metrics["zfs_blocked_writes"]
    slow = diagnose([WHY["late-delay" if stopped else "sudden-delay"]], stopped)
    words = f"<= {most:,.0f} ({times:g} times the fair {on.fair_ms:,.0f} ms)"
    enough = f">= {least / MIB:,.0f} ({share:g} times that of 2008)"
    return [
        Evidence(f"{on}: p99", late, words, late <= most, "ms", asked.seed).because(slow),
        Evidence(f"{on}: written", written / MIB, enough, written >= least, "MiB", asked.seed).because(
            WHY["idle-backend"]
        ),
    ]


WHY = named(
    late_delay="{found:,.0f} writes ran into the limit and stopped: the delay begins too late, or grows too slowly, "
    "for a buffer whose space is freed a whole group at a time",
    sudden_delay="no write stops, but the slowest still wait for long: the sleepers sleep independently, or the "
    "delay jumps where it should grow",
    idle_backend="the backend is idle: writers are delayed although there is space, so too little is dirty when the "
    "backend is fast; a measured rate is from the past",
)
CODE = Code(("dirty", "limit", "history"), {"history": ThrottleHistory._fields}, made=True)
HINTS = (
    "When thirty writers each sleep 10 ms, how many writes a second get through? Does that depend on the backend?",
    "Let sleepers wake one after the other: store the last wake-up time, and schedule the next one later.",
    (
        "A delay of the form scale * (dirty - start) / (limit - dirty), with a start low enough to leave space "
        "for a whole group above it."
    ),
)

ASSIGNMENT, check, hint = exercise(
    "write-throttle",
    Commitment("check-prediction", 2, "prediction", QUESTIONS, _near),
    Task("check-throttle", 2, {"Policy": CODE}, _own, HINTS),
    Task(
        "check-throttle-elsewhere",
        4,
        {"Policy": CODE},
        lambda asked: _measure(asked, _drawn(source_from(asked.seed))),
        HINTS,
    ),
    cells={"Policy": "throttle"},
    bounds={"p99_times": P99_TIMES, "bytes_times": BYTES_TIMES},
)
