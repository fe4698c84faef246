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


def _drawn() -> set[str]:
    """Read the names of all charts, sceneries and stages."""
    charts = {
        name
        for folder in ("charts", "stage/scenery")
        for path in (WEB / folder).glob("*.ts")
        for name in re.findall(r'^  name: "([a-z-]+)",$', path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    stages = re.findall(
        r'^  \["([a-z-]+)", \w+Stage\],$', (WEB / "stage/stages.ts").read_text(encoding="utf-8"), re.MULTILINE
    )
    return charts | set(stages)


def test_every_view_that_a_case_may_name_is_drawn() -> None:
    drawn = _drawn()
    assert {"prefetch-strip", "histogram"} <= drawn, "the names are read from the sources"
    assert _accepted() == drawn | TOOLS


def test_every_tool_that_a_case_may_name_has_a_tab() -> None:
    evidence = "".join(path.read_text(encoding="utf-8") for path in (WEB / "page").glob("evidence*.ts"))
    assert {tool for tool in TOOLS if f'"{tool}"' in evidence} == TOOLS
