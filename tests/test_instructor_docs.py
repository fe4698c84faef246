"""The instructor's pages: links lead somewhere, weeks name notebooks and exercises that are there, all of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import syllabus

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs" / "instructor"
PAGES = sorted(DOCS.rglob("*.md"))
WEEKS = syllabus.weeks()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_between_pages_lead_to_files(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_table_of_weeks_is_made_of_the_courses_data() -> None:
    assert syllabus.table() in (DOCS / "README.md").read_text(encoding="utf-8")


def test_every_exercise_has_its_week() -> None:
    named = {name for week in WEEKS for name in week["exercises"]}
    assert named == {path.name for path in (ROOT / "exercises").iterdir() if path.is_dir()}


def test_every_notebook_has_its_week() -> None:
    named = {notebook["number"] for week in WEEKS for notebook in week["notebooks"]}
    assert named == {path.name[:2] for path in (ROOT / "notebooks").glob("*.ipynb")}


@pytest.mark.parametrize("week", [week["week"] for week in WEEKS])
def test_a_week_says_what_it_is_for(week: int) -> None:
    text = (DOCS / "weeks" / f"week-{week:02}.md").read_text(encoding="utf-8")
    for part in ("Aims", "What they believe", "At the board", "To discuss", "Solutions"):
        assert f"**{part}" in text
