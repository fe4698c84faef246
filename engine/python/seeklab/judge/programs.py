"""Learners' programs as a judge sees them: something that is started anew for each game, asked, and ended.

Three ways to hold one, which answer alike: in the sandbox (the grader), from its text in a namespace of its own (tests,
Pyodide), and live (practice in a notebook, where the learner's own class is at hand). What a program does wrong is a
`ProgramError` with a sentence, however it is held.
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
"""The answer that most policies give most often, read without the detour of a JSON reader."""


class ProgramError(Exception):
    """What a learner's program did that ends its game."""


class Program(Protocol):
    """A learner's program."""

    def start(self, code: Code) -> AbstractContextManager[Any]:
        """Start it for one game: a function, or an object with the methods that `code` names."""


class _Guarded:
    """Calls of a program in this process, with what it raises told as the sandbox tells it."""

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
        message = f"gave an answer that {error}"
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
        message = f"made {policy!r}, which cannot be called"
        raise ProgramError(message)
    yield _Guarded(policy)


@dataclass(frozen=True)
class Live:
    """A program that is at hand, as in the learner's own notebook."""

    program: Callable[..., Any]

    def start(self, code: Code) -> AbstractContextManager[Any]:
        """Make a new policy of it, or take the function."""
        return _playing(self.program if code.made else lambda: self.program, code)


@dataclass(frozen=True)
class Text:
    """A program as text, run in this process, in a namespace of its own for each game."""

    sources: Sequence[Mapping[str, str]]
    """The cells that it needs: kind, label and source."""
    entry: str

    def start(self, code: Code) -> AbstractContextManager[Any]:
        """Run the text, and make a policy of what it defines."""

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
        """Keep what it is told without an answer until it is asked next."""
        self._notes.append((name, arguments))
        if len(self._notes) >= NOTES_AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Tell it what it has not been told."""
        if self._notes:
            self._ask([])

    def _ask(self, calls: list[tuple[str, tuple[object, ...]]]) -> Any:
        notes, self._notes = self._notes, []
        self._sandbox_child.tell([*notes, *calls])
        return _answered(self._sandbox_child)


def _answered(child: Any) -> Any:
    """Wait for an answer, which may be anything."""
    line = child.line(ANSWER_WITHIN_S)
    child.forgive_output()
    whole = WHOLE.fullmatch(line)
    if whole:
        return int(whole[1])
    answer = _read(line)
    if isinstance(answer, dict) and isinstance(answer.get("raised"), str):
        raise ProgramError(answer["raised"][: 2 * _sandbox_child.MAX_MESSAGE])
    if isinstance(answer, list) and len(answer) == 1:
        return answer[0] if type(answer[0]) is int else _plain_answer(answer[0])
    message = "wrote into its answers what is none"
    raise ProgramError(message)


def _read(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        message = "wrote into its answers what is no JSON"
        raise ProgramError(message) from None


def _must_be_ready(first: object) -> None:
    if first != {"ready": True}:
        told = first.get("raised") if isinstance(first, dict) else None
        raise ProgramError(str(told or "did not begin")[: 2 * _sandbox_child.MAX_MESSAGE])


@dataclass(frozen=True)
class Sandboxed:
    """A program as text, run in a sandbox of its own for each game; a function, in one for each call.

    So a function that is asked about several systems cannot know how many it was asked about before.
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
            "shape": [None if fields is None else list(fields) for fields in code.shape],
        }
        try:
            with self.sandbox.start(order, self.files) as child:
                _must_be_ready(_read(child.line()))
                yield _Remote(child, code)
        except BrokenOutError as error:
            raise ProgramError(str(error)) from None
