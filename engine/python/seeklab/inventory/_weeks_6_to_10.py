"""Items on the write path, durability, processors and networks, clusters and clouds, and benchmarks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from seeklab.inventory._runs import MIB, MS, metric, ratio
from seeklab.inventory.item import Numbers, Posed, Range, Words

if TYPE_CHECKING:
    import random

MEMORY_MB_PER_S = 1152.5
"""Rate of writes into memory in `ordered-journal`."""
ENGINE_FLUSH_MS = 14.5
"""Mean flush of the first log in `lost-group-commit`."""
GIGABIT_MIB_PER_S = 119.2
CREDITS = 5_400_000
BURST = 3000


def throttle_and_mean(draw: random.Random) -> Posed:
    """Ask: A throttle decides who waits; the mean follows from writers and rate."""
    writers = draw.choice((8, 12, 20, 24))
    name = "writers.write_latency_mean_ms"
    changes = {"jobs[writers].numjobs": writers}
    return Words(
        f"{writers} threads write without a pause, faster than the disks. A file system stops all of them for seconds "
        "whenever its memory is full. A new throttle delays every write a little instead, and the disks write as much "
        "as before. How long is the mean write now?",
        lambda: ratio(name, "openzfs-throttle", ("openzfs", changes), ("2008", changes)),
        (
            Range("less than a third", 0, 1 / 3, "6.1"),
            Range("about half", 0.4, 0.65, "6.5"),
            Range("about as long", 0.75, 1.3),
            Range("more than twice as long", 2, math.inf, "6.2"),
        ),
    )


def synchronous_write(draw: random.Random) -> Posed:
    """Ask: A synchronous write waits for all data that must be durable before it."""
    size, rate = draw.choice((1, 2, 3, 4)), draw.choice((120, 160, 200, 240))
    seconds = size * (1 << 30) / (rate * MIB)
    return Numbers(
        f"A file system writes all dirty data before it commits its journal. One process has left {size} GiB dirty in "
        f"memory, which it filled at {MEMORY_MB_PER_S:,.0f} MB/s; the disk writes {rate} MiB/s. Another process now "
        "writes 512 bytes synchronously. How long does it wait?",
        "s",
        seconds,
        lambda: (
            metric(
                "log.write_latency_max_ms",
                "ordered-journal",
                "together",
                {"jobs[bulk].size": size << 30, "devices[disk].lun.rate": rate * MIB},
            )
            / 1000
        ),
        {"6.3": 0.005, "6.4": size * (1 << 30) / (MEMORY_MB_PER_S * 1e6), "6.5": seconds / 2},
    )


def closed_loop(draw: random.Random) -> Posed:
    """Ask: At a full backend, more writers only wait longer."""
    before, times = draw.choice((6, 8, 10)), draw.choice((4, 6, 8))
    name = "writers.write_latency_mean_ms"
    return Numbers(
        f"{before} threads write as fast as they can, and the disks are at their limit. Now {before * times} do "
        "so on the same disks. How many times as long is the mean write?",
        "",
        times,
        lambda: ratio(
            name,
            "openzfs-throttle",
            ("openzfs", {"jobs[writers].numjobs": before * times}),
            ("openzfs", {"jobs[writers].numjobs": before}),
        ),
        {"6.6": 1, "6.7": times**2, "6.8": math.log2(times)},
    )


def flush_rate(draw: random.Random) -> Posed:
    """Ask: A log that is flushed for one transaction at a time is a queue with one server."""
    flush, clients = draw.choice((4, 8, 10, 20)), draw.choice((64, 128, 256))
    rate = 1000 / flush
    return Numbers(
        f"{clients} clients commit transactions. The flush of one log takes {flush} ms and serves one transaction; the "
        "flushes of another log are shared by all that wait. How many transactions are committed in a second?",
        "",
        rate,
        lambda: metric("clients.write_iops", "lost-group-commit", "crowd", _commits(flush, clients)),
        {"7.1": clients * rate, "7.2": 1000 / (2 * ENGINE_FLUSH_MS + 3 * flush), "7.3": 2 * rate},
    )


def commit_wait(draw: random.Random) -> Posed:
    """Ask: In front of a single server, a commit waits for all clients ahead of it."""
    flush, clients = draw.choice((5, 8, 10)), draw.choice((64, 96, 128))
    whole = flush * clients
    return Numbers(
        f"{clients} clients commit without a pause. The slowest step is a log whose flush takes {flush} ms and serves "
        "one transaction. How long does a commit take on average?",
        "ms",
        whole,
        lambda: metric("clients.write_latency_mean_ms", "lost-group-commit", "crowd", _commits(flush, clients)),
        {"7.4": flush, "7.5": whole / 2, "7.6": 3 * flush},
    )


def _commits(flush_ms: int, clients: int) -> dict[str, object]:
    return {"jobs[clients].numjobs": clients, "commit.logs[replication].flush.mean": flush_ms * MS}


def serial_log(draw: random.Random) -> Posed:
    """Ask: Threads that wait for a serial log do not make it faster."""
    threads, flush = draw.choice((24, 48, 96)), draw.choice((1, 2, 3))

    def rate(count: int) -> float:
        changes = {"jobs[threads].numjobs": count, "zfs.log.flush": flush * MS}
        return metric("threads.write_iops", "sync-serialised", "serialised", changes)

    return Words(
        f"A log commits one synchronous write at a time; a flush takes {flush} ms. {threads} threads write instead of "
        "one. How many writes are committed in a second, compared with one thread?",
        lambda: rate(threads) / rate(1),
        (
            Range("fewer", 0, 0.9, "7.9"),
            Range("as many", 0.9, 1.2),
            Range("two or three times as many", 1.8, 4, "7.8"),
            Range(f"about {threads} times as many", 10, math.inf, "7.7"),
        ),
    )


def shared_log(draw: random.Random) -> Posed:
    """Ask: A flush that serves all that wait makes a log's rate grow with its users."""
    threads = draw.choice((24, 40, 60))

    def rate(variant: str) -> float:
        return metric("threads.write_iops", "sync-serialised", variant, {"jobs[threads].numjobs": threads})

    return Words(
        f"{threads} threads write synchronously. The log used to flush once for each write; now one flush serves all "
        "writes that wait. How many writes are committed in a second, compared with before?",
        lambda: rate("batched") / rate("serialised"),
        (
            Range("as many: the flush takes as long as before", 0.8, 1.2, "7.4"),
            Range("twice as many", 1.6, 2.4, "7.3"),
            Range("three times as many", 2.6, 3.5, "7.6"),
            Range("more than five times as many", 5, math.inf),
        ),
    )


def window_and_round_trip(draw: random.Random) -> Posed:
    """Ask: A connection sends one window in each round trip."""
    kib, round_trip = draw.choice((256, 512, 1024)), draw.choice((40, 80, 120, 200))
    rate = kib / 1024 / (round_trip / 1000)
    return Numbers(
        f"One TCP connection has socket buffers of {kib} KiB at both ends, over a round trip of {round_trip} ms and a "
        "link of 1 Gbit/s. How fast does a large file arrive?",
        "MiB/s",
        rate,
        lambda: metric("client.read_mib_per_s", "one-window-per-rtt", "both-1m", _path(kib, round_trip)),
        {"8.1": GIGABIT_MIB_PER_S, "8.2": 2 * rate, "8.3": rate / 8},
    )


def faster_link(draw: random.Random) -> Posed:
    """Ask: A connection that waits for its window does not notice the link."""
    kib, round_trip, times = draw.choice((256, 512, 1024)), draw.choice((60, 90, 140)), draw.choice((4, 10))
    name, of, variant = "client.read_mib_per_s", "one-window-per-rtt", "both-1m"
    path = _path(kib, round_trip)
    return Words(
        f"A file arrives over one TCP connection with buffers of {kib} KiB and a round trip of {round_trip} ms. The "
        f"link of 1 Gbit/s is replaced by one of {times} Gbit/s. How fast does the file arrive?",
        lambda: ratio(name, of, (variant, {**path, "network.bits_per_s": times * 10**9}), (variant, path)),
        (
            Range("slower", 0, 0.9, "8.5"),
            Range("as fast as before", 0.9, 1.2),
            Range("about twice as fast", 1.6, 2.5, "8.2"),
            Range(f"about {times} times as fast", 0.7 * times, math.inf, "8.4"),
        ),
    )


def _path(kib: int, round_trip_ms: int) -> dict[str, object]:
    buffers = dict.fromkeys(("network.client_buffer", "network.server_buffer"), kib << 10)
    return {**buffers, "network.round_trip": round_trip_ms * MS}


def shards(draw: random.Random) -> Posed:
    """Ask: Shards help until the next part is full."""
    count = draw.choice((6, 8, 10, 12))
    return Words(
        "A node has twelve cores. One thread serves all requests of a virtual disk, and its core is full; the devices "
        f"are idle. Now {count} threads serve parts of the disk, and one thread hands the requests out to them, at "
        "half of the work that a request takes. How many random reads does the disk serve?",
        lambda: ratio(
            "reads.read_iops",
            "vdisk-sharding",
            ("sharded", {"controller.shards": count}),
            ("sharded", {"controller.shards": 1}),
        ),
        (
            Range("fewer", 0, 0.9, "8.8"),
            Range("as many", 0.9, 1.2, "8.7"),
            Range("about twice as many", 1.6, 3),
            Range(f"about {count} times as many", 0.7 * count, math.inf, "8.6"),
        ),
    )


def incast(draw: random.Random) -> Posed:
    """Ask: Servers that answer together lose the end of a burst, and all wait for a timer."""
    servers = draw.choice((16, 24, 32))
    name, of = "network.goodput_mbit_per_s", "incast"
    return Words(
        "A client reads a file that is spread over four servers, and all four answer at once through a switch with a "
        f"small buffer. It gets 936 Mbit/s. Now the file is spread over {servers} servers; a server that loses the "
        "last packets of its answer waits for a timer of 200 ms. How much does the client get?",
        lambda: ratio(name, of, ("four", {"network.packets.servers": servers}), ("four", {})),
        (
            Range("less than a fifth", 0, 0.2),
            Range("a few percent less", 0.9, 0.985, "8.9"),
            Range("as much: the port was full already", 0.985, 1.02, "8.11"),
            Range("more", 1.02, math.inf, "8.10"),
        ),
    )


def more_cores(draw: random.Random) -> Posed:
    """Ask: Work that every core does for each request grows with the cores."""
    cores = draw.choice((12, 16, 24))
    return Words(
        f"A server with {cores} cores unmaps a buffer for each request, and each time interrupts all its cores, which "
        f"takes most of their time. It gets {2 * cores} cores. How many requests does it serve?",
        lambda: ratio(
            "clients.read_iops",
            "tlb-shootdown",
            ("worst-case", {"server.cores": 2 * cores}),
            ("worst-case", {"server.cores": cores}),
        ),
        (
            Range("about half as many", 0.3, 0.7),
            Range("about as many", 0.9, 1.1, "8.13"),
            Range("half as many again", 1.3, 1.7, "8.14"),
            Range("twice as many", 1.8, math.inf, "8.12"),
        ),
    )


def credits_last(draw: random.Random) -> Posed:
    """Ask: An account with income empties at the difference of spending and earning."""
    base = draw.choice((800, 900, 1000, 1200))
    return Numbers(
        f"A volume has {CREDITS:,} credits and earns {base:,} a second. An I/O costs one. A program does {BURST:,} a "
        "second. How long does it keep that rate?",
        "s",
        CREDITS / (BURST - base),
        lambda: metric("credits_first_empty_s", "burst-credits", "migration", _base(base)),
        {"9.1": CREDITS / BURST, "9.2": CREDITS / base, "9.3": CREDITS / (BURST + base)},
    )


def _base(credits_a_second: int) -> dict[str, object]:
    return {"devices[volume].lun.credits.base": credits_a_second}


def slow_of_many(draw: random.Random) -> Posed:
    """Ask: A request to n servers is slow with probability 1 - (1 - p)^n."""
    servers, percent = draw.choice(((60, 1), (70, 1), (80, 1), (40, 2), (160, 0.5)))
    return Numbers(
        f"Each of {servers} servers is slow for {percent:g}% of its requests, at random. A user's request asks all of "
        "them and waits for the last. What share of the users' requests is slow?",
        "%",
        100 * (1 - (1 - percent / 100) ** servers),
        lambda: metric(
            "fanout_stalled_percent",
            "tail-at-scale",
            "hundred",
            {"fanout.leaves": servers, "fanout.service.slow_percent": percent},
        ),
        {"9.7": percent, "9.8": servers * percent, "9.9": 99.9},
    )


def copies_and_outages(draw: random.Random) -> Posed:
    """Ask: Random placement uses nearly all sets of nodes, so some set is lost."""
    millions = draw.choice((6, 8, 12))
    return Words(
        f"5000 nodes hold {millions} million chunks, each on three nodes chosen at random. Power fails, and 50 nodes "
        "do not come back. How likely is it that all three copies of some chunk are on those 50?",
        lambda: metric("fleet_loss_percent", "copysets", "random", {"fleet.chunks": millions * 1_000_000}),
        (
            Range("one in a million", 0, 0.01, "9.10"),
            Range("0.1%", 0.05, 0.5, "9.12"),
            Range("1%", 0.5, 2, "9.11"),
            Range("more than 90%", 90, math.inf),
        ),
    )


def narrowest_part(draw: random.Random) -> Posed:
    """Ask: Doubling a part that is not the limit changes nothing."""
    disks = draw.choice((10, 12, 16, 20))
    return Words(
        f"A client streams a file from a server with {disks} disks over 1 Gbit/s and gets 117 MB/s. The server gets "
        f"{2 * disks} disks. How much does the client get?",
        lambda: ratio(
            "load.read_mb_per_s",
            "eleven-metrics",
            ("1-stream-cold", {"devices[disk].count": 2 * disks}),
            ("1-stream-cold", {"devices[disk].count": disks}),
        ),
        (
            Range("a little less", 0, 0.97, "10.3"),
            Range("as much as before", 0.97, 1.05),
            Range("a quarter more", 1.15, 1.4, "10.2"),
            Range("about twice as much", 1.7, math.inf, "10.1"),
        ),
    )


def compressed_benchmark(draw: random.Random) -> Posed:
    """Ask: If a share p of the data can be removed, they shrink by 1 / (1 - p)."""
    percent = draw.choice((60, 65, 75))
    share = percent / 100
    return Numbers(
        f"A benchmark writes buffers with {percent}% zeros and random bytes for the rest, and the storage reduces "
        "what it can. By what factor does it reduce the data?",
        "",
        1 / (1 - share),
        lambda: metric(
            "reduction_total_ratio",
            "compressible-data",
            "percentage-2017",
            {"reduction.buffer_compress_percentage": percent},
        ),
        {"10.5": 1, "10.4": 1 + share, "10.6": 1 / (1 - share) ** 2},
    )
