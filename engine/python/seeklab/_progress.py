"""The progress of a long operation, on a line that overwrites itself."""

from __future__ import annotations

import sys
from time import monotonic
from typing import Self, TextIO

BAR_CELLS = 24
NOTEBOOKS = ("ipykernel.", "pyodide_kernel.")
"""Modules of the streams of a notebook's kernel: Jupyter's and JupyterLite's."""


def _overwrites(stream: TextIO | None) -> bool:
    """Return whether a carriage return restarts the line: on a terminal and in a notebook, but not in a file."""
    if stream is None:
        return False
    return stream.isatty() or type(stream).__module__.startswith(NOTEBOOKS)


class ProgressBar:
    """Draws on stderr, if the output is visible; silent for the first second."""

    QUIET_S = 1.0

    def __init__(self) -> None:
        """Start the silent time."""
        self._quiet_until = monotonic() + self.QUIET_S if _overwrites(sys.stderr) else None
        self._width = 0

    def __call__(self, done: float, what: str = "") -> None:
        """Show the completed share, from 0 to 1, and the current activity."""
        if self._quiet_until is not None and monotonic() > self._quiet_until:
            filled = round(done * BAR_CELLS)
            self._write(f"{'#' * filled}{'.' * (BAR_CELLS - filled)} {done:4.0%} {what}")

    def _write(self, text: str) -> None:
        # Spaces instead of an escape sequence erase the old text, because a notebook does not know the sequence.
        sys.stderr.write(f"\r{text.ljust(self._width)}")
        sys.stderr.flush()
        self._width = len(text)

    def __enter__(self) -> Self:
        """Return the bar; nothing is drawn yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Erase the line."""
        if self._width:
            self._write("")
            sys.stderr.write("\r")
