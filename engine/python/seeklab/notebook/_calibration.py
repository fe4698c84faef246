"""How often a learner was right with a confidence such as 80%, over all commitments in this folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seeklab._commitments import TURN, commitments
from seeklab.notebook._tables import Rows

if TYPE_CHECKING:
    from seeklab._commitments import Commitment


def calibration() -> Rows:
    """Return a table with the number of predictions, and the number of near ones, for each degree of confidence.

    A well calibrated learner is right in 80 of 100 predictions made with 80% confidence. A few predictions say little;
    the table grows during the course.
    """
    first: dict[str, Commitment] = {}
    for given in commitments():
        if not given.id.startswith(f"{TURN}/"):
            first.setdefault(given.id, given)
    judged = [given for given in first.values() if given.near is not None and given.confidence is not None]
    skipped = sum(given.skipped for given in first.values())
    rows: list[tuple[object, ...]] = []
    for sure in sorted({given.confidence or 0 for given in judged}):
        near = [given.near for given in judged if given.confidence == sure]
        rows.append((f"{sure}%", len(near), sum(map(bool, near)), f"{100 * sum(map(bool, near)) / len(near):.0f}%"))
    rows += [("skipped", skipped, "", "")] if skipped else []
    return Rows(["you were sure", "predictions", "right", "share"], rows or [("none yet", 0, 0, "")])
