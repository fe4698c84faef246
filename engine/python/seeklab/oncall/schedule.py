"""The incidents that a shift can be drawn from: all, or those of some weeks of the course."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seeklab._errors import Problem, SeeklabError
from seeklab.oncall.incidents import incidents

if TYPE_CHECKING:
    from seeklab.oncall.incidents import Incident


def week_of(case: str) -> int | None:
    """Return the week of a case that has a shift, or None."""
    return next((incident.week for incident in incidents() if incident.case == case), None)


def pool(weeks: str | None = None) -> tuple[Incident, ...]:
    """Return the incidents of some weeks, such as `1-5`, or of all; raise SeeklabError if there are none."""
    if weeks is None:
        return incidents()
    taught = sorted({incident.week or 0 for incident in incidents()})
    found = re.fullmatch(r"([0-9]{1,2})(?:-([0-9]{1,2}))?", weeks)
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not 1 <= first <= last <= taught[-1]:
        message = f"{weeks[:40]!r} names no weeks; write a week from 1 to {taught[-1]}, or a range such as 1-5"
        raise SeeklabError([Problem("weeks", message)])
    chosen = tuple(one for one in incidents() if first <= (one.week or 0) <= last)
    if not chosen:
        message = f"week {weeks} has no incident for a shift; weeks with incidents: {', '.join(map(str, taught))}"
        raise SeeklabError([Problem("weeks", message)])
    return chosen
