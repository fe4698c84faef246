"""The same report in the forms in which people paste it: the readings stay equal. And without names: they stay, too."""

from __future__ import annotations

import gzip
import io
import json
import re
import shutil
import string
import subprocess
import sys
import tarfile
import time
import zipfile
from itertools import islice
from typing import TYPE_CHECKING

import pytest

import fuzz_diagnosis
from seeklab import case
from seeklab.bring import blocks, long_text
from seeklab.bring.block import Sample
from seeklab.bring.blocks import Marks, alternatives, may_begin, may_hold
from seeklab.bring.lines import Lines, cleaned
from seeklab.bring.readers import READERS
from seeklab.bring.redaction import Redactor
from seeklab.diagnosis import answer, diagnose
from seeklab.diagnosis.causes import CAUSES, LIKELY, POSSIBLE, Verdict
from seeklab.diagnosis.collect import script
from seeklab.diagnosis.reading import Reading
from seeklab.diagnosis.readings import are_used, readings
from seeklab.diagnosis.replay import PLANS, replayed
from test_diagnosis import CACHE, ERRORS, ETCD, FIO, MEMORY, PAIR, PRESSURE, RESILVER, SICK, SYNC, ZPOOL

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

cutting = sys.modules["seeklab.bring.blocks"]
"""The module, which has the name of its function."""
TEXTS = {
    "sync": SYNC,
    "pair": PAIR,
    "zpool": ZPOOL,
    "fio": FIO,
    "sick": SICK,
    "errors": ERRORS,
    "etcd": ETCD,
    "resilver": RESILVER,
    "cache": CACHE,
    "memory": MEMORY,
    "pressure": PRESSURE,
}
TABLES = ("sync", "pair", "sick")
INDENTED = ("fio", "zpool", "resilver")
"""Tools whose indentation has a meaning."""
MEGABYTE = 1 << 20
SEED, TEXTS_FUZZED = 7, 600
MIN_HEADINGS = 200
LONG_LETTERS, MAX_S = 3_200_000, 3.0
"""A text beyond the limits of `long_text`: it takes 0.3 s, and took as many seconds as megabytes before."""


def _said(text: str) -> dict[tuple[str, str], dict[str, float]]:
    return _by_id(answer([blocks(text)]).readings)


def _by_id(readings: list[Reading]) -> dict[tuple[str, str], dict[str, float]]:
    return {(reading.id, reading.subject): dict(reading.values) for reading in readings}


def _same(one: dict[tuple[str, str], dict[str, float]], two: dict[tuple[str, str], dict[str, float]]) -> None:
    assert set(one) == set(two)
    for key, values in one.items():
        assert two[key] == pytest.approx(values, rel=0.02, abs=0.02), key


def _wrapped(text: str, width: int) -> str:
    return "".join(
        f"{line[at : at + width]}\n" for line in text.splitlines() for at in range(0, max(1, len(line)), width)
    )


def _in_megabytes(text: str) -> str:
    """Print the table as `iostat -m` does, with the columns of a recent version."""
    lines = []
    for line in text.splitlines():
        cells = line.split()
        if line.startswith("Device"):
            lines.append(line.replace("kB/s", "MB/s"))
        elif len(cells) == 23:
            for place in (2, 8, 14):
                cells[place] = f"{float(cells[place]) / 1024:.4f}"
            lines.append("  ".join(cells))
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


FORMS: dict[str, Callable[[str], str]] = {
    "prompt": lambda text: f"[root@db ~]# cat report\n{text}",
    "quoted": lambda text: "".join(f"> {line}\n" for line in text.splitlines()),
    "quoted twice": lambda text: "".join(f">> {line}\n" for line in text.splitlines()),
    "fenced": lambda text: f"Hello,\n\n```console\n{text}```\nany idea?\n",
    "crlf": lambda text: text.replace("\n", "\r\n"),
    "colours": lambda text: "".join(f"\x1b[0;32m{line}\x1b[0m\n" for line in text.splitlines()),
    "byte-order mark": lambda text: f"\ufeff{text}",
    "no-break spaces": lambda text: text.replace("  ", "\u00a0 "),
    "indented": lambda text: "".join(f"    {line}\n" if line else "\n" for line in text.splitlines()),
    "trailing blanks": lambda text: text.replace("\n", "   \n"),
    "prose around": lambda text: f"It is slow since Monday, see below please.\n\n{text}\nThat was it, thanks a lot!\n",
}
TABLE_FORMS: dict[str, Callable[[str], str]] = {
    "commas": lambda text: text.replace(".", ","),
    "megabytes": _in_megabytes,
    "80 columns": lambda text: _wrapped(text, 80),
    "100 columns": lambda text: _wrapped(text, 100),
    "times": lambda text: "".join(
        f"2026-11-23T10:00:{at % 60:02} {line}\n" for at, line in enumerate(text.splitlines())
    ),
    "short times": lambda text: "".join(f"[10:00:{at % 60:02}] {line}\n" for at, line in enumerate(text.splitlines())),
    "tabs": lambda text: "".join("\t".join(line.split()) + "\n" for line in text.splitlines()),
    "cut off": lambda text: text + "\n" + text[: text.rfind("\n", 0, -1) + 40],
}


@pytest.mark.parametrize(
    ("name", "form"), [(name, form) for name in TEXTS for form in FORMS if form != "indented" or name not in INDENTED]
)
def test_a_report_says_the_same_in_each_form(name: str, form: str) -> None:
    _same(_said(TEXTS[name]), _said(FORMS[form](TEXTS[name])))


@pytest.mark.parametrize("form", TABLE_FORMS)
@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_iostat_says_the_same_in_each_form(name: str, form: str) -> None:
    _same(_said(TEXTS[name]), _said(TABLE_FORMS[form](TEXTS[name])))


def test_hosts_in_one_text_are_told_apart() -> None:
    banner = "Linux 6.1.0 (%s) \t11/23/2026 \t_x86_64_\t(8 CPU)\n\n"
    found = blocks("iostat -xy 1\n" + banner % "db1" + SYNC + "\niostat -xy 1\n" + banner % "db2" + PAIR)
    assert [len(block.records) for block in found.blocks] == [1, 1]


NAMES = """root@db7.example.org:~# iostat -xy 1
Linux 6.1.0-18-amd64 (db7) 	11/23/2026 	_x86_64_	(8 CPU)

"""
LOG = """Nov 23 10:00:01 db7 kernel: [12.000000] blk_update_request: I/O error, dev sdb, sector 512
Nov 23 10:00:02 db7 sshd[7]: Accepted publickey for alice from 10.1.2.3 port 50022
alice@db7:/home/alice/secret$ dd if=/dev/zero of=/srv/customers/acme.img bs=4k count=2000 oflag=dsync
8192000 bytes (8.2 MB, 7.8 MiB) copied, 20.1 s, 408 kB/s
Serial Number:    WD-WCC4E0123456
fe80::1ff:fe23:4567:890a 00000000-1111-2222-3333-444444444444
"""
SECRETS = ("db7", "alice", "10.1.2.3", "acme", "customers", "WCC4E0123456", "fe23", "example.org", "444444")


def test_redaction_removes_names_and_keeps_what_is_measured() -> None:
    text = NAMES + PAIR + LOG
    redacted = Redactor().redact(text)
    assert not [secret for secret in SECRETS if secret in redacted]
    _same(_said(text), _said(redacted))
    assert Redactor().redact(redacted) == redacted


@pytest.mark.parametrize("name", TEXTS)
def test_redaction_leaves_readings_unchanged(name: str) -> None:
    before = [(reading.id, dict(reading.values)) for reading in answer([blocks(TEXTS[name])]).readings]
    after = [
        (reading.id, dict(reading.values)) for reading in answer([blocks(Redactor().redact(TEXTS[name]))]).readings
    ]
    assert before == after


def test_the_command_writes_a_text_without_names(tmp_path: Path) -> None:
    given, redacted = tmp_path / "given.txt", tmp_path / "redacted.txt"
    given.write_text(NAMES + PAIR + LOG, encoding="utf-8")
    program = [sys.executable, "-m", "seeklab.cli", "diagnose", "--json", "--redact", str(redacted), str(given)]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    text = redacted.read_text(encoding="utf-8")
    assert not [secret for secret in SECRETS if secret in text]
    assert not [secret for secret in SECRETS if secret in done.stdout.replace(str(tmp_path), "")]


def test_the_command_lists_a_bounded_number_of_blocks(tmp_path: Path) -> None:
    given = tmp_path / "given.txt"
    copy = "$ dd if=a of=/dev/null bs=1M\n9+0 records in\n9437184 bytes (9.4 MB) copied, 0.{:03} s, 9 MB/s\n"
    given.write_text("".join(copy.format(at) for at in range(100, 200)), encoding="utf-8")
    program = [sys.executable, "-m", "seeklab.cli", "diagnose", str(given)]
    done = subprocess.run(program, capture_output=True, text=True, check=True)
    assert len(blocks(given.read_text(encoding="utf-8")).blocks) == 100
    assert len(re.findall(r"^- \S+ lines \d+-\d+: dd", done.stdout, re.MULTILINE)) == 60


def _tar(mode: str, files: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode=mode) as archive:  # type: ignore[call-overload] # the mode is text
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return data.getvalue()


def _zip(files: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


REPORT = {
    "sosreport-db/sos_commands/block/iostat": SYNC.encode(),
    "sosreport-db/etc/fstab": b"/dev/sda1 / ext4 defaults 0 1\n",
    "sosreport-db/picture.png": b"\x89PNG\r\n\x1a\n" + bytes(100),
}


@pytest.mark.parametrize("packed", ["w", "w:gz", "w:bz2", "w:xz", "zip"])
def test_the_texts_of_an_archive_are_read(tmp_path: Path, packed: str) -> None:
    path = tmp_path / "sosreport"
    path.write_bytes(_zip(REPORT) if packed == "zip" else _tar(packed, REPORT))
    found = diagnose([path])
    assert [block.tool for block in found.blocks] == ["iostat-x"]
    assert found.causes[0].cause.id == "sync-one-by-one"
    (note,) = [note for each in found.found for note in each.notes]
    assert "1 of 3 members" in note


@pytest.mark.parametrize(
    "data",
    [
        _tar("w:gz", {"zeros": bytes(64 * MEGABYTE)}),
        _zip({f"zeros-{at}": bytes(4 * MEGABYTE) for at in range(8)}),
        _tar("w", REPORT)[:1500],
        _zip(REPORT)[:-60],
    ],
    ids=["tar bomb", "zip bomb", "cut tar", "cut zip"],
)
def test_a_hostile_archive_gets_a_sentence(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "archive"
    path.write_bytes(data)
    began = time.process_time()
    (note,) = [note for each in diagnose([path]).found for note in each.notes]
    assert note.startswith("An archive: ")
    assert time.process_time() - began < 1


def test_a_binary_file_does_not_hinder_the_others(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(SYNC.encode()))
    found = diagnose([tmp_path / "a.png", tmp_path / "b.txt.gz"])
    assert found.causes[0].cause.id == "sync-one-by-one"
    assert "picture" in found.found[0].notes[0]


LONG: dict[str, Callable[[int], str]] = {
    "table": lambda _: f"{SYNC}\n",
    "log": lambda at: (
        f"2026-11-23 10:{at // 60 % 60:02}:{at % 60:02} W | wal: sync duration of {1 + at % 7}.5s, long\n"
    ),
    "headings": lambda at: f'Device {at}\nzpool status {at}\npool: p{at}\ntop - {at}\n{{"a": [1, 2\n',
    "drives": lambda at: (
        f"smartctl 7.3 2022-02-28\n=== START OF READ SMART DATA SECTION ===\nSerial Number: {at}\n"
        f"ID# ATTRIBUTE_NAME FLAG\n  5 Reallocated_Sector_Ct 0x0033 100 100 010 Pre-fail Always - {at % 9}\n"
    ),
    "mounts": lambda at: (
        f"device nas:/e{at} mounted on /m{at} with fstype nfs4 statvers=1.1\n\tREAD: 9 9 0 1 1 1 1 1\n"
    ),
}
BARE = next(line for line in SYNC.splitlines() if line.startswith("Device")) + "\n"
"""A heading without rows. A text of nothing else took a minute."""


@pytest.mark.parametrize(
    "part", [*("".join(LONG[name](at) for at in range(200)) for name in ("table", "drives")), BARE]
)
def test_a_long_text_is_read_in_bounded_time(part: str) -> None:
    text = part * (LONG_LETTERS // len(part) + 1)
    began = time.process_time()
    found = answer([blocks(text)])
    json.dumps(found.document(), allow_nan=False)
    assert time.process_time() - began < MAX_S
    assert found.found[0].notes


def test_the_first_letter_of_a_heading_finds_its_reader() -> None:
    lines = Lines(line for text in fuzz_diagnosis.samples() for line in text.splitlines())
    marks = Marks(lines, READERS)
    found = 0
    for at, line in enumerate(lines):
        expected = [
            reader
            for reader in READERS
            if (reader.STARTS and re.match(reader.STARTS, line.lstrip())) or any(held in line for held in reader.HOLDS)
        ]
        assert marks.readers(at) == expected, line
        found += bool(expected)
    assert found > MIN_HEADINGS


def test_a_block_is_used_if_it_says_something() -> None:
    found = [block for text in fuzz_diagnosis.samples() for block in blocks(text).blocks]
    expected = [bool(readings([block])) for block in found]
    assert are_used(found) == expected
    assert 0 < sum(expected) < len(expected)


def test_a_sentence_is_said_once() -> None:
    copy = "$ dd if=a of=/dev/null bs=1M\n9+0 records in\n9437184 bytes (9.4 MB) copied, 0.1 s, 94 MB/s\n"
    once, often = (answer([blocks(times * copy)]) for times in (1, 3))
    assert len(often.blocks) == 3
    assert often.readings == once.readings != []


@pytest.mark.parametrize("much", [1, 1 << 30])
def test_marks_of_a_long_text_are_those_of_its_lines(much: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "MUCH_SEARCHED", much)
    lines = Lines(line for text in fuzz_diagnosis.samples() for line in cleaned(text))
    once, often = Marks(lines, READERS), Marks(lines, READERS, len(lines))
    assert often.kinds() == once.kinds()


@pytest.mark.parametrize("much", [1, 1 << 30])
def test_a_text_may_hold_the_literals_that_it_holds(much: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "MUCH", much)
    literals = sorted({literal for reader in READERS for literal in reader.HOLDS})
    absent = 0
    for text in fuzz_diagnosis.samples():
        found = may_hold([line.encode().translate(None, cutting.DIGITS) for line in text.split("\n")], literals)
        assert {literal for literal in literals if literal in text} <= set(found)
        absent += len(literals) - len(found)
    assert may_hold([b"H:x D:x P:x"], ["D:0x28"])
    assert absent > 0.9 * len(literals) * len(fuzz_diagnosis.samples())


@pytest.mark.parametrize(
    ("pattern", "letters"),
    [
        (r"\[\s*\d", "["),
        (r"(?:ab|b?c)d", "abc"),
        (r"(?:a|b)?c|x", "abc"),
        (r"\s*+S{0,3}T", "ST"),
        (r"[TP]ID", "TP"),
        (r"\d{1,4},", "0123456789"),
        (r"-{1,}x$", "-"),
    ],
)
def test_the_letters_that_may_begin_a_heading(pattern: str, letters: str) -> None:
    first = next(alternatives(pattern))
    assert "".join(filter(lambda letter: may_begin(first, letter), string.printable.strip())) == "".join(
        sorted(letters, key=string.printable.index)
    )


@pytest.fixture
def shorter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make texts of some hundred lines long ones."""
    for name, value in (("MAX_LINES", 400), ("STRETCH_LINES", 40), ("STRETCHES", 6), ("RARE_LINES", 6)):
        monkeypatch.setattr(long_text, name, value)


@pytest.mark.usefixtures("shorter")
@pytest.mark.parametrize("name", LONG)
def test_of_a_long_text_a_bounded_number_of_lines_is_read(name: str) -> None:
    found = blocks("".join(LONG[name](at) for at in range(2000)))
    (note,) = found.notes
    assert int(note.split(":")[1].split()[0].replace(",", "")) <= 6 * 40 + 60 * 9
    assert found.blocks
    assert all(0 < block.first <= block.last for block in found.blocks)


@pytest.mark.usefixtures("shorter")
def test_of_a_long_text_the_ends_and_the_rare_messages_are_read() -> None:
    error = "Nov 23 10:00:01 host kernel: blk_update_request: I/O error, dev sdq, sector 512\n"
    text = SYNC + "\n" + 40 * f"{SYNC}\n" + error + 40 * f"{SYNC}\n" + PAIR
    found = answer([blocks(text)])
    assert {("kernel-io-error", "sdq"), ("use", "sdb")} <= {(reading.id, reading.subject) for reading in found.readings}
    lines = text.split("\n")
    for block in found.blocks:
        if block.tool == "dmesg":
            assert "sdq" in lines[block.first - 1]
        for record in block.records:
            assert not isinstance(record, Sample) or lines[record.line - 1].startswith("Device")
    assert found.blocks[-1].last == len(lines) - 1


TOOLS = {
    "iostat": "Linux 6.1.0 (db) \t2026-11-23 \t_x86_64_\t(8 CPU)\n\n" + SYNC,
    "zpool": ZPOOL,
    "vmstat": "procs ---memory---\n r  b   swpd   free   si   so us sy id wa st\n"
    " 1  0      0   1000    0    0  1  2 97  0  0\n 1  0      0   1000    0    0  1  2 97  0  0\n",
}


@pytest.mark.skipif(sys.platform == "win32" or shutil.which("sh") is None, reason="needs a POSIX shell")
def test_collect_records_what_diagnose_reads(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, text in TOOLS.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        (tools / name).write_text(f"#!/bin/sh\ncat '{tmp_path / name}'\n", encoding="utf-8")
        (tools / name).chmod(0o755)
    for name in ("sh", "cat", "sleep", "mktemp", "rm", "head", "tail", "date", "timeout"):
        (tools / name).symlink_to(str(shutil.which(name)))
    done = subprocess.run(
        ["sh", "-c", script(1)],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": str(tools), "TMPDIR": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    found = answer([blocks(done.stdout)])
    assert {"iostat-x", "zpool-iostat", "vmstat"} <= {block.tool for block in found.blocks}
    assert found.causes[0].cause.id == "sync-one-by-one"


def test_mutated_and_spliced_samples_are_read_without_an_error() -> None:
    for count, text in enumerate(islice(fuzz_diagnosis.texts(SEED), TEXTS_FUZZED)):
        fuzz_diagnosis.check(text, wholly=count % fuzz_diagnosis.EVERY == 0)


def test_a_replay_shows_the_reports_numbers_and_what_the_fix_changes() -> None:
    found = answer([blocks(SYNC)], replays=True)
    (run,) = found.replays
    (rate,) = run.plan.compared
    assert rate.reported == pytest.approx(96, rel=0.01)
    assert run.simulated[0] == pytest.approx(96, rel=0.1)
    assert run.with_fix[0] > 3 * run.simulated[0]
    assert found.causes[0].confidence == LIKELY
    document = found.document()
    assert document["replays"][0]["is_near"]
    assert document["causes"][0]["replay"]["set"] == dict(run.plan.set)


@pytest.mark.parametrize(("per_s", "is_near"), [(100.0, True), (60.0, True), (1000.0, False)])
def test_a_cause_whose_replay_is_far_from_the_report_loses_its_rank(per_s: float, *, is_near: bool) -> None:
    cause = next(cause for cause in CAUSES if cause.id == "sync-one-by-one")
    reading = Reading("fsync-rate", "host", "", values={"per_s": per_s, "ms": 10.0, "bytes": 8192.0})
    ((verdict,), (run,)) = replayed([Verdict(cause, 3.0, [reading])])
    assert run.is_near == is_near
    assert verdict.confidence == (LIKELY if is_near else POSSIBLE)
    assert [reading.id for reading in verdict.against] == ([] if is_near else ["replay-differs"])


def test_each_plan_is_a_scenario_of_its_incident() -> None:
    values = {
        "one-at-a-time": {
            "ms": 9.0,
            "write_share": 1.0,
            "ios_per_s": 110.0,
            "bytes": 5900.0,
            "flush_ms": 0.0,
            "flushes_per_s": 0.0,
        },
        "workers-wait": {"is_write": 1.0, "per_s": 70.0, "ms": 142.0, "workers": 10.0, "bytes_per_s": 70.0 * 16384},
        "fsync-rate": {"per_s": 17.0, "ms": 58.7},
        "fsync-dominates": {"per_s": 612.0, "ms": 1.57},
        "time-outside-requests": {"per_s": 1192.0, "ms": 0.51},
        "flushes-hold-the-queue": {"per_s": 83.0, "ms": 11.2},
        "rate-falls": {"ios_after": 300.0, "bytes": 16384.0, "in_flight": 12.0},
        "round-rate": {"ios_per_s": 3000.0, "ms": 5.0},
        "window-per-trip": {"window_bytes": 65536.0, "trip_ms": 80.0, "bytes_per_s": 8e5},
    }
    for cause, plans in PLANS.items():
        for name, make in plans.items():
            plan = make(values[name])
            assert plan is not None
            assert plan.incident in next(each for each in CAUSES if each.id == cause).incidents, (cause, name)
            scenario = case(plan.incident).with_({**plan.set, **plan.fixed}).scenario(plan.variant)
            assert scenario["jobs"]


def test_lines_between_a_command_and_its_output_belong_to_one_block() -> None:
    text = (
        "# fio --name=lt --rw=randwrite --bs=16k --ioengine=psync\n"
        "1073741824 bytes (1.1 GB, 1.0 GiB) copied, 0.512 s, 2.1 GB/s\n"
        "lt: (g=0): rw=randwrite, bs=16.0KiB-16.0KiB, ioengine=psync, iodepth=32\n"
        "fio-3.7\n"
    )
    assert [(block.tool, block.first, block.last) for block in blocks(text).blocks] == [
        ("dd", 1, 2),
        ("fio-text", 3, 4),
    ]
