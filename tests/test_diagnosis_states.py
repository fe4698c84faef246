"""Reports of state: what a drive, a controller, a host or a cluster says, and which cause follows from it."""

from __future__ import annotations

import pytest

from seeklab.bring import blocks
from seeklab.diagnosis import answer

STRACE = r"""[pid 27262] 02:43:05.321312 fdatasync(84) = 0 <0.031312>
[pid 27262] 02:43:06.121312 write(84, "\0\0\0"..., 2300) = 2300 <0.000031>
[pid 27262] 02:43:06.221312 fdatasync(84) = 0 <0.041312>
[pid 27264] 02:43:07.221312 <... fdatasync resumed>) = 0 <0.021312>
"""
STRACE_COUNTS = """strace: Process 38289 attached with 37 threads
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 85.12    1.204312        1204      1000           fdatasync
 14.88    0.210021          21     10000         3 write
------ ----------- ----------- --------- --------- ----------------
100.00    1.414333                 11000         3 total
"""
IOPING = """$ ioping -c 5 /var/lib/mysql
4 KiB <<< /var/lib/mysql (ext4 /dev/vda1 40 GiB): request=1 time=11.2 ms (warmup)
4 KiB <<< /var/lib/mysql (ext4 /dev/vda1 40 GiB): request=2 time=10.9 ms
4 KiB <<< /var/lib/mysql (ext4 /dev/vda1 40 GiB): request=3 time=13.9 ms

--- /var/lib/mysql (ext4 /dev/vda1 40 GiB) ioping statistics ---
4 requests completed in 46.6 ms, 16 KiB read, 85 iops, 343.2 KiB/s
generated 5 requests in 4.00 s, 20 KiB, 1 iops, 5.00 KiB/s
min/avg/max/mdev = 10.7 ms / 11.7 ms / 13.9 ms / 1.3 ms
"""
PGBENCH = """transaction type: <builtin: TPC-B (sort of)>
scaling factor: 100
query mode: simple
number of clients: 10
number of threads: 2
duration: 60 s
number of transactions actually processed: 5312
latency average = 112.921 ms
tps = 88.557612 (including connections establishing)
"""
CEPH = """# ceph -s
  cluster:
    id:     93ab29ce-ec28-11ee-9282-005056b446a6
    health: HEALTH_WARN
            1 nearfull osd(s)
            4 slow ops, oldest one blocked for 65 sec, osd.3 has slow ops

  services:
    mon: 3 daemons, quorum a,b,c (age 20h)
    osd: 10 osds: 10 up (since 41m), 10 in (since 44m); 9 remapped pgs

  data:
    pools:   2 pools, 33 pgs
    objects: 15.92k objects, 57 GiB
    usage:   131 GiB used, 4.8 TiB / 4.9 TiB avail
    pgs:     4269/47769 objects misplaced (8.937%)
             24 active+clean
             7  active+remapped+backfill_wait
             2  active+remapped+backfilling

  io:
    client:   22 KiB/s rd, 3.5 MiB/s wr, 159 op/s rd, 177 op/s wr
    recovery: 41 MiB/s, 10 objects/s
"""
RADOS = """  sec Cur ops   started  finished  avg MB/s  cur MB/s last lat(s)  avg lat(s)
    0       0         0         0         0         0           -           0
    1      16        41        25   99.9977       100    0.551211    0.482112
Total time run:         10.8
Total writes made:      270
Write size:             4194304
Object size:            4194304
Bandwidth (MB/sec):     100
Average IOPS:           25
Average Latency(s):     0.63
Max latency(s):         1.31
"""
LVS = """  LV     VG   Attr       LSize   Pool   Origin Data%  Meta%  Move Log Cpy%Sync Convert
  pool00 vg0  twi-aotz--   1.00t               97.31  41.02
  vm-101 vg0  Vwi-aotz-- 100.00g pool00        88.10
"""
DF = """Filesystem      Size  Used Avail Use% Mounted on
tmpfs           3.2G  2.1M  3.2G   1% /run
/dev/sda2       234G  221G  1.2G 100% /
/dev/sdb1       3.6T  1.1T  2.4T  32% /data
"""
FREE = """              total        used        free      shared  buff/cache   available
Mem:           7.6G        7.1G        121M         12M        402M        156M
Swap:          2.0G        1.9G         90M
"""
PS = """$ ps -eo state,pid,wchan:32,cmd | grep ^D
D   412 jbd2_log_wait_commit             /usr/sbin/mysqld
D   231 jbd2_journal_commit_transaction  [jbd2/sda1-8]
"""
STACK = """# cat /proc/4121/stack
[<0>] jbd2_log_wait_commit+0xc1/0x130
[<0>] ext4_sync_file+0x292/0x320
[<0>] do_fsync+0x56/0x80
[<0>] entry_SYSCALL_64_after_hwframe+0x44/0xa9
"""
MDADM = """/dev/md0:
           Version : 1.2
     Creation Time : Mon Jan  1 00:00:00 2024
        Raid Level : raid5
        Array Size : 7813772288 (7451.79 GiB 8001.30 GB)
      Raid Devices : 5
             State : active, degraded, recovering
    Active Devices : 4
Rebuild Status : 12% complete
"""
MULTIPATH = """mpatha (360060e8007e2c3000030e2c300000012) dm-3 HITACHI,OPEN-V
size=1.0T features='1 queue_if_no_path' hwhandler='0' wp=rw
`-+- policy='service-time 0' prio=1 status=active
  |- 1:0:0:1 sdb 8:16 active ready  running
  `- 2:0:0:1 sdc 8:32 failed faulty running
"""
HDPARM = """# hdparm -W /dev/sda

/dev/sda:
 write-caching =  0 (off)
"""
RELIABILITY = r"""PS C:\> Get-PhysicalDisk | Get-StorageReliabilityCounter | fl

DeviceId                : 0
FlushLatencyMax         : 5023
ReadErrorsUncorrected   : 17
ReadLatencyMax          : 2103
Temperature             : 41
Wear                    : 3
WriteLatencyMax         : 4312
"""
CLOUDWATCH = """{
    "Label": "BurstBalance",
    "Datapoints": [
        {"Timestamp": "2024-01-01T00:00:00Z", "Average": 0.0, "Unit": "Percent"},
        {"Timestamp": "2024-01-01T00:05:00Z", "Average": 0.1, "Unit": "Percent"}
    ]
}
"""
COUNTERS = ("Avg. Disk sec/Read", "Avg. Disk sec/Write", "Disk Reads/sec", "Disk Writes/sec", "% Idle Time")
TYPEPERF = "\n".join(
    ",".join(f'"{cell}"' for cell in cells)
    for cells in (
        ("(PDH-CSV 4.0)", *(rf"\\HOST\PhysicalDisk(0 C:)\{name}" for name in COUNTERS)),
        ("11/27/2026 10:00:01.123", "0.001200", "0.011800", "2.000000", "80.100000", "5.100000"),
        ("11/27/2026 10:00:02.123", "0.001100", "0.012100", "1.000000", "79.900000", "4.100000"),
    )
)
ZOOKEEPER = """2023-05-11 08:12:01,123 [myid:1] - WARN  [SyncThread:1:FileTxnLog@378] - fsync-ing the write \
ahead log in SyncThread:1 took 1534ms which will adversely effect operation latency. See the ZooKeeper \
troubleshooting guide
2023-05-11 08:12:31,123 [myid:1] - WARN  [SyncThread:1:FileTxnLog@378] - fsync-ing the write ahead log in \
SyncThread:1 took 2234ms which will adversely effect operation latency. See the ZooKeeper troubleshooting guide
"""
ZPOOL_LIST = """NAME   SIZE  ALLOC   FREE  CKPOINT  EXPANDSZ   FRAG    CAP  DEDUP    HEALTH  ALTROOT
tank  10.9T  10.5T   401G        -         -    71%    96%  1.00x    ONLINE  -
"""
NVME = """SMART/Health Information (NVMe Log 0x02)
Critical Warning:                   0x04
Temperature:                        73 Celsius
Available Spare:                    4%
Available Spare Threshold:          10%
Percentage Used:                    112%
Media and Data Integrity Errors:    12
Warning  Comp. Temperature Time:    3021
"""
ATTRIBUTES = """$ smartctl -A /dev/sdb | egrep 'Realloc|Pending'
  5 Reallocated_Sector_Ct   0x0033   100   100   010    Pre-fail  Always       -       0
197 Current_Pending_Sector  0x0012   100   100   000    Old_age   Always       -       24
"""
MEGACLI = """Adapter 0 -- Virtual Drive Information:
Virtual Drive: 0 (Target Id: 0)
Name                :
RAID Level          : Primary-5, Secondary-0, RAID Level Qualifier-3
Size                : 5.456 TB
State               : Optimal
Default Cache Policy: WriteBack, ReadAheadNone, Direct, No Write Cache if Bad BBU
Current Cache Policy: WriteBack, ReadAheadNone, Direct, No Write Cache if Bad BBU
Disk Cache Policy   : Disabled
"""
STORCLI = """DG/VD TYPE  State Access Consist Cache Cac sCC       Size Name
----------------------------------------------------------------
0/0   RAID5 Optl  RW     Yes     NRWTD -   ON    3.637 TB vd0
----------------------------------------------------------------
"""
PERF_INTERRUPT = """[   12.345678] perf: interrupt took too long (2502 > 2500), lowering \
kernel.perf_event_max_sample_rate to 79000
[   13.345678] perf: interrupt took too long (3130 > 3127), lowering kernel.perf_event_max_sample_rate to 63000
"""
SLOWER = """# ext4slower 10
Tracing ext4 operations slower than 10 ms
TIME     COMM           PID    T BYTES   OFF_KB   LAT(ms) FILENAME
10:00:01 mysqld         4121   S 0       0          31.20 ib_logfile0
10:00:02 mysqld         4121   S 0       0          29.80 ib_logfile0
10:00:02 bash           99     R 4096    0          12.00 .history
"""
BROKEN_CLOCK = """     msecs               : count     distribution
         0 -> 1          : 7        |****************************************|
         2 -> 3          : 1        |*****                                   |
  18014398509481984 -> 36028797018963967 : 1        |*****                                   |
"""
ROWS = "\n".join(" 1  0      0 8000000 100000 900000    0    0     0   300 4000 8000  5  3 91  1  0" for _ in range(3))
TIMED = """--time-- procs -----------memory---------- ---swap-- -----io---- --system-- -----cpu-----
          r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
10:00:01  2  0    376 14100062 945216 8464640    0    0     2   806 31414 37894  2  1 97  0  0
10:00:06  5  0    376 14098438 945232 8465164  900  900     3   283 36567 40997  2  1 98  0  0
"""
POOL_ROWS = "tank  1.20T  800G     10   1.2K  40.0K   150M\ntank  1.20T  800G     12   1.3K  48.0K   160M\n"
GROUPS = "\n".join(
    f"{100 + n}    4896649392{n}000   C     500000000   0   500000000   90   4000   5119847258   28353   32331   "
    "9894850000"
    for n in range(3)
)
LINK = """[  375.143122] ata1.00: exception Emask 0x0 SAct 0x3fff SErr 0x50000 action 0x6 frozen
[  375.143127] ata1: SError: { PHYRdyChg CommWake }
[  375.143129] ata1.00: failed command: WRITE FPDMA QUEUED
"""
DISK_STATS = """Disk stats (read/write):
  sda: ios=2626/1291, merge=334/1253, ticks=885953/198120, in_queue=1084030, util=99.83%
"""
UNKNOWN = "ann@db1:~$ sudo casadm -P -i 1\nCache Id  1\nWrite Policy  wb\n"
LOCKUP = "Nov 27 10:00:01 a kernel: watchdog: BUG: soft lockup - CPU#5 stuck for 22s! [z_wr_iss:6681]\n"
TRACE = """[ 3072.990992] INFO: task kworker/u146:16:495 blocked for more than 120 seconds.
[ 3073.001652]       Not tainted 5.10.0
[ 3073.042749] Call Trace:
[ 3073.048918]  __schedule+0x2a6/0x700
[ 3073.071176]  jbd2_log_wait_commit+0xac/0x120 [jbd2]
"""
FROM_MEMORY = "    lat (usec): min=0, max=1099, avg= 0.90, stdev= 1.26\n"
IOTOP = """Total DISK READ: 180.16 K/s | Total DISK WRITE: 9.18 M/s
  TID  PRIO  USER     DISK READ  DISK WRITE  SWAPIN     IO>    COMMAND
  420 be/4 mysql      62.56 K/s    9.10 M/s  0.00 % 87.40 % /usr/sbin/mysqld --daemonize
  421 be/4 root        0.00 B/s    0.00 B/s  0.00 % 27.40 % [jbd2/sda1-8]
"""
SMARTD = "Nov 27 10:00:01 a smartd[99]: Device: /dev/sdb [SAT], 24 Currently unreadable (pending) sectors\n"


@pytest.mark.parametrize(
    ("text", "tool", "cause", "word"),
    [
        (STRACE, "strace", "sync-one-by-one", "likely"),
        (STRACE_COUNTS, "strace", None, ""),
        (IOPING, "ioping", None, ""),
        (PGBENCH, "pgbench", "sync-one-by-one", "likely"),
        (CEPH, "ceph-status", "scan", "likely"),
        (RADOS, "rados-bench", None, ""),
        (LVS, "lvs", "full-pool", "likely"),
        (DF, "df", "full-pool", "possible"),
        (FREE, "free", "swap", "possible"),
        (PS, "ps", "sync-one-by-one", "possible"),
        (STACK, "stack", "sync-one-by-one", "possible"),
        (MDADM, "mdadm", "scan", "likely"),
        (MULTIPATH, "multipath", "slow-below-the-host", "possible"),
        (HDPARM, "hdparm", "cache-off", "likely"),
        (RELIABILITY, "storage-reliability", "dying-member", "likely"),
        (CLOUDWATCH, "cloudwatch", "burst-credits", "shown"),
        (TYPEPERF, "perfmon", "sync-one-by-one", "likely"),
        (ZOOKEEPER, "zookeeper-log", "sync-one-by-one", "likely"),
        (ZPOOL_LIST, "zpool-list", "full-pool", "shown"),
        (NVME, "smartctl", "dying-member", "likely"),
        (ATTRIBUTES, "smartctl", "dying-member", "likely"),
        (MEGACLI, "controller", None, ""),
        (STORCLI, "storcli", "cache-off", "likely"),
        (PERF_INTERRUPT, "dmesg", None, ""),
        (SLOWER, "ext4slower", "sync-one-by-one", "possible"),
        (BROKEN_CLOCK, "biolatency", "misread-numbers", "likely"),
        (ROWS, "vmstat", None, ""),
        (TIMED, "vmstat", "swap", "likely"),
        (POOL_ROWS, "zpool-iostat", None, ""),
        (GROUPS, "txgs", "slow-groups", "likely"),
        (LINK, "dmesg", "bad-link", "likely"),
        (DISK_STATS, "fio-text", None, ""),
        (UNKNOWN, "casadm", None, ""),
        (LOCKUP, "dmesg", "cpu-in-the-path", "likely"),
        (TRACE, "dmesg", "hung-device", "possible"),
        (FROM_MEMORY, "fio-text", "measured-memory", "likely"),
        (IOTOP, "iotop", "sync-one-by-one", "possible"),
        (SMARTD, "smartd-log", "dying-member", "likely"),
    ],
)
def test_a_report_of_state_is_named_and_its_cause_follows(text: str, tool: str, cause: str | None, word: str) -> None:
    found = blocks(text)
    assert tool in [block.tool for block in found.blocks]
    causes = answer([found]).causes
    assert [verdict.cause.id for verdict in causes[:1]] == ([cause] if cause else [])
    assert [verdict.confidence for verdict in causes[:1]] == ([word] if cause else [])


@pytest.mark.parametrize(
    ("swap", "ends"),
    [
        ("Swap:          2.0G        1.9G         90M\n", "available, and 95% of the swap space is used."),
        ("Swap:            0B          0B          0B\n", "available, and the host has no swap space."),
        ("", "% of the memory is available."),
    ],
)
def test_only_a_recorded_swap_space_is_called_absent(swap: str, ends: str) -> None:
    text = FREE[: FREE.index("Swap:")] + swap
    (reading,) = [each for each in answer([blocks(text)]).readings if each.id == "memory-short"]
    assert reading.sentence.endswith(ends)


ATOP = (
    "DSK |          sdb  | busy    100% | read       9  | write     10 | KiB/w    128 | avio 1100 ms |\n"
    "DSK |          sdc  | busy      4% | read      90  | write     61 | KiB/w    128 | avio 2.61 ms |\n"
)


def test_a_slow_member_with_less_load_is_no_uneven_load() -> None:
    ids = {reading.id for reading in answer([blocks(ATOP)]).readings}
    assert "peers-differ" in ids
    assert "load-uneven" not in ids


def test_innodb_says_what_it_waits_for() -> None:
    text = (
        "--------\nFILE I/O\n--------\nPending normal aio reads: [0, 0, 0, 0] , aio writes: [0, 0, 0, 0] ,\n"
        "Pending flushes (fsync) log: 1; buffer pool: 2\n523 OS file reads, 112345 OS file writes, 98123 OS fsyncs\n"
        "0.00 reads/s, 0 avg bytes/read, 55.20 writes/s, 27.60 fsyncs/s\n"
    )
    found = {reading.id: reading.values for reading in answer([blocks(text)]).readings}
    assert found["innodb-rates"] == {"writes": 55.2, "fsyncs": 27.6}
    assert found["innodb-pending"] == {"pending": 3}
