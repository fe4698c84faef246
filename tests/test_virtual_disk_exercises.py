"""The exercises on virtual disks and monitors: what passes and fails, for which learner, and what is told."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from seeklab import SeeklabError
from seeklab.exercises import blind_diagnosis, monitors_lie, shard_count, shard_map
from seeklab.judge import Outcome
from wrong_answers import solution

LEARNERS = ("Ada Lovelace", "Barbara Liskov", "Grace Hopper")


def decode(outstanding: int, write_mib: float, window_s: float, points: list[tuple[float, Any]]) -> tuple[float, float]:
    seen = [(mib_per_s * window_s, ms) for mib_per_s, ms in points if mib_per_s]
    written = sum(mib for mib, _ in seen)
    rate = outstanding * write_mib / (sum(mib * ms for mib, ms in seen) / written / 1000)
    return rate, written / rate


@pytest.mark.parametrize("learner", LEARNERS)
def test_littles_law_reads_any_dashboard(learner: str) -> None:
    assert monitors_lie.check("check-decode", learner, decode=decode).passed
    assert f"{'latency ms':>10}" in monitors_lie.look(learner)


@pytest.mark.parametrize(
    "function",
    [
        lambda _outstanding, _mib, window_s, points: (max(points)[0], window_s),  # believes the dashboard
        lambda *given: (2 * decode(*given)[0], decode(*given)[1]),
        lambda *given: (decode(*given)[0], 2 * decode(*given)[1]),
        lambda *_: (1, 2, 3),
        lambda *_: 1 / 0,
        None,
    ],
)
def test_another_reading_of_a_dashboard_fails_with_number_and_bound(function: object) -> None:
    verdict = monitors_lie.check("check-decode", LEARNERS[0], decode=function)
    assert verdict.outcome is Outcome.FAIL
    assert all(item.bound for item in verdict.evidence)


def test_a_function_that_forgets_the_second_window_fails_on_bursts_that_straddle_two() -> None:
    def busiest(outstanding: int, write_mib: float, window_s: float, points: list[Any]) -> tuple[float, float]:
        return decode(outstanding, write_mib, window_s, [max(points)])

    verdict = monitors_lie.check("check-decode", LEARNERS[0], decode=busiest)
    assert verdict.outcome is Outcome.FAIL
    assert all("two windows" in item.what for item in verdict.evidence)
    assert verdict.code == "two-windows"


def rule(cores: int, disks: int, dispatch_us: float, read_us: float) -> int:
    return math.ceil(min(read_us / dispatch_us, cores * read_us / (disks * (read_us + dispatch_us))))


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_smallest_number_of_shards_that_meets_the_next_limit_passes(learner: str) -> None:
    own = shard_count.node(learner)
    right = rule(own.cores, own.disks, own.dispatch_us, own.read_us)
    assert shard_count.check("check-shards", learner, shards=right).passed
    for wrong in (right - 1, right + 1):
        verdict = shard_count.check("check-shards", learner, shards=wrong)
        assert verdict.outcome is Outcome.FAIL
        assert all(item.bound for item in verdict.evidence)


@pytest.mark.parametrize(
    ("wrong", "outcome"),
    [
        (rule, Outcome.PASS),
        (lambda cores, disks, _d, _c: cores // disks, Outcome.FAIL),  # forgets the primary, or sets aside too many
        (lambda _cores, _disks, dispatch, read: math.ceil(read / dispatch), Outcome.FAIL),  # forgets the cores
        (lambda *_: 1 / 0, Outcome.FAIL),
        (lambda *_: 2.5, Outcome.FAIL),
        (None, Outcome.FAIL),
    ],
)
def test_a_rule_is_judged_on_nodes_that_it_has_not_seen(wrong: object, outcome: Outcome) -> None:
    assert shard_count.check("check-rule", LEARNERS[0], rule=wrong).outcome is outcome


def test_no_number_of_shards_earns_nothing() -> None:
    assert shard_count.check("check-shards", LEARNERS[0], shards=None).outcome is Outcome.FAIL


Balanced = solution("shard-map", "Policy")


def test_a_map_that_balances_survives_hot_ranges_that_it_has_not_seen() -> None:
    assert shard_map.check("check-map", LEARNERS[0], Policy=Balanced).passed
    assert shard_map.check("check-map-elsewhere", LEARNERS[0], Policy=Balanced).passed


@pytest.mark.parametrize(
    ("policy", "code"),
    [
        (lambda: lambda range_, shards, _history: range_ % shards, "static"),  # the usual one
        (lambda: lambda _range, _shards, _history: 0, "static"),
        # Follows every queue, and pays for each move.
        (
            lambda: lambda _range, shards, history: min(range(shards), key=lambda shard: history.queued[shard]),
            "restless",
        ),
        (lambda: lambda _range, shards, _history: shards, "refused"),
        (Balanced(), "program"),
        (7, "unreadable"),
    ],
)
def test_another_map_fails_with_what_it_broke(policy: object, code: str) -> None:
    verdict = shard_map.check("check-map", LEARNERS[0], Policy=policy)
    assert (verdict.outcome, verdict.code) == (Outcome.FAIL, code), verdict


def learners_of_each_cause() -> list[str]:
    """Find a learner for each cause, by experiment."""
    found: dict[str, str] = {}
    for number in range(60):
        learner = f"learner {number}"
        right = [
            cause
            for cause in blind_diagnosis.CAUSES
            if blind_diagnosis.check("check-cause", learner, cause=cause).passed
        ]
        assert len(right) == 1, (learner, right)
        found.setdefault(right[0], learner)
        if len(found) == len(blind_diagnosis.CAUSES):
            return list(found.values())
    raise AssertionError(found)


def test_every_incident_is_drawn_for_somebody_and_has_one_cause_that_explains_it() -> None:
    assert len(learners_of_each_cause()) == len(blind_diagnosis.CAUSES)


def worked_ms(folded: str) -> dict[str, float]:
    """Return the work of each thread in milliseconds, from the folded stacks."""
    busy: dict[str, float] = {}
    for line in folded.splitlines():
        stack, _, count = line.rpartition(" ")
        if ";" in stack:
            thread = ";".join(stack.split(";")[:2])
            busy[thread] = busy.get(thread, 0) + int(count) / 1e6
    return busy


def read_off(learner: str) -> tuple[str, dict[str, float]]:
    """Diagnose as a learner would, from what the tools print."""

    def numbers(tool: str, word: str) -> list[float]:
        line = next(line for line in blind_diagnosis.look(learner, tool).splitlines() if word in line)
        return [float(part) for part in re.findall(r"(?<![\w.])\d+(?:\.\d+)?", line)]

    def words(text: str, pattern: str) -> tuple[str, ...]:
        found = re.search(pattern, text)
        assert found, (pattern, text)
        return found.groups()

    def first(tool: str, pattern: str) -> float:
        return float(words(blind_diagnosis.look(learner, tool), pattern)[0])

    ticket, folded = blind_diagnosis.ticket(learner), blind_diagnosis.look(learner, "folded")
    cores, ping_ms = map(float, words(ticket, r"has (\d+) cores; ping .* says ([\d.]+) ms"))
    _, _, r_await, _, w_s, _, _, _, _, _ = numbers("iostat", "0 ")
    run_ms = first("fio", r"/(\d+)msec")
    unit, mean = words(blind_diagnosis.look(learner, "fio"), r" lat \((\w+)\):.*avg= *([\d.]+)")
    mean_ms = float(mean) / {"usec": 1000, "msec": 1}[unit]
    outside = {"outside_percent": 100 * (1 - r_await / mean_ms)}
    reads = numbers("iostat", "0 ")[0]
    if w_s and reads:
        start = first("parted", r"1 +(\d+)B")
        return blind_diagnosis.ALIGNMENT, {"reads_per_write": reads / w_s, "into_block": start % 4096}
    if w_s:
        depth = first("fio", r"iodepth=(\d+)")
        points = [line.split() for line in blind_diagnosis.look(learner, "monitor").splitlines()[2:]]
        _, _, shown, ms = max((point for point in points if point[3] != "-"), key=lambda point: float(point[2]))
        rate = depth * 1000 / float(ms)
        return blind_diagnosis.BURSTS, {"shown_in_flight": float(shown) * float(ms) / 1e3, "disk_mib_per_s": rate}
    busy = worked_ms(folded)
    if not busy:
        number, prefix = words(blind_diagnosis.look(learner, "fio"), r"BW=([\d.]+)([KM])iB/s")
        rate = float(number) * {"K": 1, "M": 1024}[prefix]
        return blind_diagnosis.WINDOW, {"per_round_trip_kib": rate * ping_ms / 1e3, **outside}
    cores_percent = 100 * sum(busy.values()) / run_ms / cores
    if cores_percent > 90:
        return blind_diagnosis.CORES, {"cores_percent": cores_percent, **outside}
    if max(busy.values()) < 0.9 * run_ms:
        shards = {thread: ms for thread, ms in busy.items() if "shard" in thread}
        return blind_diagnosis.LOCK, {"shard_percent": 100 * max(shards.values()) / run_ms, **outside}
    return blind_diagnosis.THREAD, {"thread_percent": 100 * max(busy.values()) / run_ms, **outside}


def test_the_words_of_a_ticket_fit_every_cause() -> None:
    causes, complaints = len(blind_diagnosis.CAUSES), len(blind_diagnosis.COMPLAINTS)
    told = [
        {
            re.sub(r"[\d.,]+", "", blind_diagnosis.ticket(bytes([cause, complaint, *range(30)])))
            for complaint in range(4)
        }
        for cause in range(causes)
    ]
    words = [{text.partition(": ")[2] for text in texts} for texts in told]
    assert [len(texts) for texts in words] == [complaints] * causes
    assert all(texts == words[0] for texts in words)


def test_each_incident_can_be_diagnosed_from_the_tools_alone() -> None:
    for learner in learners_of_each_cause():
        cause, evidence = read_off(learner)
        verdict = blind_diagnosis.check("check-evidence", learner, evidence=evidence, cause=cause)
        assert verdict.passed, (learner, cause, verdict)
        assert set(evidence) == set(blind_diagnosis.evidence_for(cause))
        name = next(iter(evidence))
        wrong = blind_diagnosis.check(
            "check-evidence", learner, evidence={**evidence, name: 2 * evidence[name]}, cause=cause
        )
        assert wrong.outcome is Outcome.FAIL
        assert [item.met for item in wrong.evidence if item.what == name] == [False]
        # The right number stays hidden.
        assert f"{evidence[name]:,g}" not in " ".join(item.bound for item in wrong.evidence)


def test_evidence_for_another_cause_is_none_and_what_is_no_cause_earns_nothing() -> None:
    learner = LEARNERS[0]
    cause, evidence = read_off(learner)
    other = next(other for other in blind_diagnosis.CAUSES if other != cause)
    assert blind_diagnosis.check("check-cause", learner, cause=other).outcome is Outcome.FAIL
    assert blind_diagnosis.check("check-evidence", learner, evidence=evidence, cause=other).outcome is Outcome.FAIL
    for nothing in (None, "The network.", 3):
        assert blind_diagnosis.check("check-cause", learner, cause=nothing).outcome is Outcome.FAIL
    assert blind_diagnosis.check("check-evidence", learner, evidence={}, cause=cause).outcome is Outcome.FAIL
    with pytest.raises(SeeklabError, match="iostat"):
        blind_diagnosis.look(learner, "oplog")
    with pytest.raises(SeeklabError, match=r"exercise\.CAUSES"):
        blind_diagnosis.evidence_for("The network.")


def test_learners_get_systems_of_their_own() -> None:
    names = [f"learner {number}" for number in range(20)]
    for own in (blind_diagnosis.ticket, monitors_lie.briefing, shard_count.briefing, shard_map.briefing):
        assert len({own(name).replace(name, "") for name in names}) > 10


@pytest.mark.parametrize("learner", [None, "", 3])
def test_a_learner_without_a_name_is_asked_for_one(learner: object) -> None:
    for verdict in (
        monitors_lie.check("check-decode", learner, decode=decode),
        shard_count.check("check-shards", learner, shards=3),
        shard_count.check("check-rule", learner, rule=rule),
        shard_map.check("check-map", learner, Policy=Balanced),
        blind_diagnosis.check("check-cause", learner, cause=blind_diagnosis.THREAD),
    ):
        assert verdict.outcome is Outcome.FAIL
        assert "not a name" in str(verdict)
