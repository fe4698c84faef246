"""What the site holds of the course in the browser. How it runs there: browser_lab_runs.py, in `make full`."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from pathlib import Path
from typing import Any

from seeklab.course import start
from seeklab.course.copies import learners_copy

ROOT = Path(__file__).parents[1]
SITE = ROOT / "web" / "dist"
LAB = SITE / "lab"
PYTHON = SITE / "pyodide"
COURSE = sorted(
    str(path.relative_to(ROOT))
    for room in ("notebooks", "exercises")
    for path in (ROOT / room).rglob("*.ipynb")
    if ".ipynb_checkpoints" not in path.parts
)
MAX_SITE_MB = 70
"""Without the maps of its sources JupyterLite takes 21 MB, Python and its wheels 26, the playground 4, the docs 3."""


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_site_holds_the_whole_course_without_outputs_and_solutions() -> None:
    assert sorted(str(path.relative_to(LAB / "files")) for path in (LAB / "files").rglob("*.ipynb")) == sorted(
        [start.NAME, *COURSE]
    )
    assert (LAB / "files" / start.NAME).read_text(encoding="utf-8") == start.start_page()
    for name in COURSE:
        there = (LAB / "files" / name).read_text(encoding="utf-8")
        assert there == learners_copy((ROOT / name).read_text(encoding="utf-8"))
        assert "BEGIN SOLUTION" not in there


def test_every_notebook_and_exercise_that_a_case_names_can_be_opened() -> None:
    for path in sorted((ROOT / "engine" / "cases").glob("*.toml")):
        case = tomllib.loads(path.read_text(encoding="utf-8"))
        named = [f"notebooks/{case['notebook']}.ipynb"] if "notebook" in case else []
        named += [f"exercises/{exercise}/{exercise}.ipynb" for exercise in case.get("exercises", [])]
        assert [name for name in named if not (LAB / "files" / name).is_file()] == []


def test_python_finds_everything_that_it_imports_in_the_site() -> None:
    lock = read(PYTHON / "pyodide-lock.json")
    assert {"seeklab", "ipywidgets", "anywidget", "pyodide-kernel"} <= lock["packages"].keys()
    for package in lock["packages"].values():
        wheel = PYTHON / package["file_name"]
        assert hashlib.sha256(wheel.read_bytes()).hexdigest() == package["sha256"]
        assert wheel.name.endswith("-none-any.whl")
        assert set(package["depends"]) <= lock["packages"].keys()
    settings = read(LAB / "jupyter-lite.json")["jupyter-config-data"]["litePluginSettings"]
    kernel = settings["@jupyterlite/pyodide-kernel-extension:kernel"]
    assert kernel["disablePyPIFallback"] is True
    assert set(kernel["loadPyodideOptions"]["packages"]) <= lock["packages"].keys()
    assert (LAB / kernel["pyodideUrl"]).resolve() == PYTHON / "pyodide.mjs"


def test_one_service_worker_serves_the_whole_site() -> None:
    assert [str(path.relative_to(SITE)) for path in SITE.rglob("service-worker.js")] == ["service-worker.js"]
    disabled = read(LAB / "jupyter-lite.json")["jupyter-config-data"]["disabledExtensions"]
    assert "@jupyterlite/application-extension:service-worker-manager" in disabled
    worker = (SITE / "service-worker.js").read_text(encoding="utf-8")
    # What it fetches at once is the playground; the lab and Python are kept when they have been used.
    at_once = json.loads(re.search(r"const files = (\[.*?\]);", worker, re.DOTALL)[1])  # type: ignore[index]
    assert "index.html" in at_once
    assert [name for name in at_once if name.startswith(("lab/", "pyodide/"))] == []


def test_the_lab_asks_no_other_server_and_leaves_out_what_no_reader_needs() -> None:
    pages = sorted(LAB.rglob("index.html"))
    assert {"notebooks", "tree"} <= {page.parent.name for page in pages}
    for page in pages:
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page.read_text(encoding="utf-8"))
        assert policy is not None
        assert "default-src 'self'" in policy[1]
        assert "http" not in policy[1]
    assert list(LAB.rglob("*.map")) == []
    size = sum(path.stat().st_size for path in SITE.rglob("*") if path.is_file())
    assert size < MAX_SITE_MB * 1e6
