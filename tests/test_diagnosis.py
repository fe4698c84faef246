"""Diagnosis: reports of real tools are read, numbers say what arithmetic says, and blind cases are told apart."""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from blind import DRAWS, PLAIN_DEVICES, draw_incident, draw_plain
from seeklab import SeeklabError
from seeklab.data.json_depth import DEEPEST, is_too_deep
from seeklab.diagnosis import diagnose, read_evidence
from seeklab.diagnosis.evidence import ACCEPTED
from seeklab.diagnosis.features import NAMES, in_words
from seeklab.diagnosis.handler import Handler
from seeklab.diagnosis.samples import SAMPLES
from seeklab.diagnosis.signatures import CLIENT_LOG, MECHANISMS, NONE, judge
from sentences import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from conftest import CommandLine
    from seeklab.diagnosis import Diagnosis

WHOLE = bool(os.environ.get("SEEKLAB_FULL"))
BLIND_CASES, BLIND_PLAIN = 50, 10

IOSTAT = """Linux 6.1.0 (host)  11/22/26  _x86_64_  (8 CPU)

avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           1.00    0.00    2.00    5.00    0.00   92.00

Device   r/s     rkB/s  rrqm/s  %rrqm r_await rareq-sz  w/s  wkB/s  wrqm/s  %wrqm w_await wareq-sz  aqu-sz  %util
sda   100.00   6400.00    0.00   0.00   20.00    64.00 0.00   0.00    0.00   0.00    0.00     0.00    2.00  95.00
sdb     2.00      8.00    0.00   0.00    5.00     4.00 0.00   0.00    0.00   0.00    0.00     0.00    0.01   1.00
"""
ZPOOL = """              capacity     operations     bandwidth    total_wait
pool        alloc   free   read  write   read  write   read  write
----------  -----  -----  -----  -----  -----  -----  -----  -----
tank        1.00T  2.00T    200    100  25.0M  1.00M   12ms    3ms
  mirror    1.00T  2.00T    200    100  25.0M  1.00M   12ms    3ms
    sda         -      -    100    100  12.5M  1.00M   10ms    3ms
    sdb         -      -    100    100  12.5M  1.00M   14ms    3ms
----------  -----  -----  -----  -----  -----  -----  -----  -----
"""
BLKPARSE = """  8,0    1        1     0.000000000  1234  Q   R 2048 + 8 [fio]
  8,0    1        2     0.000100000  1234  Q   W 4096 + 16 [fio]
  8,0    0        3     0.005000000     0  C   R 2048 + 8 [0]
  8,0    0        4     0.010100000     0  C   W 4096 + 16 [0]
"""
OPS = "job,op,offset,bytes,submit_ns,latency_ns\n" + "".join(
    f"0,read,{number * 4096},4096,{number * 1_000_000},{100_000_000 if number % 50 == 0 else 500_000}\n"
    for number in range(500)
)


def write(folder: Path, name: str, text: str) -> Path:
    """Write a report."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def of(found: Diagnosis, subject: str, *wanted: str) -> list[str]:
    """Return the sentences about a device or job that have these numbers."""
    return [line for line in found.says if line.startswith(subject) and set(wanted) <= set(numbers(line))]


def test_iostat_says_who_is_busy_and_what_the_queue_costs(tmp_path: Path) -> None:
    found = diagnose([write(tmp_path, "iostat.txt", IOSTAT)])
    assert of(found, "sda", "95", "2.0"), "busy, with two at a time"
    assert not of(found, "sda", "95", "48"), "the other device is busy half of the time"
    # 100 a second of 20 ms are 2 in flight; of 20 ms, two at a time, 10 ms are the device's.
    assert of(found, "sda", "100", "64.0", "20.00", "2.0", "10.00")
    assert CLIENT_LOG in found.next


def test_devices_that_do_alike_are_told_once(tmp_path: Path) -> None:
    line = IOSTAT.splitlines()[6]
    alike = "\n".join(line.replace("sda", f"sd{letter}").replace("  100.00  ", "  101.00  ") for letter in "cdef")
    found = diagnose([write(tmp_path, "iostat.txt", f"{IOSTAT}{alike}\n")])
    of_devices = [sentence for sentence in found.says if "KiB" in sentence]
    subjects = [sentence.split(":")[0] for sentence in of_devices]
    assert [(subject[:3], numbers(subject)) for subject in subjects] == [("sda", ["4"]), ("sdb", [])]
    assert numbers(of_devices[1])[-1] == "5.00"


def test_a_queue_that_contradicts_littles_law_is_told(tmp_path: Path) -> None:
    found = diagnose([write(tmp_path, "iostat.txt", IOSTAT.replace("    2.00  95.00", "    6.00  95.00"))])
    assert of(found, "sda", "2.0", "6.0")


def test_zpool_iostat_is_read_down_to_the_disks(tmp_path: Path) -> None:
    (devices,) = read_evidence([write(tmp_path, "zpool.txt", ZPOOL)]).devices
    assert [(device.name, device.ios_per_s, device.await_ms) for device in devices] == [
        ("sda", (100, 100), (10, 3)),
        ("sdb", (100, 100), (14, 3)),
    ]


def test_blkparse_pairs_begins_with_completions(tmp_path: Path) -> None:
    ops = read_evidence([write(tmp_path, "blk.txt", BLKPARSE)]).ops
    assert [(op.direction, op.offset, op.bytes, op.latency_ns) for op in ops] == [
        (0, 2048 * 512, 4096, 5_000_000),
        (1, 4096 * 512, 8192, 10_000_000),
    ]


def test_a_mean_that_hides_is_told(tmp_path: Path) -> None:
    found = diagnose([write(tmp_path, "ops.csv", OPS)])
    assert of(found, "job 0", "0.5", "100")


def test_our_own_reports_are_read_like_the_real_ones(command_line: CommandLine, tmp_path: Path) -> None:
    write(tmp_path, "job.fio", "[a]\nrw=randread\nsize=64m\nnumber_ios=500\nioengine=libaio\niodepth=4\n")
    done = command_line("fio", "job.fio", "--on", "hdd-7200", "--output-format=json", "--output", "fio.json")
    assert done.returncode == 0, done.stderr
    done = command_line("diagnose", "fio.json", "--json")
    assert done.returncode == 0, done.stderr
    assert {"4.0", "4"} <= set(numbers(" ".join(json.loads(done.stdout)["says"])))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ACCEPTED),
        ("hello\nworld\n", '"hello"'),
        ('{"sysstat": {"hosts": [{"statistics": [{"disk": [{"disk_device": "sda"}]}]}]}}', "'r_await'"),
        ('{"fio version": "fio-3.33", "jobs": [{}]}', "'read'"),
        ('{"half": ', "(char 9)"),
        ('{"other": 1}', ACCEPTED),
        ("Device  tps  kB_read/s\nsda 1 2\n", "iostat -x 1"),
        ("job,op,submit_ns,latency_ns\n0,read,1,2\n", "report line 1: "),
        ("job,op,offset,bytes,submit_ns,latency_ns\n0,read,x,1,2,3\n", '"0,read,x,1,2,3"'),
        (BLKPARSE.replace(" C ", " D "), "report: "),
        (IOSTAT.replace("r_await", "await"), "r_await"),
    ],
)
def test_what_is_no_report_is_refused_with_what_was_found(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(SeeklabError, match=r".+") as refused:
        diagnose([write(tmp_path, "report", text)])
    assert said in str(refused.value)


HOSTILE: tuple[object, ...] = (
    None,
    "",
    "x",
    -1,
    1e400,
    float("nan"),
    10**400,
    True,
    [],
    {},
    [[1]],
    {"read": 1},
    "9" * 5000,
)
"""What no report has in the place of a value."""
SYSSTAT = {
    "disk_device": "sda",
    "r/s": 100.0,
    "w/s": 10.0,
    "rkB/s": 400.0,
    "wkB/s": 40.0,
    "r_await": 5.0,
    "w_await": 2.0,
    "aqu-sz": 1.0,
    "util": 50.0,
}
LATENCY = {"mean": 1e6, "stddev": 1e5, "min": 1, "max": 2e6, "N": 10, "percentile": {"50.000000": 1000000}}
ONE_WAY = {"total_ios": 10, "iops": 1000.0, "bw_bytes": 4096000, "lat_ns": LATENCY, "clat_ns": LATENCY}
OF_FIO = {
    "fio version": "fio-3.33",
    "jobs": [{"jobname": "a", "job options": {"iodepth": "1"}, "read": ONE_WAY, "write": ONE_WAY}],
}
OF_IOSTAT = {"sysstat": {"hosts": [{"statistics": [{"disk": [SYSSTAT, SYSSTAT]}]}]}}


def spoilt(document: Any, values: Sequence[object]) -> Iterator[Any]:
    """Put each value in the place of every part of a document, one at a time."""
    yield from values
    inner = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    for at, part in inner:
        for other in spoilt(part, values):
            yield (
                {**document, at: other} if isinstance(document, dict) else [*document[:at], other, *document[at + 1 :]]
            )


@pytest.mark.parametrize("document", [OF_FIO, OF_IOSTAT], ids=["fio", "iostat"])
def test_a_value_that_no_tool_writes_is_refused_in_a_sentence_or_harmless(tmp_path: Path, document: object) -> None:
    assert diagnose([write(tmp_path, "good.json", json.dumps(document))]).says
    refused = tried = 0
    for other in spoilt(document, HOSTILE):
        tried += 1
        try:
            found = diagnose([write(tmp_path, "bad.json", json.dumps(other))])
        except SeeklabError as error:
            refused += 1
            assert "bad.json" in str(error) or "files: " in str(error)  # noqa: PT017 -- both ways are fine
        else:
            json.dumps(found.document(), allow_nan=False)
    assert tried > refused > tried / 3


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("0,read,0,4096,0,-5", "0,read"),
        ("0,read,0,4096,0,1e400", "0,read"),
        ("0,read,0,4096,0,1e300", "0,read"),
        ("0,read,0,nan,0,5", "0,read"),
        ("0,7,0,4096,0,5", '"0,7,0,4096,0,5"'),
        ("0,read,0", '"0,read,0"'),
    ],
)
def test_a_line_that_no_log_has_is_refused_with_its_number(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(SeeklabError, match=r"ops\.csv line 502: ") as refused:
        diagnose([write(tmp_path, "ops.csv", f"{OPS}{line}\n")])
    assert said in str(refused.value)


def test_nesting_and_sizes_that_no_report_has_are_refused(tmp_path: Path) -> None:
    deep = write(tmp_path, "deep.json", '{"sysstat":\n' * 100_000)
    with pytest.raises(SeeklabError, match=rf"deep\.json: .*{DEEPEST}"):
        diagnose([deep])
    assert not is_too_deep("[" * 64 + "]" * 64 + '"' + "[" * 100 + '\\"' + "{" * 100 + '"' + "[]{}" * 1000)
    assert is_too_deep("[" * 65 + "]" * 65)
    assert is_too_deep('{"a":[' * 40 + "1" + "]}" * 40)
    with pytest.raises(SeeklabError, match=r"ops\.csv: .* 0 MiB"):
        read_evidence([write(tmp_path, "ops.csv", OPS)], most_bytes=1000)


@pytest.mark.parametrize("name", SAMPLES)
def test_the_handler_finds_in_each_sample_what_is_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    handler = Handler()
    files = json.loads(handler.answer(json.dumps({"record": name})))["files"]
    for file, text in files.items():
        write(tmp_path, file, text)
    found = json.loads(handler.answer(json.dumps({"files": list(files)})))
    assert found["sources"] == ["iostat.txt: iostat -x", "operations.csv: an operation log"]
    incident = SAMPLES[name].incident
    assert found["none_of_these"] == (incident is None), found["why"]
    if incident is not None:
        assert found["ranked"][0]["incident"] == incident
        assert found["ranked"][0]["title"]


def test_the_handler_answers_what_it_cannot_do_with_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    asked: list[dict[str, object]] = [{"files": []}, {"files": ["lost.txt"]}, {"record": "nothing"}]
    said = [json.loads(Handler().answer(json.dumps(message)))["problem"] for message in asked]
    assert [sentence.split(":")[0] for sentence in said] == ["files", "lost.txt", "sample"]


def blind_cases() -> list[tuple[str, int]]:
    """Draw which incidents are asked, with seeds that the signatures have not seen."""
    names = list(MECHANISMS)
    return [(names[number % len(names)], 1000 + number) for number in range(BLIND_CASES)]


QUICK = ("odx-prefetch", "combine-limit", "sync-serialised", "one-window-per-rtt")
"""Incidents whose runs are short, for a sample."""


def test_blind_cases_are_told_apart() -> None:
    asked = blind_cases() if WHOLE else [(name, 1000 + number) for number, name in enumerate(QUICK)]
    confusion: Counter[tuple[str, str]] = Counter()
    first = among = 0
    for name, seed in asked:
        drawn = draw_incident(name, seed)
        found = judge(drawn.evidence)
        ranked = [] if found.is_none else [fit.mechanism for fit in found.ranked]
        confusion[drawn.mechanism, ranked[0] if ranked else NONE] += 1
        first += ranked[:1] == [drawn.mechanism]
        among += drawn.mechanism in ranked[:3]
    lines = "\n".join(f"{count:3} {true} -> {said}" for (true, said), count in sorted(confusion.items()))
    sys.stdout.write(f"\n{first} of {len(asked)} first, {among} among three\n{lines}\n")
    assert first >= 0.8 * len(asked), lines
    assert among >= 0.95 * len(asked), lines


def test_what_to_look_at_next_names_the_values_of_both_incidents() -> None:
    found = judge(draw_incident("one-window-per-rtt", 1234).evidence)
    first, second = (fit.incident for fit in found.ranked[:2])
    assert first == "one-window-per-rtt"
    assert any(
        re.fullmatch(rf"{NAMES['in flight']}: 2 here, 2 in {first}, [\d.]+ in {second}", line) for line in found.next
    ), found.next


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("read share", 0.354, "35%"),
        ("rhythm", 0.5, "0.50"),
        ("size", 1.0, "64 KiB"),
        ("size", 2.0, "1 MiB"),
        ("read tail", 1.5, "32x"),
        ("device reads", -0.3, "0.5x"),
        ("devices", 0.602, "4"),
    ],
)
def test_features_are_written_as_people_say_them(name: str, value: float, said: str) -> None:
    assert in_words(name, value) == said


def test_plain_systems_are_none_of_these() -> None:
    count = BLIND_PLAIN if WHOLE else 2
    begin = 6 * len(PLAIN_DEVICES) + DRAWS
    alarms = [seed for seed in range(begin, begin + count) if not judge(draw_plain(seed).evidence).is_none]
    assert len(alarms) <= count // 10, alarms
