"""What several tests ask of the engine, each made once; and the engine, for questions that only tests ask.

Facts are kept in `.cache/runs`, for all workers of a session and for later ones with the same engine, library and
package. `test_hosts_agree` runs each fingerprint anew: one that differs from the stored one would mean that a run can
give something else the next time, and that nothing may be kept.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import seeklab
import stages
from console import CACHE
from seeklab._facts import judge
from seeklab.engine.host import engine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from seeklab import Result
    from seeklab._facts import Row

__all__ = ["engine", "facts", "judged", "run_case"]

PACKAGE = Path(seeklab.__file__).parent
STORE = CACHE / "runs"
KEPT_S = 7 * 86_400.0
"""What an engine gave is deleted this long after another one was tested."""


@cache
def run_case(case_id: str, variant: str, seed: int = 1) -> Result:
    """Run a variant of a case with its operation log, or take the run that another test has made."""
    return seeklab.case(case_id).with_({"record.log": True}).run(variant, seed=seed)


def facts(case_id: str) -> list[Row]:
    """Judge the facts of a case, which share its runs, or take what another test was given."""
    return judged({"case": case_id})


def judged(asked: Mapping[str, Any]) -> list[Row]:
    """Judge the facts that are asked for, or take what another test was given."""
    name = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
    path = folder() / f"{name}.json"
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            written = path.with_suffix(".new")
            written.write_text(json.dumps(judge(asked)), encoding="utf-8")
            written.replace(path)
    rows: list[Row] = json.loads(path.read_text(encoding="utf-8"))
    return rows


@cache
def folder() -> Path:
    """Return the folder of this engine, library and package; where every test is to run, that of this session."""
    digest = hashlib.sha256()
    made = (path for pattern in ("*.wasm", "*.json") for path in (PACKAGE / "_engine").glob(pattern))
    for path in sorted((*PACKAGE.rglob("*.py"), *made)):
        digest.update(str(path.relative_to(PACKAGE)).encode() + b"\0" + path.read_bytes())
    if stages.is_fresh():
        digest.update(os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid())).encode())
    found = STORE / digest.hexdigest()[:16]
    found.mkdir(parents=True, exist_ok=True)
    os.utime(found)
    for old in STORE.iterdir():
        if old.stat().st_mtime < time.time() - KEPT_S:
            shutil.rmtree(old, ignore_errors=True)
    return found
