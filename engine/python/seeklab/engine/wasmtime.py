"""The engine under wasmtime, for CPython.

Every run gets an instance of its own: a cancelled or failed run leaves nothing behind, and its memory goes back to the
system with its result. A WebAssembly memory never shrinks, so a shared one would stay as large as the largest run. So
does every call that may take long, because an instance that is stopped within a call is in no state to go on.
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
"""Most memory that one run may take; the scenario's own limit is checked before the run and is lower."""
LONG_CALLS = frozenset(("cache", "drive", "facts", "measure", "trace_info"))
"""Calls that simulate, or read a trace: some of them take half a minute."""
LONG_TEXT_BYTES = 8 << 20
"""A run whose input is longer takes more than a moment to open."""

BLOCK_BYTES = 4 << 10
"""Bytes of a string that need no block of their own; answers to questions take some 30."""


def _edited_library() -> bytes | None:
    built = files("seeklab").joinpath("_engine", "library.json")
    return edited_library(built) if isinstance(built, Path) else None  # a package in an archive is no checkout


class _Instance:
    """One instance of the engine: a memory and the exports that work on it."""

    alive: ClassVar[WeakSet[_Instance]] = WeakSet()
    """Those that have not been dropped."""

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
        # A store may be used by one thread at a time, and ctypes lets other threads run during a call.
        self._lock = Lock()
        self._stopped = False
        self.alive.add(self)

    def close(self) -> None:
        """Give the memory back."""
        with self._lock:
            self._stopped = True
            self._store.close()

    def stoppable(self, call: Callable[[], T]) -> T:
        """Make a call of this instance that an interrupt stops. A stopped instance answers nothing more."""
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
        if held >= MEMORY_LIMIT_BYTES // 2:  # it grows by doubling what it holds
            message = (
                f"The engine ran out of memory: it held {held / (1 << 30):.1f} GiB of at most "
                f"{MEMORY_LIMIT_BYTES >> 30} GiB when it needed more. Give a shorter trace or a smaller run."
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

        The first short string goes into a block that is kept: a run that asks its host tens of thousands of questions
        makes two calls for each in place of four.
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
        """Say where a place of the engine's memory is now; the memory may move whenever it grows."""
        return ctypes.addressof(self._memory.data_ptr(self._store).contents) + pointer

    def _kept_block(self) -> int:
        """Give the place of a block of BLOCK_BYTES that lives as long as the instance."""
        if not self._block:
            self._block = self._invoke("sl_alloc", BLOCK_BYTES) & 0xFFFFFFFF
        return self._block


class WasmtimeRun(RawRun):
    """A run in an instance of its own."""

    def __init__(self, instance: _Instance, request: str) -> None:
        """Open the run; raises the problems of its scenario."""
        super().__init__(instance, request)
        self._own = instance

    def close(self) -> None:
        """Give the run's memory back, and the instance with it."""
        self._own.close()


class WasmtimeEngine:
    """The engine's compiled file, in both compilations."""

    def __init__(self) -> None:
        """Load the engine's file that is part of this package."""
        self._wasm = read_engine_file("seeklab_bg.wasm")
        self._library = Library(_edited_library() or read_engine_file("library.json"))
        self._in_slices = CompiledEngine(self._wasm, stoppable=False)
        self._at_a_stretch: CompiledEngine | None = None
        self._lock = Lock()
        self._questions: _Instance | None = None
        atexit.register(self._close)

    def _close(self) -> None:
        """Give everything back while the interpreter is whole; wasmtime complains of objects that outlive it."""
        for instance in list(_Instance.alive):
            instance.close()
        self._in_slices.close()
        if self._at_a_stretch is not None:
            self._at_a_stretch.close()

    def call(self, name: str, payload: Mapping[str, object]) -> Any:
        """Ask one question."""
        if name in LONG_CALLS:
            return self._long_call(name, payload)
        if self._questions is None:
            self._questions = self._instance(self._in_slices, self._library.text)
        try:
            return unwrap(self._questions.answer("sl_call", name, encode(payload)))
        except EngineError:
            self._questions = None  # a stopped instance answers nothing more; the next question gets a new one
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
        """Make an instance and give it the library: cases and presets are a file next to the engine's."""
        instance = _Instance(compiled)
        unwrap(instance.answer("sl_call", "give_library", library))
        return instance
