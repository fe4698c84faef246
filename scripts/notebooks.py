"""Run the course's notebooks and store their outputs, in a form that does not depend on the machine.

`make update what=notebooks` runs it. The tests compare the marked cells with a fresh run.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from console import ROOT, main, say
from notebook_format import text_of

if TYPE_CHECKING:
    from pathlib import Path

    from nbformat import NotebookNode

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
CELL_LIMIT_S = 600
"""Time limit of a cell, in seconds; on a busy machine the longest takes minutes."""
CHECKED = "nbval-check-output"
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def notebooks() -> None:
    """Run and store every notebook of the course."""
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        store(path)
        say(f"stored {path.relative_to(ROOT)}")


def store(path: Path) -> None:
    """Run one notebook and write it with its outputs."""
    import nbformat
    from nbclient import NotebookClient

    os.environ["SEEKLAB_GATES"] = "open"  # no reader can answer the questions
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # suppresses a warning of the debugger
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=CELL_LIMIT_S, resources={"metadata": {"path": path.parent}}).execute()
    normalise(notebook)
    mark_outputs(notebook)
    path.write_text(text_of(json.loads(nbformat.writes(notebook))), encoding="utf-8")


def normalise(notebook: NotebookNode) -> None:
    """Remove everything that differs between machines and runs: times, versions, widgets (they need a live kernel).

    A widget's text, and its data for the notebook's page, are kept.
    """
    from seeklab.notebook._stored import MIME

    notebook.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = [
                output for output in cell.outputs if WIDGET_VIEW not in output.get("data", ()) or MIME in output.data
            ]
            for output in cell.outputs:
                output.get("data", {}).pop(WIDGET_VIEW, None)


def mark_outputs(notebook: NotebookNode) -> None:
    """Tag the cells whose outputs are compared with a new run: all that have outputs."""
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        tags = [tag for tag in cell.metadata.get("tags", []) if tag != CHECKED]
        tags += [CHECKED] if cell.outputs else []
        cell.metadata.pop("tags", None)
        if tags:
            cell.metadata["tags"] = tags


if __name__ == "__main__":
    main(notebooks)
