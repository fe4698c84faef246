"""The scripts behind the Makefile: what is done again, and what a stage tells that did not reach its end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tomllib
from dataclasses import replace
from functools import partial
from http.client import HTTPConnection
from http.server import ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import pytest

import console
import play
import stages
import steps
from stages import Count, Stage

if TYPE_CHECKING:
    from collections.abc import Iterator

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"

BUILD = """
import os, signal, sys
from pathlib import Path
import console

console.ROOT = Path.cwd()
console.STAMPS = console.ROOT / "stamps"
console.LOGS = console.ROOT / "logs"
source, product = console.ROOT / "source", console.ROOT / "product"


def work():
    product.write_text("half")
    if source.read_text() == "fatal":
        os.kill(os.getpid(), signal.SIGKILL)
    product.write_text(source.read_text())


console.apply_all([console.Step("copy", "Copying", work, reads=(source,), makes=(product,))])
"""


def _build(folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "build.py").write_text(BUILD)
    environment = {**os.environ, "PYTHONPATH": str(SCRIPTS)}
    return subprocess.run(
        [sys.executable, "-B", "build.py"], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_a_step_runs_again_only_when_what_it_reads_has_changed(tmp_path: Path) -> None:
    (tmp_path / "source").write_text("one")
    assert "Copying: done" in _build(tmp_path).stdout
    assert _build(tmp_path).stdout == ""
    (tmp_path / "source").write_text("two")
    assert "Copying: done" in _build(tmp_path).stdout
    assert (tmp_path / "product").read_text() == "two"


def test_a_step_that_was_killed_runs_again_whatever_it_reads_by_then(tmp_path: Path) -> None:
    (tmp_path / "source").write_text("one")
    _build(tmp_path)
    (tmp_path / "source").write_text("fatal")
    assert _build(tmp_path).returncode == -signal.SIGKILL
    # Back to what the last success has read: what it made then is no longer what lies there.
    (tmp_path / "source").write_text("one")
    assert "Copying: done" in _build(tmp_path).stdout
    assert (tmp_path / "product").read_text() == "one"


# What each runner has printed when its time is over, and what is told of it.
UNFINISHED = {
    "CARGO": (
        """\
     Running unittests src/lib.rs (target/debug/deps/seeklab_model-0123)
running 4 tests
test layers::hdd::tests::seeks_grow ... ok
test a_limit_is_kept - should panic ... ok
test layers::hdd::tests::heads_settle ... FAILED
test the_long_one has been running for over 60 seconds
""",
        Count(2, 2),
        ["failed: layers::hdd::tests::heads_settle", "not finished: the_long_one"],
    ),
    "PYTEST": (
        """\
created: 2/2 workers
2 workers [4 items]

tests/test_a.py::test_good
tests/test_b.py::test_named[with a space]
[gw1] [ 25%] PASSED tests/test_a.py::test_good
tests/test_a.py::test_slow
[gw0] [ 50%] FAILED tests/test_b.py::test_named[with a space]
tests/test_b.py::test_set_up
[gw0] [ 75%] ERROR tests/test_b.py::test_set_up
""",
        Count(1, 3),
        [
            "failed: tests/test_b.py::test_named[with a space]",
            "failed: tests/test_b.py::test_set_up",
            "not finished: tests/test_a.py::test_slow",
        ],
    ),
    "VITEST": (
        """\
 \u2713 test/format.test.ts (12 tests) 34ms
 \u276f test/run.test.ts (2 tests | 1 failed) 69ms
     \u00d7 a run is closed 50ms
     \u2713 a run is opened 0ms
""",
        Count(1, 1),
        ["failed: a run is closed"],
    ),
    "BROWSER": (
        """\
passed  the front page opens (1.2 s): 28 cases
FAILED  the widget shows a run (20.1 s)
        locator.click: Timeout 20000ms exceeded.
""",
        Count(1, 1),
        ["failed: the widget shows a run"],
    ),
}


@pytest.mark.parametrize("name", UNFINISHED)
def test_a_stage_that_reaches_its_limit_names_what_failed_before(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    printed, count, names = UNFINISHED[name]
    monkeypatch.setattr(console, "LOGS", tmp_path)
    (tmp_path / "printed").write_text(printed)
    stage = Stage("Slow tests", ("sh", "-c", "cat printed; sleep 600"), tmp_path, runner=getattr(stages, name))
    assert stages.check([stage], limit_s=2) == count
    shown = capsys.readouterr().out.splitlines()
    end = next(at for at, line in enumerate(shown) if line.endswith(" 2 s."))
    assert shown[end + 1 : end + 1 + len(names)] == names
    assert shown[end + 1 + len(names)].endswith(stages.LIMIT_REACHED)


def test_a_stage_that_says_nothing_until_its_limit_has_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "LOGS", tmp_path)
    for runner in (None, stages.PYTEST):
        stage = Stage("Silent", ("sleep", "600"), tmp_path, runner=runner)
        assert stages.check([stage], limit_s=0.1) == Count(failed=1)


def test_a_stage_that_measures_time_runs_when_all_others_have_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "LOGS", tmp_path / "logs")
    timed = Stage("Timed", ("sh", "-c", "echo >> timed; [ -e light ] && [ -e heavy ]"), tmp_path, is_timed=True)
    light = Stage("Light", ("sh", "-c", "sleep 0.5; touch light"), tmp_path, is_light=True)
    heavy = Stage("Heavy", ("sh", "-c", "sleep 0.5; touch heavy"), tmp_path)
    assert stages.check([timed, light, heavy]) == Count(3)
    assert (tmp_path / "timed").read_text() == "\n"


@pytest.fixture
def counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """Give a stage that reads a folder, checks what is in it, and notes each of its runs."""
    for name in ("ROOT", "LOGS", "STAMPS"):
        monkeypatch.setattr(console, name, tmp_path if name == "ROOT" else tmp_path / name.lower())
    for name in stages.FRESH:
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "one").write_text("good")
    fail = "{ echo '6 passed, 1 failed'; exit 1; }"
    check = f"echo run >> runs; [ ! -e broken ] && grep -q good source/one && echo '7 passed, 0 failed' || {fail}"
    return Stage("Counted", ("sh", "-c", check), tmp_path, runner=stages.BROWSER, reads=(tmp_path / "source",))


def _runs(stage: Stage) -> int:
    return len((stage.folder / "runs").read_text().splitlines())


def test_a_green_stage_is_counted_and_not_run_again_until_what_it_reads_changes(
    counted: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (stages.check([counted]), _runs(counted)) == (Count(7), 1)
    capsys.readouterr()
    assert (stages.check([counted]), _runs(counted)) == (Count(7), 1)
    table = capsys.readouterr().out.splitlines()[-2:]
    assert table[0].startswith("Counted")
    assert stages.STORED in table[0]
    assert table[1].startswith("7 ")
    (counted.folder / "source" / "two").write_text("new")
    assert (stages.check([counted]), _runs(counted)) == (Count(7), 2)


def test_a_stage_that_fails_runs_again_though_it_was_green_with_the_same_files(
    counted: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stages.check([counted])
    (counted.folder / "source" / "one").write_text("bad")
    assert stages.check([counted]) == Count(6, 1)
    assert (stages.check([counted]), _runs(counted)) == (Count(6, 1), 3)
    (counted.folder / "source" / "one").write_text("good")
    assert (stages.check([counted]), _runs(counted)) == (Count(7), 4)
    # What no digest sees.
    (counted.folder / "broken").touch()
    monkeypatch.setenv(stages.FRESH[0], "1")
    assert stages.check([counted]) == Count(6, 1)
    monkeypatch.delenv(stages.FRESH[0])
    assert (stages.check([counted]), _runs(counted)) == (Count(6, 1), 6)


@pytest.mark.parametrize("name", [*stages.FRESH, "SEEKLAB_SEED"])
def test_a_green_stage_runs_again_when_the_environment_says_so(
    name: str, counted: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stages.check([counted])
    monkeypatch.setenv(name, "1")
    assert (stages.check([counted]), _runs(counted)) == (Count(7), 2)


def test_a_stage_whose_files_change_under_way_is_not_green(counted: Stage) -> None:
    command = ("sh", "-c", f"{counted.command[2]}; echo >> source/one")
    editing = replace(counted, command=command)
    assert stages.check([editing]) == Count(7)
    (counted.folder / "source" / "one").write_text("good")
    assert (stages.check([editing]), _runs(editing)) == (Count(7), 2)


def test_prose_and_web_leave_the_rust_stages_green() -> None:
    rust = [stage for stage in (*stages.LINT, *stages.TESTS, stages.RUST_DOCUMENTATION) if stage.command[0] == "cargo"]
    assert len(rust) == 5
    elsewhere = ("README.md", "docs/instructor/README.md", "notebooks", "web/src", "engine/python")
    for stage in rust:
        for path in map(console.ROOT.joinpath, elsewhere):
            assert path.exists()
            assert not any(path.is_relative_to(top) or top.is_relative_to(path) for top in stage.reads), stage.title


def test_web_stages_read_all_files_that_web_code_imports_from_other_folders() -> None:
    sources = [path for folder in ("src", "test", "vite") for path in (steps.WEB / folder).rglob("*.ts")]
    imported = {
        (path.parent / name).resolve()
        for path in sources
        for name in re.findall(r'"((?:\.\./)+[^"?]+)(?:\?\w+)?"', path.read_text())
    }
    elsewhere = {path for path in imported if path.is_file() and not path.is_relative_to(steps.WEB)}
    elsewhere = {path for path in elsewhere if not path.is_relative_to(steps.GLUE)}  # made of what the stages read
    assert console.ROOT / "engine" / "validation" / "oracles.json" in elsewhere
    web = [stage for stage in (*stages.LINT, *stages.TESTS) if stage.title.startswith(("Web", "Browser"))]
    assert len(web) == 5
    for stage in web:
        unread = {path for path in elsewhere if not any(path.is_relative_to(top) for top in stage.reads)}
        assert unread == set(), stage.title


def test_a_light_stage_runs_beside_the_others_and_the_table_keeps_the_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(console, "LOGS", tmp_path)
    # Each waits for the other to have begun.
    wait = "touch {}; for i in $(seq 200); do [ -e {} ] && exit 0; sleep 0.05; done; exit 1"
    light = Stage("Light", ("sh", "-c", wait.format("light", "heavy")), tmp_path, is_light=True)
    heavy = Stage("Heavy", ("sh", "-c", wait.format("heavy", "light")), tmp_path)
    failing = Stage("Failing", ("false",), tmp_path, is_light=True)
    assert stages.check([light, failing, heavy]) == Count(2, 1)
    table = [line.split()[0] for line in capsys.readouterr().out.splitlines()[-3:]]
    assert table == ["Light", "Failing", "Heavy"]


def test_lines_of_routine_are_logged_and_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(console, "LOGS", tmp_path)
    told = "test one ... ok\ntest two ... FAILED\ntest result: FAILED. 1 passed; 1 failed; 0 ignored"
    stage = Stage("Short", (sys.executable, "-c", f"print({told!r}); exit(101)"), tmp_path, runner=stages.CARGO)
    assert stages.check([stage]) == Count(1, 1)
    shown = capsys.readouterr().out
    assert "test two ... FAILED" in shown
    assert "test one" not in shown
    assert (tmp_path / "short.log").read_text() == told + "\n"


def test_what_stores_numbers_for_the_tests_starts_without_the_scripts() -> None:
    program = "import fact_ranges, fingerprints, reference_pages"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([sys.executable, "-B", "-c", program], cwd=SCRIPTS.parent / "tests", env=environment, check=True)


def test_steps_stand_after_those_they_need() -> None:
    for needed in (steps.FOR_LAB, steps.FOR_SITE, steps.FOR_FORMAT, steps.FOR_LINT, steps.FOR_TESTS):
        names = {step.name for step in needed}
        before: set[str] = set()
        for step in needed:
            assert names & set(step.needs) <= before, step.name
            before.add(step.name)


@pytest.mark.parametrize("verb", ["FOR_LAB", "FOR_SITE", "FOR_LINT", "FOR_TESTS", "FOR_FULL"])
def test_a_step_that_needs_others_waits_for_one_of_the_same_verb(verb: str) -> None:
    chosen = getattr(steps, verb)
    names = {step.name for step in chosen}
    assert [step.name for step in chosen if step.needs and not names & set(step.needs)] == []


def test_an_edited_case_makes_a_library_and_what_carries_it_and_compiles_nothing() -> None:
    case = steps.ENGINE / "cases" / "odx-prefetch.toml"

    def reads_case(step: console.Step) -> bool:
        return any(case.is_relative_to(path) for path in step.reads)

    assert [step.name for step in steps.FOR_TESTS if reads_case(step)] == [
        *("library", "widget", "wheel", "browser-lab", "docs", "site"),
    ]


def test_every_crate_of_the_workspace_is_among_the_sources() -> None:
    workspace = tomllib.loads((steps.ENGINE / "Cargo.toml").read_text())["workspace"]
    assert workspace["default-members"] == [*steps.CRATES, "tool"]
    assert workspace["members"] == [*workspace["default-members"], "benches"]
    (lint,) = (stage for stage in stages.LINT if "clippy" in stage.command)
    for stage in (lint, stages.RUST_DOCUMENTATION):
        assert "--workspace" in stage.command  # what measures is not among the default members
    for member in workspace["members"]:
        assert steps.ENGINE / member in stages.RUST_SOURCES


@pytest.fixture
def playground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Serve a small site as `make play` does; give its port."""
    site = tmp_path / "dist"
    (site / "assets").mkdir(parents=True)
    (site / "index.html").write_text("front")
    (site / "404.html").write_text("no such page")
    (site / "assets" / "a.js").write_text("1")
    monkeypatch.setattr(play, "WEB", tmp_path)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(play.Handler, directory=str(site))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@pytest.mark.parametrize(
    ("path", "status", "body"),
    [
        ("/", 200, "front"),
        ("/assets/a.js", 200, "1"),
        ("/nowhere.html", 404, "no such page"),
        ("/assets", 301, ""),
        ("/assets/", 404, "no such page"),
        ("/a/b.html", 302, ""),
        ("/../../etc/passwd", 302, ""),
    ],
)
def test_the_playground_lists_no_folder_and_answers_with_a_page_where_there_is_none(
    playground: int, path: str, status: int, body: str
) -> None:
    connection = HTTPConnection("127.0.0.1", playground, timeout=10)
    connection.request("GET", path)
    answer = connection.getresponse()
    assert (answer.status, answer.read().decode()) == (status, body)
    connection.close()


@pytest.mark.parametrize(
    ("query", "policy"),
    [("", "frame-ancestors 'self'"), ("?embed=1", None), ("?embed=2&embed=1", "frame-ancestors 'self'")],
)
def test_only_embedded_pages_may_be_framed(playground: int, query: str, policy: str | None) -> None:
    connection = HTTPConnection("127.0.0.1", playground, timeout=10)
    connection.request("GET", f"/index.html{query}")
    assert connection.getresponse().getheader("Content-Security-Policy") == policy
    connection.close()
