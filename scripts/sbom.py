"""The bill of materials of a release, in CycloneDX's JSON: every package that the locks name.

`python sbom.py FILE` writes it; that needs cyclonedx-python-lib from the environment of `tools.py`. A package that the
site or the wheel does not contain, such as a linter, has the scope *excluded*.
"""

from __future__ import annotations

import base64
import datetime as dt
import json
import re
import sys
import tomllib
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from console import ROOT
from version import project, releases

if TYPE_CHECKING:
    from collections.abc import Iterator

PYTHON_LOCKS = ("lab", "browser", "lite")
"""Locks in `requirements/` whose packages users install, or that the site contains."""
CARGO_LOCK = ROOT / "engine" / "Cargo.lock"
NPM_LOCK = ROOT / "web" / "package-lock.json"


@dataclass(frozen=True)
class Package:
    """A package of a lock."""

    kind: str
    """Its registry, as package URLs name it: pypi, cargo, npm."""
    name: str
    version: str
    lock: str
    is_shipped: bool = True
    digest: tuple[str, str] | None = None
    """Algorithm and hexadecimal digest of its one archive, if there is one."""

    @property
    def key(self) -> tuple[str, str, str]:
        """Return what a package URL names."""
        return (self.kind, self.name, self.version)


def locked() -> list[Package]:
    """Return every package of the locks once, in order; a package that is shipped anywhere counts as shipped."""
    found: dict[tuple[str, str, str], Package] = {}
    for package in (*_python(), *_cargo(), *_npm()):
        known = found.get(package.key)
        if known is None or (package.is_shipped and not known.is_shipped):
            found[package.key] = package
    return [found[key] for key in sorted(found)]


def _python() -> Iterator[Package]:
    for name in PYTHON_LOCKS:
        text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
        for package, version in re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", text, re.MULTILINE):
            yield Package("pypi", re.sub(r"[-_.]+", "-", package).lower(), version, f"requirements/{name}.txt")


def _cargo() -> Iterator[Package]:
    for one in tomllib.loads(CARGO_LOCK.read_text(encoding="utf-8"))["package"]:
        if "source" in one:  # without one, it is a crate of this repository
            yield Package(
                "cargo", one["name"], one["version"], "engine/Cargo.lock", digest=("SHA-256", one["checksum"])
            )


def _npm() -> Iterator[Package]:
    for path, one in json.loads(NPM_LOCK.read_text(encoding="utf-8"))["packages"].items():
        if not path:
            continue
        name = one.get("name") or path.rpartition("node_modules/")[2]
        algorithm, _, value = one.get("integrity", "").partition("-")
        digest = ("SHA-512", base64.b64decode(value).hex()) if algorithm == "sha512" else None
        yield Package("npm", name, one["version"], "web/package-lock.json", not one.get("dev", False), digest)


def write(path: Path) -> int:
    """Write the bill, check it against CycloneDX's schema, and return the number of packages."""
    from cyclonedx.model import HashAlgorithm, HashType, Property
    from cyclonedx.model.bom import Bom
    from cyclonedx.model.component import Component, ComponentScope, ComponentType
    from cyclonedx.output.json import JsonV1Dot6
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator
    from packageurl import PackageURL

    newest = releases()[0]
    bom = Bom()
    # Two bills of one release are equal.
    bom.metadata.timestamp = dt.datetime.fromtimestamp(newest.epoch, dt.UTC)
    bom.serial_number = uuid.uuid5(uuid.NAMESPACE_URL, f"pkg:pypi/seeklab@{project()['version']}")
    own = PackageURL("pypi", None, "seeklab", project()["version"])
    bom.metadata.component = Component(
        name="seeklab", version=project()["version"], type=ComponentType.APPLICATION, purl=own, bom_ref=str(own)
    )
    packages = locked()
    for one in packages:
        namespace, _, name = one.name.rpartition("/")
        purl = PackageURL(one.kind, namespace or None, name, one.version)
        bom.components.add(
            Component(
                name=one.name,
                version=one.version,
                type=ComponentType.LIBRARY,
                scope=ComponentScope.REQUIRED if one.is_shipped else ComponentScope.EXCLUDED,
                purl=purl,
                bom_ref=str(purl),
                hashes=[HashType(alg=HashAlgorithm(one.digest[0]), content=one.digest[1])] if one.digest else [],
                properties=[Property(name="seeklab:lock", value=one.lock)],
            )
        )
    bom.register_dependency(bom.metadata.component, bom.components)
    text = JsonV1Dot6(bom).output_as_string(indent=1)
    problems = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if problems is not None:
        raise ValueError(str(problems))
    path.write_text(text + "\n", encoding="utf-8")
    return len(packages)


if __name__ == "__main__":
    print(f"{write(Path(sys.argv[1]))} packages")
