"""Inside the engine in Pyodide: the same program gives the same hits there, and the same answers the same verdicts."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from conftest import GIVE_UP_S
from seeklab import case
from seeklab.engine.webassembly import RUN_STOPPED
from seeklab.judge import Choice, Fields, Number, Settings, catalogue
from seeklab.judge.programs import Sandboxed, Text
from seeklab.judge.sandbox import Sandbox, answers_of

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "engine" / "python"
DATA = ("question.json", "field.json", "diagnosis/collect.sh", "_engine/seeklab_bg.wasm", "_engine/library.json")
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
    """Pack the package as a wheel does, without what only notebooks need."""
    if shutil.which("node") is None:
        pytest.fail("node is not installed; `make test` says how")
    path = tmp_path_factory.mktemp("package") / "seeklab.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted((PACKAGE / "seeklab").rglob("*.py")):
            archive.write(file, file.relative_to(PACKAGE))
        for name in DATA:
            archive.write(PACKAGE / "seeklab" / name, f"seeklab/{name}")
    return path


Run = Callable[[str], Any]
"""Runs a program and gives the JSON value of its last line."""


@contextmanager
def _pyodide(package: Path, *options: str) -> Iterator[Run]:
    """Start Pyodide, which takes seconds, once for several programs."""
    command: list[str | Path] = ["node", ROOT / "tests" / "pyodide.mjs", package, *options]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        requests, answers = process.stdin, process.stdout

        def run(program: str) -> Any:
            hanging = Timer(GIVE_UP_S, process.kill)
            hanging.start()
            print(json.dumps(program), file=requests, flush=True)
            line = answers.readline()
            hanging.cancel()
            assert line, "Pyodide has ended"
            answer = json.loads(line)
            assert "error" not in answer, answer["error"]
            return json.loads(answer["value"])

        try:
            yield run
        finally:
            requests.close()


@pytest.fixture(scope="module")
def in_page(package: Path) -> Iterator[Run]:
    """Run programs in a Pyodide that a page has given its engine."""
    with _pyodide(package) as run:
        yield run


@pytest.fixture(scope="module")
def without_page(package: Path) -> Iterator[Run]:
    """Run programs in a Pyodide whose package loads its own engine."""
    with _pyodide(package, "--no-page") as run:
        yield run


@pytest.mark.parametrize(("number", "outcome"), [(0, "fail"), (1, "pass")], ids=["as shipped", "solved"])
def test_a_policy_runs_and_is_judged_in_pyodide_as_on_cpython(in_page: Run, number: int, outcome: str) -> None:
    program = f"SOURCE = {_policy(number)!r}\n{_policy(number)}{PROGRAM}"
    there, here = in_page(program), _here(program)
    assert (there["hits"], there["curve"]) == (here["hits"], here["curve"])
    assert 0 < there["hits"] < 2000
    assert (there["verdict"], here["verdict"]) == (outcome, outcome)
    assert there["told"] == here["told"]
    assert "key: " in there["refused"]


# The engine from the package, without a page that hands it over.

RUNS = """
import json

import seeklab
from seeklab import workloads

case = seeklab.case("odx-prefetch")
broken, fixed = case.run(), case.run("fixed")
trace = workloads.text(workloads.zipf(2000, 300, seed=7))
try:
    case.with_({"jobs[odx].bs": "many"}).run()
except seeklab.SeeklabError as error:
    refused = str(error)
json.dumps({
    "runs": [broken.fingerprint, fixed.fingerprint],
    "metrics": dict(broken.metrics),
    "operations": [list(row) for row in broken.ops.rows()][:50],
    "text": broken.text("iostat"),
    "curve": seeklab.cache(trace, ["lru", "arc"], [20, 50], objects=True),
    "refused": refused,
})
"""

TRAP = """
import json

import seeklab
from seeklab.engine.host import engine

case = seeklab.case("odx-prefetch")
before = case.run()
told = []
OUTSIDE_ITS_MEMORY = 0xFFFF0000
try:
    engine()._running().number("sl_call", OUTSIDE_ITS_MEMORY, 64, OUTSIDE_ITS_MEMORY, 64)
except seeklab.EngineError as error:
    told.append(str(error))
try:
    before.text("iostat")
except seeklab.EngineError as error:
    told.append(str(error))
before.close()
json.dumps({"host": type(engine()).__name__, "told": told, "again": case.run().fingerprint})
"""


def test_without_a_page_the_engine_of_the_package_gives_the_same_runs(without_page: Run) -> None:
    assert without_page(RUNS) == _here(RUNS)


def test_without_a_page_an_engine_that_trapped_is_replaced(without_page: Run) -> None:
    there = without_page(TRAP)
    assert there["host"] == "WebAssemblyEngine"
    trapped, stopped = there["told"]
    assert "sl_call" in trapped
    assert stopped == RUN_STOPPED
    assert there["again"] == case("odx-prefetch").run().fingerprint


# The same answers on CPython, from the sandbox, and in Pyodide.

TASKS: dict[str, tuple[str, ...]] = {
    "bonnie-decoded": ("check-limits", "check-prediction"),
    "buffer-size": ("check-size", "check-prediction"),
    "which-throttle": ("check-readings", "check-throttle"),
    "blind-diagnosis": ("check-cause", "check-evidence"),
    "disk-time": ("check-users", "check-batch"),
    "monitors-lie": ("check-decode",),
    "tune-scheduler": ("check-quiet",),
}
PROGRAMS = {
    "size": (
        "def size(load, backend, s, percent):\n    return {} * (load - backend) * s * 100 / percent",
        "def size(load, backend, s, percent):\n    return [load][{}]",
    ),
    "decode": (
        "def decode(n, mib, window, points):\n    return {} * max(points)[0], window",
        (
            "def decode(n, mib, window, points):\n    rate, ms = max(points)\n    r = 1000 * n * mib / ms\n"
            "    return r * {}, rate * window / r"
        ),
    ),
}
ODD: tuple[object, ...] = (None, "many", True, [], {}, [[1]], -1, 0, 1e300)


def drawn(source: random.Random, name: str, kind: object) -> object:
    """Draw an answer: often one that can be judged, sometimes one that cannot."""
    if source.random() < 0.15:
        return source.choice(ODD)
    if isinstance(kind, Choice):
        return source.choice(list(kind.options))
    if isinstance(kind, Number):
        return round(source.uniform(0, 100), 3)
    if isinstance(kind, Fields):
        return {part: drawn(source, part, one) for part, one in kind.kinds.items()}
    if isinstance(kind, Settings):
        values: dict[str, tuple[object, ...]] = {
            "queue_policy": ("fcfs", "sstf", "satf", "c-look", "none"),
            "queue_depth": (1, 4, 16, 64, 0, "16"),
            "delay_scale": ("100us", "5ms", 3, "?"),
        }
        chosen = source.sample(list(kind.may_set), source.randint(1, min(3, len(kind.may_set))))
        return {path: source.choice(values.get(path, (1, 5, 12, 40))) for path in chosen}
    return {"program": source.choice(PROGRAMS[name]).format(source.choice((0.9, 1, 1.02, 1.2)))}


def answered(count: int) -> list[dict[str, Any]]:
    """Draw answers to tasks of the practice bank."""
    source = random.Random(11)
    found = []
    for _ in range(count):
        name = source.choice(list(TASKS))
        task = source.choice(TASKS[name])
        kinds = catalogue.assignment(name).task(task).takes
        answers = {answer: drawn(source, answer, kind) for answer, kind in kinds.items()}
        learner = f"learner {source.randrange(4)}"
        found.append({"assignment": name, "task": task, "learner": learner, "answers": answers})
    return found


JUDGES = """
import json
from seeklab import case
from seeklab.judge import Seeds, Variant, catalogue, draws_of, judge
from seeklab.judge.programs import Text

def taken(name, value):
    if isinstance(value, dict) and "program" in value:
        return Text(({"kind": "own", "label": name, "source": value["program"]},), name)
    return value

def verdict(case, held=taken):
    assignment = catalogue.assignment(case["assignment"])
    answers = {name: held(name, value) for name, value in case["answers"].items()}
    own, seeds = Variant(draws_of(case["learner"])), Seeds(b"s" * 32)
    (found,) = judge(assignment, answers, own, seeds, [case["task"]])
    return [str(found), found.points]

json.dumps([verdict(case) for case in json.loads(CASES)])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is Linux's")
def test_the_same_answers_get_the_same_verdicts_on_cpython_from_the_jail_and_in_pyodide(in_page: Run) -> None:
    cases = answered(1000 if os.environ.get("SEEKLAB_FULL") == "1" else 24)
    program = f"CASES = {json.dumps(cases)!r}\n{JUDGES}"
    scope: dict[str, Any] = {"CASES": json.dumps(cases)}
    exec(JUDGES.rpartition("json.dumps(")[0], scope)  # noqa: S102 -- the judges above
    here = [scope["verdict"](case) for case in cases]
    assert len({points > 0 for _, points in here}) == 2, "some are right and some are wrong"
    assert in_page(program) == here

    sandbox = Sandbox()
    source = "\n".join(f"a{nth} = {case['answers']!r}" for nth, case in enumerate(cases))
    cells = [{"kind": "own", "label": "all", "source": source}]
    told = answers_of(sandbox, cells, {f"a{nth}": False for nth in range(len(cases))})

    def held(name: str, value: object) -> object:
        text = scope["taken"](name, value)
        return Sandboxed(text, sandbox) if isinstance(text, Text) else text

    sandboxed = [{**case, "answers": told.values[f"a{nth}"]} for nth, case in enumerate(cases)]
    assert [scope["verdict"](case, held) for case in sandboxed] == here
