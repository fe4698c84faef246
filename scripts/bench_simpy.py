"""SimPy on the queue of bench_runs/one-queue.json: 32 requests in flight, one server, a fixed service time each."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import simpy

if TYPE_CHECKING:
    from collections.abc import Iterator

REPEATS = 3
REQUESTS = 300_000  # enough to be steady; the engine's own run is longer because it is faster

scenario = json.loads((Path(__file__).parent / "bench_runs" / "one-queue.json").read_text())["scenario"]
DEPTH: int = scenario["jobs"][0]["iodepth"]
SERVICE_NS = 4096 * 1_000_000_000 // scenario["devices"][0]["lun"]["rate"]


def requester(environment: Any, server: Any, count: int) -> Iterator[Any]:  # noqa: ANN401 -- SimPy has no types
    """Send one request after the other."""
    for _ in range(count):
        with server.request() as turn:
            yield turn
            yield environment.timeout(SERVICE_NS)


def measure() -> tuple[float, int]:
    """Give the wall time of one run and the events it took."""
    environment = simpy.Environment()
    server = simpy.Resource(environment, capacity=1)
    for _ in range(DEPTH):
        environment.process(requester(environment, server, REQUESTS // DEPTH))
    start = time.perf_counter()
    environment.run()
    wall_s = time.perf_counter() - start
    return wall_s, next(environment._eid)  # noqa: SLF001 -- SimPy numbers its events and tells nobody how many


if __name__ == "__main__":
    wall_s, events = min(measure() for _ in range(REPEATS))
    print(json.dumps({"wall_s": wall_s, "events": events, "requests": REQUESTS // DEPTH * DEPTH}))
