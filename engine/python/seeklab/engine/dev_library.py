"""A checkout's cases and presets: edits are used without a build.

`make wasm` builds the library next to the engine's module. If a case was edited since, the build tool reads the folders
again, which takes a moment and compiles nothing; its output is kept in the checkout's `.cache`. A wheel has no such
folders, so nothing is compared.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

ENGINE = Path(__file__).resolve().parents[3]
"""The folder `engine` of the checkout, if this is one."""
LAST_BUILD_USED = "The edited cases and presets cannot be read; the last build is used."
TOOL_LIMIT_S = 60
CLOCK_STEP_NS = 10_000_000
"""File systems may take their times from a clock that lags by up to this time."""


def edited_library(built: Path, engine: Path = ENGINE) -> bytes | None:
    """Return the library of the current files in the folder `engine`, or None if the built one is current."""
    families = engine / "families.toml"
    if not (families.is_file() and built.is_file()):
        return None
    edited = max(
        _changed(path)
        for path in (families, engine / "ranges.json", *_tree(engine / "cases"), *_tree(engine / "presets"))
    )
    if edited <= _changed(built):
        return None
    tool = Path(os.environ.get("CARGO_TARGET_DIR") or engine / "target") / "debug" / "seeklab-tool"
    if not tool.is_file():
        _tell("Cases or presets changed since the last build. Run `make wasm` to use the changes.")
        return None
    kept = engine.parent / ".cache" / "library.json"
    if kept.is_file() and _changed(kept) > max(edited, _changed(built), _changed(tool)):
        return kept.read_bytes()
    return _read_again(tool, engine, kept)


def _tree(folder: Path) -> list[Path]:
    """Return a folder and its files; removing a file changes the folder's own time."""
    return [folder, *folder.glob("*.toml")] if folder.is_dir() else []


def _changed(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:  # an editor's temporary file, removed since it was listed
        return 0


def _read_again(tool: Path, engine: Path, kept: Path) -> bytes | None:
    import subprocess
    import tempfile

    begun_ns = time.time_ns() - CLOCK_STEP_NS
    try:
        kept.parent.mkdir(exist_ok=True)
        # Several processes may do this at the same time: each writes its own file and moves it into place.
        with tempfile.TemporaryDirectory(dir=kept.parent, prefix="library-") as folder:
            made = Path(folder, "library.json")
            subprocess.run(  # noqa: S603 -- the build's own tool
                (tool, "library", "--from", engine, "--out", made),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=TOOL_LIMIT_S,
                check=True,
            )
            library = made.read_bytes()
            os.utime(made, ns=(begun_ns, begun_ns))  # so that files edited while the tool reads count as newer
            made.replace(kept)
    except subprocess.CalledProcessError as error:
        _tell(f"{error.stderr.decode(errors='replace').strip()}\n{LAST_BUILD_USED}")
        return None
    except (OSError, subprocess.TimeoutExpired) as error:
        _tell(f"The edited cases and presets could not be read ({error}); the last build is used.")
        return None
    return library


def _tell(text: str) -> None:
    print(text, file=sys.stderr)  # noqa: T201 -- a note beside the requested output
