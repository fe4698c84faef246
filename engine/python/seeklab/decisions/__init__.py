"""Decisions of the host: the run and its simulated time pause, the host decides, and the run continues.

This module has what all decisions share. Each other file here defines one decision: its history, its answers, and the
public function that uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import index
from time import perf_counter
from typing import Any, NoReturn, TypeAlias

from seeklab._case import Case
from seeklab._errors import Problem, SeeklabError
from seeklab._result import Result, charge, events_left, raise_limit
from seeklab.engine.host import engine

STEPS_AT_ONCE = 1 << 16
"""Events of a run, or requests of a cache replay, between two checks for an interrupt."""
ASKS = 2.0
"""The progress value of a step that waits for an answer."""

Answer: TypeAlias = Callable[[dict[str, Any]], Mapping[str, object]]
"""Returns the answer to the engine's question."""


@dataclass(frozen=True)
class Decision:
    """A decision that a layer makes itself, unless its scenario leaves it to the host."""

    answers: str
    """The engine's name for the answers."""
    field: str
    """The scenario's field that leaves the decision to the host."""
    asked: object
    """The field's value when the host decides."""
    layer: str
    """The part that the scenario must contain, as a path."""
    case_lacks: str
    """Message for a case without it, with the name of a case that has it."""
    scenario_lacks: str
    """Message for a scenario without it."""

    def request(self, system: Case | Mapping[str, Any], chosen: object, variant: str | None) -> dict[str, object]:
        """Return the engine's request for a run of `system`, with `chosen` in the field unless it is None."""
        if isinstance(system, Case):
            if not _has(system.scenario(variant), self.layer):
                raise SeeklabError([Problem("case", f"{system.id} {self.case_lacks}")])
            return (system if chosen is None else system.with_({self.field: chosen})).request(variant)
        if variant is not None:
            raise SeeklabError([Problem("variant", "a scenario has no variants; pass a case, or no variant")])
        if not _has(system, self.layer):
            raise SeeklabError([Problem(self.layer, self.scenario_lacks)])
        return {"scenario": dict(system) if chosen is None else _changed(system, self.field, chosen)}

    def run(self, system: Case | Mapping[str, Any], answer: Answer, variant: str | None, seed: int) -> Result:
        """Run to the end, and answer each question of the run."""
        start = perf_counter()
        request = {**self.request(system, self.asked, variant), "seed": seed}
        run = engine().open_run({**request, "answers": self.answers})
        try:
            progress, used = 0.0, 0
            while progress != 1:
                events_left(used)
                progress = run.step(STEPS_AT_ONCE)
                used += STEPS_AT_ONCE
                question: dict[str, Any] = run.question() if progress == ASKS else {}
                while progress == ASKS:
                    step = run.answer({**answer(question), "events": STEPS_AT_ONCE})
                    progress, question = step["progress"], step["question"]
                if progress < 0:
                    raise_limit(run)
            result = Result(run, perf_counter() - start)
        except BaseException:
            run.close()
            raise
        charge(result.events)
        return result


def _has(scenario: Mapping[str, Any], path: str) -> bool:
    name, _, rest = path.partition(".")
    inner = scenario.get(name)
    return isinstance(inner, Mapping) and (not rest or rest in inner)


def _changed(scenario: Mapping[str, Any], path: str, value: object) -> dict[str, Any]:
    step, _, rest = path.partition(".")
    name, _, entry = step.rstrip("]").partition("[")
    if not entry:
        return {**scenario, name: _changed(scenario.get(name) or {}, rest, value) if rest else value}
    entries = scenario.get(name) or []
    names = [one.get("name") for one in entries]
    if entry not in names:
        known = ", ".join(str(one) for one in names)
        raise SeeklabError([Problem(name, f'"{entry}" is unknown; accepted: {known}')])
    return {**scenario, name: [_changed(one, rest, value) if one.get("name") == entry else one for one in entries]}


def must_be_callable(name: str, policy: object, what: str) -> None:
    """Raise SeeklabError if a policy is not callable; `what` describes an accepted one."""
    if not callable(policy):
        raise SeeklabError([Problem(name, f"{policy!r} is not callable; pass {what}")])


def ask(name: str, place: str, policy: Callable[..., Any], *arguments: object) -> Any:
    """Call a policy. Its exceptions are passed on, with a note that names the policy and the place."""
    try:
        return policy(*arguments)
    except Exception as error:
        error.add_note(f"raised by the {name} at {place}")
        raise


def refuse(path: str, answer: object, place: str, accepted: str) -> NoReturn:
    """Raise SeeklabError for an invalid answer."""
    raise SeeklabError([Problem(path, f"returned {answer!r} at {place}; return {accepted}")])


def whole(answer: object) -> int | None:
    """Return an answer as a whole number, from any number library; None if it is something else."""
    if isinstance(answer, bool) or not hasattr(answer, "__index__"):
        return None
    return index(answer)
