"""The protocol between Python and the engine, the same on every host.

Requests and answers are JSON in one envelope, `{"ok": value}` or `{"errors": [...]}`. Result columns are passed as raw
arrays.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, Protocol

from seeklab._errors import Problem, SeeklabError

if TYPE_CHECKING:
    from array import array
    from collections.abc import Mapping

TypeCode = Literal["d", "I"]
"""The type of a column, as in `array.array`: 64-bit float or 32-bit unsigned integer."""

TYPE_CODES: dict[str, TypeCode] = {"f64": "d", "u32": "I"}


class RunHandle(Protocol):
    """A run in progress, or a finished one whose results are still in the engine's memory."""

    def step(self, max_events: int) -> float:
        """Advance by at most `max_events`; return the progress, 0 to 1 (1 only at the end), or -1 failed, 2 asks."""

    def question(self) -> Any:
        """Return the question that the run waits with."""

    def answer(self, payload: Mapping[str, object]) -> Any:
        """Answer the question; if the answer is refused, raise the reason and keep the question.

        If the answer has `events`, the run continues by at most this number, and `progress` and `question` are
        returned.
        """

    def summary(self) -> dict[str, Any]:
        """Return metrics, fingerprint and names; raise the reason if the run failed."""

    def columns(self) -> list[dict[str, Any]]:
        """Return name, type and length of every result column."""

    def column(self, name: str, type_code: TypeCode, length: int) -> array[Any]:
        """Return a copy of one result column."""

    def text(self, options: Mapping[str, object]) -> str:
        """Return the output of an observation tool for this run."""

    def close(self) -> None:
        """Free the run's memory."""


class Engine(Protocol):
    """An engine that answers calls and opens runs."""

    def call(self, name: str, payload: Mapping[str, object]) -> Any:
        """Make one call; return the value inside the answer's envelope."""

    def open_run(self, payload: Mapping[str, object]) -> RunHandle:
        """Check a scenario and prepare its run."""


def unwrap(envelope: str) -> Any:
    """Return the value of an answer's envelope, or raise the problems that it contains."""
    answer = json.loads(envelope)
    if "errors" in answer:
        raise SeeklabError(Problem.read(problem) for problem in answer["errors"])
    return answer["ok"]
