"""The exercises on the write throttle: what passes and fails, for which learner, and what is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from seeklab import SeeklabError
from seeklab.exercises import buffer_size, tune_scheduler, which_throttle, write_throttle
from seeklab.judge import Outcome
from seeklab.judge.answers import UNANSWERED

if TYPE_CHECKING:
    from collections.abc import Callable

    from seeklab import ThrottleHistory

LEARNERS = ("Ada Lovelace", "Barbara Liskov", "Grace Hopper")
MIB = 1 << 20


def passing_throttles(learner: str) -> list[str]:
    return [
        name
        for name in which_throttle.THROTTLES
        if which_throttle.check("check-throttle", learner, throttle=name).passed
    ]


@pytest.mark.parametrize("learner", LEARNERS)
def test_one_throttle_only_behaves_as_the_found_one(learner: str) -> None:
    (name,) = passing_throttles(learner)
    others = [other for other in which_throttle.THROTTLES if other != name]
    failed = which_throttle.check("check-throttle", learner, throttle=others[0])
    assert failed.outcome is Outcome.FAIL
    assert "as found: broken" in str(failed)
    assert failed.code == which_throttle.THROTTLES[others[0]][1].code


def test_learners_get_different_throttles() -> None:
    found = {passing_throttles(f"learner {number}")[0] for number in range(6)}
    assert len(found) >= 3


def test_a_wrong_reading_fails_without_telling_the_right_one() -> None:
    learner = LEARNERS[0]
    text = which_throttle.look(learner, "delays")
    slept = int(next(line.split()[-1] for line in text.splitlines() if line.split()[:1] == ["delayed"]))
    told = which_throttle.check(
        "check-readings", learner, readings={"slept": slept + 1, "stopped": 0, "stalls_percent": 0}
    )
    assert told.outcome is Outcome.FAIL
    assert f"{slept:,};" not in str(told).replace(f"{slept + 1:,}", "")
    assert which_throttle.check(
        "check-readings", learner, readings={"slept": slept, "stopped": 0, "stalls_percent": 0}
    ).passed


@pytest.mark.parametrize(("answer", "told"), [(None, UNANSWERED), ("The disks.", "exact text"), (3, "got 3")])
def test_what_is_no_throttle_is_refused_with_a_sentence(answer: object, told: str) -> None:
    verdict = which_throttle.check("check-throttle", LEARNERS[0], throttle=answer)
    assert verdict.outcome is Outcome.FAIL
    assert told in verdict.reason


def test_a_tool_that_is_not_at_hand_is_refused_with_those_that_are() -> None:
    with pytest.raises(SeeklabError, match="histogram"):
        which_throttle.look(LEARNERS[0], "oplog")


def right_size(load: int, backend: int, burst_s: int, percent: int) -> float:
    return ((load - backend) * burst_s + buffer_size.SYNC_BYTES * backend / load) / percent * 100.5


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_sum_that_counts_the_first_group_passes_everywhere(learner: str) -> None:
    assert buffer_size.check("check-size", learner, size=right_size).passed
    assert buffer_size.check("check-size-elsewhere", learner, size=right_size).passed


@pytest.mark.parametrize(
    "size",
    [
        lambda load, backend, burst_s, _percent: (load - backend) * burst_s,  # the throttle begins earlier
        lambda load, backend, burst_s, percent: (load - backend) * burst_s * 100 / percent,  # forgets the first group
        lambda *given: 1.06 * right_size(*given),  # wasteful
        lambda *_: 1e30,
        lambda *_: "much",
        lambda *_: 1 / 0,
        None,
    ],
)
def test_another_sum_fails_with_number_and_bound(size: object) -> None:
    verdict = buffer_size.check("check-size", LEARNERS[0], size=size)
    assert verdict.outcome is Outcome.FAIL
    assert all(item.bound for item in verdict.evidence)


GOOD = {"async_write_min_active": 1, "async_write_max_active": 8, "delay_scale": "5ms"}


@pytest.mark.parametrize("learner", LEARNERS)
def test_one_choice_serves_the_quiet_hour_and_the_rush(learner: str) -> None:
    assert tune_scheduler.check("check-quiet", learner, choice=GOOD).passed
    assert tune_scheduler.check("check-rush", learner, choice=GOOD).passed


@pytest.mark.parametrize(
    ("change", "quiet", "rush"),
    [
        ({"async_write_max_active": 10}, "pass", "fail"),  # reads wait behind too many
        ({"async_write_max_active": 5}, "fail", "fail"),  # too few for the throughput
        ({"async_write_min_active": 8}, "fail", "pass"),  # no ramp: the fence is back
        ({"delay_scale": "100us"}, "pass", "fail"),  # settles at the limit
    ],
)
def test_a_choice_that_serves_one_of_them_only_fails(change: dict[str, object], quiet: str, rush: str) -> None:
    choice = {**GOOD, **change}
    verdicts = (
        tune_scheduler.check("check-quiet", LEARNERS[0], choice=choice),
        tune_scheduler.check("check-rush", LEARNERS[0], choice=choice),
    )
    assert tuple(verdict.outcome.value for verdict in verdicts) == (quiet, rush)


@pytest.mark.parametrize(
    ("choice", "told"),
    [({}, "sets some of async"), ({"record": "4KiB"}, "delay_scale"), ({"async_write_min_active": 30}, "minimum")],
)
def test_what_is_no_choice_is_refused_with_a_sentence(choice: dict[str, object], told: str) -> None:
    verdict = tune_scheduler.check("check-rush", LEARNERS[0], choice=choice)
    assert verdict.outcome is Outcome.FAIL
    assert told in str(verdict)


class Curve:
    """Delays from a fifth of the limit on, one sleeper after the other."""

    def __init__(self) -> None:
        self.last_wake_ns = 0

    def __call__(self, dirty: int, limit: int, history: ThrottleHistory) -> int:
        free = limit // 5
        delay = 0 if dirty <= free else min(10_000_000 * (dirty - free) // (limit - dirty), 100_000_000)
        self.last_wake_ns = max(history.now_ns, self.last_wake_ns + delay) if delay else self.last_wake_ns
        return max(self.last_wake_ns - history.now_ns, 0) if delay else 0


def constant(delay_ns: float) -> Callable[[], Any]:
    return lambda: lambda _dirty, _limit, _history: delay_ns


def test_a_curve_that_leaves_room_for_a_group_beats_2008_on_swinging_backends() -> None:
    assert write_throttle.check("check-throttle", LEARNERS[0], Policy=Curve).passed
    assert write_throttle.check("check-throttle-elsewhere", LEARNERS[0], Policy=Curve).passed


@pytest.mark.parametrize(
    ("policy", "code"),
    [
        (constant(0), "late-delay"),  # the wall alone
        (constant(1e9), "idle-backend"),  # starves the backend
        (constant(-1), "refused"),
        (Curve(), "program"),
        (7, "unreadable"),
    ],
)
def test_another_throttle_fails_with_what_it_broke(policy: object, code: str) -> None:
    verdict = write_throttle.check("check-throttle", LEARNERS[0], Policy=policy)
    assert (verdict.outcome, verdict.code) == (Outcome.FAIL, code), verdict


def test_predictions_by_littles_law_are_near() -> None:
    own = write_throttle.backend(LEARNERS[0])
    fair_ms = 1000 * own.threads * write_throttle.BLOCK / own.rate
    near = write_throttle.check("check-prediction", LEARNERS[0], prediction={"rival_p50_ms": 0.03, "fair_ms": fair_ms})
    assert near.evidence[1].met, near
    far = write_throttle.check("check-prediction", LEARNERS[0], prediction={"rival_p50_ms": 10, "fair_ms": 4000})
    assert not any(item.met for item in far.evidence), far


@pytest.mark.parametrize("learner", [None, "", 3])
def test_a_learner_without_a_name_is_asked_for_one(learner: object) -> None:
    name = next(iter(which_throttle.THROTTLES))
    for verdict in (
        which_throttle.check("check-throttle", learner, throttle=name),
        buffer_size.check("check-size", learner, size=right_size),
        tune_scheduler.check("check-rush", learner, choice=GOOD),
        write_throttle.check("check-throttle", learner, Policy=Curve),
    ):
        assert verdict.outcome is Outcome.FAIL
        assert "not a name" in str(verdict)
