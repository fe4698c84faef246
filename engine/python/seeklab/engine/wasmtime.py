"""The engine under wasmtime, for CPython.

Every run gets its own instance: a cancelled or failed run leaves nothing behind, and its memory is freed with its
result. A WebAssembly memory never shrinks, so a shared one would stay as large as the largest run. Every long call also
gets its own instance, because an instance that is stopped within a call cannot be used again.
"""

from __future__ import annotations

import atexit
import ctypes
from importlib.resources import files
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar
from weakref import WeakSet

import wasmtime

from seeklab._errors import EngineError, MachineError
from seeklab.engine.compiled import NEVER, CompiledEngine
from seeklab.engine.dev_library import edited_library
from seeklab.engine.fast_call import fast_call
from seeklab.engine.interrupts import NoneDropped, is_interruptible, stoppable
from seeklab.engine.library import Library
from seeklab.engine.protocol import unwrap
from seeklab.engine.raw import RawRun, read_engine_file
from seeklab.engine.requests import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

T = TypeVar("T")

MEMORY_LIMIT_BYTES = 3 << 30
"""Maximum memory of one run; the scenario's own limit is lower, and is checked before the run."""
LONG_CALLS = frozenset(("cache", "drive", "facts", "measure", "trace_info"))
"""Calls that simulate, or read a trace: some of them take half a minute."""
LONG_TEXT_BYTES = 8 << 20
"""Opening a run with a longer input takes noticeable time."""

BLOCK_BYTES = 4 << 10
"""Strings up to this size, in bytes, use the kept block; answers to questions take about 30."""


def _edited_library() -> bytes | None:
    built = files("seeklab").joinpath("_engine", "library.json")
    return edited_library(built) if isinstance(built, Path) else None  # a package in an archive is not a checkout


class _Instance:
    """One instance of the engine: a memory and the exports that use it."""

    alive: ClassVar[WeakSet[_Instance]] = WeakSet()
    """The live instances."""

    def __init__(self, compiled: CompiledEngine) -> None:
        self._compiled = compiled
        self._store, instance = compiled.instantiate(MEMORY_LIMIT_BYTES)
        self._exports = instance.exports(self._store)
        memory = self._exports["memory"]
        if not isinstance(memory, wasmtime.Memory):
            message = "The engine's file exports no memory. Build it again with `make wasm`."
            raise EngineError(message)
        self._memory = memory
        self._calls: dict[str, Callable[..., Any]] = {}
        self._block = 0
        # One thread at a time may use a store, and ctypes lets other threads run during a call.
        self._lock = Lock()
        self._stopped = False
        self.alive.add(self)

    def close(self) -> None:
        """Free the memory."""
        with self._lock:
            self._stopped = True
            self._store.close()

    def stoppable(self, call: Callable[[], T]) -> T:
        """Make a call of this instance that an interrupt can stop. A stopped instance answers no further calls."""
        if not is_interruptible():
            return call()
        with self._lock:
            self._store.set_epoch_deadline(1)
        try:
            return stoppable(call, self._compiled.stop)
        finally:
            with self._lock:
                if not self._stopped:
                    self._store.set_epoch_deadline(NEVER)

    def number(self, export: str, *arguments: int) -> Any:
        """Call an export that takes and returns numbers."""
        with self._lock, NoneDropped():
            return self._invoke(export, *arguments)

    def answer(self, export: str, *arguments: int | str) -> str:
        """Call an export that returns an envelope; each string becomes a pointer and a length."""
        with self._lock, NoneDropped():
            return self._packed(export, *arguments).decode()

    def raw(self, export: str, *arguments: int | str) -> bytes:
        """Call an export that returns raw data."""
        with self._lock, NoneDropped():
            return self._packed(export, *arguments)

    def _invoke(self, export: str, *arguments: int) -> Any:
        if self._stopped:
            message = "This run was closed or its engine stopped; start it again."
            raise EngineError(message)
        call = self._calls.get(export)
        if call is None:
            call = self._calls[export] = self._function(export)
        try:
            return call(*arguments)
        except (wasmtime.Trap, wasmtime.WasmtimeError) as error:
            self._stopped = True
            raise self._stop_reason(export, error) from error

    def _function(self, export: str) -> Callable[..., Any]:
        function = self._exports[export]
        if not isinstance(function, wasmtime.Func):
            message = f"The engine's file exports no function {export}. Build it again with `make wasm`."
            raise EngineError(message)
        return fast_call(self._store, function)

    def _stop_reason(self, export: str, error: Exception) -> EngineError:
        held = self._memory.data_len(self._store)
        if held >= MEMORY_LIMIT_BYTES // 2:  # it grows by doubling
            message = (
                f"The engine ran out of memory: it held {held / (1 << 30):.1f} GiB of at most "
                f"{MEMORY_LIMIT_BYTES >> 30} GiB when it needed more. Use a shorter trace or a smaller run."
            )
            return MachineError(message)
        reason = str(error).strip().splitlines()[-1].strip()
        message = (
            f"The engine stopped unexpectedly in {export} ({reason}). Unless this machine is short of memory, "
            "this is a defect of Seeklab; please report it with the scenario."
        )
        return EngineError(message)

    def _packed(self, export: str, *arguments: int | str) -> bytes:
        """Pass strings in, take a block of bytes out, and free both in the engine's memory.

        The first short string uses a block that is kept. A run that asks its host tens of thousands of questions then
        makes two calls for each instead of four.
        """
        flat: list[int] = []
        passed: list[tuple[int, int]] = []
        block_is_free = True
        for argument in arguments:
            if isinstance(argument, str):
                data = argument.encode()
                if block_is_free and len(data) <= BLOCK_BYTES:
                    block_is_free = False
                    pointer = self._kept_block()
                else:
                    pointer = self._invoke("sl_alloc", len(data)) & 0xFFFFFFFF
                    passed.append((pointer, len(data)))
                ctypes.memmove(self._address(pointer), data, len(data))
                flat += [pointer, len(data)]
            else:
                flat.append(argument)
        packed = self._invoke(export, *flat)
        pointer, length = (packed >> 32) & 0xFFFFFFFF, packed & 0xFFFFFFFF
        content = ctypes.string_at(self._address(pointer), length)
        blocks = [*passed, (pointer, length)] if pointer else passed
        for block in blocks:
            self._invoke("sl_free", *block)
        return content

    def _address(self, pointer: int) -> int:
        """Return the current address of a place in the engine's memory, which can move when the memory grows."""
        return ctypes.addressof(self._memory.data_ptr(self._store).contents) + pointer

    def _kept_block(self) -> int:
        """Return the place of a block of BLOCK_BYTES that lives as long as the instance."""
        if not self._block:
            self._block = self._invoke("sl_alloc", BLOCK_BYTES) & 0xFFFFFFFF
        return self._block


class WasmtimeRun(RawRun):
    """A run in its own instance."""

    def __init__(self, instance: _Instance, request: str) -> None:
        """Open the run; raise SeeklabError with the problems of its scenario."""
        super().__init__(instance, request)
        self._own = instance

    def close(self) -> None:
        """Free the run's memory, and the instance."""
        self._own.close()


class WasmtimeEngine:
    """The engine's compiled file, in both compilations."""

    def __init__(self) -> None:
        """Load the engine's file of this package."""
        self._wasm = read_engine_file("seeklab_bg.wasm")
        self._library = Library(_edited_library() or read_engine_file("library.json"))
        self._in_slices = CompiledEngine(self._wasm, stoppable=False)
        self._at_a_stretch: CompiledEngine | None = None
        self._lock = Lock()
        self._questions: _Instance | None = None
        atexit.register(self._close)

    def _close(self) -> None:
        """Free all resources before the interpreter ends; wasmtime reports objects that outlive it."""
        for instance in list(_Instance.alive):
            instance.close()
        self._in_slices.close()
        if self._at_a_stretch is not None:
            self._at_a_stretch.close()

    def call(self, name: str, payload: Mapping[str, object]) -> Any:
        """Make one call."""
        if name in LONG_CALLS:
            return self._long_call(name, payload)
        if self._questions is None:
            self._questions = self._instance(self._in_slices, self._library.text)
        try:
            return unwrap(self._questions.answer("sl_call", name, encode(payload)))
        except EngineError:
            self._questions = None  # a stopped instance answers no further calls; the next call gets a new one
            raise

    def _long_call(self, name: str, payload: Mapping[str, object]) -> Any:
        text = encode(payload)
        instance = self._stoppable_instance(
            self._library.part_for(payload) if "case" in payload else self._library.text
        )
        try:
            return unwrap(instance.stoppable(lambda: instance.answer("sl_call", name, text)))
        finally:
            instance.close()

    def open_run(self, payload: Mapping[str, object]) -> WasmtimeRun:
        """Check a scenario and prepare its run."""
        text, library = encode(payload), self._library.part_for(payload)
        if len(text) <= LONG_TEXT_BYTES:
            return WasmtimeRun(self._instance(self._in_slices, library), text)
        instance = self._stoppable_instance(library)
        try:
            return instance.stoppable(lambda: WasmtimeRun(instance, text))
        except BaseException:
            instance.close()
            raise

    def _stoppable_instance(self, library: str) -> _Instance:
        with self._lock:
            if self._at_a_stretch is None:
                self._at_a_stretch = CompiledEngine(self._wasm, stoppable=True)
        return self._instance(self._at_a_stretch, library)

    @staticmethod
    def _instance(compiled: CompiledEngine, library: str) -> _Instance:
        """Return an instance that has the library: cases and presets are a file next to the engine's."""
        instance = _Instance(compiled)
        unwrap(instance.answer("sl_call", "give_library", library))
        return instance
