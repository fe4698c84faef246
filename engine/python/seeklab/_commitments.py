"""What a learner has committed to, in `commits.json` beside the notebook: one list for notebook, exercise and grader.

An entry has the question's `id`, the `value` (a number or a word), the `confidence` in percent, whether it was
`skipped`, and the `time`. `near` says whether it turned out right; it feeds the learner's own
calibration and earns no point. In a browser the kernel's files are gone with it: there each commitment is told to the
lab's page, which keeps the same file in the browser's storage and gives it to the next kernel.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from errno import EFBIG
from importlib.util import find_spec
from itertools import count
from pathlib import Path

from seeklab._saving import locked, write_whole

FILE = "commits.json"
LONGEST = 1 << 20
"""A file larger than this, in bytes, is not ours."""

PAGE = "seeklab.commits"
"""The name by which the page of the lab in the browser is told of commitments."""

_unwritten: list[Commitment] = []
"""Kept here when the folder cannot be written; gone with the kernel."""


@dataclass(frozen=True)
class Commitment:
    """One answer to one question, given before the run that answers it."""

    id: str
    value: float | str | None
    confidence: int | None = None
    """How sure the learner was, in percent from 50 to 99."""
    skipped: bool = False
    time: str = ""
    near: bool | None = None
    """Whether the run bore it out; None where that is not known."""


def commitments() -> list[Commitment]:
    """Give what was committed to in this folder, oldest first; what is not an entry of ours is passed over."""
    return [*map(_read, _entries()), *_unwritten]


def first_commitment(question: str) -> Commitment | None:
    """Give the first commitment to a question: later ones do not replace it."""
    return next((given for given in commitments() if given.id == question), None)


def keep(commitment: Commitment) -> bool:
    """Add a commitment to the file, with the time; False when it could be kept for this session only."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    timed = Commitment(**{**asdict(commitment), "time": now})
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
    """Rename a file that holds no list, so that it is there to look at and nothing is written over it."""
    names = (path.with_name(f"{path.name}.broken{number or ''}") for number in count())
    aside = next(name for name in names if not name.exists())
    path.rename(aside)
    sys.stderr.write(f"{path.name} held no list of commitments; it is now {aside.name}, and a new one begins.\n")


def _tell_page(commitment: Commitment) -> None:
    # The playground's console is Pyodide without a notebook, and so without this package.
    if sys.platform == "emscripten" and find_spec("comm") is not None:
        from comm import create_comm

        create_comm(target_name=PAGE, data=asdict(commitment)).close()


def _parsed(path: Path) -> list[object] | None:
    """Read the list; None for a file that holds none. A file that cannot be read, or is too large, is an OSError."""
    if not path.is_file() or path.stat().st_size > LONGEST:
        raise OSError(EFBIG, "is no file of commitments")
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
