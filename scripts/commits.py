"""Check the commits after `START`: subjects have one form, and the history is linear.

A subject is `area: Imperative`, at most 60 characters, one change. `make lint` runs this check.
"""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

from console import ROOT, main, say

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

START = "4e2256b77ec7fcfe2a552040d83fb98d42cdc96b"
"""The last commit before the rule. In a history without it, such as a shallow clone, only the last one is checked."""

MAX_LENGTH = 60
SUBJECT = re.compile(r"[a-z][\w./-]*(?:, [a-z][\w./-]*)*: (?P<verb>[A-Z][A-Za-z-]*) \S.*")
NOT_IMPERATIVE = re.compile(
    r"(?!.*(?:ss|us|[eE]ed|Embed|[BS]ring|String|Ping)$).*(?:s|ed|ing)|A|An|The|No|Not|Now|What|It"
)


def faults(subject: str, parents: int) -> Iterable[str]:
    """Yield what is wrong with a commit."""
    if parents > 1:
        yield "is a merge; rebase instead"
        return
    form = SUBJECT.fullmatch(subject)
    if not form:
        yield "is not of the form `area: Imperative subject`"
    elif NOT_IMPERATIVE.fullmatch(form["verb"]):
        yield f'begins with "{form["verb"]}", not with an imperative'
    if len(subject) > MAX_LENGTH:
        yield f"has {len(subject)} characters; at most {MAX_LENGTH}"
    if ";" in subject or subject.endswith("."):
        yield "is more than one clause; make two commits, or use the body"


def check(root: Path = ROOT, start: str = START) -> int:
    """Print the faults of each commit that is checked; return the exit code."""
    git = ("git", "-C", str(root))
    if subprocess.run((*git, "rev-parse", "HEAD"), capture_output=True, check=False).returncode != 0:
        say("There is no git history here; no commit was checked.")
        return 0
    known = subprocess.run((*git, "merge-base", "--is-ancestor", start, "HEAD"), capture_output=True, check=False)
    chosen = (f"{start}..HEAD",) if known.returncode == 0 else ("--max-count=1", "HEAD")
    log = subprocess.run((*git, "log", "--format=%h%x09%p%x09%s", *chosen), capture_output=True, text=True, check=True)
    commits = [line.split("\t", 2) for line in log.stdout.splitlines()]
    found = [
        f'{name} "{subject}" {fault}'
        for name, parents, subject in commits
        for fault in faults(subject, len(parents.split()))
    ]
    for line in found:
        say(line)
    say(f"Commits checked: {len(commits)}.")
    return 1 if found else 0


if __name__ == "__main__":
    main(check)
