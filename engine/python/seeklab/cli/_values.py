"""Values as they are written on the command line: PATH=VALUE, lists, seeds and ranges of them."""

from __future__ import annotations

import argparse
import json

LARGEST_SEED = 2**53 - 1
MOST_SEEDS = 1_000_000


def assignment(text: str) -> tuple[str, object]:
    """Read PATH=VALUE. A value is JSON where it can be (numbers, true, lists), and a word otherwise (8MiB, target)."""
    path, separator, value = text.partition("=")
    if not separator or not path:
        message = f"{text!r} is not PATH=VALUE; write, for example, volume.prefetch.chunk=4MiB"
        raise argparse.ArgumentTypeError(message)
    try:
        return path, json.loads(value, parse_constant=str)
    except ValueError:
        return path, value


def tried(text: str) -> tuple[str, list[object]]:
    """Read PATH=V1,V2: each a value as in PATH=VALUE. A JSON list gives values that have commas themselves."""
    path, value = assignment(text)
    if isinstance(value, list):
        return path, value
    return path, [assignment(f"{path}={one}")[1] for one in words(text.partition("=")[2])]


def words(text: str) -> list[str]:
    """Read `a,b,c`."""
    return [entry for entry in (part.strip() for part in text.split(",")) if entry]


def seed(text: str) -> int:
    """Read a seed."""
    try:
        number = int(text)
    except ValueError:
        number = -1
    if not 0 <= number <= LARGEST_SEED:
        message = f"{text!r} is not a seed; give a whole number from 0 to {LARGEST_SEED}"
        raise argparse.ArgumentTypeError(message)
    return number


def seeds(text: str) -> list[int]:
    """Read `1-5,9`."""
    found: list[int] = []
    for part in words(text):
        first, dash, last = part.partition("-")
        low, high = seed(first), seed(last if dash else first)
        if not low <= high < low + MOST_SEEDS:
            message = f"{part!r} is not a range of seeds; write, for example, 1-5, at most {MOST_SEEDS} of them"
            raise argparse.ArgumentTypeError(message)
        found += range(low, high + 1)
    return found
