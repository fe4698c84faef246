"""A learner's commitments, in `commits.json` next to the notebook: one list for notebook, exercise and grader.

An entry of a prediction has the question's `id`, the `value` (a number or a word), the `confidence` in percent, whether
it was `skipped`, and the `time`. `near` says whether the run confirmed it. It shows learners how well they judge their
own confidence, and earns no points. An entry with `kind` "turn" is one check of a task (see `Attempt`). In a browser,
the kernel's files disappear with the kernel. Each commitment is therefore sent to the lab's page, which stores the same
file and passes it to the next kernel.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from errno import EFBIG
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from seeklab._saving import locked, write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = "commits.json"
LONGEST = 1 << 20
"""A larger file, in bytes, was not written by this module."""

TURN = "turn"
"""The kind of an entry that is one check of a task."""

PAGE = "seeklab.commits"
"""Name of the channel that sends commitments to the lab's page in the browser."""

_unwritten: list[Commitment | Attempt] = []
"""Commitments of this session, if the folder cannot be written; lost with the kernel."""


@dataclass(frozen=True)
class Commitment:
    """One answer to one question, given before the run that answers it."""

    id: str
    value: float | str | None
    confidence: int | None = None
    """The learner's confidence, in percent."""
    skipped: bool = False
    time: str = ""
    near: bool | None = None
    """Whether the run confirmed it; None if not known."""


@dataclass(frozen=True)
class Attempt:
    """One check of a task's answer in a notebook."""

    id: str
    attempt: int
    """The number of the check, from 1."""
    ok: bool
    code: str
    """The code of the mistake; empty for a right answer."""
    hints: int
    """The number of hints that the learner had seen."""
    time: str = ""
    kind: str = TURN


def commitments() -> list[Commitment]:
    """Return the commitments of this folder, oldest first; invalid entries and attempts are skipped."""
    own = (given for given in _unwritten if isinstance(given, Commitment))
    return [*(_read(entry) for entry in _entries() if entry.get("kind") != TURN), *own]


def read_entries(path: Path) -> tuple[list[Commitment], list[Mapping[str, object]]]:
    """Return the commitments of a file, and its entries of tasks; an invalid file has none."""
    entries = [entry for entry in _raw(path) if isinstance(entry, dict) and isinstance(entry.get("id"), str)]
    tasks: list[Mapping[str, object]] = [entry for entry in entries if entry.get("kind") == TURN]
    return [_read(entry) for entry in entries if entry.get("kind") != TURN], tasks


def all_attempts() -> list[Mapping[str, object]]:
    """Return the entries of the checks of all tasks, oldest first."""
    entries = [*_entries(), *map(asdict, _unwritten)]
    return [entry for entry in entries if entry.get("kind") == TURN]


def attempts(task: str) -> list[Mapping[str, object]]:
    """Return the entries of a task's checks, oldest first."""
    return [entry for entry in all_attempts() if entry["id"] == task]


def first_commitment(question: str) -> Commitment | None:
    """Return the first commitment to a question; later ones do not replace it."""
    return next((given for given in commitments() if given.id == question), None)


def keep(commitment: Commitment | Attempt) -> bool:
    """Append the commitment to the file, with the time; return False if it is kept only for this session."""
    timed = replace(commitment, time=datetime.now(UTC).isoformat(timespec="seconds"))
    path = Path(FILE)
    try:
        with locked(path.parent):
            entries = _parsed(path) if path.exists() else []
            if entries is None:
                _set_aside(path)
            write_whole(path, json.dumps([*(entries or []), asdict(timed)], indent=1) + "\n")
    except OSError:
        _unwritten.append(timed)
        return False
    _tell_page(timed)
    return True


def _set_aside(path: Path) -> None:
    """Rename a file that contains no list, so that it is not overwritten."""
    names = (path.with_name(f"{path.name}.broken{number or ''}") for number in count())
    aside = next(name for name in names if not name.exists())
    path.rename(aside)
    sys.stderr.write(f"{path.name} was not a list of commitments; it is now {aside.name}, and a new list starts.\n")


def _tell_page(commitment: Commitment | Attempt) -> None:
    # The playground's console is Pyodide without a notebook, and therefore without this package.
    if sys.platform == "emscripten" and find_spec("comm") is not None:
        from comm import create_comm

        create_comm(target_name=PAGE, data=asdict(commitment)).close()


def _parsed(path: Path) -> list[object] | None:
    """Read the list; return None for a file without one. An unreadable or too large file raises OSError."""
    if not path.is_file() or path.stat().st_size > LONGEST:
        raise OSError(EFBIG, "is not a file of commitments")
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, list) else None


def _raw(path: Path) -> list[object]:
    try:
        return _parsed(path) or []
    except OSError:
        return []


def _entries() -> list[dict[str, object]]:
    return [entry for entry in _raw(Path(FILE)) if isinstance(entry, dict) and isinstance(entry.get("id"), str)]


def _read(entry: dict[str, object]) -> Commitment:
    value, confidence, near = entry.get("value"), entry.get("confidence"), entry.get("near")
    return Commitment(
        id=str(entry["id"]),
        value=value if isinstance(value, (int, float, str)) and not isinstance(value, bool) else None,
        confidence=confidence if isinstance(confidence, int) and not isinstance(confidence, bool) else None,
        skipped=entry.get("skipped") is True,
        time=str(entry.get("time", "")),
        near=near if isinstance(near, bool) else None,
    )
