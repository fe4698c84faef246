"""The engine's module is loaded before a page shows anything: it stays small, and its library stays out of it."""

from __future__ import annotations

import gzip
import json
from importlib.resources import files

import seeklab

LIMIT_BYTES = 803_000
"""Of the module, compressed as a server sends it: what simulates is compiled for speed, and speed is worth bytes. Each
incident with a mechanism of its own adds 5 to 15 kB; `wasm-opt` makes the module smaller and what is sent larger."""

ENGINE = files("seeklab").joinpath("_engine")


def test_the_module_is_no_larger_than_its_limit() -> None:
    size = len(gzip.compress(ENGINE.joinpath("seeklab_bg.wasm").read_bytes(), mtime=0))
    assert size <= LIMIT_BYTES, f"{size} B gzip; the limit is {LIMIT_BYTES} B"


def test_the_help_of_fields_lies_beside_the_module_and_not_in_it() -> None:
    fields = seeklab.schema()["$defs"]["Job"]
    optional = [field["description"] for name, field in fields["properties"].items() if name not in fields["required"]]
    module = ENGINE.joinpath("seeklab_bg.wasm").read_bytes()
    assert len(optional) > 30
    assert not [text for text in optional if text.encode() in module]


def test_cases_and_presets_lie_beside_the_module_and_not_in_it() -> None:
    library = json.loads(ENGINE.joinpath("library.json").read_bytes())
    documents = [case["document"] for case in library["cases"]]
    assert sorted(document["id"] for document in documents) == sorted(case["id"] for case in seeklab.cases())
    assert library["presets"]
    module = ENGINE.joinpath("seeklab_bg.wasm").read_bytes()
    assert not [document["id"] for document in documents if document["symptom"].encode() in module]
    assert not [preset["name"] for preset in library["presets"] if preset["title"].encode() in module]
