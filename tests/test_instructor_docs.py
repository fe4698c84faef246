"""The instructor's pages: links lead somewhere, weeks name notebooks and exercises that are there, all of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs" / "instructor"
PAGES = sorted(DOCS.rglob("*.md"))
SYLLABUS = (DOCS / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_between_pages_lead_to_files(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_exercise_has_its_week() -> None:
    named = set(re.findall(r"[a-z]+(?:-[a-z]+)+", SYLLABUS))
    assert {path.name for path in (ROOT / "exercises").iterdir() if path.is_dir()} - named == set()


def test_every_notebook_has_its_week() -> None:
    named = set(re.findall(r"\b\d\d\b", SYLLABUS))
    assert {path.name[:2] for path in (ROOT / "notebooks").glob("*.ipynb")} - named == set()


@pytest.mark.parametrize("week", range(1, 11))
def test_a_week_says_what_it_is_for(week: int) -> None:
    text = (DOCS / "weeks" / f"week-{week:02}.md").read_text(encoding="utf-8")
    for part in ("Aims", "What they believe", "At the board", "To discuss", "Solutions"):
        assert f"**{part}" in text
