"""Cases: documented incidents, each with its variants, controls and facts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from seeklab._result import Result, execute
from seeklab._user_presets import groups_on, own_preset
from seeklab.engine.host import engine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from seeklab._result import Progress


@dataclass(frozen=True)
class Case:
    """A documented incident. It never changes: `with_` gives a new one."""

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
        """The variant that `run` takes unless told otherwise."""
        return str(self.document["default_variant"])

    @property
    def facts(self) -> tuple[Mapping[str, Any], ...]:
        """What the source documents, as the case states it. `seeklab.facts(id)` compares it with the simulation."""
        return tuple(self.document["facts"])

    @property
    def controls(self) -> tuple[Mapping[str, Any], ...]:
        """What a learner should touch: each with path, title, unit, range and the present value."""
        return tuple(engine().call("control", self.request(None)))

    def scenario(self, variant: str | None = None) -> dict[str, Any]:
        """Give the complete scenario of a variant, with this case's changes and all presets written out."""
        scenario: dict[str, Any] = engine().call("scenario", self.request(variant))
        return scenario

    def with_(self, changes: Mapping[str, object]) -> Case:
        """Give the same case with other values, by path: `case.with_({"jobs[0].bs": "8MiB"})`."""
        return replace(self, changes=MappingProxyType({**self.changes, **changes}))

    def on(self, device: str, variant: str | None = None) -> Case:
        """Give the same case with its data on another device: a preset, one's own (`mine`), or the file of one.

        How many devices there are and how addresses spread over them stays; devices of logs and caches stay too.
        """
        own = own_preset(device)
        groups = self.scenario(variant)["devices"]
        return self.with_(groups_on(groups, device if own is None else own))

    def run(self, variant: str | None = None, *, seed: int = 1, progress: Progress | None = None) -> Result:
        """Run a variant. `progress` is called from time to time with the share done; an interrupt stops the run."""
        return execute({**self.request(variant), "seed": seed}, progress)

    def request(self, variant: str | None = None) -> dict[str, object]:
        """Write what the engine is asked: the case, the variant, the changes."""
        request: dict[str, object] = {"case": self.id}
        if variant is not None:
            request["variant"] = variant
        if self.changes:
            request["set"] = dict(self.changes)
        return request

    def _repr_html_(self) -> str:
        """Title and symptom, for a notebook."""
        from html import escape

        symptom = escape(str(self.document.get("symptom", "")))
        return f"<p><b>{escape(self.title)}</b><br>{symptom}<br>variants: {escape(', '.join(self.variants))}</p>"


def case(id: str) -> Case:  # noqa: A002 -- the word that the command line and the case files use
    """Load a case by its name. An unknown name is answered with the nearest known one."""
    document = engine().call("case", {"id": id})
    return Case(MappingProxyType(document), document["id"])


def cases() -> list[dict[str, Any]]:
    """Every case: id, code, title, symptom, family, source, variants and controls."""
    found: list[dict[str, Any]] = engine().call("cases", {})
    return found


def presets() -> list[dict[str, Any]]:
    """Every device preset: name, title, source of its numbers, and kind."""
    found: list[dict[str, Any]] = engine().call("presets", {})
    return found


def tools() -> list[dict[str, Any]]:
    """Every tool that a run can be printed with: its name, and in `help` what it shows."""
    found: list[dict[str, Any]] = engine().call("tools", {})
    return found


def measure(case: Case, document: Mapping[str, Any]) -> float:
    """Take what a case file calls a measure: a metric, a ratio or difference of two, or a ratio over another."""
    value: float = engine().call("measure", {"case": case.id, "measure": document, "set": dict(case.changes)})
    return value


def schema() -> dict[str, Any]:
    """Give the JSON Schema of a scenario, with unit, range, step, label and help of every value."""
    document: dict[str, Any] = engine().call("schema", {})
    return document


def validate(scenario: Mapping[str, object]) -> dict[str, Any]:
    """Check a scenario without running it and give the complete one; raises all its problems at once."""
    resolved: dict[str, Any] = engine().call("validate", {"scenario": scenario})
    return resolved


def engine_version() -> str:
    """Give the version of the engine."""
    return str(engine().call("version", {})["engine"])
