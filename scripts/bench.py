"""`make bench`: how fast the engine runs natively, in wasmtime and in Chromium, beside SimPy on the same queue.

Measured, not judged: a machine's speed is no test. Each row is the fastest of a few runs, because what disturbs a
measurement only ever adds time. The rows also stand in .cache/bench.json.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import machine
from console import CACHE, ROOT, Step, StepFailedError, apply_all, environment, main, run, say
from steps import CARGO_TARGET, ENGINE, ENGINE_SOURCES, FOR_LAB, GLUE, VENV_BIN

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SCRIPTS = ROOT / "scripts"
RUNS = sorted((SCRIPTS / "bench_runs").glob("*.json"))
QUEUE = "one-queue"
"""The run that the rival repeats."""

BENCH_LOCK = ROOT / "requirements" / "bench.txt"
RIVAL_VENV = CACHE / "rival"
NATIVE = CARGO_TARGET / "release" / "seeklab-bench"


def _build_native() -> None:
    run(
        "bench",
        *("cargo", "build", "--locked", "--release", "--package", "seeklab-tool", "--no-default-features"),
        *("--bin", "seeklab-bench"),
        folder=ENGINE,
    )


def _install_rival() -> None:
    run("rival", sys.executable, "-m", "venv", "--clear", RIVAL_VENV)
    run("rival", RIVAL_VENV / "bin" / "pip", "install", "--require-hashes", "--requirement", BENCH_LOCK)


FOR_BENCH = (
    *FOR_LAB,
    Step(
        "bench",
        "Compiling the native benchmark",
        _build_native,
        reads=(*ENGINE_SOURCES, ENGINE / "tool"),
        makes=(NATIVE,),
    ),
    Step("rival", "Installing SimPy", _install_rival, reads=(BENCH_LOCK,), makes=(RIVAL_VENV / "bin" / "pip",)),
)


def bench() -> None:
    """Measure every run on every host, then print the table."""
    machine.require_for_bench()
    apply_all(FOR_BENCH)
    rival = ("SimPy", QUEUE, (RIVAL_VENV / "bin" / "python", SCRIPTS / "bench_simpy.py"))
    rows = [_measure(*rival)]
    for path in RUNS:
        rows.append(_measure("native", path.stem, (NATIVE, path)))
        rows.append(_measure("wasmtime", path.stem, (VENV_BIN / "python", SCRIPTS / "bench_wasmtime.py", path)))
        rows.append(_measure("Chromium", path.stem, ("node", SCRIPTS / "bench_chromium.mjs", GLUE, path)))
    _show(rows)
    (CACHE / "bench.json").write_text(json.dumps(rows, indent=1) + "\n")


def _measure(host: str, name: str, command: Sequence[str | Path]) -> dict[str, Any]:
    say(f"{name} on {host} ...")
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=environment(), cwd=ROOT, check=False
    )
    if done.returncode != 0:
        message = f"Measuring {name} on {host} ended with exit code {done.returncode}; what it said is above."
        raise StepFailedError(message)
    return {"run": name, "host": host, **json.loads(done.stdout)}


def _show(rows: list[dict[str, Any]]) -> None:
    rival_per_s = next(row["requests"] / row["wall_s"] for row in rows if row["host"] == "SimPy")
    say()
    say(f"{'run':16} {'host':9} {'wall s':>8} {'requests/s':>12} {'events/s':>12} {'peak MiB':>9}  fingerprint")
    for row in rows:
        requests_per_s = row["requests"] / row["wall_s"]
        peak = f"{row['peak_mib']:.0f}" if row.get("peak_mib") else "-"
        ratio = f"  {requests_per_s / rival_per_s:.1f} times SimPy" if row["run"] == QUEUE else ""
        say(
            f"{row['run']:16} {row['host']:9} {row['wall_s']:8.3f} {requests_per_s:12,.0f} "
            f"{row['events'] / row['wall_s']:12,.0f} {peak:>9}  {row.get('fingerprint', '-'):16}{ratio}"
        )


if __name__ == "__main__":
    main(bench)
