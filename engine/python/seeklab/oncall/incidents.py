"""Incidents of on-call shifts: read from the `[shift]` tables of case files, drawn by a seed, with neutral names.

Each is a variant of a case whose jobs and devices get neutral names. Every system has a dashboard and a partition
table, so a player must run commands to find out which incident it is. `incident_of` also reads learners' case files,
which have the same table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from seeklab._case import case as load_case
from seeklab._case import cases, validate

if TYPE_CHECKING:
    import random
    from collections.abc import Collection, Mapping, Sequence

MIB = 1 << 20
APP, OTHERS = "app", ("batch", "backup", "web")
OF_THE_SYSTEM = ("monitor_", "reduction_")
"""Prefixes of metrics of the whole system, which have no job's name in front."""

Changes = dict[str, Any]


@dataclass(frozen=True)
class Draw:
    """A value that the seed decides, with the fields of an entry of `draw`."""

    path: str
    choose: Sequence[int] = ()
    range: tuple[int, int] | None = None
    step: int = 1
    times: int = 1
    of: str | None = None
    """Path of an earlier draw, whose number is a factor of this one."""
    unit: str = ""
    per: int = 1
    """Divisor of the number, for values that are fractions."""

    def is_possible(self, earlier: Collection[str]) -> bool:
        """Return whether it can be drawn after draws of the `earlier` paths."""
        first, last = (0, 0) if self.range is None else self.range
        numbers = (*self.choose, first, last, self.step, self.times, self.per - 1)
        if not all(isinstance(one, int) and one >= 0 for one in numbers) or not isinstance(self.path + self.unit, str):
            return False
        sources = bool(self.choose) + (self.range is not None)
        leads_there = self.step > 0 and first <= last and (last - first) % self.step == 0
        return leads_there and (sources == 1 if self.of is None else sources <= 1 and self.of in earlier)

    def value(self, number: int) -> int | float | str:
        """Return a drawn number as it is written into the scenario."""
        if self.unit:
            return f"{number}{self.unit}"
        return number if self.per == 1 else number / self.per

    def number(self, source: random.Random, drawn: Mapping[str, int]) -> int:
        """Draw the number, without its unit; `drawn` contains the numbers of earlier draws, by path."""
        factor = self.times * (drawn[self.of] if self.of else 1)
        if self.choose:
            return factor * source.choice(self.choose)
        if self.range is not None:
            first, last = self.range
            return factor * source.randrange(first, last + 1, self.step)
        return factor


@dataclass(frozen=True)
class Incident:
    """A possible fault, and how to draw a system that has it."""

    cause: str
    """The mechanism, as a sentence."""
    case: str
    """Name of the case; empty for a learner's case."""
    failing: str
    """Variant of the failing system."""
    jobs: tuple[str, ...]
    """The jobs that remain; the first is the application that users complain about."""
    set: Mapping[str, Any]
    """Values that differ from the variant's; None removes a value."""
    draw: tuple[Draw, ...]
    metric: str
    """Metric of the ticket: `JOB.NUMBER` of the application, or one of the whole system."""
    more_is_better: bool
    fix: Mapping[str, Any]
    """Values that fix it, by path of the case; a table `of`, `times` is a multiple of a drawn number."""
    command: str
    """The one command that shows the cause."""
    tells: str
    """The part of that command's output that shows it."""
    at_most: float = 3
    """Limit for changes other than the fix, as a multiple of last month's number. A change above it is no recovery: a
    buffer that holds the whole test, for example, or a test with other data."""
    week: int | None = None
    """Week of the course that teaches the mechanism."""


def incident_of(case: str, table: Mapping[str, Any]) -> Incident:
    """Build an incident from a table `[shift]` whose fields have been checked."""
    names = ("cause", "failing", "metric", "fix", "command", "tells", "at_most", "week")
    return Incident(
        case=case,
        jobs=tuple(table.get("jobs", ())),
        set={**dict.fromkeys(table.get("unset", ())), **table.get("set", {})},
        draw=tuple(Draw(**entry) for entry in table.get("draw", ())),
        more_is_better=table["better"] == "more",
        **{name: table[name] for name in names if name in table},
    )


@lru_cache
def incidents() -> tuple[Incident, ...]:
    """Return the incidents in the order of their cases' names: a new text does not change the shift of a seed."""
    tables = [(case, table) for case, tables in sorted(_shifts().items()) for table in tables]
    return tuple(incident_of(case, table) for case, table in tables if "none_because" not in table)


def causes() -> tuple[str, ...]:
    """Return the causes that a player can choose from, in alphabetical order."""
    return tuple(sorted(incident.cause for incident in incidents()))


def reasons_for_none() -> dict[str, str]:
    """Return the cases without a shift, each with the reason."""
    return {
        case: tables[0]["none_because"] for case, tables in sorted(_shifts().items()) if "none_because" in tables[0]
    }


@lru_cache
def _shifts() -> dict[str, list[Mapping[str, Any]]]:
    """Return the tables `[shift]` of each case; a table with `none_because` has the reason for having none."""
    documents = (load_case(entry["id"]).document for entry in cases())
    written = {document["id"]: document["shift"] for document in documents if "shift" in document}
    return {case: tables if isinstance(tables, list) else [tables] for case, tables in written.items()}


@dataclass(frozen=True)
class System:
    """A faulty system with neutral names."""

    incident: Incident
    scenario: Mapping[str, Any]
    remedy: Mapping[str, Any]
    """The values that fix it, by path."""


def drawn_changes(incident: Incident, source: random.Random) -> tuple[Changes, dict[str, int]]:
    """Draw the differences from the variant; return the values by path, and the drawn numbers."""
    numbers: dict[str, int] = {}
    changes = dict(incident.set)
    for draw in incident.draw:
        number = numbers[draw.path] = draw.number(source, numbers)
        changes[draw.path] = draw.value(number)
    return changes, numbers


def remedy_of(incident: Incident, numbers: Mapping[str, int], names: Names) -> Changes:
    """Return the values that fix the incident, by path of the neutral system."""
    return {
        names.path(path): numbers[value["of"]] * value.get("times", 1) if isinstance(value, dict) else value
        for path, value in incident.fix.items()
    }


def system_of(incident: Incident, source: random.Random) -> System:
    """Draw a system with an incident of a case and with bystanders, under neutral names."""
    changes, numbers = drawn_changes(incident, source)
    whole = load_case(incident.case).with_(changes).scenario(incident.failing)
    names = neutral_names(whole, incident.jobs)
    own = _with_bystanders(whole, in_neutral_words(whole, names), incident, source)
    return System(incident, validate(own), remedy_of(incident, numbers, names))


WINDOWS = ("1s", "10s", "20s", "30s")
"""Averaging windows of a dashboard that is not the cause."""
SPEEDS = (10_000_000_000, 25_000_000_000)
"""Networks of systems whose incident is not about network speed."""


def _short_way(source: random.Random) -> Changes:
    """Draw the network of a system whose network is not the cause."""
    trip, buffer = source.randrange(20, 60, 5), source.choice(("4MiB", "8MiB", "16MiB"))
    return {"round_trip": f"{trip}us", "client_buffer": buffer, "server_buffer": buffer}


WITHOUT_A_WAY = ("combine-limit",)
"""Systems where requests must arrive at the same time."""
RANDOM_DATA: Mapping[str, Any] = {"fio": "3.33", "refill_buffers": True, "buffers": 8}
"""Data of systems whose data are not the cause."""


def _bystanders(source: random.Random) -> Changes:
    """Draw extra devices that are not the cause, so their presence or absence does not point to the cause."""
    log: Changes = {"log": {"devices": {"name": "log", "preset": "ssd-2008-log"}}}
    lun = {"capacity": "100GB", "rate": "400MB"}
    cache: Changes = {"l2arc": {"device": {"name": "cache", "lun": lun}}, "arc": {"size": "64MiB"}}
    return source.choice(({}, log, cache, {**log, **cache}))


def _with_bystanders(
    whole: Mapping[str, Any], own: dict[str, Any], incident: Incident, source: random.Random
) -> dict[str, Any]:
    """Add parts that are not the cause, drawn from `source`, to a system with neutral names."""
    own["partition"] = whole.get("partition") or {"start": MIB}
    window, speed, way = source.choice(WINDOWS), source.choice(SPEEDS), _short_way(source)
    own["monitor"] = {"span": "60s", **(whole.get("monitor") or {"window": window}), "job": APP}
    own["reduction"] = whole.get("reduction") or dict(RANDOM_DATA)
    if incident.case not in WITHOUT_A_WAY:
        fixed = {} if whole.get("server") else {"bits_per_s": speed}
        own["network"] = {**(whole.get("network") or way), **fixed}
    if whole.get("zfs"):
        own["zfs"] = _with_linux_names({**_bystanders(source), **whole["zfs"]})
    own["record"] = {**(whole.get("record") or {}), "log": False}
    return own


LOG, CACHE = "nvme1n1", "nvme2n1"
"""Names of the first log and the first cache device of a pool."""


def _with_linux_names(zfs: dict[str, Any]) -> dict[str, Any]:
    """Return a pool whose log and cache devices have names that Linux gives."""
    log, cache = zfs.get("log"), zfs.get("l2arc")
    if log and log.get("devices"):
        zfs = {**zfs, "log": {**log, "devices": {**log["devices"], "name": LOG}}}
    if cache:
        zfs = {**zfs, "l2arc": {**cache, "device": {**cache["device"], "name": CACHE}}}
    return zfs


@dataclass(frozen=True)
class Names:
    """The neutral names of jobs and devices, by their names in the case."""

    jobs: Mapping[str, str]
    devices: Mapping[str, str]

    def path(self, path: str) -> str:
        """Return a path of the case with neutral names."""
        found = re.match(r"(jobs|devices)\[([^\]]+)\](.*)", path, re.DOTALL)
        if not found:
            return path
        kind, name, rest = found.groups()
        return f"{kind}[{(self.jobs if kind == 'jobs' else self.devices).get(name, name)}]{rest}"


def neutral_names(scenario: Mapping[str, Any], jobs: Sequence[str]) -> Names:
    """Name these jobs, the application first, and all devices."""
    devices = {group["name"]: _device(group, number) for number, group in enumerate(scenario["devices"])}
    return Names(dict(zip(jobs, (APP, *OTHERS), strict=False)), devices)


def in_neutral_words(scenario: Mapping[str, Any], names: Names) -> dict[str, Any]:
    """Return a scenario with the named jobs only, under their neutral names."""
    jobs = [
        {**{key: value for key, value in job.items() if key != "stonewall"}, "name": names.jobs[job["name"]]}
        for job in scenario["jobs"]
        if job["name"] in names.jobs
    ]
    devices = [{**group, "name": names.devices[group["name"]]} for group in scenario["devices"]]
    own = {**scenario, "jobs": jobs, "devices": devices}
    for path in LISTS_OF_JOBS:
        own = _renamed(own, path.split("."), names.jobs)
    return own


LISTS_OF_JOBS = ("volume.cache.primed", "tier.primed", "tier.evicted", "zfs.arc.metadata")
"""Fields that contain names of jobs."""


def _renamed(part: dict[str, Any], path: Sequence[str], names: Mapping[str, str]) -> dict[str, Any]:
    """Return the part with other names in one of its lists; entries without a new name are removed."""
    first, *rest = path
    inner = part.get(first)
    if not inner:
        return part
    other = _renamed(inner, rest, names) if rest else [names[name] for name in inner if name in names]
    return {**part, first: other}


def _device(group: Mapping[str, Any], number: int) -> str:
    if group.get("ssd"):
        return f"nvme{number}n1"
    return f"dm-{number}" if group.get("lun") else f"sd{chr(ord('a') + number)}"


def complaint_metric(incident: Incident) -> str:
    """Return the metric of the neutral system that the complaint is about."""
    metric = incident.metric
    return metric if metric.startswith(OF_THE_SYSTEM) else APP + metric.removeprefix(incident.jobs[0])
