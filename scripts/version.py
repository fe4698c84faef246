"""The version and the people: `pyproject.toml` has them, and `write` copies them to the files that cannot read it.

A release is dated in the changelog. That date is also the time stamp of every file in its archives, so two builds of
one release are equal.
"""

from __future__ import annotations

import datetime as dt
import json
import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from console import ROOT, StepFailedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SOURCE = ROOT / "pyproject.toml"
CHANGELOG = ROOT / "CHANGELOG.md"
CITATION = ROOT / "CITATION.cff"
NUMBER = r"\d+\.\d+\.\d+"
UNKNOWN = ".example"
"""The end of a host's name that is reserved for documentation: an address with it does not exist yet."""


@dataclass(frozen=True)
class Copy:
    """Places of a file that repeat the version."""

    files: str
    """A pattern of paths."""
    before: str
    """A pattern of the text in front of the version."""

    def paths(self) -> Iterator[Path]:
        """Yield the files."""
        yield from sorted(ROOT.glob(self.files))

    @property
    def pattern(self) -> re.Pattern[str]:
        """Return a pattern that matches the version alone."""
        return re.compile(rf"({self.before})({NUMBER})", re.MULTILINE)


COPIES = (
    Copy("pyproject.toml", r'^version = "'),
    Copy("engine/python/seeklab/__init__.py", r'^__version__ = "'),
    Copy("engine/Cargo.toml", r'^\[workspace\.package\]\nversion = "'),
    Copy("engine/Cargo.lock", r'^name = "seeklab-[a-z]+"\nversion = "'),
    Copy("engine/fuzz/Cargo.lock", r'^name = "seeklab-(?!fuzz")[a-z]+"\nversion = "'),
    Copy("CITATION.cff", r"^version: "),
    Copy("binder/requirements.txt", r"^seeklab\[course\]=="),
    Copy("conda/recipe.yaml", r'^  version: "'),
    Copy("notebooks/*.ipynb", r"\bseeklab-"),  # the first line of fio's output
)


def _setting(name: str) -> Callable[[dict[str, Any]], str]:
    return lambda _: str(tomllib.loads(SOURCE.read_text(encoding="utf-8"))["tool"]["seeklab"][name])


@dataclass(frozen=True)
class People:
    """A place that repeats who wrote or maintains the project."""

    file: str
    place: str
    """A pattern of the text to replace."""
    text: Callable[[dict[str, Any]], str]
    """Return the new text from the table `project`."""


PEOPLE = (
    People("CITATION.cff", r"(?<=^authors:\n)(?:  - name: .*\n)+", lambda table: _lines(table, "  - name: {}\n")),
    People(".zenodo.json", r'(?<="creators": )\[.*\]', lambda table: f"[{_lines(table, '{}', _creator, ', ')}]"),
    People(
        "paper/paper.md",
        r"(?<=^authors:\n)(?:  - name: .*\n    affiliation: 1\n)+",
        lambda table: _lines(table, "  - name: {}\n    affiliation: 1\n"),
    ),
    People("paper/paper.md", r"(?<=^affiliations:\n  - name: ).*", _setting("affiliation")),
    People("conda/recipe.yaml", r"(?<=^  recipe-maintainers:\n    - ).*", _setting("account")),
    People("SECURITY.md", r"(?<=^Write to )\S+@\S+(?=,)", lambda table: str(table["maintainers"][0]["email"])),
)


def _creator(name: str) -> str:
    return f'{{ "name": {json.dumps(name, ensure_ascii=False)} }}'


def _lines(table: dict[str, Any], form: str, write_name: Callable[[str], str] = str, between: str = "") -> str:
    return between.join(form.format(write_name(author["name"])) for author in table["authors"])


@dataclass(frozen=True)
class Release:
    """A part of the changelog."""

    version: str
    date: dt.date
    text: str

    @property
    def epoch(self) -> int:
        """Return the start of its day in UTC, in seconds: the value of SOURCE_DATE_EPOCH."""
        return int(dt.datetime.combine(self.date, dt.time(), dt.UTC).timestamp())


def project() -> dict[str, Any]:
    """Return the table `project` of pyproject.toml."""
    table: dict[str, Any] = tomllib.loads(SOURCE.read_text(encoding="utf-8"))["project"]
    return table


def found() -> dict[str, set[str]]:
    """Return the versions that each file repeats."""
    return {
        str(path.relative_to(ROOT)): versions
        for copy in COPIES
        for path in copy.paths()
        if (versions := {version for _, version in copy.pattern.findall(path.read_text(encoding="utf-8"))})
    }


def write(version: str) -> list[Path]:
    """Write the version and the people to all files; return those that changed."""
    changed: list[Path] = []

    def put(path: Path, old: str, new: str) -> None:
        if new != old:
            path.write_text(new, encoding="utf-8")
            changed.append(path)

    table = project()
    for place in PEOPLE:
        path = ROOT / place.file
        text = path.read_text(encoding="utf-8")
        people = place.text(table)
        found = list(re.finditer(place.place, text, re.MULTILINE))
        if len(found) != 1:
            message = f"{place.file}: {len(found)} places match {place.place}; expected one."
            raise StepFailedError(message)
        put(path, text, text[: found[0].start()] + people + text[found[0].end() :])
    for copy in COPIES:
        for path in copy.paths():
            text = path.read_text(encoding="utf-8")
            put(path, text, copy.pattern.sub(rf"\g<1>{version}", text))
    text = CITATION.read_text(encoding="utf-8")
    dated = f"date-released: {release(version).date}"
    put(CITATION, text, re.sub(r"^date-released: .*$", dated, text, flags=re.MULTILINE))
    return list(dict.fromkeys(changed))


def releases(text: str | None = None) -> list[Release]:
    """Return the dated parts of the changelog, newest first."""
    text = CHANGELOG.read_text(encoding="utf-8") if text is None else text
    parts = re.split(rf"^## ({NUMBER}) - (\d{{4}}-\d\d-\d\d)$", text, flags=re.MULTILINE)[1:]
    return [
        Release(number, dt.date.fromisoformat(date), body.strip())
        for number, date, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    ]


def check_unreleased(text: str | None = None) -> None:
    """Refuse a changelog whose part Unreleased still lists changes: the release would contain them."""
    text = CHANGELOG.read_text(encoding="utf-8") if text is None else text
    part = re.search(r"^## Unreleased\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    lines = re.findall(r"^- ", part[1] if part else "", re.MULTILINE)
    if lines:
        message = f"CHANGELOG.md: Unreleased is not empty ({len(lines)} entries); move them to the release's part."
        raise StepFailedError(message)


def release(version: str) -> Release:
    """Return the version's part of the changelog."""
    for one in releases():
        if one.version == version:
            if not one.text:
                message = f"CHANGELOG.md: the part ## {version} is empty; list what a user notices."
                raise StepFailedError(message)
            return one
    today = dt.datetime.now(dt.UTC).date()
    message = f"CHANGELOG.md has no part for {version}; write its heading as ## {version} - {today}, below Unreleased."
    raise StepFailedError(message)


def unknown_addresses() -> list[str]:
    """Return the addresses of pyproject.toml that do not exist yet, as sentences."""
    table = project()
    addresses = {f"urls.{name}": address for name, address in table["urls"].items()}
    addresses["maintainers[0].email"] = table["maintainers"][0]["email"]
    return [
        f'pyproject.toml: project.{name} is "{address}"; write the real address.'
        for name, address in addresses.items()
        if f"{UNKNOWN}/" in f"{address}/"
    ]
