"""Diagnosis: pasted output is cut into blocks and read, and causes follow from rules. Nothing pasted is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from seeklab import SeeklabError
from seeklab.bring import blocks
from seeklab.bring.block import DeviceRow, JobRow, PoolSample, Request, Sample
from seeklab.bring.readers import READERS
from seeklab.bring.readers.logs import MESSAGES
from seeklab.diagnosis import answer, diagnose
from seeklab.diagnosis.causes import CAUSES, LIKELY, SHOWN
from seeklab.diagnosis.handler import Handler
from seeklab.diagnosis.readings import PARTS
from seeklab.diagnosis.readings.host import WORK
from seeklab.diagnosis.samples import SAMPLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conftest import CommandLine
    from seeklab.bring.block import Block
    from seeklab.diagnosis import Diagnosis

FIELD = Path(__file__).parents[2] / "shared" / "field-diagnose"

CPU = (
    "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n"
    "           1.00    0.00    2.00   15.00    0.00   82.00\n"
    "\n"
)
HEAD = (
    "Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await "
    "wareq-sz"
    "     d/s     dkB/s   drqm/s  %drqm d_await dareq-sz     f/s f_await  aqu-sz  %util\n"
)


def row(
    name: str, reads: tuple[float, float, float], writes: tuple[float, float, float], queue: float, util: float
) -> str:
    """Return a line of `iostat -x`: (per second, kB per second, ms) of reads and writes."""
    parts = []
    for per_s, kb, ms in (reads, writes, (0, 0, 0)):
        size = kb / per_s if per_s else 0.0
        parts.append(f"{per_s:9.2f} {kb:9.2f} 0.00 0.00 {ms:7.2f} {size:7.2f}")
    return f"{name:10} {' '.join(parts)} 0.00 0.00 {queue:6.2f} {util:6.2f}\n"


SYNC = CPU + HEAD + row("sda", (0, 0, 0), (96, 768, 10.3), 0.99, 98.6)
PAIR = (
    CPU
    + HEAD
    + row("sda", (50, 800, 21), (40, 320, 30), 2.25, 99.2)
    + row("sdb", (51, 812, 4), (41, 330, 5), 0.41, 33.0)
)
ZPOOL = """              capacity     operations     bandwidth    total_wait     disk_wait
pool        alloc   free   read  write   read  write   read  write   read  write
----------  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----
tank        1.00T  2.00T    200    100  25.0M  1.00M   12ms    3ms   11ms    2ms
  mirror    1.00T  2.00T    200    100  25.0M  1.00M   12ms    3ms   11ms    2ms
    sda         -      -    100    100  12.5M  1.00M   10ms    3ms   10ms    2ms
    sdb         -      -    100    100  12.5M  1.00M   14ms    3ms   12ms    2ms
logs            -      -      -      -      -      -      -      -      -      -
  nvme0n1       -      -      0     90      0   900K      -  100us      -   90us
----------  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----
"""
FIO = """wal: (g=0): rw=write, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=1
fio-3.33
Starting 1 process

wal: (groupid=0, jobs=1): err= 0: pid=77: Mon Nov 23 10:00:00 2026
  write: IOPS=71, BW=284KiB/s (291kB/s)(8520KiB/30001msec); 0 zone resets
    clat (usec): min=9, max=310, avg=41.20, stdev=11.00
     lat (usec): min=9, max=311, avg=41.90, stdev=11.10
    clat percentiles (usec):
     | 50.00th=[   40], 99.00th=[   80]
  fsync/fdatasync/sync_file_range:
    sync (msec): min=8, max=40, avg=13.90, stdev= 2.10
    sync percentiles (msec):
     | 50.00th=[   14], 99.00th=[   19]
  cpu          : usr=0.10%, sys=0.31%, ctx=4261, majf=0, minf=12
  IO depths    : 1=199.9%, 2=0.0%, 4=0.0%, 8=0.0%, 16=0.0%, 32=0.0%, >=64=0.0%
     issued rwts: total=0,2130,0,2129 short=0,0,0,0 dropped=0,0,0,0

Disk stats (read/write):
  sdc: ios=0/4250, merge=0/2100, ticks=0/29700, in_queue=29702, util=99.10%
"""
BLKPARSE = """  8,0    1        1     0.000000000  1234  Q   R 2048 + 8 [fio]
  8,0    1        2     0.000100000  1234  D   R 2048 + 8 [fio]
  8,0    1        3     0.000200000  1234  D   W 4096 + 16 [fio]
  8,0    0        4     0.005100000     0  C   R 2048 + 8 [0]
  8,0    0        5     0.010200000     0  C   W 4096 + 16 [0]
"""


def said(*texts: str) -> Diagnosis:
    """Return what texts say."""
    return answer([blocks(text, f"text {number}") for number, text in enumerate(texts)])


def ids(found: Diagnosis) -> set[str]:
    """Return the readings by id."""
    return {reading.id for reading in found.readings}


def first(found: Diagnosis) -> tuple[str, str] | None:
    """Return the first cause and its confidence."""
    return (found.causes[0].cause.id, found.causes[0].confidence) if found.causes else None


def only(text: str) -> Block:
    """Return the only block of a text."""
    (block,) = blocks(text).blocks
    return block


def device(text: str, name: str) -> DeviceRow:
    """Return a device of the first sample of a text."""
    sample = only(text).records[0]
    assert isinstance(sample, Sample)
    return next(each for each in sample.rows if each.name == name)


def test_a_burst_is_not_hidden_by_the_mean() -> None:
    quiet = row("sda", (1, 8, 0.4), (2, 16, 0.5), 0.0, 0.4)
    busy = row("sda", (1, 8, 9.0), (900, 90_000, 9.0), 8.1, 99.0)
    text = CPU + "".join(HEAD + each for each in (quiet, quiet, busy, quiet, quiet))
    readings = {reading.id: reading for reading in answer([blocks(text)]).readings}
    assert "devices-not-busy" not in readings
    assert readings["use"].values["busiest"] == pytest.approx(0.99)


@pytest.mark.parametrize(
    "around",
    [
        lambda text: text,
        lambda text: f"[root@db ~]# iostat -x 1\n{text}",
        lambda text: "".join(f"> {line}\n" for line in text.splitlines()),
        lambda text: f"Hello,\n\n```\n{text}```\nany idea?\n",
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace(".", ","),
        lambda text: f"\ufeff\x1b[1m{text}\x1b[0m",
        lambda text: text.replace("    ", "\t"),
        lambda text: text.replace("Device ", "Device:"),
        lambda text: text.replace("sda       ", "sda\n          "),
    ],
    ids=["plain", "prompt", "quoted", "fenced", "crlf", "commas", "colours", "tabs", "colon", "wrapped"],
)
def test_iostat_is_read_however_it_was_pasted(around: Any) -> None:
    (block,) = blocks(around(SYNC)).blocks
    sample = block.records[0]
    assert isinstance(sample, Sample)
    assert block.tool == "iostat-x"
    assert (sample.rows[0].name, sample.rows[0].writes.per_s, sample.rows[0].writes.ms) == ("sda", 96, 10.3)
    assert sample.rows[0].in_flight == 0.99
    assert sample.rows[0].busy == pytest.approx(0.986)


def test_columns_that_a_version_lacks_are_not_recorded_and_never_zero() -> None:
    old = (
        "Device:  rrqm/s wrqm/s r/s w/s rkB/s wkB/s avgrq-sz avgqu-sz await svctm %util\n"
        "sda 0.0 1.0 2.0 3.0 8.0 12.0 8.0 0.1 20.0 1.0 9.0\n"
    )
    sda = device(old, "sda")
    assert (sda.reads.ms, sda.writes.ms, sda.both.ms) == (None, None, 20.0)
    assert (sda.flushes.per_s, sda.discards.per_s) == (None, None)


def test_the_sample_since_boot_is_left_out_and_alone_says_nothing() -> None:
    boot = (
        "Linux 6.1.0 (host)  11/22/26  _x86_64_  (8 CPU)\n\n"
        + CPU
        + HEAD
        + row("sda", (0, 0, 0), (1, 8, 300), 0.3, 1.0)
        + "\n"
    )
    assert "since-boot-only" in ids(said(boot))
    assert not said(boot).causes
    both = said(boot + SYNC)
    assert first(both) == ("sync-one-by-one", LIKELY)
    assert "since boot" in both.document()["blocks"][0]["note"]


def test_several_tools_in_one_text_are_all_read() -> None:
    found = said(f"before\n{SYNC}\n# zpool iostat -v\n{ZPOOL}\n{FIO}\nafter\n")
    assert [block.tool for block in found.blocks] == ["iostat-x", "zpool-iostat", "fio-text"]
    assert [part["text"] for part in found.document()["skipped"]] == ["before", "after"]


def test_zpool_iostat_has_its_tree_its_waits_and_its_log() -> None:
    (sample,) = only(ZPOOL).records
    assert isinstance(sample, PoolSample)
    assert [(each.name, each.depth, each.role) for each in sample.rows] == [
        ("tank", 0, "data"),
        ("mirror", 1, "data"),
        ("sda", 2, "data"),
        ("sdb", 2, "data"),
        ("nvme0n1", 1, "log"),
    ]
    assert sample.rows[0].waits_ms == {"total read": 12, "total write": 3, "disk read": 11, "disk write": 2}
    assert sample.rows[0].reads.bytes_per_s == 25 << 20


def test_fio_text_has_its_times_options_fsyncs_and_disk() -> None:
    job, disks = only(FIO).records
    assert isinstance(job, JobRow)
    assert isinstance(disks, Sample)
    assert (job.per_s, job.sync.mean_ms) == (71, 13.9)
    assert job.total.mean_ms == pytest.approx(0.0419)
    assert job.completion.percentiles_ms[99.0] == pytest.approx(0.08)
    assert (job.options["bs"], job.options["iodepth"], job.options["numjobs"]) == ("4096", "1", "1")
    assert disks.rows[0].busy == pytest.approx(0.991)
    assert {"fsync-dominates", "depth-one"} <= ids(said(FIO))
    assert first(said(FIO))[0] == "sync-one-by-one"  # type: ignore[index]


def test_blkparse_pairs_dispatch_and_completion() -> None:
    requests = [record for record in only(BLKPARSE).records if isinstance(record, Request)]
    assert [(each.direction, each.offset, each.bytes, each.ns) for each in requests] == [
        ("read", 2048 * 512, 4096, 5_000_000),
        ("write", 4096 * 512, 8192, 10_000_000),
    ]


def test_diskstats_printed_twice_are_an_interval() -> None:
    one = "   8       0 sda 1000 0 8000 5000 2000 0 16000 9000 0 9000 14000\n"
    two = "   8       0 sda 1100 0 8800 5500 2200 0 17600 12000 1 18900 17500\n"
    assert only(one).records == []
    sda = device(f"{one}$ sleep 10; cat /proc/diskstats\n{two}", "sda")
    assert (sda.reads.per_s, sda.reads.ms, sda.writes.per_s, sda.writes.ms) == (10, 5, 20, 15)
    assert sda.busy == pytest.approx(0.99)


def test_our_own_reports_are_read_like_the_real_ones(command_line: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text(
        "[a]\nrw=randread\nsize=64m\nnumber_ios=500\nioengine=libaio\niodepth=4\n", encoding="utf-8"
    )
    for form, tool in (("json", "fio-json"), ("normal", "fio-text")):
        done = command_line("fio", "job.fio", "--on", "hdd-7200", f"--output-format={form}", "--output", f"fio.{form}")
        assert done.returncode == 0, done.stderr
        done = command_line("diagnose", f"fio.{form}", "--json")
        assert done.returncode == 0, done.stderr
        document = json.loads(done.stdout)
        assert [block["tool"] for block in document["blocks"]] == [tool]
        assert "depth-full" in {reading["id"] for reading in document["readings"]}


SICK = (
    CPU
    + HEAD
    + row("sda", (2.6, 152, 486), (0.3, 2.4, 402), 1.4, 99)
    + row("sdb", (2.5, 150, 8), (0.3, 2.4, 9), 0.02, 2)
)
HUNG = CPU + HEAD + row("vda", (0, 0, 0), (0, 0, 0), 64, 100)
WRONG = CPU + HEAD + row("sda", (100, 1600, 900), (100, 1600, 900), 0.5, 12)
LIMIT = "\n".join(CPU + HEAD + row("nvme1n1", (0, 0, 0), (2000, 256000, 16), 32, 100) for _ in range(3))
DEEP = CPU + "".join(
    [
        HEAD,
        *(
            row(f"sd{name}", (2100, 1_075_200, ms), (0, 0, 0), 2.1 * ms, 100)
            for name, ms in (("a", 60), ("b", 25), ("c", 40))
        ),
    ]
)
FLASH = FIO.replace("IOPS=71,", "IOPS=612,").replace(
    "sync (msec): min=8, max=40, avg=13.90", "sync (usec): min=800, max=4000, avg=1590"
)
PRESSURE = (
    "some avg10=99.01 avg60=98.87 avg300=98.90 total=5511022331\n"
    "full avg10=98.71 avg60=98.52 avg300=98.55 total=5490011209\n"
)
IDLE = CPU + HEAD + row("sda", (1, 8, 0.4), (2, 16, 0.5), 0.0, 0.4)
ERRORS = (
    "[Thu May 14 02:11:07 2026] sd 1:0:0:0: [sdb] tag#12 Sense Key : Medium Error [current]\n"
    "[Thu May 14 02:11:07 2026] blk_update_request: critical medium error, dev sdb, sector 411029384 op 0x0:(READ)\n"
)
ETCD = "".join(
    f"2026-11-02 09:2{n}:10.185438 W | wal: sync duration of {n + 1}.2s, expected less than 1s\n" for n in range(5)
)
RESILVER = (
    "  pool: tank\n"
    " state: ONLINE\n"
    "  scan: resilver in progress since Tue Jun 23 10:04:11 2026\n"
    "\t931G scanned at 12.9M/s, 498G issued at 7.41M/s, 931G total\n"
)
CACHE = "Smart Array P420 in Slot 0\n   Controller Status: OK\n   Cache Status: Permanently Disabled\n"
MEMORY = (
    "$ dd if=/dev/zero of=file bs=1M count=2000\n"
    "2000+0 records in\n"
    "2000+0 records out\n"
    "2097152000 bytes (2.1 GB, 2.0 GiB) copied, 1.1 s, 1.9 GB/s\n"
)
CALLS = (
    "$ dd if=a of=/dev/null bs=1k\n"
    "2100+0 records in\n"
    "2100+0 records out\n"
    "2150400 bytes (2.2 MB) copied, 4.6 s, 467 kB/s\n"
)
FULL = ZPOOL.replace("1.00T  2.00T", "2.90T   100G")


@pytest.mark.parametrize(
    ("texts", "cause", "least"),
    [
        ((SYNC,), "sync-one-by-one", LIKELY),
        ((SICK,), "dying-member", SHOWN),
        ((PAIR,), "dying-member", LIKELY),
        ((PAIR, ERRORS), "dying-member", SHOWN),
        ((HUNG,), "hung-device", SHOWN),
        ((LIMIT,), "throughput-limit", SHOWN),
        ((DEEP,), "oversaturated", LIKELY),
        ((FLASH,), "no-power-loss-protection", LIKELY),
        ((IDLE, PRESSURE), "waiting-accounted", SHOWN),
        ((ETCD,), "sync-one-by-one", LIKELY),
        ((RESILVER,), "scan", LIKELY),
        ((CACHE,), "cache-off", SHOWN),
        ((MEMORY,), "measured-memory", SHOWN),
        ((CALLS,), "one-call-at-a-time", LIKELY),
        ((FULL,), "full-pool", LIKELY),
    ],
)
def test_a_cause_follows_from_what_the_report_shows(texts: tuple[str, ...], cause: str, least: str) -> None:
    assert first(said(*texts)) == (cause, least)


def test_the_wait_above_the_devices_follows_from_a_benchmark_and_its_devices() -> None:
    slow = FIO[: FIO.index("  fsync")].replace("lat (usec)", "lat (msec)")
    quiet = CPU + HEAD + row("sda", (0, 0, 0), (71, 284, 0.0), 0.0, 1.0)
    assert {"time-above-devices"} <= ids(said(slow, quiet))
    assert "waits-above" in [verdict.cause.id for verdict in said(slow, quiet).causes]


def test_time_outside_the_writes_of_a_job_that_syncs_is_the_sync() -> None:
    cut = FIO[: FIO.index("  fsync")].replace("ioengine=psync", "ioengine=sync")
    found = said(f"$ fio --name=wal --rw=write --bs=4k --ioengine=sync --fsync=1\n{cut}")
    assert next(reading for reading in found.readings if reading.id == "time-outside-requests").values[
        "ms"
    ] == pytest.approx(14.04, rel=0.01)
    assert first(found) == ("sync-one-by-one", LIKELY)


def test_a_device_without_load_is_not_compared_with_its_peers() -> None:
    quiet = (
        CPU
        + HEAD
        + row("vda", (0, 0, 0), (0.7, 15, 3.4), 0.0, 0.1)
        + row("vdb", (0, 0, 0), (627, 11599, 0.24), 0.15, 17)
    )
    assert not said(quiet).causes


@pytest.mark.parametrize("text", [IDLE, WRONG, ZPOOL, "hello\nworld\n", "", CPU + HEAD])
def test_without_evidence_no_cause_is_likely(text: str) -> None:
    assert not [verdict for verdict in said(text).causes if verdict.confidence in (SHOWN, LIKELY)]


def test_a_contradiction_is_told_and_nothing_follows_from_its_row() -> None:
    assert ids(said(WRONG)) == {"contradiction"}


def test_one_alarm_is_not_eight_proofs() -> None:
    eight = CPU + HEAD + "".join(row(f"sd{name}", (0, 0, 0), (96, 768, 10.3), 0.99, 98.6) for name in "abcdefgh")
    assert first(said(eight)) == first(said(SYNC))


def test_the_document_has_the_lines_and_the_sums() -> None:
    document = said(f"x\n{SYNC}").document()
    assert document["blocks"] == [{"tool": "iostat-x", "source": "text 0", "lines": [2, 6], "used": True, "note": ""}]
    one = next(reading for reading in document["readings"] if reading["id"] == "one-at-a-time")
    assert one["sum"] == "96/s x 10.3 ms = 0.989"
    assert document["next"][0]["command"]
    assert all(set(case) == {"outcome", "then"} for look in document["next"] for case in look["if"])


def test_every_sign_of_a_cause_is_a_reading_that_some_part_yields() -> None:
    folder = Path(PARTS[0].__file__ or "").parent
    text = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
    names = ((message.tool.removesuffix("-log").replace("dmesg", "kernel"), message.code) for message in MESSAGES)
    messages = {f"{program}-{code.replace(' ', '-').lower().replace('/', '')}" for program, code in names}
    parts = {f"{kind}-hold-the-queue" for kind in ("flushes", "discards")} | {f"cpu-{what}" for what in WORK}
    for cause in CAUSES:
        for sign in cause.signs:
            assert f'"{sign.reading}"' in text or sign.reading in messages | parts, sign.reading


def test_every_incident_of_a_cause_exists() -> None:
    from seeklab import cases

    names = {each["id"] for each in cases()}
    assert {incident for cause in CAUSES for incident in cause.incidents} <= names


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "picture"),
        (bytes(4096), "binary"),
    ],
)
def test_a_file_that_is_not_text_is_named(tmp_path: Path, data: bytes, code: str) -> None:
    path = tmp_path / "pasted"
    path.write_bytes(data)
    with pytest.raises(SeeklabError, match=code):
        diagnose([path])


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_any_encoding_is_read(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "pasted.txt"
    path.write_bytes(f"\u00e9t\u00e9\n{SYNC}".encode(encoding))
    assert first(diagnose([path])) == ("sync-one-by-one", LIKELY)


def test_a_pipe_is_read_from_the_standard_input() -> None:
    program = [sys.executable, "-m", "seeklab.cli", "diagnose", "--json"]
    done = subprocess.run(program, input=SYNC, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["causes"][0]["cause"] == "sync-one-by-one"


@pytest.mark.parametrize("name", SAMPLES)
def test_the_handler_reads_each_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    handler = Handler()
    files = json.loads(handler.answer(json.dumps({"record": name})))["files"]
    for file, text in files.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    found = json.loads(handler.answer(json.dumps({"files": list(files)})))
    assert [block["tool"] for block in found["blocks"]] == ["iostat-x", "oplog"]
    assert found["readings"]
    incidents = [incident["id"] for cause in found["causes"] for incident in cause["incidents"]]
    if SAMPLES[name].incident is None:
        assert not [cause for cause in found["causes"] if cause["confidence"] in (SHOWN, LIKELY)]
    else:
        assert SAMPLES[name].incident in incidents


def test_the_handler_answers_what_it_cannot_do_with_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    asked: list[dict[str, object]] = [{"files": []}, {"files": ["lost.txt"]}, {"record": "nothing"}]
    problems = [json.loads(Handler().answer(json.dumps(message)))["problem"] for message in asked]
    assert [sentence.split(":")[0] for sentence in problems] == ["files", "lost.txt", "sample"]


TRUE_CAUSES: dict[str, str] = {
    "F01": "sync-one-by-one",
    "F01b": "sync-one-by-one",
    "F04": "full-pool",
    "F06": "arc-metadata",
    "F09a": "smr-rebuild",
    "F10": "scan",
    "F11": "cpu-in-the-path",
    "F12": "cpu-in-the-path",
    "F14": "hung-device",
    "F16": "waiting-accounted",
    "F17": "waiting-accounted",
    "F18": "sync-one-by-one",
    "F19": "sync-one-by-one",
    "F21": "sync-one-by-one",
    "F25": "discards",
    "F26": "dying-member",
    "F28": "one-call-at-a-time",
    "F32": "dying-member",
    "F34": "cache-off",
    "F35": "background-job",
    "F41": "no-power-loss-protection",
    "F43": "misread-numbers",
    "F44": "misread-numbers",
    "F47a": "sync-one-by-one",
    "F48": "discards",
    "F49": "one-call-at-a-time",
    "F52": "dying-member",
    "F58": "throughput-limit",
    "F62": "scan",
    "F63": "dying-member",
    "F65": "measured-memory",
}
"""What ended the thread, for the reports whose cause is an incident or one of the field's listed causes."""


def field(pattern: str) -> Sequence[Path]:
    """Return files of the field, or skip the test where they are absent."""
    found = sorted(FIELD.glob(pattern))
    if not found:
        pytest.skip("the reports from the field are not on this machine")
    return found


def test_the_true_cause_of_field_reports_comes_first() -> None:
    names = {path.stem: path for path in field("reports/F*")}
    at_first = among = 0
    wrong = []
    for name, cause in TRUE_CAUSES.items():
        ranked = [verdict.cause.id for verdict in diagnose([names[name]]).causes]
        at_first += ranked[:1] == [cause]
        among += cause in ranked[:3]
        if ranked[:1] != [cause]:
            wrong.append((name, cause, ranked[:3]))
    assert at_first >= 0.7 * len(TRUE_CAUSES), wrong
    assert among >= 0.85 * len(TRUE_CAUSES), wrong


def test_shown_and_likely_are_right_in_the_field() -> None:
    field("reports/F*")
    shown: list[bool] = []
    likely: list[bool] = []
    for path in field("reports/F*"):
        found = diagnose([path]).causes
        if found and found[0].confidence in (SHOWN, LIKELY) and path.stem in TRUE_CAUSES:
            (shown if found[0].confidence == SHOWN else likely).append(found[0].cause.id == TRUE_CAUSES[path.stem])
    assert len(shown) >= 5
    assert sum(shown) >= 0.95 * len(shown)
    assert sum(likely) >= 2 / 3 * len(likely)


def test_disks_that_sync_one_write_after_another_are_all_recognised() -> None:
    for path in field("plain/s*"):
        assert "sync-one-by-one" in [verdict.cause.id for verdict in diagnose([path]).causes][:3], path.name


def test_healthy_servers_get_no_cause() -> None:
    healthy = field("plain/h*")
    alarms = [
        path.name for path in healthy if (found := diagnose([path]).causes) and found[0].confidence in (SHOWN, LIKELY)
    ]
    assert len(alarms) <= len(healthy) // 10, alarms


def test_every_form_of_the_field_is_read() -> None:
    unread = [path.name for path in field("forms/*") if not diagnose([path]).blocks]
    assert not unread


def test_every_reader_has_a_name_and_a_mark() -> None:
    assert all(reader.TOOL and (reader.STARTS or reader.HOLDS) for reader in READERS)
