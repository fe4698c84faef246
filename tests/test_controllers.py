"""Controllers of virtual disks at inputs that no case file knows, against formulas written apart from the engine."""

from __future__ import annotations

import random
import re
from collections import Counter
from typing import Any
from xml.etree import ElementTree as ET

import pytest

import seeklab
from runs import run_case

MIB = 1 << 20
DRAWS = 3
READS = {"jobs[oltp].number_ios": 10, "jobs[restore].number_ios": 1, "record.log": False}
"""Only the random reads matter here."""


def drawn(seed: int) -> list[random.Random]:
    """Give the sources of a test's inputs, the same every time."""
    return [random.Random(seed + draw) for draw in range(DRAWS)]


def reads_per_s(changes: dict[str, Any]) -> float:
    """Random reads per second of one disk, or of all disks of the job."""
    result = seeklab.case("vdisk-sharding").with_({**READS, **changes}).run("before")
    return result.metrics["reads.read_iops"]


@pytest.mark.parametrize("source", drawn(2021), ids=range(DRAWS))
def test_a_disk_does_what_its_shards_its_primary_or_its_cores_allow(source: random.Random) -> None:
    cost_us, dispatch_us = source.uniform(30, 90), source.uniform(3, 15)
    cores = source.randrange(2, 7)
    for shards in (2, 5, 12):
        found = reads_per_s(
            {
                "controller.read": round(cost_us * 1000),
                "controller.dispatch": round(dispatch_us * 1000),
                "controller.per_byte": 0,
                "controller.cores": cores,
                "controller.shards": shards,
                "controller.only_spare_cores": False,
                "jobs[reads].iodepth": 512,
            }
        )
        expected = 1e6 * min(shards / cost_us, 1 / dispatch_us, cores / (cost_us + dispatch_us))
        assert found == pytest.approx(expected, rel=0.05), (cost_us, dispatch_us, cores, shards)


@pytest.mark.parametrize("source", drawn(75), ids=range(DRAWS))
def test_processor_time_for_each_byte_follows_the_cost_of_a_request_and_of_a_byte(source: random.Random) -> None:
    fixed_ns, byte_ns = source.randrange(20_000, 90_000), round(source.uniform(0.1, 0.3), 2)
    case = seeklab.case("vdisk-sharding").with_(
        {**READS, "controller.read": fixed_ns, "controller.per_byte": byte_ns, "jobs[reads].number_ios": 500}
    )
    for size in (4096, 262_144):
        found = case.with_({"jobs[reads].bs": size}).run("before").metrics["reads.read_cpu_per_gib_s"]
        assert found == pytest.approx((fixed_ns + byte_ns * size) / size * (1 << 30) / 1e9, rel=1e-4)


@pytest.mark.parametrize("source", drawn(12), ids=range(DRAWS))
def test_a_full_node_gains_from_cheaper_requests_and_not_from_shards(source: random.Random) -> None:
    cores, percent = source.randrange(2, 12), source.randrange(60, 95)
    many = {
        "jobs[reads].numjobs": 2 * cores,
        "jobs[reads].iodepth": 16,
        "jobs[reads].number_ios": 1000,
        "controller.cores": cores,
    }
    before = reads_per_s(many)
    assert reads_per_s({**many, "controller.shards": 4}) <= 1.1 * before
    assert reads_per_s({**many, "controller.cost_percent": percent}) == pytest.approx(before * 100 / percent, rel=0.02)


@pytest.mark.parametrize("source", drawn(8), ids=range(DRAWS))
def test_combining_pays_until_one_transaction_is_all_there_is(source: random.Random) -> None:
    fixed_s, byte_s = source.uniform(1e-4, 1e-3), source.uniform(0.1e-9, 0.9e-9)
    depth = source.choice([16, 32])
    case = seeklab.case("combine-limit").with_(
        {
            "controller.read": round(fixed_s * 1e9),
            "controller.per_byte": byte_s * 1e9,
            "jobs[client].iodepth": depth,
            "record.log": False,
        }
    )
    for limit in (1, 2, 4, 8, 16, 32, 64):
        found = case.with_({"protocol.target_transaction": limit * MIB}).run("limit-8")
        size = min(limit, depth) * MIB
        thread_s, device_s = fixed_s + byte_s * size, size / 2e9
        alone = limit >= depth
        expected = size / (thread_s + device_s if alone else max(thread_s, device_s)) / MIB
        assert found.metrics["client.read_mib_per_s"] == pytest.approx(expected, rel=0.02), limit


def test_a_transaction_is_nine_reads_and_a_commit() -> None:
    metrics = run_case("vdisk-sharding", "both").metrics
    assert metrics["oltp.read_ios"] == 9 * metrics["oltp.write_ios"]


def test_folded_stacks_are_what_flame_graph_tools_read_and_add_up_to_the_busy_time() -> None:
    result = run_case("vdisk-sharding", "both")
    total = 0
    for line in result.text("folded").splitlines():
        stack, _, count = line.rpartition(" ")
        assert all(stack.split(";"))
        total += int(count)
    assert total == pytest.approx(result.metrics["cpu_busy_s"] * 1e9, abs=1)


def test_a_public_flame_graph_tool_draws_the_folded_stacks_with_our_widths() -> None:
    """Inferno, behind `cargo flamegraph`, reads every line and gives each frame the share of time that we do."""
    pyinferno = pytest.importorskip("pyinferno", reason="pyinferno has wheels up to Python 3.11 only")
    folded = run_case("vdisk-sharding", "both").text("folded").splitlines()
    drawn = ET.fromstring(pyinferno.flamegraph_from_lines(folded))  # noqa: S314 -- made by the line above
    titles = [title.text or "" for title in drawn.iter("{http://www.w3.org/2000/svg}title")]
    found = Counter[str]()
    for title in titles:
        frame = re.fullmatch(r"(.+) \(([\d,]+) samples, ([\d.]+)%\)", title)
        if frame:
            found[frame[1]] += int(frame[2].replace(",", ""))
    expected = Counter[str]()
    for line in folded:
        stack, _, ns = line.rpartition(" ")
        for name in ["all", *stack.split(";")]:
            expected[name] += int(ns)
    # What is narrower than a hair is not drawn.
    hair = expected["all"] / 10_000
    assert expected["all"] == found["all"]
    for name, count in expected.items():
        assert found[name] == pytest.approx(count, abs=20 * hair), name
    assert {"disk 0", "primary", "shard 3", "dispatch", "receive", "decode", "look up map"} <= set(found)


def test_ranges_belong_to_shards_in_turn_or_as_a_list_of_owners_says() -> None:
    case = seeklab.case("vdisk-sharding").with_({**READS, "controller.shards": 4})
    even = shares(case.run("before"))
    assert all(share == pytest.approx(0.25, abs=0.03) for share in even.values())
    hot = shares(case.with_({"controller.owners": [0, 0, 0, 1]}).run("before"))
    assert hot[1] == pytest.approx(0.75, abs=0.03)
    assert hot[3] == hot[4] == 0


def shares(result: seeklab.Result) -> dict[int, float]:
    """Share of the first disk's requests that each shard did; shards are numbered from 1 as in the table."""
    done = Counter[int]()
    for row in result.cpu.rows():
        if row["disk"] == 0 and row["number"] > 0:
            done[int(row["number"])] += int(row["requests"])
    return {number: count / done.total() for number, count in done.items()}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"controller.shards": 0}, "controller.shards: 0 .*1024"),
        ({"controller.cost_percent": 0}, "controller.cost_percent: 0 "),
        ({"controller.lock": {"held_percent": 150}}, r"controller\.lock\.held_percent: 150 .*100"),
        ({"controller.owners": [-1]}, r"controller\.owners\[0\]: -1 "),
        ({"controller.shards": 8, "controller.range": "16GiB"}, r"\b8 .*\b4\b"),
        ({"controller.resizes": [{"at": "1s", "shards": 8}], "controller.range": "16GiB"}, r"controller.resizes\[0\]"),
        ({"controller.functions": [{"of": "read", "name": "a", "percent": 60}] * 2}, "120%"),
        (
            {
                "jobs[reads].numjobs": 2000,
                "jobs[reads].size": "1GiB",
                "controller.shards": 1000,
                "controller.only_spare_cores": False,
            },
            "controllers",
        ),
    ],
)
def test_a_controller_that_cannot_be_is_refused_with_its_path(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(seeklab.SeeklabError, match=message):
        seeklab.case("vdisk-sharding").with_(changes).run("before")
