"""Print the CPU time of a run of one request in CPython: what every run costs before it simulates anything."""

from __future__ import annotations

import json
import time

import seeklab

SCENARIO = {"jobs": [{"name": "a", "size": "4KiB"}], "devices": [{"lun": {"rate": 1_000_000_000}}]}
ROUNDS = 30


def cpu_ms() -> float:
    """Return the shortest CPU time of a run, in milliseconds; the first run also loads the engine."""
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        seeklab.run(SCENARIO)
        times.append(time.process_time() - start)
    return min(times) * 1000


if __name__ == "__main__":
    print(json.dumps({"cpu_ms": cpu_ms()}))
