"""Monitors and iostat: any window of the same run, against sums of the log; the keys of the real tool."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from typing import Any

import pytest

import seeklab
from seeklab import SeeklabError

CASE = "averaged-away"
MIB = 1 << 20


def drawn() -> list[tuple[int, int, int]]:
    """Window, phase and writes that no case file knows; the test's own seed draws them."""
    source = random.Random(426)
    return [
        (source.randrange(1, 30) * 10**9, source.randrange(30 * 10**9), source.randrange(40, 900)) for _ in range(4)
    ]


@pytest.mark.parametrize(("window", "phase", "writes"), drawn())
def test_a_window_holds_what_the_log_completes_in_it(window: int, phase: int, writes: int) -> None:
    result = seeklab.case(CASE).with_({"jobs[burst].number_ios": writes}).run()
    points = result.monitor(window, phase)
    done = [
        (submit + latency, latency, size)
        for submit, latency, size in zip(
            result.ops["submit_ns"], result.ops["latency_ns"], result.ops["bytes"], strict=True
        )
    ]
    assert sum(point["bytes"] for point in points) == writes * MIB
    for point in points:
        assert (point["from_ns"] - phase) % window == 0
        inside = [row for row in done if point["from_ns"] <= row[0] < point["from_ns"] + window]
        assert point["bytes"] == sum(row[2] for row in inside)
        assert point["mib_per_s"] == pytest.approx(point["bytes"] / MIB / (window / 1e9))
        if inside:
            assert point["latency_mean_ms"] == pytest.approx(sum(row[1] for row in inside) / len(inside) / 1e6)
        else:
            assert point["latency_mean_ms"] is None


@pytest.mark.parametrize(("depth", "writes"), [(8, 300), (48, 500)])
def test_mean_latency_is_that_of_a_queue_that_fills_from_empty(depth: int, writes: int) -> None:
    case = seeklab.case(CASE).with_({"jobs[burst].iodepth": depth, "jobs[burst].number_ios": writes})
    device = case.scenario()["devices"][0]["lun"]
    each_ms = MIB / device["rate"] * 1e3
    # The first `depth` find fewer before them; each of the others waits for the `depth` before its own completion.
    ramp = sum(range(1, depth + 1)) * each_ms + depth * device["latency"] / 1e6
    full = (writes - depth) * depth * each_ms
    metrics = case.run().metrics
    assert metrics["burst.write_latency_mean_ms"] == pytest.approx((ramp + full) / writes, rel=0.02)


def test_a_window_longer_than_what_was_watched_is_refused() -> None:
    result = seeklab.case(CASE).run()
    with pytest.raises(SeeklabError, match=r"window: 100 s"):
        result.monitor("100s")
    with pytest.raises(SeeklabError, match=r"monitor\.window"):
        seeklab.case(CASE).with_({"monitor.window": "100s"}).run()
    with pytest.raises(SeeklabError, match=r"window: .*soon"):
        result.monitor("soon")


def test_the_json_of_iostat_has_the_keys_of_the_real_one() -> None:
    iostat = shutil.which("iostat")
    if iostat is None:
        pytest.skip("iostat is missing: install sysstat")
    real = json.loads(subprocess.run([iostat, "-x", "-o", "JSON"], capture_output=True, text=True, check=True).stdout)
    ours = json.loads(seeklab.case(CASE).run().text("iostat-json"))
    host, model = real["sysstat"]["hosts"][0], ours["sysstat"]["hosts"][0]
    assert list(model) == list(host)
    disks: list[dict[str, Any]] = host["statistics"][0]["disk"]
    if not disks:
        pytest.skip("iostat shows no disk on this machine")
    (disk,) = model["statistics"][0]["disk"]
    assert list(disk) == list(disks[0])
    assert disk["w/s"] > 0
    assert disk["w_await"] == pytest.approx(seeklab.case(CASE).run().metrics["device_w_await_ms"], abs=0.01)


def test_awaits_are_response_times_of_each_direction_over_its_requests() -> None:
    result = seeklab.case("misaligned-io").with_({"jobs[writer].size": "64MiB"}).run()
    table = result.device_table
    for op, name in (("read", "r_await"), ("write", "w_await")):
        expected = sum(table[f"{op}_response_ns"]) / sum(table[f"{op}s"]) / 1e6
        assert result.metrics[f"device_{name}_ms"] == pytest.approx(expected)
