"""Errors for people: all problems of an input at once, each with its place, the value found and what is accepted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of an input."""

    path: str
    """The place: a path such as `jobs[0].bs`, or a position in a file such as `line 3`."""
    message: str
    """The value found and what is accepted, as a sentence without the path."""
    nearest: str | None = None
    """The nearest accepted spelling, if there is one."""

    def __str__(self) -> str:
        """Return place and message on one line."""
        return f"{self.path}: {self.message}" if self.path else self.message

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Problem:
        """Build a problem from the engine's document."""
        return cls(document.get("path", ""), document["message"], document.get("nearest"))


class SeeklabError(ValueError):
    """An input that Seeklab does not accept. `problems` lists all its problems."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        """Collect the problems of one input."""
        self.problems: tuple[Problem, ...] = tuple(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        """One line for each problem."""
        return "\n".join(str(problem) for problem in self.problems)


class LimitExceeded(SeeklabError):  # noqa: N818 -- reads as the outcome of a run, as TimeoutExpired does
    """A run exceeded one of its limits and was stopped; the path names the limit."""


class EngineError(RuntimeError):
    """The engine is missing, or it failed in a way that no input should cause."""


class MachineError(EngineError):
    """This machine, or a limit set on it, does not provide what the engine needs."""

    @classmethod
    def lacking_memory(cls, reason: str) -> MachineError:
        """Return the error for too little memory, or address space, to start."""
        return cls(
            f"The engine cannot start: {reason.strip().splitlines()[-1].strip()}. Each run, and the engine for other "
            "calls, reserves 8.2 GiB of address space but uses little of it. Raise the limit (`ulimit -v` shows it), "
            "close results that you no longer need, or free memory."
        )
