"""Rows of vmstat, `zpool iostat` and the kstat `txgs` without their heading: copied from below it, or scrolled away.

A row must agree with itself: the shares of vmstat add up to 100, a pool has sizes with letters, and a transaction
group has its state as a letter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from seeklab.bring.lines import Lines
from seeklab.bring.long_text import renumbered
from seeklab.bring.readers import host_load, kernel_files, zpool_iostat

if TYPE_CHECKING:
    from seeklab.bring.block import Block
    from seeklab.bring.blocks import Reader

TOOL = "vmstat"
STARTS = (
    r"(?:\d{1,9}\s+){16}\d{1,3}$|(?:\d{1,9}\s+){15}\d{1,3}$"
    r"|[A-Za-z][\w.:-]{0,60}\s+\d[\d.]{0,5}[KMGTP]\s+\d[\d.]{0,5}[KMGTP](?:\s+\d[\d.]{0,5}[KMGT]?){4}$"
    r"|\d{1,12}\s+\d{9,20}\s+[COQSW]\s+(?:\d{1,18}\s+){8}\d{1,18}$"
)
HOLDS: tuple[str, ...] = ()
VMSTAT = ["r", "b", "swpd", "free", "buff", "cache", "si", "so", "bi", "bo", "in", "cs", "us", "sy", "id", "wa", "st"]
SHARES = {17: 5, 16: 4}
POOL = ("capacity operations bandwidth", "pool alloc free read write read write")
NOTE = "The rows have no heading; their columns are known from their number."


def read(lines: Lines, at: int) -> Block | None:
    """Return the rows from `at` on, read below a heading that is added."""
    cells = lines[at].split()
    rows = 0
    while at + rows < len(lines) and len(lines[at + rows].split()) == len(cells):
        rows += 1
    body = lines[at : at + rows]
    if (
        len(cells) in SHARES
        and cells[0].isdigit()
        and cells[-1].isdigit()
        and len(cells) != len(kernel_files.TXG_COLUMNS)
    ):
        if not all(_is_whole(line.split(), SHARES[len(cells)]) for line in body):
            return None
        # A first row is since boot only below its heading.
        block = _below([" ".join(VMSTAT[: len(cells)]), body[0], *body], host_load, at, 2)
    elif cells[0].isdigit():
        block = _below([" ".join(kernel_files.TXG_COLUMNS), *body], kernel_files, at, 1)
    else:
        block = _below([*POOL, *body], zpool_iostat, at, 2)
    if block is not None:
        block.notes = [NOTE]
    return block


def _is_whole(cells: list[str], shares: int) -> bool:
    return all(cell.isdigit() for cell in cells) and 98 <= sum(int(cell) for cell in cells[-shares:]) <= 102


def _below(lines: list[str], reader: Reader, at: int, added: int) -> Block | None:
    """Read lines with a heading in front of them, and number them as without it."""
    block = reader.read(Lines(lines), 0)
    if block is None:
        return None
    numbers = [max(at + 1, at + 1 + index - added) for index in range(len(lines))]
    block.first, block.last = at + 1, numbers[min(block.last, len(lines)) - 1]
    block.records = [renumbered(record, numbers) for record in block.records]
    return block
