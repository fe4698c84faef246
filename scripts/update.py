"""`make update`: write stored data again if its inputs have changed.

`make update what="ranges readme"` writes the named stores, changed or not. The tests compare each store with a new
measurement, or with a sample of one; CONTRIBUTING says which change needs which store.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import machine
import prose
from console import ROOT, STAMPS, Step, StepFailedError, apply_all, main, say, stream
from steps import CRATES, ENGINE, FOR_TESTS, LIBRARY, LIBRARY_SOURCES, VENV_BIN, WEB

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

LIMIT_S = 7200.0
MODEL = tuple(ENGINE / crate for crate in CRATES if crate not in {"api", "wasm"})
INCIDENTS = tuple(path for path in LIBRARY_SOURCES if path.name != "ranges.json")
PYTHON = ENGINE / "python" / "seeklab"
TESTS = ROOT / "tests"


@dataclass(frozen=True)
class Store:
    """Data in the repository that a program writes."""

    name: str
    what: str
    """Description of its contents."""
    writes: tuple[Path, ...]
    reads: tuple[Path, ...]
    """Its inputs."""
    command: tuple[str | Path, ...]
    folder: Path = ROOT
    environment: Mapping[str, str] = field(default_factory=dict)
    needs_build: bool = True

    def step(self) -> Step:
        """Return the step that writes it."""

        def write() -> None:
            outcome = stream(
                f"update-{self.name}", self.command, self.folder, LIMIT_S, extra_environment=self.environment
            )
            if outcome.code != 0:
                message = f"{self.name}: the command that writes it ended with exit code {outcome.code}."
                raise StepFailedError(message)

        return Step(f"update-{self.name}", f"Writing {self.what}", write, reads=self.reads, makes=self.writes)


def _python(*arguments: str | Path) -> tuple[str | Path, ...]:
    return (VENV_BIN / "python", "-B", *arguments)


STORED = {"SEEKLAB_STORE": "1"}
EXERCISES = tuple(ROOT / name for name in ("exercises", "solutions"))

# In order: a store comes after its inputs.
STORES = (
    Store(
        "ranges",
        "the results of each fact over seeds and inputs",
        (ENGINE / "ranges.json",),
        (*MODEL, *INCIDENTS, TESTS / "fact_ranges.py"),
        _python(TESTS / "fact_ranges.py"),
    ),
    Store(
        "fingerprints",
        "the fingerprint of each stored run",
        (TESTS / "fingerprints.txt",),
        (*MODEL, *INCIDENTS, TESTS / "fingerprints.py"),
        _python(TESTS / "fingerprints.py"),
    ),
    Store(
        "presets",
        "the published runs of drives, simulated with their presets",
        (ENGINE / "validation" / "presets.json",),
        (*MODEL, ENGINE / "presets", ENGINE / "library" / "tests" / "suite" / "ssd_presets.rs"),
        ("cargo", "test", "--locked", "--package", "seeklab-library", "--test", "suite", "ssd_presets"),
        ENGINE,
        STORED,
    ),
    Store(
        "notebooks",
        "the outputs of the notebooks",
        (ROOT / "notebooks",),
        (*MODEL, *INCIDENTS, ROOT / "notebooks", PYTHON / "notebook", PYTHON / "course"),
        _python(ROOT / "scripts" / "notebooks.py"),
    ),
    Store(
        "exercises",
        "the learners' copies of the exercises",
        (ROOT / "exercises",),
        (ROOT / "solutions", ROOT / "nbgrader_config.py", PYTHON / "exercises"),
        _python(ROOT / "scripts" / "exercises.py"),
    ),
    Store(
        "syllabus",
        "the instructor's table of weeks",
        (ROOT / "docs" / "instructor" / "README.md",),
        tuple(ROOT / name for name in ("docs/instructor/course.toml", "scripts/syllabus.py")),
        _python(ROOT / "scripts" / "syllabus.py"),
    ),
    Store(
        "matrix",
        "the instructor's table of incidents",
        (ROOT / "docs" / "instructor" / "incidents.md",),
        (ENGINE / "cases", *EXERCISES, ROOT / "notebooks", PYTHON / "oncall", TESTS / "test_matrix.py"),
        (VENV_BIN / "pytest", "--quiet", TESTS / "test_matrix.py"),
        environment=STORED,
    ),
    Store(
        "readme",
        "the README's numbers and the reference pages in docs/",
        (ROOT / "README.md", *(ROOT / name for name in prose.REFERENCE)),
        (
            *(*MODEL, *INCIDENTS, ENGINE / "ranges.json", ROOT / "notebooks", ROOT / "exercises", PYTHON),
            *(TESTS / name for name in ("reference_pages.py", "measured.py")),
        ),
        _python(TESTS / "reference_pages.py"),
    ),
    Store(
        "prose",
        "the number of findings of `make prose` in each file",
        (prose.COUNTS,),
        (prose.RULES, *map(ROOT.joinpath, prose.files())),
        (sys.executable, "-B", ROOT / "scripts" / "prose.py", "--store"),
        needs_build=False,
    ),
    Store(
        "first-look",
        "the ticket and the answers that the on-call page shows before Python is ready",
        (WEB / "src" / "page" / "oncall" / "firstLook.json",),
        (*MODEL, *INCIDENTS, PYTHON / "oncall", ROOT / "scripts" / "first_look.py"),
        _python(ROOT / "scripts" / "first_look.py"),
    ),
    Store(
        "pictures",
        "the reference pictures of charts",
        (WEB / "test" / "charts" / "pictures",),
        (WEB / "src", WEB / "test" / "charts", WEB / "test" / "fixtures"),
        ("npm", "run", "--silent", "pictures"),
        WEB,
    ),
)


def update() -> None:
    """Write the named stores, or those with changed inputs. Build first if one of them needs it."""
    named = sys.argv[1:]
    unknown = sorted(set(named) - {store.name for store in STORES})
    if unknown:
        there = "\n".join(f"  {store.name:14}{store.what}" for store in STORES)
        message = f"{', '.join(unknown)}: not a store. The stores are:\n{there}"
        say(message)
        raise StepFailedError(message.splitlines()[0])
    chosen = [store for store in STORES if not named or store.name in named]
    if any(store.needs_build for store in chosen):
        machine.require_for_lab()
        apply_all(FOR_TESTS)
    for store in chosen:
        if store.name in named:
            (STAMPS / f"update-{store.name}").unlink(missing_ok=True)
        # The library contains the ranges.
        apply_all((store.step(), LIBRARY) if store.needs_build else (store.step(),))


if __name__ == "__main__":
    main(update)
