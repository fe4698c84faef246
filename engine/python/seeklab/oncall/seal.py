"""A sealed case: a text file that a peer can play without reading the answer by accident.

It is a seal, not encryption: anyone can open it with standard tools. Between the lines BEGIN and END (RFC 7468) is the
case file, compressed with gzip (RFC 1952) and encoded in base64 (RFC 4648). Above BEGIN is the file's SHA-256, which
distinguishes a damaged copy from a wrong case:

    sed '1,/^-----BEGIN/d; /^-----END/,$d' shift.sealed | base64 -d | gunzip
"""

from __future__ import annotations

import base64
import binascii
import gzip
import hashlib
import re
import zlib

from seeklab._errors import Problem, SeeklabError

MAX_BYTES = 1 << 16
"""Size limit of a case file in bytes; our longest file has a third of that."""
GZIP = 16 + zlib.MAX_WBITS
"""zlib's `wbits` value for a gzip file."""
LINE = 64
LABEL = "SEEKLAB SEALED CASE"
BEGIN, END = f"-----BEGIN {LABEL}-----", f"-----END {LABEL}-----"
HEAD = """A case for an on-call shift of Seeklab, sealed so that the answer is not seen by accident. It is a seal, not
encryption: gzip in base64. Play it with `seeklab oncall --case FILE`, or open it on the page oncall.html.
"""
SEALED = re.compile(
    rf"^SHA-256: ([0-9a-f]{{64}})[ \t]*\r?\n\s*{BEGIN}[ \t]*\r?\n([A-Za-z0-9+/=\s]*){END}", re.MULTILINE
)


def digest(case: str) -> str:
    """Return the SHA-256 of a case file, which identifies its shift."""
    return hashlib.sha256(case.encode()).hexdigest()


def sealed(case: str) -> str:
    """Seal the text of a case file. A text always has the same seal."""
    coded = base64.b64encode(gzip.compress(case.encode(), mtime=0)).decode("ascii")
    lines = [coded[at : at + LINE] for at in range(0, len(coded), LINE)]
    return "\n".join([f"{HEAD}SHA-256: {digest(case)}", BEGIN, *lines, END, ""])


def is_sealed(text: str) -> bool:
    """Return whether a text looks like a sealed case."""
    return BEGIN in text


def opened(text: str, name: str) -> str:
    """Open a sealed case; raise SeeklabError with the file's name if it is incomplete or was changed."""
    found = SEALED.search(text)
    if not found:
        wanted = f'expected a line "SHA-256: " with 64 digits, then "{BEGIN}", base64 and "{END}"'
        raise SeeklabError([Problem(name, f"is not a complete sealed case; {wanted}")])
    try:
        unpacking = zlib.decompressobj(GZIP)
        case = unpacking.decompress(base64.b64decode("".join(found[2].split()), validate=True), MAX_BYTES + 1)
        if len(case) > MAX_BYTES:
            message = f"unpacks to more than {MAX_BYTES:,} bytes, the limit for a case"
            raise SeeklabError([Problem(name, message)])
        whole = unpacking.eof and hashlib.sha256(case).hexdigest() == found[1]
        if whole:
            return case.decode()
    except (binascii.Error, zlib.error, UnicodeDecodeError):
        pass
    message = "has changed since it was sealed: its SHA-256 no longer matches; ask for the file again"
    raise SeeklabError([Problem(name, message)])
