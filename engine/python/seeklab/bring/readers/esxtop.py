"""esxtop's screens of disk adapters and devices: DAVG is the time in the device, KAVG in the host, GAVG their sum."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seeklab.bring.block import Block, DeviceRow, Flow, Sample
from seeklab.bring.numbers import number

if TYPE_CHECKING:
    from seeklab.bring.block import Record
    from seeklab.bring.lines import Lines

TOOL = "esxtop"
STARTS = ""
HOLDS: tuple[str, ...] = ("DAVG/cmd",)
MIB = 1 << 20
MAX_ROWS = 400


def read(lines: Lines, at: int) -> Block | None:
    """Return the screen whose heading is on line `at`."""
    heading = lines[at].split()
    columns = [word for word in heading if "/" in word or word.isupper() or word.startswith("%")]
    names = [
        name for name in columns if name not in ("DEVICE", "ADAPTR", "PATH/WORLD/PARTITION", "PATH", "GID", "VMNAME")
    ]
    rows: list[DeviceRow] = []
    end = at + 1
    while end < min(len(lines), at + MAX_ROWS) and (cells := lines[end].split()):
        values = [number(cell) for cell in cells[-len(names) :]]
        # Cells that are empty or "-" belong to columns that a device does not have.
        by_name = dict(zip(names, values, strict=False)) if len(cells) > len(names) else _from_the_end(names, cells)
        if by_name.get("DAVG/cmd") is None and by_name.get("CMDS/s") is None:
            break
        rows.append(_device(cells[0], by_name))
        end += 1
    if not rows:
        return None
    records: list[Record] = [Sample(tuple(rows), at + 1)]
    return Block(TOOL, at + 1, end, records)


def _from_the_end(names: list[str], cells: list[str]) -> dict[str, float | None]:
    pairs = zip(reversed(names), reversed(cells[1:]), strict=False)
    return {name: number(cell) for name, cell in pairs}


def _device(name: str, of: dict[str, float | None]) -> DeviceRow:
    def rate(column: str) -> float | None:
        value = of.get(column)
        return None if value is None else value * MIB

    return DeviceRow(
        name,
        Flow(of.get("READS/s"), rate("MBREAD/s")),
        Flow(of.get("WRITES/s"), rate("MBWRTN/s")),
        both=Flow(of.get("CMDS/s"), None, of.get("GAVG/cmd")),
        waiting=of.get("KAVG/cmd"),
        service_ms=of.get("DAVG/cmd"),
    )
