"""The host: processors, memory, pressure, and NFS clients."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from seeklab.bring.block import Sample, Value
from seeklab.diagnosis.intervals import devices_of, tables
from seeklab.diagnosis.reading import Reading, Strength, count, rate
from seeklab.diagnosis.reading import time as in_time
from seeklab.diagnosis.readings.jobs_of import in_flight, is_full, jobs_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from seeklab.bring.block import Block

SPINNING = 80.0
FULL_THREAD, MIN_BLOCKED, MOSTLY = 95.0, 2.0, 40.0
IO_THREADS = ("iothread", "IO", "vhost", "nfsd", "loop", "drbd", "bstore", "tp_osd", "msgr", "reactor")
"""Threads through which requests of a guest, a client or a daemon pass."""
MANY = 8
NFS_SLOW_MS = 5.0
MIN_MOVED, IO_SHARE = 1e5, 25.0
ARC_THREADS = ("arc_prune", "arc_reclaim", "arc_evict", "dbu_evict")
CPU_THREADS = ("z_wr_iss", "z_rd_int", "z_wr_int", "kcryptd", "dmcrypt", "kworker")
WORK = {
    "compression": ("longest_match", "deflate", "zstd", "lz4", "gzip", "ZSTD", "LZ4", "inflate"),
    "encryption": ("aes", "ccm", "gcm", "sha", "crypt"),
    "cross-calls": ("call_other_cores", "answer_a_call", "flush_tlb", "smp_call_function", "tlb_flush", "unmap_vmap"),
    "rings": ("take_over_a_ring", "ring_take", "tx_lock", "xmit_lock"),
}
BETWEEN_CORES = {
    "cross-calls": "interrupt other cores and wait for their answers, which moves no byte",
    "rings": "take over a queue of the network card from another core, which moves no byte",
}
"""Work that is pure loss: a small share of it is too much already."""
LIMIT, LOSS = 30.0, 10.0
"""The share of the samples that makes a kind of work the limit."""


def read(blocks: Sequence[Block]) -> Iterator[Reading]:
    """Yield the readings of the host."""
    values = Values(record for block in blocks for record in block.records if isinstance(record, Value))
    yield from _swap(values)
    yield from _no_progress(values)
    yield from _processes(values)
    yield from _cores(values)
    yield from _functions(values)
    yield from _thread(blocks, values)
    yield from _pressure(blocks, values)
    yield from _nfs(values)
    yield from _nfs_intervals(values)
    yield from _delays(values)
    yield from _writers(values)
    yield from _osds(values)
    yield from _members(values)


class Values(list[Value]):
    """All values, with an index of the numbers by subject and name."""

    def __init__(self, values: Iterable[Value]) -> None:
        """Index the values."""
        super().__init__(values)
        self.by_subject: dict[str, dict[str, list[float]]] = {}
        for value in self:
            if isinstance(value.value, float):
                self.by_subject.setdefault(value.subject, {}).setdefault(value.name, []).append(value.value)


def _of(values: Values, subject: str, name: str) -> list[float]:
    return values.by_subject.get(subject, {}).get(name, [])


def _named(values: Values, subject: str) -> dict[str, float]:
    """Return the mean of each name of a subject."""
    return {name: fmean(of) for name, of in values.by_subject.get(subject, {}).items()}


def _swap(values: Values) -> Iterator[Reading]:
    moved = [fmean(of) for name in ("si", "so") if (of := _of(values, "host", name))]
    if moved and sum(moved) > 50:
        yield Reading(
            "swapping",
            "host",
            f"The host swaps {count(sum(moved))} kB/s: memory is short, and processes wait for the swap device.",
            "",
            Strength.RESOURCE,
            {"kb_per_s": sum(moved)},
        )


def _no_progress(values: Values) -> Iterator[Reading]:
    """Find processes that wait while no block moves, in every report of vmstat."""
    blocked, read_, written = (_of(values, "host", name) for name in ("b", "bi", "bo"))
    waits = _of(values, "host", "iowait")
    if len(blocked) > 1 and min(blocked) >= MIN_BLOCKED and waits and min(waits) > MOSTLY and not any(read_ + written):
        yield Reading(
            "no-block-moves",
            "host",
            f"{count(min(blocked))} or more processes wait for I/O, and in {len(blocked)} reports not one block "
            "is read or written.",
            "",
            Strength.IMPOSSIBLE,
            {"blocked": min(blocked), "reports": len(blocked)},
        )


def _processes(values: Values) -> Iterator[Reading]:
    busy = {
        value.subject.removeprefix("process "): value.value
        for value in values
        if value.subject.startswith("process ")
        and value.name == "cpu"
        and isinstance(value.value, float)
        and value.value >= SPINNING
    }
    for name, share in busy.items():
        if name.startswith(ARC_THREADS):
            yield Reading(
                "arc-threads-spin",
                name,
                f"{name} takes {share:.0f}% of a core: the ARC tries to free what it cannot.",
                "",
                values={"cpu": share},
            )
        elif name.startswith(IO_THREADS) and share >= FULL_THREAD:
            yield Reading(
                "io-thread-alone",
                name,
                f"The thread {name} takes {share:.0f}% of a core: all that passes through it waits for its turn.",
                values={"cpu": share},
            )
        elif name.startswith(CPU_THREADS):
            yield Reading(
                "io-thread-full",
                name,
                f"{name} takes {share:.0f}% of a core: work of the I/O path is limited by the processor.",
                "",
                values={"cpu": share},
            )
        elif name.startswith("kswapd"):
            yield Reading(
                "swapping", name, f"{name} takes {share:.0f}% of a core: memory is short.", "", values={"kb_per_s": 0.0}
            )
    system = _of(values, "host", "system")
    if system and fmean(system) > 60:
        yield Reading(
            "system-time",
            "host",
            f"{fmean(system):.0f}% of the processor time is the kernel's.",
            "",
            values={"system": fmean(system)},
        )


def _cores(values: Values) -> Iterator[Reading]:
    """Find one core that is full while the others have time left."""
    shares: dict[tuple[str, str], list[float]] = {}
    for value in values:
        if (
            value.subject.startswith("cpu ")
            and value.name in ("user", "system", "softirq", "irq")
            and isinstance(value.value, float)
        ):
            shares.setdefault((value.subject, value.name), []).append(value.value)
    cores: dict[str, float] = {}
    for (core, _), of in shares.items():
        cores[core] = cores.get(core, 0.0) + fmean(of)
    idle = _of(values, "host", "idle")
    full = [name for name, share in cores.items() if share > 95]
    if len(full) == 1 and idle and fmean(idle) > 30:
        yield Reading(
            "one-core-full",
            full[0],
            f"{full[0]} is full while {fmean(idle):.0f}% of all processor time is idle: one thread limits the work.",
            f"{cores[full[0]]:.0f}% of one core",
            values={"share": cores[full[0]] / 100},
        )


def _thread(blocks: Sequence[Block], values: Values) -> Iterator[Reading]:
    """Find one thread that has all the samples while many requests wait and no device is busy."""
    threads: dict[str, float] = {}
    for value in values:
        if value.subject.startswith("thread ") and value.name == "samples" and isinstance(value.value, float):
            threads[value.subject] = threads.get(value.subject, 0.0) + value.value
    waiting = [row for row in jobs_of(blocks) if is_full(row) and in_flight(row) >= MANY]
    devices = [device for block in tables(blocks) for device in devices_of(block)]
    if len(threads) != 1 or not waiting or any((device.busy or 0.0) > 0.5 for device in devices):
        return
    (name,) = threads
    yield Reading(
        "one-thread",
        name,
        f"All samples of the processor are in one thread ({name.removeprefix('thread ')}), while "
        f"{count(in_flight(waiting[0]))} requests of {waiting[0].job} wait: each of them passes through this thread.",
        f"1 s / {count(waiting[0].per_s or 0.0)} = {in_time(1e3 / (waiting[0].per_s or 1.0))} for each request",
        values={"waiting": in_flight(waiting[0])},
    )


def _functions(values: Values) -> Iterator[Reading]:
    for what, names in WORK.items():
        share = sum(
            value.value
            for value in values
            if value.subject.startswith("function ")
            and isinstance(value.value, float)
            and any(name in value.subject for name in names)
        )
        if what in BETWEEN_CORES:
            if share > LOSS:
                yield Reading(
                    f"cpu-{what}",
                    "kernel",
                    f"{share:.0f}% of the samples {BETWEEN_CORES[what]}.",
                    "",
                    Strength.WORDS,
                    {"share": share / 100},
                )
        elif share > LIMIT:
            yield Reading(
                f"cpu-{what}",
                "kernel",
                f"{share:.0f}% of the samples are in functions of {what}: the processor is the limit, not the devices.",
                "",
                Strength.WORDS,
                {"share": share / 100},
            )


def _pressure(blocks: Sequence[Block], values: Values) -> Iterator[Reading]:
    """Compare waiting, as the kernel accounts it, with what the devices do."""
    pressures = _of(values, "pressure io", "some avg10")
    waits = _of(values, "host", "iowait")
    cores = [
        value
        for value in values
        if value.subject.startswith("cpu ") and value.name == "iowait" and isinstance(value.value, float)
    ]
    tables_ = list(tables(blocks))
    devices = [device for block in tables_ for device in devices_of(block)]
    iowaits = [
        sample.cpu["iowait"]
        for block in tables_
        for sample in block.records
        if isinstance(sample, Sample) and "iowait" in sample.cpu
    ]
    waiting = max([*pressures, *(float(core.value) for core in cores if isinstance(core.value, float))], default=0.0)
    if waiting > 80 and devices and max((device.busy or 0.0) for device in devices) < 0.3:
        most = max(devices, key=lambda device: device.busy or 0.0)
        yield Reading(
            "waiting-without-io",
            "host",
            f"The kernel accounts {waiting:.0f}% of the time as waiting for I/O, but no device is busy for more than "
            f"{100 * (most.busy or 0):.1f}% of it. This is an effect of accounting: threads of io_uring that wait for "
            "work count as waiting for I/O.",
            f"{waiting:.0f}% against {100 * (most.busy or 0):.1f}%",
            Strength.IMPOSSIBLE,
            {"pressure": waiting, "busy": most.busy or 0.0},
        )
    elif pressures and max(pressures) > 10:
        yield Reading(
            "io-pressure",
            "host",
            f"Some task waits for I/O during {max(pressures):.0f}% of the time (PSI).",
            "",
            Strength.CONTEXT,
            {"pressure": max(pressures)},
        )
    elif (waits or iowaits) and fmean(waits or iowaits) > 20:
        yield Reading(
            "iowait",
            "host",
            f"{fmean(waits or iowaits):.0f}% of the processor time is waiting for I/O.",
            "",
            Strength.CONTEXT,
            {"iowait": fmean(waits or iowaits)},
        )


def _nfs(values: Values) -> Iterator[Reading]:
    mounts = dict.fromkeys(value.subject for value in values if value.name.endswith(" retransmissions"))
    for mount in mounts:
        for way in ("READ", "WRITE"):
            calls, again = _of(values, mount, f"{way} count"), _of(values, mount, f"{way} retransmissions")
            if calls and again and calls[0] > 100 and again[0] > 0.005 * calls[0]:
                yield Reading(
                    "nfs-retransmissions",
                    mount,
                    f"{count(again[0])} of {count(calls[0])} {way}s on {mount} were sent again "
                    f"({100 * again[0] / calls[0]:.1f}%).",
                    f"{count(again[0])} / {count(calls[0])} = {again[0] / calls[0]:.3f}",
                    values={"share": again[0] / calls[0]},
                )
            queue, wire = _of(values, mount, f"{way} queue"), _of(values, mount, f"{way} wire")
            if queue and wire and max(queue[0], wire[0]) > 1:
                where = "in the client, before it is sent" if queue[0] > wire[0] else "at the server and on the network"
                yield Reading(
                    "nfs-wait",
                    mount,
                    f"A {way} on {mount} waits {in_time(queue[0])} in the client and {in_time(wire[0])} for the "
                    f"server: most of its time is {where}.",
                    f"{in_time(queue[0])} + {in_time(wire[0])}",
                    values={"queue_ms": queue[0], "wire_ms": wire[0], "is_write": float(way == "WRITE")},
                )
    calls, again = _of(values, "nfs", "calls"), _of(values, "nfs", "retrans")
    if calls and again and calls[0] > 100 and again[0] > 0.005 * calls[0]:
        yield Reading(
            "nfs-retransmissions",
            "nfs",
            f"{count(again[0])} of {count(calls[0])} calls were sent again ({100 * again[0] / calls[0]:.1f}%).",
            f"{count(again[0])} / {count(calls[0])} = {again[0] / calls[0]:.3f}",
            values={"share": again[0] / calls[0]},
        )


def _nfs_intervals(values: Values) -> Iterator[Reading]:
    """Read nfsiostat: the time on the wire and at the server (RTT), and that plus the wait in the client (exe)."""
    for mount in dict.fromkeys(value.subject for value in values if value.name.endswith("avg RTT (ms)")):
        of = _after_first(values.by_subject.get(mount, {}))
        for way in ("read", "write"):
            rate_, wire, whole = (of.get(f"{way} {name}") for name in ("ops/s", "avg RTT (ms)", "avg exe (ms)"))
            if not rate_ or wire is None or whole is None:
                continue
            queue = max(0.0, whole - wire)
            yield Reading(
                "nfs-use",
                mount,
                f"{mount}: {count(rate_)} {way}s/s, {in_time(wire)} on the network and at the server, "
                f"{in_time(queue)} in the "
                "client.",
                f"{in_time(whole)} - {in_time(wire)} = {in_time(queue)}",
                values={"per_s": rate_, "wire_ms": wire, "queue_ms": queue},
            )
            if max(queue, wire) > NFS_SLOW_MS:
                yield Reading(
                    "nfs-wait",
                    mount,
                    f"Most of the time of a {way} on {mount} is "
                    f"{'in the client, before it is sent' if queue > wire else 'at the server and on the network'}.",
                    f"{in_time(queue)} + {in_time(wire)}",
                    values={"queue_ms": queue, "wire_ms": wire, "is_write": float(way == "write")},
                )


def _after_first(found: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Return the mean of each name without the first report, which counts from the mount on, if there are more."""
    reports = max((len(of) for name, of in found.items() if name.endswith("avg RTT (ms)")), default=0)
    return {name: fmean(of[reports > 1 :]) for name, of in found.items() if len(of) > (reports > 1)}


def _delays(values: Values) -> Iterator[Reading]:
    """Read vfsstat's delays by the I/O throttle of zones: delayed operations per second, and their mean delay in us."""
    for zone in dict.fromkeys(value.subject for value in values if value.name == "del_t"):
        of = _named(values, zone)
        total = of.get("r/s", 0.0) + of.get("w/s", 0.0)
        if total < 1 or of.get("d/s", 0.0) < 0.2 * total:
            continue
        share = of["d/s"] * of["del_t"] / 1e6
        yield Reading(
            "zone-throttled",
            zone,
            f"The I/O throttle delays {count(of['d/s'])} of {count(total)} operations per second of the {zone}, by "
            f"{in_time(of['del_t'] / 1e3)} each: one thread would spend {100 * min(1.0, share):.0f}% of its time in "
            "it.",
            f"{count(of['d/s'])}/s x {in_time(of['del_t'] / 1e3)} = {count(share)}",
            Strength.WORDS,
            {"share": share, "delay_ms": of["del_t"] / 1e3},
        )


def _writers(values: Values) -> Iterator[Reading]:
    """Name the process that moves most bytes, the one that waits most, and the times of biotop."""
    for value in values:
        if value.name == "io share" and isinstance(value.value, float) and value.value > IO_SHARE:
            name = value.subject.removeprefix("process ")
            yield Reading(
                "journal-waits" if name.startswith("jbd2") else "waiting-process",
                name,
                f"{name} waits for I/O during {value.value:.0f}% of the time.",
                "",
                Strength.CONTEXT,
                {"share": value.value / 100},
            )
    for subject in dict.fromkeys(value.subject for value in values if value.name == "AVGms"):
        of = _named(values, subject)
        yield Reading(
            "use",
            subject,
            f"{subject}: {count(of.get('I/O', 0.0))} requests of "
            f"{count(of.get('Kbytes', 0.0) / max(of.get('I/O', 1.0), 1.0))} "
            f"KiB in an interval, {in_time(of['AVGms'])} each.",
            values={"ios": of.get("I/O", 0.0), "ms": of["AVGms"]},
        )
    moved: dict[str, float] = {}
    for value in values:
        if (
            value.subject.startswith("process ")
            and value.name in ("reads", "writes")
            and isinstance(value.value, float)
        ):
            moved[value.subject] = max(moved.get(value.subject, 0.0), value.value)
    if moved and max(moved.values()) > MIN_MOVED:
        most = max(moved, key=lambda name: moved[name])
        yield Reading(
            "top-process",
            most.removeprefix("process "),
            f"{most.removeprefix('process ')} moves most bytes: {rate(moved[most])} in one direction.",
            "",
            Strength.CONTEXT,
            {"bytes_per_s": moved[most]},
        )


def _osds(values: Values) -> Iterator[Reading]:
    times = {
        value.subject: value.value
        for value in values
        if value.name == "commit_latency(ms)" and isinstance(value.value, float)
    }
    if times:
        yield Reading(
            "osd-commit",
            "ceph",
            f"{len(times)} OSDs commit in {in_time(min(times.values()))} to {in_time(max(times.values()))}.",
            values={"osds": len(times), "ms": fmean(times.values())},
        )
    if len(times) > 1:
        slow = max(times, key=lambda name: times[name])
        rest = sorted(time for name, time in times.items() if name != slow)
        usual = rest[len(rest) // 2]
        if times[slow] > 5 * max(usual, 1) and times[slow] > 30:
            yield Reading(
                "peers-differ",
                slow,
                f"{slow} takes {in_time(times[slow])} to commit, the others {in_time(usual)}.",
                f"{in_time(times[slow])} / {in_time(usual)} = {count(times[slow] / max(usual, 1e-3))}",
                Strength.PEERS,
                {"ratio": times[slow] / max(usual, 1.0), "load": 1.0, "ms": times[slow], "members": len(times)},
            )


def _members(values: Values) -> Iterator[Reading]:
    """Compare the devices of atop: busy, counts and times of an interval."""
    rows = {
        name: {field: numbers[-1] for field, numbers in of.items()}
        for name, of in values.by_subject.items()
        if "avio" in of
    }
    for name, row in sorted(rows.items()):
        total = row.get("read", 0.0) + row.get("write", 0.0)
        if total:
            yield Reading(
                "use",
                name,
                f"{name}: {count(total)} requests in the interval at {in_time(row['avio'])}, busy "
                f"{row.get('busy', 0.0):.0f}% of the time.",
                f"{count(total)} x {in_time(row['avio'])} = {count(total * row['avio'] / 1e3)} s",
                values={"ios": total, "service_ms": row["avio"], "busy": row.get("busy", 0.0) / 100},
            )
    if len(rows) > 1:
        slow = max(rows, key=lambda name: rows[name]["avio"])
        others = [rows[name] for name in rows if name != slow]
        usual = sorted(row["avio"] for row in others)[len(others) // 2]
        if rows[slow]["avio"] > 5 * usual and _requests(rows[slow]) < 2 * max(_requests(row) for row in others):
            yield Reading(
                "peers-differ",
                slow,
                f"{slow} takes {in_time(rows[slow]['avio'])} per request, its peers {in_time(usual)}, with no more "
                "load.",
                f"{in_time(rows[slow]['avio'])} / {in_time(usual)} = {count(rows[slow]['avio'] / usual)}",
                Strength.PEERS,
                {
                    "ratio": rows[slow]["avio"] / usual,
                    "load": _requests(rows[slow]) / max(1e-9, *(_requests(row) for row in others)),
                    "ms": rows[slow]["avio"],
                    "members": len(rows),
                },
            )
            return  # a slow device gets less of the load, so the load is not reported as well
        loaded = max(rows, key=lambda name: _requests(rows[name]))
        least = min(rows, key=lambda name: _requests(rows[name]))
        if (
            _requests(rows[loaded]) > 3 * max(_requests(rows[least]), 1.0)
            and rows[loaded]["avio"] < 5 * rows[least]["avio"]
        ):
            yield Reading(
                "load-uneven",
                loaded,
                f"{loaded} does {count(_requests(rows[loaded]))} requests in the interval, {least} "
                f"{count(_requests(rows[least]))}.",
                f"{count(_requests(rows[loaded]))} / {count(_requests(rows[least]))}",
                Strength.PEERS,
                {"ratio": _requests(rows[loaded]) / max(_requests(rows[least]), 1.0)},
            )


def _requests(row: Mapping[str, float]) -> float:
    return row.get("read", 0.0) + row.get("write", 0.0)
