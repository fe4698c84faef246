"""`make rehearse`: upload the wheel to a package index on this machine, install it from there, and use it.

Each Python that is found here (3.11 to 3.14) gets a new environment with `seeklab[course]`. Other packages come from
the index that pip uses anyway. It needs neither a compiler nor Node, and runs on Linux, macOS and Windows.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.error import URLError

import ports
from console import CACHE, ROOT, StepFailedError, apply_all, capture, environment, main, run, say
from tools import RELEASE_TOOLS, TOOLS, bin_of
from version import project

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
FOLDER = CACHE / "release" / "rehearsal"
CASE = "odx-prefetch"
NOTEBOOK = "notebooks/01-the-missing-256-kib.ipynb"
IOSTAT = """\
Device   r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s  wkB/s wrqm/s %wrqm w_await wareq-sz aqu-sz  %util
sda   180.00   1440.00     0.00   0.00   43.10     8.00    2.00  16.00   0.00  0.00    5.00     8.00   7.77  99.90
"""
LOG = "rehearse"
START_S = 20.0


def interpreters() -> dict[str, str]:
    """Return the Pythons of this machine by version: the path of each."""
    found: dict[str, str] = {}
    for program in ("python3", "python", *(f"python{version}" for version in PYTHONS)):
        # A version manager's stand-in exists for versions that are not installed, and fails.
        words = (program, "-c", "import sys; print('%d.%d' % sys.version_info[:2], sys.executable)")
        answer = capture(*words)
        version, _, path = (answer or "").partition(" ")
        if version in PYTHONS:
            found.setdefault(version, path)
    for version in PYTHONS:
        for installed in sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python3")):
            found.setdefault(version, str(installed))
    return dict(sorted(found.items()))


def files() -> list[Path]:
    """Return the files to upload: a release, or the wheel in `dist/`."""
    version = project()["version"]
    release = sorted((ROOT / "dist" / "release" / "python").glob(f"seeklab-{version}*"))
    wheel = sorted((ROOT / "dist").glob(f"seeklab-{version}-*.whl"))
    if not release and not wheel:
        message = f"dist/ has no wheel of version {version}; run make dist, or put the wheel there."
        raise StepFailedError(message)
    return release or wheel


@contextmanager
def index() -> Iterator[str]:
    """Run an empty package index on the loopback address; yield its address."""
    packages = FOLDER / "index"
    shutil.rmtree(packages, ignore_errors=True)
    packages.mkdir(parents=True)
    port = ports.free(8081)
    program = bin_of(TOOLS) / "pypi-server"
    # Without a password. For names that it does not know it sends pip to the usual index.
    usual = capture(sys.executable, "-m", "pip", "config", "get", "global.index-url") or "https://pypi.org/simple/"
    options = ("run", "-i", "127.0.0.1", "-p", str(port), "-P", ".", "-a", ".", "--fallback-url", usual, str(packages))
    server = subprocess.Popen((program, *options), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        _wait(address, server)
        yield address
    finally:
        server.terminate()
        server.wait(timeout=10)


def _wait(address: str, server: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + START_S
    while time.monotonic() < end:
        if server.poll() is not None:
            message = f"The package index ended at its start with exit code {server.returncode}."
            raise StepFailedError(message)
        try:
            urllib.request.urlopen(address, timeout=1).close()
        except (URLError, OSError):
            time.sleep(0.2)
        else:
            return
    message = f"The package index did not answer at {address} within {START_S:.0f} s."
    raise StepFailedError(message)


def upload(address: str, paths: Sequence[Path]) -> None:
    """Upload the files as a release would."""
    twine = (bin_of(TOOLS) / "twine", "upload", "--non-interactive", "--disable-progress-bar")
    run(LOG, *twine, "--repository-url", address, "--username", "any", "--password", "any", *paths)


def try_python(version: str, path: str, address: str) -> float:
    """Install `seeklab[course]` for one Python and use it; return the seconds that the installation took."""
    place = FOLDER / version
    shutil.rmtree(place, ignore_errors=True)
    start = time.monotonic()
    run(LOG, path, "-m", "venv", place / "venv")
    programs = bin_of(place / "venv")
    python = programs / "python"
    pinned = f"seeklab[course]=={project()['version']}"
    source = ("--index-url", f"{address}/simple/", "--prefer-binary")
    run(LOG, python, "-m", "pip", "install", *source, pinned)
    seconds = time.monotonic() - start
    _use(programs, place)
    return seconds


def _use(programs: Path, place: Path) -> None:
    seeklab = programs / "seeklab"
    own = {"XDG_CONFIG_HOME": str(place / "config"), "XDG_CACHE_HOME": str(place / "cache"), "PYTHONPATH": ""}

    def call(*words: str | Path, text: str | None = None, accepted: Sequence[int] = (0,)) -> str:
        command = [str(word) for word in (seeklab, *words)]
        done = subprocess.run(
            command, input=text, capture_output=True, text=True, cwd=place, env=environment(own), check=False
        )
        if done.returncode not in accepted:
            message = f"{' '.join(command)} ended with exit code {done.returncode}:\n{done.stderr}"
            raise StepFailedError(message)
        return done.stdout

    _check_versions(json.loads(call("version", "--json")))
    # 1 says that a fact misses; the case has one that does.
    facts = json.loads(call("facts", CASE, "--json", accepted=(0, 1)))
    if not any(fact["ok"] for fact in facts):
        message = f"No fact of {CASE} holds with the installed package."
        raise StepFailedError(message)
    call("course", "course", "--no-open")
    if not (place / "course" / NOTEBOOK).is_file():
        message = f"The installed package wrote no {NOTEBOOK}."
        raise StepFailedError(message)
    call("oncall", "--seed", "7", text="help\nquit\n")
    answer = json.loads(call("diagnose", "--json", text=IOSTAT))
    if not answer["readings"]:
        message = "The installed package found no reading in a report of iostat."
        raise StepFailedError(message)
    # Learners' copies have dots for solutions, so a notebook runs until its first task.
    run(LOG, programs / "python", "-c", FIRST_CELLS, place / "course" / NOTEBOOK, extra_environment=own)


def _check_versions(versions: dict[str, str]) -> None:
    if set(versions.values()) != {project()["version"]}:
        message = f"The package and its engine have the versions {versions}; expected {project()['version']} for both."
        raise StepFailedError(message)


FIRST_CELLS = """
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], as_version=4)
code = [cell for cell in notebook.cells if cell.cell_type == "code"][:2]
notebook.cells = code
NotebookClient(notebook, timeout=120).execute()
print(len(code), "cells ran")
"""


def rehearse() -> int:
    """Upload, install and use."""
    apply_all((RELEASE_TOOLS,))
    paths = files()
    pythons = interpreters()
    missing = [version for version in PYTHONS if version not in pythons]
    with index() as address:
        upload(address, paths)
        say(f"Uploaded {', '.join(path.name for path in paths)} to {address}.")
        for version, path in pythons.items():
            say(f"Python {version}: installed in {try_python(version, path, address):.0f} s, and works.")
    if missing:
        say(f"Not tried, because this machine does not have them: Python {', '.join(missing)}.")
    return 0


if __name__ == "__main__":
    if sys.platform == "win32":
        os.environ.setdefault("PYTHONUTF8", "1")
    main(rehearse)
