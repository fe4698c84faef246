"""fio job files: the shapes that people write run, and what is printed reads like fio's own output."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

import seeklab

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import CommandLine

MIB = 1 << 20

SHAPES = {
    "sequential read": """
        [seq]
        rw=read
        bs=128k
        size=8m
        """,
    "random read with a queue": """
        [global]
        ioengine=libaio
        direct=1
        [rand]
        rw=randread
        bs=4k
        iodepth=16
        size=8m
        """,
    "mixed with rwmixread": """
        [mixed]
        rw=randrw
        rwmixread=70
        bs=4k
        size=8m
        """,
    "two stonewalled jobs": """
        [global]
        bs=64k
        size=8m
        [writer]
        rw=write
        [reader]
        stonewall
        rw=read
        """,
    "a range of sizes": """
        [ranged]
        rw=randread
        bsrange=4k-64k
        size=8m
        norandommap
        """,
}


@pytest.fixture(params=SHAPES, ids=lambda name: name.replace(" ", "-"))
def shape(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Write a job file of each shape."""
    return write_job(tmp_path, SHAPES[request.param])


def write_job(folder: Path, text: str) -> Path:
    """Write a job file, without the indentation of this file."""
    path = folder / "job.fio"
    path.write_text("\n".join(line.strip() for line in text.strip().splitlines()) + "\n", encoding="utf-8")
    return path


def run_json(command_line: CommandLine, path: Path, preset: str = "hdd-7200") -> dict[str, Any]:
    """Read what `seeklab fio` prints as JSON."""
    done = command_line("fio", str(path), "--on", preset, "--output-format=json")
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


@pytest.mark.parametrize("preset", ["hdd-7200", "ssd-sata", "nvme", "lun-100mb"])
def test_every_shape_runs_on_every_preset(command_line: CommandLine, shape: Path, preset: str) -> None:
    jobs = run_json(command_line, shape, preset)["jobs"]
    assert sum(job["read"]["io_bytes"] + job["write"]["io_bytes"] for job in jobs) >= 8 * MIB
    assert all(job["error"] == 0 for job in jobs)


def test_a_sequential_read_moves_every_byte_once(command_line: CommandLine, tmp_path: Path) -> None:
    (job,) = run_json(command_line, write_job(tmp_path, SHAPES["sequential read"]))["jobs"]
    assert (job["jobname"], job["read"]["io_bytes"], job["read"]["total_ios"]) == ("seq", 8 * MIB, 64)
    assert job["write"]["total_ios"] == 0
    assert job["read"]["bw_bytes"] == pytest.approx(8 * MIB / (job["read"]["runtime"] / 1e3), rel=0.05)


def test_a_queue_makes_random_reads_on_a_disk_faster_and_each_of_them_slower(
    command_line: CommandLine, tmp_path: Path
) -> None:
    # Of a file that does not fit in the drive's buffer.
    text = SHAPES["random read with a queue"].replace("size=8m", "size=1g\n        number_ios=1000")
    (deep,) = run_json(command_line, write_job(tmp_path, text))["jobs"]
    (single,) = run_json(command_line, write_job(tmp_path, text.replace("iodepth=16", "iodepth=1")))["jobs"]
    assert deep["read"]["iops"] > 1.3 * single["read"]["iops"]
    assert deep["read"]["lat_ns"]["mean"] > 3 * single["read"]["lat_ns"]["mean"]
    assert deep["iodepth_level"]["16"] > 90


def test_a_mixed_job_reads_the_share_it_was_given(command_line: CommandLine, tmp_path: Path) -> None:
    (job,) = run_json(command_line, write_job(tmp_path, SHAPES["mixed with rwmixread"]))["jobs"]
    reads, writes = job["read"]["total_ios"], job["write"]["total_ios"]
    assert reads + writes == 2048
    assert reads / (reads + writes) == pytest.approx(0.7, abs=0.05)


def test_a_stonewalled_job_waits_for_the_one_before(command_line: CommandLine, tmp_path: Path) -> None:
    document = run_json(command_line, write_job(tmp_path, SHAPES["two stonewalled jobs"]))
    assert [job["jobname"] for job in document["jobs"]] == ["writer", "reader"]
    scenario = seeklab.fio(tmp_path / "job.fio", "hdd-7200").scenario
    ops = seeklab.run({**scenario, "record": {"log": True}}).ops
    ends = [
        submit + latency
        for job, submit, latency in zip(ops["job"], ops["submit_ns"], ops["latency_ns"], strict=True)
        if job == 0
    ]
    starts = [submit for job, submit in zip(ops["job"], ops["submit_ns"], strict=True) if job == 1]
    assert max(ends) <= min(starts)


def test_a_range_of_sizes_is_drawn_from_end_to_end(tmp_path: Path) -> None:
    scenario = seeklab.fio(write_job(tmp_path, SHAPES["a range of sizes"]), "hdd-7200").scenario
    sizes = set(seeklab.run({**scenario, "record": {"log": True}}).ops["bytes"])
    assert min(sizes) == 4096
    assert max(sizes) == 65536
    assert len(sizes) > 10


def test_options_of_real_systems_are_listed_as_ignored(command_line: CommandLine, tmp_path: Path) -> None:
    path = write_job(tmp_path, SHAPES["random read with a queue"])
    done = command_line("fio", str(path), "--on", "nvme")
    assert done.returncode == 0
    assert "ioengine=libaio is ignored" in done.stderr
    assert "direct=1 is ignored" in done.stderr


def test_an_include_beside_the_job_file_is_followed(command_line: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "common.fio").write_text("bs=8k\nsize=64k\n")
    (tmp_path / "sub" / "job.fio").write_text("[global]\ninclude common.fio\n[a]\nrw=read\n")
    (job,) = run_json(command_line, tmp_path / "sub" / "job.fio")["jobs"]
    assert job["read"]["total_ios"] == 8


def test_a_job_file_comes_through_a_pipe_too(command_line: CommandLine) -> None:
    done = command_line("fio", "-", "--on", "nvme", "--output-format=json", stdin=b"[a]\r\nrw=read\r\nsize=64k\r\n")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["jobs"][0]["read"]["total_ios"] == 16


def test_the_seed_decides_the_run(command_line: CommandLine, tmp_path: Path) -> None:
    path = str(write_job(tmp_path, SHAPES["random read with a queue"]))
    first, again, other = (
        command_line("fio", path, "--on", "hdd-7200", "--seed", seed).stdout for seed in ("1", "1", "2")
    )
    assert first == again != other


def test_the_normal_output_has_the_lines_that_people_look_for(command_line: CommandLine, shape: Path) -> None:
    done = command_line("fio", str(shape), "--on", "hdd-7200")
    assert done.returncode == 0, done.stderr
    for part in ("groupid=", "IOPS=", "BW=", "clat", "percentiles", "Run status group 0", "Disk stats"):
        assert part in done.stdout, part


FREE_OBJECTS = ("job options", "global options")
"""Objects whose keys are the job file's own."""


def key_paths(document: Any, path: str = "") -> set[str]:  # noqa: ANN401 -- any JSON value
    """Every key of a document, with its way from the top."""
    if isinstance(document, list):
        return set().union(*(key_paths(item, f"{path}[]") for item in document)) if document else set()
    if not isinstance(document, dict):
        return set()
    found = set()
    for key, value in document.items():
        found.add(f"{path}.{key}")
        if key not in FREE_OBJECTS:
            found |= key_paths(value, f"{path}.{key}")
    return found


def test_the_json_has_the_keys_that_the_real_fio_writes(command_line: CommandLine, shape: Path, tmp_path: Path) -> None:
    if shutil.which("fio") is None:
        pytest.skip("fio is not installed; on Debian: apt-get install fio")
    text = shape.read_text(encoding="utf-8").replace("ioengine=libaio\ndirect=1\n", "")
    (tmp_path / "real.fio").write_text(
        f"[global]\nioengine=psync\nfilename={tmp_path / 'data'}\n{text}", encoding="utf-8"
    )
    real = subprocess.run(
        ["fio", "--output-format=json", str(tmp_path / "real.fio")],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    theirs = key_paths(json.loads(real.stdout[real.stdout.index("{") :]))
    ours = key_paths(run_json(command_line, shape))
    # fio leaves out the disks when it cannot find the one below a file (in a container, say), and adds what each kernel
    # knows about them; job files without [global] have no global options.
    variable = (".disk_util", ".global options")
    assert {path for path in theirs - ours if not path.startswith(variable)} == set()
    assert {path for path in ours - theirs if not path.startswith(variable)} == set()
    assert {".disk_util[].name", ".disk_util[].read_ios", ".disk_util[].util"} <= ours
