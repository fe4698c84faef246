"""Cases: documented incidents, each with its variants, controls and facts."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from seeklab._result import Result, execute
from seeklab._user_presets import groups_on, own_preset
from seeklab.engine.host import engine
from seeklab.engine.raw import read_engine_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from seeklab._result import Progress


@dataclass(frozen=True)
class Case:
    """A documented incident. It is immutable: `with_` returns a new one."""

    document: Mapping[str, Any] = field(repr=False)
    """The whole case: story, source, variants, controls, facts, and more."""
    id: str
    """The case's name, as on the command line."""
    changes: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    """Values that differ from the variant's own, by path."""

    @property
    def title(self) -> str:
        """The case's title."""
        return str(self.document["title"])

    @property
    def variants(self) -> tuple[str, ...]:
        """Names of the variants."""
        return tuple(variant["name"] for variant in self.document["variants"])

    @property
    def default_variant(self) -> str:
        """The variant that `run` uses by default."""
        return str(self.document["default_variant"])

    @property
    def facts(self) -> tuple[Mapping[str, Any], ...]:
        """The documented facts, as in the case file. `seeklab.facts(id)` compares them with the simulation."""
        return tuple(self.document["facts"])

    @property
    def controls(self) -> tuple[Mapping[str, Any], ...]:
        """The parameters for learners: each with path, title, unit, range and current value."""
        return tuple(engine().call("control", self.request(None)))

    def scenario(self, variant: str | None = None) -> dict[str, Any]:
        """Return the complete scenario of a variant, with this case's changes and with all presets expanded."""
        scenario: dict[str, Any] = engine().call("scenario", self.request(variant))
        return scenario

    def with_(self, changes: Mapping[str, object]) -> Case:
        """Return the same case with other values, by path: `case.with_({"jobs[0].bs": "8MiB"})`."""
        return replace(self, changes=MappingProxyType({**self.changes, **changes}))

    def on(self, device: str, variant: str | None = None) -> Case:
        """Return the same case with its data on another device: a preset, your own (`mine`), or a preset's file.

        The number of devices and the layout of addresses over them stay the same; devices of logs and caches stay too.
        """
        own = own_preset(device)
        groups = self.scenario(variant)["devices"]
        return self.with_(groups_on(groups, device if own is None else own))

    def run(self, variant: str | None = None, *, seed: int = 1, progress: Progress | None = None) -> Result:
        """Run a variant. `progress` receives the completed share from time to time; an interrupt stops the run."""
        return execute({**self.request(variant), "seed": seed}, progress)

    def request(self, variant: str | None = None) -> dict[str, object]:
        """Return the engine's request: the case, the variant and the changes."""
        request: dict[str, object] = {"case": self.id}
        if variant is not None:
            request["variant"] = variant
        if self.changes:
            request["set"] = dict(self.changes)
        return request

    def _repr_html_(self) -> str:
        """Return title and symptom, for a notebook."""
        from html import escape

        symptom = escape(str(self.document.get("symptom", "")))
        return f"<p><b>{escape(self.title)}</b><br>{symptom}<br>variants: {escape(', '.join(self.variants))}</p>"


def case(id: str) -> Case:  # noqa: A002 -- the word that the command line and the case files use
    """Load a case by its name; the error for an unknown name suggests the nearest one.

    >>> odx = seeklab.case("odx-prefetch")
    >>> odx.default_variant
    'broken'
    >>> fewer = odx.with_({"volume.prefetch.chunk": "4MiB"}).run(seed=7)
    """
    document = engine().call("case", {"id": id})
    return Case(MappingProxyType(document), document["id"])


def cases() -> list[dict[str, Any]]:
    """Return every case: id, code, title, symptom, family, source, variants and controls.

    >>> "odx-prefetch" in [case["id"] for case in seeklab.cases()]
    True
    """
    found: list[dict[str, Any]] = engine().call("cases", {})
    return found


def presets() -> list[dict[str, Any]]:
    """Return every device preset: name, title, source of its numbers, and kind.

    >>> [preset["name"] for preset in seeklab.presets() if "HGST" in preset["title"] or "Hitachi" in preset["title"]]
    ['hdd-hgst-7k100']
    """
    found: list[dict[str, Any]] = engine().call("presets", {})
    return found


def tools() -> list[dict[str, Any]]:
    """Return every tool for the output of a run: its name, and its description in `help`.

    >>> "iostat" in [tool["name"] for tool in seeklab.tools()]
    True
    """
    found: list[dict[str, Any]] = engine().call("tools", {})
    return found


def measure(case: Case, document: Mapping[str, Any]) -> float:
    """Return the value of a case file's measure: a metric, a ratio or difference of two, or a ratio of ratios."""
    value: float = engine().call("measure", {"case": case.id, "measure": document, "set": dict(case.changes)})
    return value


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a scenario, with unit, range, step, label and help of every value.

    >>> seeklab.schema()["$defs"]["Job"]["properties"]["bs"]["x-unit"]
    'B'
    """
    document: dict[str, Any] = json.loads(read_engine_file("schema.json"))
    return document


def validate(scenario: Mapping[str, object]) -> dict[str, Any]:
    """Check a scenario without running it, and return the complete one; raise SeeklabError with all problems.

    >>> seeklab.validate({"devices": [{"preset": "nvme"}]})
    Traceback (most recent call last):
    seeklab._errors.SeeklabError: jobs: is missing. The workload, in fio's vocabulary.
    """
    resolved: dict[str, Any] = engine().call("validate", {"scenario": scenario})
    return resolved


def engine_version() -> str:
    """Return the version of the engine.

    >>> seeklab.engine_version() == seeklab.__version__
    True
    """
    return str(engine().call("version", {})["engine"])
