"""A policy written in Python inside the engine's cache replay."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

import seeklab
from policies import Lru

if TYPE_CHECKING:
    from pathlib import Path

REQUESTS = 5_000
OBJECTS = 200
SIZES = (5, 50)


class Wrong(Lru):
    """Names an object that is not there."""

    def evict(self, incoming: int) -> int:
        return incoming


@pytest.fixture
def trace() -> str:
    source = random.Random("a skewed trace")
    rows = (f"{n},{min(int(source.paretovariate(0.7)), OBJECTS)},1" for n in range(REQUESTS))
    return "time,object,size\n" + "\n".join(rows) + "\n"


@pytest.mark.parametrize("size", SIZES)
def test_lru_in_python_hits_as_often_as_the_engines_own(trace: str, size: int, tmp_path: Path) -> None:
    file = tmp_path / "trace.csv"
    file.write_text(trace, encoding="utf-8")
    (own,) = seeklab.cache(file, ["lru"], [size])
    played = seeklab.play_cache(trace, Lru(), size)
    assert played["requests"] == REQUESTS
    assert played["hits"] == own["hits"]
    assert 0 < played["hits"] < REQUESTS


def test_the_policy_is_told_of_everything_that_happens(trace: str) -> None:
    policy = Lru()
    played = seeklab.play_cache(trace, policy, SIZES[0])
    assert len(policy.order) == SIZES[0], "what was admitted less what was evicted is what is there"
    assert played["hits"] < REQUESTS


def test_an_answer_that_is_not_in_the_cache_is_refused_with_a_sentence(trace: str) -> None:
    with pytest.raises(seeklab.SeeklabError, match="key: "):
        seeklab.play_cache(trace, Wrong(), SIZES[0])


def test_curves_give_the_documented_delay() -> None:
    (point,) = seeklab.curve("openzfs-delay", [3_435_973_836], {"dirty_data_max": 4_294_967_296})
    assert point == {"x": 3_435_973_836, "y": 499_999, "unit": "ns"}


def test_a_misspelt_curve_is_answered_with_the_nearest() -> None:
    with pytest.raises(seeklab.SeeklabError, match="openzfs-delay"):
        seeklab.curve("openzfs-dely", [1])
