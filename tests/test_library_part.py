"""The part of the library that a run gets: enough for the run, and no more."""

from __future__ import annotations

import json

import pytest

import seeklab
from seeklab.engine.library import Library
from seeklab.engine.raw import read_engine_file

WHOLE = read_engine_file("library.json")
CASES = [entry["document"]["id"] for entry in json.loads(WHOLE)["cases"]]


@pytest.fixture(scope="module")
def library() -> Library:
    return Library(WHOLE)


@pytest.mark.parametrize(
    ("request_", "cases"),
    [
        ({"scenario": {}}, []),
        ({"case": "odx-prefetch", "set": {}}, ["odx-prefetch"]),
        ({"facts": {"case": "odx-prefetch"}}, ["odx-prefetch"]),
        ({"facts": {}}, CASES),
        ({"case": "odx"}, CASES),
        ({"case": 3}, CASES),
    ],
)
def test_a_request_gets_the_cases_that_it_can_read(
    library: Library, request_: dict[str, object], cases: list[str]
) -> None:
    part = json.loads(library.part_for(request_))
    assert [entry["document"]["id"] for entry in part["cases"]] == cases
    assert part["presets"] == json.loads(WHOLE)["presets"]


def test_a_misspelt_case_is_told_the_nearest_of_all() -> None:
    with pytest.raises(seeklab.SeeklabError) as raised:
        seeklab.case("odx-prefetc")
    assert raised.value.problems[0].nearest == "odx-prefetch"
