"""Statements of a report: errors, a disabled cache, a running scrub, a slow sync."""

from __future__ import annotations

import re
from statistics import fmean
from typing import TYPE_CHECKING

from seeklab.bring.block import Event, Value
from seeklab.diagnosis.reading import Reading, Strength, count, rate
from seeklab.diagnosis.reading import time as in_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from seeklab.bring.block import Block

GROUP = re.compile(r"(?:mirror|raidz[123]?|draid\S{0,40}|spare|replacing)-\d{1,4}")
SMR = re.compile(
    r"ST[2-8]000(?:DM00[4-8]|LM0(?:00|07|15|24)|AS000)|WD[2346]0E(?:FAX|ZAZ|DAZ)|WD[12]0(?:SPZX|SMZ)|ST8000AS"
    r"|ST5000LM|MQ04",
    re.IGNORECASE,
)
"""Models that their makers declared drive-managed SMR (data sheets and lists of Seagate, Western Digital and Toshiba,
2020)."""
DISABLED = re.compile(r"disabled|write ?-?through|\boff\b", re.IGNORECASE)
BACK = re.compile(r"write ?-?back", re.IGNORECASE)
OTHER_CACHE = re.compile(r"drive|disk|default")
FAILED = re.compile(r"fail|degraded|bad|replace|missing|not present|charging|learn", re.IGNORECASE)
SMART_BAD = {
    "Reallocated_Sector_Ct": "reallocated sectors",
    "Current_Pending_Sector": "pending sectors",
    "Offline_Uncorrectable": "uncorrectable sectors",
    "Reported_Uncorrect": "uncorrectable errors",
    "media_errors": "media errors",
    "Media and Data Integrity Errors": "media errors",
}
CRITICAL = {
    1: "its spare capacity is nearly used up",
    2: "its temperature is out of range",
    4: "media errors or an internal error have made it unreliable",
    8: "it allows only reads",
    16: "the backup of its memory has failed",
}
"""Bits of an NVMe drive's critical warning (NVM Express Base Specification, SMART / Health Information log)."""
HOT = 2
HEAT = (
    "warning temperature time",
    "warning comp. temperature time",
    "critical composite temperature time",
    "critical comp. temperature time",
)
WORN, MANY_DEFECTS = 100.0, 10.0
DEVICES = (
    re.compile(r"\[(sd[a-z]{1,3})\]"),
    re.compile(r"\bdev (sd[a-z]{1,3}|nvme\d{1,4}n\d{1,4})\b"),
    re.compile(r"(?<![\w.-])(sd[a-z]{1,3}|nvme\d{1,4}(?:n\d{1,4})?)(?![\w.-])"),
)
"""Names of disks in a line, the surest first."""
WORKERS = ("z_wr_iss", "z_rd_int", "kcryptd", "dmcrypt")
"""Threads that compress, encrypt or check data."""
BATTERY = ("learn started", "write-through")
EVENTS = {
    "medium error": "reports medium errors: sectors that the drive cannot read",
    "I/O error": "reports I/O errors",
    "link errors": "reports errors of the link to a drive (cable, power, or power saving of the link)",
    "command failed": "reports failed commands",
    "reset": "resets a link or controller",
    "timeout": "reports timeouts",
    "removed": "reports a device that was taken out of service",
    "lost interrupt": "reports requests that the device had completed while the interrupt never came",
    "blocked": "reports tasks that were blocked for minutes",
    "read-only": "reports a file system that went read-only",
    "link speed": "reports a link at reduced speed",
    "file system error": "reports that a file system found damaged metadata or could not commit",
    "soft lockup": "reports a thread that kept a core for many seconds",
    "journal wait": "shows a task that waits for the journal of a file system",
    "write cache off": "says that a drive's write cache is off",
    "memory": "reports that memory ran out",
    "nfs not responding": "reports an NFS server that does not answer",
    "cifs not responding": "reports an SMB server that does not answer",
    "iscsi timeout": "reports timeouts of an iSCSI connection",
    "path failed": "reports that a path to the storage failed",
    "thin pool full": "reports that a thin pool has no free space",
    "array degraded": "reports an array that lost a member",
    "throttled by heat": "reports that heat slows the host down",
}
SPOKEN_ONE = {
    "gc overhead": "garbage collection",
    "slow apply": "slow request",
    "slow requests": "warning of slow requests",
    "slow disk": "stall of a write",
    "checkpoint": "checkpoint with a sync",
}
PLURALS = {
    "slow disk": "stalls of a write",
    "slow requests": "warnings of slow requests",
    "checkpoint": "checkpoints with a sync",
}
SPOKEN = {
    "slow fsync": "slow fsyncs",
    "checkpoints too frequent": "too frequent checkpoints",
    "checkpoint forced": "checkpoints that the amount of log forced",
    "bad sectors": "sectors that cannot be read",
    "failing": "a drive that fails its own test",
    "errors grow": "a growing count of errors",
    "disk watermark": "a file system that is nearly full",
    "queue full": "a full queue of a device",
    "disk pressure": "a node whose disk is nearly full",
    "no path": "a path without a device that answers",
    "aborted command": "commands that were aborted, timed out or reset",
    "busy device": "a busy device or path",
    "device not ready": "a device that is not ready",
    "medium error": "sectors that a device cannot read",
    "hardware error": "a fault of a device's hardware",
    "refused command": "a command that a device does not support, which is harmless",
    "unit attention": "a device that was reset or changed",
    "lost access": "a volume that does not answer",
}


def read(blocks: Sequence[Block]) -> Iterator[Reading]:
    """Yield the statements of blocks."""
    for block in blocks:
        events = [record for record in block.records if isinstance(record, Event)]
        if block.tool == "dmesg":
            yield from _kernel(events)
        elif block.tool == "controller-log":
            yield from _battery(events)
        elif events:
            yield from _program(block.tool, events)
        values = [record for record in block.records if isinstance(record, Value)]
        if says := STATEMENTS.get(block.tool):
            yield from says(values)


def _kernel(events: Sequence[Event]) -> Iterator[Reading]:
    for code in dict.fromkeys(event.code for event in events):
        of = [event for event in events if event.code == code]
        named = [event.subject for event in of if event.subject and event.subject != "dmesg"]
        # A subject such as `sdb` may be in the text of a line of which the pattern found none.
        named += [name for event in of if (name := _device(event.text))]
        # Lines of libata about one command follow each other, and not all of them name the port.
        named = named or [event.subject for event in events if event.subject not in ("", "dmesg")]
        subject = next((name for name in named if re.match(r"sd|nvme", name)), named[0] if named else "kernel")
        if code not in EVENTS:
            continue
        longest = max((event.ms or 0.0 for event in of), default=0.0)
        yield Reading(
            f"kernel-{code.replace(' ', '-').lower().replace('/', '')}",
            subject,
            f"The kernel log {EVENTS[code]} ({subject}, {len(of)} {'line' if len(of) == 1 else 'lines'}).",
            "",
            Strength.WORDS,
            {"lines": len(of), "ms": longest, "is_worker": float(subject.startswith(WORKERS))},
        )


def _device(text: str) -> str:
    """Return the disk that a line of the kernel names; words such as `sdlc` may be part of the host's name."""
    found = (match for pattern in DEVICES if (match := pattern.search(text)))
    return next((match[1] for match in found), "")


def _program(tool: str, events: Sequence[Event]) -> Iterator[Reading]:
    program = tool.removesuffix("-log")
    for code in dict.fromkeys(event.code for event in events):
        of = [event for event in events if event.code == code]
        times = [event.ms for event in of if event.ms is not None]
        ats = [event.at_s for event in of if event.at_s is not None]
        span = max(ats) - min(ats) if len(ats) > 1 else 0.0
        within = f" within {in_time(1e3 * span) if span < 120 else f'{span / 60:.0f} min'}" if span else ""
        if not times:
            if code in SPOKEN or code == "slow requests":
                yield Reading(
                    f"{program}-{code.replace(' ', '-')}",
                    program,
                    f"{program} reports {SPOKEN.get(code, code)} {count(len(of))} times{within}.",
                    strength=Strength.WORDS,
                    values={"lines": len(of)},
                )
            continue
        what = SPOKEN_ONE.get(code, code)
        several = PLURALS.get(code, f"{what}es" if what.endswith("sh") else f"{what}s")
        least = (
            " The log names only calls above its threshold, so these are outliers and no mean follows."
            if min(times) >= 90 and len(times) > 1 and code != "checkpoint"
            else ""
        )
        range_ = f"{in_time(min(times))} to {in_time(max(times))}" if len(times) > 1 else in_time(times[0])
        yield Reading(
            f"{program}-{code.replace(' ', '-')}",
            program,
            f"{program} reports {f'{len(times)} {several}' if len(times) > 1 else f'one {what}'} of "
            f"{range_}{within}.{least}",
            strength=Strength.WORDS,
            values={"lines": len(times), "ms": fmean(times), "max_ms": max(times)},
        )
    starts = [event.at_s for event in events if event.code == "rewrite started" and event.at_s is not None]
    ends = [event.at_s for event in events if event.code == "rewrite ended" and event.at_s is not None]
    slow = [event.at_s for event in events if event.code == "slow fsync" and event.at_s is not None]
    if starts and ends and slow and max(ends) > min(starts):
        inside = [at for at in slow if min(starts) <= at <= max(ends) + 10]
        if len(inside) > 0.7 * len(slow):
            took = max(ends) - min(starts)
            yield Reading(
                "rewrite-with-slow-fsync",
                program,
                f"The slow fsyncs of {program} fall between the start and the end of its rewrite, which takes "
                f"{count(took)} s: the rewrite "
                "occupies the device, and fsync waits behind it.",
                f"{len(inside)} of {len(slow)} warnings within {count(took)} s",
                Strength.WORDS,
                {"s": took},
            )


def _controller(values: Sequence[Value]) -> Iterator[Reading]:
    is_default_back = any("default" in value.name.lower() and BACK.search(str(value.value)) for value in values)
    for value in values:
        text, name = str(value.value), value.name.lower()
        # The cache of the drives behind a controller is usually off, and a default policy is not the one in use.
        if re.search(r"cache|write policy", name) and DISABLED.search(text) and not OTHER_CACHE.search(name):
            is_chosen = "policy" in name and not is_default_back
            yield Reading(
                "policy-write-through" if is_chosen else "cache-disabled",
                "controller",
                f"The controller says: {value.name}: {text}. Every write waits for the drives.",
                "",
                Strength.WORDS,
            )
        elif re.search(r"batter|capacitor|bbu|supercap", name) and FAILED.search(text):
            yield Reading(
                "battery-failed", "controller", f"The controller says: {value.name}: {text}.", "", Strength.WORDS
            )


def _battery(events: Sequence[Event]) -> Iterator[Reading]:
    """Find a learn cycle of a controller's battery, during which its policy is write-through."""
    at = {code: next((event.at_s for event in events if event.code == code), None) for code in BATTERY}
    started, through = at["learn started"], at["write-through"]
    if not any(event.code == "write-through" for event in events):
        return
    ends = [event.at_s for event in events if event.code == "write-back" and event.at_s is not None]
    end = next((time for time in ends if through is not None and time > through), None)
    lasts = f" for {(end - through) / 60:.0f} min" if end is not None and through is not None else ""
    after = f", {(through - started) / 60:.0f} min after a learn cycle began" if started and through else ""
    yield Reading(
        "write-through",
        "controller",
        f"The controller's log says that its policy changes to write-through{after}{lasts}: until it is write-back "
        "again, every write waits for the disks.",
        "",
        Strength.WORDS,
        {"is_learning": float(started is not None), "s": (end - through) if end and through else 0.0},
    )


def _partitions(values: Sequence[Value]) -> Iterator[Reading]:
    for disk in dict.fromkeys(value.subject for value in values):
        of = {value.name: value.value for value in values if value.subject == disk and isinstance(value.value, float)}
        block = of.get("physical block", 512.0)
        for name, start in of.items():
            if name.startswith("start") and block > 512 and start % block:
                yield Reading(
                    "partition-misaligned",
                    disk,
                    f"The {name} of {disk} is byte {start:,.0f}, which is {start % block:,.0f} bytes into a physical "
                    f"block of {block:,.0f}.",
                    f"{start:,.0f} mod {block:,.0f} = {start % block:,.0f}",
                    Strength.WORDS,
                    {"start": start, "block": block},
                )


def _drive(values: Sequence[Value]) -> Iterator[Reading]:
    said = list(_counters(values))
    yield from said or _no_errors(values)


def _counters(values: Sequence[Value]) -> Iterator[Reading]:
    for value in values:
        if value.name in SMART_BAD and isinstance(value.value, float) and value.value > 0:
            yield Reading(
                "smart-errors",
                value.subject,
                f"The drive counts {value.value:,.0f} {SMART_BAD[value.name]}.",
                "",
                Strength.WORDS,
                {"count": value.value},
            )
        elif value.name in ("Device Model", "Model Number", "Product") and SMR.search(str(value.value)):
            yield _smr(str(value.value))
        elif "Write Cache is" in value.name or (value.name == "Write cache is" and "Disabled" in str(value.value)):
            yield Reading(
                "drive-cache-off", value.subject, f"The drive's write cache is {value.value}.", "", Strength.WORDS
            )
        elif value.name.startswith("SMART overall") and "FAILED" in str(value.value):
            yield Reading(
                "smart-errors", value.subject, "The drive's self-assessment failed.", "", Strength.WORDS, {"count": 1}
            )
        elif (says := _health(value)) is not None:
            yield says


def _no_errors(values: Sequence[Value]) -> Iterator[Reading]:
    """Say that a drive's own counters show no error, if it has such counters and none of them does."""
    counted = [value for value in values if value.name in SMART_BAD and isinstance(value.value, float)]
    if counted:
        yield Reading(
            "drive-counts-no-errors",
            counted[0].subject,
            f"The drive counts no {SMART_BAD[counted[0].name]}. It does not record how long requests take, so it may "
            "be slow all the same.",
            strength=Strength.CONTEXT,
        )


def _health(value: Value) -> Reading | None:
    """Return what a SCSI drive's health, a drive's list of defects, or the warnings of an NVMe drive say."""
    name, said = value.name.lower().replace("_", " "), str(value.value)
    number = value.value if isinstance(value.value, float) else 0.0
    id_, sentence = "", ""
    if name == "smart health status" and said.split()[:1] != ["OK"]:
        id_, sentence = "smart-errors", f"The drive says: {said}."
    elif name == "critical warning" and (bits := _bits(said)):
        meaning = "; ".join(text for bit, text in CRITICAL.items() if bits & bit) or said
        id_, sentence = "drive-hot" if bits == HOT else "smart-errors", f"The drive warns: {meaning}."
    elif name == "udma crc error count" and number > 0:
        id_, sentence = "link-errors", f"The drive counts {number:,.0f} transfer errors: a cable, a backplane or power."
    elif name == "elements in grown defect list" and number > MANY_DEFECTS:
        id_, sentence = "smart-errors", f"The drive has {number:,.0f} grown defects."
    elif name in HEAT and number > 0:
        id_ = "drive-hot"
        sentence = f"The drive was too hot for {number:,.0f} minutes of its life, and slows down when it is."
    elif name == "percentage used" and number >= WORN:
        id_, sentence = "drive-worn", f"The drive has used {number:.0f}% of its rated life."
    return Reading(id_, value.subject, sentence, "", Strength.WORDS, {"count": max(1.0, number)}) if id_ else None


def _bits(text: str) -> int:
    """Return the bits of a warning: `0x04`, `4` or `4.0`; 0 for a word."""
    word = text.partition(" ")[0]
    if re.fullmatch(r"0x[0-9a-fA-F]{1,4}", word):
        return int(word, 16)
    return int(float(word)) if re.fullmatch(r"\d{1,3}(?:\.0)?", word) else 0


def _smr(name: str) -> Reading:
    return Reading(
        "smr-model",
        name[:40],
        f"The model {name[:40]} is drive-managed SMR, according to its maker.",
        "",
        Strength.WORDS,
    )


def _pool(values: Sequence[Value]) -> Iterator[Reading]:
    running = {value.subject: value for value in values if value.name == "scan running"}
    for pool, value in running.items():
        issued = next((each.value for each in values if each.subject == pool and each.name == "issued rate"), None)
        scanned = next((each.value for each in values if each.subject == pool and each.name == "scanned rate"), None)
        done = next((each.value for each in values if each.subject == pool and each.name == "scan done"), None)
        speed = issued if isinstance(issued, float) else scanned
        at = f" at {rate(speed)}" if isinstance(speed, float) else ""
        share = f", {count(done)}% done" if isinstance(done, float) else ""
        yield Reading(
            "scan-running",
            pool or "pool",
            f"The pool runs a {value.value}{at}{share}. It shares the disks with everything else.",
            "",
            Strength.WORDS,
            {
                "bytes_per_s": float(speed) if isinstance(speed, float) else 0.0,
                "is_resilver": float(value.value == "resilver"),
            },
        )
    bad = [
        value
        for value in values
        if (value.name == "state" and value.value in ("DEGRADED", "FAULTED", "UNAVAIL", "REMOVED"))
        or value.name in ("read errors", "write errors", "checksum errors")
    ]
    of_devices = {value.name for value in bad if "/" in value.subject and not _is_group(value.subject)}
    for value in bad:
        pool, _, name = value.subject.rpartition("/")
        # A group inherits the state and the errors of its devices. The first line of the tree repeats the pool's state.
        is_repeated = value.name in of_devices or (pool == name and value.name == "state")
        if _is_group(value.subject) and is_repeated:
            continue
        if value.name == "state":
            yield Reading("pool-state", value.subject, f"{value.subject} is {value.value}.", "", Strength.WORDS)
        else:
            yield Reading(
                "pool-errors", value.subject, f"{name} counts {value.value:,.0f} {value.name}.", "", Strength.WORDS
            )
    seen = {match[0] for value in values if (match := SMR.search(value.subject))}
    for name in sorted(seen):
        yield _smr(name)


def _is_group(subject: str) -> bool:
    """Whether a line of `zpool status` is the pool or a group of devices."""
    pool, _, name = subject.rpartition("/")
    return bool(pool) and (name == pool or GROUP.fullmatch(name) is not None)


def _array(values: Sequence[Value]) -> Iterator[Reading]:
    rates = {value.subject: value.value for value in values if value.name == "running rate"}
    for value in values:
        if value.name == "running":
            speed = float(rates.get(value.subject, 0.0))
            yield Reading(
                "scan-running",
                value.subject,
                f"{value.subject} runs a {value.value}{f' at {rate(speed)}' if speed else ''}, which shares the "
                "disks with "
                "everything else.",
                "",
                Strength.WORDS,
                {"is_resilver": float(value.value in ("recovery", "resync")), "bytes_per_s": speed},
            )


def _properties(values: Sequence[Value]) -> Iterator[Reading]:
    for value in values:
        if value.name == "sync" and value.value == "disabled":
            yield Reading(
                "sync-disabled",
                value.subject,
                f"{value.subject} has sync=disabled: syncs return at once.",
                "",
                Strength.WORDS,
            )
        elif value.name == "compression" and str(value.value).startswith("gzip"):
            yield Reading(
                "gzip",
                value.subject,
                f"{value.subject} compresses with {value.value}, which takes a core per stream.",
                "",
                Strength.WORDS,
            )
        elif value.name in ("capacity", "cap") and isinstance(value.value, float) and value.value > 90:
            yield Reading(
                "pool-full",
                value.subject,
                f"{value.subject} is {value.value:.0f}% full.",
                "",
                Strength.WORDS,
                {"share": value.value / 100},
            )
        elif value.name == "fragmentation" and isinstance(value.value, float) and value.value > 50:
            yield Reading(
                "pool-fragmented",
                value.subject,
                f"{value.subject} is {value.value:.0f}% fragmented.",
                "",
                Strength.WORDS,
            )


STATEMENTS: Mapping[str, Callable[[Sequence[Value]], Iterator[Reading]]] = {
    "controller": _controller,
    "smartctl": _drive,
    "nvme-smart": _drive,
    "storcli": _controller,
    "zpool-status": _pool,
    "zpool-list": _properties,
    "mdstat": _array,
    "zfs-get": _properties,
    "parted": _partitions,
}
"""The readings of reports of state, by tool."""
