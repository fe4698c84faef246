"""Learners' text, made safe to show on a terminal and in CSV, JSON and HTML.

Half a surrogate pair cannot be written to a file. A control character or an escape code acts on a terminal, and a
bidirectional mark reorders a line. Text is therefore cleaned once, when it enters a grade.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
import unicodedata
from typing import Any

SUBSTITUTE = "\N{REPLACEMENT CHARACTER}"
BREAKS = re.compile(r"[\t\n\v\f\r\x1c-\x1f\x85\u2028\u2029]+")
KEPT_BREAKS = "\t\n"
UNPRINTABLE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff"
    r"\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Control characters, surrogates and invisible marks. Joiners are kept, because some scripts need them."""
HASH_DIGITS = 8
LONGEST = 1000
"""Maximum length of a sentence in a grade, in characters: a learner may have written part of it."""


def printable(text: str) -> str:
    """Return the text on one line, with a substitute for every character that cannot be shown."""
    return text if text.isprintable() else UNPRINTABLE.sub(SUBSTITUTE, BREAKS.sub(" ", text))


def sentence(text: str) -> str:
    """Return the text as `printable` does, cut to the length of a sentence."""
    return printable(text if len(text) <= LONGEST else f"{text[:LONGEST]}...")


def printable_lines(text: str) -> str:
    """Return the text as `printable` does, but keep line breaks and tabs."""
    if text.isprintable():
        return text
    return UNPRINTABLE.sub(_keep_breaks, text.replace("\r\n", "\n"))


def _keep_breaks(found: re.Match[str]) -> str:
    return found[0] if found[0] in KEPT_BREAKS else SUBSTITUTE


def printable_data(value: Any) -> Any:
    """Return plain data with cleaned texts and keys; numbers that JSON cannot express become None."""
    if isinstance(value, str):
        return printable_lines(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {printable(str(name)): printable_data(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [printable_data(item) for item in value]
    return value if value is None or isinstance(value, (int, float)) else printable(repr(value))


def name_problem(name: str) -> str:
    """Return why a file's name cannot be the name of a student; empty if it can."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return "the name is not UTF-8"
    if UNPRINTABLE.search(name):
        return "the name contains a control character or an invisible mark"
    if not any(unicodedata.category(letter)[0] in "LNPS" for letter in name):
        return "the name contains no letter"
    if name != name.strip():
        return "the name begins or ends with a space"
    return ""


def alike(name: str) -> str:
    """Return what names have in common that a reader or a learning platform could confuse."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def unique_name(name: str) -> str:
    """Return a printable name with a hash, distinct from all names that look the same."""
    return f"{printable(name).strip()} ({short_hash(name)})".strip()


def short_hash(name: str) -> str:
    """Return a few hexadecimal digits that depend on every byte of a file's name."""
    return hashlib.sha256(os.fsencode(name)).hexdigest()[:HASH_DIGITS]
