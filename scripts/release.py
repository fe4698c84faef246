"""`make release VERSION=1.2.3`: check, write the version, build all files of a release, and rehearse their upload.

It publishes nothing. `dist/release` then has the wheel and the sdist (`python/`), the site, the bill of materials, the
notes, a conda recipe and SHA256SUMS. The last lines say how to publish.

`make test` must have passed for this commit; `TESTS=run` runs it here. `TESTS=skip` is for trials, and the result says
that it is one.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import re
import shutil
import tarfile
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import audit
import links
import machine
import rehearse
import version
from console import ROOT, StepFailedError, apply_all, capture, main, run, say, stream
from docs import doctest
from stages import TESTED
from steps import BROWSER_COURSE, DIST, FOR_SITE, SITE, VENV_BIN, WEB, WHEEL
from tools import CITATION, RELEASE_TOOLS, TOOLS, bin_of

if TYPE_CHECKING:
    from collections.abc import Iterable

FOLDER = DIST / "release"
LOG = "release"
TEST_LIMIT_S = 4 * 3600.0


def release() -> int:
    """Check, build, rehearse."""
    number = os.environ.get("VERSION", "")
    if not re.fullmatch(version.NUMBER, number):
        message = f'VERSION is "{number}"; write three numbers, as in make release VERSION=0.2.0.'
        raise StepFailedError(message)
    version.check_unreleased()
    entry = version.release(number)
    trial = [*_check_tree(number), *_check_tests(), *version.unknown_addresses()]
    changed = version.write(number)
    if changed:
        say(f"Wrote version {number} to {', '.join(str(path.relative_to(ROOT)) for path in changed)}.")
        say("Commit these files, then run the command again.")
        return 1
    machine.require_for_lab()
    apply_all((*FOR_SITE, RELEASE_TOOLS, CITATION))
    say(f"Examples of the documentation: {doctest()}.")
    _check_links()
    build(entry)
    failed = audit.run_checks([*audit.linters(), _check_sdist()])
    if failed:
        message = f"{len(failed)} checks failed: {', '.join(failed)}."
        raise StepFailedError(message)
    _check_reproducible(entry)
    rehearse.rehearse()
    _say_next(number, trial)
    return 0


def _check_tree(number: str) -> list[str]:
    status = capture("git", "status", "--porcelain")
    if status is None:
        message = "This is not a git clone; a release needs one."
        raise StepFailedError(message)
    if status:
        message = f"These files differ from the commit; commit or remove them:\n{status}"
        say(message)
        raise StepFailedError(message.splitlines()[0])
    tag = capture("git", "rev-parse", "--verify", "--quiet", f"refs/tags/v{number}^{{commit}}")
    if tag is not None and tag != capture("git", "rev-parse", "HEAD"):
        message = f"The tag v{number} exists at another commit; choose the next version."
        raise StepFailedError(message)
    return []


def _check_tests() -> list[str]:
    wanted = os.environ.get("TESTS", "")
    head = capture("git", "rev-parse", "HEAD")
    if TESTED.exists() and TESTED.read_text() == head:
        return []
    if wanted == "run":
        outcome = stream("release-tests", (ROOT / "scripts" / "run", "test"), ROOT, TEST_LIMIT_S)
        if outcome.code != 0:
            message = "make test failed; fix what it names, then run the command again."
            raise StepFailedError(message)
        return []
    if wanted == "skip":
        return ["TESTS=skip: make test did not run for this commit."]
    message = "make test has not passed for this commit; run it, or add TESTS=run."
    raise StepFailedError(message)


def _check_links() -> None:
    for folder, broken, checked in links.check_all():
        for line in broken:
            say(line)
        if broken:
            message = f"{len(broken)} links of {folder.relative_to(ROOT)} are broken."
            raise StepFailedError(message)
        say(f"{folder.relative_to(ROOT)}: {checked} links, none broken.")


def build(entry: version.Release) -> None:
    """Write all files of the release."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    python = FOLDER / "python"
    python.mkdir(parents=True)
    for wheel in DIST.glob(f"seeklab-{entry.version}-*.whl"):
        shutil.copy2(wheel, python)
    build_sdist(python, entry)
    pack(WEB / "dist", FOLDER / f"seeklab-site-{entry.version}.tar.gz", f"seeklab-site-{entry.version}", entry.epoch)
    bom = FOLDER / f"seeklab-{entry.version}.cdx.json"
    run(LOG, bin_of(TOOLS) / "python", "-B", ROOT / "scripts" / "sbom.py", bom)
    (FOLDER / "NOTES.md").write_text(entry.text + "\n", encoding="utf-8")
    _write_recipe(next(python.glob("*.tar.gz")))
    write_sums(FOLDER)


def build_sdist(into: Path, entry: version.Release) -> Path:
    """Write the source archive: the Python package with the built engine, so that installing it needs no compiler."""
    with tempfile.TemporaryDirectory() as place:
        code = f"from setuptools.build_meta import build_sdist; build_sdist({place!r})"
        run(LOG, VENV_BIN / "python", "-B", "-c", code)
        (built,) = Path(place).glob("*.tar.gz")
        inner = Path(place) / "inner"
        with tarfile.open(built) as archive:
            archive.extractall(inner, filter="data")
        (top,) = inner.iterdir()
        return pack(top, into / built.name, top.name, entry.epoch)


def pack(folder: Path, into: Path, name: str, epoch: int) -> Path:
    """Pack a folder so that equal contents make equal archives: in order, with one date, without owners."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_dir():
                continue
            info = tarfile.TarInfo(f"{name}/{path.relative_to(folder).as_posix()}")
            content = path.read_bytes()
            info.size, info.mtime, info.mode = len(content), epoch, 0o644
            archive.addfile(info, io.BytesIO(content))
    with into.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=epoch) as packed:
        packed.write(raw.getvalue())
    return into


def _write_recipe(sdist: Path) -> None:
    text = (ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    digest = hashlib.sha256(sdist.read_bytes()).hexdigest()
    (FOLDER / "recipe.yaml").write_text(re.sub(r"(?<=sha256: )0{64}", digest, text), encoding="utf-8")


def write_sums(folder: Path) -> None:
    """Write the digest of each file, in the form that `sha256sum --check` reads."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "SHA256SUMS")
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder).as_posix()}" for path in paths
    ]
    (folder / "SHA256SUMS").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _check_sdist() -> audit.Check:
    return audit.Check("sdist (twine)", (bin_of(TOOLS) / "twine", "check", "--strict", *sdists()))


def sdists() -> Iterable[Path]:
    """Return the source archives of the release."""
    return (FOLDER / "python").glob("*.tar.gz")


def _check_reproducible(entry: version.Release) -> None:
    """Build the wheel, the sdist and the site again, and compare. The engine's module is compiled once."""
    first = {path.name: path.read_bytes() for path in (FOLDER / "python").iterdir()} | _site()
    for step in (WHEEL, BROWSER_COURSE, SITE):
        step.work()
    with tempfile.TemporaryDirectory() as place:
        build_sdist(Path(place), entry)
        built = (*Path(place).iterdir(), *DIST.glob("seeklab-*.whl"))
        again = {path.name: path.read_bytes() for path in built} | _site()
    differing = sorted(name for name in first.keys() | again.keys() if again.get(name) != first.get(name))
    if differing:
        message = f"A second build differs: {', '.join(differing[:20])}."
        raise StepFailedError(message)
    say(f"A second build is equal: {len(first)} files of the wheel, the sdist and the site.")


def _site() -> dict[str, bytes]:
    folder = WEB / "dist"
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).digest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def _say_next(number: str, trial: list[str]) -> None:
    say()
    for path in sorted(path for path in FOLDER.rglob("*") if path.is_file()):
        say(f"{path.stat().st_size / 1e6:8.2f} MB  {path.relative_to(ROOT)}")
    if trial:
        say("\nThis was a trial:")
        for line in trial:
            say(f"- {line}")
        return
    say(
        f"\nTo publish, push the tag; the workflow release.yml does the rest:\n\n"
        f"    git tag v{number} && git push origin v{number}"
    )


if __name__ == "__main__":
    main(release)
