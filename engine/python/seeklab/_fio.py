"""fio job files: read the files with their includes, and let the engine translate them into a scenario."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from seeklab._errors import Problem, SeeklabError
from seeklab._fio_logs import log_files
from seeklab._result import Result, run
from seeklab._user_presets import own_preset
from seeklab.data.files import STANDARD_INPUT, Kind, read_text, shown
from seeklab.engine.host import engine

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from seeklab._result import Progress

JOB_FILE = Kind("a fio job file", most_bytes=1 << 20, may_be_packed=False)
"""People write job files by hand; a larger file is something else."""
MAX_INCLUDES = 100
Format = Literal["normal", "json", "json+", "terse"]
TOOLS: dict[str, str] = {"normal": "fio", "json": "fio-json", "json+": "fio-json+", "terse": "fio-terse"}
SHELL_VARIABLE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]{0,99})")
"""A variable as command lines have it; job files write ${NAME}."""
COMMAND_LINE = "command line"
"""The name that a command line has among the files."""


@dataclass(frozen=True)
class FioJob:
    """A translated job file."""

    scenario: Mapping[str, Any]
    """The scenario for `seeklab.run`."""
    ignored: tuple[Mapping[str, Any], ...]
    """Options that a model ignores: each with job, option, value and reason."""
    warnings: tuple[str, ...]
    """Warnings, which are not errors."""
    files: Mapping[str, str]
    """The texts of the job files and of their includes, by name."""
    mains: tuple[str, ...]
    """The names of the job files among `files`."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Values of the variables in the job files."""
    sections: tuple[str, ...] = ()
    """The sections to run; empty for all."""
    logs: tuple[Mapping[str, Any], ...] = ()
    """The logs that each job requests."""
    output_format: str | None = None
    """The output format that a command line asks for."""

    @property
    def main(self) -> str:
        """The name of the first job file among `files`."""
        return self.mains[0]

    def run(self, *, seed: int = 1, progress: Progress | None = None) -> Result:
        """Run the jobs."""
        return run(self.scenario, seed=seed, progress=progress)

    def report(self, result: Result, output_format: Format | str = "normal") -> str:
        """Return a run of these jobs in fio's output format, with the options of the job file.

        Several formats are separated by commas. As fio does, JSON then comes between the names and the results of jobs.
        """
        texts = {name: result.text(TOOLS[name], **self._given()) for name in formats(output_format)}
        normal = texts.pop("normal", None)
        head, results = "", ""
        if normal is not None:
            head, blank, results = normal.partition("\n\n")
            head += blank[:1]
            results = blank[1:] + results
        return head + "".join(texts.pop(name, "") for name in ("terse", "json", "json+")) + results

    def stopped(self, result: Result) -> list[str]:
        """Return a sentence for each job without a request, and for each that the limit on operations changed."""
        sentences = []
        for job in self.scenario["jobs"]:
            name = job["name"]
            limit = f"(--most-operations {self.scenario['limits'].get('operations')})"
            if not any(result.metrics.get(f"{name}.{way}_ios") for way in ("read", "write", "trim")):
                sentences.append(f"[{name}] completed no request: {self._idle(job, result)}")
            ramp_s = result.metrics.get(f"{name}.shortened_ramp_s")
            if ramp_s is not None:
                sentences.append(
                    f"[{name}] measured from {ramp_s:.4g} s on instead of {job['ramp_time'] / 1e9:g} s: the limit on "
                    f"operations shortened the ramp {limit}"
                )
            if result.metrics.get(f"{name}.stopped_by_limit"):
                ran_s = result.metrics.get(f"{name}.elapsed_s", 0.0)
                asked = f" of {job['runtime'] / 1e9:g} s requested" if job.get("runtime") else ""
                sentences.append(
                    f"[{name}] was stopped after {ran_s:.4g} simulated seconds{asked}, at the limit on operations "
                    f"{limit}"
                )
        return sentences

    @staticmethod
    def _idle(job: Mapping[str, Any], result: Result) -> str:
        """Return why a job has no request."""
        if result.metrics.get(f"{job['name']}.stopped_by_limit"):
            return "jobs before it used all operations of the limit; raise --most-operations"
        if job.get("runtime"):
            return f"its run time of {job['runtime'] / 1e9:g} s ended first; raise runtime"
        return "it had nothing to do, or the run ended before it; check size, number_ios and startdelay"

    def log_files(self, result: Result) -> dict[str, str]:
        """Return the log files that the jobs request (`write_lat_log` and others): their texts by name."""
        return log_files(self.scenario["jobs"], self.logs, result)

    def _given(self) -> dict[str, Any]:
        chosen: dict[str, Any] = {"files": dict(self.files), "main": list(self.mains)}
        if self.environment:
            chosen["environment"] = dict(self.environment)
        if self.sections:
            chosen["sections"] = list(self.sections)
        return chosen


def formats(text: str) -> list[str]:
    """Return the output formats of a list such as `normal,json`."""
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in TOOLS:
            message = f'"{name[:60]}" is not an output format; write {", ".join(TOOLS)}, or several with commas'
            raise SeeklabError([Problem("output-format", message)])
    return names


def fio(
    jobfile: str | PathLike[str] | Sequence[str | PathLike[str]] = (),
    on: str = "",
    *,
    command: str | None = None,
    environment: Mapping[str, str] | None = None,
    sections: Sequence[str] = (),
    most_operations: int | None = None,
) -> FioJob:
    """Translate one or more fio job files for the preset `on`. `-` is the standard input.

    `command` is a command line of fio instead, as pasted, which may name job files; a file may hold one too.
    Includes are searched next to the job file first, and then in the working directory, as fio does. `environment` has
    values of variables that the files name as `${NAME}`; the process's variables are used too. `sections` selects the
    sections to run. A run ends after `most_operations`; jobs that start together share them equally.

    >>> job = seeklab.fio(command="fio --name=reads --rw=randread --size=64m --number_ios=1000", on="hdd-7200")
    >>> result = job.run()
    >>> 100 < result.metrics["reads.read_iops"] < 2000
    True
    >>> report = job.report(result)  # the text that fio would print
    """
    given = [jobfile] if isinstance(jobfile, (str, os.PathLike)) else list(jobfile)
    if not given and command is None:
        raise SeeklabError([Problem("jobfile", "the list is empty; pass at least one job file")])
    names = [str(name) if str(name) == STANDARD_INPUT else shown(name) for name in given]
    files = {name: read_text(path, JOB_FILE) for name, path in zip(names, given, strict=True)}
    if command is not None:
        names.append(COMMAND_LINE)
        files[COMMAND_LINE] = command
    folders = [
        Path() if name == STANDARD_INPUT else Path(path).parent for name, path in zip(names, given, strict=False)
    ]
    asked: dict[str, Any] = {"main": names, **_system(on)}
    if sections:
        asked["sections"] = list(sections)
    if most_operations is not None:
        asked["operations"] = most_operations
    while True:
        variables = _variables(files, environment or {})
        try:
            answer = engine().call("fio_parse", {**asked, "files": files, "environment": variables})
        except SeeklabError as error:
            missing = [problem.nearest for problem in error.problems if problem.path == "include" and problem.nearest]
            if not missing or missing[0] in files:
                raise
            if len(files) > MAX_INCLUDES:
                message = f"more than {MAX_INCLUDES} included files; do they include each other?"
                raise SeeklabError([Problem("include", message)]) from None
            included = missing[0]
            beside = next((folder / included for folder in folders if (folder / included).exists()), Path(included))
            files[included] = read_text(beside, JOB_FILE)
        else:
            return FioJob(
                answer["scenario"],
                tuple(answer["ignored"]),
                tuple(answer["warnings"]),
                files,
                tuple(names),
                variables,
                tuple(sections),
                tuple(answer["logs"]),
                answer.get("output_format"),
            )


def _system(on: str) -> dict[str, Any]:
    """Return the system that the jobs run on: the name of a library preset, or the content of your own."""
    own = own_preset(on)
    if own is None:
        return {"preset": on}
    return {"system": {"devices": [{"name": "disk", **own["device"]}]}}


def _variables(files: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that the files name, from `given` and the environment; no others leave this process."""
    # Searching for "${" up to "}" would look for the end from every start, in quadratic time.
    named = {part.partition("}")[0] for text in files.values() for part in text.split("${")[1:] if "}" in part}
    named.update(name for text in files.values() for name in SHELL_VARIABLE.findall(text))
    known = {**os.environ, **given}
    return {name: known[name] for name in sorted(named) if name in known}
