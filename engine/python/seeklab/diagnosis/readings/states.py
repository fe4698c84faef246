"""States of hosts, drives, arrays and clusters: full, failed, waiting, degraded."""

from __future__ import annotations

from statistics import fmean, median
from typing import TYPE_CHECKING

from seeklab.bring.block import Value
from seeklab.diagnosis.reading import Reading, Strength, count, rate, size
from seeklab.diagnosis.reading import time as in_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from seeklab.bring.block import Block

FULL, THIN_FULL, OSD_FULL = 0.95, 0.9, 0.85
SWAPPED, SHORT = 0.5, 0.05
"""Memory is short if this share of the swap space is used and this share of memory is available."""
EMPTY_PERCENT, PLENTY_PERCENT = 2.0, 30.0
FEW, MIN_CALLS = 3, 3
MIN_PEERS, SLOWER = 3, 1.7
SLOWEST_MS = 1000.0
WAITS = {
    "journal-waits": (
        "jbd2_log_wait_commit",
        "jbd2_journal_commit_transaction",
        "jbd2_complete_transaction",
        "xfs_log_force",
        "xlog_wait",
        "ext4_sync_file",
        "xfs_file_fsync",
        "zil_commit",
        "blkdev_issue_flush",
        "do_fsync",
    ),
    "nfs-waits": ("rpc_wait_bit_killable", "nfs_wait_bit_killable", "nfs_wait_on_request", "nfs4_", "__rpc_execute"),
    "dirty-limit-waits": ("balance_dirty_pages", "io_schedule_timeout", "dmu_tx_wait", "dmu_tx_delay", "txg_wait_open"),
    "lock-waits": ("rwsem_down_", "__mutex_lock", "mutex_lock", "xfs_ilock", "down_write"),
    "queue-waits": ("blk_mq_get_tag", "get_request", "wbt_wait", "rq_qos_wait", "ioc_rqos_throttle", "blk_throtl"),
    "swap-waits": ("swap_readpage", "do_swap_page", "shrink_node", "try_to_free_pages", "swap_in"),
}
"""Functions of Linux where a thread waits, by the thing that it waits for."""
SCANS = ("md_do_sync", "dsl_scan", "btrfs_scrub")
SAID = {
    "journal-waits": "until its writes are durable (a journal's commit or a flush)",
    "nfs-waits": "for an NFS server",
    "dirty-limit-waits": "because too much is dirty: the writer is held back",
    "lock-waits": "for a lock in a file system",
    "queue-waits": "for a place in a queue",
    "swap-waits": "for memory",
}


def read(blocks: Sequence[Block]) -> Iterator[Reading]:
    """Yield the readings of states."""
    for block in blocks:
        if says := STATES.get(block.tool):
            yield from says([record for record in block.records if isinstance(record, Value)])


def _numbers(values: Sequence[Value], name: str) -> list[tuple[str, float]]:
    return [(value.subject, value.value) for value in values if value.name == name and isinstance(value.value, float)]


def _words(name: str, subject: str, sentence: str, **values: float) -> Reading:
    return Reading(name, subject, sentence, "", Strength.WORDS, values)


def _cluster(values: Sequence[Value]) -> Iterator[Reading]:
    slow = sum(number for _, number in _numbers(values, "slow operations"))
    slow += sum(number for _, number in _numbers(values, "blocked"))
    oldest = max((number for _, number in _numbers(values, "oldest")), default=0.0)
    daemons = {name for name, _ in (*_numbers(values, "slow"), *_numbers(values, "blocked")) if name != "cluster"}
    if slow:
        age = f", the oldest for {count(oldest)} s or more" if oldest else ""
        of = f", of {len(daemons)} OSDs" if daemons else ""
        yield _words(
            "ceph-slow-requests",
            "ceph",
            f"The cluster says that {count(slow)} operations are slow{age}{of}.",
            lines=slow,
            max_ms=1e3 * oldest,
        )
        monitors = sorted({name for name, _ in _numbers(values, "slow monitor")})
        if monitors and not daemons:
            yield _words(
                "slow-monitors",
                ", ".join(monitors),
                f"All slow operations are of monitors ({', '.join(monitors)}): their own database, the network between "
                "them or a message that they cannot answer, not the devices of OSDs.",
                monitors=len(monitors),
            )
        if 0 < len(daemons) < FEW:
            yield _words(
                "few-slow-osds",
                ", ".join(sorted(daemons)),
                f"All slow operations are at {', '.join(sorted(daemons))}: compare its device with the others.",
                osds=len(daemons),
            )
    if devices := _numbers(values, "slow devices"):
        yield _words(
            "bluestore-slow",
            "ceph",
            f"{count(devices[0][1])} OSDs report slow operations of their own device.",
            osds=devices[0][1],
        )
    speed = sum(number for _, number in _numbers(values, "recovery rate"))
    active = {word: sum(number for _, number in _numbers(values, f"groups {word}")) for word in ("recover", "backfill")}
    scrubs = sum(number for word in ("deep", "scrub") for _, number in _numbers(values, f"groups {word}"))
    if speed or sum(active.values()) or (slow and scrubs):
        what = "recovery" if speed or sum(active.values()) else "scrub"
        groups = sum(active.values()) or scrubs
        yield _words(
            "scan-running",
            "ceph",
            f"The cluster runs a {what}{f' at {rate(speed)}' if speed else ''} ({count(groups)} placement groups at "
            "this moment), which shares the devices with everything else.",
            bytes_per_s=speed,
            is_resilver=0.0,
        )
    for _, number in _numbers(values, "full"):
        yield _words("pool-full", "ceph", f"The cluster says that {count(number)} OSDs are nearly full.", share=0.85)
    for _, number in _numbers(values, "read errors"):
        yield _words("pool-errors", "ceph", f"The cluster counts {count(number)} read or scrub errors.")


def _osds(values: Sequence[Value]) -> Iterator[Reading]:
    full = [(name, share) for name, share in _numbers(values, "used") if share >= OSD_FULL]
    if full:
        name, share = max(full, key=lambda pair: pair[1])
        yield _words("pool-full", name, f"{name} is {100 * share:.0f}% full.", share=share)


def _traced(values: Sequence[Value]) -> Iterator[Reading]:
    """Read how long syncs take, from strace or perf trace."""
    times = [
        number
        for subject, number in (*_numbers(values, "ms"), *_numbers(values, "mean ms"))
        if "sync" in subject and "file_range" not in subject
    ]
    if times:
        ats = [number for subject, number in _numbers(values, "at") if "sync" in subject]
        longest = len(times) >= MIN_CALLS and (times == sorted(times) or times == sorted(times, reverse=True))
        share = sum(times) / 1e3 / (max(ats) - min(ats)) if len(ats) > 1 and max(ats) > min(ats) else 0.0
        yield Reading(
            "traced-syncs",
            "fsync",
            f"{len(times):,} traced {'sync takes' if len(times) == 1 else 'syncs take'} {in_time(min(times))} to "
            f"{in_time(max(times))}, {in_time(median(times))} in the middle."
            + (" They are sorted, so they may be the longest of many." if longest else ""),
            f"{count(sum(times))} ms in {count(max(ats) - min(ats))} s" if share else "",
            values={"ms": median(times), "count": len(times), "share": share, "is_sorted": float(longest)},
        )
    counts = {subject.removeprefix("calls "): number for subject, number in _numbers(values, "count")}
    syncs = sum(number for name, number in counts.items() if name in ("fsync", "fdatasync", "msync"))
    writes = sum(number for name, number in counts.items() if "write" in name)
    if syncs:
        yield Reading(
            "syncs-per-write",
            "fsync",
            f"The program syncs {count(syncs)} times for {count(writes)} writes."
            if writes
            else f"The program syncs {count(syncs)} times.",
            f"{count(writes)} / {count(syncs)} = {count(writes / syncs)}" if writes else "",
            values={"syncs": syncs, "writes_per_sync": writes / syncs},
        )


def _slow_calls(values: Sequence[Value]) -> Iterator[Reading]:
    for kind in ("sync", "write", "read", "call"):
        times = [number for _, number in _numbers(values, f"{kind} ms") if number > 0.0]
        if not times:
            continue
        yield Reading(
            "slow-calls",
            kind,
            f"{len(times):,} {kind}s of {in_time(min(times))} to {in_time(max(times))}, {in_time(median(times))} in "
            "the middle. The tool prints calls above its threshold, so no mean of all calls follows.",
            values={"ms": median(times), "max_ms": max(times), "count": len(times), "is_sync": float(kind == "sync")},
        )


def _memory(values: Sequence[Value]) -> Iterator[Reading]:
    of = {(value.subject, value.name): value.value for value in values if isinstance(value.value, float)}
    total, used = of.get(("swap", "total"), 0.0), of.get(("swap", "used"), 0.0)
    memory, available = of.get(("memory", "total"), 0.0), of.get(("memory", "available"))
    if ("meminfo", "MemTotal") in of:
        memory, available = of[("meminfo", "MemTotal")], of.get(("meminfo", "MemAvailable"))
        total = of.get(("meminfo", "SwapTotal"), 0.0)
        used = total - of.get(("meminfo", "SwapFree"), total)
    if memory and available is not None and available < SHORT * memory and (not total or used > SWAPPED * total):
        is_recorded = ("swap", "total") in of or ("meminfo", "SwapTotal") in of
        swap = ", and the host has no swap space" if is_recorded else ""
        swap = f", and {100 * used / total:.0f}% of the swap space is used" if total else swap
        yield Reading(
            "memory-short",
            "memory",
            f"{100 * available / memory:.0f}% of the memory is available{swap}.",
            f"{count(available)} / {count(memory)} = {available / memory:.3f}",
            values={"available": available / memory, "swapped": used / total if total else 0.0},
        )
    dirty = of.get(("meminfo", "Dirty"), 0.0) + of.get(("meminfo", "Writeback"), 0.0)
    if dirty > 1e9:
        yield Reading(
            "much-dirty",
            "memory",
            f"{size(dirty)} of written data are not on the devices yet: a sync may wait for them.",
            values={"bytes": dirty},
            strength=Strength.CONTEXT,
        )


def _file_systems(values: Sequence[Value]) -> Iterator[Reading]:
    for what, word in (("used", "full"), ("inodes", "out of inodes")):
        for name, share in _numbers(values, what):
            if share >= FULL:
                yield _words("file-system-full", name, f"The {name} is {100 * share:.0f}% {word}.", share=share)


def _volumes(values: Sequence[Value]) -> Iterator[Reading]:
    for name in ("data share", "metadata share", "snapshot share"):
        for subject, share in _numbers(values, name):
            if share >= THIN_FULL and (name != "data share" or _has_metadata(values, subject)):
                yield _words("thin-pool-full", subject, f"The {name} of {subject} is {100 * share:.0f}%.", share=share)


def _has_metadata(values: Sequence[Value], subject: str) -> bool:
    """Return whether a volume is a pool; a thin volume may be full without harm."""
    return any(value.subject == subject and value.name == "metadata share" for value in values)


def _waiting(values: Sequence[Value]) -> Iterator[Reading]:
    """Read where threads wait in the kernel: wchan of ps, or a stack."""
    blocked = [value.subject.removeprefix("process ") for value in values if value.name == "process state"]
    functions = [str(value.value) for value in values if value.name in ("waits in", "function")]
    functions += [name for name in blocked if name.startswith("jbd2")]
    if blocked:
        names = ", ".join(dict.fromkeys(blocked[:6]))
        yield _words(
            "blocked-tasks",
            "host",
            f"{len(blocked)} {'task waits' if len(blocked) == 1 else 'tasks wait'} uninterruptibly (state D): {names}.",
            tasks=len(blocked),
        )
    if scan := next((each for each in (*functions, *blocked) if each.startswith(SCANS) or "_resync" in each), None):
        yield _words(
            "scan-running",
            scan,
            f"A thread checks or rebuilds an array ({scan}), which shares the disks with everything else.",
            bytes_per_s=0.0,
            is_resilver=0.0,
        )
    for name, known in WAITS.items():
        found = next((each for each in functions if each.startswith(known)), None)
        if found is None and name == "journal-waits":
            found = next((each for each in functions if each.startswith("jbd2")), None)
        if found:
            yield _words(name, found, f"A thread waits {SAID[name]}: it is in {found}.", threads=len(functions))


def _array(values: Sequence[Value]) -> Iterator[Reading]:
    for value in values:
        if value.name == "running":
            yield _words(
                "scan-running",
                value.subject,
                f"{value.subject} runs a {value.value}, which shares the disks with everything else.",
                bytes_per_s=0.0,
                is_resilver=float(value.value in ("recovery", "resync")),
            )
        elif value.name == "State" and "degraded" in str(value.value):
            yield _words("pool-state", value.subject, f"{value.subject} is {value.value}.")


def _paths(values: Sequence[Value]) -> Iterator[Reading]:
    paths = _numbers(values, "path failed")
    failed = sum(number for _, number in paths)
    if failed:
        yield _words(
            "path-failed",
            paths[0][0],
            f"{count(failed)} of {len(paths)} paths to the storage have failed.",
            failed=failed,
            paths=len(paths),
        )


def _drives(values: Sequence[Value]) -> Iterator[Reading]:
    """Read hdparm: a write cache that is off, and a drive that reads far slower than its peers."""
    yield from _cache_switch(values)
    speeds: dict[str, float] = {}
    for value in values:
        if value.name in ("buffered disk reads", "O_DIRECT disk reads") and isinstance(value.value, float):
            speeds[value.subject.removeprefix("drive ")] = value.value
    for name, speed in speeds.items():
        yield Reading(
            "reads-in-sequence", name, f"{name} reads {rate(speed)} in sequence.", values={"bytes_per_s": speed}
        )
    if len(speeds) >= MIN_PEERS:
        slow = min(speeds, key=lambda name: speeds[name])
        usual = median(speed for name, speed in speeds.items() if name != slow)
        if speeds[slow] > 0 and usual > SLOWER * speeds[slow]:
            yield Reading(
                "slower-than-peers",
                slow,
                f"{slow} reads {rate(speeds[slow])} in sequence where its peers read {rate(usual)}.",
                f"{rate(usual)} / {rate(speeds[slow])} = {count(usual / speeds[slow])}",
                Strength.PEERS,
                {"ratio": usual / speeds[slow], "members": len(speeds)},
            )


def _volatile(values: Sequence[Value]) -> Iterator[Reading]:
    for value in values:
        if value.name == "vwc" and str(value.value).split(",")[0] not in ("0", "0x0", "0.0"):
            yield _words("volatile-cache", "drive", "The drive has a volatile write cache, which each flush empties.")


def _cache_switch(values: Sequence[Value]) -> Iterator[Reading]:
    for value in values:
        if value.name == "write-caching" and value.value == "off":
            yield _words("drive-cache-off", value.subject, "The drive's write cache is off.")


def _counters(values: Sequence[Value]) -> Iterator[Reading]:
    """Read Windows' reliability counters of drives."""
    for name in ("ReadErrorsUncorrected", "WriteErrorsUncorrected"):
        for subject, number in _numbers(values, name):
            if number > 0:
                yield _words("smart-errors", subject, f"{subject} counts {count(number)} {name}.", count=number)
    slowest = [
        (number, subject, name)
        for name in ("ReadLatencyMax", "WriteLatencyMax", "FlushLatencyMax")
        for subject, number in _numbers(values, name)
    ]
    if slowest and max(slowest)[0] >= SLOWEST_MS:
        number, subject, name = max(slowest)
        yield Reading(
            "longest-since-boot",
            subject,
            f"The longest request of {subject} took {in_time(number)} ({name}); when, the counter does not say.",
            strength=Strength.CONTEXT,
            values={"max_ms": number},
        )


def _credits(values: Sequence[Value]) -> Iterator[Reading]:
    of = [number for value in values if isinstance(number := value.value, float) and "Balance" in value.subject]
    if not of:
        return
    name = values[0].subject.removeprefix("cloudwatch ")
    if min(of) <= EMPTY_PERCENT:
        yield _words("no-credits", name, f"{name} falls to {count(min(of))}%: no credits are left.", percent=min(of))
    elif min(of) >= PLENTY_PERCENT:
        yield _words("credits-left", name, f"{name} is {count(fmean(of))}%: the volume has credits.", percent=min(of))


def _innodb(values: Sequence[Value]) -> Iterator[Reading]:
    """Compare InnoDB's fsyncs with its writes, and read what is pending."""
    last = {value.name: value.value for value in values if isinstance(value.value, float)}
    writes, fsyncs = last.get("writes"), last.get("fsyncs")
    if writes is not None and fsyncs is not None:
        each = f": one for {count(writes / fsyncs)} writes" if writes and fsyncs else ""
        yield Reading(
            "innodb-rates",
            "innodb",
            f"InnoDB does {count(last.get('reads', 0.0))} reads/s, {count(writes)} writes/s and {count(fsyncs)} "
            f"fsyncs/s{each}.",
            strength=Strength.CONTEXT,
            values={"writes": writes, "fsyncs": fsyncs},
        )
    pending = last.get("log", 0.0) + last.get("pool", 0.0)
    if pending:
        yield _words(
            "innodb-pending",
            "innodb",
            f"InnoDB waits for {count(pending)} {'flush' if pending == 1 else 'flushes'} of its files.",
            pending=pending,
        )


STATES: Mapping[str, Callable[[Sequence[Value]], Iterator[Reading]]] = {
    "ceph-status": _cluster,
    "ceph-osd-df": _osds,
    "strace": _traced,
    "perf-trace": _traced,
    "free": _memory,
    "meminfo": _memory,
    "df": _file_systems,
    "lvs": _volumes,
    "ps": _waiting,
    "stack": _waiting,
    "mdadm": _array,
    "btrfs": _array,
    "multipath": _paths,
    "hdparm": _drives,
    "nvme-id-ctrl": _volatile,
    "storage-reliability": _counters,
    "cloudwatch": _credits,
    "innodb-status": _innodb,
    **dict.fromkeys(
        (
            *("slower", "fsyncsnoop", "syncsnoop", "iosnoop", "fileslower", "biosnoop", "dbslower", "mysqld_qslower"),
            *(f"{name}slower" for name in ("ext4", "xfs", "btrfs", "zfs", "nfs", "f2fs")),
        ),
        _slow_calls,
    ),
}
"""The readings of reports of state, by tool."""
