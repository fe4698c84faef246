"""A sealed case: a text file that a peer plays without reading the answer by accident.

It is a seal, not encryption: whoever wants to read it can, with standard tools. Between the lines BEGIN and END, as RFC
7468 writes them, is base64 (RFC 4648) of gzip (RFC 1952) of the case file, byte for byte, and before them the file's
SHA-256, so that a damaged copy is told from a case that is wrong:

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
"""Bytes of a case file; the longest of ours has a third of that."""
GZIP = 16 + zlib.MAX_WBITS
"""zlib's code for a gzip file."""
LINE = 64
LABEL = "SEEKLAB SEALED CASE"
BEGIN, END = f"-----BEGIN {LABEL}-----", f"-----END {LABEL}-----"
HEAD = """A case for an on-call shift of Seeklab, sealed so that nobody reads the answer by accident. It is a seal, not
encryption: gzip in base64. Play it with `seeklab oncall --case FILE`, or open it on the page oncall.html.
"""
SEALED = re.compile(
    rf"^SHA-256: ([0-9a-f]{{64}})[ \t]*\r?\n\s*{BEGIN}[ \t]*\r?\n([A-Za-z0-9+/=\s]*){END}", re.MULTILINE
)


def digest(case: str) -> str:
    """Give the SHA-256 of a case file, by which its shift is known."""
    return hashlib.sha256(case.encode()).hexdigest()


def sealed(case: str) -> str:
    """Seal the text of a case file. The same text gives the same seal."""
    coded = base64.b64encode(gzip.compress(case.encode(), mtime=0)).decode("ascii")
    lines = [coded[at : at + LINE] for at in range(0, len(coded), LINE)]
    return "\n".join([f"{HEAD}SHA-256: {digest(case)}", BEGIN, *lines, END, ""])


def is_sealed(text: str) -> bool:
    """Whether a text is meant to be a sealed case."""
    return BEGIN in text


def opened(text: str, name: str) -> str:
    """Open a sealed case; what is no longer what was sealed raises SeeklabError, with the name of the file."""
    found = SEALED.search(text)
    if not found:
        wanted = f'a line "SHA-256: " with 64 digits, then "{BEGIN}", base64, and "{END}"'
        raise SeeklabError([Problem(name, f"is no complete sealed case; it has {wanted}")])
    try:
        unpacking = zlib.decompressobj(GZIP)
        case = unpacking.decompress(base64.b64decode("".join(found[2].split()), validate=True), MAX_BYTES + 1)
        if len(case) > MAX_BYTES:
            message = f"unpacks to more than {MAX_BYTES:,} bytes, the most that a case may have"
            raise SeeklabError([Problem(name, message)])
        whole = unpacking.eof and hashlib.sha256(case).hexdigest() == found[1]
        if whole:
            return case.decode()
    except (binascii.Error, zlib.error, UnicodeDecodeError):
        pass
    message = "has changed since it was sealed: it does not have its SHA-256 any more; ask for the file again"
    raise SeeklabError([Problem(name, message)])
