"""Causes as rules: each says which readings support it, which speak against it, and which look would decide.

A cause collects weight from its readings. Each kind of reading counts once, at its largest weight, so that eight
alike disks
are not eight proofs. The weights are calibrated on reports from the field (see `tests/test_diagnose_field.py`):

| weight | word | meaning |
|---|---|---|
| 4 and more | shown | the report says it, or leaves no other explanation |
| 2 and more | likely | the numbers fit this cause, and few others |
| 1 | possible | the numbers do not exclude it |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from seeklab.diagnosis.reading import Reading

Values: TypeAlias = Mapping[str, float]
SHOWN, LIKELY, POSSIBLE = "shown", "likely", "possible"
WORDS = {SHOWN: 4.0, LIKELY: 2.0, POSSIBLE: 1.0}


@dataclass(frozen=True)
class Sign:
    """A reading that supports a cause (or speaks against it, with a negative weight)."""

    reading: str
    weight: float
    when: Callable[[Values], bool] | None = None


@dataclass(frozen=True)
class Look:
    """One harmless command, and what its outcomes mean."""

    command: str
    outcomes: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Cause:
    """A cause, the incidents that show it, and its rules."""

    id: str
    sentence: str
    """The cause, as an engineer would state it."""
    signs: tuple[Sign, ...]
    incidents: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    """Data that were not recorded and would decide."""
    look: Look | None = None


@dataclass
class Verdict:
    """A cause, as far as the readings support it."""

    cause: Cause
    weight: float
    supported_by: list[Reading] = field(default_factory=list)
    against: list[Reading] = field(default_factory=list)

    @property
    def confidence(self) -> str:
        """Return shown, likely or possible."""
        for word, least in WORDS.items():
            if self.weight >= least:
                return word
        return POSSIBLE


def _disk_turn(values: Values) -> bool:
    return 4.0 <= values["ms"] <= 40.0


def _writes(values: Values) -> bool:
    return values.get("write_share", values.get("is_write", 0.0)) > 0.5


CAUSES = (
    Cause(
        "hung-device",
        "The device does not answer: requests are in flight and none completes.",
        (Sign("hung", 5), Sign("kernel-timeout", 2), Sign("kernel-blocked", 1)),
        undecided=("the kernel log of the guest and of the host",),
        look=Look(
            "dmesg -T | tail -50",
            (
                ("timeouts or resets of this device", "the device or its path fails"),
                ("nothing", "look at the layer below: the host, the array, the network"),
            ),
        ),
    ),
    Cause(
        "sync-one-by-one",
        "Synchronous writes wait for each other: each is made durable before the next one starts.",
        (
            Sign("one-at-a-time", 3, lambda v: _writes(v) and _disk_turn(v)),
            Sign("one-at-a-time", 2, lambda v: _writes(v) and v["bytes"] <= 128 << 10),
            Sign("fsync-rate", 3, lambda v: v["ms"] > 4),
            Sign("etcd-slow-sync", 2),
            Sign("etcd-slow-apply", 1),
            Sign("redis-slow-fsync", 1),
            Sign("histogram", 3, lambda v: bool(v["is_sync"]) and 4 <= v["main_ms"] <= 64),
            Sign("workers-wait", 1.5, lambda v: bool(v["is_write"])),
            Sign("rate-of-a-disk", 1),
            Sign("fsync-dominates", 2, lambda v: v["ms"] > 4),
            Sign("time-outside-requests", 3, lambda v: v["ms"] > 4),
            Sign(
                "pool-wait",
                1.5,
                lambda v: (
                    bool(v["is_write"]) and v["held"] < 0.3 and 20 < v["per_s"] < 1000 and v["queued_share"] < 0.2
                ),
            ),
            Sign("log-device", 1),
            Sign("depth-one", 2, lambda v: bool(v["is_write"]) and bool(v["is_sync"]) and v["ms"] + v["fsync_ms"] > 4),
            Sign("round-throughput", -2),
            Sign("peers-differ", -1, lambda v: v["ratio"] > 5),
            Sign("slow-without-load", -2),
        ),
        ("sync-serialised", "lost-group-commit", "ordered-journal"),
        ("flushes per second (iostat -x of sysstat 12.5 or later: f/s, f_await)",),
        Look(
            "strace -f -c -e trace=fsync,fdatasync,sync_file_range -p PID",
            (
                (
                    "one fsync per transaction",
                    "commit in groups, or put the log on a device with power-loss protection",
                ),
                ("none", "the writes are O_SYNC, or come from a file system or a hypervisor"),
            ),
        ),
    ),
    Cause(
        "no-power-loss-protection",
        "Each flush of this flash drive takes long: it has no power-loss protection, so it must program its cells "
        "before it answers.",
        (
            Sign("fsync-dominates", 3, lambda v: 0.3 <= v["ms"] <= 4),
            Sign("time-outside-requests", 2, lambda v: 0.3 <= v["ms"] <= 4),
            Sign("flushes-hold-the-queue", 2, lambda v: 0.3 <= v["ms"] <= 5),
            Sign("one-at-a-time", 2, lambda v: _writes(v) and 0.3 <= v["ms"] <= 4 and v["flushes_per_s"] > 1),
            Sign("fsync-rate", 2, lambda v: 0.3 <= v["ms"] <= 4),
        ),
        ("sync-serialised",),
        ("the drive's model",),
        Look(
            "cat /sys/block/DEVICE/queue/write_cache; nvme get-feature /dev/DEVICE -f 6",
            (
                ("write back", "the drive has a volatile cache, and each flush empties it"),
                ("write through", "the cache survives a power cut"),
            ),
        ),
    ),
    Cause(
        "dying-member",
        "One device is far slower than its peers under the same load: it fails, retries, or is of a slower kind.",
        (
            Sign("kernel-medium-error", 3),
            Sign("smart-errors", 2.5),
            Sign("slow-without-load", 2),
            Sign("peers-differ", 2.5, lambda v: v["ratio"] > 8),
            Sign("peers-differ", 2, lambda v: v["ratio"] > 3),
            Sign("kernel-command-failed", 1),
            Sign("kernel-io-error", 1.5),
            Sign("kernel-reset", 1),
            Sign("pool-errors", 1.5),
        ),
        undecided=("the drive's own error counts",),
        look=Look(
            "smartctl -x /dev/DEVICE",
            (
                ("reallocated or pending sectors, or errors in the log", "replace the drive"),
                ("clean", "compare its model, firmware, cache setting and cable with its peers"),
            ),
        ),
    ),
    Cause(
        "smr-rebuild",
        "A shingled (SMR) drive is rebuilt or written at random: it must rewrite whole zones for each write.",
        (
            Sign("smr-model", 2.5),
            Sign("scan-running", 1.5, lambda v: bool(v["is_resilver"]) and 0 < v["bytes_per_s"] < 30e6),
        ),
        ("smr-resilver",),
        look=Look(
            "iostat -x 1 5",
            (
                ("the new drive is 100% busy with few writes", "it is the shingled drive that limits"),
                ("all drives are alike", "the resilver reads at random"),
            ),
        ),
    ),
    Cause(
        "scan",
        "A scrub, check or resilver runs and shares the disks with everything else.",
        (Sign("scan-running", 2.5), Sign("random-reads-per-disk", 1), Sign("smr-model", -1)),
        ("smr-resilver",),
        look=Look(
            "zpool status; cat /proc/mdstat",
            (("running", "pause it and compare (zpool scrub -p)"), ("finished", "it was not the scan")),
        ),
    ),
    Cause(
        "cache-off",
        "A write cache is switched off (battery, capacitor or setting): every write waits for the disks.",
        (Sign("cache-disabled", 4), Sign("battery-failed", 2), Sign("drive-cache-off", 3)),
        ("battery-learns",),
        look=Look(
            "ssacli ctrl all show status; storcli64 /call/bbu show all; hdparm -W /dev/DEVICE",
            (("cache or battery not OK", "replace the battery"), ("OK", "the cache is not the reason")),
        ),
    ),
    Cause(
        "throughput-limit",
        "A configured limit (of a volume, an instance, or a quality-of-service rule) holds the rate.",
        (Sign("round-throughput", 4), Sign("round-rate", 3), Sign("constant-queue", 0.5)),
        ("burst-credits",),
        ("the limits of the volume and of the instance",),
        Look(
            "iostat -x 1 60",
            (
                ("the rate never exceeds the limit", "raise the limit, or ask for less"),
                ("it starts fast and drops", "credits of a burst were used up"),
            ),
        ),
    ),
    Cause(
        "queue-limit",
        "The queue in front of the device has a fixed length: more requests wait in the sender.",
        (
            Sign("constant-queue", 2, lambda v: v["limit"] >= 31),
            Sign("constant-queue", 1),
            Sign("depth-full", 1),
            Sign("round-throughput", -2),
        ),
        ("diagonal",),
        look=Look(
            "cat /sys/block/DEVICE/device/queue_depth /sys/block/DEVICE/queue/nr_requests",
            (
                ("the number seen here", "the queue is at its limit; the device may take more"),
                ("larger", "the sender limits itself"),
            ),
        ),
    ),
    Cause(
        "oversaturated",
        "More requests are in flight than the devices need: they are at their limit, and the rest of the time is "
        "waiting.",
        (Sign("bandwidth-alike", 2.5), Sign("depth-full", 1), Sign("constant-queue", 1)),
        ("tail-at-scale", "thousand-threads"),
        look=Look(
            "iostat -x 1 5",
            (
                ("the same rate with half the load in flight", "reduce what is in flight: times fall, the rate stays"),
                ("the rate falls as well", "the devices can use the depth"),
            ),
        ),
    ),
    Cause(
        "discards",
        "Discards (TRIM) occupy the device or its layer; reads and writes wait behind them.",
        (Sign("discards-hold-the-queue", 3.5), Sign("discards-slow", 2.5), Sign("queue-above", 0.5)),
        look=Look(
            "systemctl status fstrim.timer; cat /sys/block/DEVICE/queue/discard_max_bytes",
            (("mounted with discard", "use fstrim at night instead"), ("fstrim runs now", "move it to a quiet hour")),
        ),
    ),
    Cause(
        "full-pool",
        "The pool is nearly full and fragmented: each allocation searches, and writes fall apart into small pieces.",
        (Sign("pool-full", 2.5), Sign("pool-fragmented", 1.5), Sign("write-amplification", 1.5)),
        look=Look(
            "zpool list -v", (("CAP above 90% or FRAG above 50%", "free or add space"), ("below", "look at recordsize"))
        ),
    ),
    Cause(
        "record-amplification",
        "Small writes change large records: for each byte of the application, the pool reads and writes many.",
        (Sign("write-amplification", 2), Sign("pool-full", -1)),
        ("misaligned-io",),
        look=Look(
            "zfs get recordsize,volblocksize DATASET; zpool iostat -r 5",
            (
                ("records larger than the writes", "match the record size to the application"),
                ("equal", "count metadata and parity"),
            ),
        ),
    ),
    Cause(
        "arc-metadata",
        "The ARC's metadata are at their limit, and its threads spin to free them.",
        (Sign("arc-metadata-limit", 3), Sign("arc-threads-spin", 1.5), Sign("arc-full", 0.5)),
        look=Look(
            "arc_summary -s arc",
            (
                ("metadata at the limit", "raise zfs_arc_meta_limit_percent, or find what pins dnodes"),
                ("below", "another consumer of memory"),
            ),
        ),
    ),
    Cause(
        "cpu-in-the-path",
        "Compression, encryption or checksums take whole cores: the processor is the limit, not the devices.",
        (
            Sign("cpu-compression", 4),
            Sign("cpu-encryption", 4),
            Sign("gzip", 2),
            Sign("io-thread-full", 1.5),
            Sign("system-time", 1),
            Sign("cpu-heavy", 0.5),
            Sign("encryption-costs", 3),
        ),
        ("compressible-data",),
        look=Look(
            "perf top -g",
            (
                ("deflate, zstd, aes or sha on top", "use a cheaper algorithm or more cores"),
                ("idle", "not the processor"),
            ),
        ),
    ),
    Cause(
        "one-core",
        "One thread or core does all the I/O: it is full while others are idle.",
        (Sign("one-core-full", 3),),
        ("vdisk-sharding", "tlb-shootdown"),
        look=Look(
            "top -H -b -n 1 | head -20; mpstat -P ALL 1 3",
            (("one thread at 100%", "split the work: more queues or shards"), ("none", "not a single thread")),
        ),
    ),
    Cause(
        "software-above",
        "The time is spent above the device, in software: the raw device is much faster at the same depth.",
        (Sign("queue-above", 2.5), Sign("runs-differ", 2), Sign("cpu-heavy", 0.5)),
        look=Look(
            "fio on the raw device and on the volume, with the same job",
            (("equal", "the device limits"), ("the raw device is faster", "the layer above limits")),
        ),
    ),
    Cause(
        "waits-above",
        "Requests wait for each other above the devices: for a lock, a core, a window, or for commits one after the "
        "other.",
        (Sign("time-above-devices", 2.5),),
        (
            "sync-serialised",
            "lost-group-commit",
            "vdisk-sharding",
            "one-window-per-rtt",
            "throttle-2008",
            "delay-everything",
        ),
        ("where the threads wait",),
        Look(
            "cat /proc/PID/stack; perf trace -s -p PID",
            (("a lock or a sleep in the write path", "that layer limits"), ("the device", "look at the devices again")),
        ),
    ),
    Cause(
        "cache-misses",
        "Some reads come from a cache and others wait for a disk: what is missed decides the time.",
        (Sign("two-kinds", 2.5), Sign("arc-hits", 0.5, lambda v: v["share"] < 0.8)),
        ("odx-prefetch", "media-prefetch", "context-read-ahead", "l2arc-warmth"),
        ("which bytes were read ahead",),
        Look(
            "arcstat 1; cat /sys/block/DEVICE/queue/read_ahead_kb",
            (("prefetch misses, or a small read-ahead", "let it read further ahead"), ("hits", "not the cache")),
        ),
    ),
    Cause(
        "waiting-accounted",
        "Nothing waits for the storage: the kernel accounts idle threads as waiting for I/O.",
        (Sign("waiting-without-io", 4),),
        look=Look(
            "pidstat -d 2 5; uname -r",
            (
                ("no process waits (iodelay 0)", "an effect of accounting"),
                ("one process waits", "look at that process"),
            ),
        ),
    ),
    Cause(
        "measured-memory",
        "The benchmark measured the page cache, not the device.",
        (Sign("dd-without-sync", 4), Sign("buffered", 2)),
        ("eleven-metrics", "bonnie-decoded"),
        look=Look(
            "dd if=/dev/zero of=FILE bs=4k count=1000 oflag=dsync",
            (("far slower", "that is the time of a durable write"), ("equal", "the cache survives a power cut")),
        ),
    ),
    Cause(
        "one-call-at-a-time",
        "The program makes one small call after the other: the time of a call limits the rate, not the bandwidth.",
        (Sign("call-by-call", 3), Sign("depth-one", 1, lambda v: v["ms"] > 0.1), Sign("one-at-a-time", 1)),
        ("one-window-per-rtt", "frictionless"),
        look=Look(
            "fio --rw=read --bs=1m --iodepth=8 --direct=1 --readonly --name=a --filename=FILE",
            (("much faster", "the program should ask for more at once"), ("as slow", "the device limits")),
        ),
    ),
    Cause(
        "misread-numbers",
        "The numbers are misread or an artefact of the tool: operations of several MiB, or columns that contradict "
        "each other.",
        (Sign("bench-blocks", 3), Sign("contradiction", 1.5), Sign("doubtful", 1.5)),
        ("averaged-away", "eleven-metrics"),
        look=Look(
            "iostat -xy 1 5",
            (
                ("the columns agree (rate x time = queue)", "use these"),
                ("they do not", "do not use this tool's columns"),
            ),
        ),
    ),
    Cause(
        "background-job",
        "A background job of the same program (a rewrite, a checkpoint, a compaction) occupies the device, and syncs "
        "wait behind it.",
        (
            Sign("rewrite-with-slow-fsync", 4),
            Sign("postgres-checkpoint", 1),
            Sign("postgres-checkpoints-too-frequent", 2),
            Sign("redis-slow-fsync", 1),
        ),
        ("ordered-journal", "delay-everything"),
        look=Look(
            "iostat -x 1 60 during the job",
            (("the device is full while the job runs", "slow the job down, or move it"), ("idle", "another cause")),
        ),
    ),
    Cause(
        "periodic-stop",
        "Something stops the device from time to time; between these moments it is as fast as ever.",
        (
            Sign("stall", 2, lambda v: bool(v["is_regular"])),
            Sign("stall", 1.5),
            Sign("rare-outlier", 0.5),
            Sign("tail", 1),
        ),
        ("picket-fence", "shouting"),
        look=Look(
            "systemctl list-timers; crontab -l; grep -r . /etc/cron.*",
            (
                ("a job with the same period (smartctl, a scan, a backup)", "stop it and compare"),
                ("none", "record with iostat -x 1 for several minutes"),
            ),
        ),
    ),
    Cause(
        "slow-groups",
        "Transaction groups take far longer than their interval: the pool cannot write as fast as it is asked to.",
        (Sign("txg-sync", 2, lambda v: v["s"] > 8),),
        ("txg-seconds", "throttle-2008", "dirty-sizing"),
        look=Look(
            "zpool iostat -lv 1 10",
            (("disk_wait is long", "the disks limit"), ("syncq_wait or asyncq_wait is long", "ZFS holds them back")),
        ),
    ),
    Cause(
        "network-retransmits",
        "The network loses requests, and the client sends them again after a timer.",
        (Sign("nfs-retransmissions", 2.5), Sign("nfs-wait", 0.5)),
        ("incast", "nic-tuning"),
        look=Look(
            "nstat -az TcpRetransSegs TcpExtTCPTimeouts; ethtool -S DEVICE | grep -i drop",
            (("growing", "loss in the network"), ("zero", "the server is late")),
        ),
    ),
    Cause(
        "client-queue",
        "Requests wait in the NFS client before they are sent: the number of slots or the window limits them.",
        (Sign("nfs-wait", 2.5, lambda v: v["queue_ms"] > 2 * v["wire_ms"]),),
        ("one-window-per-rtt", "diagonal"),
        look=Look(
            "cat /proc/self/mountstats | grep -A2 xprt; mount | grep nfs",
            (("slots all used", "raise nconnect or the slot table"), ("free", "the server limits")),
        ),
    ),
    Cause(
        "slow-server",
        "The NFS server answers late.",
        (Sign("nfs-wait", 1.5, lambda v: v["wire_ms"] > 2 * v["queue_ms"] and v["wire_ms"] > 5),),
        ("thousand-threads",),
        look=Look("iostat -x 1 5 on the server", (("busy", "its disks limit"), ("idle", "its threads or its network"))),
    ),
    Cause(
        "swap",
        "Memory is short: the host swaps, and processes wait for the swap device.",
        (Sign("swapping", 3), Sign("kernel-memory", 2)),
        look=Look(
            "vmstat 1 5; free -m", (("si or so above zero", "add memory, or reduce the load"), ("zero", "not now"))
        ),
    ),
    Cause(
        "misaligned",
        "Requests start within a block of the device: each small write becomes a read, a change and a write.",
        (Sign("unaligned", 2.5), Sign("partial-blocks", 2.5)),
        ("misaligned-io",),
        look=Look(
            "lsblk -t; parted /dev/DEVICE align-check optimal 1",
            (("not aligned", "recreate the partition at 1 MiB"), ("aligned", "look at the file system's offset")),
        ),
    ),
    Cause(
        "timer-tick",
        "Writes are delayed by whole ticks of a timer: a throttle that sleeps.",
        (Sign("at-a-tick", 2.5),),
        ("throttle-2008", "delay-everything"),
        look=Look(
            "cat /proc/PID/stack while it waits",
            (("a sleep in the write path", "the throttle delays it"), ("none", "not a throttle")),
        ),
    ),
    Cause(
        "fewer-merges",
        "Writes that used to be merged arrive as many small ones.",
        (Sign("reports-differ", 1), Sign("small-writes", 1.5), Sign("more-and-smaller", 2)),
        ("combine-limit",),
        look=Look(
            "zpool iostat -r 5; iostat -x 1 5",
            (
                ("ind far above agg, or few wrqm/s", "requests are not merged"),
                ("merged", "the application writes small"),
            ),
        ),
    ),
)


def verdicts(readings: Sequence[Reading]) -> list[Verdict]:
    """Return the causes that the readings support, the best first; fewer than three numbers support nothing."""
    found: list[Verdict] = []
    for cause in CAUSES:
        verdict = _judge(cause, readings)
        if verdict.weight >= WORDS[POSSIBLE]:
            found.append(verdict)
    return sorted(found, key=lambda verdict: -verdict.weight)


def _judge(cause: Cause, readings: Sequence[Reading]) -> Verdict:
    best: dict[str, tuple[float, Reading]] = {}
    for sign in cause.signs:
        for reading in readings:
            if reading.id != sign.reading or (sign.when is not None and not sign.when(reading.values)):
                continue
            if sign.reading not in best or abs(sign.weight) > abs(best[sign.reading][0]):
                best[sign.reading] = (sign.weight, reading)
    verdict = Verdict(cause, sum(weight for weight, _ in best.values()))
    for weight, reading in sorted(best.values(), key=lambda pair: -abs(pair[0])):
        (verdict.supported_by if weight > 0 else verdict.against).append(reading)
    return verdict
