"""`make bench`: how fast the engine runs natively, in wasmtime and in Chromium, beside its rivals in the same run.

SimPy and nexosim simulate the same queue, libCacheSim replays the same cache trace. Measured, not judged: a machine's
speed is no test. Each row is the fastest of a few runs, because what disturbs a measurement only ever adds time. Then
follows what a request in flight and a logged operation take in memory. The rows also stand in .cache/bench.json. The
parts of the engine are measured one by one with `cargo bench --package seeklab-api`, in engine/.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bench_trace
import machine
from console import CACHE, ROOT, Step, StepFailedError, apply_all, environment, main, run, say
from steps import CARGO_TARGET, ENGINE, ENGINE_SOURCES, FOR_LAB, GLUE, VENV_BIN

if TYPE_CHECKING:
    from collections.abc import Sequence

SCRIPTS = ROOT / "scripts"
RUNS = sorted((SCRIPTS / "bench_runs").glob("*.json"))
QUEUE = "one-queue"
"""The run that SimPy and nexosim repeat."""
DEPTH = 32
SERVICE_NS = 40960
"""That queue's requests in flight and service time, for a rival that cannot read the run's file."""

POLICIES = ("lru", "arc")
RIVALS = {QUEUE: ("SimPy", "nexosim"), **{f"cache-{policy}": ("libCacheSim",) for policy in POLICIES}}

IN_FLIGHT = 1 << 20
LOGGED = 2_000_000
"""Requests with which memory is measured: enough that what the program itself takes does not matter."""

BENCH_LOCK = ROOT / "requirements" / "bench.txt"
RIVAL_VENV = CACHE / "rival"
NATIVE = CARGO_TARGET / "release" / "seeklab-bench"
NEXOSIM = SCRIPTS / "bench_nexosim"
NEXOSIM_TARGET = CACHE / "nexosim"
NEXOSIM_PROGRAM = NEXOSIM_TARGET / "release" / "bench-nexosim"


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


def _build_nexosim() -> None:
    run("nexosim", "cargo", "build", "--locked", "--release", "--target-dir", NEXOSIM_TARGET, folder=NEXOSIM)


FOR_BENCH = (
    *FOR_LAB,
    Step(
        "bench",
        "Compiling the native benchmark",
        _build_native,
        reads=(*ENGINE_SOURCES, ENGINE / "tool"),
        makes=(NATIVE,),
    ),
    Step(
        "rival",
        "Installing SimPy and libCacheSim",
        _install_rival,
        reads=(BENCH_LOCK,),
        makes=(RIVAL_VENV / "bin" / "pip",),
    ),
    Step(
        "nexosim", "Compiling the queue as nexosim models", _build_nexosim, reads=(NEXOSIM,), makes=(NEXOSIM_PROGRAM,)
    ),
)


def bench() -> None:
    """Measure every run on every host, then print the table."""
    machine.require_for_bench()
    apply_all(FOR_BENCH)
    rival_python = RIVAL_VENV / "bin" / "python"
    rows = [
        _measure("SimPy", QUEUE, (rival_python, SCRIPTS / "bench_simpy.py")),
        _measure("nexosim", QUEUE, (NEXOSIM_PROGRAM, str(DEPTH), str(SERVICE_NS))),
    ]
    for path in RUNS:
        rows.append(_measure("native", path.stem, (NATIVE, path)))
        rows.append(_measure("wasmtime", path.stem, (VENV_BIN / "python", SCRIPTS / "bench_wasmtime.py", path)))
        rows.append(_measure("Chromium", path.stem, ("node", SCRIPTS / "bench_chromium.mjs", GLUE, path)))
    csv, binary = bench_trace.write(CACHE)
    size = str(bench_trace.CACHE_SIZE)
    for policy in POLICIES:
        name = f"cache-{policy}"
        rows.append(
            _measure("libCacheSim", name, (rival_python, SCRIPTS / "bench_libcachesim.py", binary, policy, size))
        )
        rows.append(_measure("native", name, (NATIVE, "cache", csv, policy, size)))
    memory = _measure_memory()
    _show(rows)
    say()
    say(f"A request in flight takes {memory['request_bytes']:.0f} B, a logged operation {memory['row_bytes']:.0f} B.")
    (CACHE / "bench.json").write_text(json.dumps({"runs": rows, "memory": memory}, indent=1) + "\n")


def _measure(host: str, name: str, command: Sequence[str | Path]) -> dict[str, Any]:
    say(f"{name} on {host} ...")
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=environment(), cwd=ROOT, check=False
    )
    if done.returncode != 0:
        message = f"Measuring {name} on {host} ended with exit code {done.returncode}; what it said is above."
        raise StepFailedError(message)
    return {"run": name, "host": host, **json.loads(done.stdout)}


def _measure_memory() -> dict[str, float]:
    """Give bytes of a request in flight and of a row of the log, each from the peaks of two runs that differ in it."""

    def peak_bytes(workers: int, *, log: bool) -> float:
        job = {"name": "a", "rw": "read", "bs": "4KiB", "size": "8GiB", "numjobs": 1, "number_ios": LOGGED}
        if workers > 1:
            job |= {
                "iodepth": IN_FLIGHT // workers,
                "numjobs": workers,
                "size": "64MiB",
                "number_ios": LOGGED // workers,
            }
        payload = {
            "scenario": {
                "jobs": [job],
                "devices": [{"lun": {"rate": 1_000_000_000}}],
                "record": {"log": log},
                "limits": {"memory": "3GiB"},
            }
        }
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(payload, file)
            file.flush()
            return float(_measure("native", "memory", (NATIVE, Path(file.name)))["peak_mib"]) * (1 << 20)

    alone = peak_bytes(1, log=False)
    return {
        "request_bytes": (peak_bytes(16, log=False) - alone) / IN_FLIGHT,
        "row_bytes": (peak_bytes(1, log=True) - alone) / LOGGED,
    }


def _show(rows: list[dict[str, Any]]) -> None:
    per_s = {(row["run"], row["host"]): row["requests"] / row["wall_s"] for row in rows}
    say()
    say(
        f"{'run':16} {'host':11} {'wall s':>8} {'requests/s':>12} {'events/s':>12} {'peak MiB':>9}  fingerprint or hits"
    )
    for row in rows:
        own = per_s[row["run"], row["host"]]
        rivals = [rival for rival in RIVALS.get(row["run"], ()) if rival != row["host"]]
        ratios = "".join(f"  {own / per_s[row['run'], rival]:.1f} times {rival}" for rival in rivals)
        peak = f"{row['peak_mib']:.0f}" if row.get("peak_mib") else "-"
        result = row.get("fingerprint", row.get("hits", "-"))
        say(
            f"{row['run']:16} {row['host']:11} {row['wall_s']:8.3f} {own:12,.0f} "
            f"{row['events'] / row['wall_s']:12,.0f} {peak:>9}  {result!s:16}{ratios}"
        )


if __name__ == "__main__":
    main(bench)
