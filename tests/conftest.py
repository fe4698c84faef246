"""What the tests share: the command line, called as a user calls it."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Protocol

import pytest

if TYPE_CHECKING:
    from pathlib import Path


class CommandLine(Protocol):
    """Calls `seeklab` with arguments and returns what a shell would see."""

    def __call__(self, *arguments: str, stdin: bytes = b"", timeout_s: float = 120) -> subprocess.CompletedProcess[str]:
        """Run the command to its end."""


@pytest.fixture
def command_line(tmp_path: Path) -> CommandLine:
    """Call the command line in an empty working directory."""

    def call(*arguments: str, stdin: bytes = b"", timeout_s: float = 120) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "seeklab.cli", *arguments],
            input=stdin,
            capture_output=True,
            timeout=timeout_s,
            cwd=tmp_path,
            check=False,
        )
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    return call
