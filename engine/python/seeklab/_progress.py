"""How far a long piece of work is, on a line that overwrites itself."""

from __future__ import annotations

import sys
from time import monotonic
from typing import Self, TextIO

BAR_CELLS = 24
NOTEBOOKS = ("ipykernel.", "pyodide_kernel.")
"""Where the streams of a notebook's kernel come from: Jupyter's and JupyterLite's."""


def _overwrites(stream: TextIO | None) -> bool:
    """Whether a carriage return begins the line anew: on a terminal and in a notebook, not in a file."""
    if stream is None:
        return False
    return stream.isatty() or type(stream).__module__.startswith(NOTEBOOKS)


class ProgressBar:
    """Draws on stderr, and only where it can be seen; silent for the first second."""

    QUIET_S = 1.0

    def __init__(self) -> None:
        """Begin the quiet time."""
        self._quiet_until = monotonic() + self.QUIET_S if _overwrites(sys.stderr) else None
        self._width = 0

    def __call__(self, done: float, what: str = "") -> None:
        """Show the share that is done, from 0 to 1, and what is going on."""
        if self._quiet_until is not None and monotonic() > self._quiet_until:
            filled = round(done * BAR_CELLS)
            self._write(f"{'#' * filled}{'.' * (BAR_CELLS - filled)} {done:4.0%} {what}")

    def _write(self, text: str) -> None:
        # Spaces, not an escape sequence, cover what was there: a notebook knows the first only.
        sys.stderr.write(f"\r{text.ljust(self._width)}")
        sys.stderr.flush()
        self._width = len(text)

    def __enter__(self) -> Self:
        """Nothing is drawn yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Leave a clean line."""
        if self._width:
            self._write("")
            sys.stderr.write("\r")
