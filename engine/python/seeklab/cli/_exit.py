"""The end of a command: its exit status, and a sentence on stderr if it failed."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import TYPE_CHECKING

from seeklab._errors import EngineError, MachineError, SeeklabError
from seeklab.cli._output import complain

if TYPE_CHECKING:
    from collections.abc import Callable

DONE, CHECK_FAILED, BAD_INPUT, DEFECT, LACKS_MEMORY, NOT_WRITTEN, INTERRUPTED = 0, 1, 2, 70, 71, 74, 130
"""From 70 on as in `sysexits.h`; the code for an interrupt is that of shells."""

OF_OUTPUT = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF, errno.ENXIO))
"""Failures of output. Failures to read a file have become `SeeklabError` before."""


ENDINGS: dict[type[BaseException], int] = {
    SeeklabError: BAD_INPUT,
    MachineError: LACKS_MEMORY,
    EngineError: DEFECT,
    MemoryError: LACKS_MEMORY,
    KeyboardInterrupt: INTERRUPTED,
}
"""The first matching type decides."""
IN_WORDS: dict[type[BaseException], str] = {
    MemoryError: "out of memory (or address space: see `ulimit -v`)",
    KeyboardInterrupt: "interrupted",
}


def ended(command: Callable[[], int]) -> int:
    """Run a command, report any error, and return the exit status."""
    if sys.stdout is None:
        complain("the standard output is closed; redirect it to a file, or to /dev/null")
        return NOT_WRITTEN
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a character that a terminal cannot show must not end the command
    try:
        status = _status(command)
        sys.stdout.flush()
    except BaseException as error:  # noqa: BLE001 -- every error is reported here or raised again
        return _told(error)
    return status


def _told(error: BaseException) -> int:
    """Report an error; return the exit status."""
    for kind, status in ENDINGS.items():
        if isinstance(error, kind):
            complain(str(error) if isinstance(error, (SeeklabError, EngineError)) else IN_WORDS[kind])
            return status
    if isinstance(error, BrokenPipeError):
        _drop_output()  # the reader has closed the pipe (`seeklab ... | head`)
        return DONE
    if isinstance(error, OSError) and error.errno in OF_OUTPUT and error.filename is None:
        _drop_output()
        complain(f"cannot write to the standard output: {error.strerror}")
        return NOT_WRITTEN
    if os.environ.get("SEEKLAB_TRACEBACK") or not isinstance(error, Exception):
        raise error
    complain(
        f"a defect of Seeklab: {type(error).__name__}: {error}. "
        "Run the same command with SEEKLAB_TRACEBACK=1 and report its output."
    )
    return DEFECT


def _status(command: Callable[[], int]) -> int:
    try:
        return command()
    except SystemExit as leaving:  # argparse has printed its help or an error
        return leaving.code if isinstance(leaving.code, int) else DONE


def _drop_output() -> None:
    """Redirect buffered output to nowhere, because Python would fail again when it flushes stdout at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
