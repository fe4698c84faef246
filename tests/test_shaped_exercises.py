"""The exercises of two shapes: solved they pass anywhere, and each likely error fails with a reason of its own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from exercises import SOLUTIONS
from seeklab import exercises
from seeklab.judge import Outcome, Seeds, Variant, Verdict, judge
from seeklab.judge.identity import practice_draws
from seeklab.judge.programs import Live

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Rule = Callable[[Mapping[str, Any]], Any]

LEARNER = "Ada Lovelace"
ONE_SEED = {"seeds": 1.0}
"""What breaks a bound on every seed breaks it on one; the grader draws two."""
CHUNK = {"buffer_compress_percentage": 50, "buffer_compress_chunk": 512}
CARD = {"server.nic.rings": 2, "server.nic.blank": "25us"}
KEPT = {"server.buffers.object_cache": True}


def _reserve(amplification: float, trimmed: float) -> float:
    return 100 * ((1 + 1 / (2 * amplification - 1)) * (1 - trimmed / 100) - 1)


def _throttled(system: Mapping[str, float], wrong: str = "") -> dict[str, float]:
    writes = system["limit_bytes"] / system["write_bytes"]
    seconds = system["sync_s"] - 7 / 8 * system["limit_bytes"] / system["load"]
    late = system["threads"] * seconds / system["tick_s"]
    stops = late > writes / 8
    slept = writes / 8 if stops or wrong == "slept" else late
    stopped = system["threads"] if stops or wrong == "stopped" else 0
    return {"passed": writes - slept - (0 if wrong == "passed" else stopped), "slept": slept, "stopped": stopped}


def _feeding(system: Mapping[str, float], share: float, interval: float) -> float:
    return share * system["data_bytes"] * interval / system["warm_in_s"]


def _estimate(system: Mapping[str, float], wrong: str = "") -> float:
    if "window_kib" in system:
        window = system["window_kib"] / 1024 / system["round_trip_ms"] * 1000
        return system["mbit_per_s"] / 8 if wrong == "far" else window
    one = 1000 / (system["seek_ms"] + (0 if wrong == "disk" else 30_000 / system["rpm"]))
    return one * system["disks" if wrong == "pool" else "threads"]


WRONG: dict[str, list[tuple[Any, str]]] = {
    "by-heart": [
        (lambda system: _estimate(system, "disk"), "half a turn"),
        (lambda system: _estimate(system, "pool"), "Count threads"),
        (lambda system: _estimate(system, "far"), "One window".lower()),
    ],
    "combined-size": [
        (lambda _: 64, "all that the client has in flight becomes one"),
        (lambda _: 1, "pays its fixed time"),
        (lambda system: system["in_flight_mib"] * 3 // 4, "unequal size"),
    ],
    "copy-way": [
        (lambda _: "client", "crosses the network twice"),
        (lambda _: "server-side", "lists this short"),
        (lambda _: "odx", "ranges this small"),
    ],
    "flash-reserve": [
        (lambda system: _reserve(system["wanted_amplification"] + 1, system["trimmed_percent"]), "too little"),
        (lambda system: _reserve(system["wanted_amplification"], 0), "what is trimmed"),
        (lambda system: _reserve(system["wanted_amplification"] / 2 + 0.5, 0), "a good deal less"),
    ],
    "group-length": [
        ({"zfs.txg_timeout": "2s"}, "long before its timeout"),
        ({"zfs.txg_synctime": "4s"}, "reads still wait"),
        ({"zfs.txg_synctime": "1s"}, "too much throughput is lost"),
    ],
    "hedge-budget": [
        (lambda system: {"after_ms": 1.5 * system["time_ms"], "budget_percent": 100}, "in an overload"),
        (lambda system: {"after_ms": 0.5 * system["time_ms"], "budget_percent": 2}, "too soon"),
        (lambda system: {"after_ms": 10 * system["time_ms"], "budget_percent": 2}, "too late"),
        (lambda system: {"after_ms": 1.5 * system["time_ms"], "budget_percent": 0.5}, "smaller than what"),
    ],
    "honest-data": [
        ({"buffer_compress_percentage": 50}, "whole blocks of zeros"),
        ({"buffer_compress_percentage": 50, "buffer_pattern": "0xdeadbeef"}, "blocks that repeat"),
        ({**CHUNK, "buffer_compress_percentage": 33}, "another ratio"),
    ],
    "log-lane": [
        ({"zfs.log.devices.count": 3}, "more log devices"),
        ({"zfs.log.slog_limit": "1MiB"}, "each commit carries one write"),
        ({"zfs.log.batch": True}, "behind the bulk"),
    ],
    "server-cycles": [
        ({"server.cores": 32}, "answer every call"),
        ({**CARD, **KEPT, "server.nic.rings": 1}, "a single holder"),
        ({"server.nic.rings": 2, "server.nic.blank_frames": 1, **KEPT}, "an interrupt for every frame"),
        (CARD, "every other core has to be told"),
    ],
    "throttle-sum": [
        (lambda system: _throttled(system, "stopped"), "each thread has one write"),
        (lambda system: _throttled(system, "slept"), "sleep only from 7/8"),
        (lambda system: _throttled(system, "passed"), "what passes is the group"),
    ],
    "warm-cache": [
        (lambda system: _feeding(system, system["warm_share"], 1), "more than once a second"),
        (lambda system: _feeding(system, 1, system["interval_s"]), "not all of the data"),
        (lambda system: _feeding(system, system["warm_share"], system["interval_s"]) / 2**20, "count how many"),
    ],
}
"""The likeliest wrong answers, each with words of the reason that belongs to it."""


def _judged(name: str, work: Any, task: str, key: bytes) -> Verdict:  # noqa: ANN401 -- a learner's
    assignment = exercises.assignment(name)
    answer = "rule" if callable(work) else "fix"
    given = {answer: Live(work) if callable(work) else work}
    (verdict,) = judge(assignment, given, Variant(practice_draws(LEARNER), ONE_SEED), Seeds(key), [task])
    return verdict


def _solution(name: str) -> Any:  # noqa: ANN401 -- a rule, or settings
    """Take the answer of the notebook with solutions."""
    notebook = json.loads((SOLUTIONS / name / f"{name}.ipynb").read_text(encoding="utf-8"))
    names: dict[str, Any] = {}
    for cell in notebook["cells"]:
        if cell["id"] in {"rule", "fix"}:
            exec("".join(cell["source"]), names)  # noqa: S102 -- the course's own code
    return names.get("rule", names.get("fix"))


@pytest.mark.parametrize("name", WRONG)
def test_the_solution_passes_on_a_system_of_every_kind(name: str) -> None:
    verdict = _judged(name, _solution(name), "check-elsewhere", b"b")
    assert verdict.passed, verdict


@pytest.mark.parametrize("name", WRONG)
def test_each_likely_error_fails_with_a_reason_of_its_own(name: str) -> None:
    reasons = []
    for work, words in WRONG[name]:
        verdict = _judged(name, work, "check-elsewhere", b"a")
        assert verdict.outcome is Outcome.FAIL, verdict
        assert words in verdict.reason, verdict
        reasons.append(verdict.reason)
    assert len(set(reasons)) == len(reasons) >= 3


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_answer_fails_with_a_sentence(name: str) -> None:
    rules = exercises.assignment(name).kinds.keys() >= {"rule"}
    nothing = (
        (lambda _: None, lambda _: "a lot", lambda _: 1 / 0, lambda _: float("nan")) if rules else ({}, {"x": 1}, 3)
    )
    for work in (*nothing, None):
        given = {"rule" if rules else "fix": Live(work) if callable(work) else work}
        variant = Variant(practice_draws(LEARNER))
        (verdict,) = judge(exercises.assignment(name), given, variant, Seeds(b"a"), ["check-own"])
        assert verdict.outcome is Outcome.FAIL
        assert verdict.reason


@pytest.mark.parametrize("name", WRONG)
def test_learners_get_systems_of_their_own(name: str) -> None:
    from importlib import import_module  # noqa: PLC0415 -- by the exercise's name

    module = import_module(f"seeklab.exercises.{name.replace('-', '_')}")
    names = [f"learner {number}" for number in range(30)]
    told = {module.briefing(one).replace(one, "") for one in names}
    assert len(told) > 6
