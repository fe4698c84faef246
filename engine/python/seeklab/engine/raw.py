"""The engine's raw exports (`sl_*`): the part that wasmtime and a browser's own WebAssembly share.

An instance takes numbers and strings, and returns numbers, envelopes or raw data; each host accesses its memory in its
own way.
"""

from __future__ import annotations

import sys
from array import array
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Protocol

from seeklab._errors import EngineError
from seeklab.engine.protocol import TypeCode, unwrap
from seeklab.engine.requests import encode

if TYPE_CHECKING:
    from collections.abc import Mapping


def read_engine_file(name: str) -> bytes:
    """Read one of the engine's files in this package."""
    try:
        return files("seeklab").joinpath("_engine", name).read_bytes()
    except FileNotFoundError as error:
        message = (
            f"The engine's file {error.filename} is missing. Build it with `make wasm`, or install the seeklab wheel."
        )
        raise EngineError(message) from None


class Instance(Protocol):
    """A memory and the exports that use it."""

    def number(self, export: str, *arguments: int) -> Any:
        """Call an export that takes and returns numbers."""

    def answer(self, export: str, *arguments: int | str) -> str:
        """Call an export that returns an envelope; each string becomes a pointer and a length."""

    def raw(self, export: str, *arguments: int | str) -> bytes | bytearray:
        """Call an export that returns raw data."""


class RawRun:
    """A run inside an instance."""

    def __init__(self, instance: Instance, request: str) -> None:
        """Open the run; raise SeeklabError with the problems of its scenario."""
        self._instance = instance
        self._handle: int = unwrap(instance.answer("sl_run_open", request))

    def step(self, max_events: int) -> float:
        """Advance by at most `max_events`."""
        return float(self._instance.number("sl_run_step", self._handle, max_events))

    def question(self) -> Any:
        """Return the question that the run waits with."""
        return unwrap(self._instance.answer("sl_run_question", self._handle))

    def answer(self, payload: Mapping[str, object]) -> Any:
        """Answer the question, and continue if the answer says how far."""
        return unwrap(self._instance.answer("sl_run_answer", self._handle, encode(payload)))

    def summary(self) -> dict[str, Any]:
        """Return metrics, fingerprint and names."""
        summary: dict[str, Any] = unwrap(self._instance.answer("sl_run_summary", self._handle))
        return summary

    def columns(self) -> list[dict[str, Any]]:
        """Return name, type and length of every result column."""
        columns: list[dict[str, Any]] = unwrap(self._instance.answer("sl_run_columns", self._handle))
        return columns

    def column(self, name: str, type_code: TypeCode, length: int) -> array[Any]:
        """Return a copy of one result column."""
        content = self._instance.raw("sl_run_column", self._handle, name)
        values: array[Any] = array(type_code)
        values.frombytes(content)
        if sys.byteorder == "big":
            values.byteswap()
        if len(values) != length:
            message = f"The engine returned {len(values)} values for column {name} instead of {length}."
            raise EngineError(message)
        return values

    def text(self, options: Mapping[str, object]) -> str:
        """Return the output of an observation tool for this run."""
        text: str = unwrap(self._instance.answer("sl_run_text", self._handle, encode(options)))
        return text
