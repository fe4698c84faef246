"""The matrix of incidents: each has its page, its notebook and an exercise, and the instructor's table says which."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

import seeklab
from seeklab.judge import catalogue
from seeklab.judge.answers import Code
from seeklab.judge.assignment import Commitment
from seeklab.oncall.incidents import reasons_for_none
from seeklab.oncall.schedule import week_of

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "docs" / "instructor" / "incidents.md"
COURSE = ROOT / "engine" / "python" / "seeklab" / "course"
TASKS = [path.read_text(encoding="utf-8") for path in (COURSE / "tasks").glob("*.py")]
NOTEBOOKS = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "notebooks").glob("*.ipynb")}
CASES = {found["id"]: seeklab.case(found["id"]).document for found in seeklab.cases()}
HEAD = (
    "# Which incident is where\n\n"
    "Each incident with its page in the playground, its notebook, its exercises by kind, and the week from which on"
    " `seeklab oncall --weeks 1-N` draws it as a drill. The table is made from the case files, the exercises and the"
    " shifts (`make update what=matrix` writes it). The [capstone](capstone.md) is an"
    " incident that a learner writes.\n\n"
)


def _exercises_of(document: Any) -> dict[str, list[str]]:
    return _by_kind(document.get("exercises", ()))


def _by_kind(names: Any) -> dict[str, list[str]]:
    return {kind: [name for name in names if kind in catalogue.ASKS[name]] for kind in catalogue.KINDS}


def _table() -> str:
    rows = [["incident", "page", "notebook", *catalogue.KINDS, "drill"], ["---"] * (4 + len(catalogue.KINDS))]
    for document in sorted(CASES.values(), key=lambda one: (one["code"][0], int(one["code"][1:]))):
        kinds = _exercises_of(document)
        rows.append(
            [
                f"{document['code']} {document['title']}",
                f"`{document['id']}`",
                document["notebook"][:2],
                *(", ".join(kinds[kind]) for kind in catalogue.KINDS),
                _drill(document["id"]),
            ]
        )
    for notebook, names in catalogue.MECHANISMS.items():
        kinds = _by_kind(names)
        title = notebook[3:].replace("-", " ").capitalize()
        rows.append([title, "", notebook[:2], *(", ".join(kinds[kind]) for kind in catalogue.KINDS), ""])
    table = "\n".join(f"| {' | '.join(row)} |".replace("|  |", "| |").replace("|  |", "| |") for row in rows)
    reasons = reasons_for_none()
    without = "\n".join(f"- {CASES[name]['code']} {CASES[name]['title']}: {why}." for name, why in reasons.items())
    return f"{HEAD}{table}\n\nNot drawn as a shift, and why:\n\n{without}\n"


def _drill(name: str) -> str:
    week = week_of(name)
    return f"week {week}" if week else "none, see below"


@pytest.mark.parametrize("name", CASES)
def test_an_incident_has_a_page_with_a_picture_and_a_notebook_that_investigates_it(name: str) -> None:
    document = CASES[name]
    assert document["view"]
    assert document["ask"], "the page asks before it shows"
    notebook = NOTEBOOKS[document["notebook"]]
    turns = re.findall(r'turn\(\\"(\w+/)', notebook)
    tasks = [text for text in TASKS if any(f'"{turn}' in text for turn in turns)]
    assert any(name in text for text in (notebook, *tasks))


def test_every_incident_and_every_mechanism_has_an_exercise() -> None:
    lacking = {document["code"] for document in CASES.values() if not any(_exercises_of(document).values())}
    lacking |= {notebook for notebook, names in catalogue.MECHANISMS.items() if not names}
    assert lacking == set()


def test_every_notebook_belongs_to_an_incident_or_is_on_a_mechanism() -> None:
    assert {document["notebook"] for document in CASES.values()} | set(catalogue.MECHANISMS) == set(NOTEBOOKS)


def test_every_exercise_is_of_an_incident_or_a_mechanism() -> None:
    used = {name for document in CASES.values() for name in document.get("exercises", ())}
    used |= {name for names in catalogue.MECHANISMS.values() for name in names}
    assert used == set(catalogue.NAMES)


@pytest.mark.parametrize("name", catalogue.NAMES)
def test_the_kinds_of_an_exercise_are_those_of_its_tasks(name: str) -> None:
    found = catalogue.assignment(name)
    asked = catalogue.ASKS[name]
    assert set(asked) <= set(catalogue.KINDS)
    assert (catalogue.PREDICT in asked) == any(isinstance(task, Commitment) for task in found.tasks)
    assert catalogue.POLICY not in asked or any(isinstance(kind, Code) for kind in found.kinds.values())
    assert any(kind != catalogue.PREDICT for kind in asked), "predictions alone are no exercise"


def test_the_instructors_table_is_the_matrix() -> None:
    table = _table()
    if os.environ.get("SEEKLAB_STORE") == "1":
        TABLE.write_text(table, encoding="utf-8")
    assert TABLE.read_text(encoding="utf-8") == table
