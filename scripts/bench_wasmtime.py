"""One run in wasmtime, through the Python package's own host. It mirrors seeklab-bench and bench_chromium.mjs."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from seeklab.engine.host import engine

# As in seeklab-bench: repeats continue for this time, and the fastest counts.
REPEATED_FOR_S = 3.0
EVENTS_PER_STEP = 2**32 - 1


def measure(path: Path) -> dict[str, object]:
    """Return the fastest wall time, and the results of the run."""
    payload = json.loads(path.read_text())
    engine()  # loading is not part of the measured time
    fastest_s = float("inf")
    summary: dict[str, object] = {}
    begun = time.perf_counter()
    while time.perf_counter() - begun < REPEATED_FOR_S:
        start = time.perf_counter()
        run = engine().open_run(payload)
        while 0 <= run.step(EVENTS_PER_STEP) < 1:
            pass
        fastest_s = min(fastest_s, time.perf_counter() - start)
        summary = run.summary()
        run.close()
    metrics = summary["metrics"]
    if not isinstance(metrics, dict):
        raise TypeError(metrics)
    counts = {name: value for name, value in metrics.items() if name.endswith((".read_ios", ".write_ios"))}
    requests = sum(counts.values())
    total_ms = sum(
        count * metrics.get(name.removesuffix("ios") + "latency_mean_ms", 0) for name, count in counts.items()
    )
    return {
        "wall_s": fastest_s,
        "events": summary["events"],
        "requests": requests,
        "latency_mean_ms": total_ms / requests if requests else None,
        "fingerprint": summary["fingerprint"],
        "peak_mib": peak_mib(),
    }


def peak_mib() -> float | None:
    """Return the peak memory of this process in MiB, if the system reports it (Linux)."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return None
    return next((int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM:")), None)


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]))))
