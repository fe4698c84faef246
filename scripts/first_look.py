"""Store the first look at a shift for the page `oncall.html`: a ticket and the answers to its first commands.

The page shows them before Python is ready. The answers depend on the commands before them, so each order of the
commands has answers of its own. After any other command, the page continues the shift in Python from the stored state.
"""

from __future__ import annotations

import json
import sys
from itertools import permutations
from pathlib import Path
from typing import Any

from seeklab.oncall.session import Session

SEED = 9
FREE = ("help", "about")
PAID = ("iostat -x", "zpool iostat", "dmesg")
LIMIT = 2
"""Paid commands that are answered; further ones need Python."""
FILE = Path(__file__).parents[1] / "web" / "src" / "page" / "oncall" / "firstLook.json"


def first_look() -> dict[str, Any]:
    """Return the opened shift, and the state after each sequence of commands, by its lines joined with newlines."""
    replies: dict[str, Any] = {}
    for count in range(LIMIT + 1):
        for lines in permutations(PAID, count):
            session = Session(SEED)
            for line in lines:
                replies["\n".join(lines)] = _small(session.type(line))
            for line in FREE if count == 0 else ():
                replies[line] = _small(session.type(line))
    return {"opened": Session(SEED).view(), "free": FREE, "replies": replies}


def _small(now: dict[str, Any]) -> dict[str, Any]:
    """Return a state without the output of the commands in its past, which the page has."""
    return {**now, "kept": {**now["kept"], "commands": []}}


def main() -> int:
    """Write the file."""
    FILE.write_text(json.dumps(first_look(), separators=(",", ":"), ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
