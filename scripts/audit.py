"""`make audit`: check licences, workflows, metadata and citation, then look for advisories about locked packages.

An advisory database that cannot be reached is named at the end, and is not a failure: the check says nothing then.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from console import ROOT, Outcome, StepFailedError, apply_all, capture, main, say, stream
from sbom import PYTHON_LOCKS
from steps import DIST, ENGINE, WEB
from tools import CITATION, CITATION_TOOLS, RELEASE_TOOLS, TOOLS, bin_of

if TYPE_CHECKING:
    from collections.abc import Sequence

LIMIT_S = 300.0
UNREACHABLE = re.compile(
    r"ConnectionError|ConnectTimeout|NameResolution|Max retries|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|E403|E404|"
    r"40[345] |50[234] |not implemented|error sending request|failed to fetch|couldn't fetch|git operation failed|"
    r"audit endpoint returned an error|Forbidden|SSLError|ProxyError|not found on PyPI",
    re.IGNORECASE,
)
"""Messages of tools that reached no database."""
ACTIONLINT = "github.com/rhysd/actionlint/cmd/actionlint"
ACTIONLINT_VERSION = "v1.7.12"


@dataclass(frozen=True)
class Check:
    """A command that checks something."""

    title: str
    command: Sequence[str | Path]
    folder: Path = ROOT
    asks_a_database: bool = False


def linters() -> list[Check]:
    """Return the checks that need no network."""
    tools = bin_of(TOOLS)
    checks = [
        Check("licences (REUSE)", (tools / "reuse", "lint", "--quiet")),
        Check("project metadata", (tools / "validate-pyproject", "pyproject.toml")),
        Check("citation", (bin_of(CITATION_TOOLS) / "cffconvert", "--validate", "--infile", "CITATION.cff")),
        Check("workflows (zizmor)", (tools / "zizmor", "--offline", "--persona=regular", ".github")),
    ]
    actionlint = _actionlint()
    if actionlint is None:
        say("workflows (actionlint): not checked; install Go or actionlint.")
    else:
        checks.append(Check("workflows (actionlint)", (actionlint, "-shellcheck=", "-pyflakes=")))
    wheels = sorted(DIST.glob("seeklab-*.whl"))
    if wheels:
        checks += [
            Check("wheel (twine)", (tools / "twine", "check", "--strict", *wheels)),
            Check("wheel (contents)", (tools / "check-wheel-contents", *wheels)),
        ]
    else:
        say("wheel: not checked; make dist builds it.")
    return checks


def _actionlint() -> Path | str | None:
    if found := shutil.which("actionlint"):
        return found
    if shutil.which("go") is None:
        return None
    stream("actionlint", ("go", "install", f"{ACTIONLINT}@{ACTIONLINT_VERSION}"), ROOT, LIMIT_S)
    path = Path(capture("go", "env", "GOPATH") or "") / "bin" / "actionlint"
    return path if path.is_file() else None


def advisories() -> list[Check]:
    """Return the checks that ask a database."""
    pip_audit = bin_of(TOOLS) / "pip-audit"
    checks = [
        Check(
            f"advisories of requirements/{name}.txt",
            (pip_audit, "--requirement", f"requirements/{name}.txt", "--disable-pip", "--require-hashes", "--strict"),
            asks_a_database=True,
        )
        for name in PYTHON_LOCKS
    ]
    checks.append(Check("advisories of web/", ("npm", "audit", "--omit=dev"), WEB, asks_a_database=True))
    if capture("cargo", "audit", "--version") is None:
        say("advisories of engine/: not checked; cargo install cargo-audit adds the tool.")
    else:
        checks.append(Check("advisories of engine/", ("cargo", "audit"), ENGINE, asks_a_database=True))
    return checks


def run_checks(checks: Sequence[Check]) -> list[str]:
    """Run the checks; return the titles of those that failed."""
    failed = []
    for check in checks:
        outcome = stream(f"audit-{re.sub(r'[^a-z]+', '-', check.title.lower())}", check.command, check.folder, LIMIT_S)
        said = _judge(check, outcome)
        say(f"{check.title}: {said}")
        if said == "FAILED":
            failed.append(check.title)
    return failed


def _judge(check: Check, outcome: Outcome) -> str:
    if outcome.code == 0:
        return "passed"
    if check.asks_a_database and (outcome.limit_reached or UNREACHABLE.search(outcome.output)):
        return "not checked; the database cannot be reached from here"
    return "FAILED"


def audit() -> int:
    """Run all checks."""
    apply_all((RELEASE_TOOLS, CITATION))
    failed = run_checks([*linters(), *advisories()])
    if failed:
        message = f"{len(failed)} checks failed: {', '.join(failed)}."
        raise StepFailedError(message)
    return 0


if __name__ == "__main__":
    main(audit)
