"""What a stranger finds, trusts and installs: one version, licences, citation, bill of materials, workflows, links."""

from __future__ import annotations

import hashlib
import json
import re
import tarfile
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

import docs_pages
import links
import release
import sbom
import seeklab
import version
from console import ROOT, StepFailedError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GITHUB = ROOT / ".github"
CITATION = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
ZENODO: dict[str, Any] = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
CHANGES = "# Changelog\n\n## Unreleased\n\n- c\n\n## 0.3.0 - 2027-01-02\n\n- b\n\n## 0.2.0 - 2026-11-27\n\n- a\n"


def test_every_copy_of_the_version_is_that_of_pyproject() -> None:
    found = version.found()
    assert set().union(*found.values()) == {version.project()["version"]}
    for copy in version.COPIES:
        assert any(str(path.relative_to(ROOT)) in found for path in copy.paths()), copy
    assert seeklab.__version__ == version.project()["version"]


def test_the_version_and_the_people_are_written_to_each_copy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for copy in version.COPIES:
        for path in copy.paths():
            to = tmp_path / path.relative_to(ROOT)
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(path.read_bytes())
    for place in version.PEOPLE:
        to = tmp_path / place.file
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes((ROOT / place.file).read_bytes())
    (tmp_path / "CHANGELOG.md").write_text(CHANGES.replace("0.3.0", "98.7.6"), encoding="utf-8")
    files = {"ROOT": "", "CHANGELOG": "CHANGELOG.md", "CITATION": "CITATION.cff", "SOURCE": "pyproject.toml"}
    for name, file in files.items():
        monkeypatch.setattr(version, name, tmp_path / file)
    assert len(version.write("98.7.6")) == len(version.found())
    assert set().union(*version.found().values()) == {"98.7.6"}
    assert "date-released: 2027-01-02" in (tmp_path / "CITATION.cff").read_text(encoding="utf-8")
    assert version.write("98.7.6") == []

    source = tmp_path / "pyproject.toml"
    text = source.read_text(encoding="utf-8")
    text = re.sub(
        r"(?<=^authors = ).*$", '[{ name = "Zoë Ünal" }, { name = "Kim \\"K\\" Lee" }]', text, flags=re.MULTILINE
    )
    source.write_text(text.replace("security@seeklab.example", "report@host.test"), encoding="utf-8")
    changed = {str(path.relative_to(tmp_path)) for path in version.write("98.7.6")}
    assert changed == {"CITATION.cff", ".zenodo.json", "paper/paper.md", "SECURITY.md"}
    archive = json.loads((tmp_path / ".zenodo.json").read_text(encoding="utf-8"))
    assert [creator["name"] for creator in archive["creators"]] == ["Zoë Ünal", 'Kim "K" Lee']
    assert "Write to report@host.test, not" in (tmp_path / "SECURITY.md").read_text(encoding="utf-8")
    assert not any("report@" in sentence for sentence in version.unknown_addresses())
    assert version.write("98.7.6") == []


def test_the_changelog_dates_its_releases() -> None:
    newest, oldest = version.releases(CHANGES)
    assert (newest.version, newest.text, newest.epoch) == ("0.3.0", "- b", 1_798_848_000)
    assert (oldest.version, oldest.text) == ("0.2.0", "- a")
    assert version.releases()[0].version == version.project()["version"]


def test_a_version_without_an_entry_is_refused_with_the_heading_to_write() -> None:
    with pytest.raises(StepFailedError, match=r"has no part for 99\.0\.0; write its heading as ## 99\.0\.0 - 2"):
        version.release("99.0.0")


def test_a_release_leaves_no_change_unreleased() -> None:
    with pytest.raises(StepFailedError, match=r"Unreleased is not empty \(1 entries\)"):
        version.check_unreleased(CHANGES)
    version.check_unreleased(CHANGES.replace("- c\n\n", ""))


def test_the_bill_of_materials_names_every_locked_package() -> None:
    found = {package.key for package in sbom.locked()}
    for name in sbom.PYTHON_LOCKS:
        text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
        wanted = re.findall(r"^(\S+)==(\S+)", text, re.MULTILINE)
        assert wanted
        for package, number in wanted:
            assert ("pypi", package.lower().replace("_", "-").replace(".", "-"), number) in found, package
    cargo = tomllib.loads(sbom.CARGO_LOCK.read_text(encoding="utf-8"))["package"]
    foreign = {("cargo", one["name"], one["version"]) for one in cargo if not one["name"].startswith("seeklab-")}
    npm = json.loads(sbom.NPM_LOCK.read_text(encoding="utf-8"))["packages"]
    assert foreign <= found
    assert sum(key[0] == "npm" for key in found) > 100
    assert ("npm", "@observablehq/plot", npm["node_modules/@observablehq/plot"]["version"]) in found
    shipped = {package.name for package in sbom.locked() if package.kind == "npm" and package.is_shipped}
    assert "pyodide" in shipped
    assert "eslint" not in shipped


def test_cargo_and_npm_packages_have_the_digests_of_their_locks() -> None:
    lengths = {"SHA-256": 64, "SHA-512": 128}
    packages = [package for package in sbom.locked() if package.kind != "pypi"]
    assert all(package.digest for package in packages if package.kind == "cargo")
    for package in packages:
        if package.digest:
            assert len(package.digest[1]) == lengths[package.digest[0]]


def _citation(field: str) -> str:
    found = re.search(rf"^{field}: (.*)$", CITATION, re.MULTILINE)
    assert found, field
    return found[1].strip('"')


def test_the_citation_names_this_release() -> None:
    newest = version.releases()[0]
    assert _citation("version") == newest.version
    assert _citation("date-released") == str(newest.date)
    assert _citation("cff-version") == "1.2.0"


def test_citation_archive_and_package_agree() -> None:
    assert ZENODO["title"] == _citation("title")
    authors = [author["name"] for author in version.project()["authors"]]
    assert [creator["name"] for creator in ZENODO["creators"]] == authors
    assert re.findall(r"^  - name: (.*)$", CITATION, re.MULTILINE) == authors
    licences = set(version.project()["license"].split(" AND "))
    assert set(re.findall(r"[\w.-]+", _citation("license"))) == licences
    assert f"[{', '.join(ZENODO['keywords'])}]" == _citation("keywords")


def test_each_named_licence_has_its_text() -> None:
    reuse = tomllib.loads((ROOT / "REUSE.toml").read_text(encoding="utf-8"))
    named = {one for part in reuse["annotations"] for one in re.split(r" (?:AND|OR) ", part["SPDX-License-Identifier"])}
    assert {path.stem for path in (ROOT / "LICENSES").glob("*.txt")} == named
    assert (ROOT / "LICENSE").read_bytes() == (ROOT / "LICENSES" / "Apache-2.0.txt").read_bytes()
    assert "Creative Commons Attribution 4.0 International" in (ROOT / "LICENSES" / "CC-BY-4.0.txt").read_text()


def _used(text: str) -> Iterator[str]:
    yield from re.findall(r"uses: (\S+ # \S+|\S+)", text)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_has_no_rights_by_default_and_pins_each_action_by_digest(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert "\npermissions: {}\n" in text
    uses = list(_used(text))
    assert uses
    for use in uses:
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", use), use


def test_one_action_has_one_digest_in_all_workflows() -> None:
    seen = {use for path in WORKFLOWS for use in _used(path.read_text(encoding="utf-8"))}
    assert len({use.partition("@")[0] for use in seen}) == len(seen)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_runs_only_verbs_of_the_makefile(path: Path) -> None:
    (verbs,) = re.findall(r"^\.PHONY: help (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for command in re.findall(r"run: (.*)", path.read_text(encoding="utf-8")):
        if command.startswith("gh release create "):
            continue
        for verb in re.findall(r"^make (\S+)", command) or [command]:
            assert verb in {*verbs.split(), '"$VERB"'}, command
    for listed in re.findall(r"verb: \[(.*)\]", path.read_text(encoding="utf-8")):
        assert set(listed.split(", ")) <= set(verbs.split())


def test_links_of_community_files_lead_to_files() -> None:
    # The security page is written with the sandbox; until then only its place is known.
    for path in GITHUB.glob("*.md"):
        for address in re.findall(r"\]\((?!https?:|#)([^)#]+)", path.read_text(encoding="utf-8")):
            assert (path.parent / address).exists() or address == "../SECURITY.md", f"{path.name}: {address}"


def test_every_incident_has_the_day_of_its_addition() -> None:
    days = json.loads((ROOT / "web" / "vite" / "added.json").read_text(encoding="utf-8"))
    cases = {path.stem for path in (ROOT / "engine" / "cases").glob("*.toml")}
    assert set(days) == cases, "web/vite/added.json: write the day when the incident came to the site"
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", day) for day in days.values())


def test_every_variable_that_the_package_reads_is_documented() -> None:
    page = (ROOT / "docs" / "reference" / "environment.md").read_text(encoding="utf-8")
    sources = (ROOT / "engine" / "python" / "seeklab").rglob("*.py")
    named = {name for path in sources for name in re.findall(r'"(SEEKLAB_[A-Z]+(?:_[A-Z]+)*)"', path.read_text())}
    assert named
    for name in named:
        assert f"`{name}`" in page, name


PAGE = '<a href="{}">x</a><p id="here"></p>'


def test_a_broken_link_is_found_and_a_good_one_is_not(tmp_path: Path) -> None:
    site = tmp_path / "docs"
    (site / "sub").mkdir(parents=True)
    (site / "a.html").write_text(PAGE.format("sub/b.html#here"))
    (site / "sub" / "b.html").write_text(PAGE.format("../../case.html"))
    assert links.check(site, {"case.html"}) == ([], 2)
    assert links.check(site)[0] == ["sub/b.html: ../../case.html leads to a page that the site does not have."]
    (site / "a.html").write_text(PAGE.format("sub/b.html#there") + PAGE.format("c.html") + PAGE.format("https://x/"))
    broken, checked = links.check(site, {"case.html"})
    assert [line.partition(": ")[2] for line in broken] == [
        "sub/b.html#there leads to a place that its page does not have.",
        "c.html leads to a file that does not exist.",
    ]
    assert checked == 3


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("../engine/cases/odx-prefetch.toml", "[x](site:../odx-prefetch.html)"),
        ("../notebooks/01-the-missing-256-kib.ipynb", "[x](site:../01-the-missing-256-kib.html)"),
        ("terms.md#scenarios-and-runs", "[x](terms.md#scenarios-and-runs)"),
        ("../ARCHITECTURE.md", "[x](generated/architecture.md)"),
        ("https://example.org/a", "[x](https://example.org/a)"),
    ],
)
def test_a_link_to_a_file_leads_to_its_page(address: str, shown: str) -> None:
    text = f"see [x]({address})."
    assert docs_pages.with_site_links(text, ROOT / "docs" / "incidents.md", "incidents") == f"see {shown}."


def test_equal_folders_make_equal_archives(tmp_path: Path) -> None:
    digests = []
    for name in ("one", "two"):
        folder = tmp_path / name
        (folder / "sub").mkdir(parents=True)
        for file in ("sub/b", "a") if name == "one" else ("a", "sub/b"):
            (folder / file).write_text(file)
        packed = release.pack(folder, tmp_path / f"{name}.tar.gz", "top", 1_795_737_600)
        digests.append(hashlib.sha256(packed.read_bytes()).hexdigest())
    assert digests[0] == digests[1]
    with tarfile.open(tmp_path / "one.tar.gz") as archive:
        assert archive.getnames() == ["top/a", "top/sub/b"]


def test_the_sums_are_those_that_sha256sum_checks(tmp_path: Path) -> None:
    (tmp_path / "python").mkdir()
    (tmp_path / "python" / "x.whl").write_bytes(b"x")
    release.write_sums(tmp_path)
    digest = hashlib.sha256(b"x").hexdigest()
    assert (tmp_path / "SHA256SUMS").read_text() == f"{digest}  python/x.whl\n"
