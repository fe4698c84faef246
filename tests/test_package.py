"""The package: what importing it costs, what a case offers, and that a run answers to its caller."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
from dataclasses import FrozenInstanceError
from threading import Thread
from typing import Any

import pytest

import seeklab
from console import ROOT
from fingerprints import SCENARIOS
from steps import OLDEST_LOCK, OLDEST_WASMTIME

CASE = "odx-prefetch"


def test_importing_needs_nothing_but_the_standard_library() -> None:
    program = "import sys, json, seeklab; print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    done = subprocess.run(
        [sys.executable, "-S", "-c", program], capture_output=True, text=True, check=False, env=_clean()
    )
    assert done.returncode == 0, done.stderr
    foreign = set(json.loads(done.stdout)) - sys.stdlib_module_names - {"seeklab", "__main__"}
    assert {name for name in foreign if not name.startswith("_")} == set()


def _clean() -> dict[str, str]:
    """Where the package lies and nothing else of the environment."""
    from pathlib import Path

    return {"PYTHONPATH": str(Path(seeklab.__file__).parent.parent)}


def test_each_public_function_has_an_example() -> None:
    without = [
        name
        for name in seeklab.__all__
        if inspect.isfunction(function := getattr(seeklab, name)) and ">>> " not in (function.__doc__ or "")
    ]
    assert not without, "make docs runs the examples of docstrings"


def test_every_case_can_be_loaded_by_its_name() -> None:
    for row in seeklab.cases():
        case = seeklab.case(row["id"])
        assert case.title == row["title"]
        assert list(case.variants) == row["variants"]
        assert case.default_variant in case.variants


def test_a_case_never_changes_and_with_gives_another() -> None:
    case = seeklab.case(CASE)
    smaller = case.with_({"volume.prefetch.chunk": "4MiB"})
    with pytest.raises(FrozenInstanceError):
        case.id = "other"  # type: ignore[misc]
    assert case.scenario()["volume"]["prefetch"]["chunk"] == 8 << 20
    assert smaller.scenario()["volume"]["prefetch"]["chunk"] == 4 << 20
    assert smaller.with_({"jobs[0].iodepth": 1}).changes.keys() == {"volume.prefetch.chunk", "jobs[0].iodepth"}


def test_controls_say_everything_a_slider_needs() -> None:
    controls = seeklab.case(CASE).controls
    assert controls
    for control in controls:
        assert control["title"]
        assert control["path"]
        assert control.get("choices") or control["min"] <= control["value"] <= control["max"]


def test_a_resolved_scenario_runs_to_the_same_fingerprint_as_its_case() -> None:
    case = seeklab.case(CASE)
    scenario = case.scenario("fixed")
    assert seeklab.validate(scenario) == scenario
    assert seeklab.run(scenario, seed=3).fingerprint == case.run("fixed", seed=3).fingerprint


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_that_was_written_out_runs_as_the_short_one(name: str) -> None:
    whole = seeklab.validate(SCENARIOS[name])
    assert seeklab.validate(whole) == whole
    assert seeklab.run(whole).fingerprint == seeklab.run(SCENARIOS[name]).fingerprint


def test_a_run_depends_on_its_seed_and_on_nothing_else() -> None:
    case = seeklab.case(CASE)
    assert case.run(seed=5).fingerprint == case.run(seed=5).fingerprint != case.run(seed=6).fingerprint


def test_a_result_holds_its_tables_and_its_texts() -> None:
    result = seeklab.case(CASE).with_({"jobs[odx].ramp_time": 0}).run("broken", seed=2)
    assert (result.case, result.variant, result.seed) == (CASE, "broken", 2)
    assert set(result.metrics) == set(result.units)
    assert result.jobs[0] == "odx"
    assert max(result.ops["job"]) < len(result.jobs)
    assert len(result.device_table) == len(result.devices)
    assert sum(result.bins["count"]) == len(result.ops)
    assert len(result.prefetches) > 0
    assert len(result.series) > 0
    assert "odx" in result.text("fio")
    assert result.fingerprint in repr(result)
    assert "<table>" in result._repr_html_()


def test_the_columns_outlive_the_result() -> None:
    ops = seeklab.case(CASE).run().ops
    assert len(ops["latency_ns"]) == len(ops) > 0
    assert min(ops["latency_ns"]) > 0


def test_progress_rises_to_one() -> None:
    seen: list[float] = []
    seeklab.case(CASE).run(progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1


def test_a_callback_that_raises_stops_the_run() -> None:
    def stop(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        seeklab.case(CASE).run(progress=stop)
    assert seeklab.case(CASE).run().metrics


def test_runs_in_several_threads_do_not_disturb_each_other() -> None:
    expected = {seed: seeklab.case(CASE).run(seed=seed).fingerprint for seed in range(1, 5)}
    found: dict[int, Any] = {}
    threads = [
        Thread(target=lambda seed=seed: found.update({seed: seeklab.case(CASE).run(seed=seed).fingerprint}))
        for seed in expected
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected


def test_the_compiled_engine_is_kept_and_a_broken_copy_is_made_anew(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Any,
) -> None:
    from seeklab.engine import compiled as _compiled
    from seeklab.engine import wasmtime as _wasmtime

    monkeypatch.setattr(_compiled, "cache_directory", lambda: tmp_path / "cache")
    _wasmtime.WasmtimeEngine()
    (kept,) = (tmp_path / "cache").iterdir()
    assert kept.stat().st_mode & 0o077 == 0
    whole = kept.read_bytes()
    kept.write_bytes(whole[:1000])
    assert _wasmtime.WasmtimeEngine().call("version", {})
    assert len(kept.read_bytes()) == len(whole)


def test_a_compiled_engine_that_others_can_write_is_not_trusted(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Any,
) -> None:
    import wasmtime

    from seeklab.engine import compiled as _compiled
    from seeklab.engine import wasmtime as _wasmtime

    monkeypatch.setattr(_compiled, "cache_directory", lambda: tmp_path / "cache")
    _wasmtime.WasmtimeEngine()
    (kept,) = (tmp_path / "cache").iterdir()
    kept.chmod(0o666)
    assert _compiled.load_cached(wasmtime.Engine(), kept) is None


def test_a_cache_that_cannot_be_written_does_not_matter(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Any,
) -> None:
    from seeklab.engine import compiled as _compiled
    from seeklab.engine import wasmtime as _wasmtime

    (tmp_path / "file").write_text("")
    monkeypatch.setattr(_compiled, "cache_directory", lambda: tmp_path / "file" / "cache")
    assert _wasmtime.WasmtimeEngine().call("version", {})


def test_the_engine_runs_where_wasmtime_lacks_undocumented_names(monkeypatch: pytest.MonkeyPatch) -> None:
    from seeklab.engine import fast_call as _fast_call
    from seeklab.engine import wasmtime as _wasmtime

    def lacks(*_arguments: object) -> None:
        raise AttributeError

    expected = seeklab.case(CASE).run().fingerprint
    monkeypatch.setattr(_fast_call, "FastCall", lacks)
    run = _wasmtime.WasmtimeEngine().open_run(seeklab.case(CASE).request())
    while run.step(1 << 20) < 1:
        pass
    assert run.summary()["fingerprint"] == expected


def test_the_oldest_wasmtime_allowed_gives_the_same_run() -> None:
    if not OLDEST_WASMTIME.exists():
        pytest.skip(f"make test installs the oldest wasmtime allowed in {OLDEST_WASMTIME.name}")
    program = f"""
import importlib.metadata as metadata, seeklab
print(metadata.version("wasmtime"), seeklab.case({CASE!r}).run().fingerprint)
"""
    environment = {**os.environ, "PYTHONPATH": str(OLDEST_WASMTIME)}
    command = [sys.executable, "-c", program]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()
    (oldest,) = re.findall(r"^wasmtime==(\S+)", OLDEST_LOCK.read_text(), re.MULTILINE)
    assert found == [oldest, seeklab.case(CASE).run().fingerprint]
    assert f"wasmtime>={oldest.split('.')[0]}," in (ROOT / "pyproject.toml").read_text()


def test_numbers_of_other_libraries_are_taken_as_numbers() -> None:
    case = seeklab.case(CASE)
    whole = case.with_({"volume.prefetch.chunk": _Whole()})
    assert whole.run().fingerprint == case.with_({"volume.prefetch.chunk": 4 << 20}).run().fingerprint


class _Whole:
    """A number as array libraries have them: not an int, and good for one."""

    def __index__(self) -> int:
        return 4 << 20


@pytest.mark.parametrize("value", [{1, 2}, object(), float("nan")])
def test_a_value_that_is_not_json_is_told(value: object) -> None:
    with pytest.raises(seeklab.SeeklabError, match=r"^volume\.prefetch\.chunk: "):
        seeklab.case(CASE).with_({"volume.prefetch.chunk": value}).run()


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="of the XDG standard")
def test_relative_places_for_caches_and_settings_are_ignored(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Any,
) -> None:
    from seeklab import _user_presets
    from seeklab.engine import compiled as _compiled
    from seeklab.judge.identity import SECRET_VARIABLE, secret_path

    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, "here")
    for name in ("SEEKLAB_PRESETS", SECRET_VARIABLE):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert _compiled.cache_directory() == tmp_path / ".cache" / "seeklab"
    assert _user_presets.folder() == tmp_path / ".config" / "seeklab" / "presets"
    assert secret_path() == tmp_path / ".config" / "seeklab" / "course-secret"
    monkeypatch.setenv("HOME", ".")
    with pytest.raises(RuntimeError):
        _compiled.cache_directory()
