"""The notebooks as pages of the site: what nbconvert makes of their stored outputs, by a template of our own.

Each notebook becomes a fragment of HTML in `.cache/notebook-pages/`, which the site's build fills into its page, and
`course.json` says which notebooks and exercises belong to which week. Nothing is run: outputs are those that are stored
and checked by tests. What follows a question is closed until the reader commits or opens it; a learner's turn shows its
hints, and its solution only when it is opened. What only moves in the lab, a chart with sliders, is a frame with the
stage of the incident's own page.

A step of the build runs this in the lab's environment.
"""

from __future__ import annotations

import ast
import base64
import json
import re
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
from nbconvert import HTMLExporter

import seeklab
from console import ROOT
from console import main as run_verb
from seeklab import Case
from seeklab.course.copies import BEGIN, END
from seeklab.course.tasks import tasks
from steps import NOTEBOOK_PAGES

TEMPLATE = Path(__file__).with_name("notebook_page.html.j2")
SYLLABUS = ROOT / "docs" / "instructor" / "README.md"
FOR_THE_LAB = "Run the cells one after the other"
"""How the paragraph begins that says how to use a notebook."""
BUILTINS = {one.__name__: one for one in (dict, enumerate, len, list, max, min, range, sum, tuple, zip)}
LOOKED_UP = ("case", "cases", "get", "items", "keys", "scenario", "values", "with_")
"""Methods that run nothing."""
OF_A_CASE = ("seeklab.predict", "predict")
"""How a cell calls for its case's own question."""
LAB = "lab/notebooks/index.html?path="


@dataclass(frozen=True)
class Question:
    """What a cell asks, as far as it is written there: numbers that a run gives are not."""

    name: str
    words: str
    unit: str
    choices: list[str]
    because: dict[str, str]
    answer: str | None
    """The right choice, where it is written down, or where a reason stands beside each of the others."""


def build() -> None:
    """Write all fragments anew."""
    shutil.rmtree(NOTEBOOK_PAGES, ignore_errors=True)
    NOTEBOOK_PAGES.mkdir(parents=True)
    exporter = page_exporter()
    notebooks = []
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        title, subtitle, minutes, body = page_of(path.read_text(encoding="utf-8"), exporter)
        (NOTEBOOK_PAGES / f"{path.stem}.html").write_text(body, encoding="utf-8")
        notebooks.append({"name": path.stem, "title": title, "subtitle": subtitle, "minutes": minutes})
    exercises = {
        folder.name: nbformat.read(folder / f"{folder.name}.ipynb", as_version=4).cells[0].source.split("\n")[0][2:]
        for folder in sorted((ROOT / "exercises").iterdir())
        if folder.is_dir()
    }
    course = {"weeks": weeks(SYLLABUS.read_text(encoding="utf-8")), "notebooks": notebooks, "exercises": exercises}
    (NOTEBOOK_PAGES / "course.json").write_text(json.dumps(course, indent=1, ensure_ascii=False), encoding="utf-8")


def page_exporter() -> HTMLExporter:
    """Give nbconvert's exporter with our template."""
    folders = [str(TEMPLATE.parent)]
    return HTMLExporter(  # type: ignore[no-untyped-call] # nbconvert has no types
        template_file=str(TEMPLATE), extra_template_basedirs=folders, exclude_anchor_links=True
    )


def weeks(syllabus: str) -> list[dict[str, Any]]:
    """Read the syllabus's table: number, theme, notebooks with what is taken of them, exercises."""
    rows = re.findall(r"(?m)^\| \[(\d+)\]\([^)]*\) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", syllabus)
    return [
        {
            "week": int(number),
            "theme": theme.strip(),
            "notebooks": [
                {"number": found[0], "part": found[1]} for found in re.findall(r"(\d\d)(?: \(([^)]*)\))?", books)
            ],
            "exercises": re.findall(r"[a-z]+(?:-[a-z]+)+", exercises),
        }
        for number, theme, books, exercises in rows
    ]


def page_of(text: str, exporter: HTMLExporter) -> tuple[str, str, int, str]:
    """Give a notebook's title, its line below it, its minutes, and its body as HTML."""
    notebook = nbformat.reads(text, as_version=4)
    first, *_ = notebook.cells
    heading, subtitle, *paragraphs = first.source.split("\n\n")
    first.source = "\n\n".join(one for one in paragraphs if not one.startswith(FOR_THE_LAB))
    minutes = re.search(r"(\d+) minutes", first.source)
    known: dict[str, Any] = {**BUILTINS, "seeklab": SimpleNamespace(case=seeklab.case, cases=seeklab.cases)}
    asked = 0
    for cell in notebook.cells:
        described = describe(cell, known)
        cell.metadata["seeklab"] = described
        asked += described["kind"] == "question"
    notebook.metadata["seeklab"] = {"questions": asked}
    body, _ = exporter.from_notebook_node(notebook)
    return (
        heading.removeprefix("# "),
        subtitle.strip("*").strip(),
        int(minutes[1]) if minutes else 0,
        for_keys_and_ears(with_addresses(str(body))),
    )


def with_addresses(body: str) -> str:
    """Turn links between notebooks into links between pages, and those to exercises into links to the lab."""
    body = re.sub(r'href="\.\./(exercises/[a-z0-9-]+/[a-z0-9-]+\.ipynb)"', rf'href="{LAB}\1"', body)
    return re.sub(r'href="(\d\d-[a-z0-9-]+)\.ipynb"', r'href="\1.html"', body)


def for_keys_and_ears(body: str) -> str:
    """Let keys scroll what is wider than the window, and let no heading of a column be empty."""
    body = re.sub(r"<pre( style=[^>]*)?>", r'<pre\1 tabindex="0">', body)
    return re.sub(r"<th( [^>]*)?>\s*</th>", "<td></td>", body)


def describe(cell: Any, known: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401 -- a notebook's cell
    """Say what a cell is on a page; `known` are the names that cells before it have given to what is written there."""
    if cell.cell_type != "code":
        return {"kind": "words" if cell.source.strip() else "left-out"}
    source: str = cell.source
    if BEGIN in source:
        cell.source = "\n".join(line for line in source.splitlines() if line not in {BEGIN, END})
        cell.source = re.sub(r"(?m)^\w+ = \.\.\..*\n", "", cell.source, count=1)
        return {"kind": "solution"}
    tree = ast.parse(source)
    learn(tree, known)
    # What opens a gate in the lab is no part of what is to be read.
    cell.source = re.sub(r"(?m)^after\(\w+\)\n", "", source)
    calls = {ast.unparse(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    if source.strip() == "calibration()":
        return {"kind": "left-out"}
    for name in ("Prediction", *OF_A_CASE):
        if name in calls:
            return {"kind": "question", "question": asdict(question_of(calls[name], known))}
    if "turn" in calls:
        task = tasks()[str(value_of(calls["turn"].args[0], known))]
        return {"kind": "turn", "task": {"question": task.question, "hints": task.hints}}
    imports = any(isinstance(node, (ast.Import, ast.ImportFrom)) for node in tree.body)
    folded = imports or bool(cell.metadata.get("jupyter", {}).get("source_hidden"))
    live = live_of(calls["seeklab.lab"], known) if "seeklab.lab" in calls else None
    kind = "live" if live else "sliders" if "explore" in calls and not cell.outputs else "code"
    return {"kind": kind, "folded": folded or live is not None, **(live or {})}


def learn(tree: ast.Module, known: dict[str, Any]) -> None:
    """Keep what is written down or looked up; what a run gives is not known here."""
    for node in tree.body:
        if not isinstance(node, ast.Assign):
            continue
        calls = [call.func for call in ast.walk(node.value) if isinstance(call, ast.Call)]
        looked_up = all(
            func.attr in LOOKED_UP if isinstance(func, ast.Attribute) else ast.unparse(func) in BUILTINS
            for func in calls
        )
        try:
            if looked_up:
                exec(compile(ast.Module([node], []), "notebook", "exec"), {"__builtins__": {}}, known)  # noqa: S102 -- our own notebooks
        except Exception:  # noqa: BLE001, S110 -- it needs what a run gives, whatever the error is
            pass


def value_of(node: ast.expr, known: dict[str, Any]) -> Any:  # noqa: ANN401 -- whatever is written there
    """Give an expression's value from what is known; raises NameError where that needs a run."""
    return eval(compile(ast.Expression(node), "notebook", "eval"), {"__builtins__": {}}, known)  # noqa: S307 -- our own notebooks


def words_of(node: ast.expr, known: dict[str, Any]) -> str:
    """Give a text; a number in it that only a run gives is left open."""
    if not isinstance(node, ast.JoinedStr):
        return str(value_of(node, known))
    parts = []
    for part in node.values:
        try:
            whole = ast.JoinedStr([part])
            parts.append(str(value_of(ast.fix_missing_locations(ast.copy_location(whole, node)), known)))
        except (NameError, TypeError, KeyError):
            parts.append("\N{HORIZONTAL ELLIPSIS}")
    return "".join(parts)


def case_of(node: ast.expr, known: dict[str, Any]) -> Case:
    """Give a case that is named, or that a name stands for."""
    found = value_of(node, known)
    return found if isinstance(found, Case) else seeklab.case(str(found))


def question_of(call: ast.Call, known: dict[str, Any]) -> Question:
    """Read a question off its cell, or off the case that it belongs to."""
    options = {str(word.arg): word.value for word in call.keywords}
    if ast.unparse(call.func) in OF_A_CASE:
        case = case_of(call.args[0], known)
        asked = case.document["ask"]
        return Question(case.id, str(asked["question"]), str(asked["unit"]), [], {}, None)
    answer = call.args[1] if len(call.args) > 1 else options["answer"]
    written = answer.body if isinstance(answer, ast.Lambda) else None
    choices = [str(choice) for choice in value_of(options["choices"], known)] if "choices" in options else []
    because = value_of(options["because"], known) if "because" in options else {}
    right = [choice for choice in choices if choice not in because]
    if isinstance(written, ast.Constant) and isinstance(written.value, str):
        right = [written.value]
    return Question(
        str(value_of(options["name"], known)),
        words_of(call.args[0], known),
        str(value_of(options["unit"], known)) if "unit" in options else "",
        choices,
        because,
        right[0] if len(right) == 1 else None,
    )


def live_of(call: ast.Call, known: dict[str, Any]) -> dict[str, str]:
    """Give the frame in which an incident's stage moves, as the page of the incident shows it."""
    case = case_of(call.args[0], known)
    options = {str(word.arg): word.value for word in call.keywords}
    variant = str(value_of(options["variant"], known)) if "variant" in options else case.default_variant
    state = json.dumps({"variant": variant, "set": {}, "seed": 1, "ui": {}}, separators=(",", ":"))
    code = base64.urlsafe_b64encode(state.encode()).decode().rstrip("=")
    return {
        "title": f"{case.document['code']}: {case.title}",
        "address": f"{case.id}.html?embed=1#v1={code}",
        "page": f"{case.id}.html#v1={code}",
    }


if __name__ == "__main__":
    run_verb(build)
