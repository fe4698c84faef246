"""What is checked, in order, and how each check's own count is read."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from console import ROOT, say, stream
from machine import WASM_TARGET
from steps import ENGINE, VENV_BIN, WEB

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

LIMIT_S = 2400.0


@dataclass
class Count:
    """How many checks passed, failed and were skipped."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: Count) -> Count:
        """Count both together."""
        return Count(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def __str__(self) -> str:
        """Write the line that people and programs look for."""
        return f"{self.passed} passed, {self.failed} failed" + (f", {self.skipped} skipped" if self.skipped else "")


@dataclass(frozen=True)
class Stage:
    """One command that checks something."""

    title: str
    command: Sequence[str | Path]
    folder: Path = ROOT
    needs: tuple[str, ...] = ()
    """Steps without which it cannot run."""
    count: Callable[[str], Count] | None = None
    """Reads the runner's own count; without it the stage counts as one."""
    environment: Mapping[str, str] = field(default_factory=dict)


def count_cargo(output: str) -> Count:
    """Add up the closing lines of `cargo test`, one for each test binary."""
    lines = re.findall(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored", output, re.MULTILINE)
    return sum((Count(*map(int, line)) for line in lines), Count())


def count_pytest(output: str) -> Count:
    """Read pytest's closing line; a test that could not be set up has failed."""
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
    """Read the line that begins with "Tests"; a file that could not be loaded has failed."""

    def number(heading: str, word: str) -> int:
        found = re.search(rf"^\s*{heading}\s.*?(\d+) {word}", output, re.MULTILINE)
        return int(found.group(1)) if found else 0

    count = Count(number("Tests", "passed"), number("Tests", "failed"), number("Tests", "skipped"))
    count.failed = max(count.failed, number("Test Files", "failed"))
    return count


def count_plain(output: str) -> Count:
    """Read the last line of the form "N passed, N failed"."""
    found = re.findall(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", output, re.MULTILINE)
    return Count(*(int(number or 0) for number in found[-1])) if found else Count()


CLIPPY = ("cargo", "clippy", "--locked")
DENY_WARNINGS = ("--", "--deny", "warnings")

LINT = (
    Stage("Rust format", ("cargo", "fmt", "--all", "--check"), ENGINE),
    Stage("Python lint", (VENV_BIN / "ruff", "check", "--no-cache"), needs=("python-tests",)),
    Stage("Python format", (VENV_BIN / "ruff", "format", "--check", "--no-cache"), needs=("python-tests",)),
    Stage("Python types", (VENV_BIN / "mypy",), needs=("python-tests",)),
    Stage("Web lint and format", ("npm", "run", "--silent", "lint"), WEB, needs=("npm", "wasm")),
    Stage("Web types", ("npm", "run", "--silent", "typecheck"), WEB, needs=("npm", "wasm")),
    Stage("Rust lint", (*CLIPPY, "--workspace", "--all-targets", *DENY_WARNINGS), ENGINE),
    Stage(
        "Rust lint of the raw border",
        (*CLIPPY, "--package", "seeklab-wasm", "--target", WASM_TARGET, *DENY_WARNINGS),
        ENGINE,
    ),
    Stage(
        "Rust documentation",
        ("cargo", "doc", "--locked", "--workspace", "--no-deps", "--quiet"),
        ENGINE,
        environment={"RUSTDOCFLAGS": "--deny warnings"},
    ),
)

# A file's tests stay together and in order: they share runs, and a notebook's cells are one program.
PYTEST = (VENV_BIN / "pytest", "--numprocesses", "auto", "--dist", "loadfile")

TESTS = (
    Stage("Rust tests", ("cargo", "test", "--locked", "--quiet", "--no-fail-fast"), ENGINE, count=count_cargo),
    Stage(
        "Rust tests of the build tool",
        ("cargo", "test", "--locked", "--quiet", "--profile", "tool", "--package", "seeklab-tool"),
        ENGINE,
        count=count_cargo,
    ),
    Stage("Web tests", ("npm", "run", "--silent", "test"), WEB, needs=("npm", "wasm"), count=count_vitest),
    Stage(
        "Browser tests",
        ("npm", "run", "--silent", "test:browser"),
        WEB,
        needs=("npm", "site"),
        count=count_plain,
    ),
    Stage("Python and cross-part tests", PYTEST, needs=("python-tests", "package"), count=count_pytest),
    Stage(
        "Notebooks",
        (*PYTEST, "--nbval-lax", "notebooks"),
        needs=("python-tests", "package", "widget"),
        count=count_pytest,
    ),
)


def check(stages: Sequence[Stage], failed_steps: Collection[str] = ()) -> Count:
    """Run the stages one after another, each whatever became of the one before; print times and a table."""
    rows: list[tuple[str, float, Count, str]] = []
    for stage in stages:
        lacking = [step for step in stage.needs if step in failed_steps]
        if lacking:
            rows.append((stage.title, 0.0, Count(skipped=1), f"not run: {', '.join(lacking)} failed"))
            continue
        say(f"\n== {stage.title}")
        start = time.monotonic()
        log = re.sub(r"\W+", "-", stage.title.lower())
        code, output = stream(log, stage.command, stage.folder, LIMIT_S, stage.environment)
        seconds = time.monotonic() - start
        count, remark = _judge(stage, code, output)
        say(f"== {stage.title}: {count} in {seconds:.0f} s{f'; {remark}' if remark else ''}")
        rows.append((stage.title, seconds, count, remark))

    say()
    width = max(len(title) for title, *_ in rows)
    for title, seconds, count, remark in rows:
        say(f"{title:{width}}  {seconds:6.1f} s  {count}{f'; {remark}' if remark else ''}")
    return sum((count for _, _, count, _ in rows), Count())


def _judge(stage: Stage, code: int, output: str) -> tuple[Count, str]:
    if stage.count is None:
        return (Count(passed=1), "") if code == 0 else (Count(failed=1), f"exit code {code}")
    count = stage.count(output)
    if code != 0 and count.failed == 0:
        count.failed = 1
        return count, f"exit code {code}"
    if code == 0 and count.passed == 0:
        count.failed += 1
        return count, "no test ran"
    return count, ""
