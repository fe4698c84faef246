"""Hostile submissions: none escapes, none changes another's grade, each gets a grade and a sentence."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import exercises
from conftest import GIVE_UP_S
from hostile.submissions import BAD_FILES, GOOD, MARK, PREDICTION, SUBMISSIONS, Submission, notebook
from seeklab.judge import jail
from seeklab.judge.grading import Work, grade
from seeklab.judge.identity import SECRET_VARIABLE, Course

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the jail is Linux's")

SECONDS = 4
"""For a submission's code; those that take all of it are ended."""
MEMORY_MIB = 400
IS_FULL = os.environ.get("SEEKLAB_FULL") == "1"
NEIGHBOUR = "neighbour"
ALL = (*SUBMISSIONS, *BAD_FILES)
HONEST = Submission("honest", "answers", {"choice": GOOD, "prediction": PREDICTION})


def handed_in(folder: Path, submission: Submission, student: str) -> Path:
    path = folder / student / submission.assignment / f"{submission.assignment}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_bytes(notebook(submission, student))
    return path


def digests(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith("grades.db")
    }


@pytest.fixture(scope="module")
def course_folder(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, Any]]]:
    """Grade everybody, hostile and honest, by the command line; give the folder and the grades."""
    folder = tmp_path_factory.mktemp("class")
    instructor = tmp_path_factory.mktemp("instructor")
    submitted = folder / "submitted"
    for submission in ALL:
        handed_in(submitted, submission, submission.name)
    handed_in(submitted, HONEST, NEIGHBOUR)
    (folder / "nbgrader_config.py").write_text(f"# {MARK}\n")
    (folder / "solutions").mkdir()
    (folder / "solutions" / "all.txt").write_text(MARK)
    (submitted / NEIGHBOUR / "notes.txt").write_text(MARK)
    (instructor / "mine.txt").write_text(MARK)
    before = digests(folder)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "seeklab.cli", "grade", "submitted", "--json", "--jobs", "3"),
            *("--seconds", str(SECONDS), "--memory", str(MEMORY_MIB), "--secret", str(instructor / "secret")),
        ],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=GIVE_UP_S,
        check=False,
        env={**os.environ, "OWN_SECRET": MARK},
    )
    assert done.returncode == 0, done.stderr
    assert digests(folder) == before, "a submission has changed what lies beside it"
    return folder, json.loads(done.stdout)


@pytest.mark.parametrize("submission", ALL, ids=[submission.name for submission in ALL])
def test_a_hostile_submission_gets_its_grade_and_a_sentence(
    course_folder: tuple[Path, list[dict[str, Any]]], submission: Submission
) -> None:
    (graded,) = (one for one in course_folder[1] if one["student"] == submission.name)
    least, most = submission.points
    assert least <= graded["score"] <= most, graded
    assert all(task["reason"] for task in graded["tasks"])
    assert all(task["verdict"] in {"pass", "fail", "cannot tell"} for task in graded["tasks"])
    assert submission.told in json.dumps(graded), graded
    assert MARK not in json.dumps(graded)
    assert not any("the judge could not" in flag for flag in graded["flags"]), graded["flags"]


def test_nobody_changes_the_neighbours_grade(course_folder: tuple[Path, list[dict[str, Any]]]) -> None:
    (graded,) = (one for one in course_folder[1] if one["student"] == NEIGHBOUR)
    assert (graded["score"], graded["flags"]) == (9, [])
    assert len(course_folder[1]) == len(ALL) + 1


def processes_of(users: range) -> list[int]:
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            status = (place / "status").read_text()
            if int(status.partition("\nUid:")[2].split()[0]) in users:
                found.append(int(place.name))
        except OSError:
            continue
    return found


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's jails have users of their own to count by")
def test_nothing_of_a_submission_lives_on(tmp_path: Path) -> None:
    (survivor,) = (submission for submission in SUBMISSIONS if submission.name == "survivor")
    path = handed_in(tmp_path, survivor, "survivor")
    graded = grade(Work("survivor", "disk-time", str(path)), Course(b"s" * 32), jail.Jail())
    assert graded.score == graded.max_score
    assert processes_of(range(jail.FIRST_UID, jail.FIRST_UID + jail.UIDS)) == []


def cells(*sources: str) -> list[dict[str, Any]]:
    return [{"kind": "own", "label": f"cell {nth}", "source": source} for nth, source in enumerate(sources)]


def test_the_jail_has_no_rights_and_no_sight() -> None:
    looks = """
import os
status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
seen = {
    "uid": os.getuid(),
    "rights": int(status["CapEff"], 16) + int(status["CapPrm"], 16),
    "no new rights": int(status["NoNewPrivs"]),
    "processes": len([name for name in os.listdir("/proc") if name.isdigit()]),
    "homes": [name for name in os.listdir("/") if name in ("home", "srv", "opt", "var", "mnt", "boot")],
    "beside": os.listdir("."),
}
"""
    seen = jail.answers_of(jail.Jail(), cells(looks), {"seen": False}).values["seen"]
    assert seen["uid"] != 0
    assert seen["rights"] == 0
    assert seen["no new rights"] == 1
    assert seen["processes"] == 1
    assert seen["homes"] == []
    assert seen["beside"] == []


def test_without_bubblewrap_nothing_is_run_and_the_reader_is_told_how(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    jail._bubblewrap.cache_clear()  # noqa: SLF001 -- it looks once
    with pytest.raises(jail.JailError, match=r"apt-get install bubblewrap.*--unsafe"):
        jail.answers_of(jail.Jail(), cells("x = 1"), {"x": False})
    monkeypatch.undo()
    jail._bubblewrap.cache_clear()  # noqa: SLF001


def test_answers_before_a_stop_are_kept() -> None:
    check = {"kind": "check", "label": "check", "source": "", "gives": ["first"]}
    stopped = [*cells("first = 1"), check, *cells("import os\nsecond = 2\nos._exit(0)")]
    told = jail.answers_of(jail.Jail(), stopped, {"first": False, "second": False})
    assert told.values == {"first": 1}
    assert "ended the interpreter" in told.reasons["second"]


def test_an_answer_counts_as_it_stands_at_its_check_and_only_what_it_needs_is_run() -> None:
    check = {"kind": "check", "label": "check", "source": "", "gives": ["fix"]}
    told = jail.answers_of(
        jail.Jail(),
        [*cells("fix = {}", "%matplotlib inline\nfix['a'] = helper = 1", "raise ValueError"), check, *cells("fix = 9")],
        {"fix": False},
    )
    assert told.values == {"fix": {"a": 1}}
    assert told.wrong == {}, "the third cell has no part in the answer"


# By nbgrader's own command line


def by_nbgrader(folder: Path, submissions: list[Submission]) -> dict[str, dict[str, float]]:
    """Let nbgrader's command line grade submissions; give the scores of each."""
    from nbgrader.api import Gradebook  # noqa: PLC0415 -- the tests above do without it

    course = exercises.course_copy(folder)
    os.environ[SECRET_VARIABLE] = str(folder.parent / f"{folder.name}-secret")
    found: dict[str, dict[str, float]] = {}
    for assignment in sorted({submission.assignment for submission in submissions}):
        told = exercises.nbgrader(course, "generate_assignment", assignment, "--create", "--force")
        assert told.returncode == 0, told.stdout
        for submission in submissions:
            if submission.assignment == assignment:
                handed_in(course / ".grading" / "submitted", submission, submission.name)
        before = digests(course / "solutions")
        limits = (f"--Judge.seconds={SECONDS}", f"--Judge.memory_mib={MEMORY_MIB}")
        told = exercises.nbgrader(course, "autograde", assignment, "--force", *limits)
        assert "error processing" not in told.stdout, told.stdout
        assert digests(course / "solutions") == before
    with Gradebook(f"sqlite:///{course / '.grading' / 'gradebook.db'}") as gradebook:
        for submission in submissions:
            name = submission.assignment
            grades = gradebook.find_submission_notebook(name, name, submission.name).grades
            found[submission.name] = {grade.name: grade.score for grade in grades}
    return found


SOME = ("checks-replaced", "judge-patched", "gradebook-written", "exit-at-once")


def test_nbgraders_command_line_gives_each_its_grade(tmp_path: Path) -> None:
    pytest.importorskip("nbgrader", reason="nbgrader is not installed; `make lab` installs it")
    some = [one for one in SUBMISSIONS if IS_FULL or one.name in SOME]
    scores = by_nbgrader(tmp_path / "course", [*some, HONEST])
    assert sum(scores["honest"].values()) == 9
    for submission in some:
        least, most = submission.points
        assert least <= sum(scores[submission.name].values()) <= most, submission.name
