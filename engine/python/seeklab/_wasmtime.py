"""The engine under wasmtime, for CPython.

The engine's file is the one that browsers load. Its JavaScript imports are defined as traps, since the raw `sl_*`
exports used here never call them. Compiling the file takes longer than any run of a case, so the machine code is kept
in the user's cache directory.

Every run gets an instance of its own: a cancelled or failed run leaves nothing behind, and its memory goes back to the
system with its result. A WebAssembly memory never shrinks, so a shared one would stay as large as the largest run.
"""

from __future__ import annotations

import atexit
import ctypes
import hashlib
import os
import sys
import tempfile
from array import array
from contextlib import suppress
from importlib import metadata
from importlib.resources import files
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakSet

import wasmtime

from seeklab._errors import EngineError
from seeklab._host import TypeCode, encode, unwrap

if TYPE_CHECKING:
    from collections.abc import Mapping

MEMORY_LIMIT_BYTES = 3 << 30
"""Most memory that one run may take; the scenario's own limit is checked before the run and is lower."""

KEPT_CACHE_FILES = 4
"""Compiled engines kept in the cache directory; older ones are of former versions."""


def cache_directory() -> Path:
    """Where this user's compiled engines are kept."""
    if sys.platform == "win32":
        root = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        root = Path.home() / "Library" / "Caches"
    else:
        root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "seeklab"


def _belongs_to_user_alone(path: Path) -> bool:
    """Whether nobody else can write `path`: the compiled engine is machine code, so its file must be trusted."""
    if sys.platform == "win32":
        return True
    status = path.stat()
    return status.st_uid == os.getuid() and not status.st_mode & 0o022


def load_cached(engine: wasmtime.Engine, path: Path) -> wasmtime.Module | None:
    """Load the compiled engine from the cache; None when it is absent, not to be trusted or not usable."""
    with suppress(OSError, wasmtime.WasmtimeError):
        if _belongs_to_user_alone(path) and _belongs_to_user_alone(path.parent):
            return wasmtime.Module.deserialize_file(engine, str(path))
    return None


def _store_cached(module: wasmtime.Module, path: Path) -> None:
    """Keep the compiled engine for the next start. A cache that cannot be written is no reason to fail."""
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            partial = Path(file.name)
            try:
                file.write(module.serialize())
                file.close()
                partial.replace(path)
            except BaseException:
                partial.unlink(missing_ok=True)
                raise
        by_age = sorted(path.parent.glob("engine-*.cwasm"), key=lambda kept: kept.stat().st_mtime, reverse=True)
        for former in by_age[KEPT_CACHE_FILES:]:
            former.unlink(missing_ok=True)


def _compile(engine: wasmtime.Engine, wasm: bytes) -> wasmtime.Module:
    """Compile the engine's file, or take it from the cache."""
    key = hashlib.sha256(wasm + b"wasmtime " + metadata.version("wasmtime").encode()).hexdigest()
    try:
        path = cache_directory() / f"engine-{key[:32]}.cwasm"
    except RuntimeError:  # no home directory
        return wasmtime.Module(engine, wasm)
    module = load_cached(engine, path)
    if module is None:
        module = wasmtime.Module(engine, wasm)
        _store_cached(module, path)
    return module


def _read_engine_file(name: str) -> bytes:
    try:
        return files("seeklab").joinpath("_engine", name).read_bytes()
    except FileNotFoundError as error:
        message = (
            f"The engine's file {error.filename} is missing. Build it with `make wasm`, or install the seeklab wheel."
        )
        raise EngineError(message) from None


class _Instance:
    """One instance of the engine: a memory and the exports that work on it."""

    alive: ClassVar[WeakSet[_Instance]] = WeakSet()
    """Those that have not been dropped."""

    def __init__(self, linker: wasmtime.Linker, module: wasmtime.Module) -> None:
        self.alive.add(self)
        self._store = wasmtime.Store(linker.engine)
        self._store.set_limits(memory_size=MEMORY_LIMIT_BYTES)
        self._exports = linker.instantiate(self._store, module).exports(self._store)
        memory = self._exports["memory"]
        if not isinstance(memory, wasmtime.Memory):
            message = "The engine's file exports no memory. Build it again with `make wasm`."
            raise EngineError(message)
        self._memory = memory
        # A store may be used by one thread at a time, and ctypes lets other threads run during a call.
        self._lock = Lock()
        self._stopped = False

    def close(self) -> None:
        """Give the memory back."""
        with self._lock:
            self._stopped = True
            self._store.close()

    def number(self, export: str, *arguments: int) -> Any:  # noqa: ANN401 -- int or float, by the export
        """Call an export that takes and returns numbers."""
        with self._lock:
            return self._invoke(export, *arguments)

    def answer(self, export: str, *arguments: int | str) -> str:
        """Call an export that returns an envelope; each string becomes a pointer and a length."""
        with self._lock:
            return self._packed(export, *arguments).decode()

    def raw(self, export: str, *arguments: int | str) -> bytearray:
        """Call an export that returns raw data."""
        with self._lock:
            return self._packed(export, *arguments)

    def _invoke(self, export: str, *arguments: int) -> Any:  # noqa: ANN401 -- int or float, by the export
        if self._stopped:
            message = "This run was closed or its engine stopped; start it again."
            raise EngineError(message)
        function = self._exports[export]
        if not isinstance(function, wasmtime.Func):
            message = f"The engine's file exports no function {export}. Build it again with `make wasm`."
            raise EngineError(message)
        try:
            return function(self._store, *arguments)
        except (wasmtime.Trap, wasmtime.WasmtimeError) as error:
            self._stopped = True
            reason = str(error).strip().splitlines()[-1].strip()
            message = (
                f"The engine stopped unexpectedly in {export} ({reason}). Unless this machine is short of memory, "
                "this is a defect of Seeklab; please report it with the scenario."
            )
            raise EngineError(message) from error

    def _packed(self, export: str, *arguments: int | str) -> bytearray:
        """Pass strings in, take a block of bytes out, and free both in the engine's memory."""
        flat: list[int] = []
        passed: list[tuple[int, int]] = []
        for argument in arguments:
            if isinstance(argument, str):
                data = argument.encode()
                pointer = self._invoke("sl_alloc", len(data)) & 0xFFFFFFFF
                ctypes.memmove(self._memory.get_buffer_ptr(self._store, len(data), pointer), data, len(data))
                passed.append((pointer, len(data)))
                flat += [pointer, len(data)]
            else:
                flat.append(argument)
        packed = self._invoke(export, *flat)
        pointer, length = (packed >> 32) & 0xFFFFFFFF, packed & 0xFFFFFFFF
        # The view is taken after the call: the memory may have moved while it grew.
        content = bytearray(self._memory.get_buffer_ptr(self._store, length, pointer))
        blocks = [*passed, (pointer, length)] if pointer else passed
        for block in blocks:
            self._invoke("sl_free", *block)
        return content


class WasmtimeRun:
    """A run in an instance of its own."""

    def __init__(self, instance: _Instance, payload: Mapping[str, object]) -> None:
        """Open the run; raises the problems of its scenario."""
        self._instance = instance
        self._handle: int = unwrap(instance.answer("sl_run_open", encode(payload)))

    def step(self, max_events: int) -> float:
        """Advance by at most `max_events`."""
        return float(self._instance.number("sl_run_step", self._handle, max_events))

    def question(self) -> Any:  # noqa: ANN401 -- any JSON value
        """Give the question that the run waits with."""
        return unwrap(self._instance.answer("sl_run_question", self._handle))

    def answer(self, payload: Mapping[str, object]) -> Any:  # noqa: ANN401 -- any JSON value
        """Answer the question, and go on when it says how far."""
        return unwrap(self._instance.answer("sl_run_answer", self._handle, encode(payload)))

    def summary(self) -> dict[str, Any]:
        """Metrics, fingerprint and names."""
        summary: dict[str, Any] = unwrap(self._instance.answer("sl_run_summary", self._handle))
        return summary

    def columns(self) -> list[dict[str, Any]]:
        """Describe every result column: name, type and length."""
        columns: list[dict[str, Any]] = unwrap(self._instance.answer("sl_run_columns", self._handle))
        return columns

    def column(self, name: str, type_code: TypeCode, length: int) -> array[Any]:
        """Copy one result column."""
        content = self._instance.raw("sl_run_column", self._handle, name)
        values: array[Any] = array(type_code)
        values.frombytes(content)
        if sys.byteorder == "big":
            values.byteswap()
        if len(values) != length:
            message = f"The engine gave {len(values)} values for column {name} and announced {length}."
            raise EngineError(message)
        return values

    def text(self, options: Mapping[str, object]) -> str:
        """Print what an observation tool shows of this run."""
        text: str = unwrap(self._instance.answer("sl_run_text", self._handle, encode(options)))
        return text

    def close(self) -> None:
        """Give the run's memory back."""
        self._instance.close()


class WasmtimeEngine:
    """The engine's compiled file, ready to be instantiated."""

    def __init__(self) -> None:
        """Load the engine's file that is part of this package."""
        self._engine = wasmtime.Engine()
        self._module = _compile(self._engine, _read_engine_file("seeklab_bg.wasm"))
        self._library = _read_engine_file("library.json").decode()
        self._linker = wasmtime.Linker(self._engine)
        self._linker.define_unknown_imports_as_traps(self._module)
        self._questions: _Instance | None = None
        atexit.register(self._close)

    def _close(self) -> None:
        """Give everything back while the interpreter is whole; wasmtime complains of objects that outlive it."""
        for instance in list(_Instance.alive):
            instance.close()
        self._linker.close()
        self._module.close()
        self._engine.close()

    def call(self, name: str, payload: Mapping[str, object]) -> Any:  # noqa: ANN401 -- any JSON value
        """Ask one question."""
        if self._questions is None:
            self._questions = self._instance()
        try:
            return unwrap(self._questions.answer("sl_call", name, encode(payload)))
        except EngineError:
            self._questions = None  # a stopped instance answers nothing more; the next question gets a new one
            raise

    def open_run(self, payload: Mapping[str, object]) -> WasmtimeRun:
        """Check a scenario and prepare its run."""
        return WasmtimeRun(self._instance(), payload)

    def _instance(self) -> _Instance:
        """Make an instance that knows its library: cases and schema are a file beside the engine's."""
        instance = _Instance(self._linker, self._module)
        unwrap(instance.answer("sl_call", "give_library", self._library))
        return instance
