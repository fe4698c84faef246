"""`make docs`: the documentation as a site of static pages, in `.cache/docs/html`; the site shows it under `docs/`.

Sphinx with MyST builds it, because one tool then reads docstrings, runs doctests, checks references and writes an
offline search. The pages of `docs/` are its sources. Pages that follow from code are in `docs/generated/`.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import docs_pages
import links
import machine
from console import CACHE, ROOT, StepFailedError, apply_all, main, run, say
from steps import DOCS, DOCS_HTML, DOCS_TOOLS, FOR_LAB, VENV_BIN

if TYPE_CHECKING:
    from pathlib import Path

LOG = "docs"
DOCTREES = CACHE / "docs" / "doctrees"


def build() -> str:
    """Write the generated pages, then the site; a warning is an error. Return its size as text."""
    docs_pages.write()
    shutil.rmtree(DOCS_HTML, ignore_errors=True)
    _sphinx("html", DOCS_HTML)
    return f"{sum(1 for _ in DOCS_HTML.rglob('*.html'))} pages"


def doctest() -> str:
    """Run the examples of pages and docstrings; return the line that counts them."""
    out = CACHE / "docs" / "doctest"
    _sphinx("doctest", out)
    report = (out / "output.txt").read_text(encoding="utf-8")
    return next(line.strip() for line in report.splitlines() if line.strip().endswith(" tests"))


def _sphinx(builder: str, out: Path) -> None:
    path = os.pathsep.join([str(DOCS_TOOLS), *filter(None, [os.environ.get("PYTHONPATH")])])
    program = (VENV_BIN / "python", "-B", "-m", "sphinx", "--fail-on-warning", "--keep-going", "--builder", builder)
    # The generated pages follow from all inputs, so nothing is kept from the last build.
    run(LOG, *program, "-E", "-d", DOCTREES, ROOT / "docs", out, extra_environment={"PYTHONPATH": path})


def docs() -> int:
    """Build the documentation, run its examples and check its links."""
    machine.require_for_lab()
    apply_all((*FOR_LAB, *DOCS))
    say(f"Examples: {doctest()}.")
    broken, checked = links.check(DOCS_HTML, outside=links.site_pages())
    for line in broken:
        say(line)
    say(f"{checked} links, {len(broken)} broken; {DOCS_HTML.relative_to(ROOT)}/index.html")
    if broken:
        message = f"{len(broken)} links of the documentation are broken."
        raise StepFailedError(message)
    return 0


if __name__ == "__main__":
    main(docs)
