"""Questions for five minutes about a student's own answer, with keys from its evidence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

RUBRIC = "0 no answer, 1 right without a reason, 2 right with the reason"


@dataclass(frozen=True)
class Asked:
    """One question, and its key for the teacher."""

    question: str
    key: str


def viva(grade: Mapping[str, Any], details: Mapping[str, Any]) -> list[Asked]:
    """Return three questions: the tightest demand, a number of the student's own run, and a measurement that decides.

    A submission without measured evidence gets only the last question.
    """
    items = [
        (task["id"], item)
        for task in grade["tasks"]
        for item in details["evidence"].get(task["id"], ())
        if isinstance(item["measured"], (int, float)) and item["met"] is not None
    ]
    asked: list[Asked] = []
    tight = sorted((one for one in items if _slack(one[1]) is not None), key=lambda one: _slack(one[1]) or 0.0)
    if len({one["what"] for _, one in tight}) > 1:
        nearest = tight[0][1]
        listed = list(dict.fromkeys(one["what"] for _, one in tight))
        asked.append(
            Asked(
                f"Your answer was measured against {len(listed)} demands, such as: {'; '.join(listed[:3])}. Which of "
                "them breaks first on a slightly harder system? Why that one?",
                f"{nearest['what']}: measured {_number(nearest)}, bound {nearest['bound']} "
                f"({100 * (_slack(nearest) or 0):.0f}% apart, the nearest of all)",
            )
        )
    if items:
        _, item = items[len(items) // 2]
        asked.append(
            Asked(
                f"The judge measured: {item['what']} (bound {item['bound']}). Roughly what did your answer give, and "
                "which parts of the system does that number follow from?",
                f"{_number(item)}; within a factor of two is right",
            )
        )
    failed = [task for task in grade["tasks"] if task["verdict"] != "pass"]
    if failed:
        question = f"{failed[0]['id']} did not pass. Which measurement shows what was wrong? What would you change?"
        asked.append(Asked(question, failed[0]["reason"]))
    else:
        question = "Name an idea that you gave up. Which measurement showed that it was wrong?"
        asked.append(Asked(question, "a measurement that differs between the two ideas"))
    return asked


def sheet(student: str, grades: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> str:
    """Return the teacher's sheet for one student, as text."""
    lines = [f"Five minutes with {student}. For each question: {RUBRIC}.", ""]
    for grade, details in grades:
        lines.append(f"{grade['assignment']}: {grade['score']:g} of {grade['max_score']:g} points")
        for nth, asked in enumerate(viva(grade, details), 1):
            lines += [f"  {nth}. {asked.question}", f"     Key: {asked.key}", "     Points: 0  1  2", ""]
    return "\n".join(lines) + "\n"


def _slack(item: Mapping[str, Any]) -> float | None:
    """Return how far a measured value is from its bound, as a share of the bound; None if the bound has no number."""
    found = re.search(r"\d[\d,]*\.?\d*", str(item["bound"]))
    bound = float(found[0].replace(",", "")) if found else 0.0
    return abs(item["measured"] - bound) / bound if bound else None


def _number(item: Mapping[str, Any]) -> str:
    return f"{item['measured']:,.4g} {item.get('unit') or ''}".strip()
