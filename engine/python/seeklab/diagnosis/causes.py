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


def _short_flushes(values: Values) -> bool:
    is_flash = 0.3 <= values["ms"] <= 4 and values["flush_ms"] <= 5
    return _writes(values) and is_flash and values["flushes_per_s"] > 1


CAUSES = (
    Cause(
        "hung-device",
        "The device does not answer: requests are in flight and none completes.",
        (
            Sign("blocked-tasks", 0.5),
            Sign("hung", 5),
            Sign("no-block-moves", 2.5),
            Sign("kernel-removed", 3),
            Sign("cockroach-slow-disk", 2, lambda v: v["max_ms"] > 5e3),
            Sign("kernel-timeout", 2),
            Sign("kernel-blocked", 1),
            Sign("vmkernel-device-not-ready", 1),
            Sign("mssql-slow-request", 1.5),
        ),
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
        "lost-interrupt",
        "The device completes its requests, but the interrupt that tells so is lost: each such request waits for a "
        "timeout.",
        (Sign("kernel-lost-interrupt", 4),),
        look=Look(
            "grep -i nvme /proc/interrupts; lspci -vv | grep -iE 'MSI|LnkSta'",
            (
                (
                    "one queue's counts do not grow",
                    "driver, firmware or interrupt controller: try another kernel, or pci=nomsi",
                ),
                ("all grow", "look at power saving of the link (pcie_aspm=off)"),
            ),
        ),
    ),
    Cause(
        "bad-link",
        "The link to the drive loses transfers: a cable, a backplane, power, or power saving of the link.",
        (
            Sign("kernel-link-errors", 3),
            Sign("link-errors", 2.5),
            Sign("kernel-command-failed", 0.5),
            Sign("kernel-link-speed", 1),
            Sign("kernel-reset", 0.5),
            Sign("kernel-medium-error", -2),
        ),
        look=Look(
            "smartctl -x /dev/DEVICE | grep -iE 'crc|phy'; cat /sys/class/scsi_host/host*/link_power_management_policy",
            (
                ("the CRC count grows", "replace the cable, or try another port"),
                ("min_power or med_power", "set max_performance and compare"),
            ),
        ),
    ),
    Cause(
        "slow-below-the-host",
        "The time is spent below the host: in the path, the array or the disks behind it.",
        (
            Sign("path-failed", 1.5),
            Sign("kernel-path-failed", 1.5),
            Sign("vmkernel-slow-device", 2.5),
            Sign("vmkernel-aborted-command", 1.5),
            Sign("vmkernel-no-path", 1.5),
            Sign("device-slow-below-host", 2.5),
        ),
        undecided=("the array's own times",),
        look=Look(
            "esxtop, d and u; the array's view of the same volume",
            (
                ("the array is as slow", "its disks or its cache"),
                ("the array is fast", "the path: links, switches, errors"),
            ),
        ),
    ),
    Cause(
        "sync-one-by-one",
        "Synchronous writes wait for each other: each is made durable before the next one starts.",
        (
            Sign("zookeeper-slow-sync", 2),
            Sign("cassandra-slow-sync", 2),
            Sign("mysql-slow-flush", 1),
            Sign("bluestore-slow", 1),
            Sign("ops-wait-for-store", 1, lambda v: v["ms"] > 20),
            Sign("brick-syncs", 1.5, lambda v: v["ms"] > 4),
            Sign("ceph-slow-requests", 0.5),
            Sign("traced-syncs", 2, lambda v: v["ms"] > 4),
            Sign("syncs-per-write", 1, lambda v: v["writes_per_sync"] <= 4),
            Sign("slow-calls", 1, lambda v: bool(v["is_sync"]) and v["max_ms"] > 10),
            Sign("one-at-a-time", 3, lambda v: _writes(v) and _disk_turn(v) and v["bytes"] <= 256 << 10),
            Sign("one-at-a-time", 2, lambda v: _writes(v) and v["bytes"] <= 128 << 10),
            Sign("fsync-rate", 3, lambda v: v["ms"] > 4),
            Sign("flushes-hold-the-queue", 2.5, lambda v: v["ms"] > 5),
            Sign("unseen-in-flight", 1),
            Sign("journal-waits", 1),
            Sign("kernel-journal-wait", 1),
            Sign("etcd-slow-sync", 2),
            Sign("etcd-slow-apply", 1),
            Sign("redis-slow-fsync", 1),
            Sign("histogram", 3, lambda v: bool(v["is_sync"]) and 4 <= v["main_ms"] <= 64),
            Sign("workers-wait", 1.5, lambda v: bool(v["is_write"]) and v["bytes_per_s"] <= v["per_s"] * (256 << 10)),
            Sign("rate-of-a-disk", 1, lambda v: bool(v["is_write"])),
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
            Sign("commits-in-turn", 3, lambda v: bool(v["is_sync"])),
            Sign("commits-in-turn", 1.5),
            Sign("commits-gathered", -1),
            Sign("devices-starved", -2.5),
            Sign("writes-held-back", -1.5),
            Sign("stop-and-go", -1.5),
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
            Sign("traced-syncs", 1.5, lambda v: 0.3 <= v["ms"] <= 4),
            Sign("bluestore-slow", 0.5),
            Sign("volatile-cache", 0.5),
            Sign("fsync-dominates", 3, lambda v: 0.3 <= v["ms"] <= 4),
            Sign("time-outside-requests", 2, lambda v: 0.3 <= v["ms"] <= 4),
            Sign("flushes-hold-the-queue", 2, lambda v: 0.3 <= v["ms"] <= 5),
            Sign("one-at-a-time", 2, _short_flushes),
            Sign("fsync-rate", 1.5, lambda v: 0.3 <= v["ms"] <= 4),
            Sign("unseen-in-flight", 2, lambda v: v["ms"] <= 8),
            Sign("fsync-without-flush", 1),
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
            Sign("smartd-bad-sectors", 2.5),
            Sign("slower-than-peers", 2),
            Sign("smartd-failing", 2.5),
            Sign("smartd-errors-grow", 1),
            Sign("few-slow-osds", 1),
            Sign("requests-wait-for-peer", 0.5),
            Sign("ops-wait-for-peers", 0.5),
            Sign("drive-worn", 1),
            Sign("kernel-medium-error", 3),
            Sign("vmkernel-medium-error", 2.5),
            Sign("vmkernel-hardware-error", 1.5),
            Sign("smart-errors", 2.5),
            Sign("slow-without-load", 2),
            Sign("peers-differ", 2.5, lambda v: v["ratio"] > 8),
            Sign("peers-differ", 2, lambda v: v["ratio"] > 3),
            Sign("kernel-command-failed", 1),
            Sign("kernel-io-error", 1.5),
            Sign("kernel-reset", 1),
            Sign("pool-errors", 1.5),
            Sign("kernel-link-errors", -2),
            Sign("kernel-timeout", -1.5),
            Sign("one-writer-limits", -1),
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
            Sign("one-writer-limits", 2),
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
        (
            Sign("scan-running", 2.5),
            Sign("scan-queue", 2.5),
            Sign("random-reads-per-disk", 1),
            Sign("smr-model", -1),
        ),
        ("smr-resilver",),
        look=Look(
            "zpool status; cat /proc/mdstat",
            (("running", "pause it and compare (zpool scrub -p)"), ("finished", "it was not the scan")),
        ),
    ),
    Cause(
        "cache-off",
        "A write cache is switched off (battery, capacitor or setting): every write waits for the disks.",
        (
            Sign("cache-disabled", 4),
            Sign("policy-write-through", 2),
            Sign("battery-failed", 2),
            Sign("drive-cache-off", 3),
            Sign("kernel-write-cache-off", 1.5),
            Sign("write-through", 4),
        ),
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
            Sign("queue-waits", 1),
            Sign("vmkernel-queue-full", 2),
            Sign("vmkernel-busy-device", 1),
            Sign("constant-queue", 2, lambda v: v["limit"] >= 31),
            Sign("constant-queue", 1),
            Sign("depth-full", 1),
            Sign("hypervisor-queue", 2.5),
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
        (
            Sign("bandwidth-alike", 2.5),
            Sign("disk-at-its-rate", 1.5),
            Sign("stall", -1),
            Sign("depth-full", 1),
            Sign("constant-queue", 1),
            Sign("more-is-read", -1.5),
            Sign("rate-falls", -1),
            Sign("queue-without-gain", -1.5),
        ),
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
        (
            Sign("thin-pool-full", 2),
            Sign("kernel-thin-pool-full", 2.5),
            Sign("file-system-full", 1),
            Sign("elasticsearch-disk-watermark", 1),
            Sign("rabbitmq-disk-watermark", 1),
            Sign("kubelet-disk-pressure", 1),
            Sign("pool-full", 2.5),
            Sign("pool-fragmented", 1.5),
            Sign("write-amplification", 1.5),
        ),
        look=Look(
            "zpool list -v", (("CAP above 90% or FRAG above 50%", "free or add space"), ("below", "look at recordsize"))
        ),
    ),
    Cause(
        "record-amplification",
        "Small writes change large records: for each byte of the application, the pool reads and writes many.",
        (
            Sign("write-amplification", 2),
            Sign("more-is-read", 2, lambda v: bool(v["is_random"]) and v["bytes"] <= 16 << 10),
            Sign("pool-full", -1),
        ),
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
            Sign("kernel-soft-lockup", 2.5, lambda v: bool(v["is_worker"])),
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
        "application-work",
        "The program itself takes the time, not the storage: it collects garbage, or examines far more rows than it "
        "returns.",
        (
            Sign("gc-overhead", 2.5, lambda v: v["share"] > 0.6 and v["ms"] > 5e3),
            Sign("gc-overhead", 1),
            Sign("rows-examined", 2.5, lambda v: v["of_storage"] < 0.2),
            Sign("rows-examined", 1),
        ),
        undecided=("the program's processor time",),
        look=Look(
            "EXPLAIN of the slow statement; jstat -gcutil PID 1000 10",
            (
                ("a scan of a whole table, or a full heap", "an index, or a larger heap"),
                ("an index is used, and the heap has room", "compare with the devices: iostat -xy 1 5"),
            ),
        ),
    ),
    Cause(
        "one-core",
        "One thread or core does all the I/O: it is full while others are idle.",
        (Sign("one-core-full", 3), Sign("one-thread", 2.5), Sign("io-thread-alone", 2)),
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
        (
            Sign("lock-waits", 1),
            Sign("time-above-devices", 2.5),
        ),
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
        "first-read-of-snapshot",
        "The volume was made from a snapshot, and each block is fetched from there when it is read for the first time.",
        (Sign("second-read-faster", 2.5),),
        undecided=("whether the volume was made from a snapshot",),
        look=Look(
            "dd if=/dev/DEVICE of=/dev/null bs=1M count=1000 iflag=direct, twice",
            (
                ("the second run is far faster", "read the whole volume once, or have it initialized by the provider"),
                ("equal", "the volume's own rate"),
            ),
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
        (Sign("dd-without-sync", 4), Sign("buffered", 2), Sign("memory-speed", 2.5)),
        ("eleven-metrics", "bonnie-decoded"),
        look=Look(
            "dd if=/dev/zero of=FILE bs=4k count=1000 oflag=dsync",
            (("far slower", "that is the time of a durable write"), ("equal", "the cache survives a power cut")),
        ),
    ),
    Cause(
        "one-call-at-a-time",
        "The program makes one small call after the other: the time of a call limits the rate, not the bandwidth.",
        (
            Sign("call-by-call", 3),
            Sign("tiny-calls", 1.5),
            Sign("depth-one", 1, lambda v: v["ms"] > 0.1),
            Sign("one-at-a-time", 1),
        ),
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
        (
            Sign("bench-blocks", 3),
            Sign("busy-without-queue", 3),
            Sign("impossible-time", 3),
            Sign("withdrawn-column", 2.5),
            Sign("contradiction", 1.5),
            Sign("doubtful", 1.5),
        ),
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
            Sign("postgres-checkpoint", 1, lambda v: v["max_ms"] > 500),
            Sign("postgres-checkpoint-forced", 1.5),
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
        (
            Sign("kernel-nfs-not-responding", 1),
            Sign("kernel-iscsi-timeout", 1.5),
            Sign("nfs-retransmissions", 2.5),
            Sign("nfs-wait", 0.5),
            Sign("tcp-retransmits", 2, lambda v: v["timeouts"] > 0),
            Sign("tcp-retransmits", 1),
            Sign("network-losses", 2),
            Sign("timer-in-requests", 1),
            Sign("waits-a-timer", 2.75),
        ),
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
        (
            Sign("kernel-nfs-not-responding", 1.5),
            Sign("nfs-waits", 1),
            Sign("kernel-cifs-not-responding", 1.5),
            Sign("nfs-wait", 1.5, lambda v: v["wire_ms"] > 2 * v["queue_ms"] and v["wire_ms"] > 5),
        ),
        ("thousand-threads",),
        look=Look("iostat -x 1 5 on the server", (("busy", "its disks limit"), ("idle", "its threads or its network"))),
    ),
    Cause(
        "swap",
        "Memory is short: the host swaps, and processes wait for the swap device.",
        (Sign("memory-short", 1.5), Sign("swap-waits", 1), Sign("swapping", 3), Sign("kernel-memory", 2)),
        look=Look(
            "vmstat 1 5; free -m", (("si or so above zero", "add memory, or reduce the load"), ("zero", "not now"))
        ),
    ),
    Cause(
        "misaligned",
        "Requests start within a block of the device: each small write becomes a read, a change and a write.",
        (
            Sign("unaligned", 2.5),
            Sign("partial-blocks", 2.5),
            Sign("nobody-reads", 2),
            Sign("partition-misaligned", 2.5),
        ),
        ("misaligned-io",),
        look=Look(
            "lsblk -t; parted /dev/DEVICE align-check optimal 1",
            (("not aligned", "recreate the partition at 1 MiB"), ("aligned", "look at the file system's offset")),
        ),
    ),
    Cause(
        "timer-tick",
        "Writes are delayed by whole ticks of a timer: a throttle that sleeps.",
        (
            Sign("at-a-tick", 2.5),
            Sign("delays-of-one-tick", 2.5, lambda v: bool(v["is_few"])),
            Sign("every-write-a-tick", 0.5),
            Sign("stop-and-go", -1),
        ),
        ("frictionless", "throttle-2008", "delay-everything"),
        look=Look(
            "cat /proc/PID/stack while it waits",
            (("a sleep in the write path", "the throttle delays it"), ("none", "not a throttle")),
        ),
    ),
    Cause(
        "fewer-merges",
        "Writes that used to be merged arrive as many small ones.",
        (Sign("small-writes", 1.5), Sign("more-and-smaller", 2)),
        ("combine-limit",),
        look=Look(
            "zpool iostat -r 5; iostat -x 1 5",
            (
                ("ind far above agg, or few wrqm/s", "requests are not merged"),
                ("merged", "the application writes small"),
            ),
        ),
    ),
    Cause(
        "averaged-over-idle",
        "The load comes in bursts, and the monitor averages throughput over idle time, but latency over requests.",
        (Sign("averaged-over-idle", 3),),
        ("averaged-away",),
        look=Look(
            "iostat -xy 1 60",
            (
                ("a few full samples, and none between them", "the burst's own rate is in these samples"),
                ("an even load", "the monitor shows the device's latency"),
            ),
        ),
    ),
    Cause(
        "burst-credits",
        "A volume has used up its credits and is held at the rate that it earns.",
        (
            Sign("no-credits", 4),
            Sign("credits-left", -2),
            Sign("rate-falls", 3.5, lambda v: bool(v["is_round"])),
            Sign("two-rates", 2, lambda v: v["write_share"] < 0.5 or v["bytes"] <= 64 << 10),
            Sign("round-rate", 0.5),
        ),
        ("burst-credits",),
        ("the volume's credit balance",),
        Look(
            "aws cloudwatch get-metric-statistics --metric-name BurstBalance ...",
            (("0 from the fall on", "a larger volume, or one with provisioned rates"), ("above 0", "another limit")),
        ),
    ),
    Cause(
        "slc-cache-full",
        "A flash drive has filled its fast (SLC) cache, and writes to its dense cells directly.",
        (
            Sign(
                "rate-falls",
                3,
                lambda v: v["write_share"] > 0.9 and v["ratio"] >= 2.5 and v["bytes"] > 64 << 10 and not v["is_round"],
            ),
            Sign("two-rates", 2, lambda v: v["write_share"] > 0.9 and v["bytes"] > 64 << 10),
        ),
        ("slc-cliff",),
        ("the drive's model and how full it is",),
        Look(
            "smartctl -A /dev/DEVICE; fstrim -v MOUNTPOINT; iostat -xy 5",
            (
                ("fast again after a pause or a trim", "the cache: write less at a time, or use a drive without one"),
                ("still slow", "heat, or a limit of the volume"),
            ),
        ),
    ),
    Cause(
        "combined-into-one",
        "All requests in flight are combined into one, so the stages of the system wait for each other.",
        (Sign("combined-into-one", 3),),
        ("combine-limit",),
        look=Look(
            "iostat -xy 1 5 with a lower limit on the size of a combined request",
            (("more in flight and faster", "keep at least two requests"), ("equal", "the device limits")),
        ),
    ),
    Cause(
        "test-data",
        "The test's data contain blocks that the storage removes before it compresses the rest.",
        (Sign("removed-before-compression", 4),),
        ("compressible-data",),
        look=Look(
            "fio --buffer_compress_percentage=50 --buffer_compress_chunk=512 --refill_buffers ...",
            (("the ratio that was asked for", "the chunk was the cause"), ("equal", "look at the pattern")),
        ),
    ),
    Cause(
        "read-ahead-too-far",
        "Read-ahead fetches more than the application uses: the devices read many bytes for each byte.",
        (
            Sign("more-is-read", 3, lambda v: not v["is_random"] and v["ratio"] >= 2),
            Sign("more-is-read", 2.5, lambda v: not v["is_random"] or v["bytes"] > 16 << 10),
            Sign("more-is-read", 1),
        ),
        ("media-prefetch", "context-read-ahead"),
        look=Look(
            "cat /sys/block/DEVICE/queue/read_ahead_kb; arcstat -f read,pread,pmis 1",
            (
                ("a smaller read-ahead is faster", "read-ahead was the cause"),
                ("equal", "records or blocks are larger than the reads"),
            ),
        ),
    ),
    Cause(
        "read-ahead-too-short",
        "Read-ahead fetches a little less than the reader asks for, and each long read waits for its end.",
        (Sign("tail-not-in-memory", 4),),
        ("odx-prefetch",),
        look=Look(
            "the sizes of reads, and the size of the read-ahead",
            (("reads are larger", "make reads and read-ahead equal"), ("equal", "look at alignment")),
        ),
    ),
    Cause(
        "coordinated-omission",
        "The benchmark did not send the requests that were due while one was slow, so its percentiles miss them.",
        (Sign("omitted-requests", 2),),
        ("coordinated-omission",),
        look=Look(
            "fio --rate_iops=N --rate_process=poisson --iodepth=8192 (a source that never waits)",
            (("far higher percentiles", "these are the users' times"), ("equal", "no request was omitted")),
        ),
    ),
    Cause(
        "one-trip-per-request",
        "The program waits for a round trip after each piece.",
        (Sign("trip-per-request", 3),),
        ("copy-offload", "bonnie-decoded"),
        look=Look(
            "ping -c 3 SERVER; the size of a piece and how many are sent at once",
            (("time = pieces x round trip", "larger pieces, or several at once"), ("longer", "the server")),
        ),
    ),
    Cause(
        "window-per-round-trip",
        "The connection carries one window of data in each round trip: its buffers are too small for the distance.",
        (Sign("window-per-trip", 3.5),),
        ("one-window-per-rtt",),
        look=Look(
            "ss -ti; sysctl net.ipv4.tcp_rmem net.ipv4.tcp_wmem",
            (
                ("rate x round trip = the smaller buffer", "raise the buffers at both ends"),
                ("less", "losses, or the sender has nothing to send"),
            ),
        ),
    ),
    Cause(
        "every-write-delayed",
        "A throttle delays every write by a fixed time, however little is dirty.",
        (
            Sign("delays-of-one-tick", 2.5, lambda v: not v["is_few"]),
            Sign("every-write-a-tick", 1),
            Sign("zone-throttled", 3, lambda v: v["share"] > 0.3),
            Sign("stop-and-go", -1.5),
        ),
        ("delay-everything",),
        look=Look(
            "dtrace -s delays.d",
            (("about every second write is delayed", "the threshold is wrong"), ("few", "the end of a group")),
        ),
    ),
    Cause(
        "stop-and-go",
        "Writers run at the speed of memory until a limit stops them all at once.",
        (
            Sign("dirty-limit-waits", 1.5),
            Sign("stop-and-go", 2.5),
            Sign("writes-held-back", 1, lambda v: v["stopped"] > 0),
            Sign("txg-sync", 0.5, lambda v: v["s"] > 2),
        ),
        ("throttle-2008", "thousand-threads", "openzfs-throttle", "dirty-sizing"),
        look=Look(
            "cat /proc/spl/kstat/zfs/POOL/txgs; grep -E 'Dirty|Writeback' /proc/meminfo",
            (
                ("the stops begin when the limit is reached", "a throttle that delays early, or smaller groups"),
                ("far below the limit", "something else stops the writers"),
            ),
        ),
    ),
    Cause(
        "write-buffer-too-small",
        "The buffer for dirty data is smaller than the bursts that it must absorb.",
        (
            Sign("burst-exceeds-buffer", 2.5),
            Sign("dirty-data", 0.5, lambda v: v["share"] >= 0.6),
            Sign("writes-held-back", 0.5, lambda v: v["delayed"] > 0.1),
        ),
        ("dirty-sizing",),
        look=Look(
            "cat /sys/module/zfs/parameters/zfs_dirty_data_max",
            (
                ("60% of it is less than a burst leaves unwritten", "raise it"),
                ("more", "the load exceeds the disks on average"),
            ),
        ),
    ),
    Cause(
        "load-limits",
        "The load has too few requests in flight to keep the devices busy: the measurement shows its depth.",
        (Sign("load-limits", 2.5),),
        ("eleven-metrics",),
        look=Look(
            "the same test with twice the threads",
            (("twice as fast", "the load was the limit"), ("equal", "the system is")),
        ),
    ),
    Cause(
        "served-in-order",
        "The disk serves its queue in the order of arrival, so a longer queue does not make it faster.",
        (Sign("queue-without-gain", 2.5),),
        ("invariants",),
        look=Look(
            "cat /sys/block/DEVICE/device/queue_depth /sys/block/DEVICE/queue/scheduler",
            (("1, or no queueing", "allow the drive to choose (NCQ, TCQ)"), ("32", "firmware or controller setting")),
        ),
    ),
    Cause(
        "commits-gathered",
        "One commit makes many writes durable at once, so the benchmark's rate is higher than the log devices' rate.",
        (Sign("commits-gathered", 1.5),),
        ("invariants",),
        look=Look(
            "iostat -xy 1 5 of the log devices",
            (("fewer and larger writes than the benchmark's", "commits are gathered"), ("as many", "they are not")),
        ),
    ),
    Cause(
        "cache-cold",
        "A cache device has not been filled yet: the disks still serve nearly all reads.",
        (Sign("cache-fills", 2.5),),
        ("l2arc-warmth",),
        look=Look(
            "zpool iostat -v 5; arcstat -f l2hits,l2miss,l2size 5",
            (("the size grows", "wait, or raise l2arc_write_max"), ("full", "the working set is larger")),
        ),
    ),
    Cause(
        "too-many-rings",
        "A network card has more queues than its traffic keeps busy, and each must be taken over again and again.",
        (Sign("cpu-rings", 3),),
        ("nic-tuning",),
        look=Look(
            "ethtool -l DEVICE; ethtool -L DEVICE combined 2", (("faster", "fewer queues"), ("equal", "not the queues"))
        ),
    ),
    Cause(
        "cross-calls",
        "Cores interrupt each other for each request: memory that is unmapped must be dropped by all of them.",
        (Sign("cpu-cross-calls", 3),),
        ("tlb-shootdown",),
        look=Look(
            "grep -E 'TLB|CAL' /proc/interrupts, twice",
            (("thousands per second", "keep the buffers mapped (an object cache)"), ("few", "other work")),
        ),
    ),
    Cause(
        "sync-waits-for-data",
        "A small durable write waits until another file's data are written, because one journal commits both.",
        (Sign("sync-behind-data", 3),),
        ("ordered-journal",),
        ("the file system's journal mode",),
        Look(
            "grep -E 'Dirty|Writeback' /proc/meminfo; mount | grep data=",
            (
                ("gigabytes dirty, data=ordered", "a smaller dirty limit, or another file system for the log"),
                ("little is dirty", "the device is slow"),
            ),
        ),
    ),
    Cause(
        "too-many-writes-in-flight",
        "Background writes fill the device's queue, and each read waits among them.",
        (Sign("reads-behind-writes", 2.5), Sign("bursts", 0.5), Sign("reads-wait-for-sync", -1)),
        ("picket-fence", "txg-seconds"),
        look=Look(
            "cat /sys/module/zfs/parameters/zfs_vdev_async_write_max_active; zpool iostat -q 1",
            (("ten or more writes active", "allow fewer, and reads are faster"), ("few", "the device is slow")),
        ),
    ),
    Cause(
        "long-groups",
        "Groups of writes last for seconds, and reads that meet one wait for it.",
        (
            Sign("reads-wait-for-sync", 3.5),
            Sign("sync-times", 0.25, lambda v: v["s"] > 2.5),
            Sign("txg-sync", 0.2, lambda v: v["s"] > 2.5),
        ),
        ("txg-seconds",),
        look=Look(
            "cat /proc/spl/kstat/zfs/POOL/txgs; cat /sys/module/zfs/parameters/zfs_txg_timeout",
            (("syncs of seconds", "smaller groups"), ("short syncs", "not the groups")),
        ),
    ),
    Cause(
        "all-at-once",
        "All devices slow down at the same time: what they share disturbs them (vibration, a controller, power).",
        (Sign("all-at-once", 3), Sign("work-stops", 2)),
        ("shouting",),
        look=Look(
            "dmesg -T | grep -iE 'sas|ata|reset'; who or what is at the rack at these times",
            (("resets", "controller or cable"), ("nothing", "vibration or sound: move, damp, compare the times")),
        ),
    ),
    Cause(
        "log-device-full",
        "One large commit occupies the log device, and all small ones wait behind it.",
        (
            Sign("stream-on-one-device", 2.5),
            Sign("log-device", 1, lambda v: v["bytes"] >= 32 << 10),
        ),
        ("slog-divert",),
        look=Look(
            "zpool iostat -v 1; zfs get logbias",
            (
                ("the log writes 100 MB/s, the disks nothing", "send large commits to the pool (zfs_slog_limit)"),
                ("both write", "the log is not the limit"),
            ),
        ),
    ),
    Cause(
        "fan-out-tail",
        "A request waits for the slowest of many servers: rare slow answers meet most requests.",
        (Sign("slow-by-number", 3),),
        ("tail-at-scale",),
        look=Look(
            "the distributions of one server's answers and of the requests",
            (
                ("1 - (1 - p)^n agrees", "ask a second replica after the 95th percentile (hedging)"),
                ("not", "one server is slow: compare them"),
            ),
        ),
    ),
    Cause(
        "devices-starved",
        "The layer above hands each device one or two requests at a time, and devices that need more stay slow.",
        (Sign("devices-starved", 2.5), Sign("writes-held-back", 0.5)),
        ("tune-openzfs",),
        look=Look(
            "cat /sys/module/zfs/parameters/zfs_vdev_max_active; zpool iostat -q 1",
            (("one or two active, many pending", "allow more in flight"), ("ten or more", "the devices limit")),
        ),
    ),
    Cause(
        "measured-client",
        "The benchmark measured its client: a processor, memory or the link, not the server.",
        (Sign("client-core-full", 2), Sign("test-in-memory", 1), Sign("link-full", 1)),
        ("bonnie-decoded", "eleven-metrics"),
        look=Look(
            "top -H on the client during the test",
            (("one thread at 100%", "a faster client, or several"), ("idle", "the server or the round trip")),
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
