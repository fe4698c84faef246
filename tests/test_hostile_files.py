"""Files that are meant to stop a reader: each is refused in a sentence, in a time that grows with its size."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from seeklab import SeeklabError
from seeklab._documents import MAX_CONTAINERS, MAX_DIGITS, UnreadableError, odd_value, read_json, read_toml
from seeklab._user_presets import read_preset
from seeklab.calibration.fio_results import MAX_BINS, MAX_JOBS, read_results
from seeklab.calibration.fit import calibrate
from seeklab.data.json_depth import DEEPEST
from seeklab.diagnosis import diagnose
from seeklab.oncall.learner_case import case_of

if TYPE_CHECKING:
    from pathlib import Path

PROCESSOR_S = 120
"""For all texts of one reader: each takes up to a second, and the square of a million steps takes hours."""
READ_PRESET = (
    "from pathlib import Path\nfrom seeklab._user_presets import read_preset\n"
    "read = lambda path: read_preset(Path(path))"
)
READERS = {
    "diagnose": ("read.txt", "from seeklab.diagnosis import diagnose\nread = lambda path: diagnose([path])"),
    "calibrate": ("read.json", "from seeklab.calibration.fio_results import read_results as read"),
    "preset in TOML": ("read.toml", READ_PRESET),
    "preset in JSON": ("read.json", READ_PRESET),
    "case": ("read.toml", "from seeklab.oncall.learner_case import read_case as read"),
    "sealed case": (
        "read.toml",
        "from seeklab.oncall.seal import BEGIN, opened\nread = lambda path: opened(BEGIN + open(path).read(), 'x')",
    ),
    "fio": ("read.fio", "import seeklab\nread = lambda path: seeklab.fio(path, 'hitachi-7k1000')"),
}
READ_ALL = """
import json, sys, traceback
from seeklab import SeeklabError
name, size = sys.argv[1], 1_000_000
pieces = json.loads(sys.argv[2])
for piece in pieces:
    for line in (size, 4_000):
        part = (piece * line)[:line]
        with open(name, "w", encoding="utf-8", newline="") as file:
            file.write("\\n".join([part] * (size // line)))
        try:
            read(name)
        except SeeklabError:
            continue
        except Exception:
            print(repr(piece), traceback.format_exc())
"""
PIECES = [
    *(
        "\n",
        "\r",
        "\t",
        " ",
        "\v",
        "0",
        "9",
        ":",
        ",",
        ".",
        "a",
        "#",
        "-",
        "=",
        '"',
        "'",
        "\\",
        "[",
        "{",
        "[]",
        "[],",
        "{}",
    ),
    *(
        "a.",
        "a\n",
        "a \n",
        "0,0 ",
        "0.",
        "${",
        "${a}",
        "[a]\n",
        "[[a]]\n",
        "a=1\n",
        "Device",
        "Device ",
        "Device\n",
        "pool\n",
        "pool ",
    ),
    *("8,0 1 1 0.0 1 Q ", '"a".', "{a=", "include a\n", "[job]\n", "é", "\u2028"),
]


@pytest.mark.skipif(sys.platform == "win32", reason="limits of processor time are POSIX's")
@pytest.mark.parametrize("reader", READERS)
def test_a_megabyte_of_anything_is_read_or_refused_in_linear_time(reader: str, tmp_path: Path) -> None:
    name, read = READERS[reader]
    limit = f"import resource\nresource.setrlimit(resource.RLIMIT_CPU, ({PROCESSOR_S}, {PROCESSOR_S}))\n"
    done = subprocess.run(
        [sys.executable, "-c", f"{limit}{read}\n{READ_ALL}", name, json.dumps(PIECES)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr[-2000:]


def report(bins: int = 1, jobs: int = 1) -> str:
    latency = {"mean": 1e5, "min": 1, "max": 900_000, "N": 20_000, "bins": {str(ns): 1 for ns in range(1, bins + 1)}}
    job = {
        "jobname": "a",
        "error": 0,
        "job_runtime": 3000,
        "job options": {"rw": "randread", "bs": "4k", "iodepth": "1", "size": "1g", "direct": "1"},
        "read": {"total_ios": 5, "iops": 10_000.0, "io_bytes": 1, "lat_ns": latency, "clat_ns": latency},
        "write": {"total_ios": 0},
    }
    return json.dumps({"fio version": "fio-3.33", "global options": {}, "jobs": [job] * jobs})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"[{'9' * 5000}]", f"{MAX_DIGITS:,}"),
        ("[" * 500_000, str(DEEPEST)),
        ("[]," * (MAX_CONTAINERS + 1), f"{MAX_CONTAINERS:,}"),
        ('{"half": ', r"\(char 9\)"),
    ],
)
def test_json_that_cannot_be_read_has_one_kind_of_error(text: str, said: str) -> None:
    with pytest.raises(UnreadableError, match=said):
        read_json(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"rpm = {'9' * 5000}", f"{MAX_DIGITS:,}"),
        (f"a = {'[' * 100_000}", str(DEEPEST)),
        (f"a = {'{a=' * 100_000}", str(DEEPEST)),
        (f"{'a.' * 100_000}a = 1", str(DEEPEST)),
        ('"a b" . ' * 100_000 + "a = 1", str(DEEPEST)),
        ("half =", "at end of document"),
    ],
)
def test_toml_that_cannot_be_read_has_one_kind_of_error(text: str, said: str) -> None:
    with pytest.raises(UnreadableError, match=said):
        read_toml(text)


def test_numbers_of_a_long_list_and_dots_of_a_text_are_no_key() -> None:
    assert read_toml(f'a = [{"1.5, " * 200}]\nb = "{"a." * 200}"')["b"] == "a." * 200


@pytest.mark.parametrize(
    "written", [f"0x{'f' * 5000}", "2026-11-26", "nan", "-inf", str(2**63), f"{'[' * 70}{']' * 70}"]
)
def test_a_preset_holds_what_a_scenario_can_hold(written: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f"[device.hdd]\nrpm = {written}\n")
    with pytest.raises(SeeklabError, match=r"device\.hdd\.rpm"):
        read_preset(path)
    assert odd_value({"device": {"hdd": {"rpm": 7200, "names": ["a", True]}}}) is None


@pytest.mark.parametrize(("given", "left"), [((MAX_BINS + 1, 1), "entries in bins"), ((1, MAX_JOBS + 1), "jobs;")])
def test_a_report_has_as_many_bins_and_jobs_as_fio_writes(given: tuple[int, int], left: str, tmp_path: Path) -> None:
    (tmp_path / "good.json").write_text(report(bins=MAX_BINS))
    (tmp_path / "large.json").write_text(report(*given))
    results = read_results(tmp_path)
    assert [left in reason for reason in results.left_out] == [True]
    job = next(iter(results.jobs.values()))
    assert (job.q(50), job.q(100)) == (MAX_BINS / 2 / 1e3, MAX_BINS / 1e3)


@pytest.mark.parametrize("capacity", ["1.2.3GB", "..........", "0GB", "9" * 5000, "GB", "1e3GB"])
def test_what_is_no_capacity_is_refused_by_its_name(capacity: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(report())
    with pytest.raises(SeeklabError) as refused:
        calibrate(read_results(tmp_path), capacity=capacity)
    assert [problem.path for problem in refused.value.problems] == ["capacity"]


def test_an_empty_shift_is_told_what_it_lacks() -> None:
    with pytest.raises(SeeklabError) as refused:
        case_of('title="x"\n[shift]\n[scenario]\n[[variants]]\nname="a"\n')
    assert "shift.failing" in [problem.path for problem in refused.value.problems]


def test_requests_that_take_no_time_at_all_are_told_of(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("job,op,offset,bytes,submit_ns,latency_ns\n" + "0,read,0,4096,0,0\n" * 30)
    assert diagnose([tmp_path / "x.csv"])
