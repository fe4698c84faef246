"""A shard map written in Python inside the engine."""

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
SHARDS = 4
SYSTEM: dict[str, Any] = {
    "controller": {
        "cores": 8,
        "disks": "one",
        "shards": SHARDS,
        "range": "1MiB",
        "dispatch": "2us",
        "read": "20us",
        "write": "25us",
        "takeover": "100us",
    },
    "devices": [{"lun": {"rate": "6GB", "latency": "50us"}}],
    "jobs": [
        {"name": "reads", "rw": "randread", "bs": "8KiB", "iodepth": 32, "size": "32MiB", "filename": "disk"},
        {"name": "writes", "rw": "write", "bs": "24KiB", "iodepth": 4, "size": "16MiB", "filename": "disk"},
    ],
}


def in_turn(range_: int, shards: int, _history: seeklab.ShardHistory) -> int:
    return range_ % shards


def idle_first(_range: int, shards: int, history: seeklab.ShardHistory) -> int:
    if history.owner is not None and history.in_flight:
        return history.owner
    return min(range(shards), key=lambda shard: history.queued[shard])


def test_the_engines_map_in_python_gives_the_same_requests_to_the_same_shards() -> None:
    own = seeklab.run_shard_map(SYSTEM, "interleaved", seed=3)
    mine = seeklab.run_shard_map(SYSTEM, in_turn, seed=3)
    work = [list(result.cpu["busy_ns"]) for result in (own, mine)]
    assert work[0] == work[1]
    assert mine.fingerprint == own.fingerprint
    assert mine.metrics["moved_ranges"] == 0
    assert "moved_ranges" not in own.metrics


def test_the_history_is_true() -> None:
    seen: list[tuple[int, seeklab.ShardHistory]] = []
    owners: dict[int, int] = {}
    counted: dict[int, int] = {}

    def watch(range_: int, shards: int, history: seeklab.ShardHistory) -> int:
        assert shards == SHARDS == len(history.queued) == len(history.busy_ns)
        assert history.owner == owners.get(range_)
        assert history.requests == counted.get(range_, 0)
        counted[range_] = history.requests + 1
        owners[range_] = in_turn(range_, shards, history)
        seen.append((range_, history))
        return owners[range_]

    result = seeklab.run_shard_map(SYSTEM, watch)
    assert {range_ for range_, _ in seen} == set(range(32))
    # A write of 24 KiB may touch two ranges, and is asked about for each.
    assert sum(history.bytes for _, history in seen) == result.metrics["bytes"]
    crossing = sum(history.bytes < 24 << 10 for _, history in seen if history.write)
    assert crossing == 2 * 10  # borders that 24 KiB do not meet, of 15 between 16 ranges
    times = [history.now_ns for _, history in seen]
    assert times == sorted(times)
    busy = [list(result.cpu["busy_ns"])[1 + shard] for shard in range(SHARDS)]
    assert all(last <= whole for last, whole in zip(seen[-1][1].busy_ns, busy, strict=True))
    assert max(sum(history.queued) for _, history in seen) <= 32 + 2 * 4


def test_a_range_that_moves_costs_its_new_owner_and_requests_keep_their_order() -> None:
    turn = {"count": 0}

    def wander(_range: int, shards: int, _history: seeklab.ShardHistory) -> int:
        turn["count"] += 1
        return turn["count"] // 50 % shards

    moving = seeklab.run_shard_map({**SYSTEM, "record": {"log": True}}, wander)
    still = seeklab.run_shard_map(SYSTEM, in_turn)
    moved = moving.metrics["moved_ranges"]
    assert moved > 100
    assert moving.metrics["bytes"] == still.metrics["bytes"] == moving.metrics["device_bytes"]
    # Each move is 100 us of work, and nothing else of the work differs.
    assert moving.metrics["cpu_busy_s"] - still.metrics["cpu_busy_s"] == pytest.approx(moved * 100e-6, rel=1e-6)
    assert moving.metrics["reads.read_lock_mean_ms"] > 0


HASHED = """
def owner(range_, shards, history):
    if history.requests % 97 == 96:
        return (range_ + history.requests) % shards
    return history.owner if history.owner is not None else range_ * 7 % shards
"""


def test_the_same_map_gives_the_same_run_in_pyodide(tmp_path: Path) -> None:
    if shutil.which("chromium") is None:
        pytest.fail("chromium is not installed; `make test` says how")
    place: dict[str, Any] = {}
    exec(HASHED, place)  # noqa: S102 -- the text above
    file = tmp_path / "map.json"
    file.write_text(json.dumps({"hashed": {"scenario": SYSTEM, "seed": 5, "shard_map": HASHED}}))
    command: list[str | Path] = ["node", ROOT / "web" / "test" / "browser" / "main.mjs"]
    command += ["--fingerprints", file, "--hosts", "pyodide"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=GIVE_UP_S)
    assert done.returncode == 0, done.stderr or done.stdout
    here = seeklab.run_shard_map(SYSTEM, place["owner"], seed=5)
    assert here.metrics["moved_ranges"] > 0
    assert json.loads(done.stdout)["pyodide"] == {"hashed": here.fingerprint}


def test_a_case_has_a_map_in_the_variant_asked_for_and_through_changes_of_the_number_of_shards() -> None:
    case = seeklab.case("vdisk-sharding").with_({"jobs[oltp].number_ios": 10, "jobs[restore].number_ios": 1})
    mine = seeklab.run_shard_map(case, in_turn, variant="both")
    assert mine.variant == "both"
    assert mine.fingerprint == case.run("both").fingerprint
    counts = set[int]()

    def watch(range_: int, shards: int, history: seeklab.ShardHistory) -> int:
        counts.add(shards)
        assert history.owner is None or history.owner < shards
        return range_ % shards

    resized = case.with_({"controller.resizes": [{"at": "40ms", "shards": 2}, {"at": "80ms", "shards": 3}]})
    result = seeklab.run_shard_map(resized, watch, variant="both")
    assert counts == {2, 3, 4}
    assert result.metrics["overtaken_requests"] == 0


def test_what_the_map_raises_comes_out_with_the_place() -> None:
    with pytest.raises(ZeroDivisionError) as raised:
        seeklab.run_shard_map(SYSTEM, lambda range_, _shards, _history: 1 // (range_ - range_))
    assert re.search(r" at .*\d", raised.value.__notes__[0])


@pytest.mark.parametrize("answer", [-1, SHARDS, 1.0, "0", None, True])
def test_an_answer_that_is_no_shard_is_refused_with_the_place(answer: Any) -> None:
    with pytest.raises(seeklab.SeeklabError, match=r"shard: .*range \d+.*\b3\b"):
        seeklab.run_shard_map(SYSTEM, lambda _range, _shards, _history: answer)


def test_a_system_without_controllers_is_refused() -> None:
    with pytest.raises(seeklab.SeeklabError, match="controller"):
        seeklab.run_shard_map(seeklab.case("odx-prefetch"), in_turn)
    with pytest.raises(seeklab.SeeklabError, match="controller"):
        seeklab.run_shard_map({key: value for key, value in SYSTEM.items() if key != "controller"}, in_turn)
    with pytest.raises(seeklab.SeeklabError, match=r"\b7\b"):
        seeklab.run_shard_map(SYSTEM, 7)  # type: ignore[arg-type] # the mistake under test
    with pytest.raises(seeklab.SeeklabError, match="interleaved"):
        seeklab.run_shard_map(SYSTEM, "interleavd")


def test_nobody_to_ask_is_said_before_the_run_and_contradictions_too() -> None:
    asking = {**SYSTEM, "controller": {**SYSTEM["controller"], "map": "asked"}}
    with pytest.raises(seeklab.SeeklabError, match=r"controller\.map: .*run_shard_map"):
        seeklab.run(asking)
    for field, value in (("owners", [0, 1]), ("resize_waits", False), ("range", "4KiB")):
        wrong = {**SYSTEM, "controller": {**SYSTEM["controller"], field: value}}
        wrong["jobs"] = [{**SYSTEM["jobs"][0], "size": "16GiB", "number_ios": 1}]
        with pytest.raises(seeklab.SeeklabError, match=rf"controller\.{field}"):
            seeklab.run_shard_map(wrong, in_turn)
