"""Write the synthetic drive and trace that the page on validation replays: engine/validation/synthetic-*.

A build step runs this program; the files are not tracked.

The trace is not a measurement. Its service times come from a second drive in the same model, which differs from the
first as a real drive differs from its data sheet. It seeks a little slower, turns a little faster, and each request has
some noise. The page can therefore show an error of known origin, and the whole method, without third-party data.
"""

from __future__ import annotations

import json
import random
from typing import Any

from seeklab.engine.host import engine
from steps import SYNTHETIC_FILES

REQUESTS = 4000
BLOCKS_PER_CYLINDER = 4 * 160
CYLINDERS = 1200
READ_SHARE, LOCAL_SHARE, SEQUENTIAL_SHARE = 0.67, 0.4, 0.1
MEAN_PAUSE_US = 9000
SLOWER_SEEK, FASTER_TURN, NOISE_US = 1.06, 1.0004, 250
ABOUT = (
    "This drive does not exist. The measured times in its trace were simulated with a second drive, which seeks"
    f" {SLOWER_SEEK - 1:.0%} slower and turns {FASTER_TURN - 1:.2%} faster, plus noise of {NOISE_US / 1000} ms."
)


def drive() -> dict[str, Any]:
    """Return a drive with round numbers: 6000 rpm, two zones, four surfaces, square-root seeks up to 12 ms."""
    seek = [[distance, round(0.9 + 0.32 * distance**0.5, 3)] for distance in (1, 4, 16, 64, 256, 1024, CYLINDERS - 1)]

    def zone(first: int, last: int, blocks: int) -> dict[str, Any]:
        return {
            "First cylinder number": first,
            "Last cylinder number": last,
            "Blocks per track": blocks,
            "Offset of first block": 0,
            "Empty space at zone front": 0,
            "Skew for track switch": blocks // 8,
            "Skew for cylinder switch": blocks // 6,
            "Number of spares": 0,
            "slips": [],
            "defects": [],
        }

    overheads = {
        f"{op} {what} over. after {before}": ms
        for op, hit_ms, miss_ms in (("Read", 0.3, 0.8), ("Write", 0.5, 0.5))
        for what, ms in (("hit", hit_ms), ("miss", miss_ms))
        for before in ("read", "write")
    }
    return {
        "name": "synthetic",
        "synthetic": ABOUT,
        "block_bytes": 512,
        "surfaces": 4,
        "cylinders": CYLINDERS,
        "layout": {
            "LBN-to-PBN mapping scheme": 0,
            "Sparing scheme used": 9,
            "Rangesize for sparing": 1,
            "Zones": [zone(0, CYLINDERS // 2 - 1, 160), zone(CYLINDERS // 2, CYLINDERS - 1, 96)],
        },
        "mechanics": {
            "Seek type": "extracted",
            "Add. write settling delay": 0.4,
            "Head switch time": 0.7,
            "Rotation speed (in rpms)": 6000,
        },
        "seek_ms_by_cylinders": seek,
        "electronics_and_buffer": {
            "Number of buffer segments": 2,
            "Segment size (in blks)": 256,
            "Enable caching in buffer": 1,
            "Buffer continuous read": 3,
            "Maximum read-ahead (blks)": 128,
            "Fast write level": 0,
            "Combine seq writes": 1,
            "Allow read hits on write data": 1,
            "Stop prefetch in sector": 1,
            **overheads,
        },
        "bus": {"BUS1": {"Read block transfer time": 0.1, "Write block transfer time": 0.1}},
    }


def other_drive() -> dict[str, Any]:
    """Return the drive that is "measured": slower to seek, faster to turn."""
    other = drive()
    other["mechanics"]["Rotation speed (in rpms)"] *= FASTER_TURN
    other["seek_ms_by_cylinders"] = [[distance, ms * SLOWER_SEEK] for distance, ms in other["seek_ms_by_cylinders"]]
    return other


def requests() -> list[tuple[str, int, int, float]]:
    """Draw direction, block, length and the pause before the next: random, near the last, or right after it."""
    source = random.Random("seeklab synthetic trace")
    capacity = (160 + 96) * 4 * CYLINDERS // 2
    drawn: list[tuple[str, int, int, float]] = []
    block = 0
    for _ in range(REQUESTS):
        op = "R" if source.random() < READ_SHARE else "W"
        length = min(64, 2 + int(source.expovariate(1 / 12)))
        kind = source.random()
        if drawn and kind < SEQUENTIAL_SHARE:
            block = drawn[-1][1] + drawn[-1][2]
        elif kind < SEQUENTIAL_SHARE + LOCAL_SHARE:
            block += int(source.gauss(0, 20 * BLOCKS_PER_CYLINDER))
        else:
            block = source.randrange(capacity)
        block = max(0, min(block, capacity - 1 - length))
        drawn.append((op, block, length, round(source.expovariate(1 / MEAN_PAUSE_US))))
    return drawn


def trace() -> str:
    """Return the trace, with the other drive's times plus noise as the measured ones."""
    head = "op,buffer_action,lbn,blocks,service_us,next_interarrival_us\n"
    drawn = requests()
    blank = head + "".join(f"{op},,{block},{length},0,{pause}\n" for op, block, length, pause in drawn)
    asked = {"drive": json.dumps(other_drive()), "trace": blank, "times": True}
    times: list[float] = engine().call("drive", asked)["times"]["simulated_us"]
    noise = random.Random("seeklab synthetic noise")
    return head + "".join(
        f"{op},synthetic,{block},{length},{max(100, round(us + noise.gauss(0, NOISE_US)))},{pause}\n"
        for (op, block, length, pause), us in zip(drawn, times, strict=True)
    )


def synthetic() -> None:
    """Write the files."""
    for path, content in zip(SYNTHETIC_FILES, (json.dumps(drive(), indent=1) + "\n", trace()), strict=True):
        path.write_text(content, encoding="utf-8")


if __name__ == "__main__":
    synthetic()
