"""What can go wrong, told to people: all problems at once, each with its place, what was found and what is accepted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with an input."""

    path: str
    """Where: a path such as `jobs[0].bs`, or a place in a file such as `line 3`."""
    message: str
    """What was found and what is accepted, as a sentence without the path."""
    nearest: str | None = None
    """The nearest accepted spelling, when there is one."""

    def __str__(self) -> str:
        """Where and what, on one line."""
        return f"{self.path}: {self.message}" if self.path else self.message

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Problem:
        """Read a problem as the engine reports it."""
        return cls(document.get("path", ""), document["message"], document.get("nearest"))


class SeeklabError(ValueError):
    """An input that Seeklab does not accept. `problems` lists everything that is wrong with it."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        """Collect the problems of one input."""
        self.problems: tuple[Problem, ...] = tuple(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        """One line for each problem."""
        return "\n".join(str(problem) for problem in self.problems)


class LimitExceeded(SeeklabError):  # noqa: N818 -- reads as the outcome of a run, as TimeoutExpired does
    """A run that was stopped because it exceeded one of its limits; the path names the limit."""


class EngineError(RuntimeError):
    """The engine is missing or stopped in a way that no input should cause."""


class MachineError(EngineError):
    """This machine, or a limit that was set on it, does not give what the engine needs."""

    @classmethod
    def lacking_memory(cls, reason: str) -> MachineError:
        """Say that there is too little memory, or address space, to begin with."""
        return cls(
            f"The engine cannot start: {reason.strip().splitlines()[-1].strip()}. Each run takes 8.2 GiB of address "
            "space and uses little of it, and so does what answers questions; raise the limit (`ulimit -v` shows it), "
            "close results that are not needed any more, or free memory."
        )
