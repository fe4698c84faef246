"""What the assignments share with their graders: one module for each, named like its case.

A module gives every learner a system of their own and judges the tasks. It holds no answers: each truth is measured by
running the learner's own system, on seeds drawn at the moment of the check.
"""

from __future__ import annotations

import hashlib

from seeklab._errors import Problem, SeeklabError

__all__ = ["draws_of"]


def draws_of(learner: object) -> bytes:
    """Give 32 bytes that depend on a learner's name alone, to draw a system from; case and spaces do not count."""
    name = "".join(learner.split()).casefold() if isinstance(learner, str) else ""
    if not name:
        message = f"{learner!r} is not a name; write your own between quotes, so that you get a system of your own"
        raise SeeklabError([Problem("LEARNER", message)])
    return hashlib.sha256(name.encode()).digest()
