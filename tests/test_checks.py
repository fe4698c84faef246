"""Verdicts: pass, fail and cannot tell, each with its numbers, on seeds that nobody knows in advance."""

from __future__ import annotations

from itertools import cycle

import pytest

import seeklab
from seeklab import checks
from seeklab.checks import Bound, CannotTellError, Evidence, Outcome, fresh_seeds

CASE = "odx-prefetch"


def test_fresh_seeds_differ_every_time() -> None:
    assert len(set(fresh_seeds(50))) == 50
    assert set(fresh_seeds(50)).isdisjoint(fresh_seeds(50))


def _measures(*answers_in_turn: str) -> checks.Verdict:
    words = {"met": True, "broken": False, "nothing": None}
    answers = cycle([words[word] for word in answers_in_turn])
    return checks.judge_on_fresh_seeds(lambda seed: [Evidence("x", 1.0, "<= 2", next(answers), seed=seed)], 2)


def test_seeds_that_agree_decide() -> None:
    assert _measures("met").outcome is Outcome.PASS
    assert _measures("broken").outcome is Outcome.FAIL


def test_seeds_that_disagree_lead_to_more_seeds_and_then_to_cannot_tell() -> None:
    verdict = _measures("met", "broken")
    assert verdict.outcome is Outcome.CANNOT_TELL
    assert len(verdict.evidence) == 6
    with pytest.raises(CannotTellError, match="seeds disagree"):
        verdict.require()


def _odd_one_out(*, first: bool) -> checks.Verdict:
    answers = iter([not first, *[first] * 20])
    return checks.judge_on_fresh_seeds(lambda seed: [Evidence("x", 1.0, "<= 2", next(answers), seed=seed)], 3)


def test_after_seeds_that_disagreed_the_others_decide() -> None:
    passed = _odd_one_out(first=True)
    assert passed.passed
    assert passed.reason == "every bound holds on 6 fresh seeds, after 3 that disagreed"
    assert [item.met for item in passed.evidence] == [False, *[True] * 8], "the odd one is told too"
    assert _odd_one_out(first=False).outcome is Outcome.FAIL


def test_a_bound_that_every_seed_breaks_needs_no_more_seeds() -> None:
    drawn: list[int] = []

    def measure(seed: int) -> list[Evidence]:
        drawn.append(seed)
        return [Evidence("x", 3.0, "<= 2", met=False), Evidence("y", 1.0, "<= 2", met=len(drawn) % 2 == 0)]

    assert checks.judge_on_fresh_seeds(measure, 2).outcome is Outcome.FAIL
    assert len(drawn) == 2


def test_nothing_to_measure_is_no_pass() -> None:
    verdict = _measures("nothing")
    assert verdict.outcome is Outcome.CANNOT_TELL
    assert "nothing to measure" in str(verdict)


def test_a_fail_carries_the_measured_number_and_the_bound() -> None:
    verdict = checks.judge_prediction(100, 10.0, within_factor=2, what="mean latency", unit="ms")
    assert verdict.outcome is Outcome.FAIL
    with pytest.raises(
        AssertionError, match=r"mean latency: 100 ms; bound within a factor 2 of the measured 10: broken"
    ):
        verdict.require()


def test_a_prediction_is_scored_by_its_distance() -> None:
    exact, near, far = (checks.judge_prediction(value, lambda _: 10.0) for value in (10, 14, 70))
    assert exact.score == 1
    assert 0 < near.score < 1
    assert near.passed
    assert far.score == 0
    assert not far.passed


@pytest.mark.parametrize("value", [None, ..., "many", float("nan"), True])
def test_no_prediction_cannot_be_judged(value: object) -> None:
    assert checks.judge_prediction(value, 10.0).outcome is Outcome.CANNOT_TELL


def test_a_number_read_off_a_tool_must_be_the_runs_own() -> None:
    assert checks.judge_number(8_650_752, 8_650_752.0, what="bytes").passed
    assert not checks.judge_number(8_388_608, 8_650_752.0, what="bytes").passed
    assert checks.judge_number(101, 100.0, what="ms", within_percent=2).passed


def test_a_choice_is_judged_by_what_measures_most() -> None:
    phases = {"seek": 3.0, "queue": 9.0, "transfer": 1.0}
    assert checks.judge_choice("queue", phases, what="phase").passed
    assert not checks.judge_choice("seek", phases, what="phase").passed
    assert checks.judge_choice("cpu", phases, what="phase").outcome is Outcome.CANNOT_TELL
    assert checks.judge_choice("queue", {"queue": 9.0, "seek": 8.9}, what="phase").outcome is Outcome.CANNOT_TELL


def test_combined_checks_take_the_worst_outcome() -> None:
    good, bad = checks.judge_prediction(10, 10.0), checks.judge_prediction(99, 10.0)
    unknown = checks.judge_prediction(None, 10.0)
    assert checks.combine([good, good]).outcome is Outcome.PASS
    assert checks.combine([good, unknown]).outcome is Outcome.CANNOT_TELL
    assert checks.combine([good, unknown, bad]).outcome is Outcome.FAIL


LATENCY = Bound("odx.read_latency_mean_ms", at_most=1.2, of="fixed")


def test_a_fix_that_works_passes_and_none_fails() -> None:
    repaired = checks.judge_fix(CASE, {"protocol.odx_sizing": "target"}, [LATENCY], variant="broken")
    assert repaired.outcome is Outcome.PASS, repaired
    untouched = checks.judge_fix(CASE, {"protocol.odx_sizing": "max"}, [LATENCY], variant="broken")
    assert untouched.outcome is Outcome.FAIL, untouched
    assert "odx.read_latency_mean_ms" in str(untouched)


def test_a_fix_outside_its_task_fails_and_names_the_path() -> None:
    verdict = checks.judge_fix(CASE, {"jobs[2].rate_iops": 1}, [LATENCY], may_set=["protocol.odx_sizing"])
    assert verdict.outcome is Outcome.FAIL
    assert "jobs[2].rate_iops" in str(verdict)


def test_a_fix_that_the_engine_refuses_fails_with_the_engines_sentence() -> None:
    verdict = checks.judge_fix(CASE, {"protocol.odx_sizing": "smallest"}, [LATENCY])
    assert verdict.outcome is Outcome.FAIL
    assert "smallest" in str(verdict)


def test_a_fix_that_changes_nothing_at_all_fails() -> None:
    assert checks.judge_fix(CASE, {}, [LATENCY]).outcome is Outcome.FAIL


def test_a_learners_own_check_must_tell_the_variants_apart() -> None:
    def covers(result: object) -> bool:
        return result.metrics["odx.read_missed_share_percent"] < 1  # type: ignore[attr-defined, no-any-return]

    assert checks.judge_check(covers, CASE, accept=["fixed"], reject=["broken"], seeds=1).passed
    always = checks.judge_check(lambda _: True, CASE, accept=["fixed"], reject=["broken"], seeds=1)
    assert always.outcome is Outcome.FAIL
    assert "check of broken: accepted; bound rejected" in str(always)


def test_a_bound_can_be_a_documented_fact() -> None:
    assert Bound.from_fact(CASE, "Q1.6", "odx.read_latency_mean_ms").at_most == 5
    with pytest.raises(ValueError, match=r"Q1\.1"):
        Bound.from_fact(CASE, "Q9.9", "odx.read_latency_mean_ms")


def test_a_learners_check_that_raises_fails_with_what_it_raised() -> None:
    verdict = checks.judge_check(lambda result: result.metrics["no such"], CASE, accept=["fixed"], reject=[], seeds=1)
    assert verdict.outcome is Outcome.FAIL
    assert "raised KeyError: 'no such'" in str(verdict)


def test_a_bound_says_its_demand_before_anything_is_measured() -> None:
    assert str(Bound("odx.read_latency_mean_ms", at_most=1.5, of="fixed")) == (
        "odx.read_latency_mean_ms: at most 1.5 times that of the variant fixed"
    )


def test_a_prediction_near_enough_has_the_full_score() -> None:
    near, far = (checks.judge_prediction(value, 10.0, full_within_factor=1.25) for value in (12, 13))
    assert near.score == 1
    assert 0 < far.score < 1


def test_a_fix_is_compared_with_the_reference_of_the_same_system() -> None:
    slow_memory = seeklab.case(CASE).with_({"volume.cache.rate": "400MB"})
    bound = Bound("odx.read_latency_mean_ms", at_most=1.1, of="fixed")
    assert checks.judge_fix(slow_memory, {"protocol.odx_sizing": "target"}, [bound], variant="broken", seeds=1).passed
