"""The licences that must ship with the engine's module, the widget, Python in the browser and the site."""

from __future__ import annotations

import re
import zipfile

import licences
import steps

SITE = steps.WEB / "dist" / "licences.txt"
CRATES = [f"{crate.name} {crate.version} (" for crate in licences.crates()]
IN_MODULE = re.compile(rb"registry/src/[^/\0]+/([a-z0-9_-]+?)-(\d+\.\d+\.\d+[^/\0]*)/")
"""A crate's folder, which the module contains for messages of panics."""


def test_the_crates_of_the_module_are_found_and_those_of_tests_are_not() -> None:
    names = {crate.name for crate in licences.crates()}
    assert {"serde_json", "hdrhistogram", "libm", "wasm-bindgen", "toml", "xxhash-rust"} <= names
    assert not {"proptest", "criterion", "walrus", "flate2"} & names
    module = (steps.PACKAGED_ENGINE / "seeklab_bg.wasm").read_bytes()
    inside = {licences.Crate(name.decode(), version.decode()) for name, version in IN_MODULE.findall(module)}
    assert inside
    assert inside <= set(licences.crates())


def test_every_crate_has_a_licence_with_its_text() -> None:
    text = licences.notices()
    assert [name for name in CRATES if name not in text] == []
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    assert min(len(section.partition("\n")[2]) for section in sections) > 500
    assert text.count("Permission is hereby granted") > 10
    assert "Rust's standard library" in text


def test_the_wheel_has_the_licences_of_module_and_widget() -> None:
    with zipfile.ZipFile(steps.WHEEL_FILE) as wheel:
        text = wheel.read("seeklab/_engine/licences.txt").decode()
        widget = wheel.read("seeklab/_engine/widget-licences.txt").decode()
    assert [name for name in CRATES if name not in text] == []
    assert {"@observablehq/plot", "d3-array"} <= set(re.findall(r"^## (\S+)", widget, re.MULTILINE))


def test_the_site_has_the_licences_of_all_that_it_contains() -> None:
    text = SITE.read_text(encoding="utf-8")
    assert [name for name in CRATES if name not in text] == []
    for words in (
        *(
            "Mozilla Public License Version 2.0",
            "PYTHON SOFTWARE FOUNDATION LICENSE VERSION 2",
            "SIL Open Font License",
        ),
        *(
            "## @observablehq/plot",
            "## zlib",
            "## bzip2",
            "## libffi",
            "## SQLite",
            "## Expat",
            "## libmpdec",
            "## musl",
        ),
    ):
        assert words.casefold() in text.casefold(), words
