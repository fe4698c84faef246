"""Replay: an incident with the numbers of a report, and what its fix would change.

A plan takes concurrency, sizes, rates and times from the readings into an incident's scenario. The run shows its
numbers next to the report's. A run cannot confirm a cause, but it can refute one: if the simulation is further away
from the report than a factor of two, the cause loses its rank.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from seeklab._case import case
from seeklab.diagnosis.causes import LIKELY, POSSIBLE, SHOWN, WORDS
from seeklab.diagnosis.reading import Reading, count

if TYPE_CHECKING:
    from seeklab.diagnosis.causes import Verdict

Values: TypeAlias = Mapping[str, float]
FACTOR = 2.0
"""A simulation further away than this refutes the cause."""
WRITERS = 16
"""Writers that are assumed where a report does not tell their number."""
COMMIT_MS = 0.04
SECTOR, MAX_BYTES = 512, 1 << 20
MIB = 1 << 20
PROTECTED = "a log device with power-loss protection"
BURST = 10.0
"""The fix of a limited volume raises its base rate by this factor."""


@dataclass(frozen=True)
class Compared:
    """A number of the report, and the metric of the simulation that has it."""

    name: str
    unit: str
    metric: str
    reported: float
    scale: float = 1.0
    """Factor from the metric to the unit."""


@dataclass(frozen=True)
class Plan:
    """An incident's scenario with the report's numbers."""

    cause: str
    incident: str
    variant: str
    set: Mapping[str, object]
    compared: tuple[Compared, ...]
    fix: str
    """The fix as a phrase."""
    fixed: Mapping[str, object]
    """Changes that fix it."""
    assumed: str = ""
    """Assumptions about numbers that are not in the report, as a sentence."""

    def document(self) -> dict[str, Any]:
        """Return the plan as JSON; a page makes a link of it."""
        return {"incident": self.incident, "variant": self.variant, "set": dict(self.set), "assumed": self.assumed}


@dataclass(frozen=True)
class Replay:
    """A plan that has run."""

    plan: Plan
    simulated: tuple[float, ...]
    with_fix: tuple[float, ...]

    @property
    def is_near(self) -> bool:
        """Return whether each simulated number is within the factor of the report's."""
        pairs = zip(self.plan.compared, self.simulated, strict=True)
        return all(one.reported / FACTOR <= value <= one.reported * FACTOR for one, value in pairs)

    def document(self) -> dict[str, Any]:
        """Return the replay as JSON."""
        rows = zip(self.plan.compared, self.simulated, self.with_fix, strict=True)
        return {
            **self.plan.document(),
            "cause": self.plan.cause,
            "fix": self.plan.fix,
            "is_near": self.is_near,
            "numbers": [
                {"name": one.name, "unit": one.unit, "reported": one.reported, "simulated": value, "with_fix": fixed}
                for one, value, fixed in rows
            ],
        }


def _bytes(values: Values, name: str) -> int:
    """Return a size in whole sectors."""
    size = values.get(name) or 4096.0
    return max(SECTOR, min(MAX_BYTES, round(size / SECTOR) * SECTOR))


def _syncs(per_s: float, ms: float, writers: int, size: int, *, is_known: bool) -> Plan:
    """Return the log that commits one write at a time, with this time of a commit."""
    settings = {
        "jobs[threads].numjobs": writers,
        "jobs[threads].bs": size,
        "zfs.record": max(size, 8192),
        "zfs.log.flush": round(1e6 * max(0.0, ms - COMMIT_MS)),
    }
    return Plan(
        "sync-one-by-one",
        "sync-serialised",
        "serialised",
        MappingProxyType(settings),
        (Compared("durable writes", "1/s", "threads.write_iops", per_s),),
        "commits in batches" if writers > 1 else PROTECTED,
        MappingProxyType({"zfs.log.batch": True} if writers > 1 else {"zfs.log.flush": 0}),
        "" if is_known else f"The report does not tell the number of writers; {writers} are assumed.",
    )


def _one_at_a_time(values: Values) -> Plan | None:
    if values["write_share"] <= 0.5 or not values["bytes"]:
        return None
    rate = values["ios_per_s"] - values["flushes_per_s"]
    ms = values["ms"] + (values["flush_ms"] if values["flushes_per_s"] > 1 else 0.0)
    return _syncs(rate, ms, WRITERS, _bytes(values, "bytes"), is_known=False)


def _workers(values: Values) -> Plan | None:
    if not values["is_write"] or not values["per_s"]:
        return None
    writers = max(1, round(values["workers"]))
    size = round(values["bytes_per_s"] / values["per_s"])
    # All wait for each other: the time of a commit is that of a write divided by those who wait.
    return _syncs(values["per_s"], values["ms"] / writers, writers, _bytes({"": size}, ""), is_known=True)


def _fsyncs(values: Values) -> Plan:
    return _syncs(values["per_s"], values["ms"], 1, _bytes(values, "bytes"), is_known=True)


def _job_syncs(values: Values) -> Plan | None:
    """Return the log of a job that syncs after each write: one writer, whose syncs take the rest of its time."""
    if not values["per_s"] or values["per_s"] * values["ms"] > FACTOR * 1e3:
        return None  # several writers, or a sync that is not after each write
    return _syncs(values["per_s"], values["ms"], 1, _bytes(values, "bytes"), is_known=True)


def _flushes(values: Values) -> Plan | None:
    """Return the log of a device whose flushes hold its queue: as many commits as flushes."""
    if not values["per_s"] or values["per_s"] * values["ms"] > FACTOR * 1e3:
        return None
    return _syncs(values["per_s"], values["ms"], WRITERS, _bytes(values, "bytes"), is_known=False)


def _limited(values: Values) -> Plan | None:
    rate = values.get("ios_after") or values.get("ios_per_s") or 0.0
    queue = values.get("in_flight") or (values.get("ms", 0.0) * rate / 1e3)
    if not rate or queue < 1:
        return None
    settings = {
        "devices[volume].lun.credits": {"base": round(rate), "initial": 0},
        "jobs[app].iodepth": min(1024, round(queue)),
        "jobs[app].bs": _bytes(values, "bytes"),
        "jobs[app].fluid": False,
        "jobs[app].runtime": "20s",
        "record.interval": "1s",
    }
    return Plan(
        "burst-credits",
        "burst-credits",
        "migration",
        MappingProxyType(settings),
        (
            Compared("requests", "1/s", "app.read_iops", rate),
            Compared("time of a request", "ms", "app.read_latency_mean_ms", 1e3 * queue / rate),
        ),
        f"a base rate {BURST:.0f} times as high",
        MappingProxyType({"devices[volume].lun.credits": {"base": round(BURST * rate), "initial": 0}}),
        "Reads stand for all requests.",
    )


def _window(values: Values) -> Plan:
    window = round(values["window_bytes"])
    settings = {
        "network.round_trip": round(1e6 * values["trip_ms"]),
        "network.client_buffer": max(16_384, window),
        "network.server_buffer": max(16_384, window),
        "jobs[client].size": "32MiB",
    }
    return Plan(
        "window-per-round-trip",
        "one-window-per-rtt",
        "default-48k",
        MappingProxyType(settings),
        (Compared("throughput", "MB/s", "client.read_mib_per_s", values["bytes_per_s"] / 1e6, MIB / 1e6),),
        "buffers of 16 MiB at both ends",
        MappingProxyType({"network.client_buffer": "16MiB", "network.server_buffer": "16MiB"}),
        "A link of 1 Gbit/s is assumed.",
    )


SYNCS: Mapping[str, Callable[[Values], Plan | None]] = {
    "one-at-a-time": _one_at_a_time,
    "workers-wait": _workers,
    "fsync-rate": _fsyncs,
    "fsync-dominates": _job_syncs,
    "time-outside-requests": _job_syncs,
    "flushes-hold-the-queue": _flushes,
}
PLANS: Mapping[str, Mapping[str, Callable[[Values], Plan | None]]] = {
    "sync-one-by-one": SYNCS,
    "no-power-loss-protection": SYNCS,
    "burst-credits": {"rate-falls": _limited, "round-rate": _limited},
    "throughput-limit": {"round-rate": _limited},
    "window-per-round-trip": {"window-per-trip": _window},
}
"""By cause and reading, the plan that the reading's numbers make."""


def plan_of(verdict: Verdict) -> Plan | None:
    """Return the plan of a cause, if one of its readings has the numbers."""
    plans = PLANS.get(verdict.cause.id, {})
    for reading in verdict.supported_by:
        if (make := plans.get(reading.id)) is not None and (plan := make(reading.values)) is not None:
            if verdict.cause.id == "no-power-loss-protection":
                plan = replace(plan, fix=PROTECTED, fixed=MappingProxyType({"zfs.log.flush": 0}))
            return replace(plan, cause=verdict.cause.id)
    return None


def replay(plan: Plan) -> Replay:
    """Run a plan, without and with its fix."""
    return Replay(plan, _numbers(plan, plan.set), _numbers(plan, {**plan.set, **plan.fixed}))


def _numbers(plan: Plan, settings: Mapping[str, object]) -> tuple[float, ...]:
    result = case(plan.incident).with_(settings).run(plan.variant)
    try:
        return tuple(float(result.metrics[one.metric]) * one.scale for one in plan.compared)
    finally:
        result.close()


def replayed(verdicts: Sequence[Verdict]) -> tuple[list[Verdict], list[Replay]]:
    """Replay the causes that are shown or likely; return all causes in their new order, and the runs."""
    runs: list[Replay] = []
    for verdict in verdicts:
        plan = plan_of(verdict) if verdict.confidence in (SHOWN, LIKELY) else None
        if plan is None:
            continue
        run = replay(plan)
        runs.append(run)
        if not run.is_near:
            verdict.weight = WORDS[POSSIBLE]
            verdict.against.append(_refuted(run))
    return sorted(verdicts, key=lambda verdict: -verdict.weight), runs


def _refuted(run: Replay) -> Reading:
    parts = [
        f"{count(one.reported)} {one.unit} {one.name} in the report, {count(value)} in the simulation"
        for one, value in zip(run.plan.compared, run.simulated, strict=True)
    ]
    return Reading(
        "replay-differs",
        run.plan.incident,
        f"With the report's numbers, the incident {run.plan.incident} does not come within a factor of {FACTOR:.0f} of "
        f"the report: {'; '.join(parts)}.",
    )
