"""Traces on the command line and in Python: real fio logs, our own operation log, gzip, and what is refused."""

from __future__ import annotations

import gzip
import io
import json
import re
import shutil
import subprocess
from time import perf_counter
from typing import TYPE_CHECKING, Any

import pytest

import seeklab
from conftest import GIVE_UP_S
from sentences import numbers

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import CommandLine
    from seeklab._replay import Mode

IOLOG = "fio version 3 iolog\n5 f add\n9 f open\n10 f read 0 4096\n30 f write 8192 512\n40 f sync 0 0\n60 f close\n"
MSR = "128166372003061629,hm,1,Read,383496192,32768,113736\n128166372013061629,hm,1,Write,4096,512,41\n"
BLKPARSE = "  8,0    3        1     0.000000000   697  Q  WS 2048 + 8 [kjournald]\n"
MEBIBYTE = {"devices": [{"lun": {"rate": "100MB", "capacity": "1MiB"}}]}


def replay_json(command_line: CommandLine, *arguments: str) -> dict[str, Any]:
    done = command_line("replay", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_json_has_the_shape_of_a_run_and_says_what_was_skipped(command_line: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "job.log").write_text(IOLOG)
    document = replay_json(command_line, "job.log", "--on", "hdd-7200", "--seed", "7")
    assert {"case", "variant", "seed", "fingerprint", "metrics", "events", "wall_s"} <= set(document)
    assert document["seed"] == 7
    assert document["metrics"]["replay.read_ios"] == document["metrics"]["replay.write_ios"] == 1
    assert document["replay"]["format"] == "fio-iolog-v3"
    assert document["replay"]["skipped"] == {"syncs": 1}


def test_people_are_told_what_was_not_replayed(command_line: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "job.log").write_text(IOLOG)
    done = command_line("replay", "job.log", "--on", "hdd-7200")
    assert done.returncode == 0
    assert re.search(r"\b2\b.*\bfio-iolog-v3\b.*\bopen\b.*\bhdd-7200\b", done.stdout)
    assert re.search(r"\b1 syncs\b", done.stderr)


def test_a_gzipped_trace_is_the_same_trace(command_line: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "plain.csv").write_text(MSR)
    (tmp_path / "packed.csv.gz").write_bytes(gzip.compress(MSR.encode()))
    plain, packed = (replay_json(command_line, name, "--on", "hdd-7200") for name in ("plain.csv", "packed.csv.gz"))
    assert plain["fingerprint"] == packed["fingerprint"]
    assert plain["replay"]["span_ns"] == 1_000_000_000


def test_each_format_is_told_by_its_first_line() -> None:
    found = {seeklab.trace_info(text)["format"] for text in (IOLOG, MSR, BLKPARSE)}
    assert found == {"fio-iolog-v3", "msr-cambridge", "blkparse"}


def test_the_modes_differ_as_they_should() -> None:
    text = "".join(f"{index * 10_000_000},h,0,Read,{index * 4096},4096,100000\n" for index in range(20))
    system = {"devices": [{"lun": {"rate": 4_096_000, "latency": 0}}]}  # 1 ms for 4 KiB

    def seconds(mode: Mode, iodepth: int | None = None) -> float:
        return seeklab.replay(text, system, mode=mode, iodepth=iodepth).simulated_s

    # Every second a request that took 10 ms: idle for 0.99 s between two.
    assert seconds("open") == pytest.approx(19.001)
    assert seconds("closed") == pytest.approx(19 * 0.99 + 20 * 0.001)
    assert seconds("fast") == seconds("fast", 1) == pytest.approx(0.020)


def test_a_run_replayed_from_its_own_log_is_that_run(command_line: CommandLine, tmp_path: Path) -> None:
    devices = [{"preset": "hdd-7200"}]
    job = {"name": "mixed", "rw": "randrw", "bs": "8KiB", "size": "64MiB", "iodepth": 4, "number_ios": 400}
    run = seeklab.run({"jobs": [job], "devices": devices})
    run.ops.to_csv(tmp_path / "ops.csv")
    replayed = seeklab.replay(tmp_path / "ops.csv", {"devices": devices}, mode="closed", iodepth=4)
    for column in ("id", "op", "offset", "bytes", "submit_ns", "latency_ns"):
        assert list(run.ops[column]) == list(replayed.ops[column]), column
    assert run.fingerprint == replayed.fingerprint
    document = replay_json(command_line, "ops.csv", "--on", "hdd-7200", "--mode", "closed", "--iodepth", "4")
    assert document["fingerprint"] == run.fingerprint


def test_a_log_of_two_jobs_has_two_targets() -> None:
    jobs = [{"name": name, "rw": "read", "bs": "64KiB", "size": "1MiB"} for name in ("one", "two")]
    text = io.StringIO()
    seeklab.run({"jobs": jobs, "devices": [{"preset": "hdd-7200"}]}).ops.to_csv(text)
    info = seeklab.trace_info(text.getvalue())
    assert [target["name"] for target in info["targets"]] == ["job 0", "job 1"]
    alone = seeklab.replay(text.getvalue(), "hdd-7200", target="job 1")
    assert alone.metrics["replay.read_ios"] == 16
    assert alone.replay is not None
    assert list(alone.replay["skipped"].values()) == [16]


@pytest.fixture
def iolog(tmp_path: Path) -> Path:
    """Let the installed fio log a job of reads, writes and syncs."""
    if shutil.which("fio") is None:
        pytest.skip("fio is not installed: no real iolog to replay (Debian: apt-get install fio)")
    options = ["--name=a", "--filename=data", "--size=256k", "--bs=4k-16k", "--rw=randrw", "--fsync=5", "--randseed=1"]
    paths = ["--write_iolog=job.log", "--output=out.json", "--output-format=json"]
    subprocess.run(["fio", *options, *paths], check=True, cwd=tmp_path, capture_output=True, timeout=GIVE_UP_S)
    return tmp_path


@pytest.mark.parametrize("mode", ["open", "closed", "fast"])
def test_what_fio_logged_is_what_is_replayed(command_line: CommandLine, iolog: Path, mode: str) -> None:
    written = json.loads((iolog / "out.json").read_text())["jobs"][0]
    document = replay_json(command_line, "job.log", "--on", "hdd-7200", "--mode", mode)
    for direction in ("read", "write"):
        assert document["metrics"][f"replay.{direction}_ios"] == written[direction]["total_ios"]
        assert document["metrics"][f"replay.{direction}_bytes"] == written[direction]["io_bytes"]
    assert document["replay"]["skipped"]["syncs"] > 0
    assert document["replay"]["format"] == "fio-iolog-v3"


def test_times_of_a_real_log_are_microseconds(iolog: Path) -> None:
    options = ["--name=b", "--filename=data", "--size=20k", "--bs=4k", "--rw=read", "--thinktime=100ms"]
    command = ["fio", *options, "--write_iolog=slow.log", "--output=out"]
    start = perf_counter()
    subprocess.run(command, check=True, cwd=iolog, capture_output=True, timeout=GIVE_UP_S)
    took_s = perf_counter() - start
    span_ns = seeklab.trace_info(iolog / "slow.log")["span_ns"]
    assert 0.4e9 <= span_ns < took_s * 1e9  # four pauses, within the run of fio


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        pytest.param("hello\n", ["job.log line 1", "hello", "fio iolog", "blkparse", "MSR"], id="prose"),
        pytest.param("", ["line 1"], id="empty"),
        pytest.param("fio version 3 iolog\n1 f add\n2 f close\n", ["line 3"], id="no request"),
        pytest.param("fio version 1 iolog\n0, 0, 512\n", ["line 1", "version 1"], id="an old version"),
        pytest.param("fio version 3 iolog\n1 f read 0 512\n2 f read 0\n", ["line 3"], id="truncated"),
        pytest.param("fio version 3 iolog\n1 f read 0 x\n", ["line 2", '"x"'], id="not a number"),
        pytest.param("fio version 3 iolog\n-1 f read 0 512\n", ["line 2", "-1"], id="a negative time"),
        pytest.param("fio version 3 iolog\n1 f erase 0 512\n", ["line 2", "erase", "trim"], id="an unknown action"),
        pytest.param(f"fio version 3 iolog\n1 {'x' * 9000} read 0 512\n", ["line 2", "4096"], id="a long line"),
        pytest.param("fio version 3 iolog\n1 f read 99999999999999 512\n", ["line 2", "100000000000512"], id="beyond"),
        pytest.param("1,h,0,Read,0,512\n", ["line 1", "h,0,Read"], id="too few fields for any format"),
        pytest.param(MSR + "1,h,0,Read,0\n", ["line 3", "ResponseTime"], id="truncated CSV"),
        pytest.param(MSR + "-1,h,0,Read,0,512,1\n", ["line 3", "Timestamp", "-1"], id="negative in CSV"),
        pytest.param(BLKPARSE + "  8,0    3        1     0.0", ["line 2"], id="truncated blkparse"),
        pytest.param("id,op,submit_ns\n0,0,0\n", ["line 1", "latency_ns"], id="a table without columns"),
    ],
)
def test_a_bad_trace_is_refused_in_one_sentence(
    command_line: CommandLine, tmp_path: Path, content: str, wanted: list[str]
) -> None:
    (tmp_path / "job.log").write_text(content)
    done = command_line("replay", "job.log", "--on", "hdd-7200")
    assert done.returncode == 2, done
    assert done.stdout == ""
    assert len([line for line in done.stderr.splitlines() if "note:" not in line]) == 1
    assert "Traceback" not in done.stderr
    for part in wanted:
        assert part in done.stderr


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        pytest.param(["none.log", "--on", "hdd-7200"], ["none.log", "No such file"], id="no file"),
        pytest.param(["job.log", "--on", "hdd-720"], ["hdd-720", "hdd-7200"], id="misspelt preset"),
        pytest.param(["job.log", "--on", "hdd-7200", "--mode", "clsoed"], ["clsoed", "closed"], id="misspelt mode"),
        pytest.param(
            ["job.log", "--on", "hdd-7200", "--iodepth", "4"], ["iodepth", "mode open"], id="open with a depth"
        ),
        pytest.param(["job.log", "--on", "hdd-7200", "--scale", "0"], ["scale", "factor"], id="no time at all"),
        pytest.param(["job.log", "--on", "hdd-7200", "--target", "g"], ["target", "known: f"], id="no such file in it"),
        pytest.param(["job.log", "--on", "hdd-7200", "--format", "blkparse"], ["line 1", "MAJOR"], id="another format"),
        pytest.param(["bad.gz", "--on", "hdd-7200"], ["bad.gz", "damaged gzip"], id="damaged gzip"),
        pytest.param(["bin", "--on", "hdd-7200"], ["bin", "UTF-8"], id="a program"),
    ],
)
def test_a_replay_mistake_is_told(
    command_line: CommandLine, tmp_path: Path, arguments: list[str], wanted: list[str]
) -> None:
    (tmp_path / "job.log").write_text(IOLOG)
    (tmp_path / "bad.gz").write_bytes(gzip.compress(IOLOG.encode())[:-6])
    (tmp_path / "bin").write_bytes(b"\x7fELF\xff\xfe\x00")
    done = command_line("replay", *arguments)
    assert done.returncode == 2, done
    assert done.stdout == ""
    for part in wanted:
        assert part in done.stderr


def test_nothing_is_replayed_of_a_trace_with_one_bad_line() -> None:
    with pytest.raises(seeklab.SeeklabError) as caught:
        seeklab.replay(IOLOG + "70 f read 1048576 512\n", MEBIBYTE)
    (problem,) = caught.value.problems
    assert (problem.path, numbers(problem.message)) == ("trace line 8", ["1049088", "1048576"])
