"""Check the links of a folder of HTML pages: each leads to a file of the folder, and to a place in it."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from console import ROOT
from steps import DOCS_HTML, WEB

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

_ADDRESSES = {"a": "href", "link": "href", "img": "src", "script": "src"}


class _Page(HTMLParser):
    """The addresses that a page names, and the names that others can link to."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.anchors.update(name for key in ("id", "name") if (name := values.get(key)))
        address = values.get(_ADDRESSES.get(tag, ""))
        # A canonical address names the page itself, on a server that may not exist yet.
        if address and values.get("rel") != "canonical":
            self.addresses.append(address)


def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def check(folder: Path, outside: Collection[str] = (), *, leave_out: tuple[str, ...] = ()) -> tuple[list[str], int]:
    """Return the broken links as sentences, and the number of links.

    Addresses of other servers are not opened. `outside` lists files next to the folder that links may lead to,
    `leave_out` the starts of paths whose pages are not read.
    """
    pages = {
        path: _read(path)
        for path in sorted(folder.rglob("*.html"))
        if not path.relative_to(folder).as_posix().startswith(leave_out)
    }
    broken: list[str] = []
    checked = 0
    for path, page in pages.items():
        where = path.relative_to(folder)
        for address in page.addresses:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            checked += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.is_relative_to(folder):
                name = target.relative_to(folder.parent).as_posix() if target.is_relative_to(folder.parent) else ""
                if name not in outside:
                    broken.append(f"{where}: {address} leads to a page that the site does not have.")
            elif not target.is_file():
                broken.append(f"{where}: {address} leads to a file that does not exist.")
            # A fragment with a value is a run or a shift, which the page's script reads.
            elif (
                parts.fragment
                and "=" not in parts.fragment
                and target in pages
                and unquote(parts.fragment) not in pages[target].anchors
            ):
                broken.append(f"{where}: {address} leads to a place that its page does not have.")
    return broken, checked


def check_all() -> Iterator[tuple[Path, list[str], int]]:
    """Yield the folders of the documentation and of the site, each with its broken links and the number of links."""
    yield DOCS_HTML, *check(DOCS_HTML, site_pages())
    yield WEB / "dist", *check(WEB / "dist", leave_out=("lab/",))


def site_pages() -> set[str]:
    """Return the pages of the site that the documentation may link to: those of cases and notebooks, and fixed ones."""
    fixed = {path.name for path in (ROOT / "web").glob("*.html")} - {"case.html", "notebook.html"}
    cases = {f"{path.stem}.html" for path in (ROOT / "engine" / "cases").glob("*.toml")}
    notebooks = {f"{path.stem}.html" for path in (ROOT / "notebooks").glob("*.ipynb")}
    return {*fixed, *cases, *notebooks, "lab/notebooks/index.html", "lab/tree/index.html", "licences.txt"}
