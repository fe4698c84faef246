"""`make lock`: write requirements/*.txt (exact versions and hashes, for every platform) from requirements/*.in."""

from __future__ import annotations

import sys

from console import CACHE, ROOT, main, run, say
from steps import BROWSER_LOCK, BROWSER_PYTHON

UV = "uv==0.13.8"
FOLDER = ROOT / "requirements"
ANY_PLATFORM = ("--universal", "--python-version", "3.11")
# Pyodide's Python, and wheels alone; the page itself has what widgets need in a page.
IN_A_BROWSER = (
    *("--python-platform", "wasm32-pyodide2025", "--python-version", BROWSER_PYTHON, "--only-binary", ":all:"),
    *("--no-emit-package", "widgetsnbextension", "--no-emit-package", "jupyterlab-widgets"),
)


def lock() -> None:
    """Resolve anew. A new version is taken only where the .in file or a fresh resolution asks for it."""
    tool = CACHE / "lock"
    run("lock", sys.executable, "-m", "venv", tool)
    run("lock", tool / "bin" / "pip", "install", UV)
    # The lab first: the others keep to its versions.
    for source in sorted(FOLDER.glob("*.in"), key=lambda path: (path.stem != "lab", path.stem)):
        target = source.with_suffix(".txt")
        run(
            "lock",
            *(tool / "bin" / "uv", "pip", "compile", "--generate-hashes"),
            *(IN_A_BROWSER if target == BROWSER_LOCK else ANY_PLATFORM),
            *("--no-header", "--no-emit-index-url", "--no-emit-find-links", "--output-file", target.name, source.name),
            folder=FOLDER,
        )
        say(f"{target.relative_to(ROOT)} is up to date.")


if __name__ == "__main__":
    main(lock)
