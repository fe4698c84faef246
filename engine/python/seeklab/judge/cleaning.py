"""Plain cells for nbgrader: a submission is reduced to text before nbgrader processes it.

nbgrader shows a learner's Markdown as HTML: in the feedback, and in the formgrader, where it has the instructor's
rights. It also trusts the metadata of cells, so a copied check cell can leave a submission without a grade. Of each
cell we therefore keep only its type, its source, and its claimed name. All else comes from the gradebook.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbformat import from_dict
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor

from seeklab.judge.submission import CHANGED, FOREIGN, MISSING, TWICE, too_many_cells, too_much_code

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

NOTES = "seeklab"
"""Key of the notebook metadata that passes the flags to the judge."""
UNREADABLE = "seeklab_unreadable"
"""Key of the resources that holds the reason why a file could not be read."""
KERNEL = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
CHANGEABLE = ("grade", "solution", "task", "locked", "points")
"""The metadata that determines how nbgrader treats a cell."""
CELL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
MAX_NAME = 80
MAX_TEXT = 100_000
"""Maximum length of a learner's text outside of code cells, in characters: as HTML it is five times as long."""


@dataclass(frozen=True)
class Known:
    """A cell of the assignment, as the gradebook stores it."""

    name: str
    cell_type: str
    source: str
    metadata: Mapping[str, Any]
    """nbgrader's."""

    @property
    def is_graded(self) -> bool:
        """Whether it has points, so that it must not be missing."""
        return bool(self.metadata["grade"] or self.metadata["task"])


class PlainCells(NbGraderPreprocessor):  # type: ignore[misc] # nbgrader is published without types
    """Replaces a submission's cells by plain ones with the gradebook's metadata."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Clean one notebook."""
        who = resources["nbgrader"]
        with Gradebook(who["db_url"]) as gradebook:
            known = _known_cells(gradebook.find_notebook(who["notebook"], who["assignment"]))
        unreadable = resources.get(UNREADABLE) or too_large(nb.get("cells"))
        cells, flags = plain_cells([] if unreadable else nb.get("cells"), known)
        if unreadable:
            flags = [unreadable]
        for flag in flags:
            self.log.warning("%s: %s", Path(resources["metadata"]["path"]).parent.name, flag)
        nb = {"nbformat": 4, "nbformat_minor": 5, "cells": cells, "metadata": {**KERNEL, NOTES: {"flags": flags}}}
        return from_dict(nb), resources


def _known_cells(notebook: Any) -> dict[str, Known]:
    """Return the cells of an assignment's notebook by name, in their order."""
    points = {cell.name: cell.max_score for cell in (*notebook.grade_cells, *notebook.task_cells)}
    graded = {cell.name for cell in notebook.grade_cells}
    tasks = {cell.name for cell in notebook.task_cells}
    solutions = {cell.name for cell in notebook.solution_cells}
    found = {}
    for cell in notebook.source_cells:
        metadata = {
            "schema_version": 3,
            "grade_id": cell.name,
            "grade": cell.name in graded,
            "solution": cell.name in solutions,
            "task": cell.name in tasks,
            "locked": cell.locked,
            "checksum": cell.checksum,
            "cell_type": cell.cell_type,
        }
        if cell.name in points:
            metadata["points"] = points[cell.name]
        found[cell.name] = Known(cell.name, cell.cell_type, cell.source, metadata)
    return found


def too_large(cells: object) -> str:
    """Return why a notebook has too much for nbgrader's pages; empty if it has not. The judge has the same limits."""
    found = [cell for cell in cells if isinstance(cell, dict)] if isinstance(cells, list) else []
    code = sum(len(_source(cell)) for cell in found if cell.get("cell_type") == "code")
    return too_many_cells(len(found)) or too_much_code(code)


def plain_cells(cells: object, known: Mapping[str, Known]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return plain cells in the submission's order, with missing graded cells added, and the flags."""
    found = [cell for cell in cells if isinstance(cell, dict)] if isinstance(cells, list) else []
    at, flags = _places(found, known)
    made = []
    left = MAX_TEXT
    for nth, cell in enumerate(found):
        own = at.get(nth)
        source = _source(cell)
        if (cell.get("cell_type") if own is None else own.cell_type) != "code" and source != getattr(
            own, "source", None
        ):
            if len(source) > left:
                flags.append(f"the notebook's text is longer than {MAX_TEXT:,} characters; the rest is not shown")
            source, left = source[:left], max(0, left - len(source))
        if own is None:
            made.append(_own_cell(cell, source, nth))
        else:
            flags += _changes(cell, own)
            made.append(_known_cell(source, own))
    return _with_missing(made, known, flags), list(dict.fromkeys(flags))


def _places(cells: Sequence[Mapping[str, Any]], known: Mapping[str, Known]) -> tuple[dict[int, Known], list[str]]:
    """Match the submission's cells to the course's. If several claim one name, the last counts, as in nbgrader."""
    flags: list[str] = []
    claims: dict[str, list[int]] = {}
    for nth, cell in enumerate(cells):
        name = _metadata(cell).get("grade_id")
        if isinstance(name, str) and name in known:
            claims.setdefault(name, []).append(nth)
        elif _metadata(cell):
            flags.append(f"a cell claims to be graded as {ascii(name)[:MAX_NAME]}, {FOREIGN}")
    claimed = {nth for places in claims.values() for nth in places}
    for nth, cell in enumerate(cells):
        name = cell.get("id")
        if nth not in claimed and isinstance(name, str) and name in known and name not in claims:
            claims[name] = [nth]
    flags += [f"the cell {name} {TWICE}" for name, places in claims.items() if len(places) > 1]
    return {places[-1]: known[name] for name, places in claims.items()}, flags


def _changes(cell: Mapping[str, Any], own: Known) -> list[str]:
    """Return a flag if the metadata differ from the gradebook's."""
    told = _metadata(cell)
    same = all(told.get(name) == own.metadata.get(name) for name in CHANGEABLE if name in told or name in own.metadata)
    return [] if same else [f"the cell {own.name} {CHANGED}; it is graded with the course's metadata"]


def _known_cell(source: str, own: Known) -> dict[str, Any]:
    """Return a cell of the course, with the learner's source if learners may edit the cell."""
    if own.metadata["locked"]:
        source = own.source
    elif own.cell_type != "code" and source != own.source:
        source = text_of(source)
    name = own.name if CELL_ID.fullmatch(own.name) else "course-" + own.name.encode().hex()[:50]
    return _cell(own.cell_type, name, source, {"nbgrader": dict(own.metadata)})


def _own_cell(cell: Mapping[str, Any], source: str, nth: int) -> dict[str, Any]:
    """Return a cell that the learner added: code unchanged, all else as text."""
    name = f"learners-own-{nth + 1}"
    if cell.get("cell_type") == "code":
        return _cell("code", name, source, {})
    return _cell("markdown", name, text_of(source), {})


def _with_missing(cells: list[dict[str, Any]], known: Mapping[str, Known], flags: list[str]) -> list[dict[str, Any]]:
    """Insert the missing graded cells, each after the course's cell that precedes it."""
    there = [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in cells]
    before: list[str] = []
    for name, own in known.items():
        if name not in there and own.is_graded:
            flags.append(f"the cell {name} {MISSING}")
            place = next((there.index(one) + 1 for one in reversed(before) if one in there), 0)
            cells.insert(place, _known_cell(own.source, own))
            there.insert(place, name)
        before.append(name)
    return cells


def _cell(cell_type: str, name: str, source: str, metadata: dict[str, Any]) -> dict[str, Any]:
    made = {"cell_type": cell_type, "id": name, "metadata": metadata, "source": source}
    return {**made, "outputs": [], "execution_count": None} if cell_type == "code" else made


def _metadata(cell: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the part of a cell's metadata that nbgrader reads."""
    metadata = cell.get("metadata")
    own = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    return own if isinstance(own, dict) else {}


def _source(cell: Mapping[str, Any]) -> str:
    source = cell.get("source", "")
    lines: Iterable[object] = source if isinstance(source, list) else [source]
    text = "".join(line for line in lines if isinstance(line, str))
    # Half a surrogate pair is valid in JSON, but cannot be written to a file.
    return text.encode("utf-8", "replace").decode("utf-8")


def text_of(source: str) -> str:
    """Return Markdown that every reader displays as exactly this text.

    It is one line of HTML. Every character with a meaning in Markdown, HTML or mathematics is a numeric reference, so
    no parser interprets it. MathJax ignores `<pre>`.
    """
    shown = source.replace("\r\n", "\n").replace("\r", "\n")
    plain = "".join(letter if letter.isalnum() or letter == " " else _numbered(letter) for letter in shown)
    return f"<pre>{plain}</pre>"


def _numbered(letter: str) -> str:
    is_shown = letter in "\n\t" or letter.isprintable()
    return f"&#{ord(letter) if is_shown else 0xFFFD};"
