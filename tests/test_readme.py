"""The README and the reference pages show what the engine, the course and the command line give."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import prose
import reference_pages
import runs

ROOT = Path(__file__).parents[1]
AGAIN = "run make update what=readme"
README = (ROOT / "README.md").read_text(encoding="utf-8")
MAX_LINES = 150
FIRST_SCREEN = 20
"""Lines that a visitor sees without scrolling."""
MAX_PICTURE_BYTES = 1_500_000


def test_the_readmes_facts_are_those_of_the_engine() -> None:
    assert reference_pages.current("facts") == reference_pages.facts(runs.facts(reference_pages.CASE)), AGAIN


@pytest.mark.parametrize("name", ["counts", "verdicts"])
def test_the_readmes_counts_are_those_of_the_case_files_and_the_course(name: str) -> None:
    written = {"counts": reference_pages.counts, "verdicts": reference_pages.fact_counts}[name]
    assert reference_pages.current(name) == written(), AGAIN


@pytest.mark.parametrize("name", reference_pages.PAGES)
def test_a_reference_page_is_as_it_would_be_written_now(name: str) -> None:
    assert (reference_pages.DOCS / name).read_text(encoding="utf-8") == reference_pages.PAGES[name](), AGAIN


def test_every_reference_page_is_left_out_of_the_prose_check() -> None:
    assert {f"docs/{name}" for name in reference_pages.PAGES} == set(prose.REFERENCE)


def test_the_readme_is_short_and_begins_with_both_commands() -> None:
    lines = README.splitlines()
    assert len(lines) <= MAX_LINES
    for command in ("    make lab ", "    make test "):
        assert any(line.startswith(command) for line in lines[:FIRST_SCREEN])


def test_the_readmes_picture_moves_and_is_small() -> None:
    picture = ROOT / re.findall(r"!\[[^\]]+\]\((.*?)\)", README)[0]
    content = picture.read_bytes()
    assert len(content) <= MAX_PICTURE_BYTES
    assert content[37:41] == b"acTL", "an animated PNG; node scripts/moving_picture.mjs writes it"


@pytest.mark.parametrize(
    "page", [path.relative_to(ROOT) for path in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"))], ids=str
)
def test_links_lead_to_files(page: Path) -> None:
    path = ROOT / page
    for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), f"{page} links to {target}"
