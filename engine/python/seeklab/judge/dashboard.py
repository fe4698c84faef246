"""The instructor's dashboard: what a class's grades show about learners, exercises and wrong answers.

The report is one HTML page without scripts. All text of learners is escaped.
"""

from __future__ import annotations

import html
import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from statistics import StatisticsError, correlation, mean, median
from typing import TYPE_CHECKING, Any, NamedTuple

from seeklab.judge.exports import STYLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from seeklab.judge.store import Store

MAX_SHOWN = 10
LONGEST_SHOWN = 200
MAX_NAMES = 200
"""Maximum number of students named in one group."""
FEW = 20
"""Below this number of learners a discrimination says nothing, and is not shown."""


@dataclass
class Item:
    """A task, with the results of a class."""

    points: dict[str, float] = field(default_factory=dict)
    """The share of the points, by student."""
    outcomes: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)

    @property
    def difficulty(self) -> float:
        """Return the mean share of the points, the difficulty of item analysis: near 1 is easy."""
        return mean(self.points.values())

    def discrimination(self, totals: Mapping[str, float]) -> float | None:
        """Return the correlation with the points of the assignment's other tasks; None if all are equal."""
        rest = {student: totals[student] - share for student, share in self.points.items()}
        try:
            return correlation(list(self.points.values()), [rest[student] for student in self.points])
        except StatisticsError:
            return None


class Copies(NamedTuple):
    """Students who submitted the same numbers as an answer."""

    name: str
    """Name of the answer."""
    students: list[str]
    """Students whose system does not fit the numbers."""
    others: list[str]
    """Students whose system fits the numbers."""


class Links(NamedTuple):
    """The addresses of the desk's other pages."""

    submission: Callable[[str, str], str]
    """Of a student and an assignment."""
    task: Callable[[str, str], str]
    """Of an assignment and a task, for all students in turn."""
    alike: str


@dataclass
class Dashboard:
    """The grades of a class and their statistics."""

    grades: list[tuple[dict[str, Any], dict[str, Any]]]
    attempts: Counter[tuple[str, str]]

    @classmethod
    def read(cls, store: Store) -> Dashboard:
        """Read the grades."""
        return cls(list(store.details()), Counter((student, name) for student, name, _ in store.attempts()))

    def assignments(self) -> list[str]:
        """Return the assignments with at least one submission."""
        return sorted({grade["assignment"] for grade, _ in self.grades})

    def of(self, assignment: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """Return the grades of an assignment."""
        return [one for one in self.grades if one[0]["assignment"] == assignment]

    def items(self, assignment: str) -> dict[str, Item]:
        """Return the tasks of an assignment."""
        items: dict[str, Item] = defaultdict(Item)
        for grade, _ in self.of(assignment):
            for task in grade["tasks"]:
                item = items[task["id"]]
                item.points[grade["student"]] = task["score"] / task["max_score"]
                item.outcomes[task["verdict"]] += 1
                if task["verdict"] != "pass":
                    item.reasons[task["reason"]] += 1
        return dict(items)

    def wrong_answers(self, assignment: str) -> dict[str, Counter[str]]:
        """Count the answers of learners who did not get all points, by the answer's name.

        Programs and empty answers are not counted.
        """
        found: dict[str, Counter[str]] = defaultdict(Counter)
        for grade, details in self.of(assignment):
            if grade["score"] < grade["max_score"]:
                for name, value in details["answers"].items():
                    if _is_answered(value) and not (isinstance(value, str) and "\n" in value):
                        found[name][json.dumps(value, sort_keys=True)] += 1
        return dict(found)

    def copies(self, assignment: str) -> list[Copies]:
        """Return groups of students with the same numbers, if the numbers fit the system of only some of them.

        Systems differ between students, so the same numbers are right for at most one of them.
        """
        by_answer: dict[tuple[str, str], tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
        for grade, details in self.of(assignment):
            fits = grade["score"] == grade["max_score"]
            for name, value in details["answers"].items():
                if _numbers(value) > 1:
                    by_answer[name, json.dumps(value, sort_keys=True)][fits].append(grade["student"])
        return [
            Copies(name, without, fitting)
            for (name, _), (without, fitting) in sorted(by_answer.items())
            if without and fitting
        ]


def _is_answered(value: object) -> bool:
    if isinstance(value, dict):
        return any(_is_answered(one) for one in value.values())
    return value is not None and value not in ([], "")


def _rounded(value: object) -> object:
    """Return an answer rounded to the digits that a person would read."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {name: _rounded(one) for name, one in value.items()}
    return [_rounded(one) for one in value] if isinstance(value, list) else value


def _numbers(value: object) -> int:
    values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return sum(isinstance(one, (int, float)) and not isinstance(one, bool) for one in values)


def report(dashboard: Dashboard, links: Links | None = None) -> str:
    """Return the report as one page, with links if there are other pages."""
    parts = ["<h1>Dashboard</h1>", _progress(dashboard, links)]
    if links:
        parts.append(f"<p>{_linked('Programs that are alike', links.alike)}</p>")
    for assignment in dashboard.assignments():
        parts.append(f"<h2 id={_told(assignment)}>{_told(assignment)}</h2>")
        parts += [_items(dashboard, assignment, links), _reasons(dashboard, assignment)]
        parts += [_answers(dashboard, assignment), _copies(dashboard, assignment)]
    head = '<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content="width=device-width">'
    return f"{head}<title>Seeklab: dashboard</title><style>{STYLE}</style>{''.join(parts)}</html>\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; its cells are HTML."""
    cells = "".join("<tr>" + "".join(f"<td>{cell}" for cell in row) for row in rows)
    return f"<div class=wide><table><tr>{''.join(f'<th scope=col>{_told(name)}' for name in head)}{cells}</table></div>"


def _told(text: object) -> str:
    shown = str(text)
    return html.escape(shown if len(shown) <= LONGEST_SHOWN else f"{shown[:LONGEST_SHOWN]}...")


def _progress(dashboard: Dashboard, links: Links | None) -> str:
    names = dashboard.assignments()
    scores = {(grade["student"], grade["assignment"]): grade for grade, _ in dashboard.grades}
    rows = []
    for student in sorted({student for student, _ in scores}):
        cells = [_told(student)]
        for name in names:
            grade = scores.get((student, name))
            shown = "" if grade is None else f"{grade['score']:g}/{grade['max_score']:g}{' !' * bool(grade['flags'])}"
            cells.append(_linked(shown, links.submission(student, name)) if links and shown else shown)
        rows.append(cells)
    note = "<p class=note>! marks a flag: another student's name, missing or duplicate cells, a broken file.</p>"
    return table(["learner", *names], rows) + note


def _linked(shown: str, address: str) -> str:
    return f'<a href="{html.escape(address)}">{shown}</a>'


def _items(dashboard: Dashboard, assignment: str, links: Links | None) -> str:
    items = dashboard.items(assignment)
    totals: dict[str, float] = defaultdict(float)
    for item in items.values():
        for student, share in item.points.items():
            totals[student] += share
    tries = [number for (_, name), number in dashboard.attempts.items() if name == assignment]
    rows = []
    for name, item in items.items():
        apart = item.discrimination(totals)
        rows.append(
            [
                _linked(_told(name), links.task(assignment, name)) if links else _told(name),
                str(len(item.points)),
                f"{item.difficulty:.2f}",
                "-" if apart is None or len(item.points) < FEW else f"{apart:.2f}",
                *(str(item.outcomes[outcome]) for outcome in ("pass", "fail", "cannot tell")),
            ]
        )
    scores = [grade["score"] / grade["max_score"] for grade, _ in dashboard.of(assignment) if grade["max_score"]]
    said = f"<p>Median {100 * median(scores):.0f}% of the points; graded {mean(tries):.1f} times on average.</p>"
    head = ["task", "learners", "mean share", "discrimination", "pass", "fail", "cannot tell"]
    note = f"Discrimination is shown from {FEW} learners on."
    if links:
        note = f"A task opens the answers of all learners, one after the other. {note}"
    return f"{said}{table(head, rows)}<p class=note>{note}</p>"


def _reasons(dashboard: Dashboard, assignment: str) -> str:
    rows = [
        [_told(name), str(count), _told(reason)]
        for name, item in dashboard.items(assignment).items()
        for reason, count in item.reasons.most_common(MAX_SHOWN)
    ]
    return table(["task", "learners", "what was wrong"], rows) if rows else ""


def _answers(dashboard: Dashboard, assignment: str) -> str:
    rows = [
        [_told(name), str(count), f"<code>{_told(json.dumps(_rounded(json.loads(answer))))}</code>"]
        for name, answers in dashboard.wrong_answers(assignment).items()
        for answer, count in answers.most_common(MAX_SHOWN)
    ]
    return table(["answer", "learners", "submitted value that lost points"], rows) if rows else ""


def _copies(dashboard: Dashboard, assignment: str) -> str:
    rows = [[_names(one.students), _told(one.name), _names(one.others)] for one in dashboard.copies(assignment)]
    return table(["learners", "submitted the numbers of", "which fit the system of"], rows) if rows else ""


def _names(students: Sequence[str]) -> str:
    more = len(students) - MAX_NAMES
    return ", ".join(map(_told, students[:MAX_NAMES])) + (f" and {more:,} more" if more > 0 else "")
