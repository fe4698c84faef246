"""The licences of the Rust crates in the engine's module: a text that ships next to the module, in wheel and site.

Cargo.lock names the crates, and Cargo's registry folder has their licence files. The list contains a few crates that
only run while the module is compiled, because Cargo.lock does not tell them apart.
"""

from __future__ import annotations

import os
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

from console import ROOT, StepFailedError

ENGINE = ROOT / "engine"
MODULE = "seeklab-wasm"
STANDARD_LIBRARY = ENGINE / "wasm" / "standard-library.txt"
"""Rust's standard library is part of the module too, but it is not a crate of Cargo.lock."""
STARTS = ("LICEN", "COPYING", "NOTICE", "COPYRIGHT", "UNLICEN")
"""How the names of licence files start, in capitals."""
ALTERNATIVES = ("APACHE", "UNLICENSE", "COPYING")
"""Other licences, not needed if the crate can also be used under the MIT licence."""


class Crate(NamedTuple):
    """A crate of another author, as Cargo.lock names it."""

    name: str
    version: str


def crates(engine: Path = ENGINE) -> list[Crate]:
    """Return the crates of others that the module is compiled from, sorted by name."""
    packages: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for package in _toml(engine / "Cargo.lock")["package"]:
        packages[package["name"]].append(package)
    own = {}
    for member in _toml(engine / "Cargo.toml")["workspace"]["members"]:
        manifest = _toml(engine / member / "Cargo.toml")
        own[manifest["package"]["name"]] = set(manifest.get("dependencies", {}))  # without those of its tests
    found: dict[Crate, bool] = {}
    waiting = [packages[MODULE][0]]
    while waiting:
        package = waiting.pop()
        crate = Crate(package["name"], package["version"])
        if crate in found:
            continue
        found[crate] = "source" in package
        for dependency in package.get("dependencies", []):
            name, _, version = dependency.partition(" ")
            if name in own.get(crate.name, {name}):
                waiting += [one for one in packages[name] if version.split(" ")[0] in {"", one["version"]}]
    return sorted(crate for crate, is_foreign in found.items() if is_foreign)


def notices() -> str:
    """Return the licences of all crates; those with the same text are listed together."""
    named: dict[str, list[str]] = defaultdict(list)
    for crate in crates():
        folder = _folder(crate)
        licence = _toml(folder / "Cargo.toml")["package"].get("license", "see below")
        named[_licence(folder)].append(f"{crate.name} {crate.version} ({licence})")
    parts = [f"## {', '.join(names)}\n\n{text}\n" for text, names in named.items()]
    head = "# Licences of the engine's module\n\nIt is compiled from Seeklab's own crates and from these:\n"
    return "\n".join([head, STANDARD_LIBRARY.read_text(encoding="utf-8"), *parts])


def _folder(crate: Crate) -> Path:
    home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    for folder in home.glob(f"registry/src/*/{crate.name}-{crate.version}"):
        return folder
    message = f"{home} has no sources of {crate.name} {crate.version}; run: cargo fetch (in engine/)"
    raise StepFailedError(message)


def _licence(folder: Path) -> str:
    paths = [path for path in sorted(folder.iterdir()) if path.is_file() and path.name.upper().startswith(STARTS)]
    if any("MIT" in path.name for path in paths):
        paths = [path for path in paths if not any(word in path.name.upper() for word in ALTERNATIVES)]
    if not paths:
        message = f"{folder.name} has no licence file; add its text to scripts/licences.py"
        raise StepFailedError(message)
    return "\n\n".join(path.read_text(encoding="utf-8").strip() for path in paths)


def _toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))
