"""Requirements of the machine: compilers and, for the tests, the real tools that results are compared with.

Missing tools are installed if no confirmation is needed (Debian packages as root, Rust's WebAssembly target). Otherwise
the reader gets one sentence with the tool and the command to install it.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import sys
import tomllib
from pathlib import Path

from console import ROOT, StepFailedError, capture, run, say

WASM_TARGET = "wasm32-unknown-unknown"

# Command -> Debian package.
BUILD_PACKAGES = {"cc": "build-essential"}
# The sandbox for learners' code; it exists only on Linux, and only grading needs it.
JAIL_PACKAGES = {"bwrap": "bubblewrap"} if sys.platform == "linux" else {}
TEST_PACKAGES = {"chromium": "chromium", "fio": "fio", "iostat": "sysstat", "bon_csv2txt": "bonnie++"}


def require_for_lab() -> None:
    """Make sure that the lab can be built here."""
    _require_rust()
    _require_node()
    _require_packages(BUILD_PACKAGES)
    _offer_packages(JAIL_PACKAGES, "`seeklab grade` needs it; the course does not.")
    _require_wasm_target()


def require_for_rust() -> None:
    """Make sure that the engine can be compiled and tested natively."""
    _require_rust()
    _require_packages(BUILD_PACKAGES)


def require_for_tests() -> None:
    """Make sure that everything can be tested here."""
    _require_rust()
    _require_node()
    _require_packages({**BUILD_PACKAGES, **JAIL_PACKAGES, **TEST_PACKAGES})
    _require_wasm_target()


def require_for_full() -> None:
    """Make sure that all complete checks can run here."""
    require_for_lab()
    _require_packages({**JAIL_PACKAGES, "chromium": "chromium"})


def require_for_bench() -> None:
    """Make sure that every host can be measured here."""
    require_for_lab()
    _require_packages({"chromium": "chromium", "valgrind": "valgrind"})


def _require_rust() -> None:
    manifest = tomllib.loads((ROOT / "engine" / "Cargo.toml").read_text())
    needed = manifest["workspace"]["package"]["rust-version"]
    found = capture("cargo", "--version")
    if found is None:
        message = (
            f"Rust {needed} or newer is needed, but cargo was not found; "
            "install it with rustup (rustup.rs), then try again."
        )
        raise StepFailedError(message)
    if _version(found) < _version(needed):
        message = f'Rust {needed} or newer is needed, but this is "{found}"; run "rustup update", then try again.'
        raise StepFailedError(message)


def _require_node() -> None:
    needed = json.loads((ROOT / "web" / "package.json").read_text())["engines"]["node"].lstrip(">=")
    found = capture("node", "--version")
    if found is None or capture("npm", "--version") is None:
        message = (
            f"Node {needed} or newer is needed, but node or npm was not found; "
            "install both (nodejs.org), then try again."
        )
        raise StepFailedError(message)
    if _version(found) < _version(needed):
        message = (
            f"Node {needed} or newer is needed, but this is {found}; install a newer one (nodejs.org), then try again."
        )
        raise StepFailedError(message)


def _require_wasm_target() -> None:
    library = capture("rustc", "--print", "target-libdir", "--target", WASM_TARGET)
    if library and any(Path(library).glob("libstd-*")):
        return
    if shutil.which("rustup") is None:
        message = (
            f"Rust's standard library for {WASM_TARGET} is missing, and there is no rustup to add it; "
            "install Rust with rustup (rustup.rs), then try again."
        )
        raise StepFailedError(message)
    say(f"Adding Rust's target {WASM_TARGET} ...")
    try:
        run("machine", "rustup", "target", "add", WASM_TARGET)
    except StepFailedError as failure:
        say(str(failure))
        message = f'rustup could not add the target; run "rustup target add {WASM_TARGET}" yourself, then try again.'
        raise StepFailedError(message) from None


def _require_packages(packages: dict[str, str]) -> None:
    missing = {command: package for command, package in packages.items() if shutil.which(command) is None}
    if importlib.util.find_spec("ensurepip") is None:
        missing["python3 -m venv"] = "python3-venv"
    if not missing:
        return
    names = sorted(set(missing.values()))
    by_hand = f"apt-get install {' '.join(names)}"
    if shutil.which("apt-get") is None:
        message = (
            f"These commands are missing: {', '.join(missing)}; install them (on Debian: {by_hand}), then try again."
        )
        raise StepFailedError(message)
    as_root: tuple[str, ...] = () if os.geteuid() == 0 else ("sudo", "-n")
    if as_root and capture("sudo", "-n", "true") is None:
        message = f'These commands are missing: {", ".join(missing)}; run "sudo {by_hand}", then try again.'
        raise StepFailedError(message)
    say(f"Installing {', '.join(names)} ...")
    apt = (*as_root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get")
    try:
        run("machine", *apt, "update")
        run("machine", *apt, "install", "--yes", "--no-install-recommends", *names)
    except StepFailedError as failure:
        say(str(failure))
        message = f'apt-get could not install {" ".join(names)}; run "{by_hand}" as root yourself, then try again.'
        raise StepFailedError(message) from None


def _offer_packages(packages: dict[str, str], why: str) -> None:
    """Install missing packages if no confirmation is needed; otherwise name them, and continue."""
    try:
        _require_packages(packages)
    except StepFailedError as failure:
        say(f"{failure} {why}")


def _version(text: str) -> tuple[int, ...]:
    found = re.search(r"\d+(\.\d+)+", text)
    return tuple(int(part) for part in found.group().split(".")) if found else (0,)
