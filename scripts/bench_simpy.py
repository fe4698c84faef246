"""SimPy on two queues of bench_runs: `bench_simpy.py one-queue` and `bench_simpy.py m-m-1`."""

from __future__ import annotations

import json
import random
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import simpy

if TYPE_CHECKING:
    from collections.abc import Generator

# As in seeklab-bench: repeats continue for this time, and the fastest counts.
REPEATED_FOR_S = 3.0
REQUESTS = 300_000  # enough for steady results; the engine's own run is longer because it is faster
CUSTOMERS = 500_000
SEED = 1


def one_queue(scenario: dict[str, Any]) -> dict[str, float]:
    """Measure 32 requests in flight at one server with a fixed service time."""
    depth = scenario["jobs"][0]["iodepth"]
    service_ns = 4096 * 1_000_000_000 // scenario["devices"][0]["lun"]["rate"]
    environment = simpy.Environment()
    server = simpy.Resource(environment, capacity=1)

    def requester(count: int) -> Generator[Any]:
        for _ in range(count):
            with server.request() as turn:
                yield turn
                yield environment.timeout(service_ns)

    for _ in range(depth):
        environment.process(requester(REQUESTS // depth))
    return _run(environment) | {"requests": REQUESTS // depth * depth}


def m_m_1(scenario: dict[str, Any]) -> dict[str, float]:
    """Measure Poisson arrivals and exponential service, each customer a process as in SimPy's own examples."""
    arrivals_per_ns = scenario["jobs"][0]["rate_iops"] / 1e9
    services_per_ns = 1 / scenario["controller"]["read"]
    # The same numbers in each repeat, and so the same mean.
    draw = random.Random(SEED).expovariate
    environment = simpy.Environment()
    server = simpy.Resource(environment, capacity=1)
    total_ns = 0.0

    def source() -> Generator[Any]:
        for _ in range(CUSTOMERS):
            yield environment.timeout(draw(arrivals_per_ns))
            environment.process(customer())

    def customer() -> Generator[Any]:
        nonlocal total_ns
        arrived_ns = environment.now
        with server.request() as turn:
            yield turn
            yield environment.timeout(draw(services_per_ns))
        total_ns += environment.now - arrived_ns

    environment.process(source())
    row = _run(environment)
    return row | {"requests": CUSTOMERS, "latency_mean_ms": total_ns / CUSTOMERS / 1e6}


def _run(environment: Any) -> dict[str, float]:
    start = time.perf_counter()
    environment.run()
    wall_s = time.perf_counter() - start
    # SimPy numbers its events, but does not report how many there were.
    return {"wall_s": wall_s, "events": next(environment._eid)}  # noqa: SLF001


if __name__ == "__main__":
    name = sys.argv[1]
    scenario = json.loads((Path(__file__).parent / "bench_runs" / f"{name}.json").read_text())["scenario"]
    measure = {"one-queue": one_queue, "m-m-1": m_m_1}[name]
    begun = time.perf_counter()
    rows = [measure(scenario)]
    while time.perf_counter() - begun < REPEATED_FOR_S:
        rows.append(measure(scenario))
    print(json.dumps(min(rows, key=lambda row: row["wall_s"])))
