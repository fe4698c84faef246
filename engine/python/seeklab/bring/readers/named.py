"""Reports that are named only: tools whose output has no number that a rule uses yet, and what it would show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seeklab.bring.forms import Form, Forms

if TYPE_CHECKING:
    from seeklab.bring.block import Record
    from seeklab.bring.lines import Lines


SHOWN = (
    (
        "zpool-events",
        r"TIME\s+CLASS$",
        "events of the pool, such as I/O errors and slow requests (ereport.fs.zfs.delay)",
    ),
    ("zfs-list", r"NAME\s+USED\s+AVAIL\s+REFER\s", "how much each dataset holds"),
    (
        "zdb",
        r"(?:MOS Configuration:|vdev_tree:|Cached configuration:|Block Size Histogram)",
        "the pool's layout and ashift",
    ),
    ("zilstat", r"N-Bytes\s+N-Bytes/s\s", "bytes through the intent log"),
    ("perf-script", r"\S.{0,80}\(\[kernel\.kallsyms\]\)", "events of the kernel with their stacks"),
    ("perf-stat", r"Performance counter stats for ", "counters of the processor"),
    ("cachestat", r"(?:HITS\s+MISSES\s|HITRATIO|TIME\s+HITS\s)", "hits and misses of the page cache"),
    ("slabtop", r"Active / Total Objects", "the kernel's own memory"),
    (
        "netdev",
        r"(?:\d{1,3}: \w[\w.@-]{0,20}: <[A-Z,_]+> mtu |(?:eth|en|bond|em|wl)\w{1,12}: flags=\d+<)",
        "addresses, and dropped packets with -s",
    ),
    ("ethtool", r"Settings for \S{1,20}:$", "the speed and duplex of the link"),
    ("tc", r"qdisc \w{2,20} [0-9a-f]{1,5}: ", "queues and drops of the network interface"),
    ("mtr", r"(?:HOST: |traceroute to |Start: \d{4}-)", "the path of packets and their loss"),
    ("mount", r"\S{1,60} on / type ", "mount options, such as sync, discard and data="),
    ("findmnt", r"TARGET\s+SOURCE\s+FSTYPE\s+OPTIONS", "mount options"),
    ("fstab", r"(?:UUID=|/dev/)\S{1,120}\s+\S{1,200}\s+(?:ext[234]|xfs|btrfs|nfs4?|swap|vfat)\s", "mount options"),
    ("xfs_info", r"meta-data=\S", "the layout of the file system"),
    ("tune2fs", r"(?:tune2fs \d|Filesystem volume name:)", "features and journal of the file system"),
    (
        "btrfs",
        r"(?:Overall:$|Label: .{1,80}uuid: |scrub (?:started|device|status)|Data, \w+: ?(?:total|Size))",
        "use and state of a btrfs file system",
    ),
    (
        "dmsetup",
        r"\S{1,80}: \d{1,15} \d{1,15} thin-pool ",
        "layers of the device mapper",
    ),
    ("vdostats", r"Device\s+(?:1K-blocks|Size)\s+Used\s+Available\s+Use%\s+Space saving%", "how full a VDO volume is"),
    ("lsscsi", r"\[\d+:\d+:\d+:\d+\]\s+(?:disk|enclosu|cd)", "which device is which drive"),
    ("nvme-list", r"Node\s+(?:Generic\s+)?SN\s+Model\s", "the drives' models and firmware"),
    (
        "lspci",
        r"(?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7] \w",
        "controllers, and the width and speed of their links with -vv",
    ),
    ("interrupts", r"CPU0(?:\s+CPU\d+){0,400}\s*$", "interrupts by processor: read twice, the difference counts"),
    (
        "swap",
        r"total: \S+ (?:bytes )?allocated \+|swapfile\s+dev\s|Filename\s+Type\s+Size\s+Used\s",
        "the space that swapping uses",
    ),
    ("uptime", r"\d\d:\d\d(?::\d\d)?\s+up\s", "the load, which counts processes that wait for the disk"),
    ("sysctl", r"(?:vm|net|fs|kernel)\.[a-z_.0-9]{3,60} = ", "settings of the kernel"),
    ("drbd", r"(?:version: \d.{0,40}\(api:|\d{1,3}: cs:\w+ ro:)", "the state of a replicated device"),
    (
        "virsh",
        r"(?:vd[a-z]|sd[a-z]|hd[a-z]) (?:rd_req|rd_bytes|wr_req|flush_operations) \d",
        "counters of a guest's disk since its start",
    ),
    (
        "storcli",
        r"CLI Version = |DG/VD TYPE\s+State\s|EID:Slt DID State|Ctl Model\s+Ports",
        "a controller's volumes, drives and cache policy",
    ),
    (
        "kubectl",
        r"(?:Type\s+Reason\s+Age\s+From\s+Message|LAST SEEN\s+TYPE\s+REASON|NAME\s+READY\s+STATUS\s)",
        "events of pods and nodes, such as DiskPressure and failed mounts",
    ),
    ("docker", r"(?:CONTAINER ID\s+(?:NAME|IMAGE)\s|Storage Driver: )", "containers and their storage driver"),
    ("lustre", r"(?:obdfilter\.|osd-\w+\.|osc\.)\S{3,120}[.=]", "statistics of a Lustre server or client"),
    ("physical-disk", r"(?:Number|DeviceId)\s+FriendlyName\s+", "the drives of Windows, their kind and health"),
    (
        "fs_usage",
        r"\d\d:\d\d:\d\d(?:\.\d{6})?\s+(?:WrData|RdData|RdMeta|WrMeta|fsync|fcntl)\S{0,6}\s",
        "the calls of macOS's processes with their times",
    ),
    ("collectl", r"#<-{2,}CPU-{2,}>|#cpu sys inter", "rates a second"),
    ("netstat-i", r"Iface\s+MTU\s+(?:Met\s+)?RX-OK", "dropped packets"),
)
"""Each tool, its first line, and what it shows."""
TOOL = "zfs-list"
RARE = {"perf-script": "([kernel.kallsyms])", "mount": " on / type ", "dmsetup": " thin-pool "}
"""Texts that find a form faster than its pattern, which fits the beginning of many lines."""
MAX_LINES = 400


def _parse(lines: Lines, at: int) -> tuple[list[Record], int]:
    """Return no records, and the end of the lines up to a blank one."""
    end = at
    while end < min(len(lines), at + MAX_LINES) and (lines[end].strip() or _continues(lines, end)):
        end += 1
    return [], end


def _continues(lines: Lines, at: int) -> bool:
    """Return whether an indented line follows an empty one."""
    return at + 1 < len(lines) and lines[at + 1][:1].isspace() and bool(lines[at + 1].strip())


FORMS = Forms(*(Form(tool, mark, _parse, f"shows {what}", RARE.get(tool, "")) for tool, mark, what in SHOWN))
STARTS, HOLDS, read = FORMS.starts, FORMS.holds, FORMS.read
