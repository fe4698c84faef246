"""Learners' programs as the judge uses them: each is started for every game, called, and ended.

A program can run in three ways with the same answers: in the sandbox (the grader), as text in its own namespace (tests,
Pyodide), and live (practice in a notebook). In all three, an error of the program becomes a `ProgramError` with a
sentence.
"""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from seeklab.judge import _sandbox_child

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from seeklab.judge.answers import Code

ANSWER_WITHIN_S = 10.0
NOTES_AT_ONCE = 4096
WHOLE = re.compile(rb"\[(0|[1-9]\d{0,14})\]")
"""The most common answer of policies, recognized without a JSON parser."""


class ProgramError(Exception):
    """The learner's program made an error that ends its game."""


class Program(Protocol):
    """A learner's program."""

    def start(self, code: Code) -> AbstractContextManager[Any]:
        """Start it for one game: a function, or an object with the methods that `code` names."""


class _Guarded:
    """Calls a program in this process; its errors read as those from the sandbox."""

    def __init__(self, policy: Any) -> None:
        self._policy = policy

    def __call__(self, *arguments: object) -> Any:
        try:
            return _plain_answer(self._policy(*arguments))
        except ProgramError:
            raise
        except Exception as error:
            raise ProgramError(_sandbox_child.told(error)) from error

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return _Guarded(getattr(self._policy, name))


def _plain_answer(answer: object) -> Any:
    try:
        return _sandbox_child.strict(answer)
    except _sandbox_child.NotDataError as error:
        message = f"returned an answer that {error}"
        raise ProgramError(message) from None


@contextmanager
def _playing(make: Callable[[], Any], code: Code) -> Iterator[Any]:
    try:
        policy = make()
        lacking = [name for name in code.methods if not callable(getattr(policy, name, None))]
    except _sandbox_child.NotDataError as error:
        raise ProgramError(str(error)) from None
    except Exception as error:
        raise ProgramError(_sandbox_child.told(error)) from error
    if lacking:
        message = f"has no method {lacking[0]}; it needs {', '.join(code.methods)}"
        raise ProgramError(message)
    if not code.methods and not callable(policy):
        message = f"made {policy!r}, which is not callable"
        raise ProgramError(message)
    yield _Guarded(policy)


@dataclass(frozen=True)
class Live:
    """A program that exists in this process, as in the learner's notebook."""

    program: Callable[..., Any]

    def start(self, code: Code) -> AbstractContextManager[Any]:
        """Make a new policy from it, or use the function."""
        return _playing(self.program if code.made else lambda: self.program, code)


@dataclass(frozen=True)
class Text:
    """A program as text, run in this process, with its own namespace for each game."""

    sources: Sequence[Mapping[str, str]]
    """The cells that it needs: kind, label and source."""
    entry: str

    def start(self, code: Code) -> AbstractContextManager[Any]:
        """Run the text, and make a policy from its definitions."""

        def make() -> Any:
            program, _ = _sandbox_child.program_of([dict(source) for source in self.sources], self.entry)
            return program() if code.made else program

        return _playing(make, code)


class _Remote:
    """A program in the sandbox."""

    def __init__(self, child: Any, code: Code) -> None:
        self._sandbox_child, self._code = child, code
        self._notes: list[tuple[str, tuple[object, ...]]] = []

    def __call__(self, *arguments: object) -> Any:
        return self._ask([("", arguments)])

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name in self._code.notes:
            return lambda *arguments: self._note(name, arguments)
        return lambda *arguments: self._ask([(name, arguments)])

    def _note(self, name: str, arguments: tuple[object, ...]) -> None:
        """Store a notification that needs no answer until the next question."""
        self._notes.append((name, arguments))
        if len(self._notes) >= NOTES_AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Send the stored notifications."""
        if self._notes:
            self._ask([])

    def _ask(self, calls: list[tuple[str, tuple[object, ...]]]) -> Any:
        notes, self._notes = self._notes, []
        self._sandbox_child.tell([*notes, *calls])
        return _answered(self._sandbox_child)


def _answered(child: Any) -> Any:
    """Wait for an answer, which can be any data."""
    line = child.line(ANSWER_WITHIN_S)
    child.forgive_output()
    whole = WHOLE.fullmatch(line)
    if whole:
        return int(whole[1])
    with child.charged():
        return _data_of(_read(line))


def _data_of(answer: Any) -> Any:
    """Return the data of an answer's document."""
    if isinstance(answer, dict) and isinstance(answer.get("raised"), str):
        raise ProgramError(answer["raised"][: 2 * _sandbox_child.MAX_MESSAGE])
    if isinstance(answer, list) and len(answer) == 1:
        return answer[0] if type(answer[0]) is int else _plain_answer(answer[0])
    message = "wrote invalid data to its answers"
    raise ProgramError(message)


def _read(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        message = "wrote invalid JSON to its answers"
        raise ProgramError(message) from None


def _must_be_ready(first: object) -> None:
    if first != {"ready": True}:
        told = first.get("raised") if isinstance(first, dict) else None
        raise ProgramError(str(told or "did not start")[: 2 * _sandbox_child.MAX_MESSAGE])


@dataclass(frozen=True)
class Sandboxed:
    """A program as text, run in its own sandbox: a policy for each game, a function for each call.

    A function that is asked about several systems therefore cannot count its calls.
    """

    text: Text
    sandbox: Any
    """A `seeklab.judge.sandbox.Sandbox`."""
    files: Mapping[str, str] | None = None

    @contextmanager
    def start(self, code: Code) -> Iterator[Any]:
        """Start it in the sandbox."""
        if code.made:
            with self._held(code) as remote:
                yield remote
                remote.flush()
        else:

            def call(*arguments: object) -> Any:
                with self._held(code) as remote:
                    return remote(*arguments)

            yield call

    @contextmanager
    def _held(self, code: Code) -> Iterator[_Remote]:
        from seeklab.judge.sandbox import BrokenOutError

        order = {
            "do": "play",
            "sources": [dict(source) for source in self.text.sources],
            "entry": self.text.entry,
            "made": code.made,
            "methods": list(code.methods),
            "shape": [list(code.records[name]) if name in code.records else None for name in code.takes],
        }
        try:
            with self.sandbox.start(order, self.files) as child:
                _must_be_ready(_read(child.line()))
                yield _Remote(child, code)
        except BrokenOutError as error:
            raise ProgramError(str(error)) from None
