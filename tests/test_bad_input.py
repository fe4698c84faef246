"""Bad input is answered with a sentence that says where, what and what instead; exit status 2, no traceback."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

import seeklab

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from conftest import CommandLine

CASE = "odx-prefetch"
JOB = {"name": "reader", "rw": "read", "bs": "64KiB", "size": "1MiB"}
DEVICES = [{"preset": "hdd-7200"}]


def assert_refused(done: subprocess.CompletedProcess[str], *wanted: str) -> None:
    """Demand a refusal that names what is wanted."""
    assert done.returncode == 2, done
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert "panicked" not in done.stderr
    for part in wanted:
        assert part in done.stderr


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        pytest.param(["run", "odx-prefech"], ["odx-prefech", "odx-prefetch"], id="misspelt case"),
        pytest.param(["run", CASE, "--variant", "brokn"], ["brokn", "broken"], id="misspelt variant"),
        pytest.param(["facts", "odx"], ["odx"], id="facts of an unknown case"),
        pytest.param(["run", CASE, "--set", "volume.prefetch.chunck=4MiB"], ["chunck", "chunk"], id="misspelt field"),
        pytest.param(
            ["run", CASE, "--set", "volume.prefetch.chunk=8q"], ["volume.prefetch.chunk", "8q"], id="wrong unit"
        ),
        pytest.param(["run", CASE, "--set", "jobs[0].iodepth=0"], ["jobs[0].iodepth", "0"], id="out of range"),
        pytest.param(["run", CASE, "--set", "jobs[99].bs=4k"], ["jobs[99]"], id="no such job"),
        pytest.param(["run", CASE, "--set", "protocol.odx_sizing=maximum"], ["maximum", "max"], id="unknown word"),
        pytest.param(["run", CASE, "--set", "chunk"], ["PATH=VALUE"], id="not an assignment"),
        pytest.param(["run", CASE, "--seed", "x"], ["'x'", "whole number"], id="not a seed"),
        pytest.param(["run", CASE, "--seed", str(2**53)], [str(2**53 - 1)], id="seed too large"),
        pytest.param(["show", CASE, "--as", "iotop"], ["iotop", "iostat"], id="unknown tool"),
        pytest.param(["fio", "none.fio", "--on", "nvme"], ["none.fio", "No such file"], id="no job file"),
        pytest.param(["fio", ".", "--on", "nvme"], ["directory"], id="a directory"),
        pytest.param(["rnu"], ["rnu"], id="unknown command"),
        pytest.param(["run", CASE, "--seed", "1_0"], ["'1_0'", "whole number"], id="a seed with an underscore"),
        pytest.param(["run", CASE, "--seed", "٩"], ["'٩'", "whole number"], id="a seed in other digits"),
        pytest.param(["run", CASE, "--seed", " 9"], ["' 9'", "whole number"], id="a seed with a blank"),
        pytest.param(["run", CASE, "--seed", "9" * 5000], ["(5000 characters)", "whole number"], id="a very long seed"),
        pytest.param(["sweep", CASE, "--seeds", "1-1_0"], ["'1_0'", "whole number"], id="seeds with an underscore"),
        pytest.param(["show", CASE, "--as", "oplog", "--limit", "1_0"], ["'1_0'", "whole number"], id="a limit"),
        pytest.param(["replay", "x", "--on", "nvme", "--scale", "nan"], ["'nan'", "0.5"], id="not a factor"),
        pytest.param(["facts", ""], ['""'], id="facts of a case without a name"),
        pytest.param(["run", CASE, "--set", f"jobs={'[' * 3000}"], ["jobs=["], id="3000 brackets"),
        pytest.param(["run", CASE, "--set", f"jobs={'[' * 300}{']' * 300}"], ["jobs[0][0]", "60"], id="300 lists"),
        pytest.param(["run", CASE, "--set", f"{'a.' * 1999}a=1"], ["a.a.a", "2000", "30"], id="2000 parts"),
        pytest.param(["run", CASE, "--set", f"jobs{'[0]' * 1999}=1"], ["jobs[0]", "2000"], id="2000 indices"),
        pytest.param(["run", CASE, "--set", f"jobs[0].bs={10**400}"], ["jobs[0].bs", "1329 bits"], id="400 digits"),
        pytest.param(["run", CASE, "--set", f"jobs[0].bs={'9' * 5000}"], ["jobs[0].bs", "999"], id="5000 digits"),
        pytest.param(["run", CASE, "--set", "jobs[0].bs=\udcff"], ["jobs[0].bs", "character 1"], id="a byte"),
        pytest.param(["run", CASE, "--set", "jobs[\udcff].bs=1"], ["set", "character 6"], id="a byte in a path"),
        pytest.param(["run", CASE, "--set", 'jobs[0].name="\\ud800"'], ["jobs[0].name", "U+D800"], id="half a letter"),
        pytest.param(["run", CASE, "--set", 'jobs[0].name="\\u0000"'], ["jobs[0].name", "NUL"], id="a NUL"),
        pytest.param(["run", "\udcff"], ["id", "character 1"], id="a case in bytes"),
        pytest.param(["design", "--set", "prices=3"], ["prices", "prices.disks=250"], id="all prices at once"),
    ],
)
def test_a_command_line_mistake_is_told(command_line: CommandLine, arguments: list[str], wanted: list[str]) -> None:
    assert_refused(command_line(*arguments), *wanted)


def nested(levels: int) -> dict[str, Any]:
    """Give a dictionary in a dictionary in a dictionary."""
    document: dict[str, Any] = {}
    for _ in range(levels):
        document = {"a": document}
    return document


def a_circle() -> list[Any]:
    """Give a list that holds itself."""
    circle: list[Any] = []
    circle.append(circle)
    return circle


@pytest.mark.parametrize(
    ("value", "path", "found"),
    [
        pytest.param(nested(100_000), "limits.time.a", "60", id="100,000 levels"),
        pytest.param(a_circle(), "limits.time[0]", "60", id="a circle"),
        pytest.param(10**5000, "limits.time", "16610", id="5000 digits"),
        pytest.param("\ud800", "limits.time", "U+D800", id="half a letter"),
        pytest.param("1\0s", "limits.time", "NUL", id="a NUL"),
        pytest.param(float("inf"), "limits.time", "inf", id="infinity"),
        pytest.param({1: 2}, "limits.time", "1", id="a number for a key"),
        pytest.param({"\ud800": 2}, "limits.time", "U+D800", id="half a letter for a key"),
        pytest.param(b"1s", "limits.time", "bytes", id="bytes"),
    ],
)
def test_a_value_that_no_field_can_have_is_told_with_its_place(value: object, path: str, found: str) -> None:
    runs: tuple[Callable[[], object], ...] = (
        lambda: seeklab.case(CASE).with_({"limits.time": value}).run(),
        lambda: seeklab.run({"jobs": [JOB], "devices": DEVICES, "limits": {"time": value}}),
    )
    for run in runs:
        with pytest.raises(seeklab.SeeklabError) as caught:
            run()
        (problem,) = caught.value.problems
        assert problem.path.startswith(path)
        assert found in problem.message


def test_no_seed_is_no_seed() -> None:
    system = {"jobs": [JOB], "devices": DEVICES}
    for run in (
        lambda: seeklab.run(system, seed=None),  # type: ignore[arg-type] # the mistake under test
        lambda: seeklab.case(CASE).run(seed=None),  # type: ignore[arg-type] # the mistake under test
        lambda: seeklab.sweep(CASE, {}, seeds=[None], progress=False),  # type: ignore[list-item] # the same
        lambda: seeklab.run_shard_map(seeklab.case("vdisk-sharding"), "interleaved", seed=None),  # type: ignore[arg-type]
    ):
        with pytest.raises(seeklab.SeeklabError) as caught:
            run()
        assert paths(caught.value) == ["seed"]


def refusal(scenario: dict[str, Any]) -> seeklab.SeeklabError:
    """Give what the engine says about a scenario."""
    with pytest.raises(seeklab.SeeklabError) as caught:
        seeklab.run(scenario)
    return caught.value


def paths(error: seeklab.SeeklabError) -> list[str]:
    """Tell where the problems are."""
    return [problem.path for problem in error.problems]


def test_a_misspelt_field_names_the_nearest() -> None:
    problem = refusal({"jobs": [{**JOB, "iodeth": 4}], "devices": DEVICES}).problems[0]
    assert problem.path.startswith("jobs[0]")
    assert problem.nearest == "iodepth"
    assert "iodeth" in str(problem)


def test_all_problems_are_told_at_once() -> None:
    error = refusal({"jobs": [{**JOB, "bs": "8q", "iodepth": 0}], "devices": [{"preset": "hdd-720"}]})
    assert {"jobs[0].bs", "jobs[0].iodepth"} <= set(paths(error))
    assert any("hdd-7200" in str(problem) for problem in error.problems)
    assert len(str(error).splitlines()) == len(error.problems) >= 3


@pytest.mark.parametrize(
    ("scenario", "path"),
    [
        pytest.param({"jobs": [], "devices": DEVICES}, "jobs", id="empty jobs"),
        pytest.param({"devices": DEVICES}, "jobs", id="no jobs"),
        pytest.param({"jobs": [JOB], "devices": []}, "devices", id="no devices"),
        pytest.param({"jobs": [{**JOB, "bs": 100}], "devices": DEVICES}, "jobs[0].bs", id="smaller than a sector"),
        pytest.param({"jobs": [{**JOB, "bs": -4096}], "devices": DEVICES}, "jobs[0].bs", id="negative"),
        pytest.param({"jobs": [{**JOB, "bs": "40ms"}], "devices": DEVICES}, "jobs[0].bs", id="a time for a size"),
        pytest.param(
            {"jobs": [{**JOB, "runtime": "4KiB"}], "devices": DEVICES}, "jobs[0].runtime", id="a size for a time"
        ),
        pytest.param({"jobs": [{**JOB, "bs": None}], "devices": DEVICES}, "jobs[0].bs", id="null"),
        pytest.param({"jobs": [{**JOB, "bs": 1e300}], "devices": DEVICES}, "jobs[0].bs", id="a huge number"),
        pytest.param({"jobs": [{**JOB, "size": "900TiB"}], "devices": DEVICES}, "jobs[0].size", id="beyond the device"),
        pytest.param(
            {"jobs": [{**JOB, "size": "4KiB"}], "devices": DEVICES}, "jobs[0]", id="a request larger than its region"
        ),
        pytest.param(
            {"jobs": [JOB], "devices": DEVICES, "volume": {"prefetch": {"chunk": "8MiB"}}},
            "volume.prefetch",
            id="a prefetcher without a cache",
        ),
        pytest.param(
            {"jobs": [{**JOB, "rw": "odxcopy"}], "devices": DEVICES},
            "jobs[0].rw",
            id="an offloaded copy without a protocol",
        ),
        pytest.param([], "", id="not an object"),
    ],
)
def test_a_scenario_that_cannot_be_is_told_where(scenario: Any, path: str) -> None:
    error = refusal(scenario)
    assert any(found.startswith(path) for found in paths(error)), error
    assert all(problem.message for problem in error.problems)


def test_a_queue_that_needs_too_much_memory_is_refused_before_it_runs() -> None:
    error = refusal({"jobs": [{**JOB, "numjobs": 4096, "iodepth": 65536}], "devices": DEVICES})
    assert paths(error) == ["jobs"]
    assert "268435456" in str(error)


def test_a_log_that_outgrows_its_memory_stops_the_run() -> None:
    job = {**JOB, "bs": 512, "loops": 1000}
    error = refusal({"jobs": [job], "devices": DEVICES, "record": {"log": True}, "limits": {"memory": "16MiB"}})
    assert isinstance(error, seeklab.LimitExceeded)
    assert paths(error) == ["limits.memory"]
    assert "record.log" in str(error)


def test_a_scenario_that_never_ends_is_stopped_at_its_limit() -> None:
    job = {**JOB, "rw": "randread", "time_based": True, "runtime": "80000s"}
    error = refusal({"jobs": [job], "devices": DEVICES, "limits": {"events": 10_000}})
    assert isinstance(error, seeklab.LimitExceeded)
    assert paths(error) == ["limits.events"]
    assert "10000" in str(error)


def test_a_run_time_beyond_the_limit_is_refused_before_it_runs() -> None:
    error = refusal({"jobs": [{**JOB, "time_based": True, "runtime": "1000000s"}], "devices": DEVICES})
    assert paths(error) == ["jobs[0].runtime"]


def test_a_job_without_an_end_is_refused_before_it_runs() -> None:
    error = refusal({"jobs": [{**JOB, "time_based": True}], "devices": DEVICES})
    assert paths(error) == ["jobs[0].runtime"]


def test_a_job_that_takes_for_ever_is_stopped_and_told() -> None:
    error = refusal({"jobs": [{**JOB, "rate": 1}], "devices": DEVICES})
    assert paths(error) == ["limits.time"]


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        pytest.param(b"\x7fELF\x02\x01\x01\x00" + bytes(64), [], id="a program"),
        pytest.param(b"hello world\n", ["[section]"], id="prose"),
        pytest.param(b"", [], id="an empty file"),
        pytest.param(b"[global]\nbs=4k\n", [], id="no job section"),
        pytest.param(
            b"[a]\nrw=read\nsize=1m\nfilename=caf\xe9\n", ["byte 32", "line 4", "0xe9", "UTF-8"], id="broken UTF-8"
        ),
        pytest.param(b"[a]\nrw=raed\nsize=1m\n", ["raed", "read"], id="unknown pattern"),
        pytest.param(b"[a]\nrw=read\nsize=1m\nidepth=4\n", ["idepth", "iodepth"], id="misspelt option"),
        pytest.param(b"[a]\nrw=read\nsize=1m\nbs=4x\n", ["bs", "4x"], id="not a size"),
        pytest.param(b"[a]\nrw=read\nsize=9999t\n", ["size"], id="beyond the device"),
        pytest.param(b"[a]\ninclude gone.fio\nrw=read\nsize=1m\n", ["gone.fio"], id="a missing include"),
        pytest.param(
            b"[a]\nrw=read\nsize=1m\nrate_ignore_thinktime=1\n",
            ["rate_ignore_thinktime"],
            id="an option that would change the result",
        ),
        pytest.param(b"[a]\nrw=read\nsize=1m\nzonemode=zbd\n", ["256 MiB"], id="a file without a zone"),
        pytest.param(b"[" + b"a" * 2_000_000, ["1 MiB"], id="a huge file"),
    ],
)
def test_a_job_file_mistake_is_told(
    command_line: CommandLine, tmp_path: Path, content: bytes, wanted: list[str]
) -> None:
    (tmp_path / "job.fio").write_bytes(content)
    assert_refused(command_line("fio", "job.fio", "--on", "hdd-7200"), *wanted)


def test_an_unknown_preset_names_the_nearest(command_line: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text("[a]\nrw=read\nsize=1m\n")
    assert_refused(command_line("fio", "job.fio", "--on", "hdd-720"), "hdd-720", "hdd-7200")


def test_files_that_include_each_other_do_not_hang(command_line: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "a.fio").write_text("[a]\ninclude b.fio\nrw=read\nsize=1m\n")
    (tmp_path / "b.fio").write_text("include a.fio\n")
    assert_refused(command_line("fio", "a.fio", "--on", "hdd-7200"), "include")


def test_an_argument_that_is_not_text_is_told(command_line: CommandLine) -> None:
    assert_refused(command_line("run", b"\xff\xfe".decode("utf-8", "surrogateescape")))


def test_the_engine_answers_further_questions_after_bad_ones() -> None:
    for _ in range(20):
        refusal({"jobs": [{**JOB, "bs": "8q"}], "devices": DEVICES})
    assert seeklab.run({"jobs": [JOB], "devices": DEVICES}).metrics["reader.read_ios"] == 16


def test_json_output_stays_empty_when_the_input_is_bad(command_line: CommandLine) -> None:
    done = command_line("run", "nothing-like-it", "--json")
    assert_refused(done, "nothing-like-it")
    with pytest.raises(json.JSONDecodeError):
        json.loads(done.stdout)


class Impossible(NamedTuple):
    """Changes of a case that cannot be: where the problem is, what was found, what can be or must change."""

    case: str
    changes: dict[str, Any]
    path: str
    found: str
    accepted: str


IMPOSSIBLE = {
    "no shards": Impossible("vdisk-sharding", {"controller.shards": 0}, "controller.shards", "0", "1024"),
    "more shards than ranges": Impossible(
        "vdisk-sharding",
        {"controller.shards": 64, "controller.range": "16GiB"},
        "controller.shards",
        "64 shards",
        "range",
    ),
    "a window longer than the run": Impossible(
        "averaged-away", {"monitor.window": "90s"}, "monitor.window", "90 s", "60 s"
    ),
    "no window": Impossible("averaged-away", {"monitor.window": 0}, "monitor.window", "0", "1 ms"),
    "a partition that begins where the disk ends": Impossible(
        "misaligned-io", {"partition.start": 10**12}, "partition.start", "1000000000000", "start"
    ),
    "more than everything is a duplicate": Impossible(
        "compressible-data",
        {"reduction.dedupe_percentage": 101},
        "reduction.dedupe_percentage",
        "101",
        "100",
    ),
    "less than nothing is compressible": Impossible(
        "compressible-data",
        {"reduction.buffer_compress_percentage": -1},
        "reduction.buffer_compress_percentage",
        "-1",
        "100",
    ),
    "delays that start beyond full": Impossible(
        "openzfs-throttle",
        {"zfs.delay_min_dirty_percent": 101},
        "zfs.delay_min_dirty_percent",
        "101",
        "100",
    ),
    "more copies than nodes": Impossible(
        "hci-taxonomy",
        {"cluster.nodes": 2, "cluster.copies": 3, "devices[0].count": 2, "cluster.failures": []},
        "cluster.copies",
        "3 copies",
        "2",
    ),
    "nodes that do not hold what is to be protected again": Impossible(
        "hci-taxonomy",
        {"devices[0].lun.capacity": "2800MB"},
        "cluster.failures",
        "3",
        "devices",
    ),
    "an ARC larger than memory": Impossible(
        "l2arc-warmth", {"zfs.arc.size": "16GiB"}, "zfs.arc.size", "16 GiB", "8 GiB"
    ),
    "a read cache larger than memory": Impossible(
        "openzfs-throttle", {"zfs.cache": "100GiB"}, "zfs.cache", "100 GiB", "16 GiB"
    ),
    "more dirty data than memory": Impossible(
        "openzfs-throttle",
        {"zfs.dirty_data_max": "17GiB"},
        "zfs.dirty_data_max",
        "17 GiB",
        "16 GiB",
    ),
    "a client's window of nothing": Impossible(
        "one-window-per-rtt", {"network.client_buffer": 0}, "network.client_buffer", "0", "1 B"
    ),
    "a window that holds no segment": Impossible(
        "one-window-per-rtt",
        {"network.server_buffer": 1000},
        "network.server_buffer",
        "1000 B",
        "1448",
    ),
    "a client's files larger than the pool": Impossible(
        "eleven-metrics",
        {"jobs[load].size": "100TiB"},
        "jobs[1].size",
        "109951162777600",
        "size",
    ),
    "files of many processes larger than the pool": Impossible(
        "bonnie-decoded",
        {"jobs[put_block].size": "400GiB", "jobs[put_block].numjobs": 3, "jobs[put_block].filename": "own$jobnum"},
        "jobs[1].size",
        str(1 << 40),
        "size",
    ),
}


@pytest.mark.parametrize("wrong", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_a_system_that_cannot_be_is_told_with_what_was_found_and_what_can_be(wrong: Impossible) -> None:
    with pytest.raises(seeklab.SeeklabError) as caught:
        seeklab.case(wrong.case).with_(wrong.changes).run()
    told = [problem.message for problem in caught.value.problems if problem.path == wrong.path]
    assert any(wrong.found in message and wrong.accepted in message for message in told), caught.value
