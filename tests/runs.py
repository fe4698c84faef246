"""Runs of cases that several tests look at, each made once; and the engine, for questions that only tests ask."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import seeklab
from seeklab._host import engine

if TYPE_CHECKING:
    from seeklab import Result

__all__ = ["engine", "run_case"]


@cache
def run_case(case_id: str, variant: str, seed: int = 1) -> Result:
    """Run a variant of a case with its operation log, or take the run that another test has made."""
    return seeklab.case(case_id).with_({"record.log": True}).run(variant, seed=seed)
