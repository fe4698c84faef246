"""dstat and dool: bytes and, with `--disk-wait` and `--disk-util`, times and busy shares of devices, a row a second."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seeklab.bring.block import Block, DeviceRow, Flow, Sample
from seeklab.bring.numbers import scaled

if TYPE_CHECKING:
    from seeklab.bring.lines import Lines

TOOL = "dstat"
STARTS = r"-{1,}(?:system|total|dsk|disk|io/)"
HOLDS: tuple[str, ...] = ()
NAME = re.compile(r"[a-z][\w/]{0,30}")
RATES = frozenset(("read", "writ"))


def read(lines: Lines, at: int) -> Block | None:
    """Return the table whose two lines of headings start at `at`."""
    if at + 1 >= len(lines) or ("|" not in lines[at + 1] and ":" not in lines[at + 1]):
        return _wrapped(lines, at)
    groups = [NAME.findall(part) for part in lines[at].split()]
    columns = [[part.split() for part in group.split(":")] for group in lines[at + 1].split("|")]
    if len(groups) != len(columns):
        return Block(TOOL, at + 1, at + 2, notes=["its columns do not fit its heading"])
    samples: list[Sample] = []
    end = at + 2
    while end < len(lines) and ("|" in lines[end] or lines[end].startswith("--")):
        cells = [[part.split() for part in re.split(r":(?!\d\d)", group)] for group in lines[end].split("|")]
        if rows := _rows(groups, columns, cells):
            samples.append(Sample(tuple(rows), end + 1))
        end += 1
    notes = [] if samples else ["this dstat has no columns of devices"]
    return Block(TOOL, at + 1, end, list(samples), notes=notes)


def _wrapped(lines: Lines, at: int) -> Block | None:
    """Name a table whose lines the terminal has cut, so that values and columns no longer fit."""
    end = at + 1
    while end < len(lines) and (set(lines[end]) & set("|-") or end < at + 4) and lines[end].strip():
        end += 1
    if not any("|" in line for line in lines[at:end]):
        return None
    return Block(TOOL, at + 1, end, notes=["its lines are cut; run dstat in a wider window"])


def _rows(groups: list[list[str]], columns: list[list[list[str]]], cells: list[list[list[str]]]) -> list[DeviceRow]:
    found: dict[str, dict[str, float]] = {}
    for names, of, values in zip(groups, columns, cells, strict=False):
        for name, words, numbers in zip(names, of, values, strict=False):
            kind, slash, device = name.partition("/")
            if (not slash and not set(words) & {"rawa", "wawa", "svct", "util", "await"}) or kind in ("net", "cpu"):
                continue
            for word, cell in zip(words, numbers, strict=False):
                if (value := scaled(cell)) is not None:
                    key = f"io {word}" if kind == "io" else word
                    found.setdefault(device or name, {})[key] = value
    return [
        DeviceRow(
            name,
            Flow(of.get("io read"), of.get("read"), of.get("rawa")),
            Flow(of.get("io writ"), of.get("writ"), of.get("wawa")),
            busy=of["util"] / 100 if "util" in of else None,
            service_ms=of.get("svct"),
        )
        for name, of in found.items()
    ]
