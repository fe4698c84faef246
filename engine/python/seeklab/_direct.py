"""Calls of the engine's exports without the detours of wasmtime's own Python interface.

That interface asks for a function's type, converts each number by way of two objects and frees them again, at each
call: some 60 us. A run that asks its host tens of thousands of questions makes two calls for each. Here the type is
read once, and a call writes its numbers where wasmtime's C interface takes them. Only whole and floating-point numbers
are passed; no reference ever is.
"""

from __future__ import annotations

import ctypes
from typing import Any

import wasmtime
from wasmtime import _ffi as ffi  # the version is pinned to one major release

FIELDS = {"i32": "i32", "i64": "i64", "f32": "f32", "f64": "f64"}


class DirectCall:
    """One export of one instance."""

    __slots__ = ("_function", "_numbers", "_of", "_parameters", "_result", "_store", "_trap", "_trap_at")

    def __init__(self, store: wasmtime.Store, function: wasmtime.Func) -> None:
        """Read the export's type."""
        type_ = function.type(store)
        self._store, self._of = store, function
        self._function = ctypes.byref(function._func)  # noqa: SLF001 -- what the public interface hands over, too
        self._trap = ctypes.POINTER(ffi.wasm_trap_t)()
        self._trap_at = ctypes.byref(self._trap)
        self._parameters = [FIELDS[str(parameter)] for parameter in type_.params]
        results = [FIELDS[str(result)] for result in type_.results]
        self._result = results[0] if results else None
        self._numbers = (ffi.wasmtime_val_raw_t * max(1, len(self._parameters), len(results)))()

    def __call__(self, *arguments: float) -> Any:  # noqa: ANN401 -- plain data, or a learner's
        """Make the call."""
        numbers = self._numbers
        for at, (field, argument) in enumerate(zip(self._parameters, arguments, strict=True)):
            setattr(numbers[at], field, argument)
        error = ffi.wasmtime_func_call_unchecked(
            self._store._context(),  # noqa: SLF001 -- what the public interface hands over, too
            self._function,
            numbers,
            len(numbers),
            self._trap_at,
        )
        if error:
            raise wasmtime.WasmtimeError._from_ptr(error)  # noqa: SLF001 -- what the public interface hands over, too
        if self._trap:
            trap, self._trap = self._trap, ctypes.POINTER(ffi.wasm_trap_t)()
            self._trap_at = ctypes.byref(self._trap)
            raise wasmtime.Trap._from_ptr(trap)  # noqa: SLF001 -- what the public interface hands over, too
        return None if self._result is None else getattr(numbers[0], self._result)
