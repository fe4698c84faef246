"""The notebook as a reader has it: in JupyterLab, in a browser, with a slider that is simulated there."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import ports
from conftest import GIVE_UP_S
from seeklab.course.copies import learners_copy
from seeklab.notebook._gate import WAITS

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
NOTEBOOK = ROOT / "notebooks" / "01-the-missing-256-kib.ipynb"
BROWSER = os.environ.get("CHROMIUM", "/usr/bin/chromium")

pytest.importorskip("jupyterlab", reason="JupyterLab is not installed; `make lab` installs it")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Open a copy of the notebook in a JupyterLab of its own, which leaves nothing in the user's folders."""
    folder = tmp_path_factory.mktemp("lab")
    (folder / "notebooks").mkdir()
    learners = learners_copy(NOTEBOOK.read_text(encoding="utf-8"))
    (folder / "notebooks" / NOTEBOOK.name).write_text(learners, encoding="utf-8")
    page_config = folder / "jupyter_config_dir" / "labconfig" / "page_config.json"
    page_config.parent.mkdir(parents=True)
    no_news = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}
    page_config.write_text(json.dumps(no_news), encoding="utf-8")
    port = ports.free(8988)
    token = secrets.token_urlsafe(24)
    server = subprocess.Popen(
        [
            *(sys.executable, "-m", "jupyterlab", "--no-browser", "--log-level=ERROR", "--expose-app-in-browser"),
            *("--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"),
            f"--ServerApp.root_dir={folder / 'notebooks'}",
            "--LabApp.news_url=None",
            "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
            *(["--allow-root"] if os.geteuid() == 0 else []),
        ],
        cwd=folder,
        env={
            **os.environ,
            "JUPYTER_TOKEN": token,
            **{
                name: str(folder / name.lower())
                for name in ("HOME", "IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR")
            },
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_until_it_answers(server, port)
        yield f"http://127.0.0.1:{port}/lab/tree/{NOTEBOOK.name}?token={token}"
    finally:
        server.terminate()
        server.wait()


@pytest.fixture(scope="module")
def seen(address: str) -> dict[str, Any]:
    """Tell what the browser saw."""
    if shutil.which("node") is None or not Path(BROWSER).exists():
        pytest.fail(f"node and {BROWSER} are needed; on Debian: apt-get install nodejs chromium")
    done = subprocess.run(
        ["node", ROOT / "tests" / "notebook_browser.mjs", address, str(GIVE_UP_S)],
        capture_output=True,
        text=True,
        timeout=GIVE_UP_S + 60,  # it gives up by itself and says why, unless it has not even begun
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    found["kernel"] = json.loads(found["kernel"])
    return found


def test_cells_wait_for_each_question_and_fill_in_place_when_it_is_answered(seen: dict[str, Any]) -> None:
    gates = seen["gates"]
    assert [gate["cell"] for gate in gates] == [
        *("shapes-turn", "shapes-yours", "cost", "phases-yours"),
        *("pieces", "variants", "covered-yours", "what-if"),
    ]
    assert [gate for gate in gates if gate["below"]] == []
    for gate in gates:
        assert ("replace the dots" if gate["cell"].endswith("-yours") else WAITS) in gate["told"]


def test_every_cell_runs_without_an_error(seen: dict[str, Any]) -> None:
    assert (seen["failed"], seen["errors"]) == ([], [])


def test_nothing_is_asked_of_another_server(seen: dict[str, Any]) -> None:
    assert seen["foreign"] == []


def test_a_moving_slider_is_simulated_in_the_browser_without_the_kernel(seen: dict[str, Any]) -> None:
    assert seen["whileDragged"]["told"] != seen["before"]
    assert seen["whileDragged"]["messages"] == 0


def test_the_kernel_learns_the_value_on_release_and_runs_the_same(seen: dict[str, Any]) -> None:
    kernel = seen["kernel"]
    assert list(kernel["set"]) == ["protocol.max_transaction"]
    assert kernel["set"]["protocol.max_transaction"] < 8 << 20
    assert kernel["shown"] == kernel["own"]


def _wait_until_it_answers(server: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + GIVE_UP_S
    while time.monotonic() < deadline:
        assert server.poll() is None, f"JupyterLab ended at once with exit code {server.returncode}"
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/api", timeout=5).close()
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.2)
        else:
            return
    pytest.fail(f"JupyterLab did not answer on port {port} within {GIVE_UP_S} s")
