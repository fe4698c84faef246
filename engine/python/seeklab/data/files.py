"""Reading of traces, parameter files and job files: streamed, unpacked if gzipped, and refused with a sentence.

A text is checked while it is read. An overlong line, a wrong header, or a small file that unpacks to a huge one
therefore ends the reading at once, not when the memory is full.
"""

from __future__ import annotations

import io
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from seeklab._errors import Problem, SeeklabError

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

Chunks: TypeAlias = Iterator[bytes]

MAX_TEXT_BYTES = 1 << 28
"""A quarter of a gigabyte, because the engine holds a trace in memory."""
MAX_LINE_BYTES = 4096
"""The same as in the engine's readers of traces."""
CHUNK_BYTES = 1 << 16
STANDARD_INPUT = "-"
PIPE_PATIENCE_S = 5.0
"""Wait for the writer of a named pipe, which may open it a little later than the reader."""
GZIP_MAGIC = b"\x1f\x8b"
GZIP_WINDOW = 31
"""zlib's `wbits` value for a gzip file with the largest window."""
MAX_UNPACKING = 200
"""Traces unpack to 5 to 20 times their size; gzip cannot exceed 1032 times."""
UNPACKED_ANYWAY_BYTES = 1 << 24
LOOKED_AT = 1 << 16
BINARIES = (
    ((0, b"PK\x03\x04"), "a ZIP archive"),
    ((0, b"\x89PNG"), "a picture"),
    ((0, b"\xff\xd8\xff"), "a picture"),
    ((0, b"GIF8"), "a picture"),
    ((0, b"%PDF"), "a PDF document"),
    ((0, b"BZh"), "a bzip2 archive"),
    ((0, b"\xfd7zXZ"), "an xz archive"),
    ((0, b"\x28\xb5\x2f\xfd"), "a zstd archive: unpack it first"),
    ((257, b"ustar"), "a tar archive"),
)
"""Binary files that people pass instead of text: place and value of their first bytes."""


@dataclass(frozen=True)
class Kind:
    """The expected kind of a file."""

    what: str
    """Description for the errors."""
    most_bytes: int = MAX_TEXT_BYTES
    """Maximum size of the text, in bytes."""
    longest_line: int | None = None
    """Maximum length of a line in bytes, if limited."""
    columns: tuple[str, ...] = ()
    """Columns that its first line must name."""
    may_be_packed: bool = True


def shown(path: str | PathLike[str]) -> str:
    r"""Return a path as printable text: bytes that are not UTF-8 are written as `\xff`."""
    name = os.fspath(path)
    if name == STANDARD_INPUT:
        return "standard input"
    letters = (f"\\x{ord(letter) - 0xDC00:02x}" if "\udc80" <= letter <= "\udcff" else letter for letter in name)
    return "".join(letters).encode("utf-8", "backslashreplace").decode() or '""'


def is_text(trace: str | PathLike[str]) -> bool:
    """Return whether a trace is the text itself: anything with a line break."""
    return isinstance(trace, str) and "\n" in trace


def read_text(path: str | PathLike[str], kind: Kind) -> str:
    """Read a text file, gzipped or not, a pipe, or the standard input for `-`."""
    return decode(shown(path), _read(path, kind), kind)


class Stream:
    """A file that is read in pieces: gzipped or not, a pipe, or the standard input."""

    def __init__(
        self, path: str | PathLike[str], kind: Kind, progress: Callable[[float], object] | None = None
    ) -> None:
        """Open the file; `progress` gets the share of it that has been read."""
        self.name, self._kind, self._told = shown(path), kind, progress
        self._path, self._read = path, 0
        try:
            self._size = Path(path).stat().st_size
        except (OSError, ValueError):
            self._size = 0
        pieces = self._raw()
        self._pieces = _unpacked(pieces, self.name, kind) if kind.may_be_packed else pieces
        self._ahead = b""
        self.share = 0.0
        """The share of the file that has been read."""

    def _raw(self) -> Chunks:
        for piece in _chunks(self._path):
            self._read += len(piece)
            self.share = min(1.0, self._read / self._size) if self._size else 0.0
            if self._told and self._size:
                self._told(self.share)
            yield piece

    def _next(self) -> bytes:
        try:
            return next(self._pieces, b"")
        except OSError as error:
            _refuse(self.name, f"{error.strerror or 'cannot be read'}; pass {self._kind.what}")

    def head(self) -> bytes:
        """Return the first bytes, which the other methods return again."""
        while len(self._ahead) < LOOKED_AT and (piece := self._next()):
            self._ahead += piece
        for (at, magic), what in BINARIES:
            if self._ahead[at:].startswith(magic):
                _refuse(self.name, f"is {what}; pass {self._kind.what}")
        return self._ahead[:LOOKED_AT]

    def pieces(self) -> Chunks:
        """Yield the data."""
        ahead, self._ahead = self._ahead, b""
        if ahead:
            yield ahead
        while piece := self._next():
            yield piece

    def whole_lines(self) -> Iterator[str]:
        """Yield texts of whole lines."""
        look, rest, place = _Lines(self.name, self._kind), b"", 0
        for piece in self.pieces():
            look.at(piece)
            data = rest + piece
            end = data.rfind(b"\n") + 1
            rest = data[end:]
            if end:
                yield decode(self.name, data[:end], self._kind, place)
                place += data.count(b"\n", 0, end)
        look.at_end()
        if rest:
            yield decode(self.name, rest, self._kind, place)

    def lines(self) -> Iterator[str]:
        """Yield the lines."""
        for text in self.whole_lines():
            yield from text.removesuffix("\n").split("\n")


def read_packed(path: str | PathLike[str], kind: Kind) -> bytearray:
    """Read a file as it is, without unpacking it."""
    return _read(path, replace(kind, may_be_packed=False))


def pasted_text(name: str, data: bytes | bytearray, kind: Kind) -> str:
    """Return the text of a file that may be gzipped and have any encoding; refuse a binary file, and say what it is."""
    data = _collected(_unpacked(iter((bytes(data),)), name, kind), name, kind)
    text = text_of(data)
    return text if text is not None else _refuse(name, f"is {binary_kind(data)}; pass {kind.what}, as text")


def binary_kind(data: bytes | bytearray) -> str:
    """Say what a binary file is."""
    return next((what for (at, magic), what in BINARIES if data[at:].startswith(magic)), "a binary file")


def text_of(data: bytes | bytearray) -> str | None:
    """Return data as text, in whatever encoding they are; None if they are not text."""
    if any(data[at : at + len(magic)] == magic for (at, magic), _ in BINARIES):
        return None
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    if data[:LOOKED_AT].count(0) > len(data[:LOOKED_AT]) // 100:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _read(path: str | PathLike[str], kind: Kind) -> bytearray:
    name = shown(path)
    chunks = _unpacked(_chunks(path), name, kind) if kind.may_be_packed else _chunks(path)
    try:
        return _collected(chunks, name, kind)
    except OSError as error:
        _refuse(name, f"{error.strerror or 'cannot be read'}; pass {kind.what}")


def _collected(chunks: Chunks, name: str, kind: Kind) -> bytearray:
    data = bytearray()
    look = _Lines(name, kind)
    for chunk in chunks:
        data += chunk
        look.at(chunk)
        if len(data) > kind.most_bytes:
            _refuse(name, f"has more than {kind.most_bytes >> 20} MiB of text; pass a smaller file: {kind.what}")
    look.at_end()
    return data


def decode(name: str, data: bytes | bytearray, kind: Kind, lines_before: int = 0) -> str:
    """Decode bytes as UTF-8; errors name line and byte."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = lines_before + data.count(b"\n", 0, error.start) + 1
        found = f"byte {error.start} (line {line}) is 0x{data[error.start]:02x}, which is not UTF-8 text"
        _refuse(name, f"{found}; pass {kind.what}, saved as UTF-8")


def _refuse(name: str, message: str) -> NoReturn:
    raise SeeklabError([Problem(name, message)]) from None


def _chunks(path: str | PathLike[str]) -> Chunks:
    name = os.fspath(path)
    if name == STANDARD_INPUT:
        yield from _standard_input()
        return
    # Opening a named pipe would otherwise block until it has a writer, possibly forever.
    mode = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        file = os.open(name, mode)
    except ValueError:  # a NUL, or half a character
        raise OSError(0, "is not a possible file name") from None
    try:
        if stat.S_ISFIFO(os.fstat(file).st_mode):
            yield _first_of_pipe(file)
        if hasattr(os, "O_NONBLOCK"):
            os.set_blocking(file, True)
        while chunk := os.read(file, CHUNK_BYTES):
            yield chunk
    finally:
        os.close(file)


def _standard_input() -> Chunks:
    if not isinstance(sys.stdin, io.TextIOWrapper):
        raise OSError(0, "is closed")
    while chunk := sys.stdin.buffer.read(CHUNK_BYTES):
        yield chunk


def _first_of_pipe(file: int) -> bytes:
    """Wait until a named pipe has a writer; return the bytes read meanwhile."""
    from select import POLLIN, poll

    patient_until = monotonic() + PIPE_PATIENCE_S
    events = poll()
    events.register(file, POLLIN)
    while not events.poll(100):
        try:
            first = os.read(file, 1)
        except BlockingIOError:
            return b""  # the writer has not written yet
        if first:
            return first
        if monotonic() > patient_until:
            raise OSError(0, f"is a named pipe without a writer (waited {PIPE_PATIENCE_S:g} s)")
    return b""


def _unpacked(chunks: Chunks, name: str, kind: Kind) -> Chunks:
    """Yield the content of a gzip file, or any other data unchanged."""
    head = b""
    for chunk in chunks:
        head += chunk
        if len(head) >= len(GZIP_MAGIC):
            break
    whole = chain((head,), chunks)
    if not head.startswith(GZIP_MAGIC):
        yield from whole
        return
    packed = unpacked = 0
    try:
        for part in _inflated(whole):
            packed += part[0]
            unpacked += len(part[1])
            if unpacked > max(UNPACKED_ANYWAY_BYTES, MAX_UNPACKING * packed):
                found = f"{packed} bytes of gzip unpack to more than {unpacked >> 20} MiB"
                _refuse(
                    name,
                    f"{found}, over {MAX_UNPACKING} times as much; no real trace compresses so well; pass {kind.what}",
                )
            yield part[1]
    except zlib.error:
        _refuse(name, f"is a damaged gzip file; pass {kind.what}")


def _inflated(chunks: Chunks) -> Iterator[tuple[int, bytes]]:
    """Unpack gzip members one after the other; yield pairs of the packed bytes read and the unpacked data."""
    member, begun = zlib.decompressobj(GZIP_WINDOW), False
    for chunk in chunks:
        packed, rest = len(chunk), chunk
        while rest:
            if not begun:
                rest = rest.lstrip(b"\0")  # padding between and after members
                begun = bool(rest)
                continue
            yield packed, member.decompress(rest, CHUNK_BYTES)
            packed, rest = 0, member.unconsumed_tail
            if member.eof:
                rest = member.unused_data
                member, begun = zlib.decompressobj(GZIP_WINDOW), False
    while begun and not member.eof:
        more = member.decompress(b"", CHUNK_BYTES)
        if not more:
            raise zlib.error
        yield 0, more


class _Lines:
    """Checks the lines of a text while it is read."""

    def __init__(self, name: str, kind: Kind) -> None:
        self._name, self._kind = name, kind
        self._rest = b""
        """The incomplete last line."""
        self._lines = 0
        """Number of complete lines before it."""
        self._has_header = not kind.columns

    def at(self, chunk: bytes) -> None:
        """Check the next part of the text."""
        longest = self._kind.longest_line
        if longest is None:
            return
        text, start = self._rest + chunk, 0
        if not self._has_header:
            self._look_for_header(text[: text.rfind(b"\n") + 1])
        while (end := text.rfind(b"\n", start, start + longest + 1)) >= 0:
            start = end + 1
        self._lines += text.count(b"\n", 0, start)
        self._rest = text[start:]
        if len(self._rest) > longest:
            _refuse(f"{self._name} line {self._lines + 1}", f"is longer than {longest} bytes; pass {self._kind.what}")

    def at_end(self) -> None:
        """Check the last line, which may have no line break."""
        if not self._has_header:
            self._look_for_header(self._rest + b"nothing")

    def _look_for_header(self, lines: bytes) -> None:
        begun = lines.removeprefix(b"\xef\xbb\xbf").lstrip()
        if not begun:
            return
        self._has_header = True
        named = {column.strip() for column in begun.split(b"\n", 1)[0].decode("utf-8", "replace").split(",")}
        for column in self._kind.columns:
            if column not in named:
                number = self._lines + lines[: len(lines) - len(begun)].count(b"\n") + 1
                wanted = f"write a header with the columns {', '.join(self._kind.columns)}"
                _refuse(f"{self._name} line {number}", f"found a header without {column}; {wanted}")
