"""Write notebooks in one form: one line for each line of source and for each output, keys in alphabetical order.

Jupyter spreads cells and outputs over many lines, which makes diffs unreadable. `make fmt` formats every tracked
notebook; `--check` lists those in another form and exits with 1.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from console import ROOT, say

if TYPE_CHECKING:
    from pathlib import Path

FOLDERS = ("notebooks", "solutions", "exercises")


def text_of(notebook: dict[str, Any]) -> str:
    """Return the text of a notebook's file."""
    cells = ",\n".join(_cell_text(cell) for cell in notebook["cells"])
    others = _on_one_line({name: value for name, value in notebook.items() if name != "cells"})
    return f'{{"cells": [\n{cells}\n], {others[1:]}\n'


def _cell_text(cell: dict[str, Any]) -> str:
    fields = [f'"{name}": {_list_text(value)}' for name, value in sorted(cell.items())]
    return f"{{{', '.join(fields)}}}"


def _list_text(value: object) -> str:
    """Return a source's lines or a cell's outputs, one on each line; any other value on one line."""
    if not isinstance(value, list) or not value:
        return _on_one_line(value)
    return "[\n " + ",\n ".join(map(_on_one_line, value)) + "\n]"


def _on_one_line(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def format_files(*, check: bool) -> int:
    """Format every tracked notebook, or only list those in another form. Return the exit code."""
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
