"""What a learner knows, what is next, and the certificate of practice."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import syllabus
from seeklab._commitments import Commitment
from seeklab.cli import BAD_INPUT, CHECK_FAILED, DONE, main
from seeklab.course import known as progress
from seeklab.course.certificate import certificate, is_genuine
from seeklab.course.start import start_page
from seeklab.judge.identity import Course

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

START = date(2026, 3, 2)
COURSE = Course(b"secret of a test")


def answers(days: Sequence[int], near: Sequence[bool], sure: int = 75, value: str = "1") -> list[Commitment]:
    """Return answers to questions on one concept, on these days after the start."""
    return [
        Commitment(f"practice/commit-wait/{nth}", value, sure, time=f"{START + timedelta(days=day)}T12:00", near=right)
        for nth, (day, right) in enumerate(zip(days, near, strict=True), 1)
    ]


def concept(given: Sequence[Commitment]) -> progress.Known:
    return progress.known(given)["commit-wait"]


def test_right_answers_move_a_concept_up_and_space_its_questions() -> None:
    for count, days in enumerate((1, 3, 7, 16, 35), 1):
        one = concept(answers(range(count), [True] * count))
        assert one.box == count
        assert one.due == START + timedelta(days=count - 1 + days)
    assert concept(answers(range(8), [True] * 8)).box == 5


def test_a_wrong_answer_moves_a_concept_to_the_first_box_and_a_lucky_guess_does_not_move_it() -> None:
    wrong = concept(answers((0, 1, 2), (True, True, False)))
    assert (wrong.box, wrong.due) == (1, START + timedelta(days=3))
    lucky = concept(answers((0, 1), (True, True), sure=25))
    assert (lucky.box, lucky.right) == (0, 2)


def test_the_first_answer_to_a_question_counts() -> None:
    one = answers((0,), (False,))
    again = answers((1,), (True,))
    assert concept([*one, *again]).right == 0


def test_a_misconception_met_twice_brings_help_that_fades() -> None:
    def wrong(nth: int) -> Commitment:
        id_ = f"practice/commit-wait/{nth}"
        _, posed = progress.posed_of(id_)
        text = next(option.text for option in posed.options(posed.measure()) if option.misconception == "7.5")
        return Commitment(id_, text, 75, time=f"2026-03-0{nth}T12:00", near=False)

    def right(nth: int) -> Commitment:
        return Commitment(f"practice/commit-wait/{nth}", "-", 75, time=f"2026-03-0{nth}T12:00", near=True)

    given = [wrong(1), wrong(2), right(3), right(4)]
    assert [concept(given[:count]).help for count in (1, 2, 3, 4)] == [0, 2, 1, 0]
    assert concept(given).misconceptions == {"7.5": 2}


def test_what_is_due_comes_before_what_is_new_and_nothing_comes_from_later_weeks() -> None:
    concepts = progress.known(answers((0,), (True,)))
    asked = progress.due(concepts, START + timedelta(days=1), week=1)
    assert [one.item.id for one in asked] == ["commit-wait", "mean-in-flight", "monitor-window"]
    assert "commit-wait" not in [one.item.id for one in progress.due(concepts, START, week=10, count=30)]


def test_a_question_is_the_same_again_and_another_one_after_its_answer() -> None:
    before, after = concept([]), concept(answers((0,), (True,)))
    assert (
        progress.posed_of(progress.question_id(before))[1].stem == progress.posed_of("practice/commit-wait/1")[1].stem
    )
    assert progress.question_id(before) != progress.question_id(after)


def test_the_next_notebook_waits_for_those_that_it_needs() -> None:
    course = progress.steps()
    nothing = {step.key: 0.0 for step in course}
    found = progress.next_step(course, nothing)
    assert found is not None
    assert found[0].key == "07 first half"
    finished: list[str] = []
    shares = dict(nothing)
    while (found := progress.next_step(course, shares)) is not None:
        step = found[0]
        done = {key[:2] for key in finished}
        assert set(step.needs) <= done
        finished.append(step.key)
        shares[step.key] = 1.0
    assert set(finished) == {step.key for step in course if not step.optional}


def test_a_notebook_that_was_begun_comes_first() -> None:
    course = progress.steps()
    shares = {step.key: 0.0 for step in course} | {"13": 0.5}
    found = progress.next_step(course, shares)
    assert found is not None
    assert (found[0].number, "50%" in found[1]) == ("13", True)


def test_the_package_has_the_weeks_of_the_course() -> None:
    assert syllabus.for_learners() == syllabus.WEEKS.read_text(encoding="utf-8")
    for step in progress.steps():
        assert len(step.asks) >= 3, step.key


def test_the_start_page_links_to_every_notebook_and_graded_exercise() -> None:
    page = start_page()
    root = Path(__file__).parents[1]
    assert all(f"({path.name})" in page for path in (root / "notebooks").glob("*.ipynb"))
    for week in progress.weeks():
        assert (root / "exercises" / week["exercise"] / f"{week['exercise']}.ipynb").is_file()
        assert f"{week['exercise']}.ipynb" in page


def test_a_certificate_lists_what_is_mastered_and_shows_any_change() -> None:
    concepts = progress.known(answers((0, 1, 4), (True,) * 3))
    document = certificate("Ada", concepts, START, COURSE)
    assert [one["concept"] for one in document["mastered"]] == ["waiting for a single server"]
    assert is_genuine(json.loads(json.dumps(document)), COURSE)
    assert not is_genuine({**document, "student": "Bo"}, COURSE)
    assert not is_genuine(document, Course(b"another secret"))
    assert not is_genuine({"student": "Ada"}, COURSE)


def test_the_command_names_the_next_notebook(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "commits.json"
    assert main(["next", str(file)]) == BAD_INPUT
    assert "does not exist" in capsys.readouterr().err
    step = progress.steps()[0]
    entries: list[dict[str, Any]] = [{"id": step.asks[0], "value": "x", "skipped": False, "time": "2026-03-02T12:00"}]
    file.write_text(json.dumps(entries), encoding="utf-8")
    assert main(["next", str(file), "--json"]) == DONE
    said = json.loads(capsys.readouterr().out)
    assert said["next"]["notebook"] == step.file
    assert [one["item"] for one in said["due"]] == ["mean-in-flight", "monitor-window", "omitted-samples"]


def test_the_command_signs_and_checks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, paper, secret = tmp_path / "commits.json", tmp_path / "certificate.json", tmp_path / "teacher" / "secret"
    secret.parent.mkdir()
    file.write_text("[]", encoding="utf-8")
    assert main(["next", str(file), "--certify", "Ada", "--secret", str(secret)]) == DONE
    paper.write_text(capsys.readouterr().out, encoding="utf-8")
    assert main(["next", str(paper), "--check", "--secret", str(secret)]) == DONE
    paper.write_text(paper.read_text(encoding="utf-8").replace("Ada", "Bo"), encoding="utf-8")
    assert main(["next", str(paper), "--check", "--secret", str(secret)]) == CHECK_FAILED
