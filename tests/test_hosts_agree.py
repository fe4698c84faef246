"""The same run has the same fingerprint natively, under wasmtime, in Chromium and in Pyodide.

`fingerprints.txt` holds what each run gave when the model was last changed on purpose. Every host must give that, so a
change that shifts all of them together is seen as well.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import fingerprints
import sampling
import seeklab
from conftest import GIVE_UP_S
from seeklab._result import execute

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = Path(__file__).resolve().parent.parent
ONE_IN = 5
"""Each host takes minutes for all of them, which `make full` has. Wasmtime, which most tests run on, gets all."""
STORED = fingerprints.stored()
REQUESTS = fingerprints.requests()


def test_the_stored_runs_are_those_that_the_cases_and_scenarios_ask_for() -> None:
    assert list(STORED) == list(REQUESTS), "run tests/fingerprints.py, and say in the commit why results change"


@pytest.mark.parametrize("name", STORED)
def test_wasmtime_gives_the_stored_fingerprint(name: str) -> None:
    assert sys.implementation.name == "cpython"
    assert execute(REQUESTS[name]).fingerprint == STORED[name]


def _answer(title: str, *command: str | Path) -> Any:
    """Run a program that prints one JSON document."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, timeout=GIVE_UP_S)
    assert done.returncode == 0, f"{title}: {done.stderr or done.stdout}"
    return json.loads(done.stdout)


def sample(host: str, asked: Path) -> Path:
    """Write this commit's sample of the runs, as the hosts read them."""
    runs = {name: request for name, request in REQUESTS.items() if sampling.is_drawn(f"{host} {name}", ONE_IN)}
    asked.write_text(json.dumps(runs), encoding="utf-8")
    return asked


def native(asked: Path) -> dict[str, str]:
    """Ask the engine compiled for this machine, for the runs of a file."""
    tool = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "engine" / "target")) / "debug" / "seeklab-tool"
    assert tool.exists(), f"{tool} is missing; `make wasm` builds it"
    found: dict[str, str] = _answer("native", tool, "fingerprints", asked)
    return found


def browser(host: str, asked: Path) -> dict[str, str]:
    """Ask the page's engine, from JavaScript or through Pyodide, in the system's Chromium, for the runs of a file."""
    if shutil.which("chromium") is None:
        pytest.fail("chromium is not installed; `make test` says how")
    program = ROOT / "web" / "test" / "browser" / "main.mjs"
    found: dict[str, str] = _answer(host, "node", program, "--fingerprints", asked, "--hosts", host)[host]
    return found


def _difference(found: dict[str, str], names: Iterable[str]) -> dict[str, tuple[str | None, str]]:
    return {name: (found.get(name), STORED[name]) for name in names if found.get(name) != STORED[name]}


@pytest.mark.parametrize("host", ["native", "chromium", "pyodide"])
def test_another_host_gives_the_stored_fingerprints(host: str, tmp_path: Path) -> None:
    asked = sample(host, tmp_path / "runs.json")
    found = native(asked) if host == "native" else browser(host, asked)
    assert list(found) == list(json.loads(asked.read_text(encoding="utf-8")))
    assert _difference(found, found) == {}


def _of_seed(seed: int) -> dict[str, str]:
    ending = f", seed {seed}"
    return {name.removesuffix(ending): stored for name, stored in STORED.items() if name.endswith(ending)}


SAME_OPERATIONS = (
    "odx-prefetch ssd-evicted",  # the evicted tier is an absent one
    "averaged-away truth",  # the same burst, seen through another window
    "one-window-per-rtt one-side",  # the smaller buffer still decides: the point of the case
    "compressible-data",  # what is written differs, not when
    "slog-divert six-mirrored",  # both halves of a mirror are written at once
    "copysets sets",  # other outages lose data; a lost node's chunks are read as with any sets drawn at random
    "shouting application-quiet",  # writes that end in memory do not feel the shout: the point of the case
    "tlb-shootdown sized-to-request",  # as with the object cache, no buffer is mapped for a request
)
"""Variants that change what is seen or stored, and not the operations and their times."""


def test_every_variant_changes_the_run() -> None:
    runs = _of_seed(fingerprints.SEEDS[0])
    variants = [stored for name, stored in runs.items() if not name.startswith(SAME_OPERATIONS)]
    assert len(set(variants)) == len(variants)


def test_the_seed_changes_each_run_that_draws_at_random_and_no_other() -> None:
    one, other = (_of_seed(seed) for seed in fingerprints.SEEDS[:2])
    for name, request in REQUESTS.items():
        title = name.removesuffix(f", seed {fingerprints.SEEDS[0]}")
        if title == name or title not in other:
            continue
        case = seeklab.case(request["case"]) if "case" in request else None
        scenario = case.scenario(request["variant"]) if case is not None else request["scenario"]
        draws = any(job.get("rw", "read").startswith("rand") or "bsrange" in job for job in scenario["jobs"])
        rates = [device.get("lun", {}).get("varies", {}) for device in scenario.get("devices", [])]
        draws = draws or any(varies.get("shape") == "random" for varies in rates)
        logs = (scenario.get("commit") or {}).get("logs", [])
        flushes = [log.get("flush") or log.get("host") for log in logs]
        draws = draws or any(flush and flush["times"] != "fixed" for flush in flushes)
        packets = (scenario.get("network") or {}).get("packets") or {}
        draws = draws or any(packets.get(field) for field in ("jitter", "request_jitter"))
        # Where spindles stand and blocks lie at the start is drawn too, but not every run gets to feel it.
        flash = [(device.get("ssd") or {}).get("flash") or {} for device in scenario["devices"]]
        may = any(device.get("hdd") for device in scenario["devices"]) or bool(scenario.get("cluster"))
        may = may or any(drive.get("precondition") == "random" for drive in flash)
        assert (one[title] != other[title]) == draws or (may and not draws), name
