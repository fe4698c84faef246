"""Samples of what takes long to check whole: another one at each commit, and the same whoever draws it.

`make full` sets SEEKLAB_FULL and checks all of it.
"""

from __future__ import annotations

import hashlib
import os
import subprocess

from console import ROOT

ALL = "SEEKLAB_FULL"
"""Set in the environment, it takes the place of the samples."""


def commit() -> str:
    """Name the commit that is checked out."""
    asked = ("git", "-C", str(ROOT), "rev-parse", "HEAD")
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else "no commit"


def is_drawn(name: str, one_in: int) -> bool:
    """Whether something is of this commit's sample of one in so many."""
    if os.environ.get(ALL):
        return True
    drawn = hashlib.sha256(f"{commit()} {name}".encode()).digest()
    return int.from_bytes(drawn[:4], "big") % one_in == 0
