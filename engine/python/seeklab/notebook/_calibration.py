"""How often was a learner right who said "80 %"? From all commitments in this folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seeklab._commitments import commitments
from seeklab.notebook._tables import Rows

if TYPE_CHECKING:
    from seeklab._commitments import Commitment


def calibration() -> Rows:
    """Show, for each degree of confidence, how many predictions were made and how many were near.

    Somebody well calibrated is right in 80 of 100 predictions made with 80 %. A few predictions tell little; the table
    grows over the course.
    """
    first: dict[str, Commitment] = {}
    for given in commitments():
        first.setdefault(given.id, given)
    judged = [given for given in first.values() if given.near is not None and given.confidence is not None]
    skipped = sum(given.skipped for given in first.values())
    rows: list[tuple[object, ...]] = []
    for sure in sorted({given.confidence or 0 for given in judged}):
        near = [given.near for given in judged if given.confidence == sure]
        rows.append((f"{sure} %", len(near), sum(map(bool, near)), f"{100 * sum(map(bool, near)) / len(near):.0f} %"))
    rows += [("skipped", skipped, "", "")] if skipped else []
    return Rows(["you were sure", "predictions", "right", "share"], rows or [("nothing yet", 0, 0, "")])
