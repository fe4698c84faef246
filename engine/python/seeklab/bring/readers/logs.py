"""Log lines that name a duration or an error: etcd and k3s, Redis, Ceph, PostgreSQL, CockroachDB, and the kernel.

A pattern recognises a message wherever it is in its line, so that prefixes (dates, hosts, journald) do not matter.
Lines of
one tool that follow each other, with at most three other lines between them, make a block.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from seeklab.bring.block import Block, Event, Value
from seeklab.bring.lines import command
from seeklab.bring.numbers import MS, ms, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from seeklab.bring.lines import Lines


class Message(NamedTuple):
    """A message of a program: its tool, its code, and how to find it."""

    tool: str
    code: str
    holds: tuple[str, ...]
    """Texts that the line contains, at least one: cheaper to find than the pattern."""
    pattern: re.Pattern[str]
    """Named groups: `time` (a duration in seconds, or with a unit), `ms`, `us`, `subject`."""


def _message(tool: str, code: str, holds: str | tuple[str, ...], pattern: str) -> Message:
    return Message(tool, code, (holds,) if isinstance(holds, str) else holds, re.compile(pattern))


TIME = r"(?P<time>(?:\d{1,4}h)?(?:\d{1,4}m)?\d{1,9}(?:\.\d{1,9})?\s?(?:ns|us|µs|ms|s|m|h)?)"
MESSAGES = (
    _message("etcd-log", "slow sync", "sync duration of ", rf"sync duration of {TIME}"),
    _message("etcd-log", "slow sync", "slow fdatasync", rf"slow fdatasync.{{0,80}}?\"?took\"?[=: ]\s?\"?{TIME}"),
    _message(
        "etcd-log",
        "slow apply",
        "took too long",
        rf"(?:apply request took too long|took too long).{{0,200}}?\"?took\"?[=:]\s?\"?{TIME}",
    ),
    _message("etcd-log", "slow apply", "took too long (", rf"took too long \({TIME}\) to execute"),
    _message("etcd-log", "slow apply", "took too long [", rf"took too long \[{TIME} for "),
    _message(
        "etcd-log",
        "late heartbeat",
        "failed to send out heartbeat",
        r"failed to send out heartbeat on time.{0,60}?(?:exceeded the \S+ timeout for |\()(?P<time>\d[\d.]*\s?(?:ms"
        r"|s))",
    ),
    _message("etcd-log", "slow sql", "Slow SQL", rf"Slow SQL.{{0,80}}?(?:duration|took)[ =:]+{TIME}"),
    _message("redis-log", "slow fsync", "AOF fsync is taking", r"Asynchronous AOF fsync is taking too long"),
    _message(
        "redis-log",
        "rewrite started",
        ("rewriting of AOF", "file rewriting started", "saving started"),
        r"(?:Starting automatic rewriting of AOF|Background append only file rewriting started"
        r"|Background saving started)",
    ),
    _message(
        "redis-log",
        "rewrite ended",
        ("rewrite performed", "rewrite finished", "saving terminated"),
        r"(?:SYNC append only file rewrite performed|Background AOF rewrite finished|Background saving terminated)",
    ),
    _message("ceph-log", "slow request", "slow request ", rf"slow request {TIME}(?: seconds)? old"),
    _message(
        "ceph-log",
        "slow requests",
        ("slow requests", "slow ops"),
        r"\d+ slow (?:requests|ops)(?:, oldest one blocked for (?P<time>\d{1,7} s)ec)?",
    ),
    _message("ceph-log", "slow write", "log_latency", rf"log_latency\S*.{{0,80}}?(?:latency|lat) ?= ?{TIME}"),
    _message(
        "postgres-log", "checkpoint", "checkpoint complete", r"checkpoint complete:.{0,200}?sync=(?P<time>[\d.]+ s)"
    ),
    _message(
        "postgres-log",
        "checkpoint forced",
        ("checkpoint starting: wal", "checkpoint starting: xlog"),
        r"checkpoint starting: (?:wal|xlog)\b",
    ),
    _message("postgres-log", "slow statement", "LOG:  duration", r"LOG:  duration: (?P<time>[\d.]+ ms)"),
    _message(
        "postgres-log",
        "checkpoints too frequent",
        "checkpoints are occurring",
        r"checkpoints are occurring too frequently",
    ),
    _message(
        "cockroach-log",
        "slow disk",
        ("disk stall", "disk slowness"),
        rf"disk (?:stall|slowness) detected.{{0,120}}?(?:for |exceeded |within ){TIME}",
    ),
    _message(
        "zookeeper-log",
        "slow sync",
        "fsync-ing the write ahead log",
        rf"fsync-ing the write ahead log.{{0,60}}?took {TIME}",
    ),
    _message(
        "cassandra-log",
        "slow sync",
        "commit log syncs over the past",
        rf"commit log syncs over the past.{{0,80}}?average duration of {TIME}",
    ),
    _message(
        "mysql-log", "slow flush", "intended loop took", r"page_cleaner: \d+ms intended loop took (?P<time>\d{1,9}ms)"
    ),
    _message(
        "mysql-log",
        "semaphore wait",
        "seconds the semaphore",
        r"has waited at .{1,200} for (?P<time>[\d.]{1,12}) seconds the semaphore",
    ),
    _message("mongodb-log", "slow query", '"Slow query"', r"\"durationMillis\":(?P<ms>\d{1,9})"),
    _message("mongodb-log", "slow query", "protocol:op_", r"protocol:op_\w{2,12} (?P<time>\d{1,9}ms)"),
    _message(
        "mysql-log",
        "slow statement",
        "# Query_time: ",
        r"# Query_time: (?P<time>\d{1,9}(?:\.\d{1,9})?)\s+Lock_time: \d",
    ),
    _message(
        "elasticsearch-log",
        "gc overhead",
        "] overhead, spent [",
        rf"\[gc\].{{0,20}} overhead, spent \[{TIME}\] collecting in the last \[",
    ),
    _message(
        "elasticsearch-log",
        "disk watermark",
        "disk watermark [",
        r"(?:high|low|flood.stage) disk watermark \[[^\]]{1,12}\] exceeded",
    ),
    _message(
        "vmkernel-log",
        "slow device",
        "performance has deteriorated",
        r"(?P<subject>naa\.\w{4,40}|t10\.\S{4,60}|eui\.\w{4,40})?\s?performance has deteriorated.{0,120}? to "
        r"(?P<us>\d{1,12})",
    ),
    _message(
        "mssql-log",
        "slow request",
        "requests taking longer than",
        r"I/O requests taking longer than (?P<time>\d{1,4}) seconds to complete on file",
    ),
    _message(
        "kubelet-log",
        "disk pressure",
        ("HasDiskPressure", "has disk pressure", "reclaim ephemeral-storage"),
        r"(?:Kubelet|Node)HasDiskPressure|has disk pressure|reclaim ephemeral-storage",
    ),
    _message(
        "rabbitmq-log",
        "disk watermark",
        ("disk resource limit alarm set", "ree space is insufficient", "Free disk space is insufficient"),
        r"disk resource limit alarm set|[Ff]ree (?:disk )?space is insufficient",
    ),
    _message("vmkernel-log", "queue full", "D:0x28", r"H:0x0 D:0x28 "),
    *(
        _message(
            "vmkernel-log",
            code,
            "failed H:0x",
            rf"(?:\bdev(?:ice)? \"?(?P<subject>[\w.:-]{{4,80}})\"? )?failed {status}",
        )
        for code, status in (
            ("no path", r"H:0x1 "),
            ("aborted command", r"H:0x[358] "),
            ("busy device", r"H:0x2 |H:0x0 D:0x8 "),
            ("device not ready", r"H:0x0 D:0x2 .{0,24}sense data: 0x2 "),
            ("medium error", r"H:0x0 D:0x2 .{0,24}sense data: 0x3 "),
            ("hardware error", r"H:0x0 D:0x2 .{0,24}sense data: 0x4 "),
            ("refused command", r"H:0x0 D:0x2 .{0,24}sense data: 0x5 "),
            ("unit attention", r"H:0x0 D:0x2 .{0,24}sense data: 0x6 "),
        )
    ),
    _message("vmkernel-log", "lost access", "Lost access to volume", r"Lost access to volume (?P<subject>\S{4,60})"),
    _message(
        "smartd-log",
        "bad sectors",
        ("(pending) sectors", "ncorrectable sectors"),
        r"Device: (?P<subject>\S{1,60}).{0,80}?, \d{1,9} (?:Currently unreadable|Offline uncorrectable)",
    ),
    _message(
        "smartd-log",
        "failing",
        ("SMART Failure:", "FAILED SMART", "Failed SMART", "SMART Health Status:", "Self-Test Log Failed"),
        r"(?:Device: (?P<subject>\S{1,60}).{0,80}?)?(?:SMART Failure: |FAILED SMART|Failed SMART|Self-Test Log Failed"
        r"|SMART Health Status: (?!OK))",
    ),
    _message(
        "smartd-log",
        "errors grow",
        ("error count increased", "Error Count increased"),
        r"Device: (?P<subject>\S{1,60}).{0,80}?[Ee]rror [Cc]ount increased from",
    ),
    *(
        _message("controller-log", code, holds, pattern)
        for code, holds, pattern in (
            ("learn started", ("earn cycle", "relearn"), r"[Ll]earn cycle has started|[Bb]attery relearn started"),
            (
                "learn completed",
                ("earn cycle", "relearn"),
                r"[Ll]earn cycle has completed|[Bb]attery relearn completed",
            ),
            ("discharging", ("discharging", "relearn"), r"[Bb]attery is discharging|relearn in progress"),
            ("charge low", ("charge level",), r"charge level is below|charge level is not"),
            (
                "write-through",
                ("rite Through", "WT"),
                r"(?:policy|cache).{0,60}changed to Write Through|BBU disabled; changing WB",
            ),
            (
                "write-back",
                ("rite Back", "WB"),
                r"(?:policy|cache).{0,60}changed to Write Back|BBU enabled; changing WT",
            ),
        )
    ),
    _message(
        "dmesg",
        "nfs not responding",
        "not responding, ",
        r"nfs: server (?P<subject>\S{1,80}) not responding, (?:still trying|timed out)",
    ),
    _message(
        "dmesg",
        "cifs not responding",
        "has not responded in",
        r"(?P<subject>\\\\?\S{1,80}|[Ss]erver \S{1,80}) has not responded in",
    ),
    _message(
        "dmesg",
        "iscsi timeout",
        ("ping timeout of", "detected conn error"),
        r"connection\d+:\d+: (?:ping timeout of|detected conn error)",
    ),
    _message(
        "dmesg",
        "path failed",
        ("Failing path", "path failed", "mark as failed", "no usable path"),
        r"(?P<subject>\bsd[a-z]+\b|\bnvme\d+n\d+\b|\d+:\d+)?.{0,60}(?:Failing path|mark as failed|no usable path)"
        r"|path failed",
    ),
    _message(
        "dmesg",
        "thin pool full",
        ("out-of-data-space", "no free data space"),
        r"(?P<subject>\d+:\d+|\S{1,60}): (?:switching pool to out-of-data-space|reached low water mark"
        r"|no free data space)",
    ),
    _message(
        "dmesg",
        "array degraded",
        "Operation continuing on",
        r"(?P<subject>md/?\S{1,20})?.{0,80}Operation continuing on \d+ devices",
    ),
    _message(
        "dmesg",
        "throttled by heat",
        ("thermal throttl", "cpu clock throttled", "temperature above threshold"),
        r"thermal throttl|clock throttled|temperature above threshold",
    ),
    _message(
        "dmesg",
        "medium error",
        ("edium error", "Medium Error", "Unrecovered read error"),
        r"(?P<subject>\bsd[a-z]+\b|\bnvme\d+n\d+\b)?.{0,60}(?:critical medium error|Sense Key : Medium Error"
        r"|Unrecovered read error)",
    ),
    _message(
        "dmesg",
        "I/O error",
        "I/O error",
        r"I/O error,? ?(?:on )?dev(?:ice)? (?P<subject>[\w!-]{1,32})",
    ),
    _message(
        "dmesg",
        "link errors",
        "SError: {",
        r"(?P<subject>ata\d+): SError: \{[^}]{0,80}\b(?:PHYRdyChg|CommWake|10B8B|Dispar|BadCRC|LinkSeq|Handshk|PHYInt)",
    ),
    _message("dmesg", "link errors", "(ATA bus error)", r"Emask 0x[0-9a-f]{1,4} \(ATA bus error\)"),
    _message("dmesg", "timeout", "(timeout)", r"Emask 0x[0-9a-f]{1,4} \(timeout\)"),
    _message(
        "dmesg",
        "timeout",
        "abort_handler",
        r"\[(?P<subject>sd[a-z]{1,3})\].{0,20} uas_eh_abort_handler",
    ),
    _message("dmesg", "command failed", "failed command: ", r"(?:(?P<subject>ata\d+(?:\.\d+)?): )?failed command: "),
    _message(
        "dmesg",
        "reset",
        ("reset", "task abort"),
        r"(?P<subject>ata\d+(?:\.\d+)?|nvme\d+|sd [\d:]+|mpt\dsas\S*|usb \S+).{0,80}?(?:hard resetting link"
        r"|resetting controller|reset controller|Power-on or device reset|task abort|attempting task abort"
        r"|reset (?:\S+-speed|SuperSpeed))",
    ),
    _message(
        "dmesg",
        "removed",
        ("after probe failure", "after reset failure", "offline device", "offlined"),
        r"(?P<subject>nvme\d+|sd [\d:]+|\bsd[a-z]+\b)?.{0,60}(?:Removing after probe failure"
        r"|Disabling device after reset failure"
        r"|rejecting I/O to offline device|Device offlined)",
    ),
    _message(
        "dmesg", "lost interrupt", "completion polled", r"(?P<subject>nvme\d+):? .{0,60}timeout, completion polled"
    ),
    _message(
        "dmesg",
        "timeout",
        ("timeout", "timed out", "frozen"),
        r"(?P<subject>nvme\d+\w*|ata\d+[\w.]*|sd[a-z]+|mmc\d+\w*).{0,80}?\b(?:timeout|timed out|frozen)\b",
    ),
    _message(
        "dmesg",
        "blocked",
        "blocked for more than",
        r"INFO: task (?P<subject>\S+?):?\d* blocked for more than (?P<time>\d+) seconds",
    ),
    _message(
        "dmesg",
        "read-only",
        ("read-only", "remount-ro", "hutting down filesystem", "forced readonly"),
        r"(?P<subject>EXT4-fs|XFS|BTRFS).{0,120}(?:remounting filesystem read-only|remount-ro"
        r"|[Ss]hutting down filesystem|forced readonly)",
    ),
    _message(
        "dmesg",
        "file system error",
        ("errno=-5 IO failure", "corrupt leaf", "block corruption detected"),
        r"BTRFS:? \w{4,8} \(device (?P<subject>[\w!-]{1,32})[^)]{0,20}\).{0,160}(?:IO failure|corrupt leaf"
        r"|block corruption detected)",
    ),
    _message(
        "dmesg",
        "soft lockup",
        "soft lockup",
        r"soft lockup - CPU#\d{1,4} stuck for (?P<time>\d{1,6}s)! \[(?P<subject>[^\]:]{1,40})",
    ),
    _message(
        "dmesg",
        "journal wait",
        ("jbd2_log_wait", "jbd2_journal_commit", "jbd2_complete", "xfs_log_force", "xlog_"),
        r"(?:jbd2_log_wait_\w+|jbd2_journal_commit_transaction|jbd2_complete_transaction|xfs_log_force\w*|xlog_\w+)\+0x",
    ),
    _message("dmesg", "write cache off", "Write cache: disabled", r"\[(?P<subject>sd[a-z]+)\] Write cache: disabled"),
    _message("dmesg", "write cache", "Write cache: ", r"\[(?P<subject>sd[a-z]+)\] Write cache: (?:enabled|disabled)"),
    _message("dmesg", "link speed", "SATA link up", r"(?P<subject>ata\d+): SATA link up (?:1\.5|3\.0) Gbps"),
    _message(
        "dmesg",
        "memory",
        ("oom-killer", "Out of memory"),
        r"(?P<subject>[\w.-]{1,40}) invoked oom-killer|Out of memory: Kill",
    ),
)
TOOL = "dmesg"
STARTS = r"\[\s*\d{1,9}\.\d{6}\] \w"
HOLDS: tuple[str, ...] = (
    *("sync duration of ", "slow fdatasync", "took too long", "failed to send out heartbeat", "Slow SQL"),
    *("AOF fsync is taking", "rewriting of AOF", "Background ", "file rewrite performed"),
    *("slow request", "slow ops", "log_latency", "checkpoint", "LOG:  duration", "disk stall", "disk slowness"),
    *("edium error", "edium Error", "Unrecovered read", "I/O error", "failed command: ", "reset", "task abort"),
    *(" timeout", "timed out", "frozen", "blocked for more than", "read-only", "remount-ro", "offline"),
    *("probe failure", "ycle has ", "relearn", "attery is discharging", "charge level is", "to Write ", "BBU "),
    *("write ahead log", "commit log syncs", "intended loop", "the semaphore", '"Slow query"', "disk watermark ["),
    *("protocol:op_", "SError: {", "soft lockup", "# Query_time: ", "] overhead, spent [", "failed H:0x"),
    *("limit alarm set", "space is insufficient", "requests taking longer", "disk pressure", "HasDiskPressure"),
    "reclaim ephemeral-storage",
    *("has deteriorated", "D:0x28", "Lost access", "Device: /dev/", "FAILED SMART", "not respond", "conn error"),
    *("ailing path", "mark as failed", "data-space", "Operation continuing", "throttl"),
    *("forced readonly", "IO failure", "corrupt leaf", "corruption detected", "abort_handler", "no usable path"),
    *("down filesystem", "Write cache: ", "SATA link up", "oom-killer", "Out of memory"),
)
"""Texts of the messages: few, because a text is searched for each of them."""
DETAILS = {
    ("mongodb-log", "slow query"): (
        ("examined", re.compile(r"\"?docsExamined\"?: ?(\d{1,15})\b")),
        ("returned", re.compile(r"\"?nreturned\"?: ?(\d{1,15})\b")),
        ("us of reading", re.compile(r"\"timeReadingMicros\": ?(\d{1,15})\b")),
        ("storage", re.compile(r"\"storage\":(\{\})")),
    ),
    ("mysql-log", "slow statement"): (
        ("examined", re.compile(r"Rows_examined: (\d{1,15})\b")),
        ("returned", re.compile(r"Rows_sent: (\d{1,15})\b")),
        ("s of locks", re.compile(r"Lock_time: (\d{1,9}(?:\.\d{1,9})?)")),
    ),
    ("elasticsearch-log", "gc overhead"): (
        ("interval", re.compile(r"in the last \[(\d{1,9}(?:\.\d{1,6})?(?:ms|s|m|h))\]")),
    ),
    ("ceph-log", "slow request"): (("currently", re.compile(r"currently ([a-z][\w ,]{3,60})")),),
}
"""Further values of messages: the name of each and its expression."""
OF_MYSQL = re.compile(r"# (?:Time|User@Host|Query_time|Schema|Thread_id): ")
"""Lines of the log of slow statements that look like a prompt."""
GAP = 6
MAX_TRACE = 2000
KERNEL_LINE = re.compile(r"\[\s*(?:\d{1,9}\.\d{6}|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4})\] ")
STAMP = re.compile(r"(\d{4})[-/](\d{2})[-/](\d{2})[ T](\d{2}):(\d{2}):(\d{2}(?:\.\d{1,6})?)")
SHORT = re.compile(r"\b(\d{1,2}) (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)(?: \d{4})? (\d{2}):(\d{2}):(\d{2})")
SYSLOG = re.compile(r"(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\s+(\d{1,2}) (\d{2}):(\d{2}):(\d{2})\b")
MONTH_DAYS = 31
"""Days between the same day of two months, at most: differences within a month are exact."""
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
UPTIME = re.compile(r"\[\s*(\d{1,9}\.\d{1,6})\]")


def read(lines: Lines, at: int) -> Block | None:
    """Return the messages of one program from `at` on."""
    first = _event(lines[at], at)
    if first is None:
        return _quiet(lines, at) if UPTIME.match(lines[at].strip()) else None
    tool, event = first
    events: list[Event | Value] = [event, *_details(tool, event, lines[at])]
    end = at + 1
    for index in range(at + 1, len(lines)):
        if tool == "dmesg" and index == end and index < at + MAX_TRACE and KERNEL_LINE.match(lines[index].lstrip()):
            end = index + 1  # a line of the same log, such as one of a stack
        if index - end >= GAP or (command(lines[index]) and not OF_MYSQL.match(lines[index])):
            break
        if (found := _event(lines[index], index)) and found[0] == tool:
            events += [found[1], *_details(tool, found[1], lines[index])]
            end = index + 1
        elif found:
            break
    return Block(tool, at + 1, end, list(events))


def _quiet(lines: Lines, at: int) -> Block | None:
    """Return lines of a kernel log before the first one that names an error."""
    end = at
    while end < len(lines) and UPTIME.match(lines[end].strip()) and _event(lines[end], end) is None:
        end += 1
    if end < len(lines) and _event(lines[end], end):
        return None  # the block of errors follows
    return Block("dmesg", at + 1, end, notes=["no line of this kernel log names an error"])


def _event(line: str, at: int) -> tuple[str, Event] | None:
    for message in MESSAGES:
        if any(text in line for text in message.holds) and (match := message.pattern.search(line)):
            groups = match.groupdict()
            return message.tool, Event(
                (groups.get("subject") or message.tool.removesuffix("-log")).strip(),
                message.code,
                at + 1,
                _at(line),
                _ms(groups),
                line.strip()[:200],
            )
    return None


def _details(tool: str, event: Event, line: str) -> Iterator[Value]:
    """Yield what else the line of an event tells, with the event's duration first."""
    details = DETAILS.get((tool, event.code), ())
    if details and event.ms is not None:
        yield Value(event.code, "ms", event.ms, "ms", event.line)
    for name, pattern in details:
        if match := pattern.search(line):
            value = ms(match[1]) if name == "interval" else number(match[1])
            yield Value(event.code, name, match[1].strip() if value is None else value, line=event.line)


def _ms(groups: dict[str, str | None]) -> float | None:
    """Return the duration that a message names, by the unit of its group."""
    if (time := groups.get("time")) is not None:
        return ms(time, "s")
    return next((float(text) * MS[unit] for unit in ("ms", "us") if (text := groups.get(unit)) is not None), None)


def _at(line: str) -> float | None:
    if match := STAMP.search(line[:80]):
        year, month, day, hour, minute = (int(part) for part in match.groups()[:5])
        try:
            return datetime(year, month, day, hour, minute, tzinfo=UTC).timestamp() + float(match[6])
        except ValueError:
            return None
    if match := SHORT.search(line[:60]):
        return int(match[1]) * 86400.0 + int(match[3]) * 3600 + int(match[4]) * 60 + int(match[5])
    if match := SYSLOG.search(line[:60]):
        day = MONTH_DAYS * MONTHS.index(match[1]) + int(match[2])
        return day * 86400.0 + int(match[3]) * 3600 + int(match[4]) * 60 + int(match[5])
    return float(match[1]) if (match := UPTIME.match(line.strip())) else None
