"""`rbd perf image iotop` and `iostat` of Ceph: rates, bytes and times of images."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seeklab.bring.block import Block, DeviceRow, Flow, Sample
from seeklab.bring.numbers import ms, number, scaled

if TYPE_CHECKING:
    from seeklab.bring.lines import Lines

TOOL = "rbd-perf"
STARTS = r"NAME\s+WR\s+RD\s+WR_BYTES\s"
HOLDS: tuple[str, ...] = ()
UNITS = frozenset(("B/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s", "ns", "us", "ms", "s"))


def read(lines: Lines, at: int) -> Block | None:
    """Return the tables from `at` on."""
    columns = lines[at].split()
    samples: list[Sample] = []
    rows: list[DeviceRow] = []
    end, line = at, at + 1
    for index in range(at + 1, len(lines)):
        cells = _cells(lines[index])
        if not cells:
            continue
        if cells == columns:
            if rows:
                samples.append(Sample(tuple(rows), line))
            rows, line = [], index + 1
        elif len(cells) == len(columns):
            row = dict(zip(columns, cells, strict=True))
            rows.append(DeviceRow(cells[0], _flow(row, "RD"), _flow(row, "WR")))
        else:
            break
        end = index + 1
    if rows:
        samples.append(Sample(tuple(rows), line))
    return Block(TOOL, at + 1, end, list(samples)) if samples else None


def _cells(line: str) -> list[str]:
    """Return the cells of a line; a unit belongs to the number before it."""
    cells: list[str] = []
    for word in line.split():
        if word in UNITS and cells:
            cells[-1] += word
        else:
            cells.append(word)
    return cells


def _flow(row: dict[str, str], way: str) -> Flow:
    per_s = number(row.get(way, "").removesuffix("/s"))
    return Flow(per_s, scaled(row.get(f"{way}_BYTES", "")), ms(row.get(f"{way}_LAT", "")) if per_s else None)
