"""The protocol between Python and the engine, whichever host runs it.

Requests and answers are JSON in one envelope, `{"ok": value}` or `{"errors": [...]}`. Result columns cross as raw
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
"""The type of a column as `array.array` writes it: 64-bit float or 32-bit unsigned integer."""

TYPE_CODES: dict[str, TypeCode] = {"f64": "d", "u32": "I"}


class RunHandle(Protocol):
    """A run in progress, or a finished one whose results are still in the engine's memory."""

    def step(self, max_events: int) -> float:
        """Advance by at most `max_events`; give the progress from 0 to 1, 1 only when done, -1 failed, 2 asks."""

    def question(self) -> Any:
        """Give the question that the run waits with."""

    def answer(self, payload: Mapping[str, object]) -> Any:
        """Answer the question; raises why when the answer is refused, and the question stands.

        With `events` in the answer the run goes on by at most so many, and `progress` and `question` come back.
        """

    def summary(self) -> dict[str, Any]:
        """Metrics, fingerprint and names; raises the reason when the run failed."""

    def columns(self) -> list[dict[str, Any]]:
        """Describe every result column: name, type and length."""

    def column(self, name: str, type_code: TypeCode, length: int) -> array[Any]:
        """Copy one result column."""

    def text(self, options: Mapping[str, object]) -> str:
        """Print what an observation tool shows of this run."""

    def close(self) -> None:
        """Give the run's memory back."""


class Engine(Protocol):
    """An engine that answers questions and opens runs."""

    def call(self, name: str, payload: Mapping[str, object]) -> Any:
        """Ask one question; the value inside the answer's envelope."""

    def open_run(self, payload: Mapping[str, object]) -> RunHandle:
        """Check a scenario and prepare its run."""


def unwrap(envelope: str) -> Any:
    """Take the value out of an answer's envelope, or raise the problems that it holds."""
    answer = json.loads(envelope)
    if "errors" in answer:
        raise SeeklabError(Problem.read(problem) for problem in answer["errors"])
    return answer["ok"]
