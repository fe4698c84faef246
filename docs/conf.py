"""Settings of Sphinx for the documentation; `make docs` builds it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

import docs_pages
from version import UNKNOWN
from version import project as metadata

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_metadata = metadata()
project = "Seeklab"
author = _metadata["authors"][0]["name"]
release = version = _metadata["version"]
copyright = f"{author}; text under CC-BY-4.0"  # noqa: A001 -- Sphinx's name

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.doctest"]
exclude_patterns = ["instructor/hub"]
nitpicky = False

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
# Pages of the site around the documentation. `docs_pages.with_site_links` writes such links.
myst_url_schemes = {
    **dict.fromkeys(("http", "https", "mailto")),
    "site": "{{path}}",
    "lab": "{{path}}?{{query}}",
}
suppress_warnings = [
    "myst.header",  # a module's header may start at any level
    "ref.python",  # a field named like a built-in type
]

autodoc_default_options = {"members": True, "show-inheritance": True}
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = f"Seeklab {version}"
html_favicon = "../web/public/icon.svg"
html_show_sphinx = False
html_copy_source = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0072b2", "color-brand-content": "#0072b2"},
    "dark_css_variables": {"color-brand-primary": "#56b4e9", "color-brand-content": "#56b4e9"},
}

# One example reads the files of an invented drive.
doctest_global_setup = f"import os, seeklab; os.chdir({str(ROOT / 'engine' / 'validation')!r})"


def _site_links(_: Sphinx, page: str, content: list[str]) -> None:
    """Point links to files of the repository to pages of the site."""
    source = ROOT / "docs" / f"{page}.md"
    if page == "index" and not (ROOT / "SECURITY.md").exists():
        content[0] = content[0].replace("generated/security\n", "")
    if not page.startswith("generated/"):
        content[0] = docs_pages.with_site_links(content[0], source, page)


def _mark_code(_app: Sphinx, _what: str, _name: str, _item: object, _options: object, lines: list[str]) -> None:
    """Mark an indented block after an empty line as code, as Markdown does."""
    for at in range(len(lines) - 1, 1, -1):
        starts = lines[at].startswith("    ") and not lines[at - 1].strip() and lines[at - 2].strip()
        if starts and not lines[at - 2].startswith(" "):
            lines[at:at] = ["::", ""]


def setup(app: Sphinx) -> None:
    """Register the change of links, and the site's address if it is known."""
    import os

    address = os.environ.get("SEEKLAB_SITE") or _metadata["urls"]["Homepage"]
    if UNKNOWN not in address:
        app.config.html_baseurl = f"{address.rstrip('/')}/docs/"
    app.connect("source-read", _site_links)
    app.connect("autodoc-process-docstring", _mark_code)
