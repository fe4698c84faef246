"""Files that are written completely or not at all, and a lock for files that several processes change."""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LOCK_PATIENCE_S = 10.0
"""Maximum wait for the lock. A commitment is written in milliseconds, so a longer holder has been stopped."""


def write_whole(path: Path, text: str, *, encoding: str = "utf-8", newline: str | None = None) -> None:
    """Write a temporary file in the same folder and move it into place; if that fails, the old file is unchanged."""
    place = Path(os.path.realpath(path))
    if place.exists() and not place.is_file():
        place.write_text(text, encoding=encoding, newline=newline)  # a terminal, a pipe, /dev/null
        return
    partial = place.with_name(f".{secrets.token_hex(4)}.partial")
    try:
        # The umask determines the permissions, as for any new file; os.O_EXCL follows no link.
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with open(os.open(partial, flags, 0o666), "w", encoding=encoding, newline=newline) as file:  # noqa: PTH123 -- a number
            if place.exists():
                partial.chmod(place.stat().st_mode & 0o777)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())  # a full disk is reported here at the latest
        partial.replace(place)
    except BaseException:
        with suppress(OSError):
            partial.unlink()
        raise


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder's lock; continue without it if the system or the file system has none."""
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock  # Pyodide has the module without its functions

        handle = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        yield
        return
    patient_until = monotonic() + LOCK_PATIENCE_S
    try:
        while True:
            try:
                flock(handle, LOCK_EX | LOCK_NB)
            except BlockingIOError:
                if monotonic() > patient_until:
                    raise
                sleep(0.01)
            except OSError:
                break
            else:
                break
        yield
    finally:
        os.close(handle)
