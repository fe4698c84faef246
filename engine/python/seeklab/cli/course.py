"""`seeklab course`: write the notebooks and exercises to a folder, and open JupyterLab there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from seeklab.cli._exit import DONE
from seeklab.cli._output import print_json
from seeklab.course.copies import write_course

if TYPE_CHECKING:
    from argparse import Namespace

    from seeklab.cli._commands import Commands

FOLDER = "seeklab-course"


def add(commands: Commands) -> None:
    """Add the command."""
    command = commands.add("course", course, "Write the course's notebooks to a folder and open JupyterLab there.")
    command.add_argument(
        "folder", nargs="?", default=FOLDER, help=f"output folder; existing files are kept (default: {FOLDER})"
    )
    command.add_argument("--no-open", action="store_true", help="write the files but do not open JupyterLab")


def course(options: Namespace) -> int:
    """Write the missing files, report them, and open JupyterLab."""
    folder = Path(options.folder)
    written = write_course(folder)
    first = written.first
    if options.json:
        print_json(
            {
                "folder": str(folder),
                "written": [str(path.relative_to(folder)) for path in written.fresh],
                "kept": [str(path.relative_to(folder)) for path in written.kept],
            }
        )
        return DONE
    kept = f"; {len(written.kept)} existed and were kept" if written.kept else ""
    print(f"{len(written.fresh)} notebooks written to {folder}{kept}.")
    if options.no_open or first is None:
        return DONE
    program = _lab()
    if program is None:
        print(f'To open them, run: pip install "seeklab[course]", then jupyter lab {first}')
        return DONE
    return subprocess.run([*program, str(first)], check=False).returncode  # noqa: S603 -- JupyterLab itself


def _lab() -> list[str] | None:
    """Return the command that starts JupyterLab, preferably of this environment; None if there is none."""
    beside = Path(sys.executable).parent / "jupyter-lab"
    found = str(beside) if beside.exists() else shutil.which("jupyter-lab")
    if found is None:
        return None
    # In a container the user is often root, which JupyterLab refuses without this option.
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    return [found, "--allow-root"] if is_root else [found]
