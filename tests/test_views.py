"""The views that the engine lets a case name are those that the web part draws."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "web" / "src"
TOOLS = {"oplog", "iostat", "fio", "quantize", "sync", "bonnie"}
"""Views that are what an observation tool prints; the evidence of a page has a tab for each."""


def _accepted() -> set[str]:
    """Read the variants of the engine's `View`, as case files write them."""
    source = ROOT.joinpath("engine/library/src/case/view.rs").read_text(encoding="utf-8")
    variants = re.findall(r"^    ([A-Z]\w+),$", source[source.index("pub enum View") :], re.MULTILINE)
    return {re.sub(r"(?<!^)(?=[A-Z])", "-", variant).lower() for variant in variants}


def _charts() -> set[str]:
    """Read the names of all charts."""
    return {name for path in (WEB / "charts").glob("*.ts") for name in _names(path)}


def _names(path: Path) -> list[str]:
    return re.findall(r'^  name: "([a-z-]+)",$', path.read_text(encoding="utf-8"), re.MULTILINE)


def _stages() -> dict[str, Path]:
    """Read where the file of each scene and stage is, by the name that case files use."""
    source = (WEB / "stage/stages.ts").read_text(encoding="utf-8")
    fetched = re.findall(
        r'^  \["([a-z-]+)", async \(\) => \(await import\("\./([\w/]+\.ts)"\)\)\.\w+\],$', source, re.MULTILINE
    )
    return {name: WEB / "stage" / file for name, file in fetched}


def test_a_scenery_is_fetched_by_its_own_name() -> None:
    scenes = {name: path for name, path in _stages().items() if path.parent.name == "scenes"}
    assert {name: _names(path) for name, path in scenes.items()} == {name: [name] for name in scenes}
    named = {name for path in (WEB / "stage/scenes").glob("*.ts") for name in _names(path)}
    assert named == {*scenes, "life"}, "every page has the life of a request"


def test_every_view_that_a_case_may_name_is_drawn() -> None:
    drawn = {*_charts(), *_stages(), "life"}
    assert {"prefetch-strip", "histogram", "bucket"} <= drawn, "the names are read from the sources"
    assert _accepted() == drawn | TOOLS


def test_every_tool_that_a_case_may_name_has_a_tab() -> None:
    evidence = "".join(path.read_text(encoding="utf-8") for path in (WEB / "page/case").glob("evidence*.ts"))
    assert {tool for tool in TOOLS if f'"{tool}"' in evidence} == TOOLS
