"""Readers of the tools that the incidents need: each layout of the real tool gives its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from seeklab.bring import blocks
from seeklab.bring.block import Event, Histogram, JobRow, Request, Sample, Value
from seeklab.diagnosis import answer
from seeklab.diagnosis.readings.jobs_of import with_job_files

if TYPE_CHECKING:
    from seeklab.bring.block import Block

PING = """PING nas1 (10.0.0.2) 56(84) bytes of data.
64 bytes from nas1 (10.0.0.2): icmp_seq=1 ttl=64 time=150 ms
64 bytes from nas1 (10.0.0.2): icmp_seq=2 ttl=64 time=151 ms

--- nas1 ping statistics ---
3 packets transmitted, 2 received, 33.3333% packet loss, time 2003ms
rtt min/avg/max/mdev = 150.120/150.560/151.004/0.442 ms
"""
SS = """State    Recv-Q    Send-Q       Local Address:Port        Peer Address:Port    Process
ESTAB    0         0                 10.0.0.2:nfs               10.0.0.9:1015
\t cubic wscale:7,7 rto:351 rtt:150.2/0.6 mss:1448 cwnd:34 bytes_retrans:2896 retrans:0/5 delivery_rate 2.6Mbps \
rcv_space:49152 snd_wnd:65536
"""
NSTAT = """#kernel
TcpOutSegs                      412345             0.0
TcpRetransSegs                  31234              0.0
TcpExtTCPTimeouts               112                0.0
"""
NETSTAT = """Tcp:
    1021 active connection openings
    412345 segments sent out
    31234 segments retransmitted
TcpExt:
    112 other TCP timeouts
"""
ETHTOOL = """NIC statistics:
     rx_packets: 100
     rx_dropped: 7
"""
PARTED = """Model: ATA WDC WD10EARS (scsi)
Disk /dev/sda: 1000204886016B
Sector size (logical/physical): 512B/4096B
Partition Table: msdos
Disk Flags:

Number  Start   End             Size            Type     File system  Flags
 1      32256B  1000202273279B  1000202241024B  primary  ext4

"""
FDISK = """Disk /dev/sda: 931.51 GiB, 1000204886016 bytes, 1953525168 sectors
Units: sectors of 1 * 512 = 512 bytes
Sector size (logical/physical): 512 bytes / 4096 bytes
I/O size (minimum/optimal): 4096 bytes / 4096 bytes
Disklabel type: dos

Device     Boot Start        End    Sectors   Size Id Type
/dev/sda1  *       63 1953520064 1953520002 931.5G 83 Linux
"""
QUANTIZE = """  read
           value  ------------- Distribution ------------- count
            2048 |                                         0
            4096 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@           30
            8192 |@@@@@@@@@@                               10
           16384 |                                         0
"""
LQUANTIZE = """  writers write

           value  ------------- Distribution ------------- count
             < 5 |                                         0
               5 |@@@@@@@@@@@@@@@@@@@@                     4
              10 |@@@@@@@@@@@@@@@@@@@@                     4
           >= 15 |                                         0
"""
SCRIPTS = """  not delayed                                                     700
  delayed                                                         300
  stopped                                                           2
"""
DIRTY = " 966MB of 4096MB used\n 774MB of 4096MB used\nsync took 5.93 seconds\n"
BONNIE = """Version  1.03       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
client           8G 81160  92 114128  39 48000  33 79000  97 114000  31  1900   9
                    ------Sequential Create------ --------Random Create--------
                    -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
              files  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
                 16   510  12 +++++ +++  1500  12   510  12 +++++ +++  1500  12
"""
BONNIE_CSV = (
    "1.98,2.00a,client,1,7,8G,,8192,5,81160,92,114128,39,48000,33,79000,97,114000,31,1900,9,16,,,,,510,12,+++++,+++,1500,12,"
    "510,12,+++++,+++,1500,12,1us\n"
)
DASHBOARD = """window 20s, begins at 0s
      from s       IOPS        MiB/s     latency ms
       0.000       0.00         0.00              -
      20.000      21.30        21.30          77.41
"""
OMSA = """Nov 23 12:55:31 db1 Server Administrator: Storage Service EventID: 2176  The controller battery Learn \
cycle has started.:  Battery 0 Controller 0
Nov 23 14:21:53 db1 Server Administrator: Storage Service EventID: 2188  The controller write policy has \
been changed to Write Through.:  Battery 0 Controller 0
Nov 23 14:55:06 db1 Server Administrator: Storage Service EventID: 2189  The controller write policy has \
been changed to Write Back.:  Battery 0 Controller 0
"""
MEGARAID = """Time: Sun Feb 14 12:55:31 2010
Event Description: Battery relearn started
Time: Sun Feb 14 14:21:53 2010
Event Description: BBU disabled; changing WB virtual disks to WT, Forced WB VDs are not affected
"""
OPLOG = """   time ms  job        op          offset     bytes    in RAM    missed latency ms  last on  where
    100.15  odx        read   12345678848   8650752   8388608    262144     25.123  disk3   queue 1.20, device 8.10
    125.40  odx        read   12354329600   8650752   8388608    262144     24.900  disk4   queue 1.10, device 8.20
2 of 2 operations
"""
SUMMARY = """# TYPE search_request_seconds summary
search_request_seconds{quantile="0.5"} 1.001
search_request_seconds{quantile="0.99"} 1.01
search_request_seconds_count 1000
"""
JOB_FILE = """[global]
ioengine=libaio
rw=randread

[tool]
rate_iops=20
numjobs=100
"""
FIO = """tool: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=1
...
fio-3.33
Starting 100 processes

tool: (groupid=0, jobs=100): err= 0: pid=7: Mon Nov 23 10:00:00 2026
  read: IOPS=1975, BW=7900KiB/s (8090kB/s)(154MiB/19750msec)
    clat (usec): min=1000, max=1414000, avg=9000.00, stdev=70000.00
     lat (usec): min=1000, max=1414000, avg=9000.00, stdev=70000.00
   bw (  KiB/s): min=    0, max= 8200, per=100.00%, avg=7900.00, stdev=70.00, samples=39
   iops        : min=    0, max= 2050, avg=1975.00, stdev=90.00, samples=39
"""


def only(text: str) -> Block:
    """Return the only block of a text."""
    (block,) = blocks(text).blocks
    return block


def values(text: str) -> dict[tuple[str, str], float | str]:
    """Return the values of the only block of a text."""
    return {(value.subject, value.name): value.value for value in only(text).records if isinstance(value, Value)}


@pytest.mark.parametrize(
    ("text", "tool", "expected"),
    [
        (PING, "ping", {("path", "rtt"): 150.56, ("path", "lost"): 1}),
        (
            SS,
            "ss",
            {("connection 1", "rtt"): 150.2, ("connection 1", "snd_wnd"): 65536, ("connection 1", "retrans"): 5},
        ),
        (SS, "ss", {("connection 1", "rate"): 325_000, ("connection 1", "rcv_space"): 49152}),
        (NSTAT, "nstat", {("tcp", "TcpRetransSegs"): 31234, ("tcp", "TcpExtTCPTimeouts"): 112}),
        (NETSTAT, "netstat-s", {("tcp", "TcpOutSegs"): 412345, ("tcp", "TcpExtTCPTimeouts"): 112}),
        (ETHTOOL, "ethtool", {("interface", "rx_dropped"): 7}),
        (PARTED, "parted", {("/dev/sda", "physical block"): 4096, ("/dev/sda", "start of 1"): 32256}),
        (FDISK, "parted", {("/dev/sda", "physical block"): 4096, ("/dev/sda", "start of 1"): 32256}),
        (SCRIPTS, "dtrace", {("writes", "delayed"): 300, ("writes", "stopped"): 2}),
        (DIRTY, "dtrace", {("dirty", "used"): 774e6, ("dirty", "max"): 4096e6, ("sync", "took"): 5.93}),
        (BONNIE, "bonnie", {("putc", "cpu"): 92, ("get_block", "rate"): 114_000, ("seq_stat", "rate"): "too short"}),
        (BONNIE_CSV, "bonnie", {("putc", "cpu"): 92, ("get_block", "rate"): 114_000, ("ran_del", "rate"): 1500}),
        (DASHBOARD, "dashboard", {("window", "length"): 20, ("point 20.000", "ms"): 77.41}),
        (SUMMARY, "prometheus", {("search_request_seconds", "p50"): 1001, ("search_request_seconds", "p99"): 1010}),
        (JOB_FILE, "fio-job", {("tool", "rate_iops"): "20", ("tool", "rw"): "randread"}),
    ],
)
def test_a_tool_gives_its_numbers(text: str, tool: str, expected: dict[tuple[str, str], float | str]) -> None:
    assert only(text).tool == tool
    found = values(text)
    for key, value in expected.items():
        assert found[key] == (pytest.approx(value) if isinstance(value, float | int) else value)


@pytest.mark.parametrize(
    ("text", "subject", "buckets"),
    [
        (QUANTIZE, "read", [(4.096, 8.192, 30), (8.192, 16.384, 10)]),
        (LQUANTIZE, "writers write", [(5, 10, 4), (10, 15, 4)]),
    ],
)
def test_a_distribution_has_its_key_and_its_unit(
    text: str, subject: str, buckets: list[tuple[float, float, float]]
) -> None:
    (histogram,) = only(text).records
    assert isinstance(histogram, Histogram)
    assert (histogram.subject, histogram.unit) == (subject, "ms")
    assert [number for bucket in histogram.buckets for number in bucket] == pytest.approx(
        [number for bucket in buckets for number in bucket]
    )


@pytest.mark.parametrize("text", [OMSA, MEGARAID])
def test_a_controllers_log_has_its_learn_cycle(text: str) -> None:
    events = [event for event in only(text).records if isinstance(event, Event)]
    assert [event.code for event in events][:2] == ["learn started", "write-through"]


def test_times_of_a_controllers_log_are_seconds() -> None:
    events = [event for event in only(OMSA).records if isinstance(event, Event)]
    assert (events[2].at_s or 0) - (events[1].at_s or 0) == 33 * 60 + 13


def test_an_operation_log_as_text_tells_what_was_in_memory() -> None:
    requests = [request for request in only(OPLOG).records if isinstance(request, Request)]
    assert [(each.bytes, each.cached, each.ns) for each in requests] == [
        (8650752, 8388608, 25_123_000),
        (8650752, 8388608, 24_900_000),
    ]


def test_a_job_file_adds_its_options_to_the_report() -> None:
    rows = [
        record
        for block in with_job_files(blocks(f"$ cat job.fio\n{JOB_FILE}\n$ fio job.fio\n{FIO}").blocks)
        for record in block.records
        if isinstance(record, JobRow)
    ]
    assert [(row.options["rate_iops"], row.options["iodepth"], row.samples["min"]) for row in rows] == [("20", "1", 0)]


def test_rows_without_a_heading_are_read_if_their_sizes_agree() -> None:
    rows = (
        "sdc   0.00  0.00  0.00   0.00  0.00      0.00    0.00  0.00   0.00  0.00   0.00  0.00   0.00\n"
        "sdc   0.00  0.00  0.00 800.00  0.00 102400.00  256.00  8.00  10.00  0.00  10.00  1.25 100.00\n"
    )
    (block,) = blocks(rows).blocks
    assert block.tool == "iostat-x"
    assert [sample.rows[0].writes.per_s for sample in block.records if isinstance(sample, Sample)] == [0, 800]
    assert not blocks(rows.replace("256.00", "512.00")).blocks
    assert not blocks(rows.replace("100.00\n", "900.00\n")).blocks


def test_a_row_without_a_heading_has_the_columns_of_its_version() -> None:
    row = "nvme0n1 100.00 200.00 1600.00 6400.00 0.00 0.00 0.00 0.00 0.20 0.50 0.12 16.00 32.00 0.10 3.00\n"
    (block,) = blocks(row).blocks
    (sample,) = block.records
    assert isinstance(sample, Sample)
    device = sample.rows[0]
    assert (device.reads.per_s, device.writes.per_s, device.writes.ms, device.in_flight) == (100, 200, 0.5, 0.12)


def test_gstat_names_the_way_behind_a_rate() -> None:
    text = (
        "L(q)  ops/s    r/s kB/r kB/s r   ms/r    w/s kB/w kB/s w   ms/w   d/s kB/d kB/s d   ms/d  %busy Name\n"
        "   0     90      4  250   1000   15.1     80  400  32000   19.0     0    0      0    0.0   20.8 ada0\n"
    )
    (block,) = blocks(text).blocks
    (sample,) = block.records
    assert isinstance(sample, Sample)
    assert (sample.rows[0].reads.bytes_per_s, sample.rows[0].writes.bytes_per_s) == (1000 * 1024, 32000 * 1024)
    assert not any(reading.id == "contradiction" for reading in answer([blocks(text)]).readings)


def test_a_plain_fsync_that_does_not_flush_is_named() -> None:
    text = (
        "        fdatasync                  25000,125 ops/sec      40 usecs/op\n"
        "        fsync                      25000,325 ops/sec      40 usecs/op\n"
        "        fsync_writethrough            50,000 ops/sec   20000 usecs/op\n"
    )
    found = {reading.id: reading.values for reading in answer([blocks(text)]).readings}
    assert found["fsync-rate"]["ms"] == pytest.approx(20)
    assert found["fsync-without-flush"]["factor"] == pytest.approx(500, rel=0.01)
    without = text.replace("50,000 ops/sec   20000 usecs/op", "n/a")
    assert [reading.id for reading in answer([blocks(without)]).readings] == ["fsync-rate"]


def test_the_first_report_of_nfsiostat_counts_from_the_mount_on() -> None:
    def report(per_s: float, wire: float) -> str:
        return (
            f"srv:/a mounted on /b:\n\n ops/s rpc bklog\n {per_s} 0.000\n\n"
            "read: ops/s kB/s kB/op retrans avg RTT (ms) avg exe (ms)\n"
            f" {per_s} 80.0 8.0 0 (0.0%) {wire} {wire + 1}\n\n"
        )

    two = answer([blocks(report(0.1, 8) + "Timestamp : 05:20:00\n\n" + report(100, 9))])
    (use,) = [reading.values for reading in two.readings if reading.id == "nfs-use"]
    assert (use["per_s"], use["wire_ms"]) == (100, 9)
    (use,) = [reading.values for reading in answer([blocks(report(0.1, 8))]).readings if reading.id == "nfs-use"]
    assert use["per_s"] == 0.1


def test_images_of_ceph_have_rates_and_times() -> None:
    text = (
        "NAME           WR    RD    WR_BYTES   RD_BYTES     WR_LAT    RD_LAT\n"
        "rbd/vm-1  1000/s   0/s   4.0 MiB/s      0 B/s   35.00 ms   0.00 ns\n"
    )
    (block,) = blocks(text).blocks
    (sample,) = block.records
    assert isinstance(sample, Sample)
    writes = sample.rows[0].writes
    assert (writes.per_s, writes.bytes_per_s, writes.ms) == (1000, 4 << 20, 35)
    assert "use" in {reading.id for reading in answer([blocks(text)]).readings}


def test_kubestr_gives_the_rates_of_its_jobs() -> None:
    text = (
        "Global options - ioengine=libaio verify=0 direct=1 gtod_reduce=1\n\nJobName: write_iops\n"
        "  blocksize=4K filesize=2G iodepth=64 rw=randwrite\nwrite:\n  IOPS=5763.5 BW(KiB/s)=23071\n"
        "  iops: min=4698 max=6748 avg=5779.5\n"
    )
    (block,) = blocks(text).blocks
    (job,) = block.records
    assert isinstance(job, JobRow)
    assert (job.per_s, job.bytes_per_s, job.options["iodepth"], job.options["bs"]) == (5763.5, 23071 * 1024, "64", "4K")


def test_old_logs_of_etcd_have_the_time_in_brackets() -> None:
    text = "2018-04-03 19:58:26.681723 W | etcdserver: apply entries took too long [12.25s for 1 entries]\n"
    (event,) = blocks(text).blocks[0].records
    assert isinstance(event, Event)
    assert (event.code, event.ms) == ("slow apply", 12_250)


def test_kbench_gives_rates_bandwidths_and_times_of_jobs_of_their_own() -> None:
    text = (
        "FIO Benchmark Summary\nFor: test_device\nSIZE: 30G\n=====================\nIOPS (Read/Write)\n"
        "        Random:           28,000 / 5,000\n    Sequential:          51,000 / 11,000\n  CPU Idleness: 86%\n\n"
        "Bandwidth in KiB/sec (Read/Write)\n        Random:      1,000,000 / 200,000\n\n"
        "Latency in ns (Read/Write)\n        Random:        250,000 / 1,000,000\n\nbye\n"
    )
    (block,) = blocks(text).blocks
    rows = [(job.job, job.direction, job.per_s, job.bytes_per_s) for job in block.records if isinstance(job, JobRow)]
    assert rows[1] == ("random IOPS", "write", 5000, None)
    assert rows[4] == ("random bandwidth", "read", None, 1_000_000 * 1024)
    assert rows[6] == ("random latency", "read", 4000, None)
    assert (block.tool, block.first, block.last, len(rows)) == ("kbench", 1, 14, 8)


def test_a_failed_fio_job_says_so() -> None:
    text = (
        "a: (groupid=0, jobs=1): err=121 (file:io_u.c): pid=1\n"
        "  read: IOPS=55, BW=868KiB/s (889kB/s)(10.7MiB/12571msec)\n"
    )
    assert len(blocks(text).blocks[0].notes) == 1
    assert not blocks(text.replace("err=121", "err= 0")).blocks[0].notes


SHORT_RUN = """a: (groupid=0, jobs=1): err= 0: pid=7: Fri Sep 16 10:20:00 2016
  write: io=512.0MB, bw=72405KB/s, iops=  70, runt=  7241msec
    clat (msec): min=3, max=366, avg=14.00, stdev=40.84
     lat (msec): min=3, max=366, avg=14.20, stdev=40.84
"""


@pytest.mark.parametrize("before", ["", " " * 57])
def test_fio_is_read_wherever_its_output_is_indented(before: str) -> None:
    text = "".join(f"{before}{line}\n" for line in SHORT_RUN.splitlines())
    (block,) = blocks(text).blocks
    (job,) = block.records
    assert isinstance(job, JobRow)
    assert (job.direction, job.per_s, job.runtime_s) == ("write", 70.0, 7.241)
    assert job.total.mean_ms == 14.2


def test_a_queue_of_a_pool_is_no_sync() -> None:
    text = """pool         total_wait     disk_wait    sync_queue    async_queue
latency      read  write   read  write   read  write   read  write  scrub
----------  -----  -----  -----  -----  -----  -----  -----  -----  -----
2us             0      0      0      0  2.04M  57.8K   167K  32.4K      4
4us             0      0      0      0   552K  44.0K  56.1K  23.5K      0
"""
    found = [reading for reading in answer([blocks(text)]).readings if reading.id == "histogram"]
    assert [reading.subject for reading in found] == [
        *("pool sync_queue read", "pool sync_queue write", "pool async_queue read", "pool async_queue write"),
        "pool scrub",
    ]
    assert not any(reading.values["is_sync"] for reading in found)


def test_a_single_sample_of_a_pool_may_average_since_its_import() -> None:
    rule = "----  -----  -----  -----  -----  -----  -----\n"
    head = f"              capacity     operations    bandwidth\npool  alloc   free   read  write   read  write\n{rule}"
    row = "NAS   10.5T  22.0T     21    389  2.70M  35.5M\n"
    (one,) = blocks(head + row).blocks
    (two,) = blocks(head + row + rule + row).blocks
    assert any("since the import" in note for note in one.notes)
    assert not two.notes


def test_a_group_of_a_pool_does_not_repeat_the_errors_of_its_devices() -> None:
    text = (
        "  pool: tank\n state: DEGRADED\nconfig:\n\n\tNAME        STATE     READ WRITE CKSUM\n"
        "\ttank        DEGRADED  701     0     0\n\t  mirror-0  DEGRADED  701     0     0\n"
    )
    subjects = [
        (reading.id, reading.subject)
        for more in ("", "\t    sda     ONLINE    701     0     0\n\t    sdb     FAULTED     0     0     0\n")
        for reading in answer([blocks(text + more)]).readings
    ]
    alone = [("pool-state", "tank"), ("pool-errors", "tank/tank"), ("pool-state", "tank/mirror-0")]
    assert subjects == [
        *alone,
        ("pool-errors", "tank/mirror-0"),
        ("pool-state", "tank"),
        ("pool-errors", "tank/sda"),
        ("pool-state", "tank/sdb"),
    ]


def jobs(text: str) -> list[JobRow]:
    """Return the jobs of a text's only block."""
    (block,) = blocks(text).blocks
    return [record for record in block.records if isinstance(record, JobRow)]


NEW_MARKS = (
    "CrystalDiskMark 8.0.4 x64 (C) 2007-2021 hiyohiyo\n* KB = 1000 bytes, KiB = 1024 bytes\n\n[Read]\n"
    "  SEQ    1MiB (Q=  8, T= 1):  1200.000 MB/s [   1144.4 IOPS] <  6950.00 us>\n\n[Write]\n"
    "  RND    4KiB (Q=  1, T= 1):     1.104 MB/s [    269.5 IOPS] <  3700.00 us>\n"
)
OLD_MARKS = (
    "CrystalDiskMark 5.2.0 x64 (C) 2007-2016 hiyohiyo\n   Sequential Read (Q= 32,T= 1) :   500.000 MB/s\n"
    "  Random Write 4KB (QD=32) :   40.960 MB/s [ 10000.0 IOPS]\n   Sequential Write :   400.000 MB/s\n"
)


def test_crystaldiskmark_has_rates_depths_and_times() -> None:
    found = [(job.direction, job.per_s, job.options["iodepth"], job.total.mean_ms) for job in jobs(NEW_MARKS)]
    assert found == [("read", 1144.4, "8", 6.95), ("write", 269.5, "1", 3.7)]
    assert [(job.direction, job.per_s, job.bytes_per_s) for job in jobs(OLD_MARKS)] == [
        ("read", None, 5e8),
        ("write", 10_000, 40.96e6),
        ("write", None, 4e8),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "READ: bw=131MiB/s (137MB/s), 131MiB/s-131MiB/s (137MB/s-137MB/s), io=7832MiB (8213MB), run=60001-60001msec",
        "   READ: io=7860.0MB, aggrb=134144KB/s, minb=134144KB/s, maxb=134144KB/s, mint=60001msec, maxt=60001msec",
    ],
)
def test_the_summary_of_fio_alone_has_a_rate(line: str) -> None:
    (job,) = jobs(f"$ fio --name=a --rw=randread --bs=4k --direct=1\n\n{line}\n")
    assert (job.direction, job.bytes_per_s, job.per_s, job.runtime_s) == ("read", 131 << 20, 131 << 8, 60.001)


def test_diskspd_may_print_the_totals_of_its_only_direction() -> None:
    text = (
        "Command Line: diskspd.exe -b8k -t2 -r -o512 -d30 -Sh D:\\a.dat\n\nInput parameters:\n\n"
        "\t\tperforming read test\n\t\tblock size: 8KiB\n\nTotal IO\n"
        "thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | LatStdDev |  file\n"
        "total:        2000000000 |       244140 |      63.54 |    8132.58 |  125.887 |   120.0\n"
    )
    (job,) = jobs(text)
    assert (job.direction, job.per_s, job.total.mean_ms) == ("read", 8132.58, 125.887)


def test_arcstat_has_the_share_of_hits_of_its_intervals() -> None:
    text = (
        "    time  read  miss  miss%  arcsz     c\n21:16:08  1900    42      2   4.0G  4.0G\n"
        "21:16:18   100    58     58   4.0G  4.0G\n"
    )
    (reading,) = (reading for reading in answer([blocks(text)]).readings if reading.id == "arc-hits")
    assert reading.values["share"] == pytest.approx(0.95)
