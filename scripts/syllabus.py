"""The weeks of the course, from `docs/instructor/course.toml`, and the table of them in the instructor's README.

`make update what=syllabus` writes the table. A test compares the two.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from console import ROOT, main

COURSE = ROOT / "docs" / "instructor" / "course.toml"
README = COURSE.with_name("README.md")
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


def write_table() -> None:
    """Replace the table in the README."""
    text = README.read_text(encoding="utf-8")
    README.write_text(
        re.sub(r"\| week \| theme .*\n\|---.*\n" + r"(\|.*\n)*", lambda _: table(), text), encoding="utf-8"
    )


if __name__ == "__main__":
    main(write_table)
