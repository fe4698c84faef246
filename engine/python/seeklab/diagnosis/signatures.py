"""The incidents that a system resembles: its scale-free numbers compared with those of simulated incidents.

`signatures.json` contains examples: each incident, drawn several times with other speeds and loads, and plain devices
without a fault. A distance is the root mean square of differences, each in units of the feature's variation within an
incident. A system that is closest to a plain device, or far from all examples, is none of these.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from math import exp, sqrt
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from seeklab.diagnosis.evidence import read_evidence
from seeklab.diagnosis.features import NAMES, features, in_words
from seeklab.diagnosis.summary import says

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from seeklab.diagnosis.evidence import Evidence

NONE = "none of these"
CLIENT_LOG = "the clients' requests with time, offset, size and latency: they show rhythm, tails and modes"
MECHANISMS = {
    "averaged-away": "bursts that a monitor averages away",
    "bonnie-decoded": "the client's page cache and processors",
    "combine-limit": "requests too large for one core",
    "copy-offload": "round trips of a copy",
    "delay-everything": "a write throttle of ticks",
    "diagonal": "dirty data faster than the backend",
    "dirty-sizing": "dirty data faster than the backend",
    "eleven-metrics": "a disk pool under a cold random load",
    "frictionless": "a delay in proportion to dirty data",
    "hci-taxonomy": "data on another node",
    "invariants": "a disk pool under a cold random load",
    "l2arc-warmth": "a cache that is still cold",
    "media-prefetch": "many streams in one read-ahead",
    "misaligned-io": "writes across the sectors of the disks",
    "nic-tuning": "the server's network card and cores",
    "odx-prefetch": "a small share of cache misses",
    "one-window-per-rtt": "one window for each round trip",
    "openzfs-throttle": "a delay in proportion to dirty data",
    "picket-fence": "transaction groups written in bursts",
    "slog-divert": "an overloaded log device",
    "sync-serialised": "commits one after the other",
    "thousand-threads": "a write throttle of ticks",
    "throttle-2008": "a write throttle of ticks",
    "tlb-shootdown": "the server's network card and cores",
    "tune-openzfs": "a delay in proportion to dirty data",
    "txg-seconds": "transaction groups written in bursts",
    "vdisk-sharding": "one core for a virtual disk",
}
"""The mechanism of each incident. Several incidents can share one."""
MIN_SPREAD = 0.08
FAR = 2.0
"""A system at this distance is none of these: 99 of 100 draws of an incident are within 1.7 of another draw of it."""
SHOWN = 3
CLOSE = 1.0
MIN_FEATURES = 3


class Fit(NamedTuple):
    """How well an incident fits."""

    incident: str
    mechanism: str
    distance: float
    percent: float
    """The fit from 0 to 100; 100 at distance 0."""
    alike: tuple[str, ...]
    """The most similar of the features that distinguish the incident, as text."""
    unlike: tuple[str, ...]
    """The features that differ most, as text."""


@dataclass(frozen=True)
class Diagnosis:
    """The result of a diagnosis."""

    says: list[str]
    """The conclusions from the numbers alone, one sentence each."""
    ranked: list[Fit]
    """The incidents that fit best, one per mechanism, the best first."""
    is_none: bool
    """Whether no incident fits."""
    why: str
    """The reason why none fits, or the nearest incident."""
    next: list[str]
    """Suggestions for what to record or compare next, to distinguish the first incidents."""
    sources: list[str]
    """The detected format of each file."""

    def document(self) -> dict[str, Any]:
        """Return the diagnosis as plain data."""
        return {
            "says": self.says,
            "none_of_these": self.is_none,
            "why": self.why,
            "ranked": [fit._asdict() for fit in self.ranked],
            "next": self.next,
        }


class _Signature(NamedTuple):
    """An example of an incident."""

    incident: str
    features: dict[str, float]


@cache
def _signatures() -> tuple[tuple[_Signature, ...], dict[str, float]]:
    """Read the examples, and compute the variation of each feature within an incident."""
    text = resources.files("seeklab.diagnosis").joinpath("signatures.json").read_text(encoding="utf-8")
    examples = tuple(_Signature(item["incident"], item["features"]) for item in json.loads(text))
    return examples, _spreads(examples)


def _spreads(examples: Sequence[_Signature]) -> dict[str, float]:
    by_incident: dict[str, list[dict[str, float]]] = {}
    for example in examples:
        if example.incident != NONE:
            by_incident.setdefault(example.incident, []).append(example.features)
    found = {}
    for name in NAMES:
        squares = []
        for group in by_incident.values():
            values = [of[name] for of in group if name in of]
            if len(values) > 1:
                mean = fmean(values)
                squares += [(value - mean) ** 2 for value in values]
        found[name] = max(MIN_SPREAD, sqrt(fmean(squares))) if squares else MIN_SPREAD
    return found


def _distance(one: Mapping[str, float], other: Mapping[str, float], spreads: Mapping[str, float]) -> float:
    shared = [name for name in one if name in other]
    if len(shared) < MIN_FEATURES:
        return float("inf")
    # A single extreme feature must not decide.
    squares = [min(9.0, ((one[name] - other[name]) / spreads[name]) ** 2) for name in shared]
    # A feature that only one of the two has also counts as a difference.
    alone = len(set(one) ^ set(other))
    return sqrt(fmean(squares)) + 0.1 * alone


def diagnose(files: Sequence[str | PathLike[str]] | Evidence) -> Diagnosis:
    """Diagnose a system from files of tools, or from evidence that was read before."""
    found = read_evidence(files) if isinstance(files, (list, tuple)) else files
    return judge(found)  # type: ignore[arg-type]


def judge(found: Evidence) -> Diagnosis:
    """Return what the numbers show, and the incidents that they resemble."""
    values = features(found)
    examples, spreads = _signatures()
    usable = [_reduced(example, values, found) for example in examples]
    distances = sorted(
        ((_distance(values, example.features, spreads), example) for example in usable), key=lambda pair: pair[0]
    )
    ranked: list[Fit] = []
    for distance, example in distances:
        mechanism = MECHANISMS.get(example.incident, NONE)
        if mechanism != NONE and all(fit.mechanism != mechanism for fit in ranked) and distance < float("inf"):
            ranked.append(_fit(distance, example, mechanism, values, spreads))
    nearest = distances[0][1].incident
    is_none, why = False, ""
    if not ranked or len(values) < MIN_FEATURES:
        is_none, why = (
            True,
            f"only {len(values)} numbers can be compared; add an operation log and iostat -x of the same time",
        )
    elif nearest == NONE:
        is_none, why = True, "it most resembles a plain device with a plain load and no fault"
    elif ranked[0].distance > FAR:
        is_none, why = True, f"the nearest, {ranked[0].incident}, differs by {ranked[0].distance:.1f} times its spread"
    likely = [] if is_none else ranked
    return Diagnosis(says(found), ranked[:SHOWN], is_none, why, _next(likely, values, found, spreads), found.sources)


def _reduced(example: _Signature, values: Mapping[str, float], found: Evidence) -> _Signature:
    """Remove from an example the features that this recording cannot show for any incident."""
    has_ops = bool(found.ops) and not found.of_device
    if has_ops and found.devices:
        return example
    return _Signature(example.incident, {name: value for name, value in example.features.items() if name in values})


def _fit(
    distance: float, example: _Signature, mechanism: str, values: Mapping[str, float], spreads: Mapping[str, float]
) -> Fit:
    away = {
        name: abs(values[name] - value) / spreads[name] for name, value in example.features.items() if name in values
    }
    in_order = sorted(away, key=lambda name: away[name])
    telling = [name for name in in_order if away[name] < CLOSE and abs(example.features[name]) > MIN_SPREAD]
    unlike = [name for name in reversed(in_order) if away[name] > 2 * CLOSE]
    words = [NAMES[name] for name in telling[:SHOWN]], [NAMES[name] for name in unlike[:SHOWN]]
    return Fit(
        example.incident, mechanism, distance, 100 * exp(-((distance / FAR) ** 2)), tuple(words[0]), tuple(words[1])
    )


def _next(
    ranked: Sequence[Fit], values: Mapping[str, float], found: Evidence, spreads: Mapping[str, float]
) -> list[str]:
    """Return what would distinguish the first two: data that were not recorded, and their largest differences."""
    wanted = []
    if not found.ops or found.of_device:
        wanted.append(CLIENT_LOG)
    if not found.devices:
        wanted.append("iostat -x 1 of the same time: it shows whether the time is spent in the devices or above them")
    if len(ranked) > 1:
        examples, _ = _signatures()
        one, other = (_middle(examples, fit.incident) for fit in ranked[:2])
        apart: dict[str, Any] = {name: abs(one[name] - other[name]) / spreads[name] for name in one if name in other}
        names = sorted(apart, key=lambda name: -apart[name])[:SHOWN]
        wanted += [
            f"{NAMES[name]}: {_here(values, name)} here, {in_words(name, one[name])} in {ranked[0].incident}, "
            f"{in_words(name, other[name])} in {ranked[1].incident}"
            for name in names
        ]
    return wanted


def _here(values: Mapping[str, float], name: str) -> str:
    return in_words(name, values[name]) if name in values else "not recorded"


def _middle(examples: Sequence[_Signature], incident: str) -> dict[str, float]:
    of = [example.features for example in examples if example.incident == incident]
    names = set().union(*of) if of else set()
    return {name: fmean(item[name] for item in of if name in item) for name in sorted(names)}
