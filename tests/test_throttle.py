"""A write throttle written in Python inside the engine."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import seeklab
from conftest import GIVE_UP_S

ROOT = Path(__file__).resolve().parent.parent
MIB = 1 << 20
LIMIT = 32 * MIB
SYSTEM: dict[str, Any] = {
    "zfs": {"era": "openzfs-2.1", "memory": "1GiB", "record": "128KiB", "dirty_data_max": LIMIT},
    "devices": [{"lun": {"rate": "50MB"}}],
    "jobs": [{"name": "writers", "rw": "write", "bs": "128KiB", "numjobs": 4, "size": "32MiB", "number_ios": 256}],
}
NS_PER_S = 1_000_000_000


class OpenZfs:
    """The throttle of 2013, as a learner would write it from its description."""

    def __init__(self) -> None:
        self.last_wake_ns = 0

    def __call__(self, dirty: int, limit: int, history: seeklab.ThrottleHistory) -> int:
        free_until = limit * 60 // 100
        if dirty <= free_until:
            return 0
        delay = min(500_000 * (dirty - free_until) // (limit - dirty), 100_000_000)
        started_ns = history.now_ns - history.waited_ns
        if history.now_ns > started_ns + delay:
            return 0
        self.last_wake_ns = max(started_ns + delay, self.last_wake_ns + delay)
        return self.last_wake_ns - history.now_ns


def test_the_throttle_of_2013_in_python_gives_the_run_of_the_engines_own() -> None:
    own = seeklab.run_throttle(SYSTEM, "openzfs", seed=3)
    mine = seeklab.run_throttle(SYSTEM, OpenZfs(), seed=3)
    assert mine.fingerprint == own.fingerprint
    assert mine.metrics["zfs_delay_total_s"] == own.metrics["zfs_delay_total_s"] > 0


STEEP = """
def delay_ns(dirty, limit, history):
    return 40_000 * dirty // limit * history.in_flight + history.waited_ns
"""


def test_the_same_policy_gives_the_same_run_in_pyodide(tmp_path: Path) -> None:
    if shutil.which("chromium") is None:
        pytest.fail("chromium is not installed; `make test` says how")
    place: dict[str, Any] = {}
    exec(STEEP, place)  # noqa: S102 -- the text above
    file = tmp_path / "throttle.json"
    file.write_text(json.dumps({"steep": {"scenario": SYSTEM, "seed": 5, "throttle": STEEP}}))
    command: list[str | Path] = [
        "node",
        ROOT / "web" / "test" / "browser" / "main.mjs",
        "--fingerprints",
        file,
        "--hosts",
        "pyodide",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=GIVE_UP_S)
    assert done.returncode == 0, done.stderr or done.stdout
    here = seeklab.run_throttle(SYSTEM, place["delay_ns"], seed=5)
    assert json.loads(done.stdout)["pyodide"] == {"steep": here.fingerprint}


def test_another_delay_gives_another_run_and_the_same_throughput() -> None:
    free = seeklab.run_throttle(SYSTEM, lambda _dirty, _limit, _history: 0)
    slow = seeklab.run_throttle(SYSTEM, lambda _dirty, _limit, _history: 100e6)
    assert free.metrics["zfs_blocked_writes"] > 0
    assert slow.metrics["zfs_blocked_writes"] == 0
    assert slow.metrics["writers.write_latency_p50_ms"] == pytest.approx(100, rel=0.01)


@pytest.mark.parametrize("name", ["none", "zfs2008", "zfs2010", "diagonal", "openzfs"])
def test_every_built_in_throttle_can_race(name: str) -> None:
    result = seeklab.run_throttle(SYSTEM, name)
    assert result.metrics["writers.write_ios"] == 4 * 256


def test_the_history_is_true() -> None:
    seen: list[tuple[int, int, seeklab.ThrottleHistory]] = []

    def watch(dirty: int, limit: int, history: seeklab.ThrottleHistory) -> int:
        seen.append((dirty, limit, history))
        return 1_000_000

    result = seeklab.run_throttle(SYSTEM, watch)
    assert len(seen) == result.metrics["writers.write_ios"]
    assert all(0 <= dirty < limit == LIMIT for dirty, limit, _ in seen)
    histories = [history for _, _, history in seen]
    times = [history.now_ns for history in histories]
    assert times == sorted(times)
    assert histories[0]._replace(bytes=0) == (0,) * len(histories[0])
    assert {history.bytes for history in histories} == {128 << 10}
    last = histories[-1]
    assert last.drained_bytes == pytest.approx(50e6 * last.now_ns / NS_PER_S, rel=0.1)
    assert last.drain_bytes_per_s == pytest.approx(50e6, rel=0.05)
    assert last.sync_bytes_per_s == pytest.approx(50e6, rel=0.05)
    assert max(history.in_flight for history in histories) >= 2
    assert all((history.in_flight == 0) == (history.in_flight_bytes == 0) for history in histories)
    assert max(history.asleep for history in histories) == 3
    assert all(history.group_bytes <= dirty for dirty, _, history in seen)


def test_a_case_is_throttled_in_the_variant_asked_for() -> None:
    case = seeklab.case("openzfs-throttle").with_({"jobs[writers].ramp_time": 0, "jobs[writers].runtime": "3s"})
    mine = seeklab.run_throttle(case, OpenZfs(), variant="openzfs")
    assert mine.variant == "openzfs"
    assert mine.fingerprint == case.run("openzfs").fingerprint


def test_what_the_policy_raises_comes_out_with_the_place() -> None:
    def broken(dirty: int, limit: int, history: seeklab.ThrottleHistory) -> float:
        return 1 / (dirty // (16 * MIB) - 1) + 1 if history.now_ns else limit * 0

    with pytest.raises(ZeroDivisionError) as raised:
        seeklab.run_throttle(SYSTEM, broken)
    assert re.search(r" at [\d.]+ s.* [\d,]+ bytes", raised.value.__notes__[0])


@pytest.mark.parametrize("answer", [-1, 61 * NS_PER_S, float("nan"), float("inf"), "1ms", None, True])
def test_an_answer_that_is_no_delay_is_refused_with_the_place(answer: Any) -> None:
    with pytest.raises(seeklab.SeeklabError, match="delay_ns"):
        seeklab.run_throttle(SYSTEM, lambda _dirty, _limit, _history: answer)


def test_a_failed_policy_leaves_nothing_behind() -> None:
    before = seeklab.run_throttle(SYSTEM, OpenZfs())
    with pytest.raises(seeklab.SeeklabError):
        seeklab.run_throttle(SYSTEM, lambda _dirty, _limit, _history: -1)
    assert seeklab.run_throttle(SYSTEM, OpenZfs()).fingerprint == before.fingerprint
    assert before.metrics["writers.write_ios"] == 4 * 256


def test_a_system_without_the_layer_is_refused() -> None:
    with pytest.raises(seeklab.SeeklabError, match="ZFS"):
        seeklab.run_throttle(seeklab.case("odx-prefetch"), OpenZfs())
    with pytest.raises(seeklab.SeeklabError, match="zfs"):
        seeklab.run_throttle({key: value for key, value in SYSTEM.items() if key != "zfs"}, OpenZfs())
    with pytest.raises(seeklab.SeeklabError, match=r"\b7\b"):
        seeklab.run_throttle(SYSTEM, 7)  # type: ignore[arg-type] # the mistake under test
    with pytest.raises(seeklab.SeeklabError, match="openzfs"):
        seeklab.run_throttle(SYSTEM, "openzsf")


def test_nobody_to_ask_is_said_before_the_run() -> None:
    asking = {**SYSTEM, "zfs": {**SYSTEM["zfs"], "throttle": "asked"}}
    with pytest.raises(seeklab.SeeklabError, match="run_throttle"):
        seeklab.run(asking)
