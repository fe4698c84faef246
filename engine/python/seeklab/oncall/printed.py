"""The numbers in a command's output, by name: for debriefs, for the conditions of tells, and for measurements.

The reader knows no tool. A table's cell is named by its row and column, such as `sda r_await`. Any other number is
named by its line's first word and the text before it, such as `rtt:`. Letters for thousands are applied (`12k` is
12,000), and fio's times are in us. A bar of a histogram is `from` its start, a percentile such as `p99`.
"""

from __future__ import annotations

import re

NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
CELL = re.compile(r"(-?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?)([kKMGT]?)(?:%|x|i?B(?:/s)?|bps|/0)?")
TIMES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
LONGEST = 40
FEWEST_COLUMNS = 3


BAR = re.compile(r"\s*(\d+)\s*\|[@ ]*(\d+)\s*")
PERCENTILE = re.compile(r"(\d{1,3}\.\d{1,6})th=\[ {0,20}(\d{1,20})\]")
UNIT = re.compile(r"\(([num])sec\)")
US = {"n": 1e-3, "u": 1.0, "m": 1e3}


def numbers(text: str) -> dict[str, float]:
    """Return the numbers of an output by their names; a name that occurs again gets ` #2` and so on."""
    found: dict[str, float] = {}
    heading: list[str] = []
    unit = 1.0
    for line in text.splitlines():
        words = line.split()
        if not words:
            heading = []
            continue
        if not line.strip("- "):
            continue
        if named := UNIT.search(line):
            unit = US[named[1]]
        if len(words) >= FEWEST_COLUMNS and not any(letter.isdigit() for letter in line):
            heading = words
            continue
        for name, value in _of_line(line, words, heading, unit):
            unique, nth = name, 1
            while unique in found:
                nth += 1
                unique = f"{name} #{nth}"
            found[unique] = value
    return found


def _of_line(line: str, words: list[str], heading: list[str], unit: float) -> list[tuple[str, float]]:
    if bar := BAR.fullmatch(line):
        return [(f"from {bar[1]}", float(bar[2]))]
    if percentiles := PERCENTILE.findall(line):
        return [(f"p{float(share):g}", float(value) * unit) for share, value in percentiles]
    if len(words) == len(heading):
        return _row(words, heading)
    if heading and heading[0].endswith(":") and len(words) == len(heading) - 1:
        return _row([heading[0].rstrip(":"), *words], heading)
    scale = unit if UNIT.search(line) else 1.0
    return [(name, value * scale) for name, value in _in_text(line)]


def _row(words: list[str], heading: list[str]) -> list[tuple[str, float]]:
    """Return the cells of a table's row."""
    which = [words[0]]
    if heading[-1] == "Command":
        which = [words[-1]]
    elif words[0].endswith(":"):
        which = [words[1]]
    cells = [(name, CELL.fullmatch(word)) for name, word in zip(heading, words, strict=True)]
    return [
        (f"{which[0]} {name}", float(cell[1].replace(",", "")) * TIMES[cell[2]])
        for name, cell in cells
        if cell is not None and name not in which
    ]


def _in_text(line: str) -> list[tuple[str, float]]:
    """Return the numbers of a line of text; one at the start of the line is named by the text after it."""
    first = line.split(maxsplit=1)[0]
    found, end = [], 0
    for number in NUMBER.finditer(line):
        before = " ".join(line[end : number.start()].split()).strip("|,;()[]= ")[-LONGEST:]
        if end == 0 and not before:
            before = " ".join(NUMBER.sub("", line[number.end() :]).split()).strip("%|,;()[]= ")[:LONGEST]
        elif end and not before.startswith(first):
            before = f"{first} {before}"[:LONGEST]
        letter = re.match(r"[kKMGT](?![a-zA-Z])|[kKMGT](?=i?B)", line[number.end() :])
        value = float(number[0].replace(",", "")) * TIMES[letter[0] if letter else ""]
        found.append((before or "(number)", value))
        end = number.end()
    return found
