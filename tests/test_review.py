"""A teacher's comments, points and extensions; exports with a roster; questions for a viva."""

from __future__ import annotations

import csv
import html
import io
import json
import urllib.error
import urllib.request
from threading import Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import pytest

from seeklab.cli import BAD_INPUT, DONE, main
from seeklab.course.copies import given_code
from seeklab.judge import exports
from seeklab.judge.assignment import Verdict
from seeklab.judge.desk import Desk, MissingPageError, serve
from seeklab.judge.evidence import Evidence, Outcome
from seeklab.judge.grading import Grade
from seeklab.judge.review import ReviewError
from seeklab.judge.store import Store
from seeklab.judge.viva import viva
from test_likeness import INDEPENDENT, ORIGINAL, RENAMED

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ANSWERS = {"ada": ORIGINAL, "bo": RENAMED, **{f"s{nth}": text for nth, text in enumerate(INDEPENDENT)}}


@pytest.fixture
def grades(tmp_path: Path) -> Path:
    """Return a file with the grades of a class on one assignment."""
    path = tmp_path / "grades.db"
    evidence = (
        Evidence("stalls", 90.0, "at most 100", met=True, unit="", why=""),
        Evidence("bytes read", 400.0, "at most 1000", met=True, unit="MB", why=""),
    )
    with Store(path) as store:
        for student, source in ANSWERS.items():
            verdicts = (
                Verdict("policy", Outcome.PASS, 5, 6, "", evidence),
                Verdict("commit", Outcome.FAIL, 0, 2, "one <b>question</b> has no number"),
            )
            store.keep(Grade(student, "read-ahead", verdicts, answers={"Policy": source}), "print")
    return path


def review(grades: Path, action: str, *arguments: str) -> int:
    return main(["review", action, "--grades", str(grades), "--author", "Grace", *arguments])


def one_of(grades: Path, student: str) -> tuple[dict[str, Any], dict[str, Any]]:
    with Store(grades) as store:
        return next(one for one in store.details() if one[0]["student"] == student)


def test_points_set_by_hand_replace_the_judges_and_stay_when_graded_again(grades: Path) -> None:
    ada = ("--student", "ada", "--assignment", "read-ahead", "--task", "policy")
    assert review(grades, "override", *ada, "--points", "6", "--reason", "the bound was wrong") == DONE
    document, details = one_of(grades, "ada")
    assert (document["score"], document["tasks"][0]["score"]) == (6, 6)
    assert details["overrides"] == {"policy": (6.0, "the bound was wrong", "Grace")}
    with Store(grades) as store:
        store.keep(Grade("ada", "read-ahead", (Verdict("policy", Outcome.FAIL, 0, 6, "later"),)), "another")
    assert one_of(grades, "ada")[0]["score"] == 6
    assert one_of(grades, "bo")[0]["score"] == 5


@pytest.mark.parametrize(
    ("action", "arguments", "named"),
    [
        ("override", ("--task", "policy", "--points", "7", "--reason", "x"), "--points"),
        ("override", ("--task", "policy", "--points", "nan", "--reason", "x"), "--points"),
        ("override", ("--task", "policy", "--points", "1"), "--reason"),
        ("override", ("--task", "none", "--points", "1", "--reason", "x"), "--task"),
        ("comment", ("--text", ""), "--text"),
        ("extend", ("--until", "tomorrow", "--reason", "ill"), "--until"),
    ],
)
def test_a_mistake_is_named(
    action: str, arguments: tuple[str, ...], named: str, grades: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert review(grades, action, "--student", "ada", "--assignment", "read-ahead", *arguments) == BAD_INPUT
    assert named in capsys.readouterr().err


def test_a_comment_is_in_the_feedback_escaped_next_to_the_students_own_code(grades: Path) -> None:
    text = "Which run <i>breaks</i> it?"
    assert review(grades, "comment", "--student", "ada", "--assignment", "read-ahead", "--text", text) == DONE
    page = exports.feedback(*one_of(grades, "ada"))
    assert "Which run &lt;i&gt;breaks&lt;/i&gt; it?" in page
    assert "Grace" in page
    assert "self.last[read.reader] = read.record + read.records" in page
    assert "<b>question</b>" not in page


def test_a_whole_number_of_the_evidence_has_all_its_digits() -> None:
    rows = [{"what": "read", "measured": found, "bound": "", "met": True} for found in (12_746_752.0, 0.123456789)]
    page = exports.evidence_table(rows)
    assert "<td>12,746,752<td>" in page
    assert "<td>0.123457<td>" in page


def test_an_extension_is_listed(grades: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ada = ("--student", "ada", "--assignment", "read-ahead")
    assert review(grades, "extend", *ada, "--until", "2026-03-20", "--reason", "ill") == DONE
    assert review(grades, "extensions", "--json") == DONE
    (row,) = json.loads(capsys.readouterr().out)
    assert row == {"student": "ada", "assignment": "read-ahead", "until": "2026-03-20", "reason": "ill"}


def test_one_task_of_all_is_reviewed_and_what_is_done_is_not_shown_again(
    grades: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    task = ("--assignment", "read-ahead", "--task", "policy")
    monkeypatch.setattr("sys.stdin", io.StringIO("Why 16?\n9\n4\nhalf an idea\nq\n"))
    assert review(grades, "task", *task) == DONE
    document, details = one_of(grades, "ada")
    assert document["tasks"][0]["score"] == 4  # 9 was asked for again
    assert [one["text"] for one in details["comments"]] == ["Why 16?"]
    capsys.readouterr()
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert review(grades, "task", *task) == DONE
    assert "1 of 5: bo" in capsys.readouterr().out


def test_copies_are_listed_and_nothing_else(grades: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert review(grades, "likeness", "--json") == DONE
    (pair,) = json.loads(capsys.readouterr().out)
    assert (pair["student"], pair["and"], pair["answer"]) == ("ada", "bo", "Policy")


def test_a_viva_asks_about_the_tightest_demand_with_its_key(grades: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second, third = viva(*one_of(grades, "ada"))
    assert first.key.startswith("stalls: measured 90, bound at most 100 (10% apart")
    assert "400 MB" in second.key
    assert third.key == "one <b>question</b> has no number"
    assert review(grades, "viva", "--student", "ada") == DONE
    assert first.question in capsys.readouterr().out


def test_a_roster_adds_names_ids_and_those_who_handed_in_nothing(grades: Path, tmp_path: Path) -> None:
    file = tmp_path / "roster.csv"
    file.write_text("login,name,id,sis_id,section\nada,Lovelace Ada,7,A1,Mon\nzoe,=Zoe,8,Z9,Tue\n", encoding="utf-8")
    roster = exports.read_roster(file)
    with Store(grades) as store:
        found = list(store.details())
    exports.table(found, "canvas", tmp_path / "canvas.csv", roster)
    rows = {row[3]: row for row in csv.reader((tmp_path / "canvas.csv").open(encoding="utf-8"))}
    assert rows["ada"] == ["Lovelace Ada", "7", "A1", "ada", "Mon", "5"]
    assert rows["zoe"] == ["'=Zoe", "8", "Z9", "zoe", "Tue", ""]
    assert rows["bo"][0] == "bo"
    with pytest.raises(OSError, match="no column login"):
        exports.read_roster(_written(tmp_path / "other.csv", "name\nAda\n"))


def test_comments_have_their_columns(grades: Path, tmp_path: Path) -> None:
    for text in ("Good.", "=1+1"):
        review(grades, "comment", "--student", "ada", "--assignment", "read-ahead", "--task", "policy", "--text", text)
    with Store(grades) as store:
        found = list(store.details())
    exports.table(found, "moodle", tmp_path / "moodle.csv")
    head, *rows = csv.reader((tmp_path / "moodle.csv").open(encoding="utf-8", newline=""))
    assert head == ["username", "read-ahead", "read-ahead feedback"]
    assert rows[0] == ["ada", "5", "policy: Good.\npolicy: =1+1"]
    exports.comments_table(found, tmp_path / "comments.csv")
    assert len(list(csv.reader((tmp_path / "comments.csv").open(encoding="utf-8", newline="")))) == 2


@pytest.fixture
def address(grades: Path) -> Iterator[str]:
    """Serve the desk of a class, and return its address."""
    server, address = serve(Desk(grades, "Grace", given_code), 0)
    Thread(target=server.serve_forever, daemon=True).start()
    yield address
    server.shutdown()
    server.server_close()


ADA = {"student": "ada", "assignment": "read-ahead"}


def opened(address: str, form: dict[str, str] | None = None) -> tuple[int, str, str]:
    """Open a page, or send a form; return the status, the address that it ended at, and the text."""
    data = None if form is None else urlencode(form).encode()
    try:
        with urllib.request.urlopen(address, data, timeout=30) as answer:  # noqa: S310 -- our own server
            return answer.status, answer.url, html.unescape(answer.read().decode())
    except urllib.error.HTTPError as error:
        return error.code, error.url, html.unescape(error.read().decode())


def test_a_submission_shows_its_code_evidence_and_whom_it_is_like(address: str) -> None:
    status, _, page = opened(f"{address}submission?{urlencode(ADA)}")
    assert status == 200
    assert "self.last[read.reader] = read.record + read.records" in page
    assert "<td>stalls<td>90<td>at most 100<td>met" in page
    assert f"submission?{urlencode({**ADA, 'student': 'bo'})}" in page


def test_forms_of_a_submission_are_stored_and_a_wrong_one_is_not(address: str, grades: Path) -> None:
    form = {"form": "comment", "then": "submission", **ADA}
    status, where, page = opened(f"{address}save", {**form, "task": "", "text": "Which run <i>breaks</i> it?"})
    assert (status, where) == (200, f"{address}submission?{urlencode(ADA)}")
    assert "Grace:</b> Which run <i>breaks</i> it?" in page
    policy = {**form, "task": "policy", "text": ""}
    for points, reason, told in (
        ("7", "x", "points is 7"),
        ("six", "x", '"six"'),
        ("6", "", "reason"),
        ("5", "", "text"),
    ):
        status, _, page = opened(f"{address}save", {**policy, "points": points, "reason": reason})
        assert (status, "Not stored" in page, told in page) == (400, True, True), page
        assert f'name=points inputmode=decimal size=5 value="{points}"' in page
    assert one_of(grades, "ada")[0]["score"] == 5
    assert opened(f"{address}save", {**policy, "points": "6", "reason": "the bound was wrong"})[0] == 200
    document, details = one_of(grades, "ada")
    assert (document["score"], details["overrides"]["policy"]) == (6, (6.0, "the bound was wrong", "Grace"))
    late = {"form": "deadline", **ADA, "reason": "ill"}
    assert opened(f"{address}save", {**late, "until": "tomorrow"})[0] == 400
    assert "Until 2026-03-20: ill" in opened(f"{address}save", {**late, "until": "2026-03-20"})[2]


def test_text_of_a_form_is_escaped(grades: Path) -> None:
    desk = Desk(grades, "Grace", given_code)
    form = {
        "form": "comment",
        "task": "policy",
        "then": "submission",
        **ADA,
        "text": "</textarea><b>",
        "points": '"><i>',
    }
    with pytest.raises(ReviewError) as error:
        desk.save(form)
    page = desk.page("submission", form, str(error.value))
    assert "</textarea><b>" not in page
    assert '"><i>' not in page


def test_one_task_of_all_is_graded_in_turn(address: str) -> None:
    task = {"assignment": "read-ahead", "task": "policy"}
    _, where, page = opened(f"{address}task?{urlencode(task)}")
    students = []
    while "Save and next" in page:
        students.append(page.partition("policy: ")[2].partition("<")[0])
        form = {"form": "comment", "then": "task", **task, "student": students[-1], "text": "Good."}
        if students[-1] == "s0":
            _, where, page = opened(f"{address}task?{urlencode({**task, 'after': 's0'})}")
        else:
            _, where, page = opened(f"{address}save", form)
    assert students == sorted(ANSWERS)
    assert "the end of the list" in page
    assert f"{len(ANSWERS) - 1} of {len(ANSWERS)} have a comment" in page
    assert "policy: s0" in opened(f"{address}task?{urlencode(task)}")[2]
    assert where.endswith(f"after={students[-1]}")


def test_the_dashboard_leads_to_every_page(address: str) -> None:
    page = opened(address)[2]
    links = set(page.split('href="')[1:])
    names = {link.partition('"')[0] for link in links}
    assert len(names) == len(ANSWERS) + 2 + 1
    assert {opened(f"{address}{name}")[0] for name in names} == {200}
    assert "<td>Policy<td>" in opened(f"{address}alike")[2]


def test_a_form_for_no_submission_is_refused(address: str, grades: Path) -> None:
    form = {"form": "comment", "then": "submission", **ADA, "task": "", "text": "x"}
    assert opened(f"{address}save", {**form, "student": "nobody"})[0] == 404
    assert opened(f"{address}submission", form)[0] == 400
    assert opened(f"{address}save", {**form, "text": "x" * 70_000})[0] == 400
    root = address.rstrip("/").rpartition("/")[0]
    assert opened(f"{root}/guess/save", form)[0] == 403
    assert one_of(grades, "ada")[1]["comments"] == []
    with pytest.raises(MissingPageError):
        Desk(grades, "Grace", given_code).page("task", {"assignment": "read-ahead", "task": "none"})


def _written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path
