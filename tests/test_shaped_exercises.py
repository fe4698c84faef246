"""The exercises of two shapes: solved they pass anywhere, and what is no answer fails with a sentence."""

from __future__ import annotations

import os

import pytest

import sampling
from seeklab.exercises import incast_admission
from seeklab.exercises._shapes import System
from seeklab.judge import Outcome, Seeds, Variant, catalogue, judge
from seeklab.judge.identity import practice_draws
from seeklab.judge.programs import Live
from wrong_answers import LEARNER, SHAPED, judged, solution

# A solution has to pass on whatever a seed draws. `make full` asks it of many draws, other ones at each commit.
DRAWS = [b"b", *(f"{sampling.commit()} {number}".encode() for number in range(40) if os.environ.get(sampling.ALL))]


@pytest.mark.parametrize("draw", range(len(DRAWS)))
@pytest.mark.parametrize("name", SHAPED)
def test_the_solution_passes_on_a_system_of_every_kind(name: str, draw: int) -> None:
    answer = "rule" if "rule" in catalogue.assignment(name).kinds else "fix"
    verdict = judged(name, "check-elsewhere", {answer: solution(name, answer)}, DRAWS[draw])
    assert verdict.passed, verdict


# Few packets fit into the port and many onto the path, and what is left over of the servers is asked alone.
@pytest.mark.parametrize(
    ("servers", "round_trip_us", "buffer"), [(57, 80, 18), (64, 80, 16), (9, 350, 48), (1, 1400, 320)]
)
def test_the_admission_of_the_solution_holds_on_the_hardest_networks(
    servers: int, round_trip_us: int, buffer: int
) -> None:
    path = round_trip_us * 1000 // incast_admission.WIRE_NS + 1
    system = {"servers": servers, "round_trip_us": round_trip_us, "path_packets": path, "buffer_at_least": buffer}
    rule = solution("incast-admission", "rule")(system)
    drawn_system = System(system, "")
    for port in (buffer, incast_admission.ROOMY * buffer):
        got = incast_admission.seen(drawn_system, rule["at_once"], rule["window"], port)["goodput_mbit"]
        assert got >= 1.02 * incast_admission.SHARE * incast_admission.LINK_MBIT
    one_by_one = incast_admission.seen(drawn_system, 1, rule["window"])["goodput_mbit"]
    assert servers < 40 or one_by_one < 0.95 * incast_admission.SHARE * incast_admission.LINK_MBIT


@pytest.mark.parametrize("name", SHAPED)
def test_what_is_no_answer_fails_with_a_sentence(name: str) -> None:
    rules = catalogue.assignment(name).kinds.keys() >= {"rule"}
    nothing = (
        (lambda _: None, lambda _: "a lot", lambda _: 1 / 0, lambda _: float("nan")) if rules else ({}, {"x": 1}, 3)
    )
    for work in (*nothing, None):
        given = {"rule" if rules else "fix": Live(work) if callable(work) else work}
        variant = Variant(practice_draws(LEARNER))
        (verdict,) = judge(catalogue.assignment(name), given, variant, Seeds(b"a"), ["check-own"])
        assert verdict.outcome is Outcome.FAIL
        assert verdict.reason


@pytest.mark.parametrize("name", SHAPED)
def test_learners_get_systems_of_their_own(name: str) -> None:
    from importlib import import_module

    module = import_module(f"seeklab.exercises.{name.replace('-', '_')}")
    names = [f"learner {number}" for number in range(30)]
    told = {module.briefing(one).replace(one, "") for one in names}
    assert len(told) > 6
