"""A checkout: an edited case is used at once, and without the build tool it is said that it is not.

The checkout is a temporary one, with the engine as it was built and a stand-in for the build tool, because the tool
reads the folders that it was compiled in.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import seeklab
from seeklab.engine.dev_library import LAST_BUILD_USED

PACKAGE = Path(seeklab.__file__).parent
ENGINE = Path(__file__).resolve().parent.parent / "engine"
CASE = "odx-prefetch"

# Puts the one case of the checkout into the library that was built. A tolerance "exactly" makes it one with an error.
TOOL = """\
#!{python}
import json, sys, tomllib
from pathlib import Path

engine = Path({engine!r})
with (engine / "calls").open("a") as calls:
    calls.write("called\\n")
text = (engine / "cases/{case}.toml").read_text()
try:
    document = tomllib.loads(text)
except tomllib.TOMLDecodeError as error:
    sys.exit(f"cases/{case}.toml: {{error}}")
library = json.loads((engine / "python/seeklab/_engine/library.json").read_text())
entry = {{"document": document}}
wrong = [number for number, line in enumerate(text.splitlines(), 1) if '"exactly"' in line]
if wrong:
    entry["error"] = {{"path": f"cases/{case}.toml:{{wrong[0]}}", "message": "facts[0].tolerance: is wrong"}}
library["cases"] = [case for case in library["cases"] if case["document"]["id"] != "{case}"]
library["cases"].append(entry)
Path(sys.argv[sys.argv.index("--out") + 1]).write_text(json.dumps(library))
"""


class Checkout:
    """The folders that matter here."""

    def __init__(self, root: Path) -> None:
        self.engine = root / "engine"
        self.case = self.engine / "cases" / f"{CASE}.toml"
        self.tool = self.engine / "target" / "debug" / "seeklab-tool"
        self.kept = root / ".cache"
        for folder in (self.case.parent, self.engine / "presets", self.tool.parent, self.engine / "python" / "seeklab"):
            folder.mkdir(parents=True)
        (self.engine / "families.toml").write_bytes((ENGINE / "families.toml").read_bytes())
        self.case.write_bytes((ENGINE / "cases" / self.case.name).read_bytes())
        for path in PACKAGE.rglob("*"):
            if path.is_file() and not {"__pycache__", "_course"} & {*path.parts}:
                copy = self.engine / "python" / "seeklab" / path.relative_to(PACKAGE)
                copy.parent.mkdir(exist_ok=True)
                copy.write_bytes(path.read_bytes())
        self.tool.write_text(TOOL.format(python=sys.executable, engine=str(self.engine), case=CASE))
        self.tool.chmod(0o755)
        self._set_back()

    def _set_back(self) -> None:
        """Let everything be a minute old, so that an edit is later, however coarse the file system's clock is."""
        for path in self.engine.rglob("*"):
            then = path.stat().st_mtime - 60
            os.utime(path, (then, then))
        built = self.engine / "python" / "seeklab" / "_engine" / "library.json"
        os.utime(built, (built.stat().st_atime, built.stat().st_mtime + 30))

    def edit(self, old: str, new: str) -> int:
        """Replace the first such text among the facts; give its line."""
        text = self.case.read_text()
        at = text.index(old, text.index("[[facts]]"))
        self.case.write_text(text[:at] + new + text[at + len(old) :])
        return text[:at].count("\n") + 1

    def calls(self) -> int:
        """How often the tool was called."""
        calls = self.engine / "calls"
        return len(calls.read_text().splitlines()) if calls.exists() else 0

    def facts(self) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(self.engine / "python")}
        environment.pop("CARGO_TARGET_DIR", None)
        command = [sys.executable, "-B", "-m", "seeklab.cli", "facts", CASE]
        return subprocess.run(
            command, env=environment, cwd=self.engine, capture_output=True, text=True, encoding="utf-8", check=False
        )


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_an_edited_case_is_used_at_once_and_read_once(checkout: Checkout) -> None:
    checkout.edit("documented = 8_388_608", "documented = 8_388_609")
    for _ in range(2):
        done = checkout.facts()
        row = next(line for line in done.stdout.splitlines() if line.startswith("Q1.1"))
        assert re.search(r"8388609 +8388608 .* MISSES", row)
        assert (done.returncode, done.stderr) == (1, "")
    assert checkout.calls() == 1


def test_without_an_edit_the_tool_is_not_asked(checkout: Checkout) -> None:
    done = checkout.facts()
    assert (done.returncode, done.stderr) == (1, "")  # Q1.5 misses, as its file says
    assert checkout.calls() == 0
    assert not checkout.kept.exists()


def test_a_deleted_case_is_an_edit(checkout: Checkout) -> None:
    other = checkout.case.with_name("other.toml")
    other.touch()
    other.unlink()
    checkout.facts()
    assert checkout.calls() == 1


def test_the_error_of_a_case_is_shown_with_file_and_line(checkout: Checkout) -> None:
    line = checkout.edit('tolerance = "exact"', 'tolerance = "exactly"')
    done = checkout.facts()
    assert done.returncode == 2
    assert f"cases/{CASE}.toml:{line}: facts[0].tolerance: is wrong" in done.stderr


def test_what_the_tool_says_of_an_unreadable_case_is_told(checkout: Checkout) -> None:
    checkout.edit('tolerance = "exact"', "tolerance = ")
    done = checkout.facts()
    told, rest = done.stderr.splitlines()
    assert told.startswith(f"cases/{CASE}.toml: ")
    assert rest == LAST_BUILD_USED
    assert done.returncode == 1


def test_without_the_tool_an_edit_waits_for_the_build_and_that_is_said(checkout: Checkout) -> None:
    checkout.tool.unlink()
    checkout.edit("documented = 8_388_608", "documented = 8_388_609")
    done = checkout.facts()
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "`make wasm`" in done.stderr


def test_several_processes_may_read_an_edit_at_once(checkout: Checkout) -> None:
    checkout.edit("documented = 8_388_608", "documented = 8_388_609")
    with ThreadPoolExecutor() as pool:
        done = list(pool.map(lambda _: checkout.facts(), range(3)))
    assert [(each.returncode, each.stderr) for each in done] == [(1, "")] * 3
    assert [path.name for path in checkout.kept.iterdir()] == ["library.json"]
