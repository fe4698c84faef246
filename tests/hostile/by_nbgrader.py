"""Hostile submissions for nbgrader's own commands: scripts for whoever looks, and metadata that its steps trip over.

Each is a right solution of `disk-time` besides what it tries. `RAN` is what a script leaves in a page that runs it.
"""

from __future__ import annotations

import copy
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hostile.submissions import GOOD, NONE, PREDICTED, Submission, notebook
from seeklab.judge.submission import CHANGED, FOREIGN, MISSING, TWICE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Document = dict[str, Any]

RAN = "window.ranByALearner = true"
SCRIPT = f"<script>{RAN}</script>"
IMAGE = f'<img src=x onerror="{RAN}">'
HTML = f"{SCRIPT}{IMAGE}<a href='javascript:{RAN}'>more</a>"


@dataclass(frozen=True)
class HandIn(Submission):
    """A notebook that is changed as a whole, and what lies beside it."""

    change: Callable[[Document], None] = lambda _: None
    beside: Callable[[Path], object] = lambda _: None

    def write(self, folder: Path) -> None:
        """Write it where nbgrader collects submissions."""
        document = json.loads(notebook(Submission(self.name, "", {"choice": GOOD}), self.name))
        self.change(document)
        place = folder / self.name / self.assignment
        place.mkdir(parents=True)
        (place / f"{self.assignment}.ipynb").write_bytes(self.file or json.dumps(document).encode())
        self.beside(place)


def cell(document: Document, name: str) -> Document:
    found: Document = next(one for one in document["cells"] if one["id"] == name)
    return found


def added(cell_type: str, source: str, **more: object) -> Callable[[Document], None]:
    """Add a cell."""
    code: Document = {"outputs": [], "execution_count": None} if cell_type == "code" else {}
    new = {"cell_type": cell_type, "id": "own", "metadata": {}, "source": source, **code, **more}
    return lambda document: document["cells"].append(copy.deepcopy(new))


def replaced(name: str, **changes: object) -> Callable[[Document], None]:
    """Change a cell."""
    return lambda document: cell(document, name).update(changes)


def relabelled(name: str, **changes: object) -> Callable[[Document], None]:
    """Change a cell's metadata for nbgrader."""
    return lambda document: cell(document, name)["metadata"]["nbgrader"].update(changes)


def own(**metadata: object) -> dict[str, object]:
    """Give a cell's metadata as nbgrader writes it."""
    usual = {"grade": False, "solution": False, "task": False, "locked": False, "schema_version": 3}
    return {"nbgrader": {**usual, "cell_type": "code", **metadata}}


def copied(name: str) -> Callable[[Document], None]:
    """Copy a cell, as JupyterLab does."""
    return lambda document: document["cells"].append({**cell(document, name), "id": "copy"})


def without(*names: str) -> Callable[[Document], None]:
    """Delete cells."""

    def change(document: Document) -> None:
        document["cells"] = [one for one in document["cells"] if one["id"] not in names]

    return change


def nested(depth: int) -> Document:
    """Give an object so deep that most readers give up."""
    found: Document = {}
    for _ in range(depth):
        found = {"": found}
    return found


def many_cells(count: int) -> Callable[[Document], None]:
    """Add empty cells."""

    def change(document: Document) -> None:
        document["cells"] += [
            {"cell_type": "markdown", "id": f"c{n}", "metadata": {}, "source": ""} for n in range(count)
        ]

    return change


def deep_folders(place: Path) -> None:
    """Make folders in folders, deeper than a path may be long."""
    inside = os.open(place, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("folder", dir_fd=inside)
        deeper = os.open("folder", os.O_RDONLY, dir_fd=inside)
        os.close(inside)
        inside = deeper
    os.close(inside)


def html_output(data: Document) -> Callable[[Document], None]:
    output = {"output_type": "display_data", "metadata": {}, "data": data}
    return added("code", "1", outputs=[output], metadata={"trusted": True})


PICTURE = {"x.svg": {"image/svg+xml": f"<svg xmlns='http://www.w3.org/2000/svg' onload='{RAN}'/>"}}

HAND_INS = (
    HandIn("script", "a script in Markdown", change=added("markdown", f"Nice course!\n\n{SCRIPT}\n\n{IMAGE}")),
    HandIn("copied-check", "copies a check's cell", told=TWICE, change=copied("check-users")),
    HandIn("link-script", "links and pictures that run", change=added("markdown", f"[x](javascript:{RAN}) {HTML}")),
    HandIn(
        "maths", "a link in a formula", change=added("markdown", f"$$\n{HTML}\n$$ $\\href{{javascript:{RAN}}}{{x}}$")
    ),
    HandIn("diagram", "a diagram with HTML", change=added("markdown", f"```mermaid\n{HTML}\n```\n")),
    HandIn(
        "pre", "leaves the frame that text is shown in", change=added("markdown", f"\r{HTML}\x0b</pre>\u2028{HTML}")
    ),
    HandIn("raw", "a raw cell", change=added("raw", HTML, metadata={"raw_mimetype": "text/html"})),
    HandIn(
        "attached", "a picture with a script", change=added("markdown", "![x](attachment:x.svg)", attachments=PICTURE)
    ),
    HandIn("shown-html", "an output in HTML", change=html_output({"text/html": HTML})),
    HandIn("shown-script", "an output in JavaScript", change=html_output({"application/javascript": RAN})),
    HandIn("title", "a script in the course's own words", change=replaced("title", source=HTML)),
    HandIn(
        "answer-in-words",
        "turns an answer's cell into Markdown",
        points=PREDICTED,
        change=replaced("choice", cell_type="markdown", source=HTML),
    ),
    HandIn(
        "tags", "HTML in metadata", told=CHANGED, change=replaced("choice", metadata={"tags": [HTML], "name": HTML})
    ),
    HandIn("cell-id", "HTML in a cell's id", change=added("code", "1", id=HTML)),
    HandIn(
        "kernel",
        "HTML in the notebook's metadata",
        change=lambda one: one.update(metadata={"title": HTML, "language": 5}),
    ),
    HandIn(
        "grade-cell",
        "a grade cell of its own",
        told=FOREIGN,
        change=added("code", "1", metadata=own(grade=True, points=1000, grade_id="check-bonus", locked=True)),
    ),
    HandIn(
        "task-cell",
        "a task cell of its own",
        told=FOREIGN,
        change=added("markdown", "Done.", metadata=own(task=True, points=9, grade_id="task", cell_type="markdown")),
    ),
    HandIn("grade-id", "HTML in a grade id", told=FOREIGN, change=relabelled("choice", grade_id=HTML)),
    HandIn(
        "answer-graded", "grades an answer's cell", told=CHANGED, change=relabelled("choice", grade=True, points=99)
    ),
    HandIn("points", "raises its points", told=CHANGED, change=relabelled("check-users", points=1000)),
    HandIn("schema", "metadata of the future", change=relabelled("check-users", schema_version=99)),
    HandIn(
        "no-object", "metadata that is text", told=CHANGED, change=replaced("check-users", metadata={"nbgrader": HTML})
    ),
    HandIn("deleted", "deletes a check and its words", told=MISSING, change=without("both", "check-users")),
    HandIn("surrogate", "half a character", change=added("markdown", "\ud800 \x1b[2J")),
    HandIn("deep", "is nested too deeply", points=NONE, told="read as a notebook", file=b'{"cells": ' + b"[" * 100_000),
    HandIn("nested", "metadata of 300 levels", told=CHANGED, change=replaced("choice", metadata={"x": nested(300)})),
    HandIn("no-json", "a file, not a notebook", points=NONE, told="read as a notebook", file=b"\x89PNG nonsense"),
    HandIn(
        "long-text", "three million exclamation marks", told="longer than", change=added("markdown", "!" * 3_000_000)
    ),
    HandIn("many-cells", "5,000 cells", points=NONE, told="5,0", change=many_cells(5_000)),
    HandIn("long-code", "three megabytes of code", points=NONE, told="of code", change=added("code", "''" * 1_500_000)),
    HandIn("spaces", "code that is costly to colour", change=added("code", " " * 1_000_000 + "x")),
    HandIn("time", "a time that is none", beside=lambda place: (place / "timestamp.txt").write_text("<b>soon</b>")),
    HandIn(
        "time-bytes", "a time that is no text", beside=lambda place: (place / "timestamp.txt").write_bytes(b"\xff" * 99)
    ),
    HandIn(
        "time-far",
        "a time in the far future",
        beside=lambda place: (place / "timestamp.txt").write_text("9999-12-31 UTC"),
    ),
    HandIn("pipe", "a named pipe beside it", beside=lambda place: os.mkfifo(place / "commits.json")),
    HandIn("page", "a page beside it", beside=lambda place: (place / "page.html").write_text(HTML)),
    HandIn("folders", "1,200 folders in folders", beside=deep_folders),
    HandIn(
        "link",
        "a link to the course's secret",
        beside=lambda place: (place / "notes.txt").symlink_to(os.environ["SEEKLAB_COURSE_SECRET"]),
    ),
)
"""The first two are handed in by `make test`."""
