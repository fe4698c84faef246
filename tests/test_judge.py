"""The judge: pass, fail and cannot tell, each with its numbers; the same arguments always give the same verdict."""

from __future__ import annotations

import json
import pickle
import re
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import seeklab
from seeklab import LimitExceeded
from seeklab._result import at_most_events
from seeklab.judge import (
    Asked,
    Assignment,
    Bound,
    Choice,
    Code,
    Evidence,
    Fields,
    Number,
    Outcome,
    Seeds,
    Settings,
    Task,
    Variant,
    Verdict,
    catalogue,
    judge,
    largest,
    near,
)
from seeklab.judge.answers import UNANSWERED, UnreadableError
from seeklab.judge.assignment import HINTS, Commitment
from seeklab.judge.identity import Course, keep_fingerprint, kept_fingerprint, open_course, practice_draws
from seeklab.judge.practice import committed, less_hints

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

CASE = "odx-prefetch"
LEARNER = "Ada Lovelace"
SOLUTIONS = Path(__file__).resolve().parents[1] / "solutions"
NO_HINTS = ("", "", "")


def judged(
    measure: Callable[[Asked], list[Evidence]],
    *,
    seeds: int = 2,
    by_parts: bool = False,
    events: int = 1_000_000,
    answer: object = 1,
) -> Verdict:
    task = Task("check", 4, {"answer": Number()}, measure, NO_HINTS, seeds=seeds, by_parts=by_parts, events=events)
    (verdict,) = judge(Assignment("one", [task], {"answer": "answer"}), {"answer": answer}, variant(), Seeds(b"k" * 32))
    return verdict


def variant() -> Variant:
    return Variant(practice_draws(LEARNER))


def _measures(*answers_in_turn: str) -> Verdict:
    words = {"met": True, "broken": False, "nothing": None}
    answers = cycle([words[word] for word in answers_in_turn])
    return judged(lambda asked: [Evidence("x", 1.0, "<= 2", next(answers), seed=asked.seed)])


def test_seeds_of_a_key_are_always_the_same_and_those_of_another_are_others() -> None:
    drawn = Seeds(b"k" * 32).draw("check", 50)
    assert drawn == Seeds(b"k" * 32).draw("check", 50)
    assert len(set(drawn)) == 50
    assert set(drawn).isdisjoint(Seeds(b"l" * 32).draw("check", 50))
    assert set(drawn).isdisjoint(Seeds(b"k" * 32).draw("other", 50))


def test_seeds_that_agree_decide() -> None:
    assert _measures("met").outcome is Outcome.PASS
    assert _measures("broken").outcome is Outcome.FAIL


def test_seeds_that_disagree_lead_to_more_seeds_and_then_to_cannot_tell() -> None:
    verdict = _measures("met", "broken")
    assert verdict.outcome is Outcome.CANNOT_TELL
    assert len(verdict.evidence) == 6
    assert "seeds disagree" in verdict.reason
    assert verdict.points == 0


def test_after_seeds_that_disagreed_the_others_decide() -> None:
    for first, outcome in ((True, Outcome.PASS), (False, Outcome.FAIL)):
        answers = iter([not first, *[first] * 20])
        verdict = judged(lambda _, answers=answers: [Evidence("x", 1.0, "<= 2", next(answers))], seeds=3)  # type: ignore[misc]
        assert verdict.outcome is outcome
        assert "after 3 that disagreed" in verdict.reason


def test_a_bound_that_every_seed_breaks_needs_no_more_seeds_and_its_own_reason_is_told() -> None:
    drawn: list[int] = []

    def measure(asked: Asked) -> list[Evidence]:
        drawn.append(asked.seed)
        return [
            Evidence("x", 3.0, "<= 2", met=False, why="x is too large, because"),
            Evidence("y", 1.0, "<= 2", met=len(drawn) % 2 == 0),
        ]

    verdict = judged(measure)
    assert verdict.outcome is Outcome.FAIL
    assert verdict.reason == "x is too large, because"
    assert "x: 3; bound <= 2: broken" in str(verdict)
    assert len(drawn) == 2


def test_nothing_to_measure_is_no_pass() -> None:
    verdict = _measures("nothing")
    assert verdict.outcome is Outcome.CANNOT_TELL
    assert verdict.points == 0


def test_runs_have_a_budget_of_events_together_whatever_the_machine_takes() -> None:
    case = seeklab.case(CASE).with_({"record.log": False})
    events = case.run("fixed").events
    with at_most_events(2 * events + 2):
        assert [case.run("fixed").events for _ in range(2)] == [events, events]
    with at_most_events(2 * events):
        case.run("fixed")
        with pytest.raises(LimitExceeded, match=f"{2 * events:,} events"):
            case.run("fixed")


def test_a_measurement_that_takes_too_many_events_fails_with_a_reason() -> None:
    verdict = judged(lambda _: [Evidence("x", seeklab.case(CASE).run("fixed").wall_s, "", met=True)], events=1000)
    assert (verdict.outcome, verdict.points, verdict.code) == (Outcome.FAIL, 0, "limit")
    assert "1,000 events" in verdict.reason


def test_each_part_that_holds_has_its_share_of_the_points() -> None:
    verdict = judged(
        lambda _: [Evidence("a", 1, "1", met=True), Evidence("b", 2, "1", met=False, why="b is wrong")], by_parts=True
    )
    assert (verdict.points, verdict.max_points, verdict.reason) == (2, 4, "b is wrong")


def test_a_task_without_parts_gives_no_points_when_one_bound_is_broken() -> None:
    verdict = judged(lambda _: [Evidence("a", 1, "1", met=True), Evidence("b", 2, "1", met=False)])
    assert (verdict.outcome, verdict.points) == (Outcome.FAIL, 0)


def test_a_number_read_off_a_tool_must_be_the_runs_own() -> None:
    assert near("bytes", 8_650_752, 8_650_752.0).met
    assert not near("bytes", 8_388_608, 8_650_752.0).met
    assert near("ms", 101, 100.0, within_percent=2).met


def test_a_choice_is_judged_by_what_measures_most_and_a_near_tie_is_not_judged() -> None:
    phases = {"seek": 3.0, "queue": 9.0, "transfer": 1.0}
    assert largest("phase", "queue", phases).met
    assert largest("phase", "seek", phases).met is False
    assert largest("phase", "queue", {"queue": 9.0, "seek": 8.9}).met is None


DEEP: list[Any] = []
for _ in range(100_000):
    DEEP = [DEEP]

WRONG: list[tuple[object, str]] = [
    (None, UNANSWERED),
    (..., UNANSWERED),
    ("many", "a number; got 'many'"),
    (True, "a number; got True"),
    ([1], "a number; got [1]"),
    ({"a": 1}, "a number; got {'a': 1}"),
    (float("nan"), " nan, "),
    (float("inf"), " inf, "),
    (10**1_000_000, "digits"),
    (DEEP, "levels deep"),
    (list(range(30_000)), " 20,000 "),
    ("x" * 200_000, "characters"),
    (object(), "of type object"),
    (b"1", "of type bytes"),
]


@pytest.mark.parametrize(("answer", "told"), WRONG, ids=[told for _, told in WRONG])
def test_what_is_no_answer_earns_nothing_and_a_sentence(answer: object, told: str) -> None:
    verdict = judged(lambda _: [Evidence("x", 1.0, "<= 2", met=True)], answer=answer)
    assert (verdict.outcome, verdict.points, verdict.code) == (Outcome.FAIL, 0, "unreadable")
    assert told in verdict.reason


def test_a_program_that_is_none_is_told_what_to_write() -> None:
    for kind, told in (
        (Code(("disks", "rpm")), " disks, rpm"),
        (Code(("read",), made=True), " __call__(self, read)"),
        (Code(made=True, methods=("hit", "evict")), " hit, evict"),
    ):
        with pytest.raises(UnreadableError, match=re.escape(told) + ".*; got 5"):
            kind.read("policy", 5)


def programs() -> list[Any]:
    return [
        pytest.param(name, kind, id=f"{name}-{answer}")
        for name in catalogue.NAMES
        for answer, kind in catalogue.assignment(name).kinds.items()
        if isinstance(kind, Code)
    ]


@pytest.mark.parametrize(("name", "kind"), programs())
def test_the_notebook_defines_a_program_as_its_kind_says(name: str, kind: Code) -> None:
    notebook = (SOLUTIONS / name / f"{name}.ipynb").read_text(encoding="utf-8")
    arguments = ", ".join(kind.takes)
    if kind.methods:
        headers = [rf"def {method}\(self, " for method in kind.methods]
    else:
        headers = [rf"def __call__\(self, {arguments}\):" if kind.made else rf"def \w+\({arguments}\):"]
    assert [header for header in headers if not re.search(header, notebook)] == []


def test_a_part_that_is_no_answer_fails_alone() -> None:
    kind = Fields({"size": Number(), "phase": Choice({"seek": "", "queue": ""})})
    read, broken = kind.read("diagnosis", {"size": 3, "phase": "disk"})
    assert read == {"size": 3}
    assert [item.what for item in broken] == ["phase"]


def test_a_setting_outside_its_task_fails_and_names_the_path() -> None:
    kind = Settings(("a", "b"), {"c": "c belongs to others"})
    task = Task("check", 1, {"fix": kind}, lambda _: [], NO_HINTS)
    for fix, code, told in (
        ({"c": 1}, "setting", "c belongs to others"),
        ({"d": 1}, "setting", "d cannot be set"),
        ({}, "unreadable", "some of a, b; got {}"),
    ):
        (verdict,) = judge(Assignment("x", [task], {}), {"fix": fix}, variant(), Seeds(b""))
        assert (verdict.code, told in verdict.reason) == (code, True)


def test_a_bound_can_be_a_documented_fact_and_says_its_demand_before_anything_is_measured() -> None:
    assert Bound.from_fact(CASE, "Q1.6", "odx.read_latency_mean_ms").at_most == 5
    with pytest.raises(ValueError, match=r"Q1\.1"):
        Bound.from_fact(CASE, "Q9.9", "odx.read_latency_mean_ms")
    most, least = (
        str(Bound("odx.read_latency_mean_ms", at_most=1.5, of="fixed")),
        str(Bound("odx.read_latency_mean_ms", at_least=1.5, of="fixed")),
    )
    assert most != least
    for words in (most, least):
        assert re.fullmatch(r"odx\.read_latency_mean_ms: .* 1\.5 .* fixed", words)


def test_a_bound_is_broken_by_one_percent() -> None:
    metric = "odx.read_latency_mean_ms"
    result = seeklab.case(CASE).run("fixed")
    found = result.metrics[metric]

    def met(bound: Bound) -> bool | None:
        return bound.check(result, result).met

    assert [met(Bound(metric, at_most=share * found)) for share in (1, 0.99)] == [True, False]
    assert [met(Bound(metric, at_least=share * found)) for share in (1, 1.01)] == [True, False]
    assert [met(Bound(metric, at_most=share, of="fixed")) for share in (1, 0.99)] == [True, False]


# Identity


def test_the_graded_variant_is_the_hmac_of_student_and_assignment() -> None:
    course = Course(bytes(range(32)))
    # Recompute it with any library: HMAC-SHA256, key 00 01 ... 1f, over three words, each after its length in four
    # bytes, most significant first: "variant", "ada", "odx-prefetch".
    vector = "669a91851652e434e60634b4f6b35df861479ac778894d762cdbc3762a94e1b8"
    assert course.draws("ada", "odx-prefetch").hex() == vector
    # Seeds: the same over "seeds", "ada", "odx-prefetch" is the key of a second HMAC, over a submission's digest.
    vector = "01627c2b80976a80951997d3ad8ab2e45ea67ae80ac86f602a26bcfbb8e31e2e"
    assert course.seeds("ada", "odx-prefetch", b"work").key.hex() == vector
    others = {course.draws(student, assignment) for student in ("ada", "bob") for assignment in catalogue.NAMES}
    assert len(others) == 2 * len(catalogue.NAMES)
    assert course.draws("ad", "aodx-prefetch") != course.draws("ada", "odx-prefetch")


def test_a_secret_is_made_once_readable_by_its_owner_alone_and_never_in_the_course(tmp_path: Path) -> None:
    path = tmp_path / "private" / "secret"
    first, made = open_course(path)
    again, made_again = open_course(path)
    assert (first.secret, made, made_again) == (again.secret, True, False)
    assert path.stat().st_mode & 0o077 == 0
    path.chmod(0o644)
    with pytest.raises(ValueError, match="chmod 600"):
        open_course(path)
    with pytest.raises(ValueError, match=re.escape(str(tmp_path / "secret"))):
        open_course(tmp_path / "secret", outside=tmp_path)
    (tmp_path / "short").write_text("abcd")
    (tmp_path / "short").chmod(0o600)
    with pytest.raises(ValueError, match="2 bytes"):
        open_course(tmp_path / "short")


def test_a_secret_is_neither_made_anew_nor_another_where_grades_have_one(tmp_path: Path) -> None:
    made = [open_course(tmp_path / name)[0] for name in ("ours", "another")]
    keep_fingerprint(tmp_path / "grades.db", made[0])
    kept = kept_fingerprint(tmp_path / "grades.db")
    assert open_course(tmp_path / "ours", fingerprint=kept)[0].secret == made[0].secret
    for other in ("another", "nowhere"):
        with pytest.raises(ValueError, match=made[0].fingerprint):
            open_course(tmp_path / other, fingerprint=kept)
    assert not (tmp_path / "nowhere").exists()


def test_what_a_worker_gets_judges_one_students_work_and_does_not_tell_the_secret() -> None:
    course = Course(bytes(range(32)), {"disk-time": {"seeds": 3}})
    share = course.share("ada", "disk-time")
    assert share.seeds("ada", "disk-time", b"work") == course.seeds("ada", "disk-time", b"work")
    assert share.seeds("ada", "disk-time", b"work") != share.seeds("ada", "disk-time", b"other work")
    for ticketed in (True, False):
        alike = [one.variant("ada", "disk-time", ticketed=ticketed) for one in (share, course)]
        assert alike[0] == alike[1]
    with pytest.raises(ValueError, match="bob"):
        share.draws("bob", "disk-time")
    assert course.secret not in pickle.dumps(share)


def test_the_graded_bank_replaces_bounds_of_the_practice_bank(tmp_path: Path) -> None:
    (tmp_path / "bank.toml").write_text("[disk-time]\nbatch_rate_times = 9.0\nseeds = 1\n")
    course, _ = open_course(tmp_path / "secret")
    hard = course.variant(LEARNER, "disk-time", ticketed=False)
    choice = {"choice": {"queue_policy": "satf", "queue_depth": 16}}
    assignment = catalogue.assignment("disk-time")
    seeds = course.seeds(LEARNER, "disk-time")
    (practice,) = judge(assignment, choice, variant(), seeds, ["check-batch"])
    (graded,) = judge(assignment, choice, hard, seeds, ["check-batch"])
    assert (practice.passed, graded.passed) == (True, False)
    assert "9 times" in str(graded)


# Assignments as declared


@pytest.mark.parametrize("name", catalogue.NAMES)
def test_an_assignment_is_declared_whole(name: str) -> None:
    assignment = catalogue.assignment(name)
    assert assignment.id == name
    notebook = json.loads((SOLUTIONS / name / f"{name}.ipynb").read_text(encoding="utf-8"))
    points = {
        cell["metadata"]["nbgrader"]["grade_id"]: cell["metadata"]["nbgrader"]["points"]
        for cell in notebook["cells"]
        if cell["metadata"]["nbgrader"].get("grade")
    }
    assert {task.id: task.points for task in assignment.tasks} == points
    assert set(assignment.cells) == set(assignment.kinds)
    cells = {cell["id"] for cell in notebook["cells"]}
    assert set(assignment.cells.values()) <= cells
    for task in assignment.tasks:
        if isinstance(task, Task):
            assert len(set(task.hints)) == HINTS
            assert all(hint.endswith((".", "?")) for hint in task.hints)


def reasons_of(kind: object) -> Mapping[str, str]:
    if isinstance(kind, Choice):
        return kind.options
    if isinstance(kind, Fields):
        return {f"{name}={option}": why for name, one in kind.kinds.items() for option, why in reasons_of(one).items()}
    return {}


@pytest.mark.parametrize("name", catalogue.NAMES)
def test_every_distractor_has_a_reason_of_its_own(name: str) -> None:
    for task in catalogue.assignment(name).tasks:
        for kind in task.takes.values():
            reasons = reasons_of(kind)
            assert all(len(why) > 25 for why in reasons.values()), reasons
            if isinstance(kind, Choice):
                assert len(set(reasons.values())) == len(reasons)


def test_predictions_earn_points_by_being_complete_and_not_by_being_near() -> None:
    assignment = catalogue.assignment("disk-time")
    (task,) = (task for task in assignment.tasks if isinstance(task, Commitment))

    def points(prediction: object, commits: object = None) -> float:
        answers = committed(assignment, {"prediction": prediction}, commits)
        (verdict,) = judge(assignment, answers, variant(), Seeds(b""), [task.id])
        return verdict.points

    names = list(task.questions)
    assert points(dict.fromkeys(names, 1e6)) == task.points
    assert points({names[0]: 1.0}) == pytest.approx(task.points / 3)
    assert points(None) == 0
    kept = [{"id": f"disk-time/{name}", "value": 2.0, "confidence": 80, "skipped": False, "time": ""} for name in names]
    assert points(None, kept) == task.points
    assert points(None, [{**kept[0], "value": None, "skipped": True}, 7, {"id": []}, *kept[2:]]) < task.points
    assert points(None, {"id": 1}) == 0


def test_hints_cost_a_twentieth_each() -> None:
    verdict = Verdict("check-fix", Outcome.PASS, 4.0, 4.0, "good")
    commits = [{"id": "hint/check-fix/1"}, {"id": "hint/check-fix/2"}, {"id": "hint/other/1"}]
    assert less_hints(verdict, commits).points == pytest.approx(3.6)
    assert less_hints(verdict, "nothing") == verdict
