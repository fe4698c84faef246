"""The weeks of the course, from `docs/instructor/course.toml`, and the table of them in the instructor's README.

`make update what=syllabus` writes the table. A test compares the two.
"""

from __future__ import annotations

import ast
import json
import re
import tomllib
from typing import TYPE_CHECKING, Any

from console import ROOT, main

if TYPE_CHECKING:
    from pathlib import Path

COURSE = ROOT / "docs" / "instructor" / "course.toml"
README = COURSE.with_name("README.md")
WEEKS = ROOT / "engine" / "python" / "seeklab" / "course" / "weeks.json"
"""The weeks for learners, in the package."""
HEAD = "| week | theme | notebooks | graded exercise |\n|---|---|---|---|\n"


def weeks() -> list[dict[str, Any]]:
    """Return the weeks: number, theme, notebooks with parts ("" for all), and exercises, the graded first."""
    return [
        {
            "week": number,
            **week,
            "notebooks": [
                {"needs": [], "optional": False, **notebook, "part": _part(notebook)} for notebook in week["notebooks"]
            ],
            "exercises": [week["graded"], *week["more"]],
        }
        for number, week in enumerate(course()["weeks"], 1)
    ]


def course() -> dict[str, Any]:
    """Return the file's data."""
    return tomllib.loads(COURSE.read_text(encoding="utf-8"))


def _part(notebook: dict[str, Any]) -> str:
    return ", ".join([*filter(None, [notebook.get("part")]), *(["optional"] if notebook.get("optional") else [])])


def table() -> str:
    """Return the weeks as a Markdown table."""
    rows = []
    for week in weeks():
        link = f"[{week['week']}](weeks/week-{week['week']:02}.md)"
        notebooks = ", ".join(
            f"{notebook['number']} ({notebook['part']})" if notebook["part"] else notebook["number"]
            for notebook in week["notebooks"]
        )
        more = f"more: {', '.join(week['more'])}"
        exercises = "; ".join([f"**{week['graded']}**", more, *([week["also"]] if "also" in week else [])])
        rows.append(f"| {link} | {week['theme']} | {notebooks} | {exercises} |\n")
    return HEAD + "".join(rows)


def for_learners() -> str:
    """Return the weeks as the package has them: each notebook with its file, title, minutes, questions and tasks."""
    files = {path.name[:2]: path for path in sorted((ROOT / "notebooks").glob("*.ipynb"))}
    found = []
    for week in weeks():
        notebooks = [_for_learners(notebook, files[notebook["number"]]) for notebook in week["notebooks"]]
        found.append(
            {"week": week["week"], "theme": week["theme"], "notebooks": notebooks, "exercise": week["exercises"][0]}
        )
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def _for_learners(notebook: dict[str, Any], path: Path) -> dict[str, Any]:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    (title,) = re.findall(r"^# (.*)$", text, flags=re.MULTILINE)[:1]
    (minutes,) = re.findall(r"\*(\d+) minutes\. You need", text)
    calls = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
    asks = [ask for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset)) for ask in _asks(call)]
    part = notebook["part"].removesuffix("optional").removesuffix(", ")
    return {
        "number": notebook["number"],
        "file": path.name,
        "title": title,
        "part": part,
        "minutes": int(minutes) / (2 if part else 1),
        "optional": notebook["optional"],
        "needs": notebook["needs"],
        "asks": _share_of(list(dict.fromkeys(asks)), notebook),
    }


def _asks(call: ast.Call) -> list[str]:
    """Return the id of the question or task that a call shows, in a list; an empty list for any other call."""
    name = getattr(call.func, "id", getattr(call.func, "attr", ""))
    first = call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else None
    named = [one.value.value for one in call.keywords if one.arg == "name" and isinstance(one.value, ast.Constant)]
    if name == "Prediction":
        return [str(named[0] if named else re.sub(r"[^a-z0-9]+", "-", str(first).lower()).strip("-")[:60])]
    return {"predict": [f"{first!s}"], "turn": [f"turn/{first!s}"]}.get(name, []) if first else []


def _share_of(asks: list[str], notebook: dict[str, Any]) -> list[str]:
    """Return the questions of a part of a notebook: those after the first one of the part, up to the next part's."""
    starts = sorted(asks.index(start) for start in _starts(notebook["number"]))
    if "starts" not in notebook:
        return asks
    begin = asks.index(notebook["starts"])
    end = next((start for start in starts if start > begin), len(asks))
    return asks[begin:end]


def _starts(number: str) -> list[str]:
    """Return the first question of each part of a notebook."""
    named = [notebook for week in course()["weeks"] for notebook in week["notebooks"] if notebook["number"] == number]
    return [notebook["starts"] for notebook in named if "starts" in notebook]


def write_table() -> None:
    """Replace the table in the README, and the weeks of the package."""
    WEEKS.write_text(for_learners(), encoding="utf-8")
    text = README.read_text(encoding="utf-8")
    README.write_text(
        re.sub(r"\| week \| theme .*\n\|---.*\n" + r"(\|.*\n)*", lambda _: table(), text), encoding="utf-8"
    )


if __name__ == "__main__":
    main(write_table)
