"""libCacheSim on a cache trace: requests per second and hits. The counterpart of `seeklab-bench cache`.

Usage: bench_libcachesim.py TRACE POLICY SIZE. The trace is in libCacheSim's own binary form, which it reads fastest.
"""

from __future__ import annotations

import json
import sys
import time

import libcachesim

REPEATED_FOR_S = 3.0
"""As in `seeklab-bench`: short replays are easily disturbed, and the fastest of many is reported."""
POLICIES = {"lru": libcachesim.LRU, "arc": libcachesim.ARC}


def measure(path: str, policy: str, size: int) -> tuple[float, int, int]:
    """Return the wall time of one replay, its requests and its hits."""
    reader = libcachesim.TraceReader(path, libcachesim.TraceType.ORACLE_GENERAL_TRACE)
    cache = POLICIES[policy](size)
    requests = reader.get_num_of_req()
    start = time.perf_counter()
    miss_ratio, _ = cache.process_trace(reader)
    return time.perf_counter() - start, requests, round(requests * (1 - miss_ratio))


if __name__ == "__main__":
    begun = time.perf_counter()
    measured = [measure(sys.argv[1], sys.argv[2], int(sys.argv[3]))]
    while time.perf_counter() - begun < REPEATED_FOR_S:
        measured.append(measure(sys.argv[1], sys.argv[2], int(sys.argv[3])))
    wall_s, requests, hits = min(measured)
    print(json.dumps({"wall_s": wall_s, "events": requests, "requests": requests, "hits": hits}))
