"""Texts in archives: `tar` (also packed with gzip, bzip2 or xz) and `zip`, as support reports (`sos`) come.

Members are read in order and never written to disk. Counts, sizes and the ratio of unpacking are limited; every member
that is not read is counted, with the reason.
"""

from __future__ import annotations

import bz2
import gzip
import io
import tarfile
import zipfile
import zlib
from collections import Counter
from typing import IO, TYPE_CHECKING, cast

from seeklab.data.files import GZIP_WINDOW, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_MEMBERS, MAX_LISTED = 400, 100_000
"""Members that are read, and members that are listed."""
MAX_MEMBER_BYTES, MAX_READ_BYTES, MAX_UNPACKED_BYTES = 8 << 20, 20 << 20, 1 << 30
MAX_RATIO, ANYWAY_BYTES = 200, 1 << 24
"""An archive may unpack to this many times its size; less than `ANYWAY_BYTES` is read of any."""
CHUNK = 1 << 16
TAR_MAGIC, TAR_PLACE = b"ustar", 257
PACKED = ((b"\x1f\x8b", "gzip"), (b"BZh", "bzip2"), (b"\xfd7zXZ\x00", "xz"))
UNREAD = ("etc/", "usr/", "sos_logs/", "sos_reports/", "sos_strings/", "var/lib/", "sys/module/", "sys/firmware/")
"""Folders of a support report that have configurations and no measurements."""


class _TooLargeError(Exception):
    """The archive unpacks to more than is read."""


class _Counted(io.RawIOBase):
    """A stream that ends with an error once it has given too many bytes."""

    def __init__(self, stream: IO[bytes], packed: int) -> None:
        super().__init__()
        self._stream = stream
        self._left = min(MAX_UNPACKED_BYTES, max(ANYWAY_BYTES, MAX_RATIO * packed))

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(CHUNK if size < 0 else size)
        self._left -= len(data)
        if self._left < 0:
            raise _TooLargeError
        return data


def is_archive(data: bytes | bytearray) -> bool:
    """Return whether data begin like an archive whose members can be read."""
    if data.startswith(b"PK\x03\x04") or data[TAR_PLACE : TAR_PLACE + len(TAR_MAGIC)] == TAR_MAGIC:
        return True
    if data.startswith(PACKED[0][0]):
        # Most gzipped files are texts.
        try:
            head = zlib.decompressobj(GZIP_WINDOW).decompress(bytes(data[:CHUNK]), 2 * TAR_PLACE)
        except zlib.error:
            return False
        return head[TAR_PLACE:].startswith(TAR_MAGIC)
    return any(data.startswith(magic) for magic, _ in PACKED[1:])


def members(data: bytes | bytearray) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each readable member; last, an empty name and a sentence on the others."""
    unread: Counter[str] = Counter()
    read, room, end = 0, MAX_READ_BYTES, ""
    try:
        for name, size, stream in _zip(data) if data.startswith(b"PK") else _tar(data):
            text, reason = _member(name, size, stream, room if read < MAX_MEMBERS else 0)
            if text is None:
                unread[reason] += 1
            else:
                read += 1
                room -= size
                yield name, text
            if read + sum(unread.values()) > MAX_LISTED:
                end = f"it has more than {MAX_LISTED:,} members"
                break
    except _TooLargeError:
        end = "it unpacks to far more than its size"
    except ImportError:
        end = "this Python cannot unpack xz; unpack it first"
    except _damages():
        end = "the rest is damaged or locked"
    yield "", _sentence(read, unread, end)


def _damages() -> tuple[type[Exception], ...]:
    """Return the errors of damaged or encrypted archives."""
    found = (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError)
    try:
        from lzma import LZMAError
    except ImportError:
        return found
    return (*found, LZMAError)


def _member(name: str, size: int, stream: IO[bytes], room: int) -> tuple[str | None, str]:
    """Return the text of a member, or None and the reason why it is not read."""
    if name.startswith(UNREAD) or name.partition("/")[2].startswith(UNREAD):
        return None, "configuration"
    if not size:
        return None, "empty"
    if size > MAX_MEMBER_BYTES:
        return None, f"larger than {MAX_MEMBER_BYTES >> 20} MiB"
    if size > room:
        return None, "beyond the limit"
    text = text_of(stream.read(MAX_MEMBER_BYTES + 1))
    return text, "not text"


def _sentence(read: int, unread: Counter[str], end: str) -> str:
    others = ", ".join(f"{count:,} {reason}" for reason, count in unread.most_common())
    kept = f"An archive: {read:,} of {read + sum(unread.values()):,} members are read"
    return f"{kept}{f'; not read: {others}' if others else ''}{f'; {end}' if end else ''}."


def _tar(data: bytes | bytearray) -> Iterator[tuple[str, int, IO[bytes]]]:
    stream: IO[bytes] = io.BytesIO(data)
    packing = next((name for magic, name in PACKED if data.startswith(magic)), "")
    if packing == "gzip":
        stream = cast("IO[bytes]", gzip.GzipFile(fileobj=stream))
    elif packing == "bzip2":
        stream = bz2.BZ2File(stream)
    elif packing == "xz":
        import lzma  # absent from some builds of Python, among them the browser's

        stream = lzma.LZMAFile(stream)  # noqa: SIM115 -- it ends with the archive
    counted = _Counted(stream, len(data))
    with tarfile.open(fileobj=counted, mode="r|") as archive:
        for member in archive:
            if member.isreg():
                body = archive.extractfile(member)
                if body is not None:
                    yield member.name.removeprefix("./"), member.size, body


def _zip(data: bytes | bytearray) -> Iterator[tuple[str, int, IO[bytes]]]:
    left = min(MAX_UNPACKED_BYTES, max(ANYWAY_BYTES, MAX_RATIO * len(data)))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for member in archive.infolist():
            if member.is_dir():
                continue
            left -= member.file_size
            if left < 0:
                raise _TooLargeError
            with archive.open(member) as body:
                yield member.filename, member.file_size, body
