"""`make dist`: the static site in dist/site and the wheel in dist/."""

from __future__ import annotations

import shutil

import machine
from console import ROOT, apply_all, main, run, say
from steps import DIST, FOR_SITE, WEB

COMPRESS = ROOT / "scripts" / "compress.mjs"


def dist() -> None:
    """Build both and print their paths."""
    machine.require_for_lab()
    apply_all(FOR_SITE)
    site = DIST / "site"
    shutil.rmtree(site, ignore_errors=True)
    shutil.copytree(WEB / "dist", site)
    run("compress", "node", COMPRESS, site)
    for path in (site, *DIST.glob("seeklab-*.whl")):
        say(str(path.relative_to(ROOT)))


if __name__ == "__main__":
    main(dist)
