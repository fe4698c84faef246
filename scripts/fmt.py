"""`make fmt`: format every language's sources in place."""

from __future__ import annotations

import machine
from console import ROOT, apply_all, main, stream
from steps import ENGINE, FOR_FORMAT, VENV_BIN, WEB

LIMIT_S = 300.0

FORMATTERS = (
    (("cargo", "fmt", "--all"), ENGINE),
    ((VENV_BIN / "ruff", "format", "--no-cache"), ROOT),
    (("npm", "run", "--silent", "format"), WEB),
    ((VENV_BIN / "python", "-B", ROOT / "scripts" / "notebook_format.py"), ROOT),
)


def fmt() -> int:
    """Run all formatters, even after one fails."""
    machine.require_for_lab()
    apply_all(FOR_FORMAT)
    return max(stream("fmt", command, folder, LIMIT_S).code for command, folder in FORMATTERS)


if __name__ == "__main__":
    main(fmt)
