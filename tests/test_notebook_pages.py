"""Notebooks as pages: what answers a question stands behind it, solutions are opened, and nothing foreign is loaded."""

from __future__ import annotations

import base64
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest

import notebook_pages
from seeklab import notebook
from steps import NOTEBOOK_PAGES
from syllabus import weeks

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
    first = nbformat.v4.new_markdown_cell("# A title\n\n**A symptom.**\n\nA story.\n\n*40 minutes. You need: nothing.*")
    text = nbformat.writes(nbformat.v4.new_notebook(cells=[first, *cells]))
    title, subtitle, minutes, body = notebook_pages.page_of(text, EXPORTER)
    assert (title, subtitle, minutes) == ("A title", "A symptom.", 40)
    return body


def code(source: str, output: str = "") -> NotebookNode:
    outputs = [nbformat.v4.new_output("stream", text=output)] if output else []
    cell: NotebookNode = nbformat.v4.new_code_cell(source, outputs=outputs)
    return cell


def words(source: str) -> NotebookNode:
    cell: NotebookNode = nbformat.v4.new_markdown_cell(source)
    return cell


def shows(source: str, shown: Any) -> NotebookNode:
    """Return a cell with what it shows as its output, as an author's kernel gives it."""
    cell = code(source)
    bundle = shown._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    cell.outputs = [nbformat.v4.new_output("execute_result", data=data)]
    return cell


@pytest.fixture(autouse=True)
def _authors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEEKLAB_GATES", "open")


def test_what_follows_a_question_lies_behind_it_and_behind_those_before() -> None:
    choices = ["one", "two & more"]
    asked = notebook.Prediction("Which?", str, name="x/asked", choices=choices, because={choices[1]: "Too <many>."})
    many = notebook.Prediction("How many?", lambda: 3.0, name="x/n", low=1, high=9, unit="reads")
    found = Gates(
        page(
            code("before = 1", "seen at once"),
            shows("asked", asked),
            code("after(asked)\nprint(1)", "first answer"),
            shows("n", many),
            words("second words"),
        )
    )
    assert found.gates_before("seen at once") == {0}
    assert found.gates_before("Which?") == {0}
    assert found.gates_before("first answer") == found.gates_before("How many?") == {1}
    assert found.gates_before("second words") == {2}
    assert not found.open
    assert not found.gates_before("after"), "what opens a gate is not shown"
    values = [value for _, name, value in found.attributes if name == "value"]
    assert values == choices
    assert ("form", "data-answer", "one") in found.attributes
    assert found.gates_before("Too <many>.") == {0}


@pytest.mark.parametrize(("because", "answer"), [({"a": "", "c": ""}, "b"), ({"a": ""}, None), ({}, None)])
def test_the_right_choice_is_the_only_one_without_a_reason(because: dict[str, str], answer: str | None) -> None:
    assert notebook_pages.answer_of({"choices": ["a", "b", "c"], "because": because}) == answer


def test_tags_keep_a_cell_from_the_page_or_close_its_code() -> None:
    hidden, folded, plain = words("For the lab"), code("import this"), code("import that")
    hidden.metadata.tags, folded.metadata.tags = ["lab-only"], ["folded"]
    text = page(hidden, folded, plain)
    assert "For the lab" not in text
    assert text.count("<summary>Code</summary>") == 1
    assert text.index("<summary>Code</summary>") < text.index("this") < text.index("that")


def test_a_turn_shows_its_question_and_hints_and_its_solution_only_when_it_is_opened() -> None:
    lines = ("shapes = ...  # replace the dots", "### BEGIN SOLUTION", 'shapes = "mine"', "### END SOLUTION", "check()")
    solution = "\n".join(lines)
    text = page(shows("turn()", notebook.turn("odx/shapes")), code(solution, "Right."))
    found = Gates(text)
    assert {inside for _, inside, said in found.texts if "mine" in said or "Right." in said} == {True}
    assert "BEGIN SOLUTION" not in text
    assert "..." not in "".join(said for _, inside, said in found.texts if inside)
    assert "Your turn." in text
    assert text.count("<li>") == 3


def test_a_chart_of_the_lab_is_a_frame_of_the_incidents_page() -> None:
    changed = {"volume.prefetch.chunk": 1 << 20}
    found = Gates(page(shows("lab()", notebook.lab("odx-prefetch", variant="fixed", set=changed, seed=3))))
    (address,) = [value for tag, name, value in found.attributes if (tag, name) == ("iframe", "src")]
    start, code_ = address.split("#v1=")
    assert start == "odx-prefetch.html?embed=1"
    state = json.loads(base64.urlsafe_b64decode(code_ + "=" * (-len(code_) % 4)))
    assert state == {"variant": "fixed", "set": changed, "seed": 3, "ui": {}}
    assert ("iframe", "loading", "lazy") in found.attributes


def test_where_sliders_stand_the_page_says_so() -> None:
    text = page(shows("explore()", notebook.explore(lambda size: size, size=[1, 2])), code("plain = 1"))
    assert text.count('<p class="quiet">') == 1


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
    assert course["weeks"] == weeks()
    assert [entry["name"] for entry in course["notebooks"]] == [path.stem for path in NOTEBOOKS]
    assert all(20 <= entry["minutes"] <= 60 and entry["subtitle"] for entry in course["notebooks"])
