"""A learner's policy inside the engine in Pyodide: the same program gives the same hits and the same verdicts there."""

from __future__ import annotations

import json
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest

from conftest import GIVE_UP_S

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "engine" / "python"
ASSIGNMENT = ROOT / "solutions" / "cache-policies" / "cache-policies.ipynb"

PROGRAM = """
import json

import seeklab
from seeklab import workloads
from seeklab.exercises import cache_policies
from seeklab.judge import Seeds, Variant, judge
from seeklab.judge.programs import Text

class Forgetful(Policy):
    def evict(self, incoming):
        return incoming

trace = workloads.text(workloads.zipf(2000, 300, seed=7))
text = Text(({"kind": "own", "label": "policy", "source": SOURCE},), "Policy")
own = Variant(b"v" * 32)
(verdict,) = judge(cache_policies.ASSIGNMENT, {"Policy": text}, own, Seeds(b"s" * 32), ["check-policy"])
json.dumps({
    "hits": seeklab.play_cache(trace, Policy(), 50, objects=True)["hits"],
    "curve": seeklab.cache(trace, ["lru", "arc", "s3-fifo"], [20, 50], objects=True),
    "verdict": verdict.outcome.value,
    "told": str(verdict),
    "refused": str(cache_policies.check("check-policy", "Ada Lovelace", Policy=Forgetful)),
})
"""


def _policy(number: int) -> str:
    """Give the policy as shipped (0), or as solved (1), from the assignment itself."""
    notebook = json.loads(ASSIGNMENT.read_text(encoding="utf-8"))
    (cell,) = (cell for cell in notebook["cells"] if cell["id"] == "policy")
    parts: list[str] = "".join(cell["source"]).split("### BEGIN SOLUTION\n")
    return parts[number].replace("### END SOLUTION", "")


def _here(program: str) -> dict[str, Any]:
    *before, last = program.strip().rpartition("\njson.dumps(")
    scope: dict[str, Any] = {}
    exec("".join(before[:1]) + "\nfound = json.dumps(" + last, scope)  # noqa: S102 -- the program above
    found: dict[str, Any] = json.loads(scope["found"])
    return found


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pack the package as a wheel does, without what only CPython needs."""
    if shutil.which("node") is None:
        pytest.fail("node is not installed; `make test` says how")
    path = tmp_path_factory.mktemp("package") / "seeklab.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted((PACKAGE / "seeklab").rglob("*.py")):
            archive.write(file, file.relative_to(PACKAGE))
    return path


def _in_pyodide(package: Path, program: str) -> dict[str, Any]:
    done = subprocess.run(
        ["node", ROOT / "tests" / "pyodide.mjs", package],
        input=program,
        capture_output=True,
        text=True,
        timeout=GIVE_UP_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(("number", "outcome"), [(0, "fail"), (1, "pass")], ids=["as shipped", "solved"])
def test_a_policy_runs_and_is_judged_in_pyodide_as_on_cpython(package: Path, number: int, outcome: str) -> None:
    program = f"SOURCE = {_policy(number)!r}\n{_policy(number)}{PROGRAM}"
    there, here = _in_pyodide(package, program), _here(program)
    assert (there["hits"], there["curve"]) == (here["hits"], here["curve"])
    assert 0 < there["hits"] < 2000
    assert (there["verdict"], here["verdict"]) == (outcome, outcome)
    assert there["told"] == here["told"]
    assert "not in the cache" in there["refused"]
