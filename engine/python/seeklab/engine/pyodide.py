"""The engine under Pyodide: the page has loaded it, and registered its JavaScript module as `seeklab_engine`."""

from __future__ import annotations

from array import array
from importlib import import_module
from typing import TYPE_CHECKING, Any

from seeklab._errors import EngineError
from seeklab.engine.protocol import TypeCode, unwrap
from seeklab.engine.requests import encode

if TYPE_CHECKING:
    from collections.abc import Mapping


class PyodideRun:
    """A run inside the page's engine."""

    def __init__(self, run: Any) -> None:
        """Wrap a run that the page's engine has opened."""
        self._run = run

    def step(self, max_events: int) -> float:
        """Advance by at most `max_events`."""
        return float(self._run.step(max_events))

    def question(self) -> Any:
        """Return the question that the run waits with."""
        return unwrap(self._run.question())

    def answer(self, payload: Mapping[str, object]) -> Any:
        """Answer the question, and continue if the answer says how far."""
        return unwrap(self._run.answer(encode(payload)))

    def summary(self) -> dict[str, Any]:
        """Return metrics, fingerprint and names."""
        summary: dict[str, Any] = unwrap(self._run.summary())
        return summary

    def columns(self) -> list[dict[str, Any]]:
        """Return name, type and length of every result column."""
        columns: list[dict[str, Any]] = unwrap(self._run.columns())
        return columns

    def column(self, name: str, type_code: TypeCode, length: int) -> array[Any]:
        """Return a copy of one result column."""
        values: array[Any] = array(type_code, bytes(length * (8 if type_code == "d" else 4)))
        if length:
            source = self._run.f64(name) if type_code == "d" else self._run.u32(name)
            source.assign_to(values)
        return values

    def text(self, options: Mapping[str, object]) -> str:
        """Return the output of an observation tool for this run."""
        text: str = unwrap(self._run.text(encode(options)))
        return text

    def close(self) -> None:
        """Free the run's memory."""
        if self._run is not None:
            self._run.free()
            self._run = None

    def __del__(self) -> None:
        """Free the memory when the result is deleted, because JavaScript does not see Python's references."""
        self.close()


class PyodideEngine:
    """The page's engine."""

    def __init__(self) -> None:
        """Take the module that the page has registered."""
        self._module: Any = import_module("seeklab_engine")
        self._js_exception: Any = import_module("pyodide.ffi").JsException

    def call(self, name: str, payload: Mapping[str, object]) -> Any:
        """Make one call."""
        return unwrap(self._module.call(name, encode(payload)))

    def open_run(self, payload: Mapping[str, object]) -> PyodideRun:
        """Check a scenario and prepare its run."""
        try:
            return PyodideRun(self._module.Run.open(encode(payload)))
        except self._js_exception as error:
            # The engine throws an Error whose message is the envelope with the problems.
            message = str(error.message)
            if message.startswith("{"):
                unwrap(message)
            raise EngineError(message) from error
