"""The scripts behind the Makefile: what is done again, and what a stage tells that did not reach its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"

BUILD = """
import os, signal, sys
from pathlib import Path
import console

console.ROOT = Path.cwd()
console.STAMPS = console.ROOT / "stamps"
console.LOGS = console.ROOT / "logs"
source, product = console.ROOT / "source", console.ROOT / "product"


def work():
    product.write_text("half")
    if source.read_text() == "fatal":
        os.kill(os.getpid(), signal.SIGKILL)
    product.write_text(source.read_text())


console.apply_all([console.Step("copy", "Copying", work, reads=(source,), makes=(product,))])
"""


def _build(folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "build.py").write_text(BUILD)
    environment = {**os.environ, "PYTHONPATH": str(SCRIPTS)}
    return subprocess.run(
        [sys.executable, "-B", "build.py"], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_a_step_runs_again_only_when_what_it_reads_has_changed(tmp_path: Path) -> None:
    (tmp_path / "source").write_text("one")
    assert "Copying: done" in _build(tmp_path).stdout
    assert _build(tmp_path).stdout == ""
    (tmp_path / "source").write_text("two")
    assert "Copying: done" in _build(tmp_path).stdout
    assert (tmp_path / "product").read_text() == "two"


def test_a_step_that_was_killed_runs_again_whatever_it_reads_by_then(tmp_path: Path) -> None:
    (tmp_path / "source").write_text("one")
    _build(tmp_path)
    (tmp_path / "source").write_text("fatal")
    assert _build(tmp_path).returncode == -signal.SIGKILL
    # Back to what the last success has read: what it made then is no longer what lies there.
    (tmp_path / "source").write_text("one")
    assert "Copying: done" in _build(tmp_path).stdout
    assert (tmp_path / "product").read_text() == "one"
