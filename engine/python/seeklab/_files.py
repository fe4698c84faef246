"""Reading traces and parameter files: bytes, unpacked when gzipped, as text; every failure is a sentence."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from seeklab._errors import Problem, SeeklabError

if TYPE_CHECKING:
    from os import PathLike

LARGEST_TEXT_BYTES = 1 << 28
"""A quarter of a gigabyte; the engine holds a trace in memory."""
GZIP_MAGIC = b"\x1f\x8b"


def _unpack(file: BinaryIO) -> bytes:
    with gzip.open(file) as stream:
        return stream.read(LARGEST_TEXT_BYTES + 1)


def text_or_file(trace: str | PathLike[str], what: str) -> str:
    """Take a text as it is (anything with a line break), and read a file otherwise."""
    return trace if isinstance(trace, str) and "\n" in trace else read_text(trace, what)


def read_text(path: str | PathLike[str], what: str) -> str:
    """Read a text file, gzipped or not. `what` says what it should be, for the errors."""
    name = str(path)
    try:
        with Path(path).open("rb") as file:
            packed = file.read(2) == GZIP_MAGIC
            file.seek(0)
            data = _unpack(file) if packed else file.read(LARGEST_TEXT_BYTES + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise SeeklabError([Problem(name, f"is a damaged gzip file; give {what}")]) from None
    except OSError as error:
        reason = error.strerror or "cannot be read"
        raise SeeklabError([Problem(name, f"{reason}; give {what}")]) from None
    if len(data) > LARGEST_TEXT_BYTES:
        raise SeeklabError(
            [Problem(name, f"holds more than {LARGEST_TEXT_BYTES >> 20} MiB of text; give a shorter one")]
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"byte {error.start} (line {line}) is 0x{data[error.start]:02x}, which is not UTF-8 text; give {what}"
        raise SeeklabError([Problem(name, message)]) from None
