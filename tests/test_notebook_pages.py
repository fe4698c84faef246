"""Notebooks as pages: what answers a question stands behind it, solutions are opened, and nothing foreign is loaded."""

from __future__ import annotations

import ast
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest

import notebook_pages
from steps import NOTEBOOK_PAGES

if TYPE_CHECKING:
    from nbformat import NotebookNode

ROOT = Path(__file__).parents[1]
EXPORTER = notebook_pages.page_exporter()
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
ASKED = re.compile(r"(?m)^\s*\w+ = (?:Prediction|(?:seeklab\.)?predict)\(")
VOID = {"input", "br", "hr", "img", "path", "line", "rect", "circle"}


class Gates(HTMLParser):
    """Which texts lie behind how many gates, and what a page would load."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[tuple[int, bool, str]] = []
        """Gates in front of it, whether it lies in a solution, and the text."""
        self.attributes: list[tuple[str, str, str]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(f"{tag}.{dict(attrs).get('class') or ''}")

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop().split(".")[0] == tag

    def handle_data(self, data: str) -> None:
        behind = sum(one == "details.behind" for one in self.open)
        self.texts.append((behind, any("solution" in one for one in self.open), data))

    def gates_before(self, words: str) -> set[int]:
        return {behind for behind, _, text in self.texts if words in text}


def page(*cells: NotebookNode) -> str:
    first = nbformat.v4.new_markdown_cell(
        "# A title\n\n**A symptom.**\n\n*40 minutes. You need: nothing.*\n\nRun the cells one after the other."
    )
    notebook = nbformat.v4.new_notebook(cells=[first, *cells])
    title, subtitle, minutes, body = notebook_pages.page_of(nbformat.writes(notebook), EXPORTER)
    assert (title, subtitle, minutes) == ("A title", "A symptom.", 40)
    return body


def code(source: str, output: str = "") -> NotebookNode:
    outputs = [nbformat.v4.new_output("stream", text=output)] if output else []
    cell: NotebookNode = nbformat.v4.new_code_cell(source, outputs=outputs)
    return cell


def words(source: str) -> NotebookNode:
    cell: NotebookNode = nbformat.v4.new_markdown_cell(source)
    return cell


QUESTION = """WAYS = {"one": 1, "two & more": 2}
asked = Prediction(
    f"Of {len(WAYS)} and {len(writes)}, which?", lambda: "one", name="x/asked", choices=list(WAYS),
    because={"two & more": "Too <many>."},
)
asked"""


def test_what_follows_a_question_lies_behind_it_and_behind_those_before() -> None:
    found = Gates(
        page(
            code("before = 1", "seen at once"),
            code(QUESTION),
            code("after(asked)\nprint(1)", "first answer"),
            code('n = Prediction("How many?", lambda: 3, name="x/n", low=1, high=9, unit="reads")\nn'),
            words("second words"),
        )
    )
    assert found.gates_before("seen at once") == {0}
    assert found.gates_before("Of 2 and \N{HORIZONTAL ELLIPSIS}, which?") == {0}
    assert found.gates_before("first answer") == found.gates_before("How many?") == {1}
    assert found.gates_before("second words") == {2}
    assert not found.open
    assert not found.gates_before("after"), "what opens a gate is not shown"
    assert not found.gates_before("Run the cells")
    values = [value for _, name, value in found.attributes if name == "value"]
    assert values == ["one", "two & more"]
    assert ("form", "data-answer", "one") in found.attributes
    assert found.gates_before("Too <many>.") == {0}


@pytest.mark.parametrize("call", ["predict(case)", 'predict("odx-prefetch")', 'seeklab.predict("odx-prefetch")'])
def test_a_cases_own_question_is_a_gate_however_it_is_called(call: str) -> None:
    first = code('case = seeklab.case("odx-prefetch")')
    found = Gates(page(first, code(f"cost = {call}\ncost"), code("after(cost)\nprint(1)", "the answer")))
    assert found.gates_before("the answer") == {1}


def test_where_only_a_run_tells_the_right_choice_it_is_the_one_without_a_reason() -> None:
    def answer(because: dict[str, str], given: str = "found") -> str | None:
        text = f"Prediction('Which?', {given}, name='which', choices=['a', 'b', 'c'], because={because!r})"
        call = ast.parse(text, mode="eval").body
        assert isinstance(call, ast.Call)
        return notebook_pages.question_of(call, {}).answer

    assert answer({"a": "No.", "c": "Nor this."}) == "b"
    assert answer({"a": "No."}) is None
    assert answer({}, given="lambda: 'c'") == "c"


def test_a_turn_shows_its_question_and_hints_and_its_solution_only_when_it_is_opened() -> None:
    lines = ("shapes = ...  # replace the dots", "### BEGIN SOLUTION", 'shapes = "mine"', "### END SOLUTION", "check()")
    solution = "\n".join(lines)
    text = page(code('turn("odx/shapes")'), code(solution, "Right."))
    found = Gates(text)
    assert {inside for _, inside, said in found.texts if "mine" in said or "Right." in said} == {True}
    assert "BEGIN SOLUTION" not in text
    assert "..." not in "".join(said for _, inside, said in found.texts if inside)
    assert "Your turn." in text
    assert text.count("<li>") == 3


def test_a_chart_of_the_lab_is_a_frame_of_the_incidents_page() -> None:
    found = Gates(page(code('case = "odx-prefetch"\nseeklab.lab(case, variant="fixed", view="prefetch-strip")')))
    (address,) = [value for tag, name, value in found.attributes if (tag, name) == ("iframe", "src")]
    assert address.startswith("odx-prefetch.html?embed=1#v1=")
    assert ("iframe", "loading", "lazy") in found.attributes


def test_links_lead_to_pages_and_to_the_lab() -> None:
    text = page(words("[a](../exercises/disk-time/disk-time.ipynb) [b](02-how-a-disk-spends-your-time.ipynb)"))
    assert 'href="lab/notebooks/index.html?path=exercises/disk-time/disk-time.ipynb"' in text
    assert 'href="02-how-a-disk-spends-your-time.html"' in text


def test_wide_code_is_scrolled_by_keys_and_no_column_has_an_empty_heading() -> None:
    table = nbformat.v4.new_output("display_data", data={"text/html": '<table><tr><th style="x"></th></tr></table>'})
    cell = code("long = 1")
    cell.outputs = [table]
    text = page(cell)
    assert '<pre tabindex="0">' in text
    assert "<th" not in text


def test_every_week_of_the_syllabus_is_read_with_its_notebooks_and_exercises() -> None:
    found = notebook_pages.weeks((ROOT / "docs" / "instructor" / "README.md").read_text(encoding="utf-8"))
    assert [week["week"] for week in found] == list(range(1, 11))
    numbers = {notebook["number"] for week in found for notebook in week["notebooks"]}
    assert numbers == {path.name[:2] for path in NOTEBOOKS}
    assert {"number": "07", "part": "second half"} in found[0]["notebooks"]
    exercises = {name for week in found for name in week["exercises"]}
    assert exercises == {path.name for path in (ROOT / "exercises").iterdir() if path.is_dir()}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem[:2])
def test_what_the_build_made_of_a_notebook_has_a_gate_for_each_question_and_loads_nothing_foreign(path: Path) -> None:
    cells = nbformat.read(path, as_version=4).cells
    asked = [number for number, cell in enumerate(cells) if cell.cell_type == "code" and ASKED.search(cell.source)]
    text = (NOTEBOOK_PAGES / f"{path.stem}.html").read_text(encoding="utf-8")
    found = Gates(text)
    assert not found.open
    assert text.count('<details class="behind"') == len(asked) > 0
    # What is printed stands behind as many gates as there are questions above it.
    for number, cell in enumerate(cells):
        for output in cell.get("outputs", ()):
            if output.output_type != "stream" or "BEGIN SOLUTION" in cell.source:
                continue
            line = max(output.text.splitlines(), key=len).strip()
            assert sum(one < number for one in asked) in found.gates_before(line), line
    tags = {tag for tag, _, _ in found.attributes}
    assert not tags & {"script", "link", "object", "embed"}
    assert not [name for _, name, _ in found.attributes if name.startswith("on")]
    for tag, name, value in found.attributes:
        if name == "src" and tag == "img":
            assert value.startswith("data:image/")
        elif name == "src":
            assert (tag, value.split(".html?embed=1#v1=")[0]) in {("iframe", entry) for entry in CASES}


CASES = [path.stem for path in (ROOT / "engine" / "cases").glob("*.toml")]


def test_the_outline_of_the_course_names_every_notebook_with_its_minutes() -> None:
    course = json.loads((NOTEBOOK_PAGES / "course.json").read_text(encoding="utf-8"))
    assert [entry["name"] for entry in course["notebooks"]] == [path.stem for path in NOTEBOOKS]
    assert all(20 <= entry["minutes"] <= 60 and entry["subtitle"] for entry in course["notebooks"])
