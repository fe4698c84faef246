"""A class graded: nothing lost, nothing repeated, the same verdict everywhere, and what others read of it."""

from __future__ import annotations

import csv
import html
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

from conftest import GIVE_UP_S
from hostile.submissions import GOOD, PREDICTION, Submission, notebook
from seeklab.course.copies import given_code
from seeklab.judge import Seeds, Variant, batch, catalogue, exports, judge, layout
from seeklab.judge.dashboard import Dashboard, report
from seeklab.judge.desk import Desk, serve
from seeklab.judge.evidence import Outcome
from seeklab.judge.grading import Grade, Work, grade
from seeklab.judge.identity import Course, practice_draws
from seeklab.judge.practice import LOOK_ONLY
from seeklab.judge.programs import Sandboxed, Text
from seeklab.judge.sandbox import Sandbox
from seeklab.judge.store import Store
from seeklab.judge.submission import NO_CELLS
from seeklab.judge.tickets import hand_out

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import CommandLine

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is Linux's")

IS_FULL = os.environ.get("SEEKLAB_FULL") == "1"
COURSE = Course(b"c" * 32)
SOLUTIONS = Path(__file__).resolve().parents[1] / "solutions"
SLOW = 'choice = {"queue_policy": "fcfs", "queue_depth": 16}\n'


def handed_in(folder: Path, student: str, choice: str = GOOD, **cells: str) -> Path:
    path = folder / student / "disk-time" / "disk-time.ipynb"
    path.parent.mkdir(parents=True)
    submission = Submission("", "", {"choice": choice, "prediction": PREDICTION, **cells})
    path.write_bytes(notebook(submission, student))
    return path


@pytest.fixture(scope="module")
def submitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a class of five: one wrong, one that names another, one in an older format, one that is no notebook."""
    folder = tmp_path_factory.mktemp("submitted")
    handed_in(folder, "ada")
    handed_in(folder, "bob", SLOW)
    handed_in(folder, "cleo", learner="LEARNER = 'ada'")
    old = json.loads(handed_in(folder, "dan").read_bytes())
    for cell in old["cells"]:
        del cell["id"]
        cell["source"] = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
    old["nbformat_minor"] = 4
    (folder / "dan" / "disk-time" / "disk-time.ipynb").write_text(json.dumps(old))
    handed_in(folder, "eve").write_text("{}")
    return folder


@pytest.fixture(scope="module")
def grades(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the path of the class's grades."""
    return tmp_path_factory.mktemp("grades") / "grades.db"


@pytest.fixture(scope="module")
def store(submitted: Path, grades: Path) -> Iterator[Store]:
    """Grade the class once."""
    works = layout.submissions([submitted], COURSE)
    with Store(grades) as kept:
        batch.grade_all(works, kept, COURSE, Sandbox(), batch.here, lambda *_: None)
        yield kept


def graded(store: Store, student: str) -> dict[str, Any]:
    (document,) = (one for one in store.documents() if one["student"] == student)
    return document


def test_each_submission_is_found_and_graded_in_the_form_that_is_promised(store: Store) -> None:
    assert [document["student"] for document in store.documents()] == ["ada", "bob", "cleo", "dan", "eve"]
    ada = graded(store, "ada")
    assert list(ada) == ["student", "assignment", "score", "max_score", "tasks", "flags", "seconds"]
    assert list(ada["tasks"][0]) == ["id", "score", "max_score", "verdict", "reason"]
    assert (ada["score"], ada["max_score"], ada["flags"]) == (9, 9, [])
    assert graded(store, "bob")["score"] == 3
    assert graded(store, "bob")["tasks"][1]["verdict"] == "fail"
    assert graded(store, "dan")["score"] == 9, "saved by a Jupyter that writes no ids"
    assert graded(store, "eve")["score"] == 0
    assert NO_CELLS in graded(store, "eve")["flags"][0]


def test_a_flat_folder_has_notebooks_that_name_student_and_assignment(tmp_path: Path) -> None:
    for name in ("ada_disk-time", "bob-by-heart (2)", "cleo_disk-time", "cleo_disk-time(1)", "notes", "disk-time"):
        (tmp_path / f"{name}.ipynb").write_text("{}")
    notes: list[str] = []
    works = layout.submissions([tmp_path], COURSE, note=notes.append)
    assert [(work.student, work.assignment, bool(work.refused)) for work in works] == [
        ("ada", "disk-time", False),
        ("bob", "by-heart", False),
        ("cleo", "disk-time", True),
    ]
    assert len(notes) == 2
    named = {work.student for work in layout.submissions([tmp_path], COURSE, "commit-policy")}
    assert named == {"ada", "bob", "cleo", "notes"}


def test_what_a_students_folder_has_beside_assignments_is_named(tmp_path: Path) -> None:
    for name in ("ada/disk-time", "bob/Disk-Time", "cleo/disk-time", "cleo/disk-time (1)", "dan"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "disk-time.ipynb").write_text("{}")
    notes: list[str] = []
    works = layout.submissions([tmp_path], COURSE, note=notes.append)
    assert [work.student for work in works] == ["ada", "cleo"]
    assert [name in note for name, note in zip(("bob", "cleo", "dan"), notes, strict=True)] == [True] * 3


def test_two_submissions_of_one_student_are_both_refused(tmp_path: Path) -> None:
    for place in ("monday", "tuesday"):
        handed_in(tmp_path / place, "ada")
    handed_in(tmp_path / "monday", "bob")
    both = [tmp_path / "monday", tmp_path / "tuesday"]
    assert [(work.student, bool(work.refused)) for work in layout.submissions(both, COURSE)] == [
        ("ada", True),
        ("bob", False),
    ]
    once = layout.submissions([tmp_path / "monday", tmp_path / "tuesday" / ".." / "monday"], COURSE)
    assert not any(work.refused for work in once), "a folder that is named twice"
    assert layout.submissions(both, COURSE, layout=layout.FLAT) == []


def test_a_notebook_that_claims_another_is_judged_as_the_folders_owner_and_flagged(store: Store) -> None:
    (flag,) = graded(store, "cleo")["flags"]
    assert "'ada'" in flag
    assert "cleo" in flag


def test_what_is_graded_is_not_graded_again_and_what_has_changed_is(submitted: Path, store: Store) -> None:
    works = layout.submissions([submitted], COURSE)
    told: list[int] = []
    batch.grade_all(works, store, COURSE, Sandbox(), batch.here, lambda _done, of, _last: told.append(of))
    assert told == [0]
    other = Course(b"d" * 32)
    waiting: list[Work] = []

    def note(works: list[Work], _course: Course, _jail: Sandbox) -> Iterator[Grade]:
        waiting.extend(works)
        return iter(())

    batch.grade_all(works, store, other, Sandbox(), note, lambda *_: None)
    assert len(waiting) == 5, "another secret, other grades"


def class_of(folder: Path, count: int) -> Path:
    for number in range(count):
        handed_in(folder, f"student{number:02}", GOOD if number % 3 else SLOW)
    return folder


def test_killed_at_random_it_ends_with_the_same_grades(tmp_path: Path) -> None:
    count, kills = (12, 10) if IS_FULL else (5, 3)
    submitted = class_of(tmp_path / "submitted", count)
    source = random.Random(7)

    def run(name: str, kill_after_s: float | None = None) -> int:
        command = [
            "grade",
            str(submitted),
            "--grades",
            name,
            "--secret",
            str(tmp_path.parent / "secret"),
            "--jobs",
            "2",
        ]
        process = subprocess.Popen(
            [sys.executable, "-m", "seeklab.cli", *command],
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        if kill_after_s is not None:
            time.sleep(kill_after_s)
            os.killpg(process.pid, signal.SIGKILL)
        return process.wait(GIVE_UP_S)

    assert run("undisturbed.db") == 0
    for _ in range(kills):
        run("disturbed.db", source.uniform(0.5, 4))
    assert run("disturbed.db") == 0

    def grades(name: str) -> list[dict[str, Any]]:
        with Store(tmp_path / name) as kept:
            return [{**document, "seconds": 0} for document in kept.documents()]

    assert grades("disturbed.db") == grades("undisturbed.db")
    assert len(grades("disturbed.db")) == count
    with sqlite3.connect(tmp_path / "disturbed.db") as file:
        repeated = file.execute("select student from attempts group by student having count(*) > 1").fetchall()
    assert repeated == [], "nothing that was written was done again"


def living(session: int) -> set[int]:
    """Return the processes of a session that have not ended."""
    found = set()
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            state, _, _, of = (place / "stat").read_text().rpartition(")")[2].split()[:4]
            if int(of) == session and state != "Z":
                found.add(int(place.name))
    return found


def test_when_the_grader_is_killed_no_worker_stays(tmp_path: Path) -> None:
    for student in ("ada", "bob"):
        handed_in(tmp_path / "submitted", student, "while True:\n    pass\n")
    command = ["grade", "submitted", "--jobs", "2", "--secret", str(tmp_path.parent / "secret")]
    process = subprocess.Popen([sys.executable, "-m", "seeklab.cli", *command], cwd=tmp_path, start_new_session=True)
    ends = time.monotonic() + GIVE_UP_S
    while len(living(process.pid)) < 4 and time.monotonic() < ends:  # the grader, two workers, their bookkeeper
        time.sleep(0.1)
    process.kill()
    process.wait()
    while living(process.pid) and time.monotonic() < ends:
        time.sleep(0.1)
    assert living(process.pid) == set()


@pytest.fixture
def certificates(tmp_path: Path) -> Iterator[Path]:
    """Make a certificate for a cluster, and name it in Dask's configuration; give its key."""
    pytest.importorskip("distributed", reason="distributed is not installed; `make test` installs it")
    from dask import config

    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = ("-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=class", "-keyout", key, "-out", certificate)
    subprocess.run(["openssl", "req", *made], check=True, capture_output=True)
    key.chmod(0o600)
    tls = "distributed.comm.tls"
    named = {f"{tls}.{role}.cert": str(certificate) for role in ("client", "scheduler", "worker")}
    named |= {name.replace(".cert", ".key"): str(key) for name in named}
    with config.set({f"{tls}.ca-file": str(certificate), **named}):
        yield key


@pytest.mark.parametrize(
    "address", ["tcp://127.0.0.1:8786", "127.0.0.1:8786", "ws://[::1]:8786", "inproc://x", "TLS://x"]
)
def test_a_scheduler_that_everybody_reaches_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="tls://"):
        batch.on_dask(address)


def test_grades_are_not_mixed_with_those_of_another_secret(command_line: CommandLine, tmp_path: Path) -> None:
    class_of(tmp_path / "submitted", 1)
    secrets = [tmp_path.parent / f"{tmp_path.name}-{name}" for name in "ab"]
    first, second = (command_line("grade", "submitted", "--secret", str(secret)) for secret in secrets)
    assert (first.returncode, first.stderr.count(str(tmp_path.parent))) == (0, 1)
    assert second.returncode not in {0, 70}
    assert [secret.exists() for secret in secrets] == [True, False]


def test_a_cluster_needs_certificates() -> None:
    pytest.importorskip("distributed", reason="distributed is not installed; `make test` installs it")
    with pytest.raises(ValueError, match=r"tls\.ca-file"):
        next(batch.on_dask("tls://127.0.0.1:1")([], COURSE, Sandbox()))


def test_a_clusters_key_is_private(certificates: Path) -> None:
    certificates.chmod(0o640)
    with pytest.raises(ValueError, match="chmod 600"):
        next(batch.on_dask("tls://127.0.0.1:1")([], COURSE, Sandbox()))


@pytest.mark.skipif(not IS_FULL, reason="`make full` starts a cluster")
@pytest.mark.usefixtures("certificates")
def test_a_dask_worker_that_dies_loses_nothing_and_repeats_nothing(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="distributed is not installed; `make test` installs it")
    works = layout.submissions([class_of(tmp_path / "submitted", 12)], COURSE)
    private = {"security": distributed.Security(require_encryption=True), "protocol": batch.TLS}
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, **private) as cluster,
        Store(tmp_path / "grades.db") as kept,
    ):

        def told(done: int, _of: int, _last: Grade | None) -> None:
            if done == 3:
                os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)

        run = batch.on_dask(cluster.scheduler_address)
        batch.grade_all(works, kept, COURSE, Sandbox(), run, told)
        assert len(kept.documents()) == 12
        assert len(kept.attempts()) == 12
        assert {document["score"] for document in kept.documents()} == {3, 9}


def solved_program(name: str, entry: str) -> Text:
    assignment = catalogue.assignment(name)
    document = json.loads((SOLUTIONS / name / f"{name}.ipynb").read_text(encoding="utf-8"))
    (cell,) = (cell for cell in document["cells"] if cell["id"] == assignment.cells[entry])
    return Text(({"kind": "own", "label": cell["id"], "source": "".join(cell["source"])},), entry)


PROGRAMS = {
    "right": solved_program("buffer-size", "size"),
    "first idea": Text(({"kind": "own", "label": "size", "source": "size = lambda a, b, c, d: (a - b) * c"},), "size"),
    "raises": Text(({"kind": "own", "label": "size", "source": "def size(*_):\n    return 1 / 0"},), "size"),
    "wrong type": Text(({"kind": "own", "label": "size", "source": "def size(*_):\n    return ['x']"},), "size"),
    "infinite": Text(({"kind": "own", "label": "size", "source": "def size(*_):\n    return float('inf')"},), "size"),
    "no name": Text(({"kind": "own", "label": "size", "source": "other = 1"},), "size"),
    "unreadable": Text(({"kind": "own", "label": "size", "source": "def size(:"},), "size"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gets_the_same_verdict_in_this_process_and_in_the_jail(name: str) -> None:
    assignment, own, seeds = catalogue.assignment("buffer-size"), Variant(practice_draws("ada")), Seeds(b"s" * 32)
    text = PROGRAMS[name]
    here, there = (
        judge(assignment, {"size": program}, own, seeds, ["check-size"])
        for program in (text, Sandboxed(text, Sandbox()))
    )
    assert [str(verdict) for verdict in here] == [str(verdict) for verdict in there]
    assert (here[0].outcome is Outcome.PASS) == (name == "right")


def test_a_policy_in_the_jail_answers_in_at_most_three_times_the_time() -> None:
    """The issue asks it of 200,000 decisions; the time for one does not depend on their number."""
    from seeklab.exercises import write_throttle

    text = solved_program("write-throttle", "Policy")
    backend = write_throttle.backend("ada")

    def cpu_s(program: Text | Sandboxed) -> float:
        before = os.times()
        with program.start(write_throttle.CODE) as policy:
            backend.run(policy)
        after = os.times()
        return sum(after[:4]) - sum(before[:4])

    cpu_s(text)
    assert cpu_s(Sandboxed(text, Sandbox())) <= 3 * cpu_s(text) + 0.3, "and what it takes to start the sandbox"


def test_others_read_the_grades(store: Store, tmp_path: Path) -> None:
    grades = store.documents()
    exports.table(store.details(), "canvas", tmp_path / "canvas.csv")
    rows = list(csv.reader((tmp_path / "canvas.csv").open()))
    assert rows[0][-1] == "disk-time"
    assert rows[1][0] == "    Points Possible"
    assert [row[0] for row in rows[2:]] == ["ada", "bob", "cleo", "dan", "eve"]
    exports.table(store.details(), "moodle", tmp_path / "moodle.csv")
    assert next(csv.reader((tmp_path / "moodle.csv").open())) == ["username", "disk-time", "disk-time feedback"]
    exports.write_gradescope(grades, tmp_path / "gradescope")
    results = json.loads((tmp_path / "gradescope" / "bob" / "disk-time" / "results.json").read_text())
    assert results["score"] == sum(test["score"] for test in results["tests"]) == 3
    exports.write_feedback(store.details(), tmp_path / "feedback")
    page = (tmp_path / "feedback" / "bob" / "disk-time" / "disk-time.html").read_text()
    assert "reads.read_latency_mean_ms" in page
    (bob,) = (one for one in grades if one["student"] == "bob")
    assert all(task["reason"] in html.unescape(page) for task in bob["tasks"])


def test_nothing_of_a_learners_is_html_in_a_page() -> None:
    task = {"id": "check-users", "score": 0, "max_score": 3, "verdict": "fail", "reason": "<script>alert(1)</script>"}
    document = {
        "student": "<b>",
        "assignment": "disk-time",
        "score": 0,
        "max_score": 3,
        "tasks": [task],
        "flags": ["<i>"],
    }
    page = exports.feedback(document, {})
    assert "<script>" not in page
    assert "<i>" not in page
    assert "&lt;script&gt;" in page


def test_scores_reach_nbgraders_gradebook_by_its_own_interface(store: Store, tmp_path: Path) -> None:
    pytest.importorskip("nbgrader", reason="nbgrader is not installed; `make lab` installs it")
    from nbgrader.api import Gradebook

    url = f"sqlite:///{tmp_path / 'gradebook.db'}"
    for _ in range(2):  # twice is as good as once
        exports.write_gradebook(store.documents(), url)
    with Gradebook(url) as gradebook:
        scores = {one.student.id: one.score for one in gradebook.find_assignment("disk-time").submissions}
    assert scores == {"ada": 9, "bob": 3, "cleo": 9, "dan": 9, "eve": 0}


def test_a_ticket_holds_what_tools_print_and_nothing_of_the_scenario(tmp_path: Path) -> None:
    course = Course(b"c" * 32, folder=tmp_path)
    assignment = catalogue.assignment("blind-diagnosis")
    written = hand_out(assignment, "ada", course, tmp_path / "tickets")
    ticket = json.loads(written[0].read_text())
    assert set(ticket) == {"student", "assignment", "evidence"}
    assert course.draws("ada", "blind-diagnosis").hex() not in written[0].read_text()
    assert {path.name for path in written} >= {"ticket.json", "ticket.txt", "iostat.txt", "fio.txt"}
    assert layout.submissions([tmp_path / "tickets"], course) == []
    path = tmp_path / "in" / "ada" / "blind-diagnosis" / "blind-diagnosis.ipynb"
    path.parent.mkdir(parents=True)
    path.write_bytes((SOLUTIONS / "blind-diagnosis" / "blind-diagnosis.ipynb").read_bytes())
    (work,) = layout.submissions([tmp_path / "in"], course)
    assert work.ticketed, "who was handed a ticket is judged by it"
    practice = catalogue.assignment("odx-prefetch")
    assert set(json.loads(hand_out(practice, "ada", course, tmp_path / "tickets")[0].read_text())) == {
        "student",
        "assignment",
        "draws",
    }


def test_a_ticket_beside_the_notebook_is_what_the_learner_looks_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from seeklab.exercises import blind_diagnosis

    course = Course(b"c" * 32, folder=tmp_path)
    hand_out(blind_diagnosis.ASSIGNMENT, "ada", course, tmp_path)
    monkeypatch.chdir(tmp_path / "ada" / "blind-diagnosis")
    seen = blind_diagnosis.look("ada", "iostat")
    assert seen == blind_diagnosis.look(course.draws("ada", "blind-diagnosis"), "iostat")
    assert LOOK_ONLY in blind_diagnosis.check("check-cause", "ada", cause=None).reason
    assert blind_diagnosis.look("bob", "iostat") != seen, "somebody else practises as before"


def test_the_dashboard_shows_progress_items_wrong_answers_and_copies(store: Store) -> None:
    dashboard = Dashboard.read(store)
    items = dashboard.items("disk-time")
    assert items["check-users"].difficulty == pytest.approx(3 / 5)
    totals = {student: sum(item.points[student] for item in items.values()) for student in items["check-users"].points}
    apart = items["check-users"].discrimination(totals)
    assert apart is not None
    assert apart > 0.5
    page = report(dashboard)
    assert "<script" not in page
    assert graded(store, "bob")["tasks"][1]["reason"] in html.unescape(page)
    assert "fcfs" in page
    assert page.count("<tr><td>ada") == 1


def test_numbers_that_fit_anothers_system_are_called_copies() -> None:
    def one(student: str, score: float) -> tuple[dict[str, Any], dict[str, Any]]:
        document = {"student": student, "assignment": "odx-prefetch", "score": score, "max_score": 5}
        return document, {"answers": {"diagnosis": {"read_bytes": 8_650_752, "missed_bytes": 262_144}}, "evidence": {}}

    dashboard = Dashboard([one("ada", 5), one("bob", 2)], Dashboard([], {}).attempts)  # type: ignore[arg-type]
    assert dashboard.copies("odx-prefetch") == [("diagnosis", ["bob"], ["ada"])]


def test_five_thousand_copies_are_one_group() -> None:
    def one(nth: int) -> tuple[dict[str, Any], dict[str, Any]]:
        task = {"id": "check-fix", "score": nth % 2, "max_score": 1, "verdict": "fail", "reason": "too slow"}
        grade = {"student": f"s{nth}", "assignment": "odx-prefetch", "score": nth % 2, "max_score": 1, "flags": []}
        return grade | {"tasks": [task]}, {"answers": {"diagnosis": {"read_bytes": 1, "missed_bytes": 2}}}

    dashboard = Dashboard([one(nth) for nth in range(5000)], Counter({("s0", "odx-prefetch"): 1}))
    (group,) = dashboard.copies("odx-prefetch")
    assert (len(group.students), len(group.others)) == (2500, 2500)
    assert len(report(dashboard)) < 1_000_000


def test_the_dashboard_tells_wrong_answers_in_digits_that_are_read_and_leaves_out_what_nobody_filled_in() -> None:
    def one(student: str, answers: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        task = {"id": "check-fix", "score": 0, "max_score": 5, "verdict": "fail", "reason": "too slow"}
        document = {"student": student, "assignment": "odx-prefetch", "score": 0, "max_score": 5, "tasks": [task]}
        return document | {"flags": []}, {"answers": answers, "evidence": {}}

    given = {"diagnosis": {"share": 80.71504424778762, "cause": None}, "sizes": [0.1 + 0.2, False], "fix": {}}
    blank = {"diagnosis": {"share": None, "cause": None}, "sizes": [], "fix": {}}
    dashboard = Dashboard([one("ada", given), one("bob", blank)], Counter({("ada", "odx-prefetch"): 1}))
    assert {name: len(answers) for name, answers in dashboard.wrong_answers("odx-prefetch").items()} == {
        "diagnosis": 1,
        "sizes": 1,
    }
    page = html.unescape(report(dashboard))
    assert '{"cause": null, "share": 80.715}' in page
    assert "[0.3, false]" in page


@pytest.mark.usefixtures("store")
def test_the_dashboard_opens_with_its_token_only_and_on_this_machine_only(grades: Path) -> None:
    server, address = serve(Desk(grades, "Grace", given_code), 0)
    Thread(target=server.serve_forever, daemon=True).start()

    def status(url: str, **headers: str) -> int:
        try:
            with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=30) as answer:  # noqa: S310 -- its own
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code

    try:
        assert server.server_address[0] == "127.0.0.1"
        root = address.rstrip("/").rpartition("/")[0]
        with urllib.request.urlopen(address, timeout=30) as page:  # noqa: S310 -- its own
            assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]
            assert (page.headers["X-Content-Type-Options"], page.headers["Cache-Control"]) == ("nosniff", "no-store")
            assert page.headers["Set-Cookie"] is None
        assert status(f"{root}/") == 403
        assert status(f"{root}/wrong/") == 403
        assert [status(address, Host=host) for host in ("evil.example", "[::1", "127.0.0.1", "")] == [403] * 4
        assert status(address, Cookie="a(b)=c") == 200
        assert status(f"{address}submission?student=ada&assignment=disk-time") == 200
        assert status(f"{address}submission?student=%5B&assignment=disk-time") == 404
        assert status(f"{address}etc/passwd") == 404
    finally:
        server.shutdown()
        server.server_close()


def test_the_command_line_prints_the_grades_and_says_what_is_wrong(
    command_line: CommandLine, submitted: Path, tmp_path: Path
) -> None:
    secret = ("--secret", str(tmp_path.parent / "own-secret"))
    bad = command_line("grade", str(tmp_path / "nowhere"), *secret)
    assert (bad.returncode, "nowhere" in bad.stderr) == (2, True)
    assert "folder: " in command_line("grade", str(tmp_path), *secret).stderr
    assert "jobs: " in command_line("grade", str(submitted), "--jobs", "0", *secret).stderr
    inside = command_line("grade", str(submitted), "--secret", str(tmp_path / "secret"))
    assert str(tmp_path / "secret") in inside.stderr
    unknown = command_line("ticket", "--student", "ada", "--assignment", "none", *secret)
    assert "battery-planner, blind-diagnosis" in unknown.stderr
    assert "none.db" in command_line("desk", "--grades", "none.db").stderr
    assert "'../ada'" in command_line("ticket", "--student", "../ada", *secret).stderr


def test_two_hundred_megabytes_are_refused_with_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "disk-time.ipynb"
    with path.open("wb") as file:
        file.truncate(200_000_000)
    told = grade(Work("ada", "disk-time", str(path)), COURSE, Sandbox())
    assert told.score == 0
    assert " 200 MB" in told.flags[0]
