"""Shared code of the author's two programs: both run in the lab's Python, whichever Python started them."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from console import ROOT, StepFailedError, main
from steps import VENV_BIN

if TYPE_CHECKING:
    from collections.abc import Callable


def run_in_the_lab(file: str, work: Callable[[], None]) -> None:
    """Run `work` of the program `file` in the lab's Python, and end the process."""
    main(work if sys.prefix != sys.base_prefix else lambda: _start_again(file))


def _start_again(file: str) -> int:
    python = VENV_BIN / "python"
    if not python.exists():
        message = f"{python.relative_to(ROOT)} is missing; run `make setup` first."
        raise StepFailedError(message)
    return subprocess.run([str(python), "-B", file], cwd=ROOT, check=False).returncode
