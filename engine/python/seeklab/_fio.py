"""fio job files: read the bytes, follow includes, and let the engine translate them into a scenario."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from seeklab._errors import Problem, SeeklabError
from seeklab._host import engine
from seeklab._result import Result, run

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from seeklab._result import Progress

LARGEST_FILE_BYTES = 1 << 20
"""A job file is written by people; anything larger is some other file."""

MOST_INCLUDES = 100


@dataclass(frozen=True)
class FioJob:
    """A job file, translated."""

    scenario: Mapping[str, Any]
    """What `seeklab.run` takes."""
    ignored: tuple[Mapping[str, Any], ...]
    """Options without meaning in a model: each with job, option, value and reason."""
    warnings: tuple[str, ...]
    """What deserves attention and is not an error."""
    files: Mapping[str, str]
    """The texts of the job file and of what it includes, by name."""
    main: str
    """The name of the job file among `files`."""

    def run(self, *, seed: int = 1, progress: Progress | None = None) -> Result:
        """Run the jobs."""
        return run(self.scenario, seed=seed, progress=progress)

    def report(self, result: Result, output_format: Literal["normal", "json"] = "normal") -> str:
        """Print a run of these jobs as fio does, with the options of the job file."""
        tool = "fio" if output_format == "normal" else "fio-json"
        return result.text(tool, files=self.files, main=self.main)


def _read_text(name: str, path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE_BYTES + 1)
    except OSError as error:
        reason = error.strerror or "cannot be read"
        raise SeeklabError([Problem(name, f"{reason}; give the path of a fio job file")]) from None
    return decode(name, data)


def decode(name: str, data: bytes) -> str:
    """Turn a job file's bytes into text; a broken place is told by line and byte."""
    if len(data) > LARGEST_FILE_BYTES:
        message = f"the file is larger than {LARGEST_FILE_BYTES >> 20} MiB; this is not a fio job file"
        raise SeeklabError([Problem(name, message)])
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = (
            f"byte {error.start} (line {line}) is 0x{data[error.start]:02x}, which is not UTF-8 text; "
            "save the job file as UTF-8, or give a fio job file"
        )
        raise SeeklabError([Problem(name, message)]) from None


def fio(jobfile: str | PathLike[str], on: str) -> FioJob:
    """Translate a fio job file for the preset `on`. `-` reads the standard input.

    Includes are looked for beside the job file first and in the working directory second, as fio does.
    """
    main = str(jobfile)
    if main == "-":
        files = {main: decode("standard input", sys.stdin.buffer.read(LARGEST_FILE_BYTES + 1))}
        folder = Path()
    else:
        files = {main: _read_text(main, Path(main))}
        folder = Path(main).parent
    while True:
        try:
            answer = engine().call("fio_parse", {"files": files, "main": main, "preset": on})
        except SeeklabError as error:
            missing = [problem.nearest for problem in error.problems if problem.path == "include" and problem.nearest]
            if not missing or missing[0] in files:
                raise
            if len(files) > MOST_INCLUDES:
                message = f"more than {MOST_INCLUDES} included files; do they include each other?"
                raise SeeklabError([Problem("include", message)]) from None
            included = missing[0]
            beside = folder / included
            files[included] = _read_text(included, beside if beside.exists() else Path(included))
        else:
            return FioJob(answer["scenario"], tuple(answer["ignored"]), tuple(answer["warnings"]), files, main)
