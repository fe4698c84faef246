"""A certificate of practice: the concepts that a learner has mastered, signed with the course's secret.

A learner practises alone, so the certificate earns no grade.
"""

from __future__ import annotations

import hmac
import json
from typing import TYPE_CHECKING, Any

from seeklab.course.known import MASTERED

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from seeklab.course.known import Known
    from seeklab.judge.identity import Course

SIGNATURE = "signature"


def certificate(student: str, concepts: Mapping[str, Known], day: date, course: Course) -> dict[str, Any]:
    """Return the certificate: each mastered concept with its box and the number of answers."""
    mastered = [
        {"concept": one.item.concept, "box": one.box, "right": one.right, "seen": one.seen}
        for one in concepts.values()
        if one.box >= MASTERED
    ]
    said = {"student": student, "date": day.isoformat(), "mastered": mastered, "concepts": len(concepts)}
    return {**said, SIGNATURE: _signature(said, course)}


def is_genuine(document: Mapping[str, Any], course: Course) -> bool:
    """Return whether this course signed the document as it is."""
    said = {name: value for name, value in document.items() if name != SIGNATURE}
    return hmac.compare_digest(str(document.get(SIGNATURE, "")).encode(), _signature(said, course).encode())


def _signature(said: Mapping[str, Any], course: Course) -> str:
    text = json.dumps(said, sort_keys=True, ensure_ascii=False)
    return hmac.new(course.draws("", "certificate"), text.encode(), "sha256").hexdigest()
