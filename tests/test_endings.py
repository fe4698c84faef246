"""How the command line ends where the system does not give what it needs: a place to write, memory, address space."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from conftest import GIVE_UP_S

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/dev/full and ulimit -v are Linux's")

SEEKLAB = f"{sys.executable} -m seeklab.cli"
RUN = "run dirty-sizing"


def shell(command: str) -> subprocess.CompletedProcess[str]:
    script = f'set -o pipefail; seeklab() {{ {SEEKLAB} "$@"; }}; {command}'
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=GIVE_UP_S, check=False)


@pytest.mark.parametrize(
    "command",
    ["cases", f"{RUN} --json", "sweep dirty-sizing --csv", "show odx-prefetch --as oplog --limit 100000", "--help"],
)
def test_a_full_standard_output_is_told(command: str) -> None:
    done = shell(f"seeklab {command} > /dev/full")
    assert done.returncode == 74
    assert re.fullmatch(f"seeklab: .*{os.strerror(errno.ENOSPC)}\n", done.stderr)


@pytest.mark.parametrize("command", ["cases", RUN, "nonsense"])
def test_a_closed_standard_output_is_told(command: str) -> None:
    done = shell(f"seeklab {command} >&-")
    assert done.returncode == 74
    assert re.fullmatch("seeklab: .*/dev/null\n", done.stderr)


@pytest.mark.parametrize("command", ["--help", "cases", "show odx-prefetch --as oplog --limit 100000", "schema"])
def test_a_reader_that_leaves_early_is_no_error(command: str) -> None:
    done = shell(f"seeklab {command} | head -1")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 1


def test_a_closed_standard_error_is_no_error() -> None:
    done = shell("seeklab run odx-prefech 2>&-")
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize("kibibytes", [300_000, 2_000_000, 8_000_000])
@pytest.mark.parametrize("command", [RUN, "facts dirty-sizing", "sweep dirty-sizing --seeds 1-8"])
def test_too_little_address_space_is_told_with_the_limits_name(kibibytes: int, command: str) -> None:
    done = shell(f"ulimit -v {kibibytes}; seeklab {command}")
    assert (done.returncode, done.stdout) == (71, "")
    assert os.strerror(errno.ENOMEM) in done.stderr
    assert "ulimit -v" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_trace_that_the_engine_has_no_memory_for_is_told(tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    trace.write_text("time,object,size\n" + "".join(f"{n},{n},1\n" for n in range(2_000_000)))
    script = (
        "import sys\nfrom seeklab import cli\nfrom seeklab.engine import wasmtime\n"
        "wasmtime.MEMORY_LIMIT_BYTES = 100 << 20\n"
        "sys.exit(cli.main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", script, "cache", str(trace), "--policy", "lru", "--size", "1000"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=GIVE_UP_S, check=False, env={**os.environ})
    assert done.returncode == 71
    assert re.match(r"seeklab: .*\b[\d.]+ GiB of .*\b[\d.]+ GiB\b", done.stderr)
