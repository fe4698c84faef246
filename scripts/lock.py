"""`make lock`: write requirements/*.txt (exact versions and hashes, for every platform) from requirements/*.in."""

from __future__ import annotations

import sys

from console import CACHE, ROOT, main, run, say

UV = "uv==0.13.8"
FOLDER = ROOT / "requirements"


def lock() -> None:
    """Resolve anew. A new version is taken only where the .in file or a fresh resolution asks for it."""
    tool = CACHE / "lock"
    run("lock", sys.executable, "-m", "venv", tool)
    run("lock", tool / "bin" / "pip", "install", UV)
    for source in sorted(FOLDER.glob("*.in")):
        target = source.with_suffix(".txt")
        run(
            "lock",
            *(tool / "bin" / "uv", "pip", "compile", "--universal", "--python-version", "3.11", "--generate-hashes"),
            *("--no-header", "--no-emit-index-url", "--no-emit-find-links", "--output-file", target.name, source.name),
            folder=FOLDER,
        )
        say(f"{target.relative_to(ROOT)} is up to date.")


if __name__ == "__main__":
    main(lock)
