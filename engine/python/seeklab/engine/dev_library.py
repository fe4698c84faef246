"""A checkout's cases and presets: what is edited there is used at once.

The library beside the engine's module is made by `make wasm`. Where a case has been edited since, the build tool reads
the folders again, which takes a moment and compiles nothing; what it gives is kept in the checkout's `.cache`. A wheel
has no such folders and nothing to compare.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

ENGINE = Path(__file__).resolve().parents[3]
"""The folder `engine` of the checkout, if this is one."""
LAST_BUILD_USED = "The edited cases and presets cannot be read; those of the last build are used."
TOOL_LIMIT_S = 60
CLOCK_STEP_NS = 10_000_000
"""File systems may take their times from a clock that lags by so much."""


def edited_library(built: Path, engine: Path = ENGINE) -> bytes | None:
    """Give the library of what now stands in the folder `engine`, or None when the one that was built is to be used."""
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
        _tell("Cases or presets have changed since the engine was built; the change is not used until `make wasm`.")
        return None
    kept = engine.parent / ".cache" / "library.json"
    if kept.is_file() and _changed(kept) > max(edited, _changed(built), _changed(tool)):
        return kept.read_bytes()
    return _read_again(tool, engine, kept)


def _tree(folder: Path) -> list[Path]:
    """List a folder and its files. The folder changes when a file goes."""
    return [folder, *folder.glob("*.toml")] if folder.is_dir() else []


def _changed(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:  # an editor's, gone since it was listed
        return 0


def _read_again(tool: Path, engine: Path, kept: Path) -> bytes | None:
    import subprocess
    import tempfile

    begun_ns = time.time_ns() - CLOCK_STEP_NS
    try:
        kept.parent.mkdir(exist_ok=True)
        # Several processes may do this at once: each writes a file of its own and puts it in place whole.
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
            os.utime(made, ns=(begun_ns, begun_ns))  # what is edited while the tool reads is later than this
            made.replace(kept)
    except subprocess.CalledProcessError as error:
        _tell(f"{error.stderr.decode(errors='replace').strip()}\n{LAST_BUILD_USED}")
        return None
    except (OSError, subprocess.TimeoutExpired) as error:
        _tell(f"The edited cases and presets could not be read ({error}); those of the last build are used.")
        return None
    return library


def _tell(text: str) -> None:
    print(text, file=sys.stderr)  # noqa: T201 -- a remark beside what was asked for
