"""Rows of `iostat -x` whose heading is missing: people filter a device with `grep`, or copy from below the heading.

The number of cells tells the version. The rows must agree with themselves: requests times their size are the bytes.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from seeklab.bring.block import Block, DeviceRow, Sample
from seeklab.bring.numbers import K
from seeklab.bring.readers.iostat import SECTOR, device, numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from seeklab.bring.lines import Lines

TOOL = "iostat-x"
STARTS = r"[A-Za-z][\w!-]{1,40}:?(?:\s+\d{1,9}[.,]\d{1,2}){11,22}\s*$"
HOLDS: tuple[str, ...] = ()
OLD = "rrqm/s wrqm/s r/s w/s r{0}/s w{0}/s avgrq-sz avgqu-sz await {1} svctm %util"
LAYOUTS = (
    *(OLD.format(unit, waits) for unit in ("kB", "MB", "sec") for waits in ("r_await w_await", "")),
    *(
        f"r/s w/s r{unit}/s w{unit}/s rrqm/s wrqm/s %rrqm %wrqm r_await w_await aqu-sz rareq-sz wareq-sz svctm %util"
        for unit in ("kB", "MB")
    ),
    *(
        " ".join(f"{way}/s {way}{unit}/s {way}rqm/s %{way}rqm {way}_await {way}areq-sz" for way in "rwd")
        + f"{flushes} aqu-sz %util"
        for unit in ("kB", "MB")
        for flushes in ("", " f/s f_await")
    ),
)
UNITS = {"kB": K, "MB": K * K, "sec": SECTOR}
TOLERANCE = 0.03
MOST_BUSY = 105
MIN_REQUESTS, MIN_BYTES = 1.0, 50e3
"""Rates below these have too few digits to compare."""
MAX_ROWS, MAX_COMPARED = 10_000, 40


def read(lines: Lines, at: int) -> Block | None:
    """Return the rows from `at` on, if their numbers agree with the columns of a version."""
    for layout in LAYOUTS:
        columns = layout.split()
        if _agree(islice(_rows(lines, at, columns), MAX_COMPARED), columns):
            found = [(line, device(name, row)) for line, name, row in islice(_rows(lines, at, columns), MAX_ROWS)]
            note = "The rows have no heading; their columns are known from their number, and the sizes agree."
            return Block(TOOL, at + 1, found[-1][0], list(_samples(found)), notes=[note])
    return None


def _rows(lines: Lines, at: int, columns: list[str]) -> Iterator[tuple[int, str, dict[str, float]]]:
    for index in range(at, len(lines)):
        cells = lines[index].split()
        found = numbers(cells, columns, named_last=False) if cells else None
        if found is not None:
            yield index + 1, found[0].rstrip(":"), found[1]
        elif cells:
            return


def _agree(rows: Iterable[tuple[int, str, dict[str, float]]], columns: list[str]) -> bool:
    """Return whether a row has enough to compare, and each such row has as many bytes as requests of its size."""
    unit, factor = next((unit, factor) for unit, factor in UNITS.items() if f"r{unit}/s" in columns)
    compared = 0
    for _, _, row in rows:
        # A cell with a letter (`--human`) has another unit than its column.
        if not row.keys() >= set(columns) or row["%util"] > MOST_BUSY:
            return False
        moved = {way: row[f"{way}{unit}/s"] * factor for way in "rw"}
        if "avgrq-sz" in row:
            pairs = [(row["r/s"] + row["w/s"], row["avgrq-sz"] * SECTOR, moved["r"] + moved["w"])]
        else:
            pairs = [(row[f"{way}/s"], row[f"{way}areq-sz"] * K, moved[way]) for way in "rw"]
        for per_s, size, bytes_per_s in pairs:
            if per_s >= MIN_REQUESTS and bytes_per_s >= MIN_BYTES:
                if abs(bytes_per_s - per_s * size) > TOLERANCE * bytes_per_s:
                    return False
                compared += 1
    return compared > 0


def _samples(found: list[tuple[int, DeviceRow]]) -> list[Sample]:
    """Cut rows into intervals: a device that comes again begins the next one."""
    samples: list[Sample] = []
    group: list[DeviceRow] = []
    first = found[0][0]
    for line, row in found:
        if any(row.name == earlier.name for earlier in group):
            samples.append(Sample(tuple(group), first))
            group, first = [], line
        group.append(row)
    return [*samples, Sample(tuple(group), first)]
