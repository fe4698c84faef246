"""Learners' copies of the notebooks: without outputs, and with dots instead of the solutions.

The repository's notebooks contain outputs and solutions, so that tests can compare them with a new run. Learners start
from copies in their own folder; existing files are never overwritten.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seeklab._errors import Problem, SeeklabError
from seeklab._saving import write_whole
from seeklab.course import start

BEGIN = "### BEGIN SOLUTION"
END = "### END SOLUTION"
CHECKOUT = Path(__file__).resolve().parents[4]
"""The root of the checkout, if this is one."""
PACKAGED = Path(__file__).resolve().parents[1] / "_course"
"""The course in the wheel, already as copies."""
ROOMS = ("notebooks", "exercises")


@dataclass(frozen=True)
class Written:
    """The result of writing the course to a folder."""

    fresh: tuple[Path, ...]
    kept: tuple[Path, ...]
    """Existing files, which were kept."""

    @property
    def first(self) -> Path | None:
        """The start page, or None."""
        notebooks = sorted(path for path in (*self.fresh, *self.kept) if path.parent.name == "notebooks")
        return notebooks[0] if notebooks else None


def learners_copy(text: str) -> str:
    """Return a notebook's text without outputs and solutions."""
    notebook: dict[str, Any] = json.loads(text)
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        cell["outputs"], cell["execution_count"] = [], None
        cell["source"] = _without_solution("".join(cell["source"])).splitlines(keepends=True)
        tags = [tag for tag in cell["metadata"].pop("tags", []) if not tag.startswith("nbval")]
        if tags:
            cell["metadata"]["tags"] = tags
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def write_course(folder: Path) -> Written:
    """Write the course to a folder, which is created if necessary; existing files are kept.

    Raises:
        SeeklabError: If this installation has no course, or the folder cannot be written.
    """
    fresh: list[Path] = []
    kept: list[Path] = []
    try:
        for name, text in _course():
            path = folder / name
            if path.exists():
                kept.append(path)
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, text)
            fresh.append(path)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SeeklabError([Problem(str(folder), f"cannot be written: {reason}; pass another folder")]) from None
    return Written(tuple(fresh), tuple(kept))


def given_code(exercise: str) -> str:
    """Return the code that learners get in an exercise, as one text; empty if this installation has no course."""
    name = f"exercises/{exercise}/{exercise}.ipynb"
    try:
        text = next((text for path, text in _course() if path == name), "")
    except SeeklabError:
        return ""
    cells = json.loads(text)["cells"] if text else []
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


def pack(into: Path) -> int:
    """Write the copies for the wheel, replacing earlier ones; return their number."""
    shutil.rmtree(into, ignore_errors=True)
    copies = list(_course_of(CHECKOUT))
    for name, text in copies:
        path = into / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return len(copies)


def _course() -> list[tuple[str, str]]:
    # In a checkout, the notebooks themselves are current; packed copies may be older.
    found = list(_course_of(CHECKOUT)) if (CHECKOUT / "engine" / "python").is_dir() else []
    if not found and PACKAGED.is_dir():
        found = [
            (str(path.relative_to(PACKAGED)), path.read_text(encoding="utf-8"))
            for path in sorted(PACKAGED.rglob("*.ipynb"))
        ]
    if not found:
        raise SeeklabError([Problem("course", "this installation has none; install the wheel, or use a clone")])
    return found


def _course_of(checkout: Path) -> list[tuple[str, str]]:
    paths = [path for room in ROOMS for path in sorted((checkout / room).rglob("*.ipynb"))]
    copies = [
        (str(path.relative_to(checkout)), learners_copy(path.read_text(encoding="utf-8")))
        for path in paths
        if ".ipynb_checkpoints" not in path.parts
    ]
    return [(start.NAME, start.start_page()), *copies] if copies else []


def _without_solution(source: str) -> str:
    kept: list[str] = []
    hidden = False
    for line in source.splitlines():
        if line.strip() == BEGIN:
            hidden = True
        elif line.strip() == END:
            hidden = False
        elif not hidden:
            kept.append(line)
    return "\n".join(kept)
