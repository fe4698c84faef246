"""Logs and profiles whose lines tell where the time went: the readings, their values, and what follows from them.

The texts have our own numbers in the forms of the tools.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from seeklab.bring import blocks
from seeklab.bring.block import Copy, JobRow
from seeklab.diagnosis import answer

if TYPE_CHECKING:
    from seeklab.diagnosis.reading import Reading

STEP = '{{ "event": "{}",\n "time": "2026-05-11T03:20:{:09.6f}+0000",\n "duration": 0.1 }},\n'


def operation(seconds: float, **after: float) -> str:
    """Return an operation of an OSD as its admin socket prints it; `after` has the seconds before each step."""
    at, steps = 14.5, STEP.format("initiated", 14.5)
    for name, passed in after.items():
        at += passed
        steps += STEP.format(name.replace("_FROM_", " from "), at)
    return (
        f'{{ "description": "osd_op(client.4.0:27 1.4 1:2:::rbd_data.1:head [write 0~4096] snapc 0=[] e19)",\n'
        f' "initiated_at": "2026-05-11T03:20:14.500000+0000",\n "age": 17.1,\n "duration": {seconds},\n'
        f' "type_data": {{\n "flag_point": "commit sent; apply or cleanup",\n "events": [\n{steps}] }} }},\n'
    )


AT_PEER = {"reached_pg": 0.01, "op_commit": 0.04, "sub_op_commit_rec_FROM_7": 2.4, "done": 0.01}
AT_STORE = {"reached_pg": 0.01, "sub_op_commit_rec_FROM_7": 0.01, "op_commit": 1.9, "done": 0.01}
IN_QUEUE = {"reached_pg": 1.5, "op_commit": 0.04, "sub_op_commit_rec_FROM_7": 0.01, "done": 0.01}
CUT = {"reached_pg": 0.01}
# The first form of these reports has the time of a step in front of its name.
OLD = """{ "description": "osd_op(client.4.1:117 rb.0.1 [] 2.8eb ondisk+write e92)",
  "received_at": "2026-05-11 03:21:47.100000",
  "age": "2.186521",
  "duration": "1.210000",
  "type_data": [
        "commit sent; apply or cleanup",
        [
            { "time": "2026-05-11 03:21:47.100000",
              "event": "reached_pg"},
            { "time": "2026-05-11 03:21:47.110000",
              "event": "waiting for subops from 1,2"},
            { "time": "2026-05-11 03:21:48.310000",
              "event": "journaled_completion_queued"}]]}
"""
GLUSTER = """Brick: srv1:/data/brick1
------------------------
Cumulative Stats:
   Block Size:               4096b+               8192b+
 No. of Reads:                    0                    9
No. of Writes:                 2623                   12
 %-latency   Avg-latency   Min-Latency   Max-Latency   No. of calls         Fop
 ---------   -----------   -----------   -----------   ------------        ----
      0.00       0.00 us       0.00 us       0.00 us            365      FORGET
      8.20     410.00 us      60.00 us    9120.00 us           2623       WRITE
     91.80   11230.00 us    8123.00 us  120310.00 us           1072       FSYNC

    Duration: 600 seconds
   Data Read: 0 bytes
"""
SYSBENCH = """sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Number of threads: 1

File operations:
    reads/s:                      443.00
    writes/s:                     300.00
    fsyncs/s:                     960.00

Throughput:
    read, MiB/s:                  6.92
    written, MiB/s:               4.69

Latency (ms):
         avg:                                    0.59
"""
EVERY_SECOND = """```sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

[ 1s ] reads: 0.00 MiB/s writes: 1.00 MiB/s fsyncs: 8000.00/s latency (ms,95%): 0.090
[ 2s ] reads: 0.00 MiB/s writes: 3.00 MiB/s fsyncs: 9000.00/s latency (ms,95%): 0.110
```
"""
IPERF = """Connecting to host 10.0.0.2, port 5201
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-1.00   sec   110 KBytes   900 Kbits/sec    7   2.83 KBytes
[  5]   1.00-2.00   sec  0.00 Bytes  0.00 bits/sec    2   1.41 KBytes
[  5]   2.00-3.00   sec   1.20 MBytes  10.1 Mbits/sec    0   8.48 KBytes
- - - - - - - - - - - - - - - - - - - - - - - - -
[  5]   0.00-3.00   sec  1.31 MBytes  3.67 Mbits/sec    9             sender
"""
FAST = """[  5]   0.00-1.00   sec  1.09 GBytes  9.40 Gbits/sec   12   1.31 MBytes
[  5]   1.00-2.00   sec  1.09 GBytes  9.38 Gbits/sec    9   1.31 MBytes
"""
STATS = """[/dev/sdf2].write_io_errs   3
[/dev/sdf2].read_io_errs    0
[/dev/sdf2].corruption_errs 1
"""
MONGO = (
    '{{"t":{{"$date":"2026-05-11T03:22:01.100+00:00"}},"s":"I","c":"COMMAND","ctx":"c31","msg":"Slow query","attr":{{'
    '"planSummary":"{}","docsExamined":{},"nreturned":{},"storage":{},"durationMillis":{}}}}}\n'
)
MONGO_3 = (
    "2026-05-11T03:23:00.100+0200 I COMMAND [conn31] command shop.orders command: find {{ }} planSummary: COLLSCAN "
    "keysExamined:0 docsExamined:{} cursorExhausted:1 nreturned:{} reslen:241 protocol:op_query 1310ms\n"
)
MYSQL = """# Time: 2026-05-11T03:24:00.100000Z
# User@Host: app[app] @  [10.0.0.9]  Id:   2
# Query_time: {}  Lock_time: {} Rows_sent: {}  Rows_examined: {}
SET timestamp=1778469840;
select * from orders where note = 'x';
"""
GC = (
    "[2026-05-11T03:25:{:02},100][WARN ][o.e.m.j.JvmGcMonitorService] [n1] [gc][{}] overhead, spent [{}] collecting in "
    "the last [{}]\n"
)
SLOW_REQUEST = (
    "2026-05-11 03:26:38.10{0} osd.0 osd.0 10.0.0.3:6800/99 10{0} : cluster [WRN] slow request 31.2 seconds old, "
    "received at 2026-05-11 03:26:07.10: osd_op(client.9.0:77 1.6b 1:d6:::rbd_data.9.00:head "
    "[write 8192~4096] snapc a=[] ondisk+write+known_if_redirected e201) currently {1}\n"
)
MONITORS = """  cluster:
    id:     0a1b2c3d-0000-4000-8000-000000000001
    health: HEALTH_WARN
            4 slow ops, oldest one blocked for 675 sec, daemons [mon.a,mon.c] have slow ops.
"""
ARC = """ARC Size:\t\t\t\t99.69%\t31.90\tGiB
\tTarget Size: (Adaptive)\t\t100.00%\t32.00\tGiB

ARC Total accesses:\t\t\t\t\t500.00M
\tCache Hit Ratio:\t\t88.24%\t441.20M
\tData Demand Efficiency:\t\t72.40%\t100.00M

L2 ARC Summary: (HEALTHY)
\tHit Ratio:\t\t\t\t21.00%\t1.31M
"""
ARCSTATS = """12 1 0x01 92 4416 1000000001 2000000000002
name                            type data
hits                            4    120000000
misses                          4    60000000
demand_metadata_hits            4    12000000
demand_metadata_misses          4    48000000
"""
DISKSPD = """diskspd.exe -b256K -t2 -w100 -o32 -Sh -r -d60 -L t.dat
Total IO
thread |       bytes     |     I/Os     |     MB/s   |  I/O per s |  AvgLat  | LatStdDev |  file
-----------------------------------------------------------------------------------------------------
total:      131072000000 |       500000 |     208.33 |     800.00 |   80.000 |    41.172
"""
RADOS = """Total time run:         10.0
Total writes made:      350
Write size:             4194304
Bandwidth (MB/sec):     140
"""
VMKERNEL = (
    "2026-11-02T09:01:22.123Z cpu3:2097)WARNING: ScsiDeviceIO: 1564: Device naa.600508b1001c5aa performance has "
    "deteriorated. I/O latency increased from average value of 1832 microseconds to 28022 microseconds.\n"
)
SENSE = (
    "2026-05-01T10:00:00.123Z cpu1:2097)ScsiDeviceIO: 3015: Cmd(0x45d8) 0x2a, CmdSN 0x9 from world 2098 to dev "
    '"naa.600508b1001c5aa" failed {} P:0x0 {} sense data: {}.\n'
)
BIOLATPCTS = """nvme0n1    p1    p50   p99  p100
read     95us 985us 4.5ms  10ms
flush     5us   5us  12ms  15ms
"""
RABBITMQ = "2026-05-01 10:00:00.1 [info] <0.99.0> Free disk space is insufficient. Free bytes: 99. Limit: 50000000\n"
PRESSURE = "Message: Kubernetes node n1 has pressure: KubeletHasDiskPressure, kubelet has disk pressure\n"
MSSQL = (
    "SQL Server has encountered 3 occurrence(s) of I/O requests taking longer than 15 seconds to complete on file "
    "[E:\\data\\shop.mdf] in database id 7. The duration of the long I/O is: 16100 ms.\n"
)
PINGED = "10 requests completed in 9.0 s, 250 iops, 250.0 MiB/s\n"
ATA = """[  100.000001] ata2.00: failed command: WRITE FPDMA QUEUED
[  100.000002] ata2.00: cmd 61/08:20:00:10:00/00:00:04:00:00/40 tag 4 ncq dma 4096 out
                        res 40/00:00:00:00:00/00:00:00:00:00/00 Emask {}
[  100.000003] ata2.00: status: {{ DRDY }}
[  100.000004] ata2: hard resetting link
[  100.000005] blk_update_request: I/O error, dev sdb, sector 512
"""
BARE_ATA = "status: { DRDY }\nhard resetting link\nfailed command: FLUSH CACHE EXT\nres 40/00:01 Emask 0x4 (timeout)\n"
KERNEL = (
    "May 11 03:27:11.100000 db7-sdlab kernel: sd 7:0:0:0: [sdb] tag#9 Sense Key : Medium Error [current]\n"
    "May 11 03:27:12.100000 db7-sdlab kernel: Buffer I/O error on dev sdc1, logical block 77, async page read\n"
)
UAS = """May 11 03:28:44 pc kernel: sd 4:0:0:0: [sdc] tag#3 uas_eh_abort_handler 0 uas-tag 4 inflight: CMD OUT
May 11 03:29:14 pc kernel: usb 2-1: reset SuperSpeed Plus Gen 2x1 USB device number 3 using xhci_hcd
"""
BTRFS = """[ 9100.000001] BTRFS: error (device nvme1n1) in __btrfs_update_delayed_inode:1075: errno=-5 IO failure
[ 9100.000002] BTRFS info (device nvme1n1): forced readonly
"""


def said(text: str) -> dict[str, Reading]:
    """Return the readings of a text by their names."""
    return {reading.id: reading for reading in answer([blocks(text)]).readings}


def cause(text: str) -> tuple[str, str] | None:
    """Return the first cause and its word."""
    first = answer([blocks(text)]).causes[:1]
    return (first[0].cause.id, first[0].confidence) if first else None


@pytest.mark.parametrize(
    ("text", "reading", "share"),
    [
        ("".join(operation(2.46, **AT_PEER) for _ in range(3)), "ops-wait-for-peers", 0.98),
        (operation(1.93, **AT_STORE), "ops-wait-for-store", 0.99),
        (operation(1.5600000000000004, **IN_QUEUE), "ops-wait-for-queue", 0.96),
        (operation(1.56, **CUT), "ceph-ops", 1.0),
        (OLD, "ops-wait-for-store", 0.99),
    ],
)
def test_operations_of_ceph_tell_what_they_wait_for(text: str, reading: str, share: float) -> None:
    found = said(text)
    assert found[reading].values["share"] == pytest.approx(share, abs=0.01)
    assert ("few-slow-osds" in found) == (reading == "ops-wait-for-peers")
    assert found.get("few-slow-osds", found[reading]).subject in ("osd.7", "ceph")


@pytest.mark.parametrize(
    ("text", "reading", "values"),
    [
        (GLUSTER, "brick-calls", {"share": 0.918, "ms": 11.23}),
        (GLUSTER, "brick-syncs", {"share": 0.918, "ms": 11.23}),
        (SYSBENCH, "sysbench-rates", {"fsyncs": 960.0, "writes": 300.0}),
        (EVERY_SECOND, "sysbench-rates", {"fsyncs": 8500.0, "writes": 0.0}),
        (IPERF, "network-losses", {"share": 2 / 3, "bytes_per_s": 11e6 / 24}),
        (FAST, "network-rate", {"bytes_per_s": 9.39e9 / 8}),
        (MONGO.format("COLLSCAN", 2000000, 1, "{}", 1335), "rows-examined", {"ms": 1335.0, "of_storage": 0.0}),
        (MONGO_3.format(200000, 0), "rows-examined", {"ms": 1310.0, "of_storage": 1.0, "statements": 1}),
        (2 * MYSQL.format(15.0, 0.1, 2, 40000), "rows-examined", {"ms": 15e3, "examined": 40e3, "statements": 2}),
        (MYSQL.format(15.0, 14.0, 1, 0), "lock-waits", {"lines": 1}),
        (
            GC.format(38, 1, "6.5s", "7.5s") + GC.format(48, 2, "700ms", "1.5s"),
            "gc-overhead",
            {"share": 0.8, "ms": 7200},
        ),
        (SLOW_REQUEST.format(1, "sub_op_commit_rec from 1"), "requests-wait-for-peer", {"share": 1.0}),
        (SLOW_REQUEST.format(1, "no flag points reached"), "requests-wait", {"requests": 1}),
        (MONITORS, "slow-monitors", {"monitors": 2}),
        (ARC, "arc-hits", {"share": 0.88}),
        (ARC, "arc-demand", {"share": 0.72}),
        (ARC, "l2arc-hits", {"share": 0.21}),
        (ARCSTATS, "arc-metadata-misses", {"share": 0.2}),
        (VMKERNEL, "vmkernel-slow-device", {"ms": 28.022}),
        (BIOLATPCTS, "read-percentiles", {"ms": 0.985, "late_ms": 4.5}),
        (BIOLATPCTS, "flush-percentiles", {"ms": 0.005, "late_ms": 12.0}),
        (MSSQL, "mssql-slow-request", {"ms": 15e3}),
        (PINGED, "job-use", {"ms": 4.0, "per_s": 250.0}),
        (ATA.format("0x4 (timeout)"), "kernel-timeout", {"lines": 1}),
        (ATA.format("0x10 (ATA bus error)"), "kernel-link-errors", {"lines": 1}),
    ],
)
def test_a_line_tells_its_values(text: str, reading: str, values: dict[str, float]) -> None:
    found = said(text)[reading].values
    assert {name: found[name] for name in values} == pytest.approx(values, rel=0.01)


@pytest.mark.parametrize(
    ("text", "absent"),
    [
        (FAST, "network-losses"),
        (MONGO.format("IXSCAN", 20000, 500, "{}", 1335), "rows-examined"),
        (MYSQL.format(15.0, 0.1, 1, 5000), "rows-examined"),
        (MYSQL.format(15.0, 0.1, 1, 5000), "lock-waits"),
        (GLUSTER.replace("91.80", "11.80").replace("8.20", "88.20"), "brick-syncs"),
        (GLUSTER.partition("     91.80")[0], "brick-calls"),
        (ARCSTATS.replace("48000000", "9000000"), "arc-metadata-misses"),
        (MONITORS.replace("mon.c", "osd.3"), "slow-monitors"),
    ],
)
def test_a_line_does_not_tell_what_it_does_not_have(text: str, absent: str) -> None:
    assert blocks(text).blocks
    assert absent not in said(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (MONGO.format("COLLSCAN", 2000000, 1, "{}", 1335), ("application-work", "likely")),
        (
            MONGO.format("COLLSCAN", 2000000, 1, '{"data":{"timeReadingMicros":1200000}}', 1335),
            ("application-work", "possible"),
        ),
        (MONGO_3.format(200000, 0), ("application-work", "possible")),
        (GC.format(38, 1, "6.5s", "7.5s"), ("application-work", "likely")),
        (GC.format(38, 1, "400ms", "1.5s"), ("application-work", "possible")),
        (IPERF, ("network-retransmits", "likely")),
        (FAST, None),
        (GLUSTER, ("sync-one-by-one", "possible")),
        (ATA.format("0x4 (timeout)"), ("hung-device", "likely")),
        (ATA.format("0x10 (ATA bus error)"), ("bad-link", "shown")),
        (BARE_ATA, ("hung-device", "likely")),
        (UAS, ("hung-device", "likely")),
        (BTRFS, None),
        (SENSE.format("H:0x0 D:0x2", "Valid", "0x3 0x11 0x0"), ("dying-member", "likely")),
        (SENSE.format("H:0x0 D:0x2", "Valid", "0x4 0x44 0x0"), ("dying-member", "possible")),
        (SENSE.format("H:0x0 D:0x2", "Valid", "0x2 0x8 0x0"), ("hung-device", "possible")),
        (SENSE.format("H:0x5 D:0x0", "Possible", "0x0 0x0 0x0"), ("slow-below-the-host", "possible")),
        (SENSE.format("H:0x1 D:0x0", "Possible", "0x0 0x0 0x0"), ("slow-below-the-host", "possible")),
        (SENSE.format("H:0x0 D:0x8", "Possible", "0x0 0x0 0x0"), ("queue-limit", "possible")),
        (SENSE.format("H:0x0 D:0x2", "Valid", "0x5 0x20 0x0"), None),
        (SENSE.format("H:0x0 D:0x2", "Valid", "0x6 0x29 0x0"), None),
        (RABBITMQ, ("full-pool", "possible")),
        (PRESSURE, ("full-pool", "possible")),
        (MSSQL, ("hung-device", "possible")),
        (PINGED.replace("250 iops", "233 iops"), ("one-call-at-a-time", "possible")),
    ],
)
def test_the_first_cause_of_a_line(text: str, expected: tuple[str, str] | None) -> None:
    assert said(text)
    assert cause(text) == expected


@pytest.mark.parametrize(
    ("text", "reading", "subject"),
    [
        (KERNEL, "kernel-medium-error", "sdb"),
        (KERNEL, "kernel-io-error", "sdc1"),
        (BARE_ATA.replace("status", "ata2.00: status"), "kernel-timeout", "kernel"),
        (ATA.format("0x4 (timeout)").partition("blk")[0], "kernel-timeout", "ata2.00"),
        (UAS, "kernel-timeout", "sdc"),
        (BTRFS, "kernel-file-system-error", "nvme1n1"),
        (STATS, "pool-errors", "sdf2"),
        (STATS, "damaged-data", "sdf2"),
    ],
)
def test_an_error_has_the_name_of_its_device(text: str, reading: str, subject: str) -> None:
    assert said(text)[reading].subject == subject


def test_the_table_of_diskspd_has_the_options_of_the_command_above() -> None:
    (block,) = blocks(DISKSPD).blocks
    (row,) = block.records
    assert isinstance(row, JobRow)
    assert (row.direction, row.per_s, row.total.mean_ms) == ("write", 800.0, 80.0)
    assert {name: row.options[name] for name in ("bs", "iodepth", "numjobs", "rw")} == {
        "bs": "256K",
        "iodepth": "32",
        "numjobs": "2",
        "rw": "randwrite",
    }


def test_a_fence_may_be_in_the_line_of_the_heading() -> None:
    assert [(block.tool, block.first) for block in blocks(EVERY_SECOND).blocks] == [("sysbench", 1)]


@pytest.mark.parametrize(("text", "mebibytes"), [(RADOS, 140), (PINGED, 250)])
def test_the_rate_of_a_summary_is_in_mebibytes(text: str, mebibytes: int) -> None:
    (block,) = blocks(text).blocks
    (row,) = block.records
    assert isinstance(row, JobRow)
    assert row.bytes_per_s == mebibytes * 2**20


@pytest.mark.parametrize(("option", "is_cached"), [("", False), ("-D ", False), ("-C ", True), ("-RC ", True)])
def test_ioping_measures_memory_only_if_it_was_told_to(option: str, *, is_cached: bool) -> None:
    text = f"$ ioping {option}.\n" + "".join(
        f"4 KiB <<< . (ext4 /dev/sda1): request={at} time=3.33 ms\n" for at in range(1, 16)
    )
    assert ("buffered" in said(text)) == is_cached


@pytest.mark.parametrize(("seconds", "is_limited"), [(230.0, True), (23.0, False)])
def test_a_fast_copy_is_not_limited_by_its_calls(seconds: float, *, is_limited: bool) -> None:
    text = (
        "$ dd if=/dev/sdb of=/dev/null iflag=direct bs=64k count=65536\n65536+0 records in\n65536+0 records out\n"
        f"4294967296 bytes (4.3 GB) copied, {seconds} s, {4294.97 / seconds:.1f} MB/s\n"
    )
    assert isinstance(blocks(text).blocks[0].records[0], Copy)
    assert ("call-by-call" in said(text)) == is_limited


def test_a_copy_to_dev_zero_is_a_read() -> None:
    text = (
        "$ dd if=/data/a of=/dev/zero bs=512k\n2048+0 records in\n1073741824 bytes (1.1 GB) copied, 0.5 s, 2.1 GB/s\n"
    )
    found = said(text)
    assert found["copy"].values["is_write"] == 0.0
    assert "dd-without-sync" not in found
