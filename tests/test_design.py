"""Pools on paper: cost, capacity, bounds, and measurements that keep to them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

import seeklab
from seeklab import cli

QUICK = ("1-stream-cold", "5-random-cold", "9-sync-writes")


def test_a_design_is_the_sum_of_its_parts() -> None:
    pool = seeklab.design(disks=24, width=2, memory_gib=64, prices={"disks": 100, "memory_gib": 1})
    rest = seeklab.design().prices
    others = {"log_ssds": 1, "cores": 16, "server_gbit": 10}
    assert pool.cost == 24 * 100 + 64 + sum(rest[part] * number for part, number in others.items())
    assert pool.capacity_bytes == 12e12
    assert pool.with_(width=3).capacity_bytes == 8e12
    assert pool.with_(width=3).prices["disks"] == 100
    assert pool.numbers["disks"] == 24


def test_what_was_measured_keeps_to_its_bound_and_says_what_binds() -> None:
    rows = {row.name: row for row in seeklab.design().measure(QUICK)}
    assert all(0 < row.share <= 1.02 for row in rows.values()), rows
    assert rows["1-stream-cold"].binds == "clients' links"
    assert rows["9-sync-writes"].binds == "log SSDs"
    assert rows["5-random-cold"].binds == "waiting"
    assert rows["5-random-cold"].bound_by == "threads"


def test_disks_that_are_busy_below_their_bound_are_told_apart_from_waiting() -> None:
    few = seeklab.design(disks=4).run("5-random-cold")
    assert few.share < 0.8
    assert few.binds == "disks, seeking"


def test_a_part_moves_the_tests_that_it_binds_and_no_other() -> None:
    pool = seeklab.design()
    before = {row.name: row.value for row in pool.measure(QUICK)}
    two_logs = {row.name: row.value / before[row.name] for row in pool.with_(log_ssds=2).measure(QUICK)}
    assert two_logs["9-sync-writes"] > 1.5
    assert two_logs["1-stream-cold"] == pytest.approx(1, abs=1e-9)
    assert two_logs["5-random-cold"] == pytest.approx(1, abs=1e-9)
    faster = {row.name: row.value / before[row.name] for row in pool.with_(client_gbit=4).measure(QUICK)}
    assert faster["1-stream-cold"] > 2
    assert faster["9-sync-writes"] == pytest.approx(1, rel=0.05)


def test_memory_and_flash_hold_a_working_set() -> None:
    base: dict[str, Any] = {"disks": 12, "width": 2, "working_set_gib": 64, "cores": 16}
    values = {
        name: seeklab.design(**(base | parts)).run("working-set").value
        for name, parts in {
            "disks": {"memory_gib": 4},
            "half": {"memory_gib": 32},
            "flash": {"memory_gib": 4, "read_ssds": 4},
            "memory": {"memory_gib": 72},
        }.items()
    }
    assert values["disks"] < values["half"] < values["flash"] < values["memory"], values
    assert values["memory"] > 10 * values["disks"]


def test_a_load_may_be_changed_without_changing_the_pool() -> None:
    pool = seeklab.design()
    few = pool.run("9-sync-writes", {"jobs[load].numjobs": 1}, seed=3)
    assert few.result.seed == 3
    assert few.value < pool.run("9-sync-writes", seed=3).value / 2


@pytest.mark.parametrize(
    ("numbers", "told"),
    [
        ({"disks": 44, "width": 3}, r"disks: 44\b.*\b3\b.*\b42\b.*\b45\b"),
        ({"disks": 4, "width": 6, "parity": 2}, r"disks: 4\b.*\b6\b"),
        ({"memory_gib": 64, "cache_gib": 96}, r"cache_gib: 96\b.*\b64\b.*\b60\b"),
        ({"disks": 0}, r"disks: 0\b.*\b96\b"),
        ({"memory_gib": 7}, r"memory_gib: 7\b.*\b256\b"),
        ({"disk": 4}, "disks"),
        ({"width": 2, "parity": 2}, r"width: .*\b4\b"),
    ],
)
def test_a_pool_that_cannot_be_built_is_refused(numbers: dict[str, Any], told: str) -> None:
    with pytest.raises(seeklab.SeeklabError, match=told):
        seeklab.design(**numbers)


def test_a_log_larger_than_can_be_used_says_how_much_is(capsys: pytest.CaptureFixture[str]) -> None:
    large = seeklab.design(memory_gib=16, log_ssds=2, log_gb=74)
    assert [str(warning).partition(":")[0] for warning in large.warnings] == ["log_gb"]
    assert re.search(r"\b148 GB\b.*\b6 GiB\b", str(large.warnings[0]))
    assert not large.with_(log_ssds=1, log_gb=6).warnings
    assert cli.main(["design", "--set", "memory_gib=16", "--set", "log_gb=74"]) == cli.DONE
    assert re.search(r"log_gb: .*\b74 GB\b.*\b6 GiB\b", capsys.readouterr().err)


def test_what_lies_beyond_the_usable_log_changes_no_result() -> None:
    pool = seeklab.design(memory_gib=16)
    rates = [pool.with_(log_gb=size).run("9-sync-writes").value for size in (18, 74)]
    assert rates[0] == pytest.approx(rates[1], rel=0.02)


def test_an_unknown_test_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(ValueError, match="working-set"):
        seeklab.design().run("12-guess")


def test_the_command_line_prints_cost_and_bounds(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["design", "--set", "disks=24", "--set", "prices.disks=100"]) == cli.DONE
    text = capsys.readouterr().out
    assert " 2400\n" in text
    assert "12.0 TB in mirrors" in text
    assert cli.main(["design", "--set", "disks=24", "--json"]) == cli.DONE
    document = json.loads(capsys.readouterr().out)
    assert len(document["tests"]) == 12
    assert cli.main(["design", "--set", "disks=many"]) == cli.BAD_INPUT
    assert "disks" in capsys.readouterr().err
