"""Cheap answers earn at most half of an exercise's points, and no answer of a notebook passes its exercise."""

from __future__ import annotations

import inspect
import json
import re
from statistics import mean
from typing import TYPE_CHECKING, Any

import pytest

import cheap
import sampling
from console import ROOT
from seeklab.course.tasks import tasks
from seeklab.judge import Code, Seeds, Variant, catalogue, judge
from seeklab.judge.identity import practice_draws
from seeklab.judge.programs import Live
from wrong_answers import LEARNER, ONE_SEED

if TYPE_CHECKING:
    from collections.abc import Iterator

STORED: dict[str, dict[str, Any]] = json.loads(cheap.STORE.read_text(encoding="utf-8"))
ROWS = [(name, strategy) for name, rows in STORED.items() for strategy in rows]
SAMPLE = 4
PAIRS = 12
LEARNERS = ("Ada Lovelace", "Grace Hopper")
LINK = re.compile(r'check\("([a-z_-]+/[a-z_-]+)"')


def test_every_exercise_was_measured() -> None:
    assert sorted(STORED) == sorted(catalogue.NAMES)


@pytest.mark.parametrize(("name", "strategy"), ROWS)
def test_a_cheap_answer_earns_half_of_the_points_at_most(name: str, strategy: str) -> None:
    assert STORED[name][strategy]["share"] <= cheap.MOST, STORED[name][strategy]


@pytest.mark.parametrize("row", sampling.some([f"{name}: {strategy}" for name, strategy in ROWS], SAMPLE))
def test_stored_points_are_those_of_today(row: str) -> None:
    name, _, strategy = row.partition(": ")
    stored = STORED[name][strategy]
    (family,) = (one for one in cheap.families(name) if one.name == strategy)
    learner = int(sampling.commit()[:2], 16) % len(stored["first"]) if sampling.commit() != "no commit" else 0
    found = cheap.points_of(name, family.candidates[stored["best"]], [f"learner {learner}"])
    assert found == [stored["first"][learner]], f"tests/cheap.py {name}"


LIVE = [(name, strategy) for name in ("flash-reserve", "read-ahead") for strategy in cheap.OF_ITS_OWN[name]]


@pytest.mark.parametrize("row", sampling.some([f"{name}: {strategy}" for name, strategy in LIVE], 1))
def test_a_policy_without_a_stored_row_earns_half_of_the_points_at_most(row: str) -> None:
    name, _, strategy = row.partition(": ")
    answers = cheap.OF_ITS_OWN[name][strategy]()
    assert mean(cheap.points_of(name, lambda _: answers, LEARNERS)) <= cheap.MOST


def _linked() -> Iterator[tuple[str, str]]:
    """Yield each task of a notebook with each exercise of its incidents."""
    links = dict(catalogue.MECHANISMS)
    for path in (ROOT / "engine" / "cases").glob("*.toml"):
        found = re.search(r'^notebook = "([^"]+)"', path.read_text(encoding="utf-8"), re.MULTILINE)
        named = re.search(r"^exercises = \[([^\]]*)\]", path.read_text(encoding="utf-8"), re.MULTILINE)
        if found and named:
            links[found[1]] = (*links.get(found[1], ()), *re.findall(r'"([^"]+)"', named[1]))
    for notebook, names in links.items():
        text = (ROOT / "notebooks" / f"{notebook}.ipynb").read_text(encoding="utf-8").replace('\\"', '"')
        for task in dict.fromkeys(LINK.findall(text)):
            for name in dict.fromkeys(names):
                yield task, name


def _programs(task: str) -> list[Any]:
    """Return the functions and classes that a notebook's answer defines, if it needs no other names."""
    space: dict[str, Any] = {}
    try:
        exec(f"{tasks()[task].setup}\n{tasks()[task].answer}", space)  # noqa: S102 -- our own code
    except (NameError, AttributeError):
        return []
    return [
        value for value in space.values() if callable(value) and getattr(value, "__module__", "") in (None, "builtins")
    ]


LINKED = sorted({f"{task} {name}" for task, name in _linked() if _programs(task)})


def test_notebooks_lead_to_exercises() -> None:
    assert {pair.split()[1] for pair in LINKED} >= {"read-ahead", "write-throttle", "shard-count"}


def _handed_in(program: Any, kind: Code) -> list[Any]:
    """Return the ways to hand a notebook's program in: as it is, for a policy, and by the names of known numbers."""
    ways = [program]
    if kind.made:
        ways.append(lambda: program)
    if list(kind.takes) == ["system"]:
        names = list(inspect.signature(program).parameters)
        ways.append(lambda system: program(*(system[name] for name in names)))
    return ways


@pytest.mark.parametrize("pair", sampling.some(LINKED, PAIRS))
def test_no_answer_of_a_notebook_passes_its_exercise(pair: str) -> None:
    task, name = pair.split()
    assignment = catalogue.assignment(name)
    programs = [(one, kind) for one, kind in assignment.kinds.items() if isinstance(kind, Code)]
    for one, kind in programs:
        (*_, wanted) = (given.id for given in assignment.tasks if list(given.takes) == [one])
        for program in _programs(task):
            for way in _handed_in(program, kind):
                variant, seeds = Variant(practice_draws(LEARNER), ONE_SEED), Seeds(b"a")
                (verdict,) = judge(assignment, {one: Live(way)}, variant, seeds, [wanted])
                assert not verdict.passed, (task, name, one)
