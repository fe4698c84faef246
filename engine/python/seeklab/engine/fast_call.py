"""Fast calls of the engine's exports under wasmtime.

At each call, the public interface of wasmtime's Python package reads the export's type, and converts each number
through two objects: about 60 us. A run that asks its host tens of thousands of questions makes two calls for each.
`FastCall` reads the type once and writes the numbers where wasmtime's C interface takes them. It needs names that the
package does not document; `fast_call` falls back to the public interface if one of them is missing. Only integers
and floating-point numbers are passed, never references.
"""

from __future__ import annotations

import ctypes
from functools import partial
from typing import TYPE_CHECKING, Any

import wasmtime

if TYPE_CHECKING:
    from collections.abc import Callable

FIELDS = frozenset(("i32", "i64", "f32", "f64"))
"""Types of WebAssembly numbers, which are also the fields of wasmtime's raw value."""


class FastCall:
    """One export of one instance, called through wasmtime's C interface."""

    __slots__ = (
        "_function",
        "_function_at",
        "_numbers",
        "_parameters",
        "_raw_call",
        "_result",
        "_store",
        "_trap",
        "_trap_at",
    )

    def __init__(self, store: wasmtime.Store, function: wasmtime.Func) -> None:
        """Read the export's type.

        Raises:
            ImportError, AttributeError: If an undocumented name is missing in this version of wasmtime.
            KeyError: If the export takes or returns references.
        """
        from wasmtime import _ffi as ffi

        type_ = function.type(store)
        # The public interface passes these on, too. Looked up here, so that a missing name is found before any call.
        self._store, self._function = store, function
        self._function_at = ctypes.byref(function._func)  # noqa: SLF001
        store._context()  # noqa: SLF001
        _ = wasmtime.WasmtimeError._from_ptr, wasmtime.Trap._from_ptr  # noqa: SLF001
        self._trap = ctypes.POINTER(ffi.wasm_trap_t)()
        self._trap_at = ctypes.byref(self._trap)
        self._raw_call = ffi.wasmtime_func_call_unchecked
        self._parameters = [_field(parameter) for parameter in type_.params]
        results = [_field(result) for result in type_.results]
        self._result = results[0] if results else None
        self._numbers = (ffi.wasmtime_val_raw_t * max(1, len(self._parameters), len(results)))()

    def __call__(self, *arguments: float) -> Any:
        """Call the export; raise wasmtime.Trap and wasmtime.WasmtimeError as the public interface does."""
        numbers = self._numbers
        for at, (field, argument) in enumerate(zip(self._parameters, arguments, strict=True)):
            setattr(numbers[at], field, argument)
        context = self._store._context()  # noqa: SLF001
        error = self._raw_call(context, self._function_at, numbers, len(numbers), self._trap_at)
        if error:
            raise wasmtime.WasmtimeError._from_ptr(error)  # noqa: SLF001
        if self._trap:
            trap, self._trap = self._trap, type(self._trap)()
            self._trap_at = ctypes.byref(self._trap)
            raise wasmtime.Trap._from_ptr(trap)  # noqa: SLF001
        return None if self._result is None else getattr(numbers[0], self._result)


def fast_call(store: wasmtime.Store, function: wasmtime.Func) -> Callable[..., Any]:
    """Return the fastest way to call the export in this version of wasmtime."""
    try:
        return FastCall(store, function)
    except (AttributeError, ImportError):
        return partial(function, store)


def _field(type_: wasmtime.ValType) -> str:
    name = str(type_)
    if name not in FIELDS:
        raise KeyError(name)
    return name
