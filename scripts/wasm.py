"""`make wasm`: compile the engine, write its JavaScript glue and types, and copy it to the Python package."""

from __future__ import annotations

import machine
from console import apply_all, main
from steps import FOR_ENGINE


def wasm() -> None:
    """Build the engine for every host."""
    machine.require_for_lab()
    apply_all(FOR_ENGINE)


if __name__ == "__main__":
    main(wasm)
