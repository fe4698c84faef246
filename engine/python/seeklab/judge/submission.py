"""A submission: the notebook that a learner handed in, and the answers in it.

The file is read as JSON without any assumption: the notebook format can have any version, cells can be missing or
duplicated, and the file may not be a notebook. Cells are found by their ids. Their code runs in the sandbox only.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from seeklab.judge.answers import Code, Missing
from seeklab.judge.identity import same_name
from seeklab.judge.printable import printable, printable_data
from seeklab.judge.programs import Sandboxed, Text
from seeklab.judge.sandbox import NO_VALUE, answers_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from seeklab.judge.assignment import Assignment
    from seeklab.judge.sandbox import Sandbox

MAX_BYTES = 32 << 20
STRUCTURE = (b"[", b"{", b",")
MAX_MARKS = 1_000_000
"""Maximum number of these in a file, including those in its texts: each can mean an object of a few hundred bytes."""
MAX_CELLS = 2_000
MAX_SOURCE = 2 << 20
LEARNER = "LEARNER"
MB = 1_000_000
IS_LINK = "is a link, and links are not followed"
NO_FILE = "the path is a folder, a pipe or a device; hand in a regular file"
NO_JSON = "not a notebook: the file is not valid JSON"
NO_CELLS = "not a notebook: the file has no list of cells"
TWICE, MISSING, CHANGED = "exists more than once", "is missing", "has changed metadata"
FOREIGN = "which the course does not have"
"""Flags of a cell, written after its name."""


class UnreadableSubmissionError(Exception):
    """The file is not a notebook; the message is the sentence for the learner."""


@dataclass(frozen=True)
class Answers:
    """The answers of a notebook."""

    values: Mapping[str, object]
    flags: tuple[str, ...] = ()


@dataclass
class Notebook:
    """The code cells of a notebook, in the form that the sandbox takes."""

    cells: list[dict[str, Any]]
    flags: list[str] = field(default_factory=list)

    @property
    def digest(self) -> bytes:
        """Return a digest of the learner's code. It determines the seeds: the same code gets the same seeds."""
        own = [cell["source"] for cell in self.cells if cell["kind"] == "own"]
        return hashlib.sha256(json.dumps(own).encode()).digest()


def read_notebook(path: Path, assignment: Assignment) -> Notebook:
    """Read a notebook file."""
    return notebook_of(parsed(read_submitted(path, MAX_BYTES)), assignment)


def read_submitted(path: Path, most: int) -> bytes:
    """Read a file that was handed in; raise UnreadableSubmissionError if it is too large or not a regular file.

    A named pipe would block the grader, a link could show it files that are not the learner's, and opening a device can
    have any effect. The file is therefore checked before it is opened, and again when it is open.
    """
    try:
        _must_be_a_file(path.lstat().st_mode)
        opened = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))
        with os.fdopen(opened, "rb") as file:
            found = os.fstat(opened)
            _must_be_a_file(found.st_mode)
            if found.st_size > most:
                message = (
                    f"the file has {found.st_size / MB:,.0f} MB; the limit is {most / MB:,.0f} MB. "
                    "Clear the notebook's outputs"
                )
                raise UnreadableSubmissionError(message)
            return file.read(most)
    except OSError as error:
        message = f"the file cannot be read: {error.strerror}"
        raise UnreadableSubmissionError(message) from None


def _must_be_a_file(mode: int) -> None:
    if stat.S_ISLNK(mode):
        message = f"the file {IS_LINK}; hand in the file itself"
        raise UnreadableSubmissionError(message)
    if not stat.S_ISREG(mode):
        raise UnreadableSubmissionError(NO_FILE)


def parsed(content: bytes) -> Any:
    """Parse JSON that a learner handed in; raise UnreadableSubmissionError if it would take too much memory."""
    marks = sum(map(content.count, STRUCTURE))
    if marks > MAX_MARKS:
        message = (
            f"the file has {marks:,} brackets and commas; the limit is {MAX_MARKS:,}. Clear the notebook's outputs"
        )
        raise UnreadableSubmissionError(message)
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise UnreadableSubmissionError(NO_JSON) from None


def notebook_of(document: object, assignment: Assignment) -> Notebook:
    """Return the code cells of a notebook's document."""
    cells = _listed(document)
    if cells is None:
        raise UnreadableSubmissionError(NO_CELLS)
    if problem := too_many_cells(len(cells)):
        raise UnreadableSubmissionError(problem)
    answer_cells = set(assignment.cells.values())
    gives = {task.id: list(task.takes) for task in assignment.tasks}
    notebook = Notebook([])
    seen: set[str] = set()
    total = 0
    for nth, cell in enumerate(cells):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        name, locked = _identity(cell)
        if name in seen:
            notebook.flags.append(f"the cell {name} {TWICE}")
        if name:
            seen.add(name)
        source = _source(cell)
        total += len(source)
        if problem := too_much_code(total):
            raise UnreadableSubmissionError(problem)
        if name in gives:
            notebook.cells.append({"kind": "check", "label": name, "source": "", "gives": gives[name]})
            continue
        kind = "locked" if locked and name not in answer_cells else "own"
        notebook.cells.append({"kind": kind, "label": name or f"cell {nth + 1}", "source": source})
    notebook.flags += [f"the cell {name} {MISSING}" for name in sorted(answer_cells - seen)]
    notebook.flags = list(dict.fromkeys(notebook.flags))
    return notebook


def too_many_cells(count: int) -> str:
    """Return why a notebook with this many cells is not read; empty if it is."""
    return f"the notebook has {count:,} cells; the limit is {MAX_CELLS:,}" if count > MAX_CELLS else ""


def too_much_code(characters: int) -> str:
    """Return why a notebook with this much code is not read; empty if it is."""
    return f"the notebook has more than {MAX_SOURCE / MB:,.0f} MB of code" if characters > MAX_SOURCE else ""


def _listed(document: object) -> list[Any] | None:
    """Return the list of cells, for any version of the notebook format, or None."""
    if not isinstance(document, dict):
        return None
    cells = document.get("cells")
    if cells is None:  # before version 4
        sheets = document.get("worksheets")
        first = sheets[0] if isinstance(sheets, list) and sheets else None
        cells = first.get("cells") if isinstance(first, dict) else None
    return cells if isinstance(cells, list) else None


def _identity(cell: Mapping[str, Any]) -> tuple[str, bool]:
    """Return a cell's name (nbgrader's, or its id) and whether the learner must not change it."""
    metadata = cell.get("metadata")
    own = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    own = own if isinstance(own, dict) else {}
    name = own.get("grade_id", cell.get("id"))
    name = printable(name[:100]) if isinstance(name, str) else ""
    return name, own.get("locked") is True and own.get("solution") is not True


def _source(cell: Mapping[str, Any]) -> str:
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    return source if isinstance(source, str) else ""


def answers_in(
    notebook: Notebook, assignment: Assignment, student: str, sandbox: Sandbox, files: Mapping[str, str] | None = None
) -> Answers:
    """Return the answers of a notebook, computed in the sandbox."""
    kinds = assignment.kinds
    wanted = {LEARNER: False, **{name: isinstance(kind, Code) for name, kind in kinds.items()}}
    told = answers_of(sandbox, notebook.cells, wanted, files)
    flags = list(notebook.flags)
    values = printable_data(told.values)
    claimed = values.get(LEARNER)
    if claimed is not None and not same_name(claimed, student):
        flags.append(f"the notebook names {str(claimed)[:80]!r}; it is graded as the work of {student}")
    found: dict[str, object] = {}
    for name, kind in kinds.items():
        if name in told.reasons or name not in values:
            found[name] = Missing(_reason(assignment.cells[name], told.reasons.get(name, NO_VALUE), told.wrong))
        elif not isinstance(kind, Code):
            found[name] = values[name]
        elif values[name] is not True:
            found[name] = Missing("is not a function or class")
        else:
            text = Text(_sources(notebook.cells, told.programs.get(name, ())), name)
            found[name] = Sandboxed(text, sandbox, files)
    return Answers(found, tuple(flags))


def _reason(cell: str, reason: str, wrong: Mapping[str, str]) -> str:
    """Return why an answer has no value, with the cell that stopped, its own or another."""
    blamed = cell if cell in wrong else next(iter(wrong), None)
    return reason if blamed is None else f"{reason}: the cell {blamed} {wrong[blamed]}"


def _sources(cells: Sequence[Mapping[str, Any]], numbers: Sequence[int]) -> tuple[dict[str, str], ...]:
    return tuple({name: cells[at][name] for name in ("kind", "label", "source")} for at in numbers)
