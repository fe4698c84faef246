"""The environment of tools that check and publish a release: `.cache/release/tools`."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

from console import CACHE, ROOT, Step, run

if TYPE_CHECKING:
    from pathlib import Path

LOCK = ROOT / "requirements" / "release.txt"
CITATION_LOCK = ROOT / "requirements" / "citation.txt"
TOOLS = CACHE / "release" / "tools"
CITATION_TOOLS = CACHE / "release" / "citation"


def bin_of(environment: Path) -> Path:
    """Return the folder of an environment's programs."""
    return environment / ("Scripts" if os.name == "nt" else "bin")


def _create(environment: Path, lock: Path) -> None:
    shutil.rmtree(environment, ignore_errors=True)
    run(environment.name, sys.executable, "-m", "venv", environment)
    pip = (bin_of(environment) / "python", "-m", "pip", "install", "--require-hashes", "--requirement", lock)
    run(environment.name, *pip)


def _install() -> None:
    _create(TOOLS, LOCK)


def _install_citation() -> None:
    _create(CITATION_TOOLS, CITATION_LOCK)


RELEASE_TOOLS = Step(
    "release-tools",
    "Installing the tools that check a release",
    _install,
    reads=(LOCK,),
    versions=lambda: [sys.version],
    makes=(bin_of(TOOLS),),
)
CITATION = Step(
    "citation",
    "Installing the tool that checks the citation",
    _install_citation,
    reads=(CITATION_LOCK,),
    versions=lambda: [sys.version],
    makes=(bin_of(CITATION_TOOLS),),
)
