"""Reports that are named only: tools whose output has no number that a rule uses yet, and what it would show."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from seeklab.bring.block import Block

if TYPE_CHECKING:
    from seeklab.bring.lines import Lines


class Form(NamedTuple):
    """A form: the tool, its first line, and what it shows."""

    tool: str
    mark: str
    note: str


FORMS = (
    Form(
        "zpool-events",
        r"TIME\s+CLASS$",
        "events of the pool, such as I/O errors and slow requests (ereport.fs.zfs.delay)",
    ),
    Form("zfs-list", r"NAME\s+USED\s+AVAIL\s+REFER\s", "how much each dataset holds"),
    Form(
        "zdb",
        r"(?:MOS Configuration:|vdev_tree:|Cached configuration:|Block Size Histogram)",
        "the pool's layout and ashift",
    ),
    Form("zilstat", r"N-Bytes\s+N-Bytes/s\s", "bytes through the intent log"),
    Form("perf-script", r"\S.{0,80}\(\[kernel\.kallsyms\]\)", "events of the kernel with their stacks"),
    Form("perf-stat", r"Performance counter stats for ", "counters of the processor"),
    Form("cachestat", r"(?:HITS\s+MISSES\s|HITRATIO|TIME\s+HITS\s)", "hits and misses of the page cache"),
    Form("slabtop", r"Active / Total Objects", "the kernel's own memory"),
    Form(
        "netdev",
        r"(?:\d{1,3}: \w[\w.@-]{0,20}: <[A-Z,_]+> mtu |(?:eth|en|bond|em|wl)\w{1,12}: flags=\d+<)",
        "addresses, and dropped packets with -s",
    ),
    Form("ethtool", r"Settings for \S{1,20}:$", "the speed and duplex of the link"),
    Form("tc", r"qdisc \w{2,20} [0-9a-f]{1,5}: ", "queues and drops of the network interface"),
    Form("mtr", r"(?:HOST: |traceroute to |Start: \d{4}-)", "the path of packets and their loss"),
    Form("iperf", r"\[\s?\d{1,3}\]\s+\d[\d.]*-\d[\d.]*\s+sec\s", "the rate of the network"),
    Form("mount", r"\S{1,60} on / type ", "mount options, such as sync, discard and data="),
    Form("findmnt", r"TARGET\s+SOURCE\s+FSTYPE\s+OPTIONS", "mount options"),
    Form("fstab", r"(?:UUID=|/dev/)\S{1,120}\s+\S{1,200}\s+(?:ext[234]|xfs|btrfs|nfs4?|swap|vfat)\s", "mount options"),
    Form("xfs_info", r"meta-data=\S", "the layout of the file system"),
    Form("tune2fs", r"(?:tune2fs \d|Filesystem volume name:)", "features and journal of the file system"),
    Form(
        "btrfs",
        r"(?:Overall:$|Label: .{1,80}uuid: |scrub (?:started|device|status)|Data, \w+: ?(?:total|Size))",
        "use and state of a btrfs file system",
    ),
    Form(
        "dmsetup",
        r"\S{1,80}: \d{1,15} \d{1,15} thin-pool ",
        "layers of the device mapper",
    ),
    Form(
        "vdostats", r"Device\s+(?:1K-blocks|Size)\s+Used\s+Available\s+Use%\s+Space saving%", "how full a VDO volume is"
    ),
    Form("lsscsi", r"\[\d+:\d+:\d+:\d+\]\s+(?:disk|enclosu|cd)", "which device is which drive"),
    Form("nvme-list", r"Node\s+(?:Generic\s+)?SN\s+Model\s", "the drives' models and firmware"),
    Form(
        "lspci",
        r"(?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7] \w",
        "controllers, and the width and speed of their links with -vv",
    ),
    Form("interrupts", r"CPU0(?:\s+CPU\d+){0,400}\s*$", "interrupts by processor: read twice, the difference counts"),
    Form(
        "swap",
        r"total: \S+ (?:bytes )?allocated \+|swapfile\s+dev\s|Filename\s+Type\s+Size\s+Used\s",
        "the space that swapping uses",
    ),
    Form("uptime", r"\d\d:\d\d(?::\d\d)?\s+up\s", "the load, which counts processes that wait for the disk"),
    Form("sysctl", r"(?:vm|net|fs|kernel)\.[a-z_.0-9]{3,60} = ", "settings of the kernel"),
    Form("drbd", r"(?:version: \d.{0,40}\(api:|\d{1,3}: cs:\w+ ro:)", "the state of a replicated device"),
    Form(
        "virsh",
        r"(?:vd[a-z]|sd[a-z]|hd[a-z]) (?:rd_req|rd_bytes|wr_req|flush_operations) \d",
        "counters of a guest's disk since its start",
    ),
    Form("gluster-profile", r"Brick: \S|Cumulative Stats:|%-latency\s+Avg-latency", "times of a brick by operation"),
    Form(
        "storcli",
        r"CLI Version = |DG/VD TYPE\s+State\s|EID:Slt DID State|Ctl Model\s+Ports",
        "a controller's volumes, drives and cache policy",
    ),
    Form(
        "kubectl",
        r"(?:Type\s+Reason\s+Age\s+From\s+Message|LAST SEEN\s+TYPE\s+REASON|NAME\s+READY\s+STATUS\s)",
        "events of pods and nodes, such as DiskPressure and failed mounts",
    ),
    Form("docker", r"(?:CONTAINER ID\s+(?:NAME|IMAGE)\s|Storage Driver: )", "containers and their storage driver"),
    Form("lustre", r"(?:obdfilter\.|osd-\w+\.|osc\.)\S{3,120}[.=]", "statistics of a Lustre server or client"),
    Form("physical-disk", r"(?:Number|DeviceId)\s+FriendlyName\s+", "the drives of Windows, their kind and health"),
    Form(
        "fs_usage",
        r"\d\d:\d\d:\d\d(?:\.\d{6})?\s+(?:WrData|RdData|RdMeta|WrMeta|fsync|fcntl)\S{0,6}\s",
        "the calls of macOS's processes with their times",
    ),
    Form("collectl", r"#<-{2,}CPU-{2,}>|#cpu sys inter", "rates a second"),
    Form("netstat-i", r"Iface\s+MTU\s+(?:Met\s+)?RX-OK", "dropped packets"),
)
TOOL = "zfs-list"
RARE = {"perf-script": "([kernel.kallsyms])", "mount": " on / type ", "dmsetup": " thin-pool "}
"""Texts that find a form faster than its pattern, which fits the beginning of many lines."""
STARTS = "|".join(form.mark for form in FORMS if form.tool not in RARE)
MARKS = [re.compile(form.mark) for form in FORMS]
HOLDS: tuple[str, ...] = tuple(RARE.values())
MAX_LINES = 400


def read(lines: Lines, at: int) -> Block | None:
    """Return the report that starts at `at`: its lines up to a blank one."""
    for form, mark in zip(FORMS, MARKS, strict=True):
        if mark.match(lines[at].lstrip()):
            end = at
            while end < min(len(lines), at + MAX_LINES) and (lines[end].strip() or _continues(lines, end)):
                end += 1
            return Block(form.tool, at + 1, end, notes=[f"{form.tool} shows {form.note}"])
    return None


def _continues(lines: Lines, at: int) -> bool:
    """Return whether an indented line follows an empty one."""
    return at + 1 < len(lines) and lines[at + 1][:1].isspace() and bool(lines[at + 1].strip())
