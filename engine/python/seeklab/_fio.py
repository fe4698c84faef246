"""fio job files: read the bytes, follow includes, and let the engine translate them into a scenario."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from seeklab._errors import Problem, SeeklabError
from seeklab._files import STANDARD_INPUT, Kind, read_text, shown
from seeklab._host import engine
from seeklab._result import Result, run

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from seeklab._result import Progress

JOB_FILE = Kind("a fio job file", most_bytes=1 << 20, may_be_packed=False)
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


def fio(jobfile: str | PathLike[str], on: str) -> FioJob:
    """Translate a fio job file for the preset `on`. `-` is the standard input.

    Includes are looked for beside the job file first and in the working directory second, as fio does.
    """
    main = str(jobfile) if str(jobfile) == STANDARD_INPUT else shown(jobfile)
    files = {main: read_text(jobfile, JOB_FILE)}
    folder = Path() if main == STANDARD_INPUT else Path(jobfile).parent
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
            files[included] = read_text(beside if beside.exists() else included, JOB_FILE)
        else:
            return FioJob(answer["scenario"], tuple(answer["ignored"]), tuple(answer["warnings"]), files, main)
