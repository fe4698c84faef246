"""`make lab`: from a clone to JupyterLab with the first notebook open."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
import webbrowser
from typing import IO

import machine
import ports
from console import LOGS, ROOT, StepFailedError, apply_all, environment, main, say
from steps import COURSE, FOR_LAB, VENV_BIN, write_course

FIRST_INCIDENT = "odx-prefetch"
START_LIMIT_S = 60
LOG = LOGS / "lab.log"


def lab() -> None:
    """Prepare, print the first incident's facts, open the lab, and serve it until it is stopped."""
    machine.require_for_lab()
    apply_all(FOR_LAB)

    say()
    shown = subprocess.run([VENV_BIN / "seeklab", "facts", FIRST_INCIDENT], cwd=ROOT, check=False)
    # Exit code 1 means that the model misses a documented number. That is printed, and the lab opens anyway.
    if shown.returncode not in (0, 1):
        message = f'"seeklab facts {FIRST_INCIDENT}" ended with exit code {shown.returncode}: see above.'
        raise StepFailedError(message)

    page = f"lab/tree/{write_course().relative_to(COURSE)}"
    port = ports.free(8888)
    token = secrets.token_urlsafe(24)
    address = f"http://127.0.0.1:{port}/{page}?token={token}"
    LOGS.mkdir(parents=True, exist_ok=True)
    with LOG.open("w") as log:
        server = _start(port, page, token, log)
    signal.signal(signal.SIGTERM, lambda *_: server.terminate())
    try:
        _wait_until_it_answers(server, port)
        say(f"\nYour copies of the notebooks are in {COURSE.relative_to(ROOT)}; your changes are kept.")
        say(f"\nThe lab is open at\n\n    {address}\n")
        if _has_screen() and webbrowser.open(address):
            say("Your browser should show it now. To stop the lab, press Ctrl-C here.")
        else:
            say(f'Open that address in a browser. To stop the lab, press Ctrl-C here or run "kill {os.getpid()}".')
        server.wait()
    except KeyboardInterrupt:
        say("\nStopping the lab.")
    finally:
        server.terminate()
        server.wait()


def _start(port: int, page: str, token: str, log: IO[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [
            VENV_BIN / "jupyter-lab",
            "--no-browser",
            "--ServerApp.ip=127.0.0.1",
            f"--ServerApp.port={port}",
            "--ServerApp.port_retries=0",
            f"--ServerApp.root_dir={COURSE}",
            # Open only the course, and nothing that contacts another server.
            f"--LabApp.default_url=/{page}",
            "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
            "--LabApp.extension_manager=readonly",
            *(["--allow-root"] if os.geteuid() == 0 else []),
        ],
        cwd=ROOT,
        env=environment({"JUPYTER_TOKEN": token}),
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
    )


def _wait_until_it_answers(server: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + START_LIMIT_S
    while time.monotonic() < deadline:
        if server.poll() is not None:
            say(LOG.read_text())
            message = f"JupyterLab ended at once with exit code {server.returncode}; its output is above."
            raise StepFailedError(message)
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/api", timeout=5).close()
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.2)
        else:
            return
    message = f"JupyterLab did not answer on port {port} within {START_LIMIT_S} s; its log is {LOG.relative_to(ROOT)}."
    raise StepFailedError(message)


def _has_screen() -> bool:
    if not sys.stdout.isatty():
        return False
    if sys.platform == "darwin":
        return True
    has_display = bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    return has_display and shutil.which("xdg-open") is not None


if __name__ == "__main__":
    main(lab)
