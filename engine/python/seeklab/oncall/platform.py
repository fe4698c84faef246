"""Platforms of shifts: systems that several causes share, so that only looking tells which cause it is.

A platform is a TOML file: a healthy scenario, values that the seed draws whatever the cause, harmless oddities, and
causes, each a set of changes. No cause has code of its own. A bank is a file with further causes for the same
platforms, which a teacher keeps apart: `Bank.read` adds them.
"""

from __future__ import annotations

import copy
import random
import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from seeklab._case import validate
from seeklab._documents import UnreadableError, odd_value, read_toml
from seeklab._errors import Problem, SeeklabError
from seeklab.data.files import Kind, read_text, shown
from seeklab.oncall.incidents import Draw, Incident
from seeklab.oncall.printed import numbers
from seeklab.oncall.settings import PART
from seeklab.oncall.tools import TOOLS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from os import PathLike

BANK_FILE = Kind("a bank of causes (TOML) with tables [[causes]]", most_bytes=1 << 20, may_be_packed=False)
FOLDER = "platforms"
NEEDED = {
    "id": str,
    "platform": str,
    "cause": str,
    "set": dict,
    "fix": dict,
    "command": str,
    "tells": str,
    "tell": list,
}
OPTIONAL = {"draw": list, "worse": dict, "weight": int}
OF_A_CONDITION = {"look", "field", "above", "below", "equals"}
GET = "get "
USUAL_WEIGHT = 5
"""Programs that read or write too much have a smaller weight: one look at them tells a third of the causes apart."""


@dataclass(frozen=True)
class Condition:
    """A statement about one number of one look: it exists and is between two bounds, or has a value.

    A look is a command, or `get PATH`, whose only value has no `field`.
    """

    look: str
    field: str = ""
    above: float | None = None
    below: float | None = None
    equals: str | None = None

    def holds(self, printed: Callable[[str], str]) -> bool:
        """Return whether it holds for what the looks print."""
        text = printed(self.look)
        if self.equals is not None:
            return text.partition(" = ")[2].split()[:1] == [self.equals]
        found = numbers(text.partition(" = ")[2]) if self.look.startswith(GET) else numbers(text)
        value = next(iter(found.values()), None) if self.look.startswith(GET) else found.get(self.field)
        if value is None:
            return False
        return (self.above is None or value > self.above) and (self.below is None or value < self.below)


@dataclass(frozen=True)
class Worse:
    """How a cause gets worse: the factors of one of its drawn numbers, one for each stage after the first."""

    path: str
    times: tuple[float, ...]


@dataclass(frozen=True)
class Cause:
    """A cause on a platform."""

    id: str
    platform: str
    incident: Incident
    tell: tuple[Condition, ...]
    """The conditions behind the sentence `incident.tells`."""
    worse: Worse | None
    weight: int
    """How often it is drawn, compared with the others of its platform."""
    is_held_out: bool = False
    """Whether it comes from a bank."""


@dataclass(frozen=True)
class Oddity:
    """A value that looks odd and does no harm."""

    set: Mapping[str, Any]
    says: str


@dataclass(frozen=True)
class Platform:
    """A system that several causes share."""

    id: str
    title: str
    metric: str
    more_is_better: bool
    draws: tuple[Draw, ...]
    """Values that differ from shift to shift and tell nothing about the cause."""
    oddities: tuple[Oddity, ...]
    settable: tuple[str, ...]
    """Paths that can be set here besides the usual ones."""
    scenario: Mapping[str, Any]
    causes: tuple[Cause, ...]

    def numbers(self, source: random.Random) -> dict[str, Any]:
        """Draw the platform's own values, by path."""
        return drawn(self.draws, source)[0]

    def system(self, *changes: Mapping[str, Any]) -> dict[str, Any]:
        """Return the checked scenario with changes, by path; later ones win, and None removes a value."""
        scenario = copy.deepcopy(dict(self.scenario))
        for some in changes:
            for path, value in some.items():
                put(scenario, path, value)
        return validate(scenario)


def drawn(draws: tuple[Draw, ...], source: random.Random) -> tuple[dict[str, Any], dict[str, int]]:
    """Draw values; return them by path, with their units and as numbers."""
    values: dict[str, Any] = {}
    plain: dict[str, int] = {}
    for draw in draws:
        number = plain[draw.path] = draw.number(source, plain)
        values[draw.path] = draw.value(number)
    return values, plain


def changes_of(cause: Cause, seed: int, stage: int = 0) -> dict[str, Any]:
    """Return the differences that a cause makes on the shift of a seed, by path; `stage` counts from 0."""
    incident = cause.incident
    values, plain = drawn(incident.draw, random.Random(f"night {seed} {cause.id}"))
    if cause.worse and stage:
        path = cause.worse.path
        number = max(1, round(plain[path] * cause.worse.times[min(stage, len(cause.worse.times)) - 1]))
        values[path] = next(draw for draw in incident.draw if draw.path == path).value(number)
    return {**incident.set, **values}


def put(scenario: Any, path: str, value: Any) -> None:
    """Set a field by its path and create missing tables; None removes the field."""
    part = scenario
    *steps, last = path.split(".")
    for step in steps:
        found = PART.match(step)
        if not found:
            raise SeeklabError([Problem(path, "is not a path, such as jobs[app].rate")])
        name, which = found.groups()
        inner = part.setdefault(name, [] if which else {})
        part = next((one for one in inner if one.get("name") == which), None) if which else inner
        if not isinstance(part, dict):
            raise SeeklabError([Problem(path, f"leads nowhere: the platform has no {step}")])
    if value is None:
        part.pop(last, None)
    else:
        part[last] = copy.deepcopy(value)


@lru_cache
def platforms() -> Mapping[str, Platform]:
    """Return the platforms by name, in alphabetical order."""
    folder = resources.files("seeklab.oncall") / FOLDER
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda file: file.name)
    found = [_platform(file.name.removesuffix(".toml"), tomllib.loads(file.read_text("utf-8"))) for file in files]
    return {one.id: one for one in found}


def _platform(name: str, document: Mapping[str, Any]) -> Platform:
    of = {"metric": document["metric"], "more_is_better": document["better"] == "more"}
    return Platform(
        id=name,
        title=document["title"],
        draws=tuple(Draw(**entry) for entry in document.get("draw", ())),
        oddities=tuple(Oddity(**entry) for entry in document.get("odd", ())),
        settable=tuple(document.get("settable", ())),
        scenario=document["scenario"],
        causes=tuple(_cause({**entry, "platform": name}, of, is_held_out=False) for entry in document["causes"]),
        **of,
    )


def _cause(entry: Mapping[str, Any], of: Mapping[str, Any], *, is_held_out: bool) -> Cause:
    incident = Incident(
        cause=entry["cause"],
        case="",
        failing="",
        jobs=("app",),
        set=entry["set"],
        draw=tuple(Draw(**draw) for draw in entry.get("draw", ())),
        fix=entry["fix"],
        command=entry["command"],
        tells=entry["tells"],
        **of,
    )
    worse = entry.get("worse")
    return Cause(
        id=f"{entry['platform']}.{entry['id']}",
        platform=entry["platform"],
        incident=incident,
        tell=tuple(Condition(**condition) for condition in entry["tell"]),
        worse=Worse(worse["path"], tuple(worse["times"])) if worse else None,
        weight=entry.get("weight", USUAL_WEIGHT),
        is_held_out=is_held_out,
    )


@dataclass(frozen=True)
class Bank:
    """Causes that a teacher keeps apart from the package."""

    causes: tuple[Cause, ...]

    def of(self, platform: str) -> tuple[Cause, ...]:
        """Return the causes on a platform."""
        return tuple(cause for cause in self.causes if cause.platform == platform)


def read_bank(path: str | PathLike[str]) -> Bank:
    """Read a bank; raise SeeklabError with every problem found."""
    name = shown(path)
    try:
        document = read_toml(read_text(path, BANK_FILE))
    except UnreadableError as error:
        raise SeeklabError([Problem(name, f"{error}; pass {BANK_FILE.what}")]) from None
    odd = odd_value(document)
    entries = document.get("causes")
    if odd is not None:
        raise SeeklabError([Problem(odd[0], odd[1])])
    if not isinstance(entries, list) or not entries:
        raise SeeklabError([Problem(f"{name}: causes", "is missing; write tables [[causes]]")])
    problems = [problem for nth, entry in enumerate(entries) for problem in _problems(entry, f"causes[{nth}]")]
    if problems:
        raise SeeklabError(problems)
    causes = []
    for nth, entry in enumerate(entries):
        platform = platforms()[entry["platform"]]
        of = {"metric": platform.metric, "more_is_better": platform.more_is_better}
        cause = _cause(entry, of, is_held_out=True)
        try:
            platform.system(changes_of(cause, seed=1))
        except SeeklabError as error:
            raise SeeklabError([Problem(f"causes[{nth}].{one.path}", one.message) for one in error.problems]) from None
        causes.append(cause)
    return Bank(tuple(causes))


def _problems(entry: Any, place: str) -> list[Problem]:
    """Return what is wrong with one cause of a bank."""
    if not isinstance(entry, dict):
        return [Problem(place, "is not a table")]
    fields: dict[str, type] = {**NEEDED, **OPTIONAL}
    found = [Problem(f"{place}.{name}", "is missing") for name in NEEDED if name not in entry]
    found += [
        Problem(f"{place}.{name}", f"is not a field; accepted: {', '.join(fields)}")
        for name in entry
        if name not in fields
    ]
    kinds: dict[type, str] = {str: "a text", dict: "a table", list: "a list", int: "a whole number"}
    found += [
        Problem(f"{place}.{name}", f"is not {kinds[kind]}")
        for name, kind in fields.items()
        if name in entry and not isinstance(entry[name], kind)
    ]
    return found or _more_problems(entry, place)


def _is_look(look: Any) -> bool:
    return isinstance(look, str) and (look in TOOLS or look.startswith(GET))


def _more_problems(entry: Mapping[str, Any], place: str) -> list[Problem]:
    found = []
    if entry["platform"] not in platforms():
        found.append(Problem(f"{place}.platform", f"{entry['platform']!r} is not one of {', '.join(platforms())}"))
    if not _is_look(entry["command"]):
        found.append(Problem(f"{place}.command", f"{entry['command']!r} is not a command of the shell"))
    if not re.fullmatch(r"[a-z0-9-]+", entry["id"]):
        found.append(Problem(f"{place}.id", f"{entry['id']!r} is not a name of small letters, digits and -"))
    if entry.get("weight", USUAL_WEIGHT) < 1:
        found.append(Problem(f"{place}.weight", f"{entry['weight']} is not a whole number of at least 1"))
    earlier: list[str] = []
    for nth, draw in enumerate(entry.get("draw", ())):
        try:
            fits = Draw(**draw).is_possible(earlier)
        except (TypeError, ValueError):
            fits = False
        if not fits:
            found.append(Problem(f"{place}.draw[{nth}]", "cannot be drawn; write path with choose, or with range"))
            break
        earlier.append(draw["path"])
    for nth, condition in enumerate(entry["tell"]):
        is_one = isinstance(condition, dict) and {"look"} < set(condition) <= OF_A_CONDITION
        if not is_one or not _is_look(condition["look"]) or not {"above", "below", "equals"} & set(condition):
            found.append(Problem(f"{place}.tell[{nth}]", "needs look (a command), field, and above, below or equals"))
    return found + _worse_problems(entry, place, earlier)


def _worse_problems(entry: Mapping[str, Any], place: str, earlier: list[str]) -> list[Problem]:
    found = []
    worse = entry.get("worse")
    if worse is not None and (set(worse) != {"path", "times"} or worse["path"] not in earlier):
        found.append(Problem(f"{place}.worse", "needs path (of a draw) and times (a list of factors)"))
    return found
