"""The check of commits: subjects of one form, no merges, in the range that is checked."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

import pytest

import commits

if TYPE_CHECKING:
    from pathlib import Path

LONGEST = "area: Add " + 50 * "x"


@pytest.mark.parametrize(
    "subject",
    [
        "web: Share the parts of scenes in stage/kit",
        "engine/fuzz: Feed the reader",
        "judge, tests: Pass the seed",
        "tests: Bring back a check",
        LONGEST,
    ],
)
def test_a_good_subject_has_no_fault(subject: str) -> None:
    assert list(commits.faults(subject, 1)) == []


@pytest.mark.parametrize(
    ("subject", "fault"),
    [
        ("Random hands do not drag", "form"),
        ("web: share the parts", "form"),
        ("web:Share the parts", "form"),
        ("Web: Share the parts", "form"),
        ("web: Share", "form"),
        ("web: Shared the parts", "Shared"),
        ("web: Shares the parts", "Shares"),
        ("web: Sharing the parts", "Sharing"),
        ("web: A part is shared", '"A"'),
        (LONGEST + "x", "61 characters"),
        ("web: Share the parts; drop a file", "clause"),
        ("web: Share the parts.", "clause"),
    ],
)
def test_a_bad_subject_is_refused(subject: str, fault: str) -> None:
    (found,) = commits.faults(subject, 1)
    assert fault in found


def test_a_merge_is_refused_whatever_its_subject() -> None:
    (fault,) = commits.faults("web: Share the parts", 2)
    assert "rebase" in fault


@pytest.fixture
def history(tmp_path: Path) -> list[str]:
    """Make a history of an old bad subject, a good one and a bad one; return the commits."""
    identity = ("-c", "user.name=name", "-c", "user.email=mail", "-c", "commit.gpgsign=false")

    def git(*words: str) -> str:
        command = ("git", "-C", str(tmp_path), *identity, *words)
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    git("init", "--quiet")
    made = []
    for subject in ("An old riddle", "web: Share the parts", "A new riddle"):
        git("commit", "--quiet", "--allow-empty", "--message", subject)
        made.append(git("rev-parse", "HEAD"))
    return made


def test_commits_after_the_start_are_checked(
    history: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert commits.check(tmp_path, history[0]) == 1
    shown = capsys.readouterr().out
    assert "A new riddle" in shown
    assert "An old riddle" not in shown
    assert "Commits checked: 2." in shown


def test_without_the_start_only_the_last_commit_is_checked(
    history: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert commits.check(tmp_path, "0" * 40) == 1
    assert "Commits checked: 1." in capsys.readouterr().out
    subprocess.run(("git", "-C", str(tmp_path), "reset", "--quiet", "--hard", history[1]), check=True)
    assert commits.check(tmp_path, "0" * 40) == 0


def test_a_folder_without_history_has_nothing_to_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert commits.check(tmp_path) == 0
    assert re.fullmatch(r"\D+", capsys.readouterr().out)  # no count
