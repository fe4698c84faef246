"""Hostile submissions: none escapes, none changes another's grade, each gets a grade and a sentence."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import exercises
from conftest import GIVE_UP_S
from hostile.places import PLACES, Place
from hostile.submissions import BAD_FILES, GOOD, MARK, PREDICTION, SUBMISSIONS, Submission, notebook
from seeklab.judge import grading, sandbox
from seeklab.judge.grading import NOT_JUDGED, Work, grade
from seeklab.judge.identity import SECRET_VARIABLE, Course
from seeklab.judge.printable import LONGEST, UNPRINTABLE
from seeklab.judge.sandbox import ENDED

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is Linux's")

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
    """Return the digest of each file but the grades, without going down where nobody else should either."""
    found: dict[str, str] = {}
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "deeper"]
        for path in (Path(place, name) for name in names if not name.startswith("grades.db")):
            if path.is_file():
                found[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


@dataclass
class Class:
    """A class that has been graded, by the command line."""

    folder: Path
    exports: Path
    graded: list[dict[str, Any]]
    secret: Path

    def of(self, student: str) -> dict[str, Any]:
        (graded,) = (one for one in self.graded if one["student"] == student)
        return graded

    def call(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        """Call seeklab in the class's folder."""
        return subprocess.run(
            [sys.executable, "-m", "seeklab.cli", *arguments],
            capture_output=True,
            cwd=self.folder,
            timeout=GIVE_UP_S,
            check=False,
            env={**os.environ, "OWN_SECRET": MARK},
        )

    def grade(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        """Grade the class, and write every export."""
        limits = ("--seconds", str(SECONDS), "--memory", str(MEMORY_MIB), "--jobs", "3", "--secret", str(self.secret))
        written = [
            part
            for form in ("feedback", "gradescope", "canvas", "moodle")
            for part in (f"--{form}", str(self.exports / form))
        ]
        return self.call("grade", "submitted", *limits, *written, *arguments)


@pytest.fixture(scope="module")
def hostile_class(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Class]:
    """Grade everybody, hostile and honest, in one call."""
    folder = tmp_path_factory.mktemp("class")
    instructor = tmp_path_factory.mktemp("instructor")
    submitted = folder / "submitted"
    for submission in ALL:
        handed_in(submitted, submission, submission.name)
    handed_in(submitted, HONEST, NEIGHBOUR)
    for place in PLACES:
        (submitted / place.student).mkdir()
        place.make(submitted / place.student)
    (folder / "nbgrader_config.py").write_text(f"# {MARK}\n")
    (folder / "solutions").mkdir()
    (folder / "solutions" / "all.txt").write_text(MARK)
    (submitted / NEIGHBOUR / "notes.txt").write_text(MARK)
    (instructor / "mine.txt").write_text(MARK)
    hostile_class = Class(folder, tmp_path_factory.mktemp("exports"), [], instructor / "secret")
    before = digests(folder)
    done = hostile_class.grade("--json")
    assert done.returncode == 0, done.stderr
    assert digests(folder) == before, "a submission has changed what lies beside it"
    hostile_class.graded = json.loads(done.stdout)
    yield hostile_class
    subprocess.run(["rm", "-rf", str(submitted)], check=True)  # some of it is deeper than Python can delete


@pytest.mark.parametrize("submission", ALL, ids=[submission.name for submission in ALL])
def test_a_hostile_submission_gets_its_grade_and_a_sentence(hostile_class: Class, submission: Submission) -> None:
    graded = hostile_class.of(submission.name)
    least, most = submission.points
    assert least <= graded["score"] <= most, graded
    assert all(task["reason"] for task in graded["tasks"])
    assert all(task["verdict"] in {"pass", "fail", "cannot tell"} for task in graded["tasks"])
    assert submission.told in json.dumps(graded), graded
    assert MARK not in json.dumps(graded)
    assert not any(NOT_JUDGED in flag for flag in graded["flags"]), graded["flags"]
    assert max(map(len, [*graded["flags"], *(task["reason"] for task in graded["tasks"])])) <= LONGEST + len("...")


@pytest.mark.parametrize("place", PLACES, ids=[ascii(place.student)[:40] for place in PLACES])
def test_hostile_files_and_folders_get_their_grade_and_a_flag(hostile_class: Class, place: Place) -> None:
    graded = hostile_class.of(place.shown)
    assert graded["score"] == place.points, graded
    assert bool(graded["flags"]) == bool(place.told)
    assert place.told in " ".join(graded["flags"])
    assert all(task["reason"] for task in graded["tasks"])


def test_nobody_changes_the_neighbours_grade(hostile_class: Class) -> None:
    graded = hostile_class.of(NEIGHBOUR)
    assert (graded["score"], graded["flags"]) == (9, [])
    assert len(hostile_class.graded) == len(ALL) + len(PLACES) + 1


def test_every_export_is_written_and_acts_on_no_terminal(hostile_class: Class) -> None:
    again = hostile_class.grade()
    assert (again.returncode, again.stderr) == (0, b"")
    report = hostile_class.call("desk", "--report", str(hostile_class.exports / "desk.html"))
    assert (report.returncode, report.stderr) == (0, b"")
    written = [path for path in hostile_class.exports.rglob("*") if path.is_file()]
    assert Counter(path.suffix for path in written) == {
        ".html": len(hostile_class.graded) + 1,
        ".json": len(hostile_class.graded),
        "": 2,
    }
    for text in (again.stdout.decode(), *(path.read_bytes().decode() for path in written)):
        assert set(UNPRINTABLE.findall(text)) <= set("\r\n\t")
    for name in ("canvas", "moodle"):
        with (hostile_class.exports / name).open(newline="", encoding="utf-8") as file:
            assert not any(cell.startswith(tuple("=\uff1d+-@\t\r")) for row in csv.reader(file) for cell in row)


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("\ud800"), RecursionError(), LookupError("\x1b")])
def test_whatever_grading_raises_is_one_grade(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise error

    for name in ("read_notebook", "grade_notebook"):
        monkeypatch.setattr(grading, name, stop)
        graded = grade(Work("ada", "disk-time", __file__), Course(b"s" * 32), sandbox.Sandbox())
        assert (graded.score, len(graded.verdicts), len(graded.flags)) == (0, 3, 1)
        monkeypatch.undo()


def processes_of(users: list[int]) -> list[int]:
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            status = (place / "status").read_text()
            if int(status.partition("\nUid:")[2].split()[0]) in users:
                found.append(int(place.name))
        except OSError:
            continue
    return found


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's sandboxes have users of their own to count by")
def test_nothing_of_a_submission_lives_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    users: list[int] = []

    def noted() -> tuple[int, object]:
        users.append(free()[0])
        return users[-1], None

    free = sandbox._free_uid  # noqa: SLF001 -- which user it was, others grade at the same time
    monkeypatch.setattr(sandbox, "_free_uid", noted)
    (survivor,) = (submission for submission in SUBMISSIONS if submission.name == "survivor")
    path = handed_in(tmp_path, survivor, "survivor")
    graded = grade(Work("survivor", "disk-time", str(path)), Course(b"s" * 32), sandbox.Sandbox())
    assert graded.score == graded.max_score
    assert users
    assert processes_of(users) == []


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
    seen = sandbox.answers_of(sandbox.Sandbox(), cells(looks), {"seen": False}).values["seen"]
    assert seen["uid"] != 0
    assert seen["rights"] == 0
    assert seen["no new rights"] == 1
    assert seen["processes"] == 1
    assert seen["homes"] == []
    assert seen["beside"] == []


def test_without_bubblewrap_nothing_is_run_and_the_reader_is_told_how(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    sandbox._bubblewrap.cache_clear()  # noqa: SLF001 -- it looks once
    with pytest.raises(sandbox.SandboxError, match=r"apt-get install bubblewrap.*--unsafe"):
        sandbox.answers_of(sandbox.Sandbox(), cells("x = 1"), {"x": False})
    monkeypatch.undo()
    sandbox._bubblewrap.cache_clear()  # noqa: SLF001


def test_answers_before_a_stop_are_kept() -> None:
    check = {"kind": "check", "label": "check", "source": "", "gives": ["first"]}
    stopped = [*cells("first = 1"), check, *cells("import os\nsecond = 2\nos._exit(0)")]
    told = sandbox.answers_of(sandbox.Sandbox(), stopped, {"first": False, "second": False})
    assert told.values == {"first": 1}
    assert ENDED in told.reasons["second"]


def test_an_answer_counts_as_it_stands_at_its_check_and_only_what_it_needs_is_run() -> None:
    check = {"kind": "check", "label": "check", "source": "", "gives": ["fix"]}
    told = sandbox.answers_of(
        sandbox.Sandbox(),
        [*cells("fix = {}", "%matplotlib inline\nfix['a'] = helper = 1", "raise ValueError"), check, *cells("fix = 9")],
        {"fix": False},
    )
    assert told.values == {"fix": {"a": 1}}
    assert told.wrong == {}, "the third cell has no part in the answer"


# By nbgrader's own command line


def by_nbgrader(folder: Path, submissions: list[Submission]) -> dict[str, dict[str, float]]:
    """Let nbgrader's command line grade submissions; give the scores of each."""
    from nbgrader.api import Gradebook

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
