"""Write notebooks in one form: one line for each cell's metadata and for each output, keys in alphabetical order.

Jupyter spreads outputs over many lines that no reader of a diff can use. `make fmt` formats every tracked notebook;
`--check` names those in another form and exits with 1.
"""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from console import ROOT, say

if TYPE_CHECKING:
    from pathlib import Path

FOLDERS = ("notebooks", "solutions", "exercises")


def text_of(notebook: dict[str, Any]) -> str:
    """Return the text of a notebook's file."""
    mark = uuid4().hex
    lines: list[str] = []

    def on_one_line(value: object) -> str:
        lines.append(json.dumps(value, sort_keys=True, ensure_ascii=False))
        return f"{mark}{len(lines) - 1}"

    cells = []
    for cell in notebook["cells"]:
        short = {**cell, "metadata": on_one_line(cell["metadata"])}
        if "outputs" in cell:
            short["outputs"] = [on_one_line(output) for output in cell["outputs"]]
        cells.append(short)
    whole = {**notebook, "cells": cells, "metadata": on_one_line(notebook["metadata"])}
    text = json.dumps(whole, indent=1, sort_keys=True, ensure_ascii=False)
    return re.sub(rf'"{mark}(\d+)"', lambda found: lines[int(found[1])], text) + "\n"


def format_files(*, check: bool) -> int:
    """Format every tracked notebook, or only name those in another form. Return the exit code."""
    others: list[Path] = []
    for path in sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.ipynb")):
        old = path.read_text(encoding="utf-8")
        new = text_of(json.loads(old))
        if new != old:
            others.append(path)
            if not check:
                path.write_text(new, encoding="utf-8")
    for path in others:
        say(f"{path.relative_to(ROOT)} {'needs make fmt' if check else 'formatted'}")
    return 1 if check and others else 0


if __name__ == "__main__":
    sys.exit(format_files(check="--check" in sys.argv[1:]))
