"""fio job files: the shapes that people write run, and what is printed reads like fio's own output."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

import seeklab

if TYPE_CHECKING:
    from collections.abc import Callable
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
    assert "ioengine=libaio" in done.stderr
    assert "direct=1" in done.stderr


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


FREE_OBJECTS = ("job options", "global options", "bins")
"""Objects whose keys are the job file's own, or the run's."""


def key_paths(document: Any, path: str = "") -> set[str]:
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


@pytest.fixture
def real_fio(tmp_path: Path) -> Callable[..., str]:
    """Run the real fio in an empty folder; what it prints."""
    if shutil.which("fio") is None:
        pytest.skip("fio is not installed; on Debian: apt-get install fio")

    def run(path: Path, *arguments: str) -> str:
        done = subprocess.run(["fio", *arguments, str(path)], capture_output=True, text=True, check=True, cwd=tmp_path)
        return done.stdout

    return run


@pytest.mark.parametrize("output_format", ["json", "json+"])
def test_the_json_has_the_keys_that_the_real_fio_writes(
    command_line: CommandLine, shape: Path, tmp_path: Path, real_fio: Callable[..., str], output_format: str
) -> None:
    text = shape.read_text(encoding="utf-8").replace("ioengine=libaio\ndirect=1\n", "")
    real_job = tmp_path / "real.fio"
    real_job.write_text(f"[global]\nioengine=psync\nfilename={tmp_path / 'data'}\n{text}", encoding="utf-8")
    real = real_fio(real_job, f"--output-format={output_format}")
    theirs = key_paths(json.loads(real[real.index("{") :]))
    ours = key_paths(json.loads(ours_as(command_line, shape, output_format)))
    # fio leaves out the disks when it cannot find the one below a file (in a container, say), and adds what each kernel
    # knows about them; job files without [global] have no global options.
    variable = (".disk_util", ".global options")
    assert {path for path in theirs - ours if not path.startswith(variable)} == set()
    assert {path for path in ours - theirs if not path.startswith(variable)} == set()
    assert {".disk_util[].name", ".disk_util[].read_ios", ".disk_util[].util"} <= ours


def ours_as(command_line: CommandLine, path: Path, output_format: str, *more: str) -> str:
    """Read what `seeklab fio` prints."""
    done = command_line("fio", str(path), "--on", "nvme", f"--output-format={output_format}", *more)
    assert done.returncode == 0, done.stderr
    return done.stdout


COUNTED = {
    "two passes": "[a]\nrw=read\nsize=1m\nbs=16k\nloops=2",
    "a stride": "[a]\nrw=read:8k\nsize=1m",
    "backwards": "[a]\nrw=read:-8k\nsize=1m",
    "strided zones": "[a]\nrw=read\nsize=1m\nzonemode=strided\nzonesize=64k\nzoneskip=64k",
    "four files": "[a]\nrw=read\nsize=1m\nnrfiles=4",
    "verified writes": "[a]\nrw=write\nsize=1m\nverify=crc32c",
    "verified in between": "[a]\nrw=write\nsize=1m\nverify=crc32c\nverify_backlog=16",
    "verified random writes": "[a]\nrw=randwrite\nsize=1m\nverify=crc32c",
    "flushes": "[a]\nrw=write\nsize=1m\nfsync=16",
    "a flush at the end": "[a]\nrw=write\nsize=1m\nend_fsync=1",
    "a number of requests": "[a]\nrw=randread\nsize=1m\nnumber_ios=100",
    "jobs that wait": "[a]\nrw=write\nsize=1m\n[b]\nwait_for=a\nrw=read\nsize=1m\n[c]\nnew_group\nsize=64k",
    "two sizes": "[a]\nrw=read\nsize=1m\nbs=64k\n[b]\nrw=write\nsize=1m\nbs=4k,8k",
    "io_size": "[a]\nrw=randread\nsize=1m\nio_size=4m",
    "null": "[a]\nioengine=null\nrw=randread\nsize=16m\nnorandommap",
    "null, several": "[global]\nioengine=null\nsize=1m\n[a]\nnumjobs=3\ngroup_reporting\n[b]\nstonewall\nrw=write",
}
"""Jobs in which nothing depends on speed or on chance."""


@pytest.mark.parametrize("name", COUNTED, ids=lambda name: name.replace(" ", "-").replace(",", ""))
def test_every_count_that_does_not_depend_on_speed_is_that_of_the_real_fio(
    command_line: CommandLine, tmp_path: Path, real_fio: Callable[..., str], name: str
) -> None:
    path = tmp_path / "job.fio"
    path.write_text(COUNTED[name] + "\n", encoding="utf-8")
    printed = real_fio(path, "--output-format=json", "--fallocate=none")
    theirs = json.loads(printed[printed.index("{") :])["jobs"]
    ours = json.loads(ours_as(command_line, path, "json"))["jobs"]
    assert [counts(job) for job in ours] == [counts(job) for job in theirs]
    line, real_line = (
        text.splitlines()[0].split(";")
        for text in (ours_as(command_line, path, "terse"), real_fio(path, "--output-format=terse", "--terse-version=3"))
    )
    # fio's lines end with the disk below the file, where it finds one; ours with the modelled one.
    disk = slice(130 - 9, 130)
    same = [0, 2, 3, 4, 5, 46]
    assert [line[place] for place in same] == [real_line[place] for place in same]
    assert len(line[: disk.start]) == len(real_line[: disk.start]) == 121


def counts(job: dict[str, Any]) -> dict[str, Any]:
    """Take out of a job's report what does not depend on speed."""
    found = {field: job[field] for field in ("jobname", "groupid", "error", "latency_target", "latency_window")}
    for direction in ("read", "write", "trim"):
        for field in ("io_bytes", "io_kbytes", "total_ios", "short_ios", "drop_ios"):
            found[f"{direction} {field}"] = job[direction][field]
        found[f"{direction} samples"] = job[direction]["lat_ns"]["N"]
        found[f"{direction} percentiles"] = sorted(job[direction]["clat_ns"].get("percentile", {}))
    # fio counts flushes among the requests of the first level, which then has more than 100 %.
    found["depths"] = {level: min(100, round(share)) for level, share in job["iodepth_level"].items()}
    found["syncs"] = job["sync"]["total_ios"]
    return found


def test_logs_have_the_lines_of_the_real_fio(
    command_line: CommandLine, tmp_path: Path, real_fio: Callable[..., str]
) -> None:
    settings = "write_lat_log=of\nwrite_bw_log=of\nwrite_iops_log=of\nlog_offset=1\n"
    path = tmp_path / "job.fio"
    path.write_text(
        f"[a]\nrw=write\nsize=256k\n{settings}[b]\nstonewall\nrw=read\nsize=64k\n{settings}", encoding="utf-8"
    )
    ours_as(command_line, path, "normal")
    ours = {file.name: lines_of(file) for file in tmp_path.glob("of_*.log")}
    for file in tmp_path.glob("of_*.log"):
        file.unlink()
    real_fio(path)
    theirs = {file.name: lines_of(file) for file in tmp_path.glob("of_*.log")}
    assert ours == theirs


def test_resets_of_zones_are_reported(command_line: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "job.fio"
    job = "[a]\nrw=write\nsize=1m\nio_size=2m\nzonemode=zbd\nzonesize=64k\nnumjobs=2\ngroup_reporting\n"
    path.write_text(job, encoding="utf-8")
    # Each worker writes the 16 zones of its file twice.
    assert "(4096KiB/" in ours_as(command_line, path, "normal")
    assert "; 32 zone resets" in ours_as(command_line, path, "normal")


def tool_of_fio(name: str) -> str:
    """Find a tool that comes with fio, or skip: Debian puts some of them into other packages, or none."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed; on Debian it comes with fio")
    return found


LOGGED = "[r]\nrw=randrw\nbs=4k\nsize=64m\nio_size=8m\nwrite_lat_log=r\nwrite_bw_log=r\nwrite_iops_log=r\n"


@pytest.mark.parametrize("kind", ["bw", "iops", "lat"])
def test_fio2gnuplot_reads_the_logs(command_line: CommandLine, tmp_path: Path, kind: str) -> None:
    tool = tool_of_fio("fio2gnuplot")
    path = tmp_path / "job.fio"
    path.write_text(LOGGED, encoding="utf-8")
    ours_as(command_line, path, "normal")
    lines = [line.split(", ") for line in (tmp_path / f"r_{kind}.1.log").read_text().splitlines()]
    values = [int(value) for time, value, *_ in lines if time != "0"]  # it leaves out the first millisecond
    pattern = ["-p", f"r_{kind}*.log"]
    subprocess.run([tool, *pattern], cwd=tmp_path, check=True, capture_output=True, text=True, timeout=60)
    # It keeps the number of the log, the time and the value of each line, and writes what it makes of them beside it.
    kept = (tmp_path / "gnuplot_temp_file.0").read_text().splitlines()
    assert [float(line.split()[2]) for line in kept if not line.startswith("#")] == values
    for statistic, expected in (("average", sum(values) / len(values)), ("min", min(values)), ("max", max(values))):
        (line,) = [line for line in (tmp_path / f"r_{kind}.{statistic}").read_text().splitlines() if line[0].isdigit()]
        assert float(line.split()[1]) == pytest.approx(expected, abs=1), statistic


def test_fiologparser_reads_the_logs(command_line: CommandLine, tmp_path: Path) -> None:
    tool = tool_of_fio("fiologparser.py")
    path = tmp_path / "job.fio"
    path.write_text(LOGGED, encoding="utf-8")
    ours_as(command_line, path, "normal")
    done = subprocess.run(
        [tool, "-i", "1", "r_bw.1.log"], cwd=tmp_path, check=True, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.splitlines()


def test_fio_jsonplus_clat2csv_reads_the_json(command_line: CommandLine, tmp_path: Path) -> None:
    tool = tool_of_fio("fio_jsonplus_clat2csv")
    path = tmp_path / "job.fio"
    path.write_text(LOGGED, encoding="utf-8")
    text = ours_as(command_line, path, "json+")
    (tmp_path / "of.json").write_text(text, encoding="utf-8")
    subprocess.run([tool, "of.json", "of.csv"], cwd=tmp_path, check=True, capture_output=True, text=True, timeout=60)
    header, *lines = [
        [cell.strip() for cell in line.split(",")] for line in (tmp_path / "of_job0.csv").read_text().splitlines()
    ]
    (job,) = json.loads(text)["jobs"]
    for direction in ("read", "write"):
        column = header.index(f"{direction}_clat_ns_count")
        counted = {int(line[0]): int(line[column]) for line in lines if line[column]}
        bins = {int(upper): count for upper, count in job[direction]["clat_ns"]["bins"].items()}
        assert counted == bins
        assert sum(counted.values()) == job[direction]["total_ios"]
        cumulative = [int(line[column + 1]) for line in lines if line[column + 1]]
        assert cumulative == sorted(cumulative)
        assert cumulative[-1] == job[direction]["total_ios"]


def lines_of(file: Path) -> list[list[str]]:
    """Read a log, without its times and values."""
    return [line.split(", ")[2:] for line in file.read_text(encoding="utf-8").splitlines()]


def test_a_window_of_a_log_has_the_mean_of_its_requests(command_line: CommandLine, tmp_path: Path) -> None:
    logs = "write_lat_log=of\nwrite_iops_log=of\nlog_avg_msec=1000\n"
    text = f"[a]\nrw=read\nsize=64m\nioengine=null\niodepth=1\nrate_iops=1000\n{logs}"
    path = tmp_path / "job.fio"
    path.write_text(text + "number_ios=3000\n", encoding="utf-8")
    ours_as(command_line, path, "normal")
    assert (tmp_path / "of_lat.1.log").read_text() == "1000, 1000, 0, 0, 0\n2000, 1000, 0, 0, 0\n3000, 1000, 0, 0, 0\n"
    assert [line.split(", ")[1] for line in (tmp_path / "of_iops.1.log").read_text().splitlines()] == ["1000"] * 3


def test_variables_sections_output_and_other_options_are_those_of_the_command_line(
    command_line: CommandLine, tmp_path: Path
) -> None:
    path = tmp_path / "job.fio"
    path.write_text("[global]\nsize=1m\nbs=${BS}\n[a]\n[b]\nrw=write\n", encoding="utf-8")
    done = command_line("fio", str(path), "--on", "nvme")
    assert done.returncode == 2
    assert re.search(r"\$\{BS\} .*--env BS=VALUE", done.stderr)
    arguments = ("--env", "BS=8k", "--section", "b", "--output", "report.json", "--output-format=json", "--client=host")
    done = command_line("fio", str(path), "--on", "nvme", *arguments)
    assert done.returncode == 0, done.stderr
    assert "--client" in done.stderr
    (job,) = json.loads((tmp_path / "report.json").read_text())["jobs"]
    assert (job["jobname"], job["write"]["total_ios"], done.stdout) == ("b", 128, "")


def test_jobs_of_hours_are_run_to_the_limit_and_say_so(command_line: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "job.fio"
    path.write_text(
        "[global]\nsize=1m\n[a]\nruntime=1h\ntime_based\n[b]\nstonewall\nruntime=2h\ntime_based\nrw=randread\n",
        encoding="utf-8",
    )
    done = command_line("fio", str(path), "--on", "nvme", "--most-operations", "2000", "--output-format=json")
    assert done.returncode == 0, done.stderr
    # Each job is named, with the seconds that it asked for.
    assert re.search(r"\[a\] .*\b3600 s\b", done.stderr)
    assert re.search(r"\[b\] .*\b7200 s\b", done.stderr)
    assert [job["read"]["total_ios"] for job in json.loads(done.stdout)["jobs"]] == [1000, 1000]


LINES = (
    ("--name=a", "--rw=randread", "--bs=4k", "--size=1m", "--ioengine=null"),
    ("-name=a", "-rw=randread", "-bs", "4k", "-size", "1m", "-ioengine=null"),
    ("--ioengine", "null", "--size=1m", "--bs=4k", "--name", "a", "--rw=randread", "--eta=never"),
)


@pytest.mark.parametrize("line", LINES)
def test_a_command_line_of_fio_runs(command_line: CommandLine, line: tuple[str, ...]) -> None:
    done = command_line("fio", *line, "--on", "nvme", "--output-format=json")
    assert done.returncode == 0, done.stderr
    (job,) = json.loads(done.stdout)["jobs"]
    assert (job["jobname"], job["read"]["total_ios"], job["read"]["io_bytes"]) == ("a", 256, MIB)


def test_options_beside_a_job_file_are_its_defaults(command_line: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "a.fio"
    file.write_text("[one]\n[two]\nbs=8k\n", encoding="utf-8")
    done = command_line("fio", str(file), "--size=1m", "--ioengine=null", "--on", "nvme", "--output-format", "json")
    assert done.returncode == 0, done.stderr
    assert [job["read"]["total_ios"] for job in json.loads(done.stdout)["jobs"]] == [256, 128]


def test_normal_output_and_json_are_printed_together(command_line: CommandLine) -> None:
    done = command_line("fio", *LINES[0], "--on", "nvme", "--output-format=normal,json")
    assert done.returncode == 0, done.stderr
    start, end = done.stdout.index("\n{\n"), done.stdout.index("\n}\n")
    assert json.loads(done.stdout[start : end + 2])["jobs"][0]["read"]["total_ios"] == 256
    assert done.stdout.index("Starting 1 process") < start
    assert done.stdout.index("IOPS=") > end


def test_a_ramp_does_not_use_up_the_operations(tmp_path: Path) -> None:
    file = tmp_path / "a.fio"
    file.write_text(
        "[a]\nfilename=/dev/sdb\nsize=1g\nrw=randread\nbs=4k\nramp_time=5s\nruntime=5\ntime_based\n", encoding="utf-8"
    )
    job = seeklab.fio(file, "nvme", most_operations=2000)
    result = job.run()
    assert result.metrics["a.read_ios"] >= 2000
    assert 0 < result.metrics["a.shortened_ramp_s"] < 5
    assert len(job.stopped(result)) == 2


def test_each_worker_has_a_row_without_group_reporting(command_line: CommandLine, tmp_path: Path) -> None:
    text = "[a]\nioengine=null\nrw=randread\nbs=4k\nsize=1m\nnumjobs=3\nramp_time=1\n"
    file = tmp_path / "a.fio"
    file.write_text(text, encoding="utf-8")
    rows = json.loads(ours_as(command_line, file, "json"))["jobs"]
    assert [row["read"]["total_ios"] for row in rows] == [256, 256, 256]
    file.write_text(text + "group_reporting\n", encoding="utf-8")
    (row,) = json.loads(ours_as(command_line, file, "json"))["jobs"]
    assert row["read"]["total_ios"] == 768


def test_percentiles_and_unified_rows_are_as_asked_for(command_line: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "a.fio"
    file.write_text(
        "[a]\nioengine=null\nrw=randrw\nbs=4k\nsize=1m\npercentile_list=99.9:50\nunified_rw_reporting=1\n",
        encoding="utf-8",
    )
    (row,) = json.loads(ours_as(command_line, file, "json"))["jobs"]
    assert (row["mixed"]["total_ios"], "read" in row) == (256, False)
    assert list(row["mixed"]["clat_ns"]["percentile"]) == ["50.000000", "99.900000"]
