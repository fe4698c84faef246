"""An incident of one's own: a case file with a part for the night, read strictly, for a peer to diagnose.

The file is written as those of the library are (`[scenario]`, `[[variants]]`), and `[night]` says which variant is the
system as it was, which one as it is found, whose number the ticket is about, what the cause is, what mends it, and
which look tells it. The system is the author's, to the last field; jobs and devices get neutral names, and where it has
no monitor and no partition table it gets those.
"""

from __future__ import annotations

import copy
import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from seeklab._case import validate
from seeklab._documents import UnreadableError, odd_value, read_toml
from seeklab._errors import Problem, SeeklabError
from seeklab.data.files import Kind, read_text, shown
from seeklab.engine.requests import shortened
from seeklab.oncall.incidents import CAUSES, MIB, OTHERS, Incident, Names, in_neutral_words, neutral_names
from seeklab.oncall.seal import MOST_BYTES, digest, is_sealed, opened
from seeklab.oncall.settings import PART, changed, settable
from seeklab.oncall.tools import TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from os import PathLike

CASE_FILE = Kind("a case file (TOML) with a part [night], or a sealed one", most_bytes=1 << 20, may_be_packed=False)
MOST_JOBS = 1 + len(OTHERS)
MOST_EVENTS = 20_000_000
"""Of each run: some seconds on a laptop."""
MOST_MEMORY = 256 * MIB
LEAST_OTHERS, MOST_OTHERS = 5, 30
LARGEST_SEED = 10**9
LETTERS = {"title": 100, "author": 100, "cause": 200, "ticket": 600, "tells": 400, "metric": 100}
"""Characters that a text of the file may have."""
TOP = ("title", "night", "scenario", "variants")
OF_THE_LIBRARY = (
    *("id", "code", "symptom", "subtitle", "family", "story", "source", "view", "views", "journeys", "coarse", "focus"),
    *("sentence", "ask", "why", "model", "notebook", "exercises", "default_variant", "opens", "controls", "what_ifs"),
    "facts",
)
"""Other parts of a case file, which a night has no use for."""
OF_A_VARIANT = ("name", "set", "unset", "title", "summary")
NEEDED = ("healthy", "failing", "metric", "better", "cause", "fix", "look", "tells")
OF_A_NIGHT = (*NEEDED, "others", "ticket", "author", "seed")


@dataclass(frozen=True)
class LearnerCase:
    """A case file, read: the systems in neutral words, and what the author says of them."""

    title: str
    author: str | None
    digest: str
    seed: int
    """The ticket's number, and what the night's random numbers come from."""
    ticket: str | None
    """The complaint in the author's words; the usual ones when there are none."""
    causes: tuple[str, ...]
    """What is offered as causes, in the order of the alphabet."""
    incident: Incident
    names: Names
    """What jobs and devices are called, by what the author calls them."""
    healthy: Mapping[str, Any]
    failing: Mapping[str, Any]
    written_fix: Mapping[str, Any]
    """What mends it, as the author wrote it."""


def read_case(path: str | PathLike[str]) -> LearnerCase:
    """Read a case file, sealed or not."""
    return case_of(read_text(path, CASE_FILE), shown(path))


def case_of(text: str, name: str = "case") -> LearnerCase:
    """Read the text of a case file, sealed or not; `name` is what errors call it."""
    written = opened(text, name) if is_sealed(text) else text
    try:
        size = len(written.encode())
    except UnicodeEncodeError:
        raise SeeklabError([Problem(name, f"is not UTF-8 text; give {CASE_FILE.what}")]) from None
    if size > MOST_BYTES:
        raise SeeklabError([Problem(name, f"holds {size:,} bytes; a case has at most {MOST_BYTES:,}")])
    try:
        document = read_toml(written)
    except UnreadableError as error:
        message = f"{shortened(str(error))}; give {CASE_FILE.what}"
        raise SeeklabError([Problem(name, message)]) from None
    odd = odd_value(document)
    if odd is not None:
        raise SeeklabError([Problem(odd[0], odd[1])])
    return _Reader(document).case(digest(written))


class _Reader:
    """Reads a document, and collects what is wrong with it."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self.problems: list[Problem] = []

    def case(self, of: str) -> LearnerCase:
        """Give the case."""
        self._known("", self.document, (*TOP, *OF_THE_LIBRARY))
        night = self._part(self.document, "night", "", dict)
        self._part(self.document, "scenario", "", dict)
        variants = self._variants()
        self._known("night", night, OF_A_NIGHT)
        for name in NEEDED:
            if isinstance(self.document.get("night"), dict) and name not in night:
                self._wrong(f"night.{name}", "is missing")
        title = self._text(self.document, "title", "")
        words = {name: self._text(night, name, "night.") for name in LETTERS if name in night}
        seed = night.get("seed", 1)
        if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed <= LARGEST_SEED:
            self._wrong("night.seed", f"{_found(seed)} is no whole number from 0 to {LARGEST_SEED:,}")
        better = self._one_of(night, "better", ("more", "less"))
        look = self._one_of(night, "look", tuple(TOOLS))
        self._one_of(night, "healthy", tuple(variants))
        self._one_of(night, "failing", tuple(variants))
        causes = self._causes(night, words.get("cause", ""))
        fix = self._part(night, "fix", "night.", dict) if "fix" in night else {}
        if "fix" in night and not fix:
            self._wrong("night.fix", 'is empty; write what mends it, as in { "zfs.log.batch" = true }')
        self._end()

        systems = [self._system(night[which], variants[night[which]]) for which in ("healthy", "failing")]
        job, metric = self._metric(words["metric"], systems)
        names = neutral_names(systems[1], [job, *(one["name"] for one in systems[1]["jobs"] if one["name"] != job)])
        healthy, failing = (
            self._neutral(system, names, night[which])
            for system, which in zip(systems, ("healthy", "failing"), strict=True)
        )
        own_fix = {names.path(path): value for path, value in fix.items()}
        self._settable(fix, names, failing)
        incident = Incident(
            *(words["cause"], "", night["failing"], tuple(names.jobs), lambda _: {}, metric, better == "more"),
            lambda _: dict(own_fix),
            *(look, words["tells"]),
        )
        return LearnerCase(
            *(title, words.get("author"), of, seed, words.get("ticket"), causes, incident, names, healthy, failing, fix)
        )

    def _wrong(self, path: str, message: str) -> None:
        self.problems.append(Problem(path, message))

    def _end(self) -> None:
        if self.problems:
            raise SeeklabError(self.problems)

    def _known(self, path: str, part: Mapping[str, Any], accepted: Iterable[str]) -> None:
        """Refuse what has no meaning here, with the nearest that has one."""
        for name in part:
            if name not in accepted:
                near = difflib.get_close_matches(name, list(accepted), 1)
                instead = f"did you mean {near[0]}?" if near else f"there are {', '.join(accepted)}"
                self._wrong(f"{path}.{shortened(name)}".lstrip("."), f"has no meaning in a case; {instead}")

    def _part(self, of: Mapping[str, Any], name: str, path: str, kind: type) -> Any:  # noqa: ANN401 -- of that kind
        found = of.get(name)
        if isinstance(found, kind):
            return found
        what = f"{_found(found)} is not a {'table' if kind is dict else 'list'}" if name in of else "is missing"
        self._wrong(path + name, what)
        return kind()

    def _text(self, of: Mapping[str, Any], name: str, path: str) -> str:
        """Give a text on one line; what would move a terminal's cursor is no text."""
        found, most = of.get(name), LETTERS[name]
        if name not in of:
            self._wrong(path + name, f"is missing; write a text of at most {most} characters")
            return ""
        text = " ".join(found.split()) if isinstance(found, str) else ""
        if not isinstance(found, str) or not text:
            self._wrong(path + name, f"{_found(found)} is no text; write one of at most {most} characters")
        elif len(text) > most:
            self._wrong(path + name, f"has {len(text)} characters; at most {most} are shown")
        elif not text.isprintable():
            letter = next(letter for letter in text if not letter.isprintable())
            self._wrong(path + name, f"has the character U+{ord(letter):04X}, which cannot be shown; leave it out")
        return text

    def _one_of(self, night: Mapping[str, Any], name: str, accepted: tuple[str, ...]) -> str:
        found = night.get(name)
        if name in night and found not in accepted:
            self._wrong(f"night.{name}", f"{_found(found)} is none of {', '.join(accepted) or 'no variants'}")
        return str(found)

    def _variants(self) -> dict[str, Mapping[str, Any]]:
        found: dict[str, Mapping[str, Any]] = {}
        for number, variant in enumerate(self._part(self.document, "variants", "", list)):
            path = f"variants[{number}]"
            name = variant.get("name") if isinstance(variant, dict) else None
            if not isinstance(name, str) or not name or name in found:
                self._wrong(
                    f"{path}.name", f"{_found(name)} is no name, or not the only one; give each variant its own"
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

    def _causes(self, night: Mapping[str, Any], cause: str) -> tuple[str, ...]:
        """Give what is offered: the cause with those of the author beside it, or those of all nights."""
        others = night.get("others")
        if others is None:
            if cause not in CAUSES and cause:
                message = f"is missing: the cause is none of the usual {len(CAUSES)}, so name {LEAST_OTHERS} to"
                self._wrong("night.others", f"{message} {MOST_OTHERS} others that a peer could take for it")
            return CAUSES
        read: list[str] = []
        for number, other in enumerate(others if isinstance(others, list) else []):
            place = len(self.problems)
            read.append(self._text({"cause": other}, "cause", ""))
            self.problems[place:] = [
                Problem(f"night.others[{number}]", problem.message) for problem in self.problems[place:]
            ]
        offered = {cause, *read}
        if not isinstance(others, list) or not LEAST_OTHERS <= len(others) <= MOST_OTHERS:
            self._wrong("night.others", f"{_found(others)} is no list of {LEAST_OTHERS} to {MOST_OTHERS} wrong causes")
        elif len(offered) != 1 + len(read):
            self._wrong("night.others", "names a cause twice, or the right one; each is offered once")
        return tuple(sorted(offered))

    def _system(self, which: str, variant: Mapping[str, Any]) -> dict[str, Any]:
        """Give a variant's system, complete and checked."""
        scenario: Any = copy.deepcopy(self.document["scenario"])
        for path in variant.get("unset", []):
            _at(scenario, path, which, lambda part, last: part.pop(last, None))
        for path, value in variant.get("set", {}).items():
            _at(scenario, path, which, lambda part, last, value=value: part.__setitem__(last, value))
        whole = self._checked(scenario, which)
        if len(whole["jobs"]) > MOST_JOBS:
            message = f"has {len(whole['jobs'])} jobs; a night has at most {MOST_JOBS}"
            raise SeeklabError([Problem("scenario.jobs", message)])
        for job in whole["jobs"]:
            if job.get("stonewall") or job.get("wait_for"):
                message = "waits for another job; in a night all jobs run at the same time"
                raise SeeklabError([Problem(f"scenario.jobs[{job['name']}]", message)])
        return whole

    def _checked(self, scenario: Mapping[str, Any], which: str) -> dict[str, Any]:
        try:
            return validate(scenario)
        except SeeklabError as error:
            where = f'of the variant "{shortened(which)}"'
            told = [Problem(f"scenario.{one.path}", f"{one.message} ({where})", one.nearest) for one in error.problems]
            raise SeeklabError(told) from None

    def _metric(self, written: str, systems: list[dict[str, Any]]) -> tuple[str, str]:
        """Split `job.metric`; both systems have the same jobs and devices."""
        for kind in ("jobs", "devices"):
            before, after = ([one["name"] for one in system[kind]] for system in systems)
            if before != after:
                message = f"the healthy system has {', '.join(before)}, the failing one {', '.join(after)}"
                raise SeeklabError([Problem(f"scenario.{kind}", f"{message}; both have the same, in the same order")])
        jobs = [job["name"] for job in systems[0]["jobs"]]
        for job in jobs:
            if written.startswith(f"{job}.") and len(written) > len(job) + 1:
                return job, written.removeprefix(f"{job}.")
        message = (
            f"{_found(written)} is no JOB.NUMBER, such as {jobs[0]}.read_mib_per_s; the jobs are {', '.join(jobs)}"
        )
        raise SeeklabError([Problem("night.metric", message)])

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
            "events": min(limits["events"], MOST_EVENTS),
            "memory": min(limits["memory"], MOST_MEMORY),
        }
        return self._checked(own, which)

    def _settable(self, fix: Mapping[str, Any], names: Names, failing: Mapping[str, Any]) -> None:
        """Hold the fix against what an administrator can set on this system."""
        there = settable(failing)
        back = {names.path(f"{kind}[{name}]"): name for kind in ("jobs", "devices") for name in getattr(names, kind)}
        for path, value in fix.items():
            if names.path(path) not in there:
                shown_paths = ", ".join(_in_words_of_the_author(one, back) for one in there) or "none"
                message = f"cannot be set on this system while it runs; what can be set is {shown_paths}"
                self._wrong(f"night.fix: {shortened(path)}", message)
                continue
            try:
                changed(failing, {names.path(path): value})
            except SeeklabError as error:
                self._wrong(f"night.fix: {path}", "; ".join(problem.message for problem in error.problems))
        self._end()


def _in_words_of_the_author(path: str, back: Mapping[str, str]) -> str:
    """Give a path of the night as the author would write it."""
    head, bracket, rest = path.partition("]")
    if not bracket:
        return path
    kind = head.partition("[")[0]
    return f"{kind}[{back[head + bracket]}]{rest}"


def _found(value: object) -> str:
    return f'"{shortened(value)}"' if isinstance(value, str) else shortened(str(value))


def _at(scenario: Any, path: str, which: str, change: Any) -> None:  # noqa: ANN401 -- a table, and what is done at its end
    """Change a field by its path; layers that are not there come into being."""
    where = f'"{shortened(path)}" of the variant "{shortened(which)}"'
    part: Any = scenario
    *steps, last = re.findall(r"[^.\[\]]+(?:\[[^\]]*\])?", path) or [""]
    if ".".join([*steps, last]) != path or not PART.match(last):
        raise SeeklabError([Problem("variants", f"{where} is no path, such as jobs[client].bs")])
    for step in [*steps, *([last] if "[" in last else [])]:
        part = _step(part, step, where)
    if "[" in last or not isinstance(part, dict):
        raise SeeklabError([Problem("variants", f"{where} names no field; write, for example, jobs[client].bs")])
    change(part, last)


def _step(part: Any, step: str, where: str) -> Any:  # noqa: ANN401 -- a part of a scenario
    found = PART.match(step)
    if not found or not isinstance(part, dict):
        raise SeeklabError([Problem("variants", f"{where} leads nowhere at {shortened(step)}")])
    name, which = found.groups()
    inner = part.setdefault(name, [] if which else {})
    if which is None:
        return inner
    entries = [one for one in inner if isinstance(one, dict)] if isinstance(inner, list) else []
    for number, one in enumerate(entries):
        if which in (one.get("name"), str(number)):
            return one
    names = ", ".join(str(one.get("name")) for one in entries) or "none"
    raise SeeklabError([Problem("variants", f"{where} names none of the {name}; there are {shortened(names)}")])
