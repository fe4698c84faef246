"""Predictions about the ZFS read side at inputs that no case knows, against formulas written apart from the engine."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

import seeklab

if TYPE_CHECKING:
    from collections.abc import Mapping

DRAWN = random.Random(2_008_2022)
MIB = 1 << 20
RECORD = 128 << 10
OTHER_INPUTS = 2


def metrics(case_id: str, variant: str, changes: Mapping[str, Any]) -> Mapping[str, float]:
    """Run a variant with changes."""
    return seeklab.case(case_id).with_(changes).run(variant).metrics


# S5.1


@pytest.mark.parametrize(("players", "cap"), [(DRAWN.randint(50, 400), DRAWN.randint(20, 300)) for _ in range(2)])
def test_read_ahead_asks_for_players_times_window(players: int, cap: int) -> None:
    changes = {"jobs[streams].numjobs": players, "zfs.prefetch.cap": cap, "jobs[streams].stagger": 0}
    found = metrics("media-prefetch", "asked", changes)
    # A window of cap records is reached when it has doubled from 1 often enough.
    assert found["zfs_ahead_asked_bytes"] == players * cap * RECORD


# S5.2: a rule of thumb. Up to two windows lie ahead of a reader, one and a half on average, and what was read stays for
# as long as the oldest of them waits: two windows more. What fits three and a half times is hardly ever wasted
# (measured: under half a percent at four times, 10 % at three, 39 % at two), what fits once is wasted and fetched anew.


@pytest.mark.parametrize("players", [DRAWN.randint(20, 40) for _ in range(OTHER_INPUTS)])
def test_windows_that_fit_four_times_are_hardly_ever_wasted_and_those_that_fit_once_are(players: int) -> None:
    def fitting(times: int) -> Mapping[str, float]:
        cap = 2**31 // (times * players * RECORD)
        return metrics("media-prefetch", "arriving", {"jobs[streams].numjobs": players, "zfs.prefetch.cap": cap})

    ample, scarce = fitting(4), fitting(1)
    assert ample["zfs_ahead_wasted_percent"] < 1
    assert ample["streams.read_stalls"] == 0
    assert scarce["zfs_ahead_wasted_percent"] > 50
    assert scarce["device_bytes"] > 4 * ample["device_bytes"]


# S5.4


@pytest.mark.parametrize(
    ("players", "rate"), [(DRAWN.randint(200, 900), DRAWN.randint(60, 130) * 1000) for _ in range(OTHER_INPUTS)]
)
def test_the_rate_is_players_times_their_rate(players: int, rate: int) -> None:
    changes = {"jobs[streams].numjobs": players, "jobs[streams].rate": rate, "jobs[streams].stagger": 0}
    found = metrics("media-prefetch", "tuned", {**changes, "jobs[streams].runtime": "60s"})
    assert found["streams.read_mb_per_s"] == pytest.approx(
        players * rate / 1e6, rel=RECORD / (60 * rate)
    )  # whole records


# S7.1


@pytest.mark.parametrize(
    ("size", "write_max"), [(DRAWN.randint(6, 20) * 128 * MIB, DRAWN.randint(3, 9) * MIB) for _ in range(OTHER_INPUTS)]
)
def test_a_device_warms_in_size_over_feed_rate(size: int, write_max: int) -> None:
    changes = {
        "jobs[client].size": size,
        "zfs.arc.size": size // 16,
        "zfs.l2arc.write_max": write_max,
        "zfs.l2arc.write_boost": 0,
        "jobs[client].runtime": f"{round(1.1 * size / write_max)}s",
    }
    found = metrics("l2arc-warmth", "warming", changes)
    written_a_pass = write_max // RECORD * RECORD  # a record is never split
    assert found["zfs_l2_to_80_percent_s"] == pytest.approx(0.8 * size / written_a_pass, rel=0.1)


# S7.6


@pytest.mark.parametrize("rate", [DRAWN.randint(15, 60) for _ in range(OTHER_INPUTS)])
def test_a_stream_beside_it_does_not_cool_the_device(rate: int) -> None:
    found = metrics("l2arc-warmth", "stream", {"jobs[stream].rate": f"{rate}MB"})
    assert found["client.pool_percent"] <= 2


# S7.7


@pytest.mark.parametrize("log2", [DRAWN.randint(14, 20) for _ in range(OTHER_INPUTS)])
def test_small_reads_cost_whole_records(log2: int) -> None:
    found = metrics("l2arc-warmth", "large-records", {"zfs.record": 1 << log2})
    reads = found["client.read_ios"]
    assert found["zfs_io_read_bytes"] == pytest.approx(reads * (1 << log2), rel=0.02)  # seldom the same record twice


# Time adds up in a run that touches every part of the read side


def test_every_nanosecond_of_a_read_has_a_phase_and_every_byte_a_source() -> None:
    result = seeklab.case("l2arc-warmth").with_({"record.log": True, "jobs[client].runtime": "20s"}).run("warming")
    rows = list(result.ops.rows())
    phases = [
        name
        for name in result.ops.columns
        if name.endswith("_ns") and name not in {"submit_ns", "due_ns", "latency_ns"}
    ]
    assert all(sum(row[name] for name in phases) == row["latency_ns"] for row in rows)
    served = sum(result.metrics[f"client.{source}_percent"] for source in ("memory", "on_its_way", "flash", "pool"))
    assert served == pytest.approx(100)
    sources = [result.sources[f"{name}_bytes"] for name in ("memory", "on_its_way", "flash", "pool")]
    assert sum(map(sum, sources)) == sum(row["bytes"] for row in rows)
