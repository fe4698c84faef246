"""The instructor's pages: links lead somewhere, weeks name notebooks and exercises that are there, all of them."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

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


MAX_MINUTES = 240
HOUR = 60
WRITTEN = {path.name[:2]: path.read_text(encoding="utf-8") for path in sorted((ROOT / "notebooks").glob("*.ipynb"))}


def minutes(notebook: dict[str, str]) -> float:
    """Return the minutes that a notebook states; a part of it takes half."""
    (stated,) = re.findall(r"\*(\d+) minutes\. You need", WRITTEN[notebook["number"]])
    return int(stated) / (2 if notebook["part"].removesuffix("optional") else 1)


@pytest.mark.parametrize("week", WEEKS, ids=lambda week: week["theme"])
def test_a_week_takes_four_hours_at_most(week: dict[str, Any]) -> None:
    required = [notebook for notebook in week["notebooks"] if not notebook["optional"]]
    assert sum(map(minutes, required)) + HOUR + HOUR <= MAX_MINUTES


def test_each_notebook_comes_after_those_that_it_needs() -> None:
    read: list[str] = []
    for week in WEEKS:
        for notebook in week["notebooks"]:
            assert set(notebook["needs"]) <= set(read), (week["theme"], notebook)
            read.append(notebook["number"])
    two_days = syllabus.course()["two_days"]
    for notebook in WEEKS[0]["notebooks"] + [one for week in WEEKS[1:] for one in week["notebooks"]]:
        if notebook["number"] in two_days and notebook["part"] in {"", "first half"}:
            assert set(notebook["needs"]) <= set(two_days[: two_days.index(notebook["number"])])


def test_the_course_knows_what_a_notebook_says_that_it_needs() -> None:
    known: dict[str, set[str]] = {}
    for week in WEEKS:
        for notebook in week["notebooks"]:
            known.setdefault(notebook["number"], set()).update(notebook["needs"])
    for number, text in WRITTEN.items():
        (sentence,) = re.findall(r"You need: ([^.]*)\.", text)
        named = {
            one for listed in re.findall(r"notebooks? ([\d, and]+)", sentence) for one in re.findall(r"\d\d", listed)
        }
        helpful = set(re.findall(r"notebook (\d\d)[^;.]*helps", sentence))
        assert named - helpful == known[number], number


def test_an_exercise_comes_no_sooner_than_a_notebook_that_names_it() -> None:
    read: set[str] = set()
    for week in WEEKS:
        read |= {notebook["number"] for notebook in week["notebooks"]}
        for exercise in week["exercises"]:
            naming = {number for number, text in WRITTEN.items() if f"exercises/{exercise}/" in text}
            assert not naming or naming & read, exercise


EXAMS = (DOCS / "exams.md").read_text(encoding="utf-8")
BINARY = {f"{prefix}iB": 1 << (10 * nth) for nth, prefix in enumerate("KMGT", 1)}
DECIMAL = {f"{prefix}B": 1000**nth for nth, prefix in enumerate("KMGT", 1)}
UNITS = {**BINARY, **DECIMAL, "B": 1, "ms": 1e-3, "us": 1e-6, "s": 1}
UNIT = re.compile(rf"([\d.]+) ({'|'.join(UNITS)})\b")
KEYS = [key for line in re.findall(r"(?m)^\d+\. .*Key: (.*)$", EXAMS) for key in re.findall(r"`([^`]+)`", line)]


def value_of(text: str) -> float:
    """Return the value of a key's expression, with its units, in bytes and seconds."""
    written = UNIT.sub(r"(\1 * \2)", re.sub(r"%$", " / 100", text))
    written = re.sub(r" /s$", "", written)  # "79 /s" is a number of times in a second
    found = eval(written, {"__builtins__": {}}, {**UNITS, "ceil": math.ceil, "max": max})  # noqa: S307 -- our own text
    return float(found)


def test_each_week_has_two_exam_questions_with_keys() -> None:
    for week in range(1, 11):
        part = EXAMS.partition(f"**Week {week}**")[2].partition("**Week")[0]
        assert re.findall(r"(?m)^(\d+)\. .*\?.* Key: ", part) == [str(2 * week - 1), str(2 * week)]


@pytest.mark.parametrize("key", KEYS)
def test_a_key_of_the_exam_is_what_its_expression_gives(key: str) -> None:
    expression, _, given = key.partition(" = ")
    assert value_of(expression) == pytest.approx(value_of(given), rel=5e-3)
