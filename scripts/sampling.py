"""Samples of what takes long to check whole: another one at each commit, and the same whoever draws it.

`make full` sets SEEKLAB_FULL and checks all of it.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from typing import TYPE_CHECKING

from console import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

ALL = "SEEKLAB_FULL"
"""Set in the environment, it takes the place of the samples."""


def commit() -> str:
    """Name the commit that is checked out."""
    asked = ("git", "-C", str(ROOT), "rev-parse", "HEAD")
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else "no commit"


def is_drawn(name: str, one_in: int) -> bool:
    """Whether something is of this commit's sample of one in so many."""
    return bool(os.environ.get(ALL)) or _number(name) % one_in == 0


def some(names: Sequence[str], count: int) -> list[str]:
    """Return this commit's sample of so many names, or all of them."""
    return list(names) if os.environ.get(ALL) else sorted(names, key=_number)[:count]


def _number(name: str) -> int:
    drawn = hashlib.sha256(f"{commit()} {name}".encode()).digest()
    return int.from_bytes(drawn[:4], "big")
