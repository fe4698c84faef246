"""Samples of long checks: a different one at each commit, and the same for everyone at one commit.

`make full` sets SEEKLAB_FULL and checks everything.
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
"""If this environment variable is set, everything is checked instead of samples."""


def commit() -> str:
    """Return the hash of the current commit."""
    asked = ("git", "-C", str(ROOT), "rev-parse", "HEAD")
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else "no commit"


def is_drawn(name: str, one_in: int) -> bool:
    """Return whether a name is in this commit's sample of one in `one_in`."""
    return bool(os.environ.get(ALL)) or _number(name) % one_in == 0


def some(names: Sequence[str], count: int) -> list[str]:
    """Return this commit's sample of `count` names, or all of them."""
    return list(names) if os.environ.get(ALL) else sorted(names, key=_number)[:count]


def _number(name: str) -> int:
    drawn = hashlib.sha256(f"{commit()} {name}".encode()).digest()
    return int.from_bytes(drawn[:4], "big")
