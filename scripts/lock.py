"""`make lock`: write requirements/*.txt (exact versions and hashes, for every platform) from requirements/*.in."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from console import CACHE, ROOT, main, run, say
from steps import BROWSER_LOCK, BROWSER_PYTHON

if TYPE_CHECKING:
    from pathlib import Path

UV = "uv==0.13.8"
FOLDER = ROOT / "requirements"
BASE = "lab"
ON_TOP = ("hub", "test")
"""Lists that are installed together with the lab's; packages of the lab are removed from them."""
ANY_PLATFORM = ("--universal", "--python-version", "3.11")
# Pyodide's Python, and wheels only; the page itself provides the widgets' requirements.
IN_A_BROWSER = (
    *("--python-platform", "wasm32-pyodide2025", "--python-version", BROWSER_PYTHON, "--only-binary", ":all:"),
    *("--no-emit-package", "widgetsnbextension", "--no-emit-package", "jupyterlab-widgets"),
)


def lock() -> None:
    """Resolve the lists again. A version changes only if the .in file or a new resolution requires it."""
    tool = CACHE / "lock"
    run("lock", sys.executable, "-m", "venv", tool)
    run("lock", tool / "bin" / "pip", "install", UV)
    # The lab first, because the others keep its versions.
    for source in sorted(FOLDER.glob("*.in"), key=lambda path: (path.stem != "lab", path.stem)):
        target = source.with_suffix(".txt")
        run(
            "lock",
            *(tool / "bin" / "uv", "pip", "compile", "--generate-hashes"),
            *(IN_A_BROWSER if target == BROWSER_LOCK else ANY_PLATFORM),
            *("--no-header", "--no-emit-index-url", "--no-emit-find-links", "--output-file", target.name, source.name),
            folder=FOLDER,
        )
        base = _packages(FOLDER / f"{BASE}.txt") if source.stem in ON_TOP else {}
        lines = (line for locked, line in _packages(target).items() if locked not in base)
        target.write_text("".join(lines), encoding="utf-8")
        say(f"{target.relative_to(ROOT)} is up to date.")


def _packages(path: Path) -> dict[str, str]:
    """Return the packages of a list, each on one line with its dependents, by requirement and hashes."""
    packages = {}
    for text in re.findall(r"^[^\s#].*\n(?:[ \t].*\n)*", path.read_text(encoding="utf-8"), re.MULTILINE):
        locked, _, dependents = text.partition("# via")
        locked = " ".join(locked.replace("\\\n", " ").split())
        names = [name for line in dependents.splitlines() if (name := line.strip(" #"))]
        packages[locked] = f"{locked} # via {', '.join(names)}\n"
    return packages


if __name__ == "__main__":
    main(lock)
