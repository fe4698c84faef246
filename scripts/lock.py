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
"""Lists installed together with the lab's: what that one has is left out of them."""
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
        if source.stem in ON_TOP:
            base = _packages(FOLDER / f"{BASE}.txt")
            added = (text for package, text in _packages(target).items() if package not in base)
            target.write_text("".join(added), encoding="utf-8")
        say(f"{target.relative_to(ROOT)} is up to date.")


def _packages(path: Path) -> dict[str, str]:
    """Return the text of each package in a list, by its requirement and hashes: who asks for it does not count."""
    texts = re.findall(r"^\S.*\n(?:[ \t].*\n)*", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[ \\\\]*\n[ \t]*", "\n", text.partition("    # via")[0]).strip(): text for text in texts}


if __name__ == "__main__":
    main(lock)
