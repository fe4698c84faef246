"""The assignments: in step with their source, failing as shipped, solvable, errors told apart, graded by nbgrader."""

from __future__ import annotations

import filecmp
import json
import os
import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest

import exercises
import sampling
from seeklab.exercises import odx_prefetch
from seeklab.judge import Outcome
from seeklab.judge.catalogue import assignment as find_assignment
from seeklab.judge.grading import NO_TICKET, Work, grade
from seeklab.judge.identity import SECRET_VARIABLE, Course, open_course
from seeklab.judge.sandbox import Sandbox
from wrong_answers import judged, wrong_answers

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Notebook = dict[str, Any]

pytest.importorskip("nbgrader", reason="nbgrader is not installed; `make lab` installs it")

ASSIGNMENT = "odx-prefetch"
"""The one that a whole class hands in below."""
ASSIGNMENTS = sorted(path.name for path in exercises.SOLUTIONS.iterdir())
POINTS = {"check-prediction": 2, "check-diagnosis": 7, "check-fix": 1, "check-fix-elsewhere": 2}
NOTHING = dict.fromkeys(POINTS, 0)
LIKELY_ERRORS = 3
SOLUTION = re.compile(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", re.DOTALL)


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a course directory of its own, with the release that nbgrader makes of the sources."""
    folder = exercises.course_copy(tmp_path_factory.mktemp("course"))
    exercises.generate(folder)
    return folder


def test_exercises_are_in_step_with_their_source(course: Path) -> None:
    generated, kept = course / "exercises", exercises.EXERCISES
    files = sorted(path.relative_to(generated) for path in generated.rglob("*") if path.is_file())
    stored = sorted(path.relative_to(kept) for path in kept.rglob("*") if path.is_file() and not _is_hidden(path))
    assert stored == files
    _, differing, unreadable = filecmp.cmpfiles(generated, kept, [str(path) for path in files], shallow=False)
    assert (differing, unreadable) == ([], []), "make update what=exercises"


def test_no_answer_and_no_hidden_test_is_in_a_release(course: Path) -> None:
    for source in (course / "solutions").rglob("*.ipynb"):
        release = (course / "exercises" / source.relative_to(course / "solutions")).read_text(encoding="utf-8")
        assert "BEGIN SOLUTION" not in release
        assert "HIDDEN TESTS" not in release
        # What a cell ships beside its answer, such as the names of a policy's methods, is no answer.
        answers = [
            line.strip()
            for cell in _read(source)["cells"]
            for region in SOLUTION.findall(_source(cell))
            for line in region.splitlines()
            if len(line.strip()) > len("prediction = {") and line not in SOLUTION.sub("", _source(cell))
        ]
        assert answers
        assert [answer for answer in answers if json.dumps(answer)[1:-1] in release] == []


@pytest.fixture(scope="module")
def judges(tmp_path_factory: pytest.TempPathFactory) -> Course:
    secret = tmp_path_factory.mktemp("instructor") / "secret"
    return open_course(secret)[0]


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_a_solution_earns_all_points_and_what_is_shipped_earns_none(assignment: str, judges: Course) -> None:
    solved = exercises.SOLUTIONS / assignment / f"{assignment}.ipynb"
    shipped = exercises.EXERCISES / assignment / f"{assignment}.ipynb"
    full, none = (grade(Work("Ada Lovelace", assignment, str(path)), judges, Sandbox()) for path in (solved, shipped))
    assert full.flags == (() if find_assignment(assignment).blind is None else (NO_TICKET,))
    assert full.score == full.max_score, [str(verdict) for verdict in full.verdicts]
    assert none.score == 0, [str(verdict) for verdict in none.verdicts]
    assert all(verdict.reason for verdict in none.verdicts)


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_three_likely_errors_fail_with_a_reason_of_their_own(assignment: str) -> None:
    reasons = set[str]()
    wrong = wrong_answers(assignment)
    for one in wrong:
        verdict = judged(assignment, one.task, one.answers, b"a")
        assert verdict.outcome is Outcome.FAIL, f"{one}: {verdict}"
        assert verdict.code == one.code, f"{one}: {verdict}"
        reasons.add(verdict.reason)
    assert len(reasons) == len(wrong) >= LIKELY_ERRORS


def test_a_learner_may_validate_with_nbgrader(course: Path) -> None:
    told = exercises.nbgrader(course, "validate", str(course / "solutions" / "disk-time" / "disk-time.ipynb")).stdout
    assert "Success! Your notebook passes all the tests." in told
    told = exercises.nbgrader(course, "validate", str(course / "exercises" / "disk-time" / "disk-time.ipynb")).stdout
    assert "VALIDATION FAILED ON 3 CELL(S)!" in told


# What a class hands in. Each takes the released notebook and changes it as a learner would, or as a cheat would.


def _good(notebook: Notebook, student: str) -> None:
    solved = _read(exercises.SOLUTIONS / ASSIGNMENT / f"{ASSIGNMENT}.ipynb")
    for cell in solved["cells"]:
        for answer in SOLUTION.findall(_source(cell)):
            _cell(notebook, cell["id"])["source"] = answer
    _cell(notebook, "learner")["source"] = f"LEARNER = {student!r}"


def _bad(notebook: Notebook, student: str) -> None:
    _good(notebook, student)
    _cell(notebook, "prediction")["source"] = f"prediction = {dict.fromkeys(odx_prefetch.QUESTIONS, 1000)}"
    _cell(notebook, "diagnosis")["source"] = """diagnosis = {
    "read_bytes": 8 << 20, "missed_bytes": 0, "first_missed_byte": 0,
    "phase": "transfer", "cause": "The disks turn too slowly.",
}"""
    _cell(notebook, "fix")["source"] = "fix = {'jobs[background].rate_iops': 0.001, 'volume.cache.size': '64GiB'}"


def _fitted_to_one_size(notebook: Notebook, student: str) -> None:
    _good(notebook, student)
    largest = "exercise.system(LEARNER).changes['protocol.max_transaction']"
    _cell(notebook, "fix")["source"] = f"fix = {{'volume.prefetch.chunk': {largest}}}"


def _points_raised(notebook: Notebook, student: str) -> None:
    _fitted_to_one_size(notebook, student)
    for name in POINTS:
        _cell(notebook, name)["metadata"]["nbgrader"]["points"] = 100


def _checks_rewritten(notebook: Notebook, _student: str) -> None:
    for name, points in POINTS.items():
        _cell(notebook, name)["source"] = str(points)


def _checks_removed(notebook: Notebook, student: str) -> None:
    _fitted_to_one_size(notebook, student)
    deleted = ("check-diagnosis", "check-fix-elsewhere")
    for name in POINTS:
        del _cell(notebook, name)["metadata"]["nbgrader"]
    notebook["cells"] = [cell for cell in notebook["cells"] if cell["id"] not in deleted]


def _checks_not_graded(notebook: Notebook, student: str) -> None:
    _bad(notebook, student)
    for name in POINTS:
        _cell(notebook, name)["metadata"]["nbgrader"]["grade"] = False


FITTED = {**POINTS, "check-fix-elsewhere": 0}
BAD = {**NOTHING, "check-prediction": 2}
SUBMISSIONS: dict[str, tuple[Callable[[Notebook, str], None], dict[str, int]]] = {
    "good": (_good, POINTS),
    "untouched": (lambda _notebook, _student: None, NOTHING),
    "bad": (_bad, BAD),
    "points-raised": (_points_raised, FITTED),
    "checks-rewritten": (_checks_rewritten, NOTHING),
    "checks-removed": (_checks_removed, FITTED),
    "checks-not-graded": (_checks_not_graded, BAD),
}
"""How each is made, and the points that its answers earn."""
GRADED_BY_NBGRADER = ["good", *sampling.some([student for student in SUBMISSIONS if student != "good"], 1)]
"""A chain of processes for each takes its time; `make full` has it for all."""


def _hand_in(course: Path, submitted: Path, student: str) -> Path:
    """Write a submission among those of the class; return the notebook."""
    folder = submitted / student / ASSIGNMENT
    shutil.copytree(course / "exercises" / ASSIGNMENT, folder)
    path = folder / f"{ASSIGNMENT}.ipynb"
    notebook = _read(path)
    SUBMISSIONS[student][0](notebook, student)
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def grades(course: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, float]]:
    """Let nbgrader's command line grade the class, and read its gradebook."""
    from nbgrader.api import Gradebook

    os.environ[SECRET_VARIABLE] = str(tmp_path_factory.mktemp("instructor") / "secret")
    for student in GRADED_BY_NBGRADER:
        _hand_in(course, course / ".grading" / "submitted", student)
    told = exercises.nbgrader(course, "autograde", ASSIGNMENT, "--force").stdout
    assert "error processing" not in told, told
    with Gradebook(f"sqlite:///{course / '.grading' / 'gradebook.db'}") as gradebook:
        return {
            student: {
                grade.name: grade.score
                for grade in gradebook.find_submission_notebook(ASSIGNMENT, ASSIGNMENT, student).grades
            }
            for student in GRADED_BY_NBGRADER
        }


@pytest.mark.parametrize("student", GRADED_BY_NBGRADER)
def test_nbgrader_grades_a_submission_by_what_it_does(student: str, grades: dict[str, dict[str, float]]) -> None:
    assert grades[student] == SUBMISSIONS[student][1]


@pytest.mark.parametrize("student", SUBMISSIONS)
def test_the_fast_path_grades_a_submission_by_what_it_does(
    student: str, judges: Course, course: Path, tmp_path: Path
) -> None:
    path = _hand_in(course, tmp_path, student)
    graded = grade(Work(student, ASSIGNMENT, str(path)), judges, Sandbox())
    assert {verdict.task: verdict.points for verdict in graded.verdicts} == SUBMISSIONS[student][1]


def test_a_learner_is_told_the_measured_number_the_bound_and_what_is_wrong() -> None:
    verdict = odx_prefetch.check("check-fix", "Ada Lovelace", fix={"volume.prefetch.per_request": 2})
    assert re.search(r"prefetch_max_ahead_bytes: [\d,]+ B; bound <= [\d,]+ \(fixed has [\d,]+\): broken", str(verdict))
    assert verdict.code == "too-far-ahead"


def test_systems_differ_between_learners_and_stay_the_same_for_one() -> None:
    assert odx_prefetch.system("Ada Lovelace").changes == odx_prefetch.system(" ada  lovelace").changes
    chunks = {str(odx_prefetch.system(f"learner {n}").changes) for n in range(20)}
    assert len(chunks) > 15


def test_a_failed_diagnosis_does_not_tell_the_right_numbers() -> None:
    learner = "Ada Lovelace"
    wrong = {"read_bytes": 1, "missed_bytes": 2, "first_missed_byte": 3}
    verdict = odx_prefetch.check("check-diagnosis", learner, diagnosis=wrong)
    assert len({item.why for item in verdict.evidence}) == 5, "each part has a reason of its own"
    for size in odx_prefetch.system(learner).changes.values():
        assert f"{size:,}" not in str(verdict)


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(exercises.EXERCISES).parts)


def _read(path: Path) -> Notebook:
    notebook: Notebook = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def _source(cell: Notebook) -> str:
    return "".join(cell["source"])


def _cell(notebook: Notebook, name: str) -> Notebook:
    return next(cell for cell in notebook["cells"] if cell["id"] == name)
