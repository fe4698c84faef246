"""The course as a learner meets it: gates before answers, turns that are checked, copies without solutions."""

from __future__ import annotations

import ast
import json
import linecache
import os
import re
import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from seeklab import SeeklabError
from seeklab.cli.course import course as open_course
from seeklab.course.copies import BEGIN, END, learners_copy, write_course
from seeklab.course.tasks import tasks
from seeklab.judge import catalogue
from seeklab.judge.practice import Practice, StoppedError
from seeklab.notebook._gate import OF_QUESTION, OF_TURN
from seeklab.notebook._turn import OF_BOX, OF_DOTS
from sentences import numbers

if TYPE_CHECKING:
    from conftest import CommandLine

notebook = pytest.importorskip("seeklab.notebook", reason="anywidget is not installed; `make lab` installs it")
MIME = pytest.importorskip("seeklab.notebook._stored").MIME

ROOT = Path(__file__).parents[1]
COURSE = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test a learner's folder, with gates as learners have them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SEEKLAB_GATES", raising=False)
    monkeypatch.setattr("seeklab.notebook._gate._waiting_turns", {})
    monkeypatch.setattr("seeklab.notebook._gate._shown_turns", set())
    monkeypatch.setattr("seeklab.notebook._gate._opened_cells", set())
    monkeypatch.setattr("seeklab.notebook._gate._early_turns", {})


def question(name: str = "q") -> Any:
    return notebook.Prediction("How much?", lambda: 10.0, name=name, low=1, high=100, scale="log")


def kept() -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads(Path("commits.json").read_text(encoding="utf-8"))
    return entries


def test_a_cell_behind_a_question_waits_until_it_is_answered() -> None:
    asked = question()
    with pytest.raises(notebook.NotYetError, match=re.escape(OF_QUESTION)):
        notebook.after(asked)
    asked.commit(5)
    notebook.after(asked)


def test_the_refusal_of_a_gate_is_a_sentence_without_a_traceback() -> None:
    told = notebook.NotYetError("Not yet.")._render_traceback_()
    assert told == ["Not yet."]


def test_a_question_that_is_skipped_opens_its_gate_and_is_recorded_as_skipped() -> None:
    asked = question()
    asked.skip()
    notebook.after(asked)
    (entry,) = kept()
    assert (entry["id"], entry["value"], entry["skipped"]) == ("q", None, True)


def test_a_commitment_is_kept_with_its_confidence_and_whether_it_was_near() -> None:
    question("a").commit(8, confidence=90)
    question("b").commit(90, confidence=90)
    first, second = kept()
    assert (first["id"], first["confidence"], first["near"], first["skipped"]) == ("a", 90, True, False)
    assert first["value"] == pytest.approx(8, rel=0.05)
    assert second["near"] is False
    assert "90%            2            1      50%" in repr(notebook.calibration())


def test_confidence_starts_at_no_idea_which_is_that_of_a_guess() -> None:
    asked = notebook.Prediction("Which?", lambda: "b", name="which", choices=["a", "b", "c", "d"])
    asked.commit("a")
    question("number").commit(5)
    assert [entry["confidence"] for entry in kept()] == [25, 0]


def test_a_typed_number_stays_as_typed() -> None:
    asked = question()
    asked._input.value = 37.123  # noqa: SLF001 -- as a learner types
    asked.commit()
    assert asked.value == 37.123


@pytest.mark.parametrize(
    ("scale", "unit", "high", "given", "actual", "near"),
    [
        ("log", "s", 1000, 70, 100, True),
        ("log", "s", 1000, 60, 100, False),
        ("log", "%", 100, 70, 100, False),
        ("log", "%", 100, 0.7, 1, True),
        ("log", "x", 100, 0.78, 1, False),
        ("log", "x", 100, 3, 4, True),
        ("linear", "x", 2, 0.78, 1, False),
        ("linear", "points", 100, 45, 50, True),
    ],
)
def test_how_near_is_right_depends_on_the_kind_of_question(
    scale: str, unit: str, high: float, given: float, actual: float, *, near: bool
) -> None:
    asked = notebook.Prediction("How?", lambda: actual, name="near", low=0.01, high=high, scale=scale, unit=unit)
    asked.commit(given)
    assert kept()[0]["near"] is near


def test_each_check_of_a_task_is_recorded_and_a_solved_one_cannot_be_skipped() -> None:
    hint, skip = notebook.turn("tail/late").children[1].children
    notebook.check("tail/late", lambda share, servers: share * servers)
    hint.click()
    notebook.check("tail/late", lambda share, servers: 1 - (1 - share) ** servers)
    skip.click()
    rows = [{name: entry[name] for name in ("id", "kind", "attempt", "ok", "code", "hints")} for entry in kept()]
    assert rows == [
        {"id": "turn/tail/late", "kind": "turn", "attempt": 1, "ok": False, "code": "sum", "hints": 0},
        {"id": "turn/tail/late", "kind": "turn", "attempt": 2, "ok": True, "code": "", "hints": 1},
    ]
    assert "skipped" not in repr(notebook.calibration())


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_a_check_that_is_stopped_shows_no_frame_with_the_answer(stop: type[BaseException]) -> None:
    def interrupted(_share: float, _servers: int) -> float:
        raise stop

    with pytest.raises(Exception, match="Stopped") as stopped:
        notebook.check("tail/late", interrupted)
    error: Any = stopped.value
    assert error._render_traceback_() == [str(error)]
    assert not Path("commits.json").exists()


def test_a_check_of_an_exercise_that_is_stopped_shows_no_frame_with_the_answer() -> None:
    def interrupted(_system: object) -> float:
        raise KeyboardInterrupt

    exercise = Practice(catalogue.assignment("flash-reserve"))
    with pytest.raises(StoppedError) as stopped:
        exercise.check("check-own", "Ada", rule=interrupted)
    assert stopped.value._render_traceback_() == [str(stopped.value)]


def test_what_was_committed_before_is_remembered_and_the_first_commitment_stands() -> None:
    question().commit(5)
    again = question()
    assert not again.is_open
    again.commit(50)
    assert again.value == pytest.approx(5, rel=0.05)
    assert len(kept()) == 1


def test_an_answer_is_kept_where_the_system_has_no_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", ModuleType("fcntl"))  # Pyodide's module has no functions
    question().commit(5)
    assert len(kept()) == 1


def test_a_folder_that_cannot_be_written_loses_nothing_but_the_file(tmp_path: Path) -> None:
    Path("commits.json").mkdir()
    asked = question("unwritten")
    asked.commit(5)
    notebook.after(asked)
    assert "commits.json" in asked._told.value  # noqa: SLF001 -- what the reader sees
    assert list(tmp_path.iterdir()) == [tmp_path / "commits.json"]


@pytest.mark.parametrize("text", ["", "{", '{"id": 1}', "[1, null, []]", "[" * 10_000])
def test_a_broken_record_of_commitments_stops_nothing(text: str) -> None:
    Path("commits.json").write_text(text, encoding="utf-8")
    asked = question("broken record")
    asked.commit(5)
    notebook.after(asked)
    assert kept()[-1]["id"] == "broken record"
    aside = Path("commits.json.broken")
    assert aside.exists() == (text != "[1, null, []]")
    assert not aside.exists() or aside.read_text(encoding="utf-8") == text


COMMIT = """
from seeklab import _commitments as kept
for n in range({n}):
    kept.keep(kept.Commitment(f'{who}{{n}}', {value}))
"""


def committing(who: str, n: int, value: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", COMMIT.format(who=who, n=n, value=value)])


@pytest.mark.skipif(sys.platform == "win32", reason="there is no lock of a folder")
def test_two_notebooks_at_once_lose_no_commitment() -> None:
    for one in [committing(who, 60, "1.0") for who in "ab"]:
        assert one.wait() == 0
    assert len({entry["id"] for entry in kept()}) == 120


def test_a_notebook_that_is_killed_leaves_a_whole_record() -> None:
    for _ in range(3):
        one = committing("x", 100_000, "'v' * 2000")
        while not Path("commits.json").exists() or Path("commits.json").stat().st_size < 50_000:
            assert one.poll() is None
        one.kill()
        one.wait()
        assert kept()[0]["id"] == "x0"
        Path("commits.json").unlink()


@pytest.mark.skipif(sys.platform == "win32", reason="limits are POSIX's")
def test_what_does_not_fit_on_the_disk_leaves_what_was_there(tmp_path: Path) -> None:
    question("first").commit(5)
    before = Path("commits.json").read_text(encoding="utf-8")
    # A limit on the size of files ends a write as a full disk does, in the middle.
    code = (
        "import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({len(before) + 50}, {len(before) + 50}))\n"
        "from pathlib import Path\nfrom seeklab import SeeklabError, _commitments as kept\n"
        "from seeklab.course.copies import write_course\n"
        "assert kept.keep(kept.Commitment('second', 'v' * 500)) is False\n"
        "try: write_course(Path('course'))\n"
        "except SeeklabError: pass\n"
        "else: raise AssertionError\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert Path("commits.json").read_text(encoding="utf-8") == before
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / "commits.json"]


def value_of(code: str, scope: dict[str, Any]) -> object:
    """Run code and give the value of the last name that it assigns or defines."""
    last = ast.parse(code).body[-1]
    if isinstance(last, ast.Assign):
        (target,) = last.targets
        assert isinstance(target, ast.Name), code
        name = target.id
    else:
        assert isinstance(last, ast.FunctionDef), code
        name = last.name
    exec(code, scope)  # noqa: S102 -- our own answers
    return scope[name]


SOLUTIONS = {
    name: solution
    for path in COURSE
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
    for solution, name in re.findall(rf'{BEGIN}\n(.*?){END}.*?check\("([^"]+)"', "".join(cell["source"]), re.DOTALL)
}
"""What stands between the marks of a notebook's turns; that each passes its check is in the stored outputs."""


def test_every_task_is_in_a_notebook() -> None:
    assert set(SOLUTIONS) == set(tasks())


@pytest.mark.parametrize("name", sorted(tasks()))
def test_the_answer_after_the_hints_passes_its_check_or_is_the_notebooks_own_solution(name: str) -> None:
    task = tasks()[name]
    assert notebook.check(name, ...).passed is None
    if task.setup:
        scope: dict[str, Any] = {}
        exec(task.setup, scope)  # noqa: S102 -- our own code
        checked = notebook.check(name, value_of(task.answer, scope))
        assert checked.passed, checked
        return
    answer, solution = ([ast.dump(line) for line in ast.parse(code).body] for code in (task.answer, SOLUTIONS[name]))
    shared = min(len(answer), len(solution))
    assert answer[-shared:] == solution[-shared:]


@pytest.mark.parametrize("reserved", ["because", "hints"])
def test_what_a_learner_saves_holds_no_field_that_gives_an_answer(
    reserved: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = notebook.Prediction("Which?", lambda: "b", name="which", choices=["a", "b"], because={"a": "No."})
    shown = {"because": asked, "hints": notebook.turn("odx/shapes")}[reserved]
    learners = shown._repr_mimebundle_()
    monkeypatch.setenv("SEEKLAB_GATES", "open")
    assert set(shown._repr_mimebundle_()[MIME]) - set(learners[MIME]) == {reserved}
    assert "application/vnd.jupyter.widget-view+json" in learners


def run_cell(text: str, nth: int = 0, **names: object) -> None:
    """Run a cell as IPython does: compiled under a name by which Python finds its text."""
    file = f"<cell {text} {nth}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), {"after": notebook.after, "turn": notebook.turn, **names})  # noqa: S102


def test_a_turn_waits_until_something_is_written_or_it_is_skipped() -> None:
    hint, skip = notebook.turn("odx/shapes").children[1].children
    assert repr(notebook.check("odx/shapes", ...)) == OF_DOTS
    assert hint.description == "Hint"
    skip.click()
    assert repr(notebook.check("odx/shapes", ...)) == "Skipped."
    assert kept()[-1]["id"] == "turn/odx/shapes"


def test_a_cell_behind_a_turn_waits_even_when_the_kernel_reaches_it_before_it_heeds_the_stop() -> None:
    asked = question()
    asked.commit(5)
    notebook.turn("odx/shapes")
    assert notebook.check("odx/shapes", ...).passed is None
    with pytest.raises(notebook.NotYetError, match=re.escape(OF_TURN)):
        notebook.after(asked)
    assert notebook.check("odx/shapes", 5).passed is False
    notebook.after(asked)


def test_a_turn_that_is_skipped_opens_the_cells_behind_it_at_once() -> None:
    _, skip = notebook.turn("odx/phases").children[1].children
    assert notebook.check("odx/phases", ...).passed is None
    skip.click()
    notebook.after()


def test_a_turn_that_the_kernel_reaches_before_its_box_was_shown_keeps_nothing_closed() -> None:
    assert repr(notebook.check("odx/covered", ...)) == OF_BOX  # far below a question that is open
    run_cell("after(); turn('odx/shapes')")


def test_cells_above_a_turn_that_waits_can_be_run_again_and_so_can_its_box() -> None:
    above, box, below = "after(); 1", "after(); turn('odx/shapes')", "after(); 2"
    run_cell(above)
    run_cell(box)
    assert notebook.check("odx/shapes", ...).passed is None
    run_cell(above, nth=1)
    run_cell(box, nth=1)
    with pytest.raises(notebook.NotYetError, match=re.escape(OF_TURN)):
        run_cell(below)


def test_a_cell_that_was_open_closes_again_with_a_question_that_is_asked_anew() -> None:
    cell = "after(asked)"
    answered = question()
    answered.commit(5)
    run_cell(cell, asked=answered)
    with pytest.raises(notebook.NotYetError, match=re.escape(OF_QUESTION)):
        run_cell(cell, nth=1, asked=question("another"))


def test_a_turn_gives_three_hints_and_then_the_answer() -> None:
    _, buttons, given = notebook.turn("odx/shapes").children
    hint, _ = buttons.children
    for _ in range(4):
        assert not hint.disabled
        hint.click()
    assert hint.disabled
    assert (given.value.count("<p "), given.value.count("<pre ")) == (3, 1)
    assert "Counter(" in given.value


@pytest.mark.parametrize("name", sorted(tasks()))
@pytest.mark.parametrize("answer", [None, 0, "x", [], {}, [[1]], {"a": None}, float("nan"), lambda: 1])
def test_a_task_answers_a_value_of_the_wrong_kind_in_a_sentence(name: str, answer: object) -> None:
    checked = notebook.check(name, answer)
    assert not checked.passed
    assert "Traceback" not in repr(checked)


@pytest.mark.parametrize("path", COURSE, ids=lambda path: path.stem)
def test_a_learners_copy_has_neither_outputs_nor_solutions(path: Path) -> None:
    copy = json.loads(learners_copy(path.read_text(encoding="utf-8")))
    code = [cell for cell in copy["cells"] if cell["cell_type"] == "code"]
    assert [cell for cell in code if cell["outputs"] or cell["execution_count"]] == []
    assert BEGIN not in json.dumps(copy)


def test_the_course_is_written_once_and_never_over_a_learners_work(tmp_path: Path) -> None:
    first = write_course(tmp_path / "course")
    assert len(first.fresh) > len(COURSE)
    assert first.first is not None
    first.first.write_text("mine", encoding="utf-8")
    again = write_course(tmp_path / "course")
    assert again.fresh == ()
    assert first.first.read_text(encoding="utf-8") == "mine"


def test_the_command_writes_the_course_and_says_where(command_line: CommandLine, tmp_path: Path) -> None:
    done = command_line("course", str(tmp_path / "mine"), "--no-open")
    assert done.returncode == 0
    assert numbers(done.stdout)[0] == str(len(list((tmp_path / "mine").rglob("*.ipynb"))))
    again = command_line("course", str(tmp_path / "mine"), "--no-open")
    assert numbers(again.stdout)[0] == "0"


@pytest.mark.skipif(os.name != "posix", reason="accounts with numbers are POSIX's")
@pytest.mark.parametrize(("account", "told"), [(0, ["--allow-root"]), (1000, [])], ids=["root", "somebody"])
def test_the_lab_opens_on_the_first_notebook_for_root_too(
    account: int, told: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = tmp_path / "called"
    lab = tmp_path / "jupyter-lab"
    lab.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {called}\n', encoding="utf-8")
    lab.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(os, "geteuid", lambda: account)
    options = Namespace(folder=str(tmp_path / "mine"), json=False, no_open=False)
    assert open_course(options) == 0
    *flags, first = called.read_text(encoding="utf-8").split()
    assert flags == told
    assert first.endswith("00-start.ipynb")


@pytest.mark.skipif(os.name != "posix", reason="/dev/null is no folder on POSIX alone")
def test_a_folder_that_cannot_be_made_is_told_in_a_sentence() -> None:
    with pytest.raises(SeeklabError, match="/dev/null/course"):
        write_course(Path("/dev/null/course"))
