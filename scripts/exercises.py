"""Generate the learners' exercises/ from solutions/, which have each exercise with its answers and checks.

`make update what=exercises` runs it. A test compares the two.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from console import ROOT, StepFailedError, main, say
from notebook_format import text_of

SOLUTIONS = ROOT / "solutions"
EXERCISES = ROOT / "exercises"
CONFIG = ROOT / "nbgrader_config.py"


def exercises() -> None:
    """Write exercises/ again."""
    with tempfile.TemporaryDirectory(prefix="seeklab-exercises-") as folder:
        course = course_copy(Path(folder))
        for assignment in generate(course):
            # The folder is replaced as a whole, so files removed from the source disappear from the release.
            shutil.rmtree(EXERCISES / assignment, ignore_errors=True)
            shutil.copytree(course / "exercises" / assignment, EXERCISES / assignment)
            say(f"wrote exercises/{assignment}")
        for stale in {path.name for path in EXERCISES.iterdir()} - {path.name for path in SOLUTIONS.iterdir()}:
            shutil.rmtree(EXERCISES / stale)
            say(f"removed exercises/{stale}")


def course_copy(folder: Path) -> Path:
    """Return a course directory with the sources and the configuration, so that no real gradebook is changed."""
    shutil.copytree(SOLUTIONS, folder / "solutions", ignore=shutil.ignore_patterns(".*"))
    shutil.copyfile(CONFIG, folder / CONFIG.name)
    (folder / ".grading").mkdir()
    return folder


GENERATE = """
import json, sys
from nbgrader.apps import NbGraderAPI
from traitlets.config.loader import PyFileConfigLoader
course = NbGraderAPI(config=PyFileConfigLoader(sys.argv[1], path=".").load_config())
done = {name: course.generate_assignment(name) for name in sys.argv[2:]}
failed = {name: f"{one.get('error')} {one.get('log')}" for name, one in done.items() if not one["success"]}
sys.exit(json.dumps(failed, indent=1) if failed else 0)
"""
"""Generates all assignments in one process, because nbgrader takes most of its time to start."""


def generate(course: Path) -> list[str]:
    """Let nbgrader write the release of every assignment of a course directory; return the assignments' names."""
    assignments = sorted(path.name for path in (course / "solutions").iterdir())
    done = _in(course, "-c", GENERATE, CONFIG.name, *assignments)
    if done.returncode != 0:
        say(done.stdout)
        message = "nbgrader could not generate the exercises: see above."
        raise StepFailedError(message)
    for notebook in (course / "exercises").rglob("*.ipynb"):
        _say_as_the_author_does(notebook)
    return assignments


def nbgrader(course: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run nbgrader's command line in a course directory; all its output is in `stdout`."""
    return _in(course, "-m", "nbgrader", *arguments)


def _in(course: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a course directory, without the author's own settings."""
    # nbgrader runs alembic by name, so it must be on PATH.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    own_settings = {"JUPYTER_CONFIG_DIR": str(course / ".jupyter"), "PYTHONDONTWRITEBYTECODE": "1", "PATH": path}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=course,
        env={**os.environ, **own_settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def _say_as_the_author_does(path: Path) -> None:
    """Write a notebook in the form of all others in the repository, so that equal content gives equal files."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    notebook["metadata"] = {name: notebook["metadata"][name] for name in ("kernelspec", "language_info")}
    path.write_text(text_of(notebook), encoding="utf-8")


if __name__ == "__main__":
    main(exercises)
