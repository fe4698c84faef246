"""A class on a JupyterHub of this machine: three accounts, the hub's own proxy, nbgrader's exchange, and back.

The hub runs in a mount namespace in which the machine has three accounts more, and which ends with the test.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import exercises
from conftest import GIVE_UP_S
from hostile.submissions import GOOD, PREDICTION
from seeklab.judge.identity import SECRET_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
RECIPE = ROOT / "docs" / "instructor" / "hub"
HERE = Path(__file__).resolve().parent / "hub"
PROXY = HERE / "node_modules" / ".bin" / "configurable-http-proxy"
ASSIGNMENT = "disk-time"
SLOW = 'choice = {"queue_policy": "fcfs", "queue_depth": 16}\n'
READY, PENDING = "ready", "pending"
FIRST_UID = 61_001
HANDED_IN = {"ada": (GOOD, 9.0), "bob": (SLOW, 3.0), "cleo": (GOOD, 9.0)}
"""What each answers, and the points that must come of it."""

pytestmark = [
    pytest.mark.skipif(os.environ.get("SEEKLAB_FULL") != "1", reason="takes a minute or two; `make full` runs it"),
    pytest.mark.skipif(sys.platform != "linux", reason="accounts and mount namespaces are Linux's"),
    pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() != 0, reason="only root may start servers as others"),
]


def free_ports(count: int) -> list[int]:
    with_sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in with_sockets]
    for one in with_sockets:
        one.close()
    return ports


def path_with_scripts() -> str:
    """Give the search path with this environment's programs first: some are called by their names alone."""
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])


@dataclass
class Hub:
    """A hub that runs, and the class's folder."""

    folder: Path
    address: str
    token: str
    inside: list[str]
    """What a command begins with to run where the accounts are."""
    tokens: dict[str, str] = field(default_factory=dict)
    """Of its learners, each for a server of their own."""

    def ask(self, method: str, path: str, body: object = None, token: str = "") -> Any:
        """Ask the hub or, through its proxy, a server; give what it answers."""
        request = urllib.request.Request(  # noqa: S310 -- our own server
            self.address + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"token {token or self.token}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=GIVE_UP_S) as answer:  # noqa: S310
            content = answer.read()
        return json.loads(content) if content else None

    def server(self, name: str, method: str, path: str, body: object = None) -> Any:
        """Ask a learner's server, as that learner."""
        return self.ask(method, f"/user/{name}/{path}", body, self.tokens[name])

    def server_of(self, name: str) -> str:
        """Tell what has become of a learner's server."""
        server = self.ask("GET", f"/hub/api/users/{name}")["servers"].get("", {})
        return READY if server.get("ready") else PENDING if server.get("pending") else "none"

    def nbgrader(self, *arguments: str) -> str:
        """Run one of the instructor's commands."""
        course = self.folder / "course"
        done = subprocess.run(
            [
                *(*self.inside, "--chdir", str(course), sys.executable, "-m", "nbgrader", *arguments),
                f"--Exchange.root={self.folder / 'exchange'}",
            ],
            env={**os.environ, "JUPYTER_CONFIG_DIR": str(course / ".jupyter"), "PATH": path_with_scripts()},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout


def wait_until(what: str, holds: Any, log: Path) -> None:
    end = time.monotonic() + GIVE_UP_S
    while time.monotonic() < end:
        try:
            if holds():
                return
        except (urllib.error.URLError, ConnectionError):
            pass
        time.sleep(0.3)
    pytest.fail(f"{what} did not come about:\n{log.read_text(errors='replace')[-4000:]}")


def opened(*paths: Path) -> list[str]:
    """Let everybody enter the folders on the way to these, where it is closed: tools may lie in root's home."""
    options: list[str] = []
    for path in paths:
        closed = [one for one in reversed(path.parents) if not one.stat().st_mode & 1]
        if closed:
            between = [one for one in reversed(path.parents) if closed[0] in one.parents]
            options += ["--tmpfs", str(closed[0])]
            options += [word for one in between for word in ("--perms", "0755", "--dir", str(one))]
            options += ["--ro-bind", str(path), str(path)]
    return options


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    """Start the hub of the recipe, with a server for each of three learners."""
    pytest.importorskip("jupyterhub", reason="JupyterHub is not installed; `make full` installs it")
    folder = Path(tmp_path_factory.mktemp("class", numbered=True))
    temporary = Path(tempfile.gettempdir())
    for parent in (folder, *folder.parents):
        # A worker of pytest-xdist has a folder of its own between.
        if temporary in parent.parents:
            parent.chmod(0o711)
    exercises.course_copy(folder / "course")
    (folder / "course").chmod(0o700)
    (folder / "exchange" / "seeklab" / "inbound").mkdir(parents=True)
    (folder / "exchange").chmod(0o1777)
    (folder / "exchange" / "seeklab" / "inbound").chmod(0o3733)
    (folder / "hub").mkdir(mode=0o700)
    (folder / "settings").mkdir(mode=0o755)
    shutil.copy(RECIPE / "nbgrader_config.py", folder / "settings")
    accounts, groups = Path("/etc/passwd").read_text(), Path("/etc/group").read_text()
    for uid, name in enumerate(HANDED_IN, FIRST_UID):
        home = folder / "homes" / name
        home.mkdir(parents=True)
        os.chown(home, uid, uid)
        accounts += f"{name}:x:{uid}:{uid}::{home}:/bin/sh\n"
        groups += f"{name}:x:{uid}:\n"
    (folder / "hub" / "passwd").write_text(accounts)
    (folder / "hub" / "group").write_text(groups)

    public, proxy_api, internal = free_ports(3)
    inside = [
        *("bwrap", "--dev-bind", "/", "/", "--unshare-pid", "--proc", "/proc", "--die-with-parent", "--cap-add", "ALL"),
        *opened(Path(sys.base_prefix), ROOT, Path(sys.prefix)),
        *("--bind", str(folder / "hub" / "passwd"), "/etc/passwd"),
        *("--bind", str(folder / "hub" / "group"), "/etc/group"),
    ]
    found = Hub(folder, f"http://127.0.0.1:{public}", secrets.token_hex(16), inside)
    environment = {
        **os.environ,
        "SEEKLAB_CLASS": str(folder),
        "SEEKLAB_RECIPE": str(RECIPE / "jupyterhub_config.py"),
        "SEEKLAB_HUB": found.address,
        "SEEKLAB_HUB_PORT": str(internal),
        "SEEKLAB_HUB_TOKEN": found.token,
        "SEEKLAB_PROXY": str(PROXY),
        "SEEKLAB_PROXY_API": f"http://127.0.0.1:{proxy_api}",
        "PATH": path_with_scripts(),
    }
    log = folder / "hub" / "log"
    with log.open("wb") as lines:
        process = subprocess.Popen(
            [
                *(*inside, "--chdir", str(folder / "hub")),
                *(sys.executable, "-m", "jupyterhub", "--config", str(HERE / "jupyterhub_config.py")),
            ],
            stdout=lines,
            stderr=subprocess.STDOUT,
            env=environment,
        )
    try:
        wait_until("an answer of the hub", lambda: process.poll() is not None or found.ask("GET", "/hub/api/"), log)
        assert process.poll() is None, log.read_text()
        for name in HANDED_IN:
            found.ask("POST", f"/hub/api/users/{name}", {})
            found.tokens[name] = found.ask("POST", f"/hub/api/users/{name}/tokens", {})["token"]
            found.ask("POST", f"/hub/api/users/{name}/server", {})
        for name in HANDED_IN:
            wait_until(f"{name}'s server", lambda name=name: found.server_of(name) != PENDING, log)
            assert found.server_of(name) == READY, log.read_text()[-4000:]
        yield found
    finally:
        process.kill()
        process.wait()


def work_on(hub: Hub, name: str, choice: str) -> None:
    """Fill in the cells, through the server's own interface, as a browser saves them."""
    path = f"api/contents/{ASSIGNMENT}/{ASSIGNMENT}.ipynb"
    document = hub.server(name, "GET", path)
    for cell in document["content"]["cells"]:
        answers = {"choice": choice, "prediction": PREDICTION, "learner": f"LEARNER = {name!r}"}
        cell["source"] = answers.get(cell["id"], cell["source"])
    hub.server(name, "PUT", path, {"type": "notebook", "format": "json", "content": document["content"]})


def test_a_class_on_a_hub(hub: Hub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(SECRET_VARIABLE, str(tmp_path / "secret"))
    hub.nbgrader("generate_assignment", ASSIGNMENT, "--create", "--force")
    hub.nbgrader("release_assignment", ASSIGNMENT)
    asked = {"course_id": "seeklab", "assignment_id": ASSIGNMENT}
    for name, (choice, _) in HANDED_IN.items():
        fetched = hub.server(name, "POST", "assignments/fetch", asked)
        assert [one["status"] for one in fetched["value"]] == ["fetched"], fetched
        work_on(hub, name, choice)
        submitted = hub.server(name, "POST", "assignments/submit", asked)
        assert any(one["status"] == "submitted" for one in submitted["value"]), submitted

    told = hub.nbgrader("collect", ASSIGNMENT)
    assert "WARNING" not in told, "each submission belongs to the account of whoever handed it in"
    hub.nbgrader("autograde", ASSIGNMENT)
    hub.nbgrader("generate_feedback", ASSIGNMENT)
    hub.nbgrader("release_feedback", ASSIGNMENT)

    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{hub.folder / 'course' / '.grading' / 'gradebook.db'}") as gradebook:
        scores = {name: gradebook.find_submission(ASSIGNMENT, name).score for name in HANDED_IN}
    assert scores == {name: points for name, (_, points) in HANDED_IN.items()}

    for name in HANDED_IN:
        back = hub.server(name, "POST", "assignments/fetch_feedback", asked)
        (mine,) = [one for one in back["value"] if one["status"] == "submitted"]
        (page,) = list((hub.folder / "homes" / name).rglob("feedback/*/*.html"))
        assert page.stat().st_uid == hub.folder.joinpath("homes", name).stat().st_uid
        assert "reads.read_latency_mean_ms" in page.read_text() if name == "bob" else mine


def test_one_learner_reads_neither_anothers_server_nor_the_course(hub: Hub) -> None:
    with pytest.raises(urllib.error.HTTPError, match=r"40[34]"):
        hub.ask("GET", "/user/bob/api/contents/", token=hub.tokens["ada"])
    with pytest.raises(urllib.error.HTTPError, match=r"40[034]"):
        hub.server("ada", "GET", f"api/contents/{'../' * 8}{hub.folder / 'course'}")
    as_ada = subprocess.run(
        [sys.executable if not opened(Path(sys.base_prefix)) else "/bin/ls", str(hub.folder / "course")],
        user=FIRST_UID,
        group=FIRST_UID,
        extra_groups=[],
        capture_output=True,
        check=False,
    )
    assert as_ada.returncode != 0
