"""A learner's own incident: a case file with a table `[shift]`, read strictly, for a peer to diagnose.

The file has the format of the library's cases (`[scenario]`, `[[variants]]`, `[shift]`). Any library case with one
shift can be played unchanged. A learner's table has more fields: the variant of the healthy system, wrong causes, a
ticket and an author. The system is exactly the author's, but jobs and devices get neutral names. If it has no monitor
or no partition table, it gets one. Files with the table's old name, `[night]`, are also read.
"""

from __future__ import annotations

import copy
import difflib
import random
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from seeklab._case import validate
from seeklab._documents import UnreadableError, odd_value, read_toml
from seeklab._errors import Problem, SeeklabError
from seeklab.data.files import Kind, read_text, shown
from seeklab.engine.requests import shortened
from seeklab.oncall.incidents import (
    MIB,
    OF_THE_SYSTEM,
    OTHERS,
    Draw,
    Names,
    System,
    causes,
    drawn_changes,
    in_neutral_words,
    incident_of,
    neutral_names,
    remedy_of,
)
from seeklab.oncall.seal import MAX_BYTES, digest, is_sealed, opened
from seeklab.oncall.settings import PART, changed, settable
from seeklab.oncall.tools import TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from os import PathLike

CASE_FILE = Kind("a case file (TOML) with a table [shift], or a sealed one", most_bytes=1 << 20, may_be_packed=False)
MAX_JOBS = 1 + len(OTHERS)
MAX_EVENTS = 20_000_000
"""Limit for each run: a few seconds on a laptop."""
MAX_MEMORY = 256 * MIB
MIN_OTHERS, MAX_OTHERS = 5, 30
MAX_SEED = 10**9
LETTERS = {"title": 100, "author": 100, "cause": 200, "ticket": 600, "tells": 400, "metric": 100}
"""Maximum number of characters of each text in the file."""
TOP = ("title", "shift", "scenario", "variants")
OF_THE_LIBRARY = (
    *("id", "code", "symptom", "subtitle", "family", "story", "source", "view", "views", "journeys", "coarse", "focus"),
    *("sentence", "ask", "why", "model", "notebook", "exercises", "default_variant", "opens", "controls", "what_ifs"),
    "facts",
)
"""Other parts of a case file, which a shift does not use."""
OF_A_VARIANT = ("name", "set", "unset", "title", "summary", "coarse")
NEEDED = ("failing", "metric", "better", "cause", "fix", "command", "tells")
OF_A_SHIFT = (
    *NEEDED,
    *("healthy", "jobs", "set", "unset", "draw", "at_most", "week"),
    *("others", "ticket", "author", "seed"),
)
OLD_TABLE, OLD_NAMES = "night", {"command": "look"}
"""Old names of the table and of its fields."""
DRAW = '{ path = "PATH", choose = [8, 16] }, or range = [FIRST, LAST] with a step, or of = "PATH" of an earlier draw'


@dataclass(frozen=True)
class LearnerCase:
    """A case file that was read: the systems with neutral names, and the author's texts."""

    title: str
    author: str | None
    digest: str
    seed: int
    """The ticket's number, and the seed of the shift's random numbers."""
    ticket: str | None
    """The complaint in the author's words; empty for the usual text."""
    causes: tuple[str, ...]
    """The causes that a player can choose from, in alphabetical order."""
    system: System
    """The failing system, with its incident."""
    names: Names
    """The neutral names of jobs and devices, by the author's names."""
    healthy: Mapping[str, Any]


def read_case(path: str | PathLike[str]) -> LearnerCase:
    """Read a case file, sealed or not; raise SeeklabError with every problem found."""
    return case_of(read_text(path, CASE_FILE), shown(path))


def case_of(text: str, name: str = "case") -> LearnerCase:
    """Read the text of a case file, sealed or not; errors refer to it as `name`."""
    written = opened(text, name) if is_sealed(text) else text
    try:
        size = len(written.encode())
    except UnicodeEncodeError:
        raise SeeklabError([Problem(name, f"is not UTF-8 text; pass {CASE_FILE.what}")]) from None
    if size > MAX_BYTES:
        raise SeeklabError([Problem(name, f"is {size:,} bytes long; the limit is {MAX_BYTES:,}")])
    try:
        document = read_toml(written)
    except UnreadableError as error:
        message = f"{shortened(str(error))}; pass {CASE_FILE.what}"
        raise SeeklabError([Problem(name, message)]) from None
    odd = odd_value(document)
    if odd is not None:
        raise SeeklabError([Problem(odd[0], odd[1])])
    return _Reader(document).case(digest(written))


class _Reader:
    """Reads a document and collects its problems."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self.table = "shift"
        self.problems: list[Problem] = []

    def case(self, of: str) -> LearnerCase:
        """Return the case."""
        self._known("", self.document, (*TOP, *OF_THE_LIBRARY, OLD_TABLE))
        table = self._shift()
        self._part(self.document, "scenario", "", dict)
        variants = self._variants()
        title = self._text(self.document, "title", "")
        words = {name: self._text(table, name, f"{self.table}.") for name in LETTERS if name in table}
        seed = table.get("seed", 1)
        if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed <= MAX_SEED:
            self._wrong_field("seed", f"{_found(seed)} is not a whole number from 0 to {MAX_SEED:,}")
        self._one_of(table, "better", ("more", "less"))
        self._one_of(table, "command", tuple(TOOLS))
        for which in ("healthy", "failing"):
            self._one_of(table, which, tuple(variants))
        offered = self._causes(table, words.get("cause", ""))
        self._values(table)
        self._end()

        return self._case(of, title, {**table, **words}, variants, offered)

    def _case(
        self,
        of: str,
        title: str,
        table: Mapping[str, Any],
        variants: Mapping[str, Mapping[str, Any]],
        offered: tuple[str, ...],
    ) -> LearnerCase:
        """Build the systems of a file whose fields are valid."""
        seed = table.get("seed", 1)
        failing, healthy = table["failing"], table.get("healthy")
        source = random.Random(f"on call {seed}")
        incident = incident_of("", table)
        changes, numbers = drawn_changes(incident, source)
        systems = [self._system(failing, _with_changes(variants[failing], changes))]
        if healthy is not None:
            systems.append(self._system(healthy, variants[healthy]))
        incident = replace(incident, jobs=self._jobs(table, systems))
        names = neutral_names(systems[0], incident.jobs)
        found = self._neutral(systems[0], names, failing)
        remedy = remedy_of(incident, numbers, names)
        self._settable(incident.fix, remedy, names, found)
        as_it_was = changed(found, remedy) if healthy is None else self._neutral(systems[1], names, healthy)
        system = System(incident, found, remedy)
        return LearnerCase(title, table.get("author"), of, seed, table.get("ticket"), offered, system, names, as_it_was)

    def _shift(self) -> dict[str, Any]:
        """Return the table of the shift, with the current names of its fields."""
        if OLD_TABLE in self.document:
            self.table = OLD_TABLE
            if "shift" in self.document:
                self._wrong(OLD_TABLE, "is the old name of [shift], which exists as well; keep one of them")
        found = self.document.get(self.table)
        if isinstance(found, list) and len(found) == 1:
            found = found[0]
        elif isinstance(found, list):
            self._wrong(self.table, f"appears {len(found)} times; keep the one to play, as [{self.table}]")
            self._end()
        if isinstance(found, dict) and "none_because" in found:
            self._wrong(f"{self.table}.none_because", f"says that the case has no shift; write {', '.join(NEEDED)}")
            self._end()
        written = self._part({self.table: found} if found is not None else {}, self.table, "", dict)
        accepted = [self._name(name) for name in OF_A_SHIFT]
        self._known(self.table, written, accepted)
        table = {name: written[self._name(name)] for name in OF_A_SHIFT if self._name(name) in written}
        for name in NEEDED:
            if isinstance(found, dict) and name not in table:
                self._wrong_field(name, "is missing")
        return table

    def _name(self, name: str) -> str:
        """Return the name of a field as written in the file's table."""
        return OLD_NAMES.get(name, name) if self.table == OLD_TABLE else name

    def _wrong_field(self, name: str, message: str) -> None:
        first, dot, rest = name.partition(".")
        self._wrong(f"{self.table}.{self._name(first)}{dot}{rest}", message)

    def _values(self, table: Mapping[str, Any]) -> None:
        """Check fix, jobs, changes and draws, which the library's own reader checks for library cases."""
        drawn: list[str] = []
        for number, entry in enumerate(self._field(table, "draw", list)):
            try:
                possible = Draw(**entry).is_possible(drawn)
            except (TypeError, ValueError):
                possible = False
            if not possible:
                self._wrong_field(f"draw[{number}]", f"{_found(entry)} cannot be drawn; write {DRAW}")
                return
            drawn.append(entry["path"])
        fix = self._field(table, "fix", dict)
        if "fix" in table and isinstance(table["fix"], dict) and not fix:
            self._wrong_field("fix", 'is empty; write what fixes the fault, such as { "zfs.log.batch" = true }')
        for path, value in fix.items():
            if isinstance(value, dict) and not _follows(value, drawn):
                message = f"{_found(value)} is not a multiple of a draw; write {{ of = PATH, times = N }} with its path"
                self._wrong_field(f"fix: {shortened(path)}", message)
        self._field(table, "set", dict)
        for name in ("jobs", "unset"):
            texts = self._field(table, name, list)
            if not all(isinstance(one, str) for one in texts) or (name in table and not texts):
                self._wrong_field(name, f"{_found(table[name])} is not a list of names")
        most = table.get("at_most", 3)
        if not isinstance(most, int | float) or isinstance(most, bool) or not most >= 1:
            self._wrong_field("at_most", f"{_found(most)} is not a number of at least 1")

    def _field(self, table: Mapping[str, Any], name: str, kind: type) -> Any:
        return self._part(table, name, f"{self.table}.", kind) if name in table else kind()

    def _wrong(self, path: str, message: str) -> None:
        self.problems.append(Problem(path, message))

    def _end(self) -> None:
        if self.problems:
            raise SeeklabError(self.problems)

    def _known(self, path: str, part: Mapping[str, Any], accepted: Iterable[str]) -> None:
        """Report unknown fields, each with the nearest accepted name."""
        for name in part:
            if name not in accepted:
                near = difflib.get_close_matches(name, list(accepted), 1)
                instead = f"did you mean {near[0]}?" if near else f"accepted: {', '.join(accepted)}"
                self._wrong(f"{path}.{shortened(name)}".lstrip("."), f"is not a field of a case; {instead}")

    def _part(self, of: Mapping[str, Any], name: str, path: str, kind: type) -> Any:
        found = of.get(name)
        if isinstance(found, kind):
            return found
        what = f"{_found(found)} is not a {'table' if kind is dict else 'list'}" if name in of else "is missing"
        self._wrong(path + name, what)
        return kind()

    def _text(self, of: Mapping[str, Any], name: str, path: str) -> str:
        """Return a text of one line; report characters that would move a terminal's cursor."""
        found, most = of.get(name), LETTERS[name]
        if name not in of:
            self._wrong(path + name, f"is missing; write a text of at most {most} characters")
            return ""
        text = " ".join(found.split()) if isinstance(found, str) else ""
        if not isinstance(found, str) or not text:
            self._wrong(path + name, f"{_found(found)} is not a text; write one of at most {most} characters")
        elif len(text) > most:
            self._wrong(path + name, f"has {len(text)} characters; the limit is {most}")
        elif not text.isprintable():
            letter = next(letter for letter in text if not letter.isprintable())
            self._wrong(path + name, f"has the character U+{ord(letter):04X}, which cannot be shown; remove it")
        return text

    def _one_of(self, table: Mapping[str, Any], name: str, accepted: tuple[str, ...]) -> None:
        found = table.get(name)
        if name in table and found not in accepted:
            self._wrong_field(name, f"{_found(found)} is not one of {', '.join(accepted) or 'no variants'}")

    def _variants(self) -> dict[str, Mapping[str, Any]]:
        found: dict[str, Mapping[str, Any]] = {}
        for number, variant in enumerate(self._part(self.document, "variants", "", list)):
            path = f"variants[{number}]"
            name = variant.get("name") if isinstance(variant, dict) else None
            if not isinstance(name, str) or not name or name in found:
                self._wrong(
                    f"{path}.name", f"{_found(name)} is not a text, or is not unique; give each variant its own name"
                )
                continue
            self._known(path, variant, OF_A_VARIANT)
            if not isinstance(variant.get("set", {}), dict):
                self._wrong(f"{path}.set", f"{_found(variant['set'])} is not a table of paths and values")
            unset = variant.get("unset", [])
            if not isinstance(unset, list) or not all(isinstance(one, str) for one in unset):
                self._wrong(f"{path}.unset", f"{_found(unset)} is not a list of paths")
            found[name] = variant
        return found

    def _causes(self, table: Mapping[str, Any], cause: str) -> tuple[str, ...]:
        """Return the offered causes: the right one and the author's wrong ones, or the causes of all shifts."""
        others = table.get("others")
        if others is None:
            usual = causes()
            if cause not in usual and cause:
                message = f"is missing: the cause is not one of the {len(usual)} known ones, so name {MIN_OTHERS} to"
                self._wrong_field("others", f"{message} {MAX_OTHERS} plausible wrong causes")
            return usual
        read: list[str] = []
        for number, other in enumerate(others if isinstance(others, list) else []):
            place = len(self.problems)
            read.append(self._text({"cause": other}, "cause", ""))
            self.problems[place:] = [
                Problem(f"{self.table}.others[{number}]", problem.message) for problem in self.problems[place:]
            ]
        offered = {cause, *read}
        if not isinstance(others, list) or not MIN_OTHERS <= len(others) <= MAX_OTHERS:
            self._wrong_field("others", f"{_found(others)} is not a list of {MIN_OTHERS} to {MAX_OTHERS} wrong causes")
        elif len(offered) != 1 + len(read):
            self._wrong_field("others", "names a cause twice, or the right one; write each wrong cause once")
        return tuple(sorted(offered))

    def _system(self, which: str, variant: Mapping[str, Any]) -> dict[str, Any]:
        """Return the system of a variant, complete and checked."""
        scenario: Any = copy.deepcopy(self.document["scenario"])
        for path in variant.get("unset", []):
            _at(scenario, path, which, lambda part, last: part.pop(last, None))
        for path, value in variant.get("set", {}).items():
            _at(scenario, path, which, lambda part, last, value=value: part.__setitem__(last, copy.deepcopy(value)))
        return self._checked(scenario, which)

    def _checked(self, scenario: Mapping[str, Any], which: str) -> dict[str, Any]:
        try:
            return validate(scenario)
        except SeeklabError as error:
            where = f'of the variant "{shortened(which)}"'
            told = [Problem(f"scenario.{one.path}", f"{one.message} ({where})", one.nearest) for one in error.problems]
            raise SeeklabError(told) from None

    def _jobs(self, table: Mapping[str, Any], systems: list[dict[str, Any]]) -> tuple[str, ...]:
        """Return the jobs of the shift, the application first; both systems must have the same jobs and devices."""
        for kind in ("jobs", "devices"):
            first, *others = ([one["name"] for one in system[kind]] for system in systems)
            for other in others:
                if other != first:
                    message = f"the healthy system has {', '.join(other)}, but the failing one has {', '.join(first)}"
                    where = f"scenario.{kind}"
                    raise SeeklabError([Problem(where, f"{message}; use the same names in the same order")])
        there = [job["name"] for job in systems[0]["jobs"]]
        written, named = table["metric"], table.get("jobs")
        unknown = [name for name in named or () if name not in there]
        if unknown:
            message = f"{_found(unknown[0])} is not a job of the failing system; its jobs: {', '.join(there)}"
            self._wrong_field("jobs", message)
            self._end()
        jobs = list(dict.fromkeys(named or there))
        is_first = (job for job in (jobs[:1] if named else jobs) if written.startswith(f"{job}."))
        application = next((job for job in is_first if len(written) > len(job) + 1), None)
        if application is None and not (named and written.startswith(OF_THE_SYSTEM)):
            which = "the first of the jobs is" if named else "the jobs are"
            message = f"{_found(written)} is not JOB.NUMBER, such as {jobs[0]}.read_mib_per_s; {which}"
            self._wrong_field("metric", f"{message} {jobs[0] if named else ', '.join(jobs)}")
            self._end()
        first = application or jobs[0]
        kept = (first, *(job for job in jobs if job != first))
        if len(kept) > MAX_JOBS:
            raise SeeklabError([Problem("scenario.jobs", f"has {len(kept)} jobs; the limit for a shift is {MAX_JOBS}")])
        for job in systems[0]["jobs"]:
            waits = job.get("wait_for") or (job.get("stonewall") and len(there) == len(kept))
            if job["name"] in kept and waits:
                message = "waits for another job; in a shift all jobs must run at the same time"
                raise SeeklabError([Problem(f"scenario.jobs[{job['name']}]", message)])
        return kept

    def _neutral(self, system: dict[str, Any], names: Names, which: str) -> dict[str, Any]:
        own = in_neutral_words(system, names)
        own["partition"] = system.get("partition") or {"start": MIB}
        monitor = system.get("monitor") or {"window": "10s"}
        own["monitor"] = {"span": "60s", **monitor, "job": next(iter(names.jobs.values()))}
        kept = {name: value for name, value in system["record"].items() if name != "journeys"}
        own["record"] = {**kept, "log": False, "analytics": False}
        limits = system["limits"]
        own["limits"] = {
            **limits,
            "events": min(limits["events"], MAX_EVENTS),
            "memory": min(limits["memory"], MAX_MEMORY),
        }
        return self._checked(own, which)

    def _settable(
        self, fix: Mapping[str, Any], remedy: Mapping[str, Any], names: Names, failing: Mapping[str, Any]
    ) -> None:
        """Check that an administrator can set the fix on this system."""
        there = settable(failing)
        back = {names.path(f"{kind}[{name}]"): name for kind in ("jobs", "devices") for name in getattr(names, kind)}
        for path, neutral in zip(fix, remedy, strict=True):
            if neutral not in there:
                shown_paths = ", ".join(_in_words_of_the_author(one, back) for one in there) or "none"
                message = f"cannot be set on the running system; settings that can: {shown_paths}"
                self._wrong_field(f"fix: {shortened(path)}", message)
        self._end()
        try:
            changed(failing, remedy)
        except SeeklabError as error:
            for problem in error.problems:
                self._wrong_field(f"fix: {_in_words_of_the_author(problem.path, back)}", problem.message)
        self._end()


def _follows(value: Mapping[str, Any], drawn: list[str]) -> bool:
    """Return whether a value of a fix is a multiple of a drawn number."""
    whole = isinstance(value.get("times", 1), int)
    return {"of"} <= set(value) <= {"of", "times"} and value["of"] in drawn and whole


def _with_changes(variant: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a variant with further changes; None removes a value."""
    removed = [path for path, value in changes.items() if value is None]
    values = {path: value for path, value in changes.items() if value is not None}
    return {
        "unset": [*variant.get("unset", []), *removed],
        "set": {**{path: value for path, value in variant.get("set", {}).items() if path not in removed}, **values},
    }


def _in_words_of_the_author(path: str, back: Mapping[str, str]) -> str:
    """Return a path of the shift as the author would write it."""
    head, bracket, rest = path.partition("]")
    name = back.get(head + bracket)
    return path if name is None else f"{head.partition('[')[0]}[{name}]{rest}"


def _found(value: object) -> str:
    return f'"{shortened(value)}"' if isinstance(value, str) else shortened(str(value))


def _at(scenario: Any, path: str, which: str, change: Any) -> None:
    """Change a field by its path; create missing layers."""
    where = f'"{shortened(path)}" of the variant "{shortened(which)}"'
    part: Any = scenario
    *steps, last = re.findall(r"[^.\[\]]+(?:\[[^\[\]]*\])?", path) or [""]
    if ".".join([*steps, last]) != path or not PART.match(last):
        raise SeeklabError([Problem("variants", f"{where} is not a path, such as jobs[client].bs")])
    for step in [*steps, *([last] if "[" in last else [])]:
        part = _step(part, step, where)
    if "[" in last or not isinstance(part, dict):
        raise SeeklabError([Problem("variants", f"{where} names no field; write, for example, jobs[client].bs")])
    change(part, last)


def _step(part: Any, step: str, where: str) -> Any:
    found = PART.match(step)
    if not found or not isinstance(part, dict):
        raise SeeklabError([Problem("variants", f"{where} does not exist: nothing is at {shortened(step)}")])
    name, which = found.groups()
    inner = part.setdefault(name, [] if which else {})
    if which is None:
        return inner
    entries = [one for one in inner if isinstance(one, dict)] if isinstance(inner, list) else []
    for number, one in enumerate(entries):
        if which in (one.get("name"), str(number)):
            return one
    names = ", ".join(str(one.get("name")) for one in entries) or "none"
    raise SeeklabError([Problem("variants", f"{where} names none of the {name}; accepted: {shortened(names)}")])
