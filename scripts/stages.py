"""The stages of the checks, in order, and how the counts of each are read."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import console
from console import CACHE, ROOT, digest_of, say, stream
from sampling import commit, is_drawn
from steps import ENGINE, ENGINE_SOURCES, LIBRARY_SOURCES, SITE, TOOL, VENV_BIN, WEB, WEB_PACKAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from console import Outcome

LIMIT_S = 2400.0

TESTED = console.STAMPS / "tested"
"""The last commit that passed `make test`; `make release` reads it."""

FRESH = ("SEEKLAB_FRESH", "CI")
"""If one of these environment variables is not 0 or false, every stage runs, even if its last run was green."""

LIMIT_REACHED = "time limit reached"
"""The table's remark for a stage that was stopped."""

STORED = "as before: nothing that it reads has changed"
"""The table's remark for a stage that did not run again."""

DECIDES = re.compile("SEEKLAB_|PROPTEST_|RUST|CARGO_|NODE_|CHROMIUM")
"""Prefixes of environment variables that change a stage's checks."""


@dataclass
class Count:
    """The numbers of checks that passed, failed and were skipped."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: Count) -> Count:
        """Return the sum of both."""
        return Count(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def __str__(self) -> str:
        """Return the line that people and programs look for."""
        return f"{self.passed} passed, {self.failed} failed" + (f", {self.skipped} skipped" if self.skipped else "")


@dataclass(frozen=True)
class Runner:
    """The output format of a test runner: its count at the end, and before it the tests by name."""

    count: Callable[[str], Count]
    """Reads the count at the end."""
    passed: re.Pattern[str]
    """Finds the names of passed tests, or of whole files if the runner names only those."""
    failed: re.Pattern[str]
    running: re.Pattern[str] | None = None
    """Finds the names of tests that have started, if the runner names them."""
    routine: re.Pattern[str] | None = None
    """Matches lines that are logged but not shown: one for each test that passed."""

    def count_unfinished(self, output: str) -> tuple[Count, list[str]]:
        """Count the tests of a runner that did not reach its end; return the names of failed and unfinished ones."""
        passed, failed = self.passed.findall(output), self.failed.findall(output)
        done = {*passed, *failed}
        begun = self.running.findall(output) if self.running else []
        running = [name for name in dict.fromkeys(begun) if name not in done]
        names = [*(f"failed: {name}" for name in failed), *(f"not finished: {name}" for name in running)]
        return Count(len(passed), max(1, len(names))), names


@dataclass(frozen=True)
class Stage:
    """One command that checks something."""

    title: str
    command: Sequence[str | Path]
    folder: Path = ROOT
    needs: tuple[str, ...] = ()
    """Steps without which it cannot run."""
    runner: Runner | None = None
    """Reads the counts; without one the stage counts as one check."""
    environment: Mapping[str, str] = field(default_factory=dict)
    is_light: bool = False
    """Whether it keeps only one core busy and no other stage waits for it: it then runs in parallel with others."""
    is_timed: bool = False
    """Whether it measures time: it then runs after all others."""
    reads: tuple[Path, ...] = ()
    """All files and folders whose contents determine its result. After a green run it runs again only if one has
    changed. A stage without them runs each time."""
    versions: Callable[[], Iterable[str]] = tuple
    """Further text that determines its result."""


@dataclass(frozen=True)
class Row:
    """A stage's row of the table."""

    title: str
    seconds: float
    count: Count
    remark: str = ""
    is_stored: bool = False
    """Whether the count is from an earlier run."""


def count_cargo(output: str) -> Count:
    """Add up the closing lines of `cargo test`, one for each test binary."""
    lines = re.findall(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored", output, re.MULTILINE)
    return sum((Count(*map(int, line)) for line in lines), Count())


def count_pytest(output: str) -> Count:
    """Parse pytest's closing line; a test whose set-up failed counts as failed."""
    closing = [
        line for line in output.splitlines() if re.search(r"\b(passed|failed|errors?|skipped)\b.* in [\d.]+s", line)
    ]
    if not closing:
        return Count()

    def number(word: str) -> int:
        found = re.search(rf"(\d+) {word}\b", closing[-1])
        return int(found.group(1)) if found else 0

    return Count(number("passed") + number("xfailed"), number("failed") + number("errors?"), number("skipped"))


def count_vitest(output: str) -> Count:
    """Parse the line that starts with "Tests"; a file that could not be loaded counts as failed."""

    def number(heading: str, word: str) -> int:
        found = re.search(rf"^\s*{heading}\s.*?(\d+) {word}", output, re.MULTILINE)
        return int(found.group(1)) if found else 0

    count = Count(number("Tests", "passed"), number("Tests", "failed"), number("Tests", "skipped"))
    count.failed = max(count.failed, number("Test Files", "failed"))
    return count


def count_plain(output: str) -> Count:
    """Parse the last line of the form "N passed, N failed"."""
    found = re.findall(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", output, re.MULTILINE)
    return Count(*(int(number or 0) for number in found[-1])) if found else Count()


CARGO = Runner(
    count_cargo,
    passed=re.compile(r"^test (.+?)(?: - should panic)? \.\.\. ok$", re.MULTILINE),
    failed=re.compile(r"^test (.+?)(?: - should panic)? \.\.\. FAILED$", re.MULTILINE),
    running=re.compile(r"^test (.+?)(?: - should panic)? has been running for over \d+ seconds$", re.MULTILINE),
    routine=re.compile(r"^test .* \.\.\. ok$|^running \d+ tests?$"),
)
PYTEST = Runner(
    count_pytest,
    passed=re.compile(r"^\[gw\d+\] \[ *\d+%\] (?:PASSED|XFAIL) (.+?) *$", re.MULTILINE),
    failed=re.compile(r"^\[gw\d+\] \[ *\d+%\] (?:FAILED|ERROR) (.+?) *$", re.MULTILINE),
    running=re.compile(r"^([\w./-]+::.+?) *$", re.MULTILINE),
    routine=re.compile(r"^\[gw\d+\] \[ *\d+%\] PASSED |^[\w./-]+::"),
)
VITEST = Runner(
    count_vitest,
    passed=re.compile(r"^ +\u2713 (.+?) \(\d+ tests?\)", re.MULTILINE),
    failed=re.compile(r"^ +[\u00d7\u2717] (.+?)(?: \d+ms)?$", re.MULTILINE),
)
BROWSER = Runner(
    count_plain,
    passed=re.compile(r"^passed  (.+?) \([\d.]+ s\)", re.MULTILINE),
    failed=re.compile(r"^FAILED  (.+?) \([\d.]+ s\)$", re.MULTILINE),
)

MEASURED_DRIVES = ROOT.parent / "shared" / "validation"
"""Folder of data for Rust tests that are not part of the project."""

RUST_CRATES = (*ENGINE_SOURCES, *(ENGINE / name for name in ("tool", "benches", "fuzz")))
# `tests/architecture.rs` reads manifests, other tests read cases, presets and stored numbers.
RUST_SOURCES = (
    *RUST_CRATES,
    *LIBRARY_SOURCES,
    *(ENGINE / "validation", ROOT / "rustfmt.toml", ROOT / "tests" / "sanity"),
)
WEB_SOURCES = (
    *(WEB, *ENGINE_SOURCES, *LIBRARY_SOURCES),
    *(ENGINE / "tool", ENGINE / "validation", ROOT / "docs" / "instructor"),
    *(ENGINE / "python" / "seeklab" / name for name in ("question.json", "field.json", "notebook/question.js")),
    ROOT / "pyproject.toml",  # the version and the address of the site
)

LINT = (
    Stage(
        "Rust format",
        ("cargo", "fmt", "--all", "--check"),
        ENGINE,
        reads=RUST_SOURCES,
        versions=TOOL.versions,
    ),
    Stage("Python lint", (VENV_BIN / "ruff", "check", "--no-cache"), needs=("python-tests",), is_light=True),
    Stage(
        "Python format", (VENV_BIN / "ruff", "format", "--check", "--no-cache"), needs=("python-tests",), is_light=True
    ),
    Stage(
        "Notebook format",
        (VENV_BIN / "python", "-B", ROOT / "scripts" / "notebook_format.py", "--check"),
        needs=("python",),
        is_light=True,
    ),
    Stage("Python types", (VENV_BIN / "mypy",), needs=("python-tests",), is_light=True),
    Stage("Commits", (sys.executable, "-B", ROOT / "scripts" / "commits.py"), is_light=True),
    Stage("Prose", (sys.executable, "-B", ROOT / "scripts" / "prose.py"), is_light=True),
    *(
        Stage(
            title,
            ("npm", "run", "--silent", verb),
            WEB,
            needs=("npm", "wasm"),
            is_light=True,
            reads=WEB_SOURCES,
            versions=WEB_PACKAGES.versions,
        )
        for title, verb in (("Web lint and format", "lint"), ("Web types", "typecheck"))
    ),
    Stage(
        "Rust lint",
        ("cargo", "clippy", "--locked", "--workspace", "--all-targets", "--", "--deny", "warnings"),
        ENGINE,
        reads=RUST_SOURCES,
        versions=TOOL.versions,
    ),
)

# Last among the light stages of `make test`, because cargo locks its folder, and the Rust tests would wait.
RUST_DOCUMENTATION = Stage(
    "Rust documentation",
    ("cargo", "doc", "--locked", "--workspace", "--no-deps", "--quiet"),
    ENGINE,
    environment={"RUSTDOCFLAGS": "--deny warnings"},
    is_light=True,
    reads=RUST_CRATES,
    versions=TOOL.versions,
)

# Runners name each test as it ends, so that even an unfinished run shows what failed.
PYTEST_COMMAND = (
    *(VENV_BIN / "pytest", "--verbose", "--numprocesses", "auto"),
    *("--durations", "12", "--durations-min", "10"),
)
# An idle worker takes tests from another. Their shared data are in `.cache/runs`, or are quick to create again.
SHARED_OUT = (*PYTEST_COMMAND, "--dist", "worksteal")
# A notebook's cells are one program, so they stay together and in order.
BY_FILE = (*PYTEST_COMMAND, "--dist", "loadfile")


def drawn_notebooks() -> list[Path]:
    """Return a third of the notebooks, a different one at each commit; `make full` runs all."""
    every = sorted((ROOT / "notebooks").glob("*.ipynb"))
    return [path for path in every if is_drawn(path.stem, 3)] or every


# Property tests use the same scenarios in every run, so a checkout that passed passes again.
# `cargo test` and `make full` draw new ones.
SAME_DRAWS = {"PROPTEST_RNG_SEED": "20261123"}

TESTS = (
    Stage(
        "Rust tests",
        # All except the sample of the sanity sweeps, which differs at each commit.
        ("cargo", "test", "--locked", "--no-fail-fast", "--", "--skip", "sweeps::"),
        ENGINE,
        needs=("rust-tests",),
        runner=CARGO,
        environment=SAME_DRAWS,
        reads=RUST_SOURCES,
        versions=lambda: [*TOOL.versions(), str(MEASURED_DRIVES.exists())],
    ),
    Stage(
        "Sanity sample",
        ("cargo", "test", "--locked", "--test", "sanity", "sweeps::"),
        ENGINE,
        needs=("rust-tests",),
        runner=CARGO,
        reads=RUST_SOURCES,
        versions=lambda: [*TOOL.versions(), commit()],
    ),
    Stage(
        "Web tests",
        ("npm", "run", "--silent", "test"),
        WEB,
        needs=("npm", "wasm", "library"),
        runner=VITEST,
        reads=WEB_SOURCES,
        versions=WEB_PACKAGES.versions,
    ),
    *(
        Stage(
            title,
            ("npm", "run", "--silent", "test:browser", "--", option),
            WEB,
            needs=("npm", "site"),
            runner=BROWSER,
            is_light=not is_timed,
            is_timed=is_timed,
            reads=SITE.reads,
            versions=WEB_PACKAGES.versions,
        )
        for title, option, is_timed in (
            ("Browser tests", "--grep-invert=@timed", False),
            ("Browser tests that measure time", "--grep=@timed", True),
        )
    ),
    Stage("Python and cross-part tests", SHARED_OUT, needs=("python-tests", "package", "synthetic"), runner=PYTEST),
    Stage(
        "Notebooks",
        (*BY_FILE, "--nbval-lax", *drawn_notebooks()),
        needs=("python-tests", "package", "widget"),
        runner=PYTEST,
        environment={"SEEKLAB_GATES": "open"},
    ),
)

# `make test` runs a sample of it.
SANITY = Stage(
    "Sanity sweeps",
    ("cargo", "test", "--locked", "--package", "seeklab-library", "--test", "sanity"),
    ENGINE,
    runner=CARGO,
    environment={"SEEKLAB_SANITY": "whole"},
)

LONG_TESTS = ("tests/test_calibration.py",)

PAGE_SPEEDS = CACHE / "pages.json"
"""The page measurements of `make full`, for comparisons."""

# Samples of `make test` are complete here.
FULL = (
    RUST_DOCUMENTATION,
    SANITY,
    Stage(
        "Rust tests, properties on new draws",
        ("cargo", "test", "--locked", "--no-fail-fast"),
        ENGINE,
        runner=CARGO,
    ),
    Stage(
        "Browser tests on every page",
        ("npm", "run", "--silent", "test:browser"),
        WEB,
        needs=("npm", "site"),
        runner=BROWSER,
        environment={"SEEKLAB_PAGES": "all"},
    ),
    # A measurement: it fails if a page cannot be measured, however slow the page is.
    Stage(
        "How quickly pages answer",
        ("npm", "run", "--silent", "speed", PAGE_SPEEDS),
        WEB,
        needs=("npm", "site"),
    ),
    Stage(
        "Facts, mechanisms, logs and hosts",
        (*SHARED_OUT, *(f"tests/test_{name}.py" for name in ("facts", "mechanisms_off", "honesty", "hosts_agree"))),
        needs=("python-tests", "package", "site"),
        runner=PYTEST,
        environment={"SEEKLAB_FULL": "1"},
    ),
    Stage(
        "Notebooks",
        (*BY_FILE, "--nbval-lax", "notebooks"),
        needs=("python-tests", "package", "widget"),
        runner=PYTEST,
        environment={"SEEKLAB_GATES": "open"},
    ),
    Stage(
        "Ranges of all facts",
        (*SHARED_OUT, "tests/test_ranges.py"),
        needs=("python-tests", "package"),
        runner=PYTEST,
        environment={"SEEKLAB_FULL": "1"},
    ),
    Stage(
        "Hidden devices",
        (*SHARED_OUT, *LONG_TESTS),
        needs=("python-tests", "package"),
        runner=PYTEST,
        environment={"SEEKLAB_FULL": "1"},
    ),
    # Every notebook and exercise in JupyterLite. A kernel uses both cores, so they run one after the other.
    Stage(
        "The course in the browser",
        (VENV_BIN / "pytest", "--verbose", "--numprocesses", "1", "tests/browser_lab_runs.py"),
        needs=("python-tests", "package", "site"),
        runner=PYTEST,
    ),
    # All submissions, including hostile ones, also through nbgrader's command line; more kills, a Dask cluster, a
    # thousand answers, and solutions on many systems.
    Stage(
        "Grading",
        (
            *BY_FILE,
            *(f"tests/test_{name}.py" for name in ("hostile", "nbgrader", "grading", "exercises")),
            *(f"tests/test_{name}.py" for name in ("pyodide", "shaped_exercises")),
        ),
        needs=("python-tests", "package", "npm"),
        runner=PYTEST,
        environment={"SEEKLAB_FULL": "1"},
    ),
    Stage(
        "A class on a JupyterHub",
        (*BY_FILE, "tests/test_hub.py"),
        needs=("hub", "package"),
        runner=PYTEST,
        environment={"SEEKLAB_FULL": "1"},
    ),
)


def check(stages: Sequence[Stage], failed_steps: Collection[str] = (), limit_s: float = LIMIT_S) -> Count:
    """Run the stages one after another, independently of earlier failures; print times and a table.

    Stages that keep one core busy run in sequence, in parallel with the others. Stages that measure time run alone at
    the end. No stage takes longer than the limit.
    """

    def run(chosen: Callable[[Stage], bool]) -> dict[str, Row]:
        return {stage.title: _run(stage, failed_steps, limit_s) for stage in stages if chosen(stage)}

    with ThreadPoolExecutor(max_workers=1) as beside:
        light = {stage.title: beside.submit(_run, stage, failed_steps, limit_s) for stage in stages if stage.is_light}
        try:
            done = run(lambda stage: not stage.is_light and not stage.is_timed)
        except BaseException:
            beside.shutdown(cancel_futures=True)
            raise
        done |= {title: future.result() for title, future in light.items()}
    done |= run(lambda stage: stage.is_timed)
    rows = [done[stage.title] for stage in stages]

    say()
    width = max(len(row.title) for row in rows)
    for row in rows:
        say(f"{row.title:{width}}  {row.seconds:6.1f} s  {row.count}{f'; {row.remark}' if row.remark else ''}")
    stored = sum(row.count.passed for row in rows if row.is_stored)
    if stored:
        say(f"{stored} of the passed checks did not run again; {FRESH[0]}=1 runs all.")
    return sum((row.count for row in rows), Count())


def _run(stage: Stage, failed_steps: Collection[str], limit_s: float) -> Row:
    """Run one stage, unless a step that it needs failed, or its last run was green with the same inputs."""
    lacking = [step for step in stage.needs if step in failed_steps]
    if lacking:
        return Row(stage.title, 0.0, Count(skipped=1), f"not run: {', '.join(lacking)} failed")
    log = re.sub(r"\W+", "-", stage.title.lower())
    stamp = console.STAMPS / f"stage-{log}"
    digest = _digest(stage) if stage.reads else ""
    green = _green_before(stamp, digest) if digest and not is_fresh() else None
    if green is not None:
        say(f"\n== {stage.title}: {green}; {STORED}")
        return Row(stage.title, 0.0, green, STORED, is_stored=True)
    # A stage that is killed leaves no stamp.
    stamp.unlink(missing_ok=True)
    say(f"\n== {stage.title}")
    start = time.monotonic()
    routine = stage.runner.routine if stage.runner else None
    outcome = stream(log, stage.command, stage.folder, limit_s, extra_environment=stage.environment, routine=routine)
    seconds = time.monotonic() - start
    count, remark = _judge(stage, outcome)
    say(f"== {stage.title}: {count} in {seconds:.0f} s{f'; {remark}' if remark else ''}")
    # Files that changed during the run may have been read before or after the change.
    if digest and not remark and count.failed == 0 and _digest(stage) == digest:
        stamp.parent.mkdir(parents=True, exist_ok=True)
        written = stamp.with_suffix(".new")
        written.write_text(json.dumps({"digest": digest, "passed": count.passed, "skipped": count.skipped}))
        written.replace(stamp)
    return Row(stage.title, seconds, count, remark)


def is_fresh() -> bool:
    """Return whether every check must run, even if its last run was green."""
    return any(os.environ.get(name, "").lower() not in {"", "0", "false"} for name in FRESH)


def _digest(stage: Stage) -> str:
    words = [str(stage.folder), *(f"{name}={value}" for name, value in sorted(stage.environment.items()))]
    words += [
        f"{name}={value}" for name, value in sorted(os.environ.items()) if DECIDES.match(name) and name not in FRESH
    ]
    return digest_of("\0".join(map(str, stage.command)), [*words, *stage.versions()], stage.reads)


def _green_before(stamp: Path, digest: str) -> Count | None:
    """Return the stage's count if its last run had the same inputs and no failures, or None."""
    if not stamp.exists():
        return None
    stored = json.loads(stamp.read_text())
    return Count(stored["passed"], skipped=stored["skipped"]) if stored["digest"] == digest else None


def _judge(stage: Stage, outcome: Outcome) -> tuple[Count, str]:
    reason = LIMIT_REACHED if outcome.limit_reached else f"exit code {outcome.code}"
    wrong = outcome.limit_reached or outcome.code != 0
    if stage.runner is None:
        return (Count(failed=1), reason) if wrong else (Count(passed=1), "")
    count = stage.runner.count(outcome.output)
    if outcome.limit_reached or (wrong and count.failed == 0):
        count, names = stage.runner.count_unfinished(outcome.output)
        for name in names:
            say(name)
        return count, reason
    if not wrong and count.passed == 0:
        count.failed += 1
        return count, "no test ran"
    return count, ""
