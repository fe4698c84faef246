"""A commit policy written in Python inside the engine."""

from __future__ import annotations

import re
from typing import Any

import pytest

import seeklab
from seeklab.exercises import commit_policy

CASE = seeklab.case("lost-group-commit").with_(
    {"jobs[clients].numjobs": 12, "jobs[clients].ramp_time": "1s", "jobs[clients].runtime": "9s"}
)
BATCH = "commit.logs[replication].batch"
LEARNER = "Ada Lovelace"


def everybody(queue: seeklab.LogQueue) -> list[int]:
    return list(range(queue.waiting))


def test_the_engines_policies_in_python_give_the_same_run() -> None:
    assert seeklab.run_commit_policy(CASE, everybody, seed=3).fingerprint == CASE.run("fixed", seed=3).fingerprint
    first = seeklab.run_commit_policy(CASE, lambda _queue: [0], seed=3)
    assert first.fingerprint == CASE.run("crowd", seed=3).fingerprint
    assert seeklab.run_commit_policy(CASE, "all", seed=3).fingerprint == CASE.run("fixed", seed=3).fingerprint
    # A scenario of one's own is asked at the same log.
    scenario = CASE.scenario("crowd")
    assert seeklab.run_commit_policy(scenario, lambda _queue: [0], seed=3).fingerprint == first.fingerprint


def test_what_is_told_of_the_queue_is_true() -> None:
    seen: list[seeklab.LogQueue] = []

    def watch(queue: seeklab.LogQueue) -> list[int]:
        assert queue.log == "replication"
        assert queue.waiting == len(queue.transactions) == len(queue.waited_ms) == len(queue.flushes) > 0
        assert queue.waiting + queue.elsewhere <= 12
        assert sorted(queue.waited_ms, reverse=True) == list(queue.waited_ms)
        assert set(queue.stages) == {1}
        seen.append(queue)
        return everybody(queue)

    found = seeklab.run_commit_policy(CASE, watch).metrics
    assert len(seen) == found["commit.replication_flushes"]
    assert max(max(queue.flushes) for queue in seen) == found["commit.replication_flushes_waited_max"] == 1
    assert [queue.waiting for queue in seen[:-1]] == [queue.last_batch for queue in seen[1:]]
    assert seen[-1].now_ms / 1e3 <= found["elapsed_s"]


def test_a_wait_gathers_company_and_costs_whoever_is_alone() -> None:
    def patient(queue: seeklab.LogQueue) -> list[int] | float:
        return 20 if queue.waiting < 6 and queue.waited_ms[0] < 20 else everybody(queue)

    batch = "commit.replication_batch_mean"
    waits, takes = (seeklab.run_commit_policy(CASE, policy).metrics for policy in (patient, everybody))
    assert waits[batch] > takes[batch]
    alone = CASE.with_({"jobs[clients].numjobs": 1})
    waited = "commit.replication_wait_mean_ms"
    waits, takes = (seeklab.run_commit_policy(alone, policy).metrics for policy in (patient, everybody))
    assert (waits[waited], takes[waited]) == (20, 0)


@pytest.mark.parametrize("answer", [[], [0, 0], [-1], [99], ["0"], None, True, 0, -2.0, 1e9, [0.0]])
def test_an_answer_that_is_none_is_refused_with_the_moment(answer: Any) -> None:
    with pytest.raises(seeklab.SeeklabError, match=r"at [\d.]+ s.*, \d+ "):
        seeklab.run_commit_policy(CASE, lambda _queue: answer)


def test_what_the_policy_raises_comes_out_with_the_moment() -> None:
    with pytest.raises(ZeroDivisionError) as raised:
        seeklab.run_commit_policy(CASE, lambda queue: [1 // (queue.waiting - queue.waiting)])
    assert re.search(r" at [\d.]+ s", raised.value.__notes__[0])


def test_a_system_without_a_database_or_that_log_is_refused() -> None:
    with pytest.raises(seeklab.SeeklabError, match="no database"):
        seeklab.run_commit_policy(seeklab.case("odx-prefetch"), everybody)
    with pytest.raises(seeklab.SeeklabError, match="replicaton"):
        seeklab.run_commit_policy(CASE, everybody, log="replicaton")
    with pytest.raises(seeklab.SeeklabError, match="engine, replication"):
        seeklab.run_commit_policy(CASE.scenario("crowd"), everybody, log="replicaton")
    with pytest.raises(seeklab.SeeklabError, match=r"\b7\b"):
        seeklab.run_commit_policy(CASE, 7)  # type: ignore[arg-type] # the mistake under test
    with pytest.raises(seeklab.SeeklabError, match='"all" or "one"'):
        seeklab.run_commit_policy(CASE, "everybody")
    with pytest.raises(seeklab.SeeklabError, match=r"commit\.logs: .*run_commit_policy"):
        CASE.with_({BATCH: "asked"}).run()


def test_a_policy_that_waits_for_ever_is_told_so() -> None:
    def lonely(queue: seeklab.LogQueue) -> list[int] | float:
        return everybody(queue) if queue.waiting > 1 else 5.0

    verdict = commit_policy.check("check-policy", LEARNER, Policy=lambda: lonely)
    assert verdict.code == "endless-wait", verdict


def test_who_is_left_behind_is_seen() -> None:
    def never_the_first(queue: seeklab.LogQueue) -> list[int]:
        return everybody(queue)[1:] or [0]

    assert commit_policy.check("check-policy", LEARNER, Policy=lambda: never_the_first).code == "left-behind"
