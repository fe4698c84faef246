"""`make bench`: the engine's speed natively, in wasmtime and in Chromium, next to other simulators in the same run.

SimPy and nexosim simulate the same queues, and libCacheSim replays the same cache trace. Results are measured, not
judged, because a machine's speed is not a test. Everything is measured in rounds, one row after the other, and each row
is its fastest round. Disturbances only ever add time, and a machine that is slow for minutes then slows both sides of a
comparison. The spread of a row's rounds shows how quiet the machine was. The report continues with the errors of mean
response times against queueing theory, and with comparisons of rows, each with its goal if it has one. It ends with
the memory of a request in flight and of a logged operation. Then come costs with their change since the last stored
commit (`bench_costs.py`); `make bench what=store` stores them. All results are also in .cache/bench.json. To measure
the parts of the engine one by one, run `cargo bench --package seeklab-benches` in engine/.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bench_costs
import bench_trace
import machine
from bench_costs import NATIVE
from console import CACHE, ROOT, Step, StepFailedError, apply_all, environment, main, run, say
from steps import ENGINE, ENGINE_SOURCES, FOR_LAB, GLUE, VENV_BIN

if TYPE_CHECKING:
    from collections.abc import Sequence

SCRIPTS = ROOT / "scripts"
RUNS = sorted((SCRIPTS / "bench_runs").glob("*.json"))
QUEUE = "one-queue"
"""The run that SimPy and nexosim repeat."""
DEPTH = 32
SERVICE_NS = 40960
"""That queue's requests in flight and service time, for a simulator that cannot read the run's file."""
MM1 = "m-m-1"
"""Poisson arrivals and exponential service. SimPy and nexosim repeat it; theory gives its mean response time."""
MD1 = "m-d-1"
"""The same arrivals and mean service without the controller, the only part whose work can be exponential."""
FULL_STACK = "full-stack"
WRITERS = "sixty-four-writers"
HOSTS = ("native", "wasmtime", "Chromium")

POLICIES = ("lru", "arc")
RIVALS = {
    QUEUE: ("SimPy", "nexosim"),
    MM1: ("SimPy", "nexosim"),
    **{f"cache-{policy}": ("libCacheSim",) for policy in POLICIES},
}

ROUNDS = 3

IN_FLIGHT = 1 << 20
LOGGED = 2_000_000
"""Number of requests for measuring memory: enough that the program's own memory does not matter."""

BENCH_LOCK = ROOT / "requirements" / "bench.txt"
RIVAL_VENV = CACHE / "rival"
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
        "nexosim", "Compiling the queues as nexosim models", _build_nexosim, reads=(NEXOSIM,), makes=(NEXOSIM_PROGRAM,)
    ),
)


def bench() -> None:
    """Measure every run on every host, then print the table."""
    machine.require_for_bench()
    apply_all(FOR_BENCH)
    rival_python = RIVAL_VENV / "bin" / "python"
    gap_ns, service_ns = _gap_and_service_ns()
    measurements: list[tuple[str, str, Sequence[str | Path]]] = [
        ("SimPy", QUEUE, (rival_python, SCRIPTS / "bench_simpy.py", QUEUE)),
        ("nexosim", QUEUE, (NEXOSIM_PROGRAM, QUEUE, str(DEPTH), str(SERVICE_NS))),
        ("SimPy", MM1, (rival_python, SCRIPTS / "bench_simpy.py", MM1)),
        ("nexosim", MM1, (NEXOSIM_PROGRAM, MM1, str(gap_ns), str(service_ns))),
    ]
    for path in RUNS:
        measurements += [
            ("native", path.stem, (NATIVE, path)),
            ("wasmtime", path.stem, (VENV_BIN / "python", SCRIPTS / "bench_wasmtime.py", path)),
            ("Chromium", path.stem, ("node", SCRIPTS / "bench_chromium.mjs", GLUE, path)),
        ]
    csv, binary = bench_trace.write(CACHE)
    size = str(bench_trace.CACHE_SIZE)
    for policy in POLICIES:
        name = f"cache-{policy}"
        measurements += [
            ("libCacheSim", name, (rival_python, SCRIPTS / "bench_libcachesim.py", binary, policy, size)),
            ("native", name, (NATIVE, "cache", csv, policy, size)),
        ]
    rows = _measure_in_rounds(measurements)
    memory = _measure_memory()
    costs = bench_costs.measure()
    errors = _theory_errors(rows)
    comparisons = _comparisons(rows)
    _show(rows)
    _show_steadiness(rows)
    _show_theory(errors)
    _show_hop(rows)
    _show_comparisons(comparisons)
    say()
    say(f"A request in flight takes {memory['request_bytes']:.0f} B, a logged operation {memory['row_bytes']:.0f} B.")
    bench_costs.show(costs)
    if "store" in sys.argv[1:]:
        bench_costs.store(costs)
    written = {"runs": rows, "comparisons": comparisons, "memory": memory, "costs": costs}
    (CACHE / "bench.json").write_text(json.dumps(written, indent=1) + "\n")


def _measure_in_rounds(measurements: Sequence[tuple[str, str, Sequence[str | Path]]]) -> list[dict[str, Any]]:
    """Return the fastest round of each measurement, with the wall times of all its rounds."""
    rounds = []
    for number in range(1, ROUNDS + 1):
        say(f"Round {number} of {ROUNDS}")
        rounds.append([_measure(*measurement) for measurement in measurements])
    return [
        min(of_one, key=lambda row: row["wall_s"]) | {"rounds_s": [row["wall_s"] for row in of_one]}
        for of_one in zip(*rounds, strict=True)
    ]


def _measure(host: str, name: str, command: Sequence[str | Path]) -> dict[str, Any]:
    say(f"{name} on {host} ...")
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=environment(), cwd=ROOT, check=False
    )
    if done.returncode != 0:
        message = f"Measuring {name} on {host} ended with exit code {done.returncode}; its output is above."
        raise StepFailedError(message)
    return {"run": name, "host": host, **json.loads(done.stdout)}


def _measure_memory() -> dict[str, float]:
    """Return the bytes of a request in flight and of a row of the log, from the peaks of two runs that differ in it."""

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


def _gap_and_service_ns() -> tuple[int, int]:
    """Return the mean time between arrivals and the mean service time of the M/M/1 run, from its file."""
    scenario = json.loads((SCRIPTS / "bench_runs" / f"{MM1}.json").read_text())["scenario"]
    return round(1e9 / scenario["jobs"][0]["rate_iops"]), scenario["controller"]["read"]


def _theory_errors(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add the error of the mean response time, in percent, to each row with a theoretical mean; return these rows.

    A host that reports no mean uses that of another host with the same fingerprint, which covers all latencies.
    """
    gap_ns, service_ns = _gap_and_service_ns()
    load = service_ns / gap_ns
    expected_ms = {
        MM1: service_ns / (1 - load) / 1e6,
        MD1: service_ns * (1 + load / (2 * (1 - load))) / 1e6,
    }
    means = {
        (row["run"], row["fingerprint"]): row["latency_mean_ms"]
        for row in rows
        if "fingerprint" in row and "latency_mean_ms" in row
    }
    known = []
    for row in rows:
        mean_ms = row.get("latency_mean_ms") or means.get((row["run"], row.get("fingerprint")))
        if row["run"] in expected_ms and mean_ms:
            row["theory_error_percent"] = (mean_ms / expected_ms[row["run"]] - 1) * 100
            known.append(row)
    return known


def _comparisons(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Compare the hosts on each run, and the runs that have goals with those that the goals name."""
    per_s = _per_s(rows)
    found: list[dict[str, Any]] = []

    def compare(run: str, host: str, other: tuple[str, str], at_least: float | None = None) -> None:
        ratio = per_s[run, host] / per_s[other]
        found.append({"what": f"{run} on {host}", "of": " on ".join(other), "value": ratio, "at_least": at_least})

    for name in (path.stem for path in RUNS):
        for host in HOSTS[1:]:
            compare(name, host, (name, HOSTS[0]), 0.7 if name == FULL_STACK else None)
    for name, goals in ((FULL_STACK, {"native": 0.6, "Chromium": 0.42}), (QUEUE, {"native": 6.0, "Chromium": 3.0})):
        for host in HOSTS:
            compare(name, host, (QUEUE, "nexosim"), goals.get(host))
    wall_s = next(row["wall_s"] for row in rows if (row["run"], row["host"]) == (WRITERS, "Chromium"))
    found.append({"what": f"{WRITERS} on Chromium", "of": "1 s of wall time", "value": wall_s, "at_most": 2.0})
    return found


def _per_s(rows: list[dict[str, Any]]) -> dict[tuple[str, str], float]:
    return {(row["run"], row["host"]): row["requests"] / row["wall_s"] for row in rows}


def _show(rows: list[dict[str, Any]]) -> None:
    per_s = _per_s(rows)
    say()
    say(
        f"{'run':18} {'host':11} {'wall s':>8} {'requests/s':>12} {'events/s':>12} {'peak MiB':>9}  fingerprint or hits"
    )
    for row in rows:
        own = per_s[row["run"], row["host"]]
        rivals = [rival for rival in RIVALS.get(row["run"], ()) if rival != row["host"]]
        ratios = "".join(f"  {own / per_s[row['run'], rival]:.1f} times {rival}" for rival in rivals)
        peak = f"{row['peak_mib']:.0f}" if row.get("peak_mib") else "-"
        result = row.get("fingerprint", row.get("hits", "-"))
        say(
            f"{row['run']:18} {row['host']:11} {row['wall_s']:8.3f} {own:12,.0f} "
            f"{row['events'] / row['wall_s']:12,.0f} {peak:>9}  {result!s:16}{ratios}"
        )


def _show_steadiness(rows: list[dict[str, Any]]) -> None:
    """Print the spread of each row's rounds, which is the possible error of a ratio of two rows."""
    apart = sorted((max(row["rounds_s"]) / min(row["rounds_s"]) - 1, f"{row['run']} on {row['host']}") for row in rows)
    median, (most, which) = apart[len(apart) // 2][0], apart[-1]
    say()
    say(f"A row's slowest round took {median:.0%} longer than its fastest in the median, {most:.0%} at most ({which}).")


def _show_theory(known: list[dict[str, Any]]) -> None:
    say()
    say("Mean response time against theory; the fewer the customers, the larger the part of chance in the error:")
    for row in known:
        say(
            f"{row['run']:18} {row['host']:11} {row['requests'] / row['wall_s']:12,.0f} jobs/s "
            f"{row['theory_error_percent']:+7.3f}%  {row['requests']:,.0f} customers, "
            f"{row['events'] / row['requests']:.1f} events each"
        )


def _show_hop(rows: list[dict[str, Any]]) -> None:
    """Print the cost of the controller in front of a device that takes no time; a lone server would not have it."""
    native = {row["run"]: row for row in rows if row["host"] == "native"}
    each_ns = {name: native[name]["wall_s"] / native[name]["requests"] * 1e9 for name in (MM1, MD1)}
    hop_ns = native[MM1]["hop_ns"] = each_ns[MM1] - each_ns[MD1]
    say(f"A customer of {MM1} is served by a controller, then passes a device: {each_ns[MM1]:.0f} ns natively.")
    say(f"{hop_ns:.0f} ns of it are for the controller and the draw of its time; {MD1} has neither.")


def _show_comparisons(comparisons: list[dict[str, Any]]) -> None:
    say()
    say(f"{'compared':30} {'with':28} {'ratio':>7}  goal")
    for row in comparisons:
        least, most = row.get("at_least"), row.get("at_most")
        met = (least is None or row["value"] >= least) and (most is None or row["value"] <= most)
        bound = f"at least {least:g}" if least is not None else f"at most {most:g}" if most is not None else ""
        goal = f"{bound}: {'met' if met else 'missed'}" if bound else "-"
        say(f"{row['what']:30} {row['of']:28} {row['value']:7.2f}  {goal}")


if __name__ == "__main__":
    main(bench)
