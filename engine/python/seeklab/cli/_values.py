"""Values on the command line: PATH=VALUE, lists, seeds and ranges of seeds."""

from __future__ import annotations

import argparse
import json
import re

from seeklab.engine.requests import DEEPEST, shortened

MAX_SEED = 2**53 - 1
MAX_SEEDS = 1_000_000


def assignment(text: str) -> tuple[str, object]:
    """Parse PATH=VALUE. A value is JSON if possible (numbers, true, lists), and text otherwise (8MiB, target)."""
    path, separator, value = text.partition("=")
    if not separator or not path:
        message = f"{shortened(text)!r} is not PATH=VALUE; write, for example, volume.prefetch.chunk=4MiB"
        raise argparse.ArgumentTypeError(message)
    try:
        return path, json.loads(value, parse_constant=str)
    except ValueError:
        return path, value
    except RecursionError:
        message = f"{shortened(text)!r} is nested too deeply; the limit for a value is {DEEPEST} levels"
    raise argparse.ArgumentTypeError(message)


def tried(text: str) -> tuple[str, list[object]]:
    """Parse PATH=V1,V2, each a value as in PATH=VALUE. Write values that contain commas as a JSON list."""
    path, value = assignment(text)
    if isinstance(value, list):
        return path, value
    return path, [assignment(f"{path}={one}")[1] for one in words(text.partition("=")[2])]


def words(text: str) -> list[str]:
    """Read `a,b,c`."""
    return [entry for entry in (part.strip() for part in text.split(",")) if entry]


def whole(text: str) -> int:
    """Parse a whole number; the engine checks its range."""
    if not re.fullmatch(r"-?[0-9]{1,18}", text):
        message = f"{shortened(text)!r} is not a whole number; write, for example, 32"
        raise argparse.ArgumentTypeError(message)
    return int(text)


def factor(text: str) -> float:
    """Parse a number with or without a decimal point."""
    if not re.fullmatch(r"-?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]{1,3})?", text):
        message = f"{shortened(text)!r} is not a number; write, for example, 0.5"
        raise argparse.ArgumentTypeError(message)
    return float(text)


def seed(text: str) -> int:
    """Parse a seed."""
    number = int(text) if re.fullmatch(r"[0-9]{1,16}", text) else MAX_SEED + 1
    if number > MAX_SEED:
        message = f"{shortened(text)!r} is not a seed; write a whole number from 0 to {MAX_SEED}"
        raise argparse.ArgumentTypeError(message)
    return number


def seeds(text: str) -> list[int]:
    """Read `1-5,9`."""
    found: list[int] = []
    for part in words(text):
        first, dash, last = part.partition("-")
        low, high = seed(first), seed(last if dash else first)
        if not low <= high < low + MAX_SEEDS:
            message = (
                f"{shortened(part)!r} is not a range of seeds; write, for example, 1-5, with at most {MAX_SEEDS} seeds"
            )
            raise argparse.ArgumentTypeError(message)
        found += range(low, high + 1)
    return found
