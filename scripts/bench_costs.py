"""Costs that `make bench` compares from commit to commit. Most of them are counts, the same on a busy machine.

Instructions per request are the slope between two lengths of a run under callgrind, so starting and reading the library
cancel out. Ratios compare two runs of one program. `bench_history.json` has the costs of earlier commits.
"""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import tempfile
from copy import deepcopy
from resource import RUSAGE_CHILDREN, getrusage
from typing import TYPE_CHECKING, Any

from console import ROOT, StepFailedError, capture, environment, say
from steps import CARGO_TARGET, GLUE, VENV_BIN

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SCRIPTS = ROOT / "scripts"
HISTORY = SCRIPTS / "bench_history.json"
NATIVE = CARGO_TARGET / "release" / "seeklab-bench"

Scenario = dict[str, Any]

LENGTHS: dict[str, tuple[dict[str, object], dict[str, object]]] = {
    "full-stack": ({"number_ios": 20_000}, {"number_ios": 60_000}),
    "hdd-random-10m": ({"number_ios": 10_000}, {"number_ios": 40_000}),
    "m-d-1": ({"number_ios": 20_000}, {"number_ios": 120_000}),
    "m-m-1": ({"number_ios": 20_000}, {"number_ios": 120_000}),
    "one-queue": ({"number_ios": 20_000}, {"number_ios": 220_000}),
    "sixty-four-writers": ({"runtime": "500ms"}, {"runtime": "2s"}),
}
"""Two lengths of each run."""

REGRESSION = 1.01
"""The report marks a count that grows by more than this factor."""


def measure() -> dict[str, float]:
    """Return all costs by name."""
    costs: dict[str, float] = {}
    for name, lengths in LENGTHS.items():
        say(f"Counting instructions of {name} ...")
        costs[f"{name}: instructions per request"] = _slope(_scenario(name), *lengths)
    say("Measuring cliffs ...")
    costs.update(_cliffs())
    say("Running every page in V8 ...")
    costs.update(_slowest_pages())
    costs["empty run in CPython: ms"] = float(_json(VENV_BIN / "python", SCRIPTS / "bench_empty.py")["cpu_ms"])
    module = (GLUE / "seeklab_bg.wasm").read_bytes()
    costs["module: gzip bytes"] = len(gzip.compress(module, mtime=0))
    costs["module: brotli bytes"] = float(_json("node", "--eval", BROTLI, GLUE / "seeklab_bg.wasm")["bytes"])
    return costs


BROTLI = """
const { brotliCompressSync } = require("node:zlib");
const module = require("node:fs").readFileSync(process.argv[1]);
console.log(JSON.stringify({ bytes: brotliCompressSync(module).length }));
"""


def _scenario(name: str) -> Scenario:
    found: Scenario = json.loads((SCRIPTS / "bench_runs" / f"{name}.json").read_text())["scenario"]
    return found


def _slope(scenario: Scenario, shorter: Mapping[str, object], longer: Mapping[str, object]) -> float:
    (few, fewer), (many, more) = (_instructions(_with_jobs(scenario, length)) for length in (shorter, longer))
    return (more - fewer) / (many - few)


def _with_jobs(scenario: Scenario, fields: Mapping[str, object]) -> Scenario:
    changed = deepcopy(scenario)
    for job in changed["jobs"]:
        job.update(fields)
    return changed


def _instructions(scenario: Scenario) -> tuple[float, int]:
    """Return the requests of a run, and the instructions of the whole program."""
    row, errors = _native(scenario, "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null")
    collected = re.search(r"Collected : (\d+)", errors)
    if collected is None:
        message = f"callgrind printed no count of instructions, but: {errors[-500:]}"
        raise StepFailedError(message)
    return float(row["requests"]), int(collected[1])


def _native(scenario: Scenario, *under: str) -> tuple[dict[str, Any], str]:
    """Return the row of a run that is not repeated, and what the program wrote to stderr."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"scenario": scenario}, file)
        file.flush()
        done = _run(*under, NATIVE, "once", file.name)
    return json.loads(done.stdout), done.stderr


def _json(*command: str | Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_run(*command).stdout)
    return found


def _run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), cwd=ROOT, check=False)
    if done.returncode != 0:
        message = f"{' '.join(map(str, command))} ended with exit code {done.returncode}: {done.stderr[-500:]}"
        raise StepFailedError(message)
    return done


def _cliffs() -> dict[str, float]:
    """Return costs that grow with a size of a scenario, as ratios or per unit."""
    disk = _scenario("hdd-random-10m")

    def deep(depth: int) -> float:
        scenario = deepcopy(disk) | {"devices": [{"preset": "hdd-7200", "hdd": {"queue_depth": depth}}]}
        return _slope(scenario, *({"iodepth": depth, "number_ios": ios} for ios in (10_000, 40_000)))

    def workers(count: int) -> tuple[float, float]:
        job: dict[str, object] = {
            "rw": "read",
            "bs": "4KiB",
            "size": "16KiB",
            "numjobs": count,
            "io_size": 1_000_000 // count * 4096,
        }
        before = getrusage(RUSAGE_CHILDREN).ru_utime
        row = _memory_run([job])
        return getrusage(RUSAGE_CHILDREN).ru_utime - before, row["requests"]

    def striped(disks: int) -> float:
        job: dict[str, object] = {"rw": "randread", "bs": "4KiB", "size": "1GiB", "number_ios": 1000}
        return float(_memory_run([job], [{"preset": "hdd-7200", "count": disks}])["peak_mib"])

    def jobs(count: int) -> float:
        job: dict[str, object] = {"rw": "read", "bs": "4KiB", "size": "1MiB"}
        return float(_memory_run([job] * count)["peak_mib"])

    many_s, requests = workers(16_000)
    return {
        "drive queue of 128: instructions over those of 8": deep(128) / deep(8),
        "16,000 workers: ns per request": many_s / requests * 1e9,
        "a job: MiB": (jobs(240) - jobs(40)) / 200,
        "a disk: KiB": (striped(1000) - striped(200)) / 800 * 1024,
    }


def _memory_run(jobs: list[dict[str, object]], devices: list[dict[str, object]] | None = None) -> dict[str, Any]:
    named = [job | {"name": f"job{number}"} for number, job in enumerate(jobs)]
    devices = devices or [{"lun": {"rate": 1_000_000_000, "capacity": "64GiB"}}]
    return _native({"jobs": named, "devices": devices, "record": {"log": False}})[0]


def _slowest_pages() -> dict[str, float]:
    pages: dict[str, float] = _json("node", SCRIPTS / "bench_pages.mjs", GLUE)
    slowest = sorted(pages.items(), key=lambda page: -page[1])[:10]
    return {f"{name} in V8: ms": ms for name, ms in slowest}


def show(costs: Mapping[str, float]) -> None:
    """Print the costs, and their ratios to the costs of the last stored commit."""
    history = json.loads(HISTORY.read_text()) if HISTORY.exists() else []
    commit, before = (history[-1]["commit"], history[-1]["costs"]) if history else ("nothing stored", {})
    say()
    say(f"{'cost':52} {'now':>12}  over {commit}")
    for name, cost in costs.items():
        ratio = cost / before[name] if before.get(name) else None
        is_count = "instructions" in name or "bytes" in name
        mark = "  grew" if ratio is not None and is_count and ratio > REGRESSION else ""
        say(f"{name:52} {cost:12,.2f}  {'-' if ratio is None else f'{ratio:.3f}'}{mark}")


def store(costs: Mapping[str, float]) -> None:
    """Append the costs of this commit to the history."""
    history = json.loads(HISTORY.read_text()) if HISTORY.exists() else []
    commit = capture("git", "rev-parse", "--short", "HEAD") or "unknown"
    rounded = {name: float(f"{cost:.4g}") for name, cost in costs.items()}
    HISTORY.write_text(json.dumps([*history, {"commit": commit, "costs": rounded}], indent=1) + "\n")
