"""The start page of a learner's folder: a notebook that says what is next, and lists the weeks."""

from __future__ import annotations

import json

from seeklab.course.known import weeks

NAME = "notebooks/00-start.ipynb"
"""In the folder of the notebooks, because `commits.json` is there too. Its name sorts it first."""

HEAD = """# Start here

This course has ten weeks. You find out why storage was slow: look, say what you expect, and let the simulator run.

- **Run this page** (menu *Run, Run All Cells*) to see what is next, and three questions about what you have learned.
- **In a notebook,** run all cells first. Cells below a question open when you answer it, or press *Skip*.
- **Wrong answers cost nothing.** They stay in `commits.json` next to this page, on this device.
- **No idea of storage yet?** Begin with 07. You need Python's loops, lists and dictionaries, nothing else."""

TAIL = "**Practice.** In a terminal, `seeklab oncall` starts an on-call shift: a complaint, a clock, the usual tools."


def start_page() -> str:
    """Return the notebook's text."""
    table = ["| week | theme | notebooks | graded exercise |", "|---|---|---|---|"]
    for week in weeks():
        links = [
            f"[{one['number']} {one['title']}]({one['file']})"
            + (f", {one['part']}" if one["part"] else "")
            + f" ({one['minutes']:.0f} min{', optional' if one['optional'] else ''})"
            for one in week["notebooks"]
        ]
        name = week["exercise"]
        exercise = f"[{name}](../exercises/{name}/{name}.ipynb)"
        table.append(f"| {week['week']} | {week['theme']} | {'<br>'.join(links)} | {exercise} |")
    cells = [
        _markdown("start", HEAD),
        _code("next", "from seeklab.notebook import three_questions, you\n\nyou()"),
        _code("questions", "three_questions()"),
        _markdown("weeks", "\n".join(["## The weeks", "", *table, "", TAIL])),
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def _markdown(id_: str, text: str) -> dict[str, object]:
    return {"cell_type": "markdown", "id": id_, "metadata": {}, "source": text.splitlines(keepends=True)}


def _code(id_: str, text: str) -> dict[str, object]:
    source = text.splitlines(keepends=True)
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": id_,
        "metadata": {},
        "outputs": [],
        "source": source,
    }
