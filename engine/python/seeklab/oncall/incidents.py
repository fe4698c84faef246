"""What may be wrong in a shift: incidents with drawn parameters, each with the change that mends it.

Each is a variant of a case that is kept in neutral words: jobs and devices lose their names, and every system has a
dashboard and a partition table. Which incident it is a player finds out from what tools print, or not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from seeklab._case import case as load_case
from seeklab._case import validate

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping, Sequence

MIB = 1 << 20
APP, OTHERS = "app", ("batch", "backup", "web")

Changes = dict[str, Any]


@dataclass(frozen=True)
class Incident:
    """Something that may be wrong, and how a system with it is drawn."""

    cause: str
    """The mechanism, in a sentence."""
    case: str
    variant: str
    jobs: tuple[str, ...]
    """Those that are kept; the first is the application that complains."""
    draw: Callable[[random.Random], Changes]
    metric: str
    """What the complaint is about, of the application."""
    more_is_better: bool
    fix: Callable[[Changes], Changes]
    """What mends it, by path, given what was drawn."""
    look: str
    """The one command that would have told it."""
    tells: str
    """What is to be seen in it."""
    at_most: float = 3
    """How many times last month's number a change may bring that sets something else than the remedy does. More is no
    recovery: a buffer that takes in the whole test, or a test of other data."""


def _each(*names: str, **values: object) -> Changes:
    """Set the same fields of several jobs."""
    return {f"jobs[{name}].{field}": value for name in names for field, value in values.items()}


def _odx(source: random.Random) -> Changes:
    return {"jobs[odx].size": "256MiB", "jobs[background].rate_iops": source.randrange(230, 300)}


def _chunks(source: random.Random) -> Changes:
    return {
        "network.round_trip": f"{source.randrange(10, 60)}ms",
        "jobs[server-side].size": f"{source.randrange(48, 96)}MiB",
    }


def _combined(source: random.Random) -> Changes:
    return {
        "controller.cores": source.choice((8, 12, 16)),
        "jobs[client].iodepth": source.choice((16, 32)),
        "jobs[client].size": "2GiB",
        "controller.read": f"{source.randrange(400, 900, 50)}us",
    }


def _full_stop(source: random.Random) -> Changes:
    rate = source.randrange(28, 48, 4)
    return {
        "zfs.write_limit": 5 * rate * MIB,
        "devices[pool].lun.rate": rate * MIB,
        "jobs[writers].numjobs": source.randrange(8, 17),
        "jobs[writers].ramp_time": "15s",
        "jobs[writers].runtime": "30s",
    }


def _every_write(source: random.Random) -> Changes:
    return {**_each("writers", numjobs=source.randrange(60, 121, 10), ramp_time="6s", runtime="14s")}


def _fence(source: random.Random) -> Changes:
    rate = source.randrange(90, 130, 5)
    load = source.randrange(60, 80) * rate * 10_000 // 8
    return {
        "devices[pool].lun.rate": f"{rate}MB",
        "jobs[writers].rate": load,
        **{path: value for job in ("writers", "readers") for path, value in _each(job, runtime="25s").items()},
        "zfs.async_write_min_active": 20,
        "zfs.async_write_max_active": 40,
    }


def _burst(source: random.Random) -> Changes:
    return {
        "zfs.dirty_data_max": source.randrange(160, 260, 20) * 10**6,
        "jobs[client].rate": source.randrange(11, 15) * 10**6,
    }


def _thread(source: random.Random) -> Changes:
    return {
        "controller.cores": source.randrange(10, 17),
        "controller.read": source.randrange(45_000, 90_000),
        "controller.dispatch": source.randrange(8_000, 14_000),
        "controller.only_spare_cores": False,
        "jobs[reads].iodepth": source.choice((64, 96, 128)),
    }


def _lock(source: random.Random) -> Changes:
    return {
        **_thread(source),
        "controller.shards": 4,
        "controller.lock": {"held_percent": source.randrange(65, 91), "exclusive": "always"},
    }


def _misaligned(source: random.Random) -> Changes:
    return {
        "partition.start": source.choice((512, 1536, 2560, 63 * 512)),
        "jobs[writer].size": "512MiB",
        "jobs[writer].loops": 1,
    }


def _window_of_time(source: random.Random) -> Changes:
    return {
        "jobs[burst].number_ios": source.randrange(350, 600),
        "devices[vdisk].lun.rate": source.randrange(350, 600) * MIB,
        "monitor.window": f"{source.choice((20, 30))}s",
    }


def _one_commit(source: random.Random) -> Changes:
    return {
        "jobs[threads].numjobs": source.choice((48, 64, 96)),
        "zfs.log.flush": f"{source.randrange(900, 1500, 50)}us",
        "zfs.log.slog_limit": "1MiB",
        "zfs.era": "zfs-2010",
    }


def _unmapped(source: random.Random) -> Changes:
    return {"server.cores": source.choice((16, 20, 24)), "jobs[clients].number_ios": source.randrange(30, 50)}


def _rings(source: random.Random) -> Changes:
    cores = source.choice((16, 18, 20))
    return {"server.cores": cores, "server.nic.rings": cores, "jobs[streams].numjobs": source.randrange(60, 81, 4)}


def _blanked(source: random.Random) -> Changes:
    return {"server.nic.blank": f"{source.randrange(180, 400, 20)}us", "jobs[ping].number_ios": 400}


def _bulk(source: random.Random) -> Changes:
    commit = source.randrange(300, 500, 20)
    return {
        "jobs[fsflush].number_ios": commit,
        "jobs[fsflush].fsync": commit,
        "devices[disk].count": source.choice((16, 20, 24)),
        "jobs[database].runtime": "6s",
    }


def _feed(source: random.Random) -> Changes:
    return {
        "zfs.record": "1MiB",
        "zfs.memory": "2GiB",
        "zfs.arc.size": "64MiB",
        "zfs.l2arc.device": {"name": "cache", "lun": {"capacity": "100GB", "rate": "400MB"}},
        "zfs.l2arc.write_max": f"{source.choice((1, 2))}MiB",
        "devices[shelf].lun.rate": f"{source.randrange(24, 40, 2)}MB",
        "record.interval": "1s",
        **_each("client", bs="1MiB", size="1GiB", iodepth=8, rate_iops=None, ramp_time="90s", runtime="20s"),
    }


def _groups(source: random.Random) -> Changes:
    return {
        "zfs.metadata": f"{source.randrange(4, 24, 4)}MiB",
        "jobs[readers].rate_iops": source.randrange(18, 26),
        **_each("writers", "readers", ramp_time="6s", runtime="24s"),
    }


def _far(source: random.Random) -> Changes:
    buffer = source.choice((32, 48, 64)) << 10
    return {
        "network.round_trip": f"{source.randrange(30, 160, 10)}ms",
        "network.client_buffer": buffer,
        "network.server_buffer": buffer * source.choice((1, 2)),
        "jobs[client].size": "16MiB",
    }


def _arrival(source: random.Random) -> Changes:
    return {
        "devices[disk].hdd.queue_policy": "fcfs",
        "jobs[reader].iodepth": source.choice((16, 24, 32)),
        "jobs[reader].runtime": "10s",
    }


def _data(source: random.Random) -> Changes:
    return {"jobs[writer].bs": source.choice(("32KiB", "64KiB", "128KiB")), "jobs[writer].number_ios": 400}


def _credits(source: random.Random) -> Changes:
    return {
        "devices[volume].lun.credits": {"base": source.choice((300, 450, 600)), "initial": 0},
        "jobs[app].iodepth": source.choice((16, 32)),
        "jobs[app].fluid": False,
        "jobs[app].runtime": "20s",
        "record.interval": "1s",
    }


def _ticks(source: random.Random) -> Changes:
    """Draw a fifth of the case's load on a fifth of its disks."""
    return {
        "jobs[writers].rate_iops": source.randrange(240, 257, 4),
        "jobs[writers].runtime": "12s",
        "devices[pool].lun.rate": 20 * MIB,
        "zfs.write_limit": "100MiB",
    }


def _ahead(source: random.Random) -> Changes:
    """Draw a tenth of the case's streams, on one disk and a memory that is as much smaller."""
    return {
        "zfs.memory": "2GiB",
        "devices[disk].count": 1,
        **_each("streams", numjobs=source.randrange(90, 131, 10), ramp_time="6s", runtime="8s"),
    }


def _narrow(source: random.Random) -> Changes:
    return {
        "zfs.max_active": 1,
        "zfs.dirty_data_max": "128MiB",
        "devices[lun].count": 8,
        "devices[lun].lun.varies.one_in_flight": source.choice(("1MB", "1500KB", "2MB")),
        "devices[lun].lun.varies.full_at": source.choice((4, 8)),
        **_each("writers", numjobs=16, rate=100_000_000, runtime="12s"),
        **_each("readers", numjobs=1, runtime="12s"),
    }


INCIDENTS: tuple[Incident, ...] = (
    Incident(
        "A buffer for writes is too small for the bursts that it has to take.",
        *("dirty-sizing", "200-mb", ("client",), _burst, "write_latency_mean_ms", False),
        lambda _: {"zfs.dirty_data_max": 3_000_000_000},
        "dtrace -s delays.d",
        "Most writes of the burst are delayed, while the load's average is no more than the disks take.",
    ),
    Incident(
        "A cache device is fed too slowly to be of use yet.",
        *("l2arc-warmth", "500-gb", ("client",), _feed, "read_mib_per_s", True),
        lambda _: {"zfs.l2arc.write_max": "16MiB"},
        "iostat -x",
        (
            "The cache device takes a small, even trickle of writes and serves few reads: the disks still serve"
            " nearly all."
        ),
    ),
    Incident(
        "A card has more queues than its traffic keeps busy, and each one has to be taken over anew.",
        *("nic-tuning", "many-rings", ("streams",), _rings, "read_mib_per_s", True),
        lambda _: {"server.nic.rings": 2},
        "perf report",
        (
            "A quarter of the cycles and more goes into taking rings over, of which no byte is work; the"
            " card has a ring for each core."
        ),
    ),
    Incident(
        "A copy waits for an answer after every small piece.",
        *("copy-offload", "far", ("server-side",), _chunks, "elapsed_s", False),
        lambda _: {"jobs[app].copy.chunks_per_request": 16},
        "ping",
        "The time of the copy over its number of pieces is the round trip, and nothing on the way is busy.",
    ),
    Incident(
        "A delay that was meant for the last writes of a group meets every one.",
        *("delay-everything", "bug", ("writers",), _every_write, "write_latency_p50_ms", False),
        lambda _: {"zfs.shift_bug": False},
        "dtrace -s delays.d",
        "Every second write or so was delayed, all of them by the same time, while none stopped.",
    ),
    Incident(
        "A late write waits for a whole tick of the clock, however little would be enough.",
        *("frictionless", "steady", ("writers",), _ticks, "write_latency_max_ms", False),
        lambda _: {"zfs.tick": "1ms"},
        "dtrace -s delays.d",
        "Few writes are delayed, none stops, and nearly all of the delayed ones wait for the same ten milliseconds.",
    ),
    Incident(
        "A lock is held by one thread at a time, and the others wait for it.",
        *("vdisk-sharding", "both", ("reads",), _lock, "read_iops", True),
        lambda _: {"controller.lock.exclusive": "never"},
        "perf report",
        (
            "Several threads share the work, and together they keep less than two processors busy: most of"
            " the time all but one wait."
        ),
    ),
    Incident(
        "A measurement is averaged over far longer than what it measures lasts.",
        *("averaged-away", "burst-1s", ("burst",), _window_of_time, "monitor_busiest_mib_per_s", True),
        lambda _: {"monitor.window": "100ms"},
        "iostat -x",
        "fio says several hundred MiB/s where the dashboard's busiest point says a few.",
    ),
    Incident(
        "A volume has spent its credits and gives no more than its base rate.",
        *("burst-credits", "migration", ("app",), _credits, "read_iops", True),
        lambda _: {"devices[dm-0].lun.credits.base": 3000},
        "iostat -x",
        "The volume does a round number of reads a second, to the last one, hardly busy and with a long queue.",
    ),
    Incident(
        "All requests in flight become one, and the parts of the system wait for each other.",
        *("combine-limit", "limit-64", ("client",), _combined, "read_mib_per_s", True),
        lambda drawn: {"protocol.target_transaction": drawn["jobs[client].iodepth"] // 2 * MIB},
        "iostat -x",
        (
            "Requests reach the device as large as all that the client has in flight, one at a time, and it idles"
            " in between."
        ),
    ),
    Incident(
        "An answer waits until the card has company for its interrupt.",
        *("nic-tuning", "two-rings", ("ping",), _blanked, "read_latency_mean_ms", False),
        lambda _: {"server.nic.blank": "10us"},
        "mpstat -P ALL",
        (
            "The processors have nothing to do, no device is asked, and one request still takes a good part of a"
            " millisecond."
        ),
    ),
    Incident(
        "Buffers are unmapped each time they are freed, and every core is called for it.",
        *("tlb-shootdown", "worst-case", ("clients",), _unmapped, "read_iops", True),
        lambda _: {"server.buffers.object_cache": True},
        "perf report",
        "Calls to other cores, and their answers, take more cycles than the requests do.",
    ),
    Incident(
        "Durable writes are committed one at a time.",
        *("sync-serialised", "serialised", ("threads",), _one_commit, "write_iops", True),
        lambda _: {"zfs.log.batch": True},
        "iostat -x",
        "The log device writes one small block at a time and is idle in between, while dozens of writers wait.",
    ),
    Incident(
        "Groups of writes last so long that their writes grow old and go before reads.",
        *("txg-seconds", "small-five", ("readers", "writers"), _groups, "read_latency_p99_ms", False),
        lambda _: {"zfs.txg_synctime": "1s"},
        "dtrace -s sync.d",
        "Each sync takes about five seconds; most reads are fast, and the slow ones are as slow as half of that.",
    ),
    Incident(
        "One large commit stands before all small ones on the same log device.",
        *("slog-divert", "one-log", ("database", "fsflush"), _bulk, "write_latency_p99_ms", False),
        lambda _: {"zfs.log.slog_limit": "1MiB"},
        "iostat -x",
        "The log device is busy with megabytes; the disks of the pool, faster together, have little to do.",
    ),
    Incident(
        "One thread does all the work of the volume.",
        *("vdisk-sharding", "before", ("reads",), _thread, "read_iops", True),
        lambda _: {"controller.shards": 4},
        "mpstat -P ALL",
        "One core is full, and all the others have nothing to do.",
    ),
    Incident(
        "Read-ahead fetches a little less than the reader asks for.",
        *("odx-prefetch", "broken", ("odx", "clients", "background"), _odx, "read_latency_mean_ms", False),
        lambda _: {"protocol.odx_sizing": "target"},
        "oplog",
        "Each long read has all but its last 256 KiB in memory, and waits for disks for those.",
    ),
    Incident(
        "Read-ahead fetches for so many streams that blocks are gone before they are read.",
        *("media-prefetch", "untuned", ("streams",), _ahead, "read_mib_per_s", True),
        lambda _: {"zfs.prefetch.streams": 2, "zfs.prefetch.cap": 16},
        "iostat -x",
        "The disk is busy with many times the bytes that the application gets.",
    ),
    Incident(
        "Requests are served in the order in which they came.",
        *("invariants", "disk", ("reader",), _arrival, "read_iops", True),
        lambda _: {"devices[sda].hdd.queue_policy": "satf"},
        "iostat -x",
        "The queue is long, and the disk does no more reads a second than with one at a time.",
    ),
    Incident(
        "The test's data hold what the storage removes before it compresses.",
        *("compressible-data", "percentage-2017", ("writer",), _data, "reduction_compression_ratio", True),
        lambda _: {"reduction.buffer_compress_chunk": 512},
        "zfs get all",
        "Half of the blocks are gone before the compressor sees any, and what it sees does not compress.",
        at_most=1.2,  # a ratio of data that are made to have it
    ),
    Incident(
        "The two ends let too few bytes be on the way for so long a line.",
        *("one-window-per-rtt", "default-48k", ("client",), _far, "read_mib_per_s", True),
        lambda _: {"network.client_buffer": "16MiB", "network.server_buffer": "16MiB"},
        "ss -ti",
        "What arrives in one round trip is as much as the smaller buffer, and no more.",
    ),
    Incident(
        "Too few requests are let onto devices that need many to be fast.",
        *("tune-openzfs", "saturated", ("writers", "readers"), _narrow, "write_mib_per_s", True),
        lambda _: {"zfs.max_active": 1000},
        "iostat -x",
        "No device ever has more than one request, and all of them are busy, though writers wait in a long queue.",
    ),
    Incident(
        "Too many background writes are on the devices while somebody reads.",
        *("picket-fence", "new", ("readers", "writers"), _fence, "read_latency_mean_ms", False),
        lambda _: {"zfs.async_write_min_active": 1, "zfs.async_write_max_active": 3},
        "iostat -x",
        "The device has a long queue of writes; a read, short by itself, waits for its turn in it.",
    ),
    Incident(
        "Writers go on at full speed until a limit stops them all at once.",
        *("throttle-2008", "2008", ("writers",), _full_stop, "write_latency_max_ms", False),
        lambda _: {"zfs.txg_synctime": "1s"},
        "fio",
        (
            "The 50th percentile is below a millisecond and the 99th is seconds: writers run free, then all"
            " of them stand still."
        ),
    ),
    Incident(
        "Writes begin and end inside the disks' blocks.",
        *("misaligned-io", "misaligned", ("writer",), _misaligned, "write_mib_per_s", True),
        lambda _: {"partition.start": MIB},
        "parted -l",
        "The partition starts at a byte that no block of 4 KiB starts at; iostat shows reads where nobody reads.",
    ),
)
"""All of them, in the order of the alphabet, as a player is offered their causes."""
CAUSES = tuple(incident.cause for incident in INCIDENTS)


WINDOWS = ("1s", "10s", "20s", "30s")
"""What a dashboard averages over, where that is not what is wrong."""
SPEEDS = (10_000_000_000, 25_000_000_000)
"""Networks, where the network's speed is not what an incident is about."""


def _short_way(source: random.Random) -> Changes:
    """Draw the network of a system whose network is not to blame."""
    trip, buffer = source.randrange(20, 60, 5), source.choice(("4MiB", "8MiB", "16MiB"))
    return {"round_trip": f"{trip}us", "client_buffer": buffer, "server_buffer": buffer}


WITHOUT_A_WAY = ("combine-limit",)
"""Systems in which requests have to arrive together."""
RANDOM_DATA: Mapping[str, Any] = {"fio": "3.33", "refill_buffers": True, "buffers": 8}
"""Data of systems whose data are not to blame."""


def _bystanders(source: random.Random) -> Changes:
    """Draw devices beside a pool that have no part in what is wrong: who has none does not stand out, nor who has."""
    log: Changes = {"log": {"devices": {"name": "log", "preset": "ssd-2008-log"}}}
    lun = {"capacity": "100GB", "rate": "400MB"}
    cache: Changes = {"l2arc": {"device": {"name": "cache", "lun": lun}}, "arc": {"size": "64MiB"}}
    return source.choice(({}, log, cache, {**log, **cache}))


def scenario_of(incident: Incident, changes: Mapping[str, Any], source: random.Random) -> dict[str, Any]:
    """Give the system of an incident in neutral words; `source` draws what is not to blame."""
    whole = load_case(incident.case).with_(changes).scenario(incident.variant)
    own = in_neutral_words(whole, neutral_names(whole, incident.jobs))
    own["partition"] = whole.get("partition") or {"start": MIB}
    window, speed, way = source.choice(WINDOWS), source.choice(SPEEDS), _short_way(source)
    own["monitor"] = {"span": "60s", **(whole.get("monitor") or {"window": window}), "job": APP}
    own["reduction"] = whole.get("reduction") or dict(RANDOM_DATA)
    if incident.case not in WITHOUT_A_WAY:
        fixed = {} if whole.get("server") else {"bits_per_s": speed}
        own["network"] = {**(whole.get("network") or way), **fixed}
    if whole.get("zfs"):
        own["zfs"] = {**_bystanders(source), **whole["zfs"]}
    own["record"] = {**(whole.get("record") or {}), "log": False}
    return validate(own)


@dataclass(frozen=True)
class Names:
    """What jobs and devices are called in a shift, by what they are called in the case."""

    jobs: Mapping[str, str]
    devices: Mapping[str, str]

    def path(self, path: str) -> str:
        """Give a path of the case as it is in the shift."""
        found = re.match(r"(jobs|devices)\[([^\]]+)\](.*)", path, re.DOTALL)
        if not found:
            return path
        kind, name, rest = found.groups()
        return f"{kind}[{(self.jobs if kind == 'jobs' else self.devices).get(name, name)}]{rest}"


def neutral_names(scenario: Mapping[str, Any], jobs: Sequence[str]) -> Names:
    """Name these jobs, the application first, and all devices."""
    devices = {group["name"]: _device(group, number) for number, group in enumerate(scenario["devices"])}
    return Names(dict(zip(jobs, (APP, *OTHERS), strict=False)), devices)


def in_neutral_words(scenario: Mapping[str, Any], names: Names) -> dict[str, Any]:
    """Give a scenario with those of its jobs that have a name, under that name."""
    jobs = [
        {**{key: value for key, value in job.items() if key != "stonewall"}, "name": names.jobs[job["name"]]}
        for job in scenario["jobs"]
        if job["name"] in names.jobs
    ]
    devices = [{**group, "name": names.devices[group["name"]]} for group in scenario["devices"]]
    own = {**scenario, "jobs": jobs, "devices": devices}
    for path in LISTS_OF_JOBS:
        own = _renamed(own, path.split("."), names.jobs)
    return own


LISTS_OF_JOBS = ("volume.cache.primed", "tier.primed", "tier.evicted", "zfs.arc.metadata")
"""Fields that name jobs."""


def _renamed(part: dict[str, Any], path: Sequence[str], names: Mapping[str, str]) -> dict[str, Any]:
    """Give the same part with other names in one of its lists, those without one left out."""
    first, *rest = path
    inner = part.get(first)
    if not inner:
        return part
    other = _renamed(inner, rest, names) if rest else [names[name] for name in inner if name in names]
    return {**part, first: other}


def _device(group: Mapping[str, Any], number: int) -> str:
    kind = "nvme" if group.get("ssd") else "dm-" if group.get("lun") else "sd"
    return f"{kind}{number}" if kind != "sd" else f"sd{chr(ord('a') + number)}"


def complaint_metric(incident: Incident) -> str:
    """Give the metric of the neutral system that the complaint is about."""
    metric = incident.metric
    return metric if metric.startswith(("monitor_", "reduction_")) else f"{APP}.{metric}"
