"""The exercises on virtual disks and monitors: what passes and fails, for which learner, and what is told."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

from seeklab.checks import Outcome
from seeklab.exercises import monitors_lie, shard_count, shard_map

if TYPE_CHECKING:
    from seeklab import ShardHistory

LEARNERS = ("Ada Lovelace", "Barbara Liskov", "Grace Hopper")


def decode(outstanding: int, write_mib: float, window_s: float, points: list[tuple[float, Any]]) -> tuple[float, float]:
    seen = [(mib_per_s * window_s, ms) for mib_per_s, ms in points if mib_per_s]
    written = sum(mib for mib, _ in seen)
    rate = outstanding * write_mib / (sum(mib * ms for mib, ms in seen) / written / 1000)
    return rate, written / rate


@pytest.mark.parametrize("learner", LEARNERS)
def test_littles_law_reads_any_dashboard(learner: str) -> None:
    assert monitors_lie.check_function(decode, learner).passed
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
    verdict = monitors_lie.check_function(function, LEARNERS[0], seeds=1)
    assert verdict.outcome is Outcome.FAIL
    assert all(item.bound for item in verdict.evidence)


def test_a_function_that_forgets_the_second_window_fails_on_bursts_that_straddle_two() -> None:
    def busiest(outstanding: int, write_mib: float, window_s: float, points: list[Any]) -> tuple[float, float]:
        return decode(outstanding, write_mib, window_s, [max(points)])

    verdict = monitors_lie.check_function(busiest, LEARNERS[0], seeds=1)
    assert verdict.outcome is Outcome.FAIL
    assert all("two windows" in item.what for item in verdict.evidence)


def rule(cores: int, disks: int, dispatch_us: float, read_us: float) -> int:
    return math.ceil(min(read_us / dispatch_us, cores * read_us / (disks * (read_us + dispatch_us))))


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_smallest_number_of_shards_that_meets_the_next_limit_passes(learner: str) -> None:
    own = shard_count.node(learner)
    right = rule(own.cores, own.disks, own.dispatch_us, own.read_us)
    assert shard_count.check_shards(right, learner, seeds=1).passed
    for wrong in (right - 1, right + 1):
        verdict = shard_count.check_shards(wrong, learner, seeds=1)
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
        (None, Outcome.CANNOT_TELL),
    ],
)
def test_a_rule_is_judged_on_nodes_that_it_has_not_seen(wrong: object, outcome: Outcome) -> None:
    assert shard_count.check_rule(wrong, LEARNERS[0], seeds=2).outcome is outcome


def test_no_number_of_shards_cannot_be_judged() -> None:
    assert shard_count.check_shards(None, LEARNERS[0], seeds=1).outcome is Outcome.CANNOT_TELL


class Balanced:
    """Moves one of the hotter ranges from the fullest to the emptiest shard, now and then."""

    def __init__(self) -> None:
        self.heat: dict[int, float] = {}
        self.owner: dict[int, int] = {}
        self.asked = 0

    def __call__(self, range_: int, shards: int, history: ShardHistory) -> int:
        self.asked += 1
        self.heat[range_] = self.heat.get(range_, 0) + 1
        self.owner.setdefault(range_, min(range(shards), key=lambda shard: history.queued[shard]))
        if self.asked % 200 == 0:
            self.heat = {at: heat / 2 for at, heat in self.heat.items() if heat > 0.5}
        if self.asked % 50 == 0:
            load = [0.0] * shards
            for at, heat in self.heat.items():
                load[self.owner[at]] += heat
            full, empty = load.index(max(load)), load.index(min(load))
            gap = load[full] - load[empty]
            movable = [(heat, at) for at, heat in self.heat.items() if self.owner[at] == full and heat < gap]
            if movable and gap > 0.2 * sum(load) / shards:
                self.owner[max(movable)[1]] = empty
        return self.owner[range_]


def test_a_map_that_balances_survives_hot_ranges_that_it_has_not_seen() -> None:
    assert shard_map.check_map(Balanced, LEARNERS[0], seeds=1).passed
    assert shard_map.check_map_elsewhere(Balanced).passed


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        (lambda: lambda range_, shards, _history: range_ % shards, "reads"),  # the usual one
        (lambda: lambda _range, _shards, _history: 0, "reads"),
        # Follows every queue, and pays for each move.
        (lambda: lambda _range, shards, history: min(range(shards), key=lambda shard: history.queued[shard]), "reads"),
        (lambda: lambda _range, shards, _history: shards, "whole number"),
        (Balanced(), "raised"),
        (7, "a class"),
    ],
)
def test_another_map_fails_with_what_it_broke(policy: object, told: str) -> None:
    verdict = shard_map.check_map(policy, LEARNERS[0], seeds=1)
    assert verdict.outcome is Outcome.FAIL
    assert told in str(verdict)


def test_learners_get_systems_of_their_own() -> None:
    names = [f"learner {number}" for number in range(20)]
    for own in (monitors_lie.briefing, shard_count.briefing, shard_map.briefing):
        assert len({own(name).replace(name, "") for name in names}) > 10


@pytest.mark.parametrize("learner", [None, "", 3])
def test_a_learner_without_a_name_is_asked_for_one(learner: object) -> None:
    for verdict in (
        monitors_lie.check_function(decode, learner),
        shard_count.check_shards(3, learner),
        shard_count.check_rule(rule, learner),
        shard_map.check_map(Balanced, learner),
    ):
        assert verdict.outcome is Outcome.FAIL
        assert "not a name" in str(verdict)
