"""The factory of the engine: one host for each platform that runs Python.

On CPython, wasmtime runs the engine's WebAssembly file (`wasmtime.py`). Under Pyodide the browser runs it. Our page has
registered it as the JavaScript module `seeklab_engine` (`pyodide.py`); elsewhere, as in JupyterLite, the package loads
its own file (`webassembly.py`).
"""

from __future__ import annotations

import sys
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from seeklab._errors import MachineError

if TYPE_CHECKING:
    from seeklab.engine.protocol import Engine


@cache
def engine() -> Engine:
    """Load the engine on first use, with the host of this platform."""
    # Imported here, so that `import seeklab` needs only the standard library.
    if sys.platform == "emscripten":
        if find_spec("seeklab_engine") is None:
            from seeklab.engine.webassembly import WebAssemblyEngine

            return WebAssemblyEngine()
        from seeklab.engine.pyodide import PyodideEngine

        return PyodideEngine()
    try:
        from seeklab.engine.wasmtime import WasmtimeEngine
    except OSError as error:  # wasmtime's library exists but cannot be mapped
        raise MachineError.lacking_memory(str(error)) from error
    return WasmtimeEngine()
