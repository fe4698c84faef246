"""The stored notebooks: nothing of the author's machine in them, nothing imported that a browser has not got.

That their outputs are those of a fresh run is checked by nbval, in a stage of its own.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
COURSE = sorted((ROOT / "notebooks").glob("*.ipynb"))
NOTEBOOKS = [*COURSE, *sorted((ROOT / "solutions").glob("*/*.ipynb")), *sorted((ROOT / "exercises").glob("*/*.ipynb"))]
KERNEL = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def _read(path: Path) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_there_is_a_course_with_exercises() -> None:
    assert COURSE
    assert len(NOTEBOOKS) >= 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=_name)
def test_a_stored_notebook_tells_nothing_of_the_machine_it_was_run_on(path: Path) -> None:
    notebook = _read(path)
    assert notebook["metadata"] == KERNEL
    assert all("execution" not in cell["metadata"] for cell in notebook["cells"])
    text = path.read_text(encoding="utf-8")
    for part in (str(ROOT), str(Path.home()), "widget-view+json", "ipykernel_"):
        assert part not in text


@pytest.mark.parametrize("path", NOTEBOOKS, ids=_name)
def test_a_notebook_imports_only_the_standard_library_and_seeklab(path: Path) -> None:
    code = "\n".join("".join(cell["source"]) for cell in _read(path)["cells"] if cell["cell_type"] == "code")
    imported = {
        name.partition(".")[0]
        for node in ast.walk(ast.parse(code))
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported - sys.stdlib_module_names == {"seeklab"}


@pytest.mark.parametrize("path", COURSE, ids=_name)
def test_every_stored_output_of_the_course_is_compared_with_a_fresh_run(path: Path) -> None:
    stored = [cell for cell in _read(path)["cells"] if cell.get("outputs")]
    assert stored
    assert [cell["id"] for cell in stored if "nbval-check-output" not in cell["metadata"].get("tags", [])] == []


CASES = {
    path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in (ROOT / "engine" / "cases").glob("*.toml")
}


BLIND = {"07-nothing-is-busy.ipynb"}
"""A diagnosis from what tools print: its systems are not named."""


def test_the_notebook_that_a_case_names_opens_that_case() -> None:
    named = {case: f"{document['notebook']}.ipynb" for case, document in CASES.items() if "notebook" in document}
    assert named
    for case, notebook in named.items():
        if notebook in BLIND:
            continue
        text = (ROOT / "notebooks" / notebook).read_text(encoding="utf-8")
        assert f'\\"{case}\\"' in text, f"{notebook} does not open {case}"


def test_a_notebook_that_opens_a_case_is_named_by_it() -> None:
    for path in COURSE:
        for case in re.findall(r'seeklab\.case\(\\"([a-z0-9-]+)', path.read_text(encoding="utf-8")):
            assert CASES[case].get("notebook") is not None, f"{_name(path)} opens {case}, whose file names no notebook"


def test_the_exercises_that_a_case_names_are_there() -> None:
    named = [exercise for document in CASES.values() for exercise in document.get("exercises", [])]
    assert named
    assert [exercise for exercise in named if not (ROOT / "exercises" / exercise).is_dir()] == []
