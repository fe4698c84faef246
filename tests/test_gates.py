"""Gates in a real kernel: cells that wait fill their own places, in order, when the reader answers."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

jupyter_client = pytest.importorskip("jupyter_client", reason="jupyter_client is not installed; `make lab` installs it")
pytest.importorskip("ipykernel", reason="ipykernel is not installed; `make lab` installs it")

STOPPED = pytest.importorskip("seeklab.notebook._gate").STOPPED

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ASK = "q = Prediction('How much?', lambda: 10.0, name='q', low=1, high=100)\nq"
ASK_AGAIN = "after(q)\nr = Prediction('And now?', lambda: 20.0, name='r', low=1, high=100)\nr"
WAIT_S = 60
Run = Any


class Kernel:
    """A kernel and the state of its widgets, as a notebook's page keeps it."""

    def __init__(self, manager: Any, client: Any) -> None:
        """Take a kernel that runs, and its client."""
        self._manager = manager
        self._client = client
        self._subshell: str | None = None
        self.widgets: dict[str, dict[str, Any]] = {}

    def run(self, text: str) -> tuple[str, list[dict[str, Any]]]:
        """Run a cell, and wait until what it opens has filled; return the reply's status and the outputs."""
        found = self._until_idle(self._client.execute(text))
        self._until_idle(self._client.execute("", silent=True))
        return found

    def use_subshell(self) -> None:
        """Send messages of widgets to a thread of their own, as JupyterLab does."""
        request = self._client.session.msg("create_subshell_request", {})
        self._client.control_channel.send(request)
        self._subshell = self._client.get_control_msg(timeout=WAIT_S)["content"]["subshell_id"]

    def start(self, text: str) -> str:
        """Start a cell without waiting; return the message's name."""
        asked: str = self._client.execute(text)
        return asked

    def finish(self, asked: str) -> list[dict[str, Any]]:
        """Wait for a started cell; return its outputs."""
        return self._until_idle(asked)[1]

    def see(self, text: str, outputs: list[dict[str, Any]]) -> None:
        """Wait until a place says something."""
        while text not in self.shown(outputs):
            self._keep(self._client.get_iopub_msg(timeout=WAIT_S))

    def stop(self) -> None:
        """Press Stop."""
        self._manager.interrupt_kernel()

    def click(self, description: str, *, waits: bool = True) -> list[dict[str, Any]]:
        """Press the last button with this description, and wait until the places have filled."""
        (*_, button) = [id_ for id_, state in self.widgets.items() if state.get("description") == description]
        data = {"method": "custom", "content": {"event": "click"}}
        message = self._client.session.msg("comm_msg", {"comm_id": button, "data": data})
        if self._subshell:
            message["header"]["subshell_id"] = self._subshell
        self._client.shell_channel.send(message)
        found = self._until_idle(message["header"]["msg_id"], replies=False)[1] if waits else []
        if waits:
            self._until_idle(self._client.execute("", silent=True))
        return found

    def shown(self, outputs: list[dict[str, Any]]) -> str:
        """Return the text of outputs; a place is replaced by what it contains."""
        told = []
        for one in outputs:
            view = one.get("data", {}).get("application/vnd.jupyter.widget-view+json")
            state = self.widgets.get(view["model_id"], {}) if view else {}
            inner = state.get("outputs")
            told.append(self.shown(inner) if inner else one.get("text") or one.get("data", {}).get("text/plain", ""))
        return "\n".join(told)

    def _keep(self, message: dict[str, Any]) -> None:
        """Keep the state of a widget that a message creates or changes."""
        kind, content = message["msg_type"], message["content"]
        if kind == "comm_open":
            self.widgets[content["comm_id"]] = dict(content["data"]["state"])
        elif kind == "comm_msg" and content["data"].get("method") == "update":
            self.widgets[content["comm_id"]].update(content["data"]["state"])

    def _until_idle(self, asked: str, *, replies: bool = True) -> tuple[str, list[dict[str, Any]]]:
        outputs = []
        while True:
            message = self._client.get_iopub_msg(timeout=WAIT_S)
            kind, content = message["msg_type"], message["content"]
            self._keep(message)
            if message["parent_header"].get("msg_id") != asked:
                continue
            if kind in {"stream", "display_data", "execute_result", "error"}:
                outputs.append({**content, "output_type": kind})
            elif kind == "status" and content["execution_state"] == "idle":
                break
        status = self._client.get_shell_msg(timeout=WAIT_S)["content"]["status"] if replies else ""
        return status, outputs


def test_without_threads_the_cells_fill_while_the_answer_is_handled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SEEKLAB_GATES", raising=False)
    script = f"""
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
from seeklab.notebook import _gate
for text in ("from seeklab.notebook import *", {ASK!r}, "after(q)\\nprint('first')\\n1 + 1"):
    assert shell.run_cell(text).success
place, = _gate._gates._places
assert "Opens after" in str(place.output.outputs)
shell.user_ns["q"].commit(5)
print([one.get("text") or one["data"]["text/plain"] for one in place.output.outputs])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.endswith("['first\\n', '2']\n"), done.stdout + done.stderr


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kernel]:
    """Start a kernel in an empty folder, with closed gates."""
    monkeypatch.delenv("SEEKLAB_GATES", raising=False)
    manager, client = jupyter_client.manager.start_new_kernel(cwd=str(tmp_path))
    try:
        started = Kernel(manager, client)
        status, outputs = started.run("from seeklab.notebook import *")
        assert status == "ok", outputs
        yield started
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_cells_that_wait_end_without_an_error_and_fill_in_place_after_the_answer(kernel: Kernel) -> None:
    runs = [kernel.run(text) for text in (ASK, "after(q)\nx = 3\nprint('x is', x)\nx + 1", ASK_AGAIN, "after(r)\nx")]
    assert [status for status, _ in runs] == ["ok"] * 4
    _, second, third, last = (outputs for _, outputs in runs)
    assert all("Opens after" in kernel.shown(outputs) for outputs in (second, third, last))
    assert kernel.click("Commit") == []  # nothing appears at the button itself
    assert kernel.shown(second) == "x is 3\n\n4"
    assert "question" in kernel.shown(third)
    assert "Opens after" in kernel.shown(last)
    kernel.click("Skip")
    assert kernel.shown(last) == "3"


def test_an_answer_from_a_thread_of_widgets_fills_between_two_cells(kernel: Kernel) -> None:
    kernel.run(ASK)
    _, outputs = kernel.run("after(q)\nimport threading\nthreading.current_thread() is threading.main_thread()")
    kernel.use_subshell()
    runs = kernel.start("import time\ntime.sleep(1)\nprint('done')\n'last'")
    kernel.click("Commit", waits=False)
    assert kernel.shown(kernel.finish(runs)) == "done\n\n'last'"
    kernel.run("")
    assert kernel.shown(outputs) == "True"


def test_a_task_whose_box_waits_ends_no_run_and_closes_the_cells_after_it_when_it_opens(kernel: Kernel) -> None:
    cells = (ASK, "after(q)\nturn('odx/shapes')", "check('odx/shapes', ...)", "after(q)\n'open'")
    runs = [kernel.run(text) for text in cells]
    assert [status for status, _ in runs] == ["ok"] * 4
    kernel.click("Commit")
    assert "Opens after" in kernel.shown(runs[3][1])
    kernel.click("Skip")
    assert kernel.shown(runs[3][1]) == "'open'"


def test_a_cell_that_waits_keeps_its_turn_when_it_is_run_again(kernel: Kernel) -> None:
    kernel.run(ASK)
    kernel.run("after(q)\nx = 1")
    _, last = kernel.run("after(q)\nx + 1")
    kernel.run("after(q)\nx = 1")
    kernel.click("Skip")
    assert kernel.shown(last) == "2"


def test_an_error_in_a_cell_that_waited_is_told_in_its_place(kernel: Kernel) -> None:
    kernel.run(ASK)
    _, outputs = kernel.run("after(q)\n1 / 0")
    kernel.click("Skip")
    assert kernel.shown(outputs) == "ZeroDivisionError: division by zero"


LOOPS = "after(q)\nimport time\nwhile 'go' not in globals():\n    answer = time.sleep(0.01)\n'through'"


def test_stop_ends_what_fills_with_a_sentence_and_the_cells_below_wait_for_its_next_run(kernel: Kernel) -> None:
    kernel.run(ASK)
    _, loops = kernel.run(LOOPS)
    _, below = kernel.run("after(q)\n'below'")
    kernel.click("Commit", waits=False)
    kernel.see("Running", loops)
    kernel.stop()
    kernel.run("go = True")
    assert kernel.shown(loops) == STOPPED
    assert "Opens after" in kernel.shown(below)
    _, again = kernel.run(LOOPS)
    assert kernel.shown(again) == "'through'"
    assert kernel.shown(below) == "'below'"


def test_cells_below_a_task_wait_until_it_is_tried_or_skipped(kernel: Kernel) -> None:
    kernel.run("turn('odx/shapes')")
    status, outputs = kernel.run("check('odx/shapes', ...)")
    assert (status, "replace the dots" in kernel.shown(outputs)) == ("ok", True)
    _, below = kernel.run("after()\n'open'")
    assert "Opens after" in kernel.shown(below)
    kernel.run("check('odx/shapes', 5)")
    assert kernel.shown(below) == "'open'"


def test_the_last_table_waits_for_all_cells_above(kernel: Kernel) -> None:
    kernel.run(ASK)
    kernel.run("after(q)\n1")
    _, outputs = kernel.run("calibration()")
    assert "Opens after" in kernel.shown(outputs)
    kernel.click("Commit")
    assert "predictions" in kernel.shown(outputs)
