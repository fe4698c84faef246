"""Hostile files and folders: what is handed in beside, or in place of, a notebook, and what must come of each."""

from __future__ import annotations

import errno
import json
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hostile.submissions import PREDICTION, Submission, notebook
from seeklab.judge.layout import BESIDE
from seeklab.judge.printable import name_problem, unique_name
from seeklab.judge.submission import IS_LINK, MAX_MARKS, MISSING, NO_FILE, TWICE

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "disk-time"
PREDICTED = 3
"""Points of a notebook whose only answers are predictions; it is graded in no time."""
BOMB_BYTES = 30 << 20
DEPTH = 1200
GHOSTS = 20

Make = Callable[[Path], object]


@dataclass(frozen=True)
class Place:
    """What one student hands in."""

    student: str
    make: Make
    """Makes it in the student's folder, which is there."""
    points: float = PREDICTED
    told: str = ""
    """What a flag must say; there is none without."""

    @property
    def shown(self) -> str:
        """The student's name in the grades."""
        return unique_name(self.student) if name_problem(self.student) else self.student


def handed_in(
    folder: Path, content: bytes | None = None, file: str = f"{NAME}.ipynb", cells: Mapping[str, str] | None = None
) -> Path:
    """Hand in a notebook with predictions, or a file of that name."""
    path = folder / NAME / file
    path.parent.mkdir(parents=True, exist_ok=True)
    honest = Submission("", "", {"choice": "choice = {}", "prediction": PREDICTION, **(cells or {})})
    path.write_bytes(notebook(honest, folder.name) if content is None else content)
    return path


def _with(*makes: Callable[[Path], object]) -> Make:
    """Hand in a notebook, and then do something in its folder."""

    def make(folder: Path) -> None:
        place = handed_in(folder).parent
        for one in makes:
            one(place)

    return make


def _instead(make: Callable[[Path], object]) -> Make:
    """Make something in the place of the notebook."""

    def instead(folder: Path) -> None:
        (folder / NAME).mkdir()
        make(folder / NAME / f"{NAME}.ipynb")

    return instead


def _file(content: bytes) -> Make:
    return lambda folder: handed_in(folder, content)


def _commits(content: bytes) -> Make:
    return _with(lambda place: (place / "commits.json").write_bytes(content))


def _cells(**cells: str) -> Make:
    return lambda folder: handed_in(folder, cells=cells)


def _other(name: str) -> Callable[[Path], object]:
    """Copy the notebook to a name below its folder."""

    def copy(place: Path) -> None:
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((place / f"{NAME}.ipynb").read_bytes())

    return copy


def _only_others(folder: Path) -> None:
    for number in range(GHOSTS):
        handed_in(folder, file=f"ghost{number}_{NAME}.ipynb")


def _nested(place: Path) -> None:
    here = os.open(place, os.O_RDONLY)
    for _ in range(DEPTH):
        os.mkdir("deeper", dir_fd=here)
        below = os.open("deeper", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        here = os.open(path.parent, os.O_RDONLY)
        made.bind(f"/proc/self/fd/{here}/{path.name}")  # a path of its own may be too long for a socket's name
        os.close(here)


def _cell(name: str) -> Make:
    """Add a cell twice, so that its name is in a flag."""

    def make(folder: Path) -> None:
        document = json.loads(handed_in(folder).read_bytes())
        document["cells"] += [{"cell_type": "code", "id": name, "metadata": {}, "source": "", "outputs": []}] * 2
        handed_in(folder, json.dumps(document).encode())

    return make


def _many_flags(folder: Path) -> None:
    """Hand in a notebook that deserves a thousand flags."""
    document = json.loads(handed_in(folder).read_bytes())
    cells = [{"cell_type": "code", "id": f"cell {n}", "metadata": {}, "source": "", "outputs": []} for n in range(900)]
    document["cells"] += [*cells, *cells]
    handed_in(folder, json.dumps(document).encode())


def _target(folder: Path) -> Path:
    """Hand in a notebook where nobody is graded for it."""
    return handed_in(folder.parents[1] / "targets" / folder.name).parent


def _linked_folder(folder: Path) -> None:
    (folder / NAME).symlink_to(_target(folder))


def _linked_student(folder: Path) -> None:
    folder.rmdir()
    folder.symlink_to(_target(folder).parent)


def _bomb(part: bytes) -> bytes:
    return b'{"cells":[' + part * (BOMB_BYTES // len(part)) + b"1]}"


ESCAPES = "\x1b]52;c;cHduZWQ=\x07\x1b[2J\r\x9b31m\u202e"
VICTIM = "neighbour"
NOT_READ = f"{MAX_MARKS:,}"

PLACES = (
    # Another student's name
    Place("a-name-beside", _with(_other(f"{VICTIM}_{NAME}.ipynb")), told=f'"{VICTIM}_{NAME}.ipynb"'),
    Place("a-name-below", _with(_other(f"{VICTIM}/{NAME}/{NAME}.ipynb")), told=f'"{VICTIM}"'),
    Place("a-name-of-spaces", _with(_other(f" /{NAME}.ipynb")), told=BESIDE),
    Place("ghosts", _only_others, 0, f"and {GHOSTS - 3} more"),
    Place("ghost-folders", lambda folder: handed_in(folder / NAME / VICTIM), 0, f"no {NAME}.ipynb"),
    # Names of students
    *(
        Place(name, _with(), 0, told)
        for name, told in (
            (" ", "no letter"),
            ("\u3000", "no letter"),
            ("\u0301", "no letter"),
            ("\u200b", "invisible mark"),
            ("mary\u202enna", "invisible mark"),
            ("two\nlines", "control character"),
            ("\x1b[2Jescape", "control character"),
            ("\t=1+1", "control character"),
            (f"{VICTIM} ", "a space"),
            (f"\u00a0{VICTIM}", "a space"),
            (os.fsdecode(b"ev\xff\xfe"), "not UTF-8"),
            (os.fsdecode(b"\xff" * 250), "not UTF-8"),
        )
    ),
    *(
        Place(name, _with())
        for name in ("e?e", "e:e", "e_e", "=1+1", "\uff1d2+2", "@sum", "n" * 255, "\u00e9" * 127, "<b>")
    ),
    *(
        Place(name, _with(), told="nearly the same name")
        for name in ("Zo\u00eb", "Zoe\u0308", "ZO\u00cb", "Zo\uff45\u0308")
    ),
    # Commitments
    *(
        Place(f"commits-{nth}", _commits(content))
        for nth, content in enumerate(
            (
                b'[{"id": "disk-time/rotation_ms", "value": NaN}]',
                b'[{"id": "disk-time/rotation_ms", "value": -Infinity}, {"id": "disk-time/rotation_ms", "value": 1}]',
                b'[{"id": "disk-time/rotation_ms", "value": 1e999}]',
                b'[{"id": "disk-time/rotation_ms", "value": ' + b"9" * 100 + b"}]",
                b'[{"id": "disk-time/rotation_ms", "value": ' + b"9" * 10_000 + b"}]",
                b'[{"id": "\\ud800", "value": "\\ud800"}, {"id": NaN}, 1, [], {"id": {}}]',
                b"[" * 100_000,
                b'{"": ' * 100_000,
                b"[]," * 300_000,
                json.dumps([{"id": f"hint/check-users/{n}", "time": "\x1b"} for n in range(4, 15_000)]).encode(),
                json.dumps([{"id": "x" * 900_000, "value": "y" * 90_000}]).encode(),
                b"\xff\xfe\x00",
                b"",
            )
        )
    ),
    Place("commits-pipe", _with(lambda place: os.mkfifo(place / "commits.json"))),
    Place("commits-folder", _with(lambda place: (place / "commits.json").mkdir()), told=BESIDE),
    Place("commits-endless", _with(lambda place: (place / "commits.json").symlink_to("/dev/zero"))),
    Place("commits-of-itself", _with(lambda place: (place / "commits.json").symlink_to("commits.json"))),
    # What is no file
    Place("pipe", _instead(os.mkfifo), 0, NO_FILE),
    Place("socket", _instead(_socket), 0, NO_FILE),
    Place("folder", _instead(Path.mkdir), 0, NO_FILE),
    Place("link", _instead(lambda path: path.symlink_to(f"../../{VICTIM}/{NAME}/{NAME}.ipynb")), 0, IS_LINK),
    Place("link-to-device", _instead(lambda path: path.symlink_to("/dev/zero")), 0, IS_LINK),
    Place("link-to-nothing", _instead(lambda path: path.symlink_to("nowhere")), 0, IS_LINK),
    Place("link-folder", _linked_folder, 0, IS_LINK),
    Place("link-student", _linked_student, 0, IS_LINK),
    Place("file-as-folder", lambda folder: (folder / NAME).write_bytes(b""), 0, os.strerror(errno.ENOTDIR)),
    Place("nothing", lambda folder: (folder / NAME).mkdir(), 0, f"no {NAME}.ipynb"),
    Place("nested", _with(_nested), told=BESIDE),
    # Bombs
    Place("bomb-lists", _file(_bomb(b"[],")), 0, NOT_READ),
    Place("bomb-fields", _file(_bomb(b'{"":0},')), 0, NOT_READ),
    Place("bomb-numbers", _file(_bomb(b"1.5,")), 0, NOT_READ),
    Place("bomb-utf-16", _file(_bomb(b"[],").decode()[: BOMB_BYTES // 2].encode("utf-16")), 0, NOT_READ),
    Place("bomb-text", _file(b'{"cells":["' + b"x" * BOMB_BYTES + b'"]}'), 0, MISSING),
    # Text
    Place("surrogate-raised", _cells(choice='raise ValueError("\\ud800 boo")')),
    Place("surrogate-type", _cells(choice='raise type("E\\udfff", (Exception,), {})("x")')),
    Place("surrogate-key", _cells(choice='choice = {"\\ud800": {"\\udfff": 1}}')),
    Place("surrogate-name", _cells(learner='LEARNER = "\\ud800"'), told="surrogate-name"),
    Place("surrogate-source", _cells(choice="choice = '\ud800'")),
    Place("surrogate-cell", _cell("\udfff"), told=TWICE),
    Place("escape-raised", _cells(choice=f"raise ValueError({ESCAPES!r})")),
    Place("escape-key", _cells(choice=f"choice = {{{ESCAPES!r}: 1}}")),
    Place("escape-name", _cells(learner=f"LEARNER = {ESCAPES!r}"), told="escape-name"),
    Place("escape-cell", _cell(ESCAPES), told=TWICE),
    Place("flags", _many_flags, told="more flags"),
)
