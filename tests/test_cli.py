"""The command line: shapes that others rely on, text for people, and how it ends."""

from __future__ import annotations

import json
import re
from importlib import resources
from typing import TYPE_CHECKING, Any

import pytest

import seeklab
from seeklab._facts import SOURCE_CONTRADICTS_ITSELF
from seeklab.cli.facts import WORDS

if TYPE_CHECKING:
    import subprocess

    from conftest import CommandLine

CASE = "odx-prefetch"


def document(done: subprocess.CompletedProcess[str], status: int = 0) -> Any:
    """Read the one JSON document on stdout."""
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout)


def test_cases_lists_every_case(command_line: CommandLine) -> None:
    found = document(command_line("cases", "--json"))
    case = next(case for case in found if case["id"] == CASE)
    assert {"id", "title", "family", "source", "variants", "controls"} <= set(case)
    assert case["variants"] == ["broken", "fixed", "ssd-resident", "ssd-evicted", "two-ahead"]
    assert CASE in command_line("cases").stdout


def test_describes_a_case_with_evidence_from_the_field(command_line: CommandLine) -> None:
    evidence = json.loads(resources.files("seeklab").joinpath("field.json").read_text(encoding="utf-8"))
    known = {case["id"] for case in seeklab.cases()}
    assert set(evidence) <= known
    for rows in evidence.values():
        assert all({"tool", "numbers", "says"} <= set(row) <= {"tool", "numbers", "says", "url"} for row in rows)
    case = "sync-serialised"
    assert document(command_line("cases", case, "--json"))["field"] == evidence[case]
    assert evidence[case][0]["numbers"].split(";")[0][:20] in command_line("cases", case).stdout


def test_run_gives_the_metrics_of_the_same_run_in_python(command_line: CommandLine) -> None:
    found = document(command_line("run", CASE, "--variant", "fixed", "--seed", "7", "--json"))
    assert set(found) == {"case", "variant", "seed", "fingerprint", "metrics", "events", "wall_s", "version"}
    result = seeklab.case(CASE).run("fixed", seed=7)
    assert (found["case"], found["variant"], found["seed"]) == (CASE, "fixed", 7)
    assert found["fingerprint"] == result.fingerprint
    assert found["metrics"] == dict(result.metrics)


def test_run_takes_changes_by_path(command_line: CommandLine) -> None:
    found = document(command_line("run", CASE, "--set", "volume.prefetch.chunk=4MiB", "--json"))
    assert found["fingerprint"] == seeklab.case(CASE).with_({"volume.prefetch.chunk": 4 << 20}).run().fingerprint
    assert found["fingerprint"] != seeklab.case(CASE).run().fingerprint


def test_run_for_people_aligns_its_numbers(command_line: CommandLine) -> None:
    done = command_line("run", CASE)
    lines = done.stdout.splitlines()
    assert done.returncode == 0
    assert "fingerprint" in done.stdout
    head = next(line for line in lines if line.startswith("metric"))
    row = next(line for line in lines if line.startswith("odx.read_latency_mean_ms "))
    assert head.index("unit") == row.rindex("ms")


def test_facts_are_all_listed_and_decide_the_exit_status(command_line: CommandLine) -> None:
    done = command_line("facts", CASE, "--json")
    rows = json.loads(done.stdout)
    assert [row["id"] for row in rows] == [f"Q1.{number}" for number in range(1, 10)]
    wanted = {"case", "id", "kind", "documented", "simulated", "unit", "tolerance", "ok", "verdict"}
    assert all(wanted <= set(row) for row in rows)
    assert done.returncode == (1 if any(row["verdict"] == "model misses" for row in rows) else 0)


def test_a_fact_that_misses_by_one_of_its_further_checks_shows_that_check(command_line: CommandLine) -> None:
    done = command_line("facts", "misaligned-io")
    lines = done.stdout.splitlines()
    (at,) = [number for number, line in enumerate(lines) if line.startswith("N2.5  ")]
    assert WORDS[SOURCE_CONTRADICTS_ITSELF] in lines[at + 1]


def test_a_source_that_contradicts_itself_is_a_finding_and_not_a_failure(command_line: CommandLine) -> None:
    done = command_line("facts", "thousand-threads")
    assert re.search(r"^Z4\.5 .*" + WORDS[SOURCE_CONTRADICTS_ITSELF], done.stdout, re.MULTILINE)
    (reason,) = (fact["misses_because"] for fact in seeklab.case("thousand-threads").facts if fact["id"] == "Z4.5")
    assert reason in done.stdout
    assert done.returncode == 0


def test_facts_are_judged_on_as_many_seeds_as_asked_for_and_at_other_inputs(command_line: CommandLine) -> None:
    done = command_line("facts", "combine-limit", "--seeds", "2", "--inputs", "--json")
    rows = {row["id"]: row for row in json.loads(done.stdout)}
    assert len(rows["Q3.2"]["values"]) == 2
    low, high = rows["Q3.2"]["range"]
    assert low <= rows["Q3.2"]["simulated"] <= high
    assert len(rows["Q3.2"]["inputs"]) == 2


@pytest.mark.parametrize("tool", ["oplog", "histogram", "iostat", "fio", "fio-json"])
def test_show_prints_what_each_tool_prints(command_line: CommandLine, tool: str) -> None:
    done = command_line("show", CASE, "--as", tool)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) > 3
    if tool == "fio-json":
        assert json.loads(done.stdout)["jobs"]


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        ("quantize", ["            8192 |@", "  write   "]),
        ("lquantize", ["            < 10 |", "           >= 90 |"]),
        ("packed", ["  key ", " min .", "write ", " | count"]),
        ("dirty", ["MB of 4096MB used"]),
        ("sync", ["sync took "]),
        ("delays", ["  not delayed     "]),
    ],
)
def test_show_prints_the_scripts_of_the_tuning_guide(command_line: CommandLine, tool: str, expected: list[str]) -> None:
    short = ("--set", "jobs[writers].runtime=6s", "--set", "jobs[readers].runtime=6s")
    buckets = ("--from", "10", "--to", "90", "--step", "10") if tool == "lquantize" else ()
    done = command_line("show", "tune-openzfs", "--as", tool, *short, *buckets)
    assert (done.returncode, done.stderr) == (0, "")
    assert [text for text in expected if text not in done.stdout] == []


@pytest.mark.parametrize(("tool", "begins"), [("bonnie", "Version  1.03"), ("bonnie-csv", "1.98,2.00a,client,1,1,1G,")])
def test_show_prints_what_bonnie_prints(command_line: CommandLine, tool: str, begins: str) -> None:
    done = command_line("show", "bonnie-decoded", "--as", tool)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(begins)


def test_linear_buckets_must_be_whole(command_line: CommandLine) -> None:
    done = command_line("show", "frictionless", "--as", "lquantize", "--to", "7", "--step", "2")
    assert done.returncode != 0
    assert "buckets" in done.stderr


def test_what_is_seldom_meant_is_noted(command_line: CommandLine) -> None:
    done = command_line("run", "openzfs-throttle", "--variant", "openzfs", "--set", "zfs.max_active=5")
    assert done.returncode == 0
    assert "zfs.max_active: 5 " in done.stderr


def test_the_operation_log_shows_the_contiguous_reads_of_the_incident(command_line: CommandLine) -> None:
    assert "8650752" in command_line("show", CASE, "--as", "oplog", "--job", "odx").stdout.replace(",", "").replace(
        "_", ""
    )


def test_presets_name_their_source(command_line: CommandLine) -> None:
    found = document(command_line("presets", "--json"))
    assert {"hdd-7200", "ssd-sata", "nvme", "lun-100mb"} <= {preset["name"] for preset in found}
    assert all(preset["source"] for preset in found)
    assert {preset["name"]: preset["basis"] for preset in found}["ssd-sata-tlc"] == "data sheet"
    assert all((preset["basis"] is None) == (preset["kind"] in ("lun", "pool")) for preset in found)


def test_schema_is_a_json_schema(command_line: CommandLine) -> None:
    schema = document(command_line("schema"))
    assert "jobs" in schema["properties"]
    assert schema["$defs"]["Job"]["properties"]["iodepth"]["description"]


def test_version_names_package_and_engine(command_line: CommandLine) -> None:
    assert document(command_line("version", "--json"))["seeklab"] == seeklab.__version__
    assert command_line("--version").stdout == f"seeklab {seeklab.__version__}\n"


def test_a_missing_engine_names_the_command_that_builds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from seeklab.engine import raw as _raw
    from seeklab.engine import wasmtime as _wasmtime

    monkeypatch.setattr(_raw, "files", lambda _: __import__("pathlib").Path("/nonexistent"))
    with pytest.raises(seeklab.EngineError, match="make wasm"):
        _wasmtime.WasmtimeEngine()
