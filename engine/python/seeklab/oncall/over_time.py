"""Tools that print one line or table for each interval of a run, in the formats of the real tools.

They read a run's tables of intervals. A tool that would have to guess returns None: `iostat -x 1` needs a device that
gets the application's own requests, because the run counts times per interval only for the application.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from seeklab._result import Result

BETWEEN = (
    "zfs", "page_cache", "volume", "tier", "raid_cache", "commit", "fanout", "cluster", "fleet", "controller",
    "protocol", "server", "nfs", "network",
)  # fmt: skip
"""Parts of a scenario between the application and its devices that change requests or their times."""
MOST_SAMPLES = 60
KIB, MIB, NS, MS = 1024.0, 1 << 20, 1e9, 1e6
START = 3 * 3600
"""The clock of a shift at the start of the run, in seconds."""
RECORD = 128 << 10
POOL_HEAD = (
    "              capacity     operations     bandwidth \n"
    "pool        alloc   free   read  write   read  write\n"
    "----------  -----  -----  -----  -----  -----  -----\n"
)


@dataclass
class Interval:
    """The application's requests in one interval: counts, bytes and total milliseconds of reads and writes."""

    from_s: float
    seconds: float
    ios: list[float]
    bytes: list[float]
    ms: list[float]


def intervals(result: Result, most: int = MOST_SAMPLES) -> list[Interval]:
    """Return the run's intervals, joined to at most `most`. The last one may have been cut short and is left out."""
    series = result.series
    rows = list(
        zip(
            series["time_ns"],
            zip(series["reads"], series["writes"], strict=True),
            zip(series["read_bytes"], series["write_bytes"], strict=True),
            zip(series["read_latency_mean_ms"], series["write_latency_mean_ms"], strict=True),
            strict=True,
        )
    )
    if len(rows) < 3:
        return []
    width = (rows[1][0] - rows[0][0]) / NS
    step = -(-(len(rows) - 1) // most)
    found = []
    for first in range(0, len(rows) - 1 - (len(rows) - 1) % step, step):
        some = rows[first : first + step]
        found.append(
            Interval(
                some[0][0] / NS,
                step * width,
                [sum(row[1][way] for row in some) for way in (0, 1)],
                [sum(row[2][way] for row in some) for way in (0, 1)],
                [sum(row[1][way] * row[3][way] for row in some) for way in (0, 1)],
            )
        )
    return found


def iostat(result: Result, scenario: Mapping[str, Any]) -> str | None:
    """Print `iostat -x` with one table for each interval, for a single device below the application."""
    if any(scenario.get(part) for part in BETWEEN) or len(result.devices) != 1:
        return None
    head = (
        f"{'Device':<10} {'r/s':>8} {'rkB/s':>10} {'r_await':>8} {'rareq-sz':>9} {'w/s':>8} {'wkB/s':>10}"
        f" {'w_await':>8} {'wareq-sz':>9} {'aqu-sz':>7} {'%util':>6}\n"
    )
    tables = []
    for each in intervals(result):
        cells = ""
        for ios, size, ms in zip(each.ios, each.bytes, each.ms, strict=True):
            mean, of = (ms / ios, size / ios / KIB) if ios else (0.0, 0.0)
            cells += f" {ios / each.seconds:8.2f} {size / each.seconds / KIB:10.2f} {mean:8.2f} {of:9.2f}"
        queue = sum(each.ms) / 1e3 / each.seconds
        tables.append(f"{head}{result.devices[0]:<10}{cells} {queue:7.2f} {100 * min(1.0, queue):6.2f}\n")
    return "\n".join(tables) or None


def device_rows(result: Result) -> Iterator[tuple[float, float, list[tuple[float, float, float]]]]:
    """Yield start, length, and (requests, bytes, busy share) of each device, by interval."""
    found: dict[float, list[tuple[float, float, float]]] = {}
    widths: dict[float, float] = {}
    table = result.analytics
    for of, start, width, ios, size, busy in zip(
        *(table[name] for name in ("of", "time_ns", "width_ns", "ios", "bytes", "total_ns")), strict=True
    ):
        if of == 2 and width:
            found.setdefault(start, []).append((ios, size, min(1.0, busy / width)))
            widths[start] = width / NS
    for start, devices in found.items():
        yield start / NS, widths[start], devices


def plain_iostat(result: Result) -> str | None:
    """Print `iostat -d 1`, which has rates and no times: for a run whose devices only read or only write."""
    ways = [sum(result.device_table[name]) for name in ("reads", "writes")]
    if not any(ways) or min(ways) > 0.001 * max(ways):
        return None
    is_write = ways[1] > ways[0]
    head = f"{'Device':<14}{'tps':>12}{'kB_read/s':>14}{'kB_wrtn/s':>14}{'kB_read':>12}{'kB_wrtn':>12}\n"
    tables = []
    for _, seconds, devices in list(device_rows(result))[:-1][:MOST_SAMPLES]:
        lines = ""
        for name, (ios, size, _) in zip(result.devices, devices, strict=False):
            kib = size / KIB
            pair = (0.0, kib) if is_write else (kib, 0.0)
            lines += (
                f"{name:<14}{ios / seconds:12.2f}{pair[0] / seconds:14.2f}{pair[1] / seconds:14.2f}"
                f"{pair[0]:12.0f}{pair[1]:12.0f}\n"
            )
        tables.append(head + lines)
    return "\n".join(tables) or None


def short(value: float) -> str:
    """Format a number as zpool does: three digits and a letter."""
    for letter in ("", "K", "M", "G", "T"):
        if value < 1000 or letter == "T":
            digits = 0 if not letter or value >= 100 else 1 if value >= 10 else 2
            return f"{value:.{digits}f}{letter}"
        value /= KIB
    return ""


def zpool_iostat(result: Result, scenario: Mapping[str, Any]) -> str | None:
    """Print `zpool iostat 1`: what the pool's devices read and wrote in each interval."""
    zfs = scenario.get("zfs")
    if not zfs or not len(result.zfs):
        return None
    record = int(zfs.get("record") or RECORD)
    written = list(result.zfs["written_bytes"])
    times = list(result.series["time_ns"])
    reads = list(zip(result.series["reads"], result.series["read_bytes"], strict=True))
    if zfs.get("arc"):
        reads = [(size / record, size) for size in result.sources["pool_bytes"]]
    rows = min(len(written), len(times), len(reads)) - 1
    if rows < 5:
        return None
    seconds = (times[1] - times[0]) / NS
    step = max(1, round(1 / seconds), -(-rows // MOST_SAMPLES))
    lines = [POOL_HEAD]
    for first in range(0, rows - rows % step, step):
        time = step * seconds
        ios, size = (sum(pair[way] for pair in reads[first : first + step]) / time for way in (0, 1))
        out = sum(written[first : first + step]) / time
        cells = "".join(f"{short(value):>7}" for value in (ios, out / record, size, out))
        lines.append(f"{'tank':<10}      -      -{cells}\n")
    return "".join(lines)


def txgs(result: Result) -> str | None:
    """Print /proc/spl/kstat/zfs/tank/txgs: the transaction groups, their bytes, and the time in each state."""
    names = (
        "group",
        "opened_ns",
        "closed_ns",
        "quiesced_ns",
        "sync_started_ns",
        "synced_ns",
        "bytes",
        "metadata_bytes",
    )
    rows = [row for row in zip(*(result.groups[name] for name in names), strict=True) if row[5] > 0]
    if not rows:
        return None
    head = (
        f"{'txg':<8} {'birth':<16} {'state':<5} {'ndirty':<12} {'nread':<12} {'nwritten':<12} {'reads':<8}"
        f" {'writes':<8} {'otime':<12} {'qtime':<12} {'wtime':<12} {'stime':<12}\n"
    )
    lines = []
    for group, opened, closed, quiesced, began, synced, size, metadata in rows:
        times = (closed - opened, quiesced - closed, began - quiesced, synced - began)
        out = size + metadata
        lines.append(
            f"{int(group):<8} {int(START * NS + opened):<16} {'C':<5} {int(size):<12} {0:<12} {int(out):<12} {0:<8}"
            f" {int(-(-out // RECORD)):<8} {' '.join(f'{int(max(0, time)):<12}' for time in times).rstrip()}\n"
        )
    return head + "".join(lines)


def meminfo(result: Result) -> str | None:
    """Print the lines `Dirty` and `Writeback` of /proc/meminfo once for each interval."""
    table = result.page_cache
    if not len(table):
        return None
    rows = list(zip(table["dirty_bytes"], table["under_way_bytes"], strict=True))
    step = max(1, -(-len(rows) // MOST_SAMPLES))
    return "".join(
        f"Dirty:          {int(a / KIB):>9} kB\nWriteback:      {int(b / KIB):>9} kB\n" for a, b in rows[::step]
    )


EVENTS = (
    "EventID: 2176  The controller battery Learn cycle has started.",
    "EventID: 2198  The controller battery is discharging.",
    "EventID: 2278  The controller battery charge level is below a normal threshold.",
    "EventID: 2188  The controller write policy has been changed to Write Through.",
    "EventID: 2177  The controller battery Learn cycle has completed.",
    "EventID: 2189  The controller write policy has been changed to Write Back.",
    "EventID: 2279  The controller battery charge level is operating within normal limits.",
)
"""The lines of a RAID controller's log, by their number in the table `learn_cycles`."""


def controller_log(result: Result, at_s: float = 12 * 3600 + 55 * 60 + 31) -> str | None:
    """Print the RAID controller's alerts as a server's management software logs them."""
    table = result.learn_cycles
    if not len(table):
        return None
    lines = []
    for time, line in zip(table["time_ns"], table["line"], strict=True):
        second = int(at_s + time / NS)
        clock = f"{second % 86400 // 3600:02}:{second % 3600 // 60:02}:{second % 60:02}"
        day = 23 + second // 86400
        program = f"Nov {day} {clock} db1 Server Administrator: Storage Service"
        lines.append(f"{program} {EVENTS[int(line)]}:  Battery 0 Controller 0\n")
    return "".join(lines)


COUNTERS = (
    ("TcpOutSegs", "network.packets"),
    ("TcpRetransSegs", "network.resent_packets"),
    ("TcpExtTCPTimeouts", "network.timeouts"),
)


def nstat(metrics: Mapping[str, float]) -> str | None:
    """Print nstat's counters of TCP; None for a network that is not simulated in packets."""
    if "network.packets" not in metrics:
        return None
    lines = (f"{name:<32}{int(metrics[metric]):<18} 0.0\n" for name, metric in COUNTERS)
    return "#kernel\n" + "".join(lines)


QUANTILES = (("0.5", "p50"), ("0.9", "p90"), ("0.95", "p95"), ("0.99", "p99"), ("0.999", "p99_9"))


def fanout_summary(metrics: Mapping[str, float]) -> str | None:
    """Print the times of requests and of the servers' answers as a Prometheus summary."""
    if "fanout_leaf_latency_p99_ms" not in metrics:
        return None
    text = ""
    for name, of in (("search_request_seconds", "fanout_latency"), ("search_leaf_seconds", "fanout_leaf_latency")):
        text += f"# TYPE {name} summary\n"
        text += "".join(
            f'{name}{{quantile="{quantile}"}} {metrics[f"{of}_{metric}_ms"] / 1e3:.6g}\n'
            for quantile, metric in QUANTILES
        )
    return text


def zpool_status(result: Result, scenario: Mapping[str, Any]) -> str | None:
    """Print `zpool status` of a pool that replaces a device; None without a rebuild."""
    metrics = result.metrics
    failed = (scenario.get("layout") or {}).get("failed")
    if not failed or "rebuild_bytes" not in metrics:
        return None
    rate, moved = metrics["rebuild_mib_per_s"] * MIB, metrics["rebuild_bytes"]
    size = max(float(moved), *(float((of.get("lun") or {}).get("capacity") or 0) for of in scenario["devices"]))
    left = int((size - moved) / max(rate, 1.0))
    names = list(result.devices)
    rows = "".join(
        f"\t    {name:<12} ONLINE       0     0     0{'  (resilvering)' if place in failed else ''}\n"
        for place, name in enumerate(names)
    )
    clock = f"{left // 86400} days {left % 86400 // 3600:02}:{left % 3600 // 60:02}:{left % 60:02}"
    lines = (
        "  pool: tank",
        " state: DEGRADED",
        "status: One or more devices is currently being resilvered.",
        "action: Wait for the resilver to complete.",
        "  scan: resilver in progress since Tue Jun 23 10:04:11 2026",
        f"\t{short(moved)} scanned at {short(rate)}/s, {short(moved)} issued at {short(rate)}/s, {short(size)} total",
        f"\t{short(moved)} resilvered, {100 * moved / size:.2f}% done, {clock} to go",
        "config:",
        "",
        "\tNAME           STATE     READ WRITE CKSUM",
        "\ttank           DEGRADED     0     0     0",
        "\t  raidz1-0     DEGRADED     0     0     0",
        rows,
        "errors: No known data errors",
        "",
    )
    return "\n".join(lines)
