"""The assignment on reading a benchmark: a client for each learner, and arithmetic that holds for each."""

from __future__ import annotations

import re

import pytest

import seeklab
from seeklab.exercises import bonnie_decoded as exercise
from seeklab.judge import Outcome

LEARNERS = ("Ada Lovelace", "Grace Hopper", "Edsger Dijkstra", "Barbara Liskov")


def by_arithmetic(learner: str) -> tuple[dict[str, str], dict[str, float]]:
    """Name the limits and predict, with pencil and paper."""
    own = exercise.numbers(learner)
    fits = own["cache_mib"] >= exercise.SET_MIB
    wire_us, protocol_us = 8192 * 8 / own["mbit_per_s"] * 34_978 / 32_768, 34 / own["cpu_speed"]

    def stream(process_us: float, reads: int, writes: int) -> str:
        cpu = max(process_us / own["cpu_speed"], protocol_us * (reads + writes))
        return "network" if wire_us * max(reads, writes) > cpu else "client CPU"

    def faster(process_us: float) -> float:
        cpu = max(process_us / own["cpu_speed"], protocol_us)
        return max(wire_us, cpu) / max(wire_us / exercise.LINK_TIMES, cpu)

    reads = 0 if fits else 1
    limits = {
        "putc": stream(98.6, 0, 1),
        "put_block": stream(25.9, 0, 1),
        "rewrite": stream(51.8, reads, 1),
        "getc": stream(114.7, reads, 0),
        "get_block": stream(25.9, reads, 0),
        "seeks": "client CPU" if fits else "latency",
        "seq_create": "latency",
        "seq_stat": "client CPU" if own["attributes_s"] else "latency",
        "seq_del": "latency",
    }
    return limits, {"put_block_times": faster(25.9), "putc_times": faster(98.6), "create_times": 1}


@pytest.mark.parametrize("learner", LEARNERS)
def test_arithmetic_earns_full_points(learner: str) -> None:
    limits, prediction = by_arithmetic(learner)
    named = exercise.check("check-limits", learner, limits=limits)
    assert named.outcome is Outcome.PASS, named
    assert named.score == pytest.approx(1)
    predicted = exercise.check("check-prediction", learner, prediction=prediction)
    assert predicted.outcome is Outcome.PASS, predicted
    assert all(item.met for item in predicted.evidence), predicted


def test_no_line_of_any_learner_is_too_close_to_call() -> None:
    told = {}
    for number in range(12):
        learner = f"learner {number}"
        limits, _ = by_arithmetic(learner)
        told[learner] = exercise.check("check-limits", learner, limits=limits)
    assert [str(verdict) for verdict in told.values() if verdict.outcome is not Outcome.PASS] == []


def test_one_answer_for_all_lines_fails_with_the_measured_share() -> None:
    verdict = exercise.check("check-limits", LEARNERS[0], limits=dict.fromkeys(exercise.LINES, "devices"))
    assert verdict.outcome is Outcome.FAIL
    assert re.search(r"putc: .* devices: .*>= \d", str(verdict))  # what it measured, and the largest of the others


def test_a_neighbours_answers_do_not_do() -> None:
    answers = {tuple(by_arithmetic(f"learner {number}")[0].values()) for number in range(12)}
    assert len(answers) > 3


def test_no_answer_earns_nothing() -> None:
    assert exercise.check("check-limits", LEARNERS[0], limits=None).points == 0
    assert exercise.check("check-prediction", LEARNERS[0], prediction={}).points == 0


def test_nothing_runs_before_all_is_answered() -> None:
    limits, prediction = by_arithmetic(LEARNERS[0])
    with pytest.raises(seeklab.SeeklabError, match=r"\bgetc\b"):
        exercise.run(LEARNERS[0], {**limits, "getc": None}, prediction)
    with pytest.raises(seeklab.SeeklabError, match=r"\bputc_times\b"):
        exercise.run(LEARNERS[0], limits, {**prediction, "putc_times": "?"})
    assert "client" in exercise.run(LEARNERS[0], limits, prediction).text("bonnie")
