"""Incidents of on-call shifts: read from the `[shift]` tables of case files, drawn by a seed, told in neutral words.

Each is a variant of a case whose jobs and devices lose their names, and every system has a dashboard and a partition
table. A player finds out from commands which incident it is. Learners' own case files have the same table, read by
`incident_of` as well.
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
"""How metrics of the whole system begin, which no job's name precedes."""

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
    """Path of an earlier draw, whose number is a factor."""
    unit: str = ""

    def is_possible(self, earlier: Collection[str]) -> bool:
        """Whether it can be drawn after draws of the `earlier` paths."""
        first, last = (0, 0) if self.range is None else self.range
        numbers = (*self.choose, first, last, self.step, self.times)
        if not all(isinstance(one, int) and one >= 0 for one in numbers) or not isinstance(self.path + self.unit, str):
            return False
        sources = bool(self.choose) + (self.range is not None)
        leads_there = self.step > 0 and first <= last and (last - first) % self.step == 0
        return leads_there and (sources == 1 if self.of is None else sources <= 1 and self.of in earlier)

    def number(self, source: random.Random, drawn: Mapping[str, int]) -> int:
        """Draw the number, without its unit; `drawn` has those of earlier draws, by path."""
        factor = self.times * (drawn[self.of] if self.of else 1)
        if self.choose:
            return factor * source.choice(self.choose)
        if self.range is not None:
            first, last = self.range
            return factor * source.randrange(first, last + 1, self.step)
        return factor


@dataclass(frozen=True)
class Incident:
    """Something that may be wrong, and how a system with it is drawn."""

    cause: str
    """The mechanism, in a sentence."""
    case: str
    """Name of the case; empty when a learner wrote it."""
    failing: str
    """Variant of the system as it is found."""
    jobs: tuple[str, ...]
    """Those that are kept; the first is the application that complains."""
    set: Mapping[str, Any]
    """Values that differ from the variant's; None removes what is there."""
    draw: tuple[Draw, ...]
    metric: str
    """Number of the ticket: `JOB.NUMBER` of the application, or one of the whole system."""
    more_is_better: bool
    fix: Mapping[str, Any]
    """Values that repair it, by path of the case; a table `of`, `times` follows a drawn number."""
    command: str
    """The one command that tells it."""
    tells: str
    """What that command shows."""
    at_most: float = 3
    """How many times last month's number a change may bring that sets something else than the fix does. More is no
    recovery: a buffer that takes in the whole test, or a test of other data."""
    week: int | None = None
    """Week of the course that teaches the mechanism."""


def incident_of(case: str, table: Mapping[str, Any]) -> Incident:
    """Read a table `[shift]` whose fields have been checked."""
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
    """Read the incidents of all cases, in the order of the alphabet, as a player is offered their causes."""
    tables = [(case, table) for case, tables in _shifts().items() for table in tables if "none_because" not in table]
    return tuple(sorted((incident_of(case, table) for case, table in tables), key=lambda incident: incident.cause))


def causes() -> tuple[str, ...]:
    """Give what a player is offered as causes."""
    return tuple(incident.cause for incident in incidents())


def reasons_for_none() -> dict[str, str]:
    """Give the cases that no shift is drawn from, each with the reason."""
    return {
        case: tables[0]["none_because"] for case, tables in sorted(_shifts().items()) if "none_because" in tables[0]
    }


@lru_cache
def _shifts() -> dict[str, list[Mapping[str, Any]]]:
    """Give the tables `[shift]` of each case; one with `none_because` is the reason for none."""
    documents = (load_case(entry["id"]).document for entry in cases())
    written = {document["id"]: document["shift"] for document in documents if "shift" in document}
    return {case: tables if isinstance(tables, list) else [tables] for case, tables in written.items()}


@dataclass(frozen=True)
class System:
    """A system with something wrong, in neutral words."""

    incident: Incident
    scenario: Mapping[str, Any]
    remedy: Mapping[str, Any]
    """What repairs it, by path."""


def drawn_changes(incident: Incident, source: random.Random) -> tuple[Changes, dict[str, int]]:
    """Draw how the system differs from its variant: values by path, and the numbers that were drawn."""
    numbers: dict[str, int] = {}
    changes = dict(incident.set)
    for draw in incident.draw:
        number = numbers[draw.path] = draw.number(source, numbers)
        changes[draw.path] = f"{number}{draw.unit}" if draw.unit else number
    return changes, numbers


def remedy_of(incident: Incident, numbers: Mapping[str, int], names: Names) -> Changes:
    """Give what repairs the incident, by path of the neutral system."""
    return {
        names.path(path): numbers[value["of"]] * value.get("times", 1) if isinstance(value, dict) else value
        for path, value in incident.fix.items()
    }


def system_of(incident: Incident, source: random.Random) -> System:
    """Draw a system with an incident of a case, its bystanders included, and put it in neutral words."""
    changes, numbers = drawn_changes(incident, source)
    whole = load_case(incident.case).with_(changes).scenario(incident.failing)
    names = neutral_names(whole, incident.jobs)
    own = _with_bystanders(whole, in_neutral_words(whole, names), incident, source)
    return System(incident, validate(own), remedy_of(incident, numbers, names))


WINDOWS = ("1s", "10s", "20s", "30s")
"""What a dashboard averages over, where that is not what is wrong."""
SPEEDS = (10_000_000_000, 25_000_000_000)
"""Networks, where the network's speed is not what an incident is about."""


def _short_way(source: random.Random) -> Changes:
    """Draw the network of a system whose network is not to blame."""
    trip, buffer = source.randrange(20, 60, 5), source.choice(("4MiB", "8MiB", "16MiB"))
    return {"round_trip": f"{trip}us", "client_buffer": buffer, "server_buffer": buffer}


WITHOUT_A_WAY = ("combine-limit",)
"""Systems in which requests have to arrive together."""
RANDOM_DATA: Mapping[str, Any] = {"fio": "3.33", "refill_buffers": True, "buffers": 8}
"""Data of systems whose data are not to blame."""


def _bystanders(source: random.Random) -> Changes:
    """Draw devices beside a pool that have no part in what is wrong: who has none does not stand out, nor who has."""
    log: Changes = {"log": {"devices": {"name": "log", "preset": "ssd-2008-log"}}}
    lun = {"capacity": "100GB", "rate": "400MB"}
    cache: Changes = {"l2arc": {"device": {"name": "cache", "lun": lun}}, "arc": {"size": "64MiB"}}
    return source.choice(({}, log, cache, {**log, **cache}))


def _with_bystanders(
    whole: Mapping[str, Any], own: dict[str, Any], incident: Incident, source: random.Random
) -> dict[str, Any]:
    """Add parts that are not to blame, as `source` draws them, to a system in neutral words."""
    own["partition"] = whole.get("partition") or {"start": MIB}
    window, speed, way = source.choice(WINDOWS), source.choice(SPEEDS), _short_way(source)
    own["monitor"] = {"span": "60s", **(whole.get("monitor") or {"window": window}), "job": APP}
    own["reduction"] = whole.get("reduction") or dict(RANDOM_DATA)
    if incident.case not in WITHOUT_A_WAY:
        fixed = {} if whole.get("server") else {"bits_per_s": speed}
        own["network"] = {**(whole.get("network") or way), **fixed}
    if whole.get("zfs"):
        own["zfs"] = {**_bystanders(source), **whole["zfs"]}
    own["record"] = {**(whole.get("record") or {}), "log": False}
    return own


@dataclass(frozen=True)
class Names:
    """What jobs and devices are called in a shift, by what they are called in the case."""

    jobs: Mapping[str, str]
    devices: Mapping[str, str]

    def path(self, path: str) -> str:
        """Give a path of the case as it is in the shift."""
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
    """Give a scenario with those of its jobs that have a name, under that name."""
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
"""Fields that name jobs."""


def _renamed(part: dict[str, Any], path: Sequence[str], names: Mapping[str, str]) -> dict[str, Any]:
    """Give the same part with other names in one of its lists, those without one left out."""
    first, *rest = path
    inner = part.get(first)
    if not inner:
        return part
    other = _renamed(inner, rest, names) if rest else [names[name] for name in inner if name in names]
    return {**part, first: other}


def _device(group: Mapping[str, Any], number: int) -> str:
    kind = "nvme" if group.get("ssd") else "dm-" if group.get("lun") else "sd"
    return f"{kind}{number}" if kind != "sd" else f"sd{chr(ord('a') + number)}"


def complaint_metric(incident: Incident) -> str:
    """Give the metric of the neutral system that the complaint is about."""
    metric = incident.metric
    return metric if metric.startswith(OF_THE_SYSTEM) else APP + metric.removeprefix(incident.jobs[0])
