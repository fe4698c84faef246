"""The engine's module is loaded before a page shows anything: it stays small, and its library stays out of it."""

from __future__ import annotations

import gzip
import json
from importlib.resources import files

import seeklab

GOAL_BYTES = 500_000
"""Of the module, compressed as a server sends it. It misses since clients, log devices and caches of ZFS came in."""
LIMIT_BYTES = 525_000
"""So it may not grow further without somebody's decision."""

ENGINE = files("seeklab").joinpath("_engine")


def test_the_module_is_not_much_larger_than_its_goal() -> None:
    size = len(gzip.compress(ENGINE.joinpath("seeklab_bg.wasm").read_bytes(), mtime=0))
    assert size <= LIMIT_BYTES, f"{size} B gzip; the goal is {GOAL_BYTES} B, the limit {LIMIT_BYTES} B"


def test_cases_and_schema_lie_beside_the_module_and_not_in_it() -> None:
    library = json.loads(ENGINE.joinpath("library.json").read_bytes())
    assert library["schema"] == seeklab.schema()
    given = library["cases"]
    assert [case for case, _, _ in given] == [case["id"] for case in seeklab.cases()]
    module = ENGINE.joinpath("seeklab_bg.wasm").read_bytes()
    assert b'"$defs"' not in module
    assert not [case for case, _, document in given if json.loads(document)["symptom"].encode() in module]
