"""What the tests share: the command line, called as a user calls it, and seeds that are drawn alike in every run."""

from __future__ import annotations

import random
import subprocess
import sys
from typing import TYPE_CHECKING, Protocol

import pytest

from seeklab.judge import Seeds, practice

if TYPE_CHECKING:
    from pathlib import Path


GIVE_UP_S = 900
"""Beyond this something hangs. No test takes a tenth of it, so that a busy machine makes none fail."""


class CommandLine(Protocol):
    """Calls `seeklab` with arguments and returns what a shell would see."""

    def __call__(self, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
        """Run the command to its end."""


@pytest.fixture
def command_line(tmp_path: Path) -> CommandLine:
    """Call the command line in an empty working directory."""

    def call(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "seeklab.cli", *arguments],
            input=stdin,
            capture_output=True,
            timeout=GIVE_UP_S,
            cwd=tmp_path,
            check=False,
        )
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    return call


@pytest.fixture(autouse=True)
def seeds_drawn_alike(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let practice draw the same seeds in every run of a test, so that a test that fails can be run again.

    Learners get seeds that nobody knows. What is committed to in a test is kept nowhere.
    """
    source = random.Random(request.node.nodeid)
    monkeypatch.setattr(practice, "fresh_seeds", lambda: Seeds(source.randbytes(32)))
    monkeypatch.setattr(practice, "record", lambda _name, _value: None)
