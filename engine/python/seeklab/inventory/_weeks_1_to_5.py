"""Items on measuring, disks, flash, caches, read-ahead and copies."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from seeklab.exercises import flash_reserve
from seeklab.exercises._shapes import System
from seeklab.inventory._runs import MIB, MS, lru_hits, metric, ratio
from seeklab.inventory.item import Numbers, Posed, Range, Words

if TYPE_CHECKING:
    import random

BLOCK_KIB = 128
BURST_MIB_PER_S = 400
TOOL_PER_S = 2000
"""Requests a second of the load tool, over all connections."""
TURN_MS = 60_000
"""Milliseconds in a minute: divided by revolutions a minute, one turn."""
SLC_GB, SLC_GB_PER_S, DIRECT_GB_PER_S = 140, 1.8, 0.1
"""The cache of the drive in `slc-cliff`, and its rates into the cache and past it."""
ROUNDS = 20
RECORDS_IN_GIB = 8192
"""Records of 128 KiB in a GiB."""


def mean_in_flight(draw: random.Random) -> Posed:
    """Ask: Little's law: mean latency = requests in flight / throughput."""
    threads, rate = draw.choice((6, 8, 12, 16, 24)), draw.choice((24, 48, 60, 80))
    own = BLOCK_KIB / 1024 / rate * 1000
    return Numbers(
        f"{threads} threads write blocks of {BLOCK_KIB} KiB. Each starts its next write as soon as the last one "
        f"returns. The storage takes {rate} MiB/s, and a write to memory alone would take 0.02 ms. How long does a "
        "write take on average?",
        "ms",
        threads * own,
        lambda: metric(
            "writers.write_latency_mean_ms",
            "openzfs-throttle",
            "openzfs",
            {"jobs[writers].numjobs": threads, "devices[pool].lun.rate": rate * MIB},
        ),
        {"1.1": own, "1.2": threads * own / 2, "1.3": 0.02},
    )


def monitor_window(draw: random.Random) -> Posed:
    """Ask: A monitor's point is the mean over its window."""
    window, burst = draw.choice((8, 15, 24, 30, 40)), draw.choice((1, 2))
    highest = BURST_MIB_PER_S * burst / window
    return Numbers(
        f"A monitor shows the mean rate of each window of {window} s. A burst writes {BURST_MIB_PER_S} MiB/s for "
        f"{burst} s, and nothing is written before and after. What is the highest point that it can show?",
        "MiB/s",
        highest,
        lambda: metric(
            "monitor_sweep_busiest_max_mib_per_s",
            "averaged-away",
            "burst-1s",
            {"monitor.window": window * 1000 * MS, "jobs[burst].number_ios": BURST_MIB_PER_S * burst},
        ),
        {"1.4": BURST_MIB_PER_S, "1.5": highest / 2, "1.6": 2 * highest},
    )


def omitted_samples(draw: random.Random) -> Posed:
    """Ask: Each connection of a closed loop loses one sample to a stall, and sends nothing meanwhile."""
    connections, stall = draw.choice((8, 16, 25, 40, 50)), draw.choice((2, 3, 4))
    return Numbers(
        f"A load tool sends {TOOL_PER_S:,} requests a second over {connections} connections, and each connection waits "
        f"for its answer before it sends again. The server stops for {stall} s. How many samples of the tool are "
        "longer than one second?",
        "",
        connections,
        lambda: metric(
            "tool.read_stalls",
            "coordinated-omission",
            "stopped",
            {
                "jobs[tool].numjobs": connections,
                "jobs[tool].rate_iops": TOOL_PER_S // connections,
                "devices[server].lun.pauses[0].for": stall * 1000 * MS,
            },
        ),
        {"1.7": TOOL_PER_S * stall, "1.9": TOOL_PER_S * (stall - 1), "1.8": 1},
    )


def turn_of_a_disk(draw: random.Random) -> Posed:
    """Ask: A random read waits for half a turn; the rest of its time is the arm's."""
    rpm = draw.choice((12_000, 14_000, 15_000))

    def mean(speed: int) -> float:
        return metric("reader.read_latency_mean_ms", "invariants", "disk", {"devices[0].hdd.rpm": speed})

    half = (TURN_MS / 7200 - TURN_MS / rpm) / 2
    return Numbers(
        "A disk of 7200 revolutions a minute reads 8 KiB at a random place in 12.8 ms on average, one read at a time. "
        f"Another disk has the same arm and turns at {rpm:,}. How much shorter is its mean read?",
        "ms",
        half,
        lambda: mean(7200) - mean(rpm),
        {"2.1": 12.8 * (1 - 7200 / rpm), "2.2": 2 * half, "2.3": 0.02},
    )


def deep_queue(draw: random.Random) -> Posed:
    """Ask: A drive that sorts a deep queue travels less, but has one arm."""
    depth = draw.choice((16, 24, 32))
    return Words(
        f"One thread reads 8 KiB at random places of a disk. Now {depth} such reads are always in the drive's queue. "
        "How many reads does the disk serve in a second, compared with before?",
        lambda: ratio(
            "reader.read_iops",
            "invariants",
            ("disk", {"jobs[reader].iodepth": depth}),
            ("disk", {"jobs[reader].iodepth": 1}),
        ),
        (
            Range("fewer", 0, 0.9, "2.6"),
            Range("about as many", 0.9, 1.2, "2.5"),
            Range("between one and a half and three times as many", 1.2, 3.5),
            Range(f"about {depth} times as many", 3.5, math.inf, "2.4"),
        ),
    )


def misaligned_write(draw: random.Random) -> Posed:
    """Ask: Reading a block before writing it costs a turn of the platter."""
    rpm = draw.choice((5400, 7200, 10_000))

    def mean(variant: str) -> float:
        changes = {"jobs[writer].iodepth": 1, "jobs[writer].size": "400MiB", "devices[sd].hdd.rpm": rpm}
        return metric("writer.write_latency_mean_ms", "misaligned-io", variant, changes)

    return Words(
        f"A disk of {rpm:,} revolutions a minute has blocks of 4 KiB. A partition starts in the middle of a block, so "
        "each write of 1 MiB must first read the block at its start and the one at its end. How much longer does a "
        "write take?",
        lambda: (mean("misaligned") - mean("aligned")) / (TURN_MS / rpm),
        (
            Range("less than a tenth of a turn", 0, 0.1, "2.7"),
            Range("about a quarter of a turn", 0.1, 0.7, "2.3"),
            Range("one or two turns", 0.7, 2.5),
            Range("more than five turns", 5, math.inf, "2.8"),
        ),
    )


def slc_copy(draw: random.Random) -> Posed:
    """Ask: A drive's rated speed lasts as long as its cache."""
    size = draw.choice((160, 180, 220, 260, 300))
    return Numbers(
        f"An empty drive takes {SLC_GB} GB at {SLC_GB_PER_S * 1000:.0f} MB/s and everything after that at "
        f"{DIRECT_GB_PER_S * 1000:.0f} MB/s. How long does a copy of {size} GB take?",
        "s",
        SLC_GB / SLC_GB_PER_S + (size - SLC_GB) / DIRECT_GB_PER_S,
        lambda: metric("elapsed_s", "slc-cliff", "copy", {"jobs[copy].size": f"{size}GB"}),
        {
            "3.1": size / SLC_GB_PER_S,
            "3.2": size / DIRECT_GB_PER_S,
            "3.3": size / ((SLC_GB_PER_S + DIRECT_GB_PER_S) / 2),
        },
    )


def write_amplification(draw: random.Random) -> Posed:
    """Ask: With random writes and spare flash s, a drive programs (1 + 1/s) / 2 pages for each page written."""
    spare = draw.choice((10, 12, 16, 20))
    share = spare / 100
    return Numbers(
        f"A drive has {spare}% spare flash. Pages are overwritten at random over all its space, for a long time. How "
        "many pages does it program for each page that is written?",
        "",
        (1 + 1 / share) / 2,
        lambda: flash_reserve.run(System({"trimmed_percent": 0.0}, ""), spare).metrics[flash_reserve.AMPLIFICATION],
        {"3.4": 1, "3.5": 2, "3.6": 1 / share},
    )


def loop_and_cache(draw: random.Random) -> Posed:
    """Ask: A loop larger than an LRU cache never hits."""
    loop, percent = draw.choice((60, 80, 120, 160)), draw.choice((60, 70, 75, 80))
    blocks = loop * percent // 100
    return Numbers(
        f"A program reads {loop} blocks in order, again and again. An LRU cache holds {blocks} of them. What share of "
        "the reads hits the cache?",
        "%",
        0,
        lambda: 100 * lru_hits(list(range(loop)) * ROUNDS, blocks) / (loop * ROUNDS),
        {"4.1": percent, "4.2": 100, "4.3": percent / 2},
    )


def scan_and_cache(draw: random.Random) -> Posed:
    """Ask: A scan as large as an LRU cache evicts the hot blocks."""
    blocks = draw.choice((80, 120, 160, 200))
    hot, scanned = blocks * 3 // 4, blocks + draw.choice((20, 40, 60))

    def hits() -> float:
        reads = [*list(range(hot)) * ROUNDS, *range(1000, 1000 + scanned)]
        return lru_hits([*reads, *range(hot)], blocks) - lru_hits(reads, blocks)

    return Numbers(
        f"An LRU cache of {blocks} blocks has served the same {hot} hot blocks for hours. A backup then reads "
        f"{scanned} other blocks once. After it, each hot block is read once. How many of these reads hit the cache?",
        "",
        0,
        hits,
        {"4.4": hot, "4.5": hot / 2, "4.6": blocks - hot},
    )


def chatty_copy(draw: random.Random) -> Posed:
    """Ask: A copy that waits for each chunk does not notice ten times the bandwidth."""
    round_trip = draw.choice((20, 30, 40, 60))

    def elapsed(bits: int) -> float:
        changes = {"network.bits_per_s": bits, "network.round_trip": round_trip * MS}
        return metric("client.elapsed_s", "copy-offload", "lan", changes)

    return Words(
        "A client copies a file on a server: it reads a chunk of 1 MiB, waits for it, writes it back, waits for the "
        f"answer, and takes the next. The round trip is {round_trip} ms. The link becomes ten times as fast, 10 Gbit/s "
        "instead of 1. How long does the copy take now?",
        lambda: elapsed(10**9) / elapsed(10**10),
        (
            Range("longer", 0, 1, "5.3"),
            Range("more than 60% as long", 1, 1.6),
            Range("about a third", 2, 5, "5.2"),
            Range("about a tenth", 7, 12, "5.1"),
        ),
    )


def read_ahead_memory(draw: random.Random) -> Posed:
    """Ask: Read-ahead needs memory for streams times window."""
    streams, records = draw.choice((600, 1500, 2400)), draw.choice((32, 48, 64))
    needs = streams * records / RECORDS_IN_GIB
    return Numbers(
        f"{streams:,} players read {streams:,} films. For each, the server reads {records} records of 128 KiB ahead. "
        "How much memory do the records that are read ahead need?",
        "GiB",
        needs,
        lambda: (
            metric(
                "zfs_ahead_asked_bytes",
                "media-prefetch",
                "asked",
                {"jobs[streams].numjobs": streams, "zfs.prefetch.cap": records},
            )
            / (1 << 30)
        ),
        {"5.4": records / RECORDS_IN_GIB, "5.5": streams / RECORDS_IN_GIB, "5.6": 2 * needs},
    )


def random_read_ahead(draw: random.Random) -> Posed:
    """Ask: A read whose neighbour is cached by chance looks like a stream."""
    reads = draw.choice((8000, 12_000, 15_000))

    def pages(variant: str) -> float:
        return metric("pages_read_mib", "context-read-ahead", variant, {"jobs[rand].number_ios": reads})

    return Words(
        f"A program reads 64 KiB at {reads:,} random places of a file of 2 GiB, and memory keeps what was read. The "
        "kernel takes a read for a stream if the block in front of it is in memory. How many bytes does it read, "
        "compared with a kernel without read-ahead?",
        lambda: pages("2009") / pages("off"),
        (
            Range("fewer", 0, 0.95, "5.8"),
            Range("as many", 0.95, 1.05, "5.7"),
            Range("a tenth to a half more", 1.1, 1.6),
            Range("several times as many", 2, math.inf, "5.9"),
        ),
    )
