"""A shell script that records what the diagnosis can use, on a machine without our package.

It needs a POSIX shell and coreutils, and uses sysstat, zfs, nvme-cli and bpftrace where they are present. It only
reads. Each part of its output begins with its command as a prompt shows it, so that the readers find it.
"""

from __future__ import annotations

from importlib.resources import files

SECONDS, MAX_SECONDS = 30, 3600


def script(seconds: int = SECONDS) -> str:
    """Return the script for a recording of a length in seconds."""
    text = files("seeklab.diagnosis").joinpath("collect.sh").read_text(encoding="utf-8")
    return text.replace("__SECONDS__", str(seconds))
