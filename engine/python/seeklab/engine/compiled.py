"""The engine as machine code.

The engine's file is the one that browsers load. Its JavaScript imports are defined as traps, because the raw `sl_*`
exports used here never call them. Compiling the file takes longer than any run of a case, so the machine code is cached
in the user's cache directory.

There are two compilations. Calls of the first can be stopped at any moment from another thread. The checks for that, at
every loop and function, cost a quarter of the speed. The loss is 28% for the hit counts of 1 M requests, 29% for nine
facts, and 28% for a run. Calls of the second cannot be stopped; it is used for short slices of work.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from contextlib import suppress
from importlib import metadata
from pathlib import Path

import wasmtime

from seeklab._errors import MachineError

KEPT_CACHE_FILES = 4
"""Number of compiled engines in the cache directory, two of each version; older ones are of earlier versions."""
NEVER = 1 << 40
"""Epochs ahead: a deadline that is never reached."""


class CompiledEngine:
    """The engine's compiled file, ready to be instantiated."""

    def __init__(self, wasm: bytes, *, stoppable: bool) -> None:
        """Compile the engine's file, or load it from the cache."""
        self.stoppable = stoppable
        config = wasmtime.Config()
        config.epoch_interruption = stoppable
        try:
            self._engine = wasmtime.Engine(config)
            self._module = _compiled(self._engine, wasm, b"stoppable" if stoppable else b"")
            self._linker = wasmtime.Linker(self._engine)
            self._linker.define_unknown_imports_as_traps(self._module)
        except (wasmtime.WasmtimeError, MemoryError) as error:
            raise MachineError.lacking_memory(str(error)) from error

    def instantiate(self, memory_limit_bytes: int) -> tuple[wasmtime.Store, wasmtime.Instance]:
        """Return a new instance with its own store. Its memory grows to at most `memory_limit_bytes`."""
        store = wasmtime.Store(self._engine)
        store.set_limits(memory_size=memory_limit_bytes)
        if self.stoppable:
            store.set_epoch_deadline(NEVER)
        try:
            return store, self._linker.instantiate(store, self._module)
        except (wasmtime.WasmtimeError, MemoryError) as error:
            store.close()
            raise MachineError.lacking_memory(str(error)) from error

    def stop(self) -> None:
        """Stop the call that is running in a store whose epoch deadline is 1. Any thread may call this."""
        self._engine.increment_epoch()

    def close(self) -> None:
        """Free all resources."""
        self._linker.close()
        self._module.close()
        self._engine.close()


def cache_directory() -> Path:
    """Return the folder of this user's compiled engines; raise RuntimeError if the environment names no absolute path.

    The XDG standard requires that relative paths are ignored; machine code does not belong in the working directory.
    """
    if sys.platform == "win32":
        root = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        root = Path.home() / "Library" / "Caches"
    else:
        chosen = Path(os.environ.get("XDG_CACHE_HOME", ""))
        root = chosen if chosen.is_absolute() else Path.home() / ".cache"
    if not root.is_absolute():
        message = f"the home directory is {root.parent}, which is not an absolute path"
        raise RuntimeError(message)
    return root / "seeklab"


def load_cached(engine: wasmtime.Engine, path: Path) -> wasmtime.Module | None:
    """Load the compiled engine from the cache; return None if it is missing, not trusted or not usable."""
    with suppress(OSError, wasmtime.WasmtimeError):
        if _belongs_to_user_alone(path) and _belongs_to_user_alone(path.parent):
            return wasmtime.Module.deserialize_file(engine, str(path))
    return None


def _belongs_to_user_alone(path: Path) -> bool:
    """Return whether only this user and root can write `path`, which contains machine code and must be trusted."""
    if sys.platform == "win32":
        return True
    status = path.stat()
    # Root can do everything anyway. A grader started by root shows its cache to children with fewer rights.
    return status.st_uid in (os.getuid(), 0) and not status.st_mode & 0o022


def _store_cached(module: wasmtime.Module, path: Path) -> None:
    """Store the compiled engine for the next start. A cache that cannot be written is not an error."""
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


def _compiled(engine: wasmtime.Engine, wasm: bytes, settings: bytes) -> wasmtime.Module:
    key = hashlib.sha256(wasm + b"wasmtime " + metadata.version("wasmtime").encode() + settings).hexdigest()
    try:
        path = cache_directory() / f"engine-{key[:32]}.cwasm"
    except RuntimeError:  # no home directory
        return wasmtime.Module(engine, wasm)
    module = load_cached(engine, path)
    if module is None:
        module = wasmtime.Module(engine, wasm)
        _store_cached(module, path)
    return module
