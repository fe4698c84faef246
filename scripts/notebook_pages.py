"""The notebooks as pages of the site: nbconvert renders their stored outputs with our template.

Each notebook becomes an HTML fragment in `.cache/notebook-pages/`, which the site's build inserts into its page.
`course.json` lists the notebooks and exercises of each week. No notebook runs: outputs are stored and checked by tests,
and a question, a task or a chart is stored as data (`seeklab.notebook._stored`). Cells after a question are closed
until the reader commits or opens them. A task shows its hints, and its solution only after the reader opens it. A chart
with sliders moves only in the lab; the page shows a frame with the stage of the incident's own page instead.

A step of the build runs this in the lab's environment.
"""

from __future__ import annotations

import base64
import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
from nbconvert import HTMLExporter

from console import ROOT
from console import main as run_verb
from seeklab.course.copies import BEGIN, END
from seeklab.notebook._stored import MIME
from steps import NOTEBOOK_PAGES
from syllabus import weeks

if TYPE_CHECKING:
    from nbformat import NotebookNode

TEMPLATE = Path(__file__).with_name("notebook_page.html.j2")
LAB_ONLY = "lab-only"
"""The tag of a cell that the page omits: the use of the notebook, and the reader's confidence."""
FOLDED = "folded"
"""The tag of a cell whose code is visible in the lab and collapsed on the page."""
LAB = "lab/notebooks/index.html?path="


def build() -> None:
    """Write all fragments again."""
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
    course = {"weeks": weeks(), "notebooks": notebooks, "exercises": exercises}
    (NOTEBOOK_PAGES / "course.json").write_text(json.dumps(course, indent=1, ensure_ascii=False), encoding="utf-8")


def page_exporter() -> HTMLExporter:
    """Return nbconvert's exporter with our template."""
    folders = [str(TEMPLATE.parent)]
    return HTMLExporter(  # type: ignore[no-untyped-call] # nbconvert has no types
        template_file=str(TEMPLATE), extra_template_basedirs=folders, exclude_anchor_links=True
    )


def page_of(text: str, exporter: HTMLExporter) -> tuple[str, str, int, str]:
    """Return a notebook's title, the line below it, its minutes, and its body as HTML."""
    notebook = nbformat.reads(text, as_version=4)
    first, *_ = notebook.cells
    heading, subtitle, first.source = first.source.split("\n\n", 2)
    minutes = re.search(r"(\d+) minutes", first.source)
    asked = 0
    for cell in notebook.cells:
        described = describe(cell)
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
    """Let keys scroll elements wider than the window, and replace empty column headings."""
    body = re.sub(r"<pre( style=[^>]*)?>", r'<pre\1 tabindex="0">', body)
    return re.sub(r"<th( [^>]*)?>\s*</th>", "<td></td>", body)


def describe(cell: NotebookNode) -> dict[str, Any]:
    """Return a cell's kind on a page, and remove parts of the cell that only the lab shows."""
    tags = cell.metadata.get("tags", [])
    if LAB_ONLY in tags or not cell.source.strip():
        return {"kind": "left-out"}
    if cell.cell_type != "code":
        return {"kind": "words"}
    if BEGIN in cell.source:
        cell.source = "\n".join(line for line in cell.source.splitlines() if line not in {BEGIN, END})
        cell.source = re.sub(r"(?m)^\w+ = \.\.\..*\n", "", cell.source, count=1)
        return {"kind": "solution"}
    # Code that opens a gate in the lab is not for readers.
    cell.source = re.sub(r"(?m)^after\(\w+\)\n", "", cell.source)
    data = next((output.data[MIME] for output in cell.outputs if MIME in output.get("data", ())), {"kind": "code"})
    cell.outputs = [output for output in cell.outputs if MIME not in output.get("data", ())]
    if data["kind"] == "question":
        return {**data, "answer": answer_of(data)}
    if data["kind"] == "lab":
        return {"folded": True, **data, **addresses_of(data)}
    return {"folded": FOLDED in tags or cell.metadata.get("jupyter", {}).get("source_hidden", False), **data}


def answer_of(question: dict[str, Any]) -> str | None:
    """Return the right choice: the only one without a reason why it is wrong, or None."""
    right = [choice for choice in question["choices"] if choice not in question["because"]]
    return right[0] if len(right) == 1 else None


def addresses_of(lab: dict[str, Any]) -> dict[str, str]:
    """Return the addresses of an incident's page in this state: for a frame with the stage, and for a link."""
    state = json.dumps(
        {"variant": lab["variant"], "set": lab["set"], "seed": lab["seed"], "ui": {}}, separators=(",", ":")
    )
    code = base64.urlsafe_b64encode(state.encode()).decode().rstrip("=")
    return {"address": f"{lab['case']}.html?embed=1#v1={code}", "page": f"{lab['case']}.html#v1={code}"}


if __name__ == "__main__":
    run_verb(build)
