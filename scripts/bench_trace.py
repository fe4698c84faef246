"""The cache trace of `make bench`: requests for objects of one size, some far more popular than others.

Written twice: as CSV, which the engine reads, and in libCacheSim's binary form (time, object, size, next use).
"""

from __future__ import annotations

import random
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

REQUESTS = 2_000_000
OBJECTS = 100_000
SKEW = 1.0
CACHE_SIZE = 10_000
RECORD = struct.Struct("<IQIq")


def write(folder: Path) -> tuple[Path, Path]:
    """Write both forms unless they exist; return their paths."""
    csv, binary = folder / "bench-trace.csv", folder / "bench-trace.bin"
    if csv.exists() and binary.exists():
        return csv, binary
    folder.mkdir(parents=True, exist_ok=True)
    weights = [1 / rank**SKEW for rank in range(1, OBJECTS + 1)]
    source = random.Random("seeklab bench")
    objects = source.choices(range(1, OBJECTS + 1), weights, k=REQUESTS)
    next_use: dict[int, int] = {}
    records = []
    for time in range(REQUESTS - 1, -1, -1):
        key = objects[time]
        records.append(RECORD.pack(time, key, 1, next_use.get(key, -1)))
        next_use[key] = time
    binary.write_bytes(b"".join(reversed(records)))
    csv.write_text("time,object,size\n" + "".join(f"{time},{key},1\n" for time, key in enumerate(objects)))
    return csv, binary
