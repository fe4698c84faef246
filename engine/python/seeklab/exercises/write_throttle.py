"""The assignment on writing a throttle: a function in Python that beats the throttle of 2008 on backends that vary.

Each learner has a number of writers and a backend of their own. The throttle is judged on backends that are drawn at
the moment of the check, whose rate swings in ways that nobody has seen, beside the engine's throttle of 2008. As before
2013, a group's data count as dirty until the whole group is safe, so that the dirty data fall in steps.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from seeklab import checks
from seeklab._errors import SeeklabError
from seeklab._questions.throttle import run_throttle
from seeklab.checks import Evidence, Verdict
from seeklab.exercises import draws_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from seeklab._questions.throttle import ThrottlePolicy
    from seeklab._result import Result

RIVAL = "zfs2008"
SIZES_GROUPS = ("zfs2008", "zfs2010")
"""The engine's throttles that give a group a size, and begin with a given one."""
MIB = 1 << 20
BLOCK = 256 << 10
SYNC_S = 5
BUFFER_S = 12
"""The buffer holds so many seconds of the backend."""
WARM_UP_S = 10
RUN_S = 30
P99_TIMES = 0.5
BYTES_TIMES = 0.98

QUESTIONS = {
    "rival_p50_ms": "The throttle of 2008 on your backend, held steady: how long is the median write, in ms?",
    "fair_ms": "If all writes took the same time, how long would that be, in ms?",
}
"""What a learner commits to before the first run."""

DEMANDS = (
    f"99 % of the writes within {P99_TIMES:g} times that of the throttle of 2008",
    f"the backend writes at least {BYTES_TIMES:g} times the bytes",
)


@dataclass(frozen=True)
class Backend:
    """Writers, and a backend whose rate may vary."""

    threads: int
    rate: int
    """On average, in B/s."""
    varies: dict[str, Any] | None = None
    """How, in the words of a scenario."""

    def __str__(self) -> str:
        """Say it in a line."""
        how = self.varies
        swings = f", {how['shape']} of {how['period']} and {how['amplitude']} %" if how else ", steady"
        return f"{self.threads} writers on {self.rate / MIB:.0f} MiB/s{swings}"

    def scenario(self) -> dict[str, Any]:
        """Give the scenario without its throttle."""
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

    def run(self, policy: ThrottlePolicy | str, seed: int = 1) -> Result:
        """Run a throttle, or one of the engine's by its name, on this backend."""
        scenario = self.scenario()
        if policy in SIZES_GROUPS:
            scenario["zfs"]["write_limit"] = SYNC_S * self.rate
        return run_throttle(scenario, policy, seed=seed)


def written_bytes(result: Result) -> float:
    """Count what the backend has written between warm-up and the end of the load."""
    interval_s = result.series["time_ns"][1] / 1e9
    first, last = (round(at_s / interval_s) for at_s in (WARM_UP_S, WARM_UP_S + RUN_S))
    return float(sum(result.zfs["written_bytes"][first:last]))


def _drawn(source: random.Random) -> Backend:
    """Draw a backend that nobody has seen."""
    shape = source.choice(("random", "sine"))
    period_s = source.randint(1, 3) if shape == "random" else source.randint(8, 24)
    varies = {"shape": shape, "period": f"{period_s}s", "amplitude": source.randint(35, 60)}
    return Backend(source.randint(28, 44), source.randint(28, 48) * MIB, varies)


def backend(learner: object) -> Backend:
    """Give the learner's own backend, which is steady."""
    draws = draws_of(learner)
    return Backend(28 + draws[0] % 17, (28 + draws[1] % 21) * MIB)


def briefing(learner: object) -> str:
    """Tell the learner's system."""
    own = backend(learner)
    return (
        f"The system of {learner}: {own}, {BLOCK >> 10} KiB each write; the buffer holds {BUFFER_S} s of the backend."
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


def check_prediction(prediction: object, learner: object) -> Verdict:
    """Judge the predictions by their distance from what fresh runs give."""
    given = prediction if isinstance(prediction, dict) else {}
    own = backend(learner)
    (seed,) = checks.fresh_seeds(1)
    old = own.run(RIVAL, seed).metrics
    truths = {
        "rival_p50_ms": (old["writers.write_latency_p50_ms"], 3.0, 1.5),
        "fair_ms": (1000 * own.threads * BLOCK * RUN_S / written_bytes(own.run(RIVAL, seed)), 1.3, 1.1),
    }
    return checks.combine(
        checks.judge_prediction(
            given.get(name), truth, within_factor=within, full_within_factor=full, what=name, unit="ms"
        )
        for name, (truth, within, full) in truths.items()
    )


def check_throttle(policy: object, learner: object, seeds: int = checks.SEEDS) -> Verdict:
    """Judge a throttle on the learner's writers, with backends drawn from fresh seeds.

    `policy` makes a throttle that knows nothing yet: a class with `__call__`, or a function that gives a function.
    """
    try:
        own = backend(learner)
    except SeeklabError as error:  # a learner without a name
        return checks.refused(error)

    def swinging(seed: int) -> Backend:
        drawn = _drawn(random.Random(seed))  # noqa: S311 -- a load, not a secret
        return Backend(own.threads, own.rate, drawn.varies)

    return checks.judge_on_fresh_seeds(lambda seed: _measure(policy, swinging(seed), seed), seeds)


def check_throttle_elsewhere(policy: object) -> Verdict:
    """Judge it with other numbers of writers and other rates."""
    return checks.judge_on_fresh_seeds(
        lambda seed: _measure(policy, _drawn(random.Random(seed)), seed),  # noqa: S311 -- a load, not a secret
        checks.SEEDS,
    )


def _measure(policy: object, on: Backend, seed: int) -> list[Evidence]:
    if not callable(policy):
        return [Evidence("throttle", repr(policy), "a class, or a function that makes a throttle", met=False)]
    rival = on.run(RIVAL, seed)
    try:
        own = on.run(policy(), seed)
    except Exception as error:  # noqa: BLE001 -- a learner's code may raise anything
        told = checks.told(error)
        return [Evidence(str(on), told, demand, met=False, seed=seed) for demand in DEMANDS]
    p99 = "writers.write_latency_p99_ms"
    most, least = P99_TIMES * rival.metrics[p99], BYTES_TIMES * written_bytes(rival)
    late, written = own.metrics[p99], written_bytes(own)
    return [
        Evidence(f"{on}: p99", late, f"<= {most:,.0f} ({P99_TIMES:g} times that of 2008)", late <= most, "ms", seed),
        Evidence(
            f"{on}: written",
            written / MIB,
            f">= {least / MIB:,.0f} ({BYTES_TIMES:g} times that of 2008)",
            written >= least,
            "MiB",
            seed,
        ),
    ]
