"""Hostile submissions under nbgrader's own commands: a grade and a flag for each, and no script for the instructor."""

from __future__ import annotations

import json
import os
import pwd
import secrets
import shutil
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import exercises
import ports
from conftest import GIVE_UP_S
from hostile.by_nbgrader import HAND_INS, HTML, IMAGE, SCRIPT, HandIn, added
from seeklab.judge.identity import SECRET_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("nbgrader", reason="nbgrader is not installed; `make lab` installs it")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is Linux's")

ASSIGNMENT = "disk-time"
SOME = [one for one in HAND_INS if os.environ.get("SEEKLAB_FULL") == "1"] or HAND_INS[:2]
HONEST = HandIn("honest", "answers")
CONTROL = HandIn("control", "has its script put back after the grading")


@dataclass
class Class:
    """A course that was graded by nbgrader's commands."""

    folder: Path
    secret: Path
    scores: dict[str, dict[str, float]]
    pages: dict[str, str]
    """The formgrader's page of each student, by the end of its address."""

    def notebook(self, student: str, step: str = "autograded") -> Path:
        return self.folder / ".grading" / step / student / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Class]:
    """Grade everybody with nbgrader's command line, and write the feedback."""
    from nbgrader.api import Gradebook

    with pytest.MonkeyPatch.context() as patch:
        secret = tmp_path_factory.mktemp("instructor") / "secret"
        secret.write_text("5e" * 32)
        secret.chmod(0o600)
        patch.setenv(SECRET_VARIABLE, str(secret))
        folder = exercises.course_copy(tmp_path_factory.mktemp("class") / "course")
        told = exercises.nbgrader(folder, "generate_assignment", ASSIGNMENT, "--create")
        assert told.returncode == 0, told.stdout
        everybody = [*SOME, HONEST, CONTROL]
        for hand_in in everybody:
            hand_in.write(folder / ".grading" / "submitted")
        told = exercises.nbgrader(folder, "autograde", ASSIGNMENT)
        assert (told.returncode, "error processing" in told.stdout) == (0, False), told.stdout
        found = Class(folder, secret, {}, {})
        _put_a_script_back(found.notebook(CONTROL.name))
        told = exercises.nbgrader(folder, "generate_feedback", ASSIGNMENT)
        assert told.returncode == 0, told.stdout
        with Gradebook(f"sqlite:///{folder / '.grading' / 'gradebook.db'}") as gradebook:
            for hand_in in everybody:
                submitted = gradebook.find_submission_notebook(ASSIGNMENT, ASSIGNMENT, hand_in.name)
                found.scores[hand_in.name] = {grade.name: grade.score for grade in submitted.grades}
                found.pages[hand_in.name] = f"formgrader/submissions/{submitted.id}/"
        yield found
        # Neither pathlib nor shutil removes folders that are nested as deeply as one of the submissions.
        subprocess.run(["rm", "-rf", folder], check=True)


def _put_a_script_back(path: Path) -> None:
    document = json.loads(path.read_text())
    added("markdown", HTML)(document)
    path.chmod(0o644)
    path.write_text(json.dumps(document))


@pytest.mark.parametrize("hand_in", [*SOME, HONEST], ids=lambda one: one.name)
def test_nbgrader_gives_each_a_grade_and_a_flag(graded: Class, hand_in: HandIn) -> None:
    least, most = hand_in.points
    assert least <= sum(graded.scores[hand_in.name].values()) <= most
    assert set(graded.scores[hand_in.name]) == {"check-prediction", "check-users", "check-batch"}
    notes = [line for line in _outputs(graded.notebook(hand_in.name)) if line.startswith("note: ")]
    assert any(hand_in.told in line for line in notes) if hand_in.told else notes == []


def _outputs(path: Path) -> list[str]:
    cells = json.loads(path.read_text())["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", []) if output["output_type"] == "stream"]
    return "".join("".join(output["text"]) for output in outputs).splitlines()


def test_only_a_submissions_own_files_are_copied(graded: Class) -> None:
    copied = {path.name for path in (graded.folder / ".grading" / "autograded").rglob("*") if path.is_file()}
    assert copied == {f"{ASSIGNMENT}.ipynb"}
    kept = graded.secret.read_text()
    assert not [path for path in (graded.folder / ".grading" / "autograded").rglob("*.ipynb") if kept in _text(path)]


def _text(path: Path) -> str:
    return path.read_text(errors="replace")


@pytest.fixture
def course(graded: Class, tmp_path: Path) -> Path:
    """Give a copy of the course's folder and gradebook, in which nothing was handed in."""
    emptied = shutil.ignore_patterns("submitted", "set-aside", "autograded", "feedback")
    return Path(shutil.copytree(graded.folder, tmp_path / "course", ignore=emptied))


def test_another_secret_is_neither_made_nor_used(course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    HONEST.write(course / ".grading" / "submitted")
    monkeypatch.setenv(SECRET_VARIABLE, str(tmp_path / "secret"))
    told = exercises.nbgrader(course, "autograde", ASSIGNMENT)
    assert (told.returncode, (tmp_path / "secret").exists()) == (1, False)
    assert SECRET_VARIABLE in told.stdout


def test_a_student_whose_name_is_html_is_refused_and_the_others_are_graded(course: Path) -> None:
    from nbgrader.api import Gradebook

    for name in ("honest", IMAGE, "a\x1b[2J"):
        HandIn(name, "answers").write(course / ".grading" / "submitted")
    assert exercises.nbgrader(course, "autograde", ASSIGNMENT, "--force").returncode == 1
    with Gradebook(f"sqlite:///{course / '.grading' / 'gradebook.db'}") as gradebook:
        known = {student.id for student in gradebook.students}
        assert "honest" in known
        assert {name for name in known if not name.isprintable() or "<" in name} == set()
        assert gradebook.find_submission(ASSIGNMENT, "honest").score == 9


@pytest.fixture
def exchange(course: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Give another course folder, and the exchange where its assignment was released."""
    if os.geteuid() != 0:
        pytest.skip("only root gives folders to other accounts")
    root = tmp_path / "exchange"
    root.mkdir()
    root.chmod(0o1777)
    _collected(course, root, "release_assignment")
    return course, root


def _collected(course: Path, root: Path, command: str = "collect") -> tuple[int, dict[str, set[str]]]:
    """Run a command of the exchange; give how it ended, and the files that each student has handed in."""
    done = exercises.nbgrader(course, command, ASSIGNMENT, f"--Exchange.root={root}")
    submitted = course / ".grading" / "submitted"
    found = {one.name: {path.name for path in (one / ASSIGNMENT).iterdir()} for one in submitted.glob("*")}
    return done.returncode, found


def _handed_in(root: Path, name: str, owner: int) -> Path:
    folder = root / "seeklab" / "inbound" / name
    folder.mkdir()
    (folder / f"{ASSIGNMENT}.ipynb").write_text("{}")
    for path in (folder, *folder.iterdir()):
        os.chown(path, owner, -1)
    return folder


def test_a_folder_in_the_exchange_counts_for_its_owner_alone(exchange: tuple[Path, Path], tmp_path: Path) -> None:
    course, root = exchange
    bob, eve = [one for one in pwd.getpwall() if one.pw_uid > 0][:2]
    work = _handed_in(root, f"{bob.pw_name}+{ASSIGNMENT}+2026-01-01 08:00:00 UTC+aB-_", bob.pw_uid)
    (tmp_path / "private").write_text("private")
    (work / "commits.json").symlink_to(tmp_path / "private")
    os.mkfifo(work / "ticket.json")
    (work / "timestamp.txt").write_text("written by somebody else")
    # Newer ones in Bob's name, one whose time cannot be read, and one that is a link to Bob's own home.
    _handed_in(root, f"{bob.pw_name}+{ASSIGNMENT}+2026-01-02 08:00:00 UTC", eve.pw_uid)
    _handed_in(root, f"..+{ASSIGNMENT}+2026-01-02 08:00:00 UTC", eve.pw_uid)
    _handed_in(root, f"{eve.pw_name}+{ASSIGNMENT}+tomorrow", eve.pw_uid)
    (root / "seeklab" / "inbound" / f"{bob.pw_name}+{ASSIGNMENT}+2026-01-03 08:00:00 UTC").symlink_to(work)
    assert _collected(course, root) == (0, {bob.pw_name: {f"{ASSIGNMENT}.ipynb"}})


def test_an_exchange_that_a_learner_made_is_not_collected(exchange: tuple[Path, Path]) -> None:
    course, root = exchange
    bob = next(one for one in pwd.getpwall() if one.pw_uid > 0)
    _handed_in(root, f"{bob.pw_name}+{ASSIGNMENT}+2026-01-01 08:00:00 UTC", bob.pw_uid)
    os.chown(root / "seeklab", bob.pw_uid, -1)
    assert _collected(course, root) == (1, {})


@pytest.fixture
def server(graded: Class, tmp_path: Path) -> Iterator[tuple[str, str]]:
    """Start the instructor's server with the formgrader; give its address and token."""
    port, token = ports.free(8910), secrets.token_urlsafe(24)
    log = tmp_path / "log"
    with log.open("wb") as lines:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "jupyter_server", "--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}"),
                *("--ServerApp.port_retries=0", f"--ServerApp.root_dir={graded.folder}"),
                *(["--allow-root"] if os.geteuid() == 0 else []),
            ],
            cwd=graded.folder,
            env={
                **os.environ,
                "JUPYTER_TOKEN": token,
                **{
                    name: str(tmp_path / name.lower())
                    for name in ("HOME", "IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR")
                },
            },
            stdin=subprocess.DEVNULL,
            stdout=lines,
            stderr=subprocess.STDOUT,
        )
    try:
        end = time.monotonic() + GIVE_UP_S
        while not _answers(f"http://127.0.0.1:{port}/api"):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.3)
        yield f"http://127.0.0.1:{port}", token
    finally:
        process.terminate()
        process.wait()


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5):  # noqa: S310 -- our own server
            return True
    except OSError:
        return False


def test_no_script_of_a_learners_runs_where_the_instructor_looks(graded: Class, server: tuple[str, str]) -> None:
    if shutil.which("node") is None:
        pytest.fail("node and chromium are needed; on Debian: apt-get install nodejs chromium")
    address, token = server
    names = [one.name for one in (*SOME, HONEST, CONTROL)]
    asked = {f"formgrader {name}": f"{address}/{graded.pages[name]}?token={token}" for name in names}
    asked |= {f"feedback {name}": graded.notebook(name, "feedback").with_suffix(".html").as_uri() for name in names}
    done = subprocess.run(
        ["node", Path(__file__).with_name("formgrader.mjs"), str(GIVE_UP_S)],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        timeout=GIVE_UP_S + 60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seen: dict[str, dict[str, Any]] = json.loads(done.stdout)
    assert [name for name, page in seen.items() if page["ran"]] == ["formgrader control"], "the feedback has a policy"
    controls = {f"{page} {CONTROL.name}" for page in ("formgrader", "feedback")}
    assert {name for name, page in seen.items() if page["couldRun"]} == controls
    assert all(SCRIPT in seen[f"{page} script"]["text"] for page in ("formgrader", "feedback")), "it is shown as text"
