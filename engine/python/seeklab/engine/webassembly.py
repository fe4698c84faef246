"""The engine under Pyodide without our page, as in JupyterLite: Python's worker loads it from the package.

Pyodide gives Python access to the browser's `WebAssembly`. The raw exports that wasmtime uses work there unchanged: no
JavaScript glue is evaluated, which a content security policy may forbid, and nothing is awaited. All runs share one
instance, and each is a handle in it. A call in progress cannot be stopped, except by restarting the kernel.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from seeklab._errors import EngineError
from seeklab.engine.protocol import unwrap
from seeklab.engine.raw import RawRun, read_engine_file
from seeklab.engine.requests import encode

if TYPE_CHECKING:
    from collections.abc import Mapping

RUN_STOPPED = "The engine stopped while this run was in it; start the run again."


class _Instance:
    """One instance of the engine: a memory and the exports that use it."""

    def __init__(self, module: Any) -> None:
        js: Any = import_module("js")
        self._bytes = js.Uint8Array
        self._js_exception: Any = import_module("pyodide.ffi").JsException
        # The module's imports are for its JavaScript glue; the raw exports call none of them.
        imports = js.Object.new()
        for wanted in js.WebAssembly.Module.imports(module):
            if not hasattr(imports, wanted.module):
                setattr(imports, wanted.module, js.Object.new())
            setattr(getattr(imports, wanted.module), wanted.name, js.isNaN)
        self._exports = js.WebAssembly.Instance.new(module, imports).exports
        self._calls: dict[str, Any] = {}
        self.is_stopped = False

    def number(self, export: str, *arguments: int) -> Any:
        """Call an export that takes and returns numbers."""
        if self.is_stopped:
            raise EngineError(RUN_STOPPED)
        call = self._calls.get(export)
        if call is None:
            call = self._calls[export] = getattr(self._exports, export)
        try:
            return call(*arguments)
        except self._js_exception as error:
            self.is_stopped = True
            message = (
                f"The engine stopped unexpectedly in {export} ({error.message}). Unless this browser is short of "
                "memory, this is a defect of Seeklab; please report it with the scenario."
            )
            raise EngineError(message) from error

    def answer(self, export: str, *arguments: int | str) -> str:
        """Call an export that returns an envelope; each string becomes a pointer and a length."""
        return self.raw(export, *arguments).decode()

    def raw(self, export: str, *arguments: int | str) -> bytes:
        """Call an export that returns raw data: pass strings in, take bytes out, and free both in its memory."""
        flat: list[int] = []
        blocks: list[tuple[int, int]] = []
        for argument in arguments:
            if isinstance(argument, str):
                data = argument.encode()
                pointer = self.number("sl_alloc", len(data)) & 0xFFFFFFFF
                self._view(pointer, len(data)).assign(data)
                blocks.append((pointer, len(data)))
                flat += blocks[-1]
            else:
                flat.append(argument)
        packed = int(self.number(export, *flat))
        pointer, length = (packed >> 32) & 0xFFFFFFFF, packed & 0xFFFFFFFF
        content: bytes = self._view(pointer, length).to_bytes()
        for block in [*blocks, (pointer, length)] if pointer else blocks:
            self.number("sl_free", *block)
        return content

    def _view(self, pointer: int, length: int) -> Any:
        # Created for each use, because the memory moves when it grows.
        return self._bytes.new(self._exports.memory.buffer, pointer, length)


class WebAssemblyRun(RawRun):
    """A run in the shared instance."""

    def __init__(self, instance: _Instance, request: str) -> None:
        """Open the run; raise SeeklabError with the problems of its scenario."""
        self._shared: _Instance | None = None  # until it is open there is nothing to close
        super().__init__(instance, request)
        self._shared = instance

    def close(self) -> None:
        """Free the run's memory."""
        shared, self._shared = self._shared, None
        if shared is not None and not shared.is_stopped:
            shared.number("sl_run_close", self._handle)

    def __del__(self) -> None:
        """Free the memory when the result is deleted, because the instance outlives it."""
        self.close()


class WebAssemblyEngine:
    """The engine's file, compiled by the browser."""

    def __init__(self) -> None:
        """Compile the engine's file of this package."""
        js: Any = import_module("js")
        to_js: Any = import_module("pyodide.ffi").to_js
        self._module = js.WebAssembly.Module.new(to_js(read_engine_file("seeklab_bg.wasm")))
        self._library = read_engine_file("library.json").decode()
        self._instance: _Instance | None = None

    def call(self, name: str, payload: Mapping[str, object]) -> Any:
        """Make one call."""
        return unwrap(self._running().answer("sl_call", name, encode(payload)))

    def open_run(self, payload: Mapping[str, object]) -> WebAssemblyRun:
        """Check a scenario and prepare its run."""
        return WebAssemblyRun(self._running(), encode(payload))

    def _running(self) -> _Instance:
        """Return the instance, or a new one if there is none or a trap has made it unusable."""
        if self._instance is None or self._instance.is_stopped:
            self._instance = _Instance(self._module)
            unwrap(self._instance.answer("sl_call", "give_library", self._library))
        return self._instance
