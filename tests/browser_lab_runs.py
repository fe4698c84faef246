"""The course in the browser as it runs there, in the built site: `make full`, some minutes."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from typing import Any

import pytest

from conftest import GIVE_UP_S
from test_browser_lab import COURSE, ROOT


def note_of(name: str) -> str:
    """Return a text of the lab's extension."""
    source = (ROOT / "web" / "src" / "browserLab.js").read_text(encoding="utf-8")
    found = re.search(rf'const {name} =((?:\s+"[^"]*"(?: \+)?)+);', source)
    assert found, name
    return "".join(re.findall(r'"([^"]*)"', found[1]))


def in_browser(*words: str) -> dict[str, Any]:
    if shutil.which("node") is None:
        pytest.fail("node is not installed; `make test` says how")
    done = subprocess.run(
        ["node", ROOT / "tests" / "browser_lab.mjs", *words],
        capture_output=True,
        text=True,
        timeout=GIVE_UP_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["foreign"] == []
    assert found["errors"] == []
    return found


@pytest.fixture(scope="module")
def learner() -> dict[str, Any]:
    """Tell what a learner met in the first notebook."""
    return in_browser("learner")


def test_running_all_cells_reaches_the_end_and_what_is_below_a_question_waits(learner: dict[str, Any]) -> None:
    assert learner["failed"] == []
    assert learner["gate"] == "shapes-turn"
    assert len(learner["waiting"]) > 10


def test_after_the_answer_the_cells_fill_in_place_up_to_the_next_task(learner: dict[str, Any]) -> None:
    assert learner["next"][0] == "shapes-yours"


def test_a_commitment_is_kept_in_the_browser_and_handed_to_the_next_kernel(learner: dict[str, Any]) -> None:
    (kept,) = learner["commits"]
    assert kept["value"] == "each read misses a little"
    assert (kept["confidence"], kept["skipped"], kept["near"]) == (33, False, True)
    assert learner["held"] == learner["commits"]
    # The question is answered from the start: the next thing to do is the task.
    assert learner["remembered"][0] == "shapes-yours"
    assert any(note_of("kept") in note for note in learner["notes"])


def test_the_chart_simulates_in_the_page_and_the_kernel_runs_the_same(learner: dict[str, Any]) -> None:
    assert learner["moved"] != learner["before"]
    assert learner["kernel"]["shown"] == learner["kernel"]["own"]


def test_stop_ends_a_loop_without_end_and_says_what_that_means(learner: dict[str, Any]) -> None:
    stop = learner["stop"]
    assert note_of("stopped") in stop["note"]
    # The variables are gone; the commitment is not.
    assert stop["after"].split() == ["False", "1"]


@pytest.mark.parametrize("path", COURSE)
def test_a_notebook_runs_from_the_first_cell_to_the_last_as_on_cpython(path: str) -> None:
    (row,) = in_browser("course", path)["rows"]
    assert row["failed"] == []
    assert row["differing"] == []


def test_a_browser_that_stores_nothing_runs_the_course_and_is_told() -> None:
    found = in_browser("forbidden")
    assert any(note_of("notKept") in note for note in found["notes"])
    assert re.fullmatch(r"[0-9a-f]{16}", found["runs"].strip())


def test_the_lab_opens_and_runs_without_a_network_once_it_was_seen() -> None:
    found = in_browser("offline")
    first, again, without = found["visits"]
    assert first["shows"] == again["shows"] == without["shows"]
    assert [name.startswith("seeklab-") for name in found["caches"]] == [True]
    assert found["workers"] == ["/"]


def test_outputs_of_foreign_notebooks_run_no_script_and_the_lab_hides_in_a_foreign_frame() -> None:
    found = in_browser("hostile")
    assert found["opened"] == {"small.ipynb": [], "large.ipynb": [], "renamed.ipynb": []}
    assert found["own"] == [1], "outputs of cells that the learner has run stay trusted"
    assert found["visible"] == 0
