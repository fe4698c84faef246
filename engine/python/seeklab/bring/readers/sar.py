"""Tables of `sar` except those of devices: processors (-u), swapping (-W), paging (-B), queue (-q), I/O (-b), network.

Each row begins with its time; `sar -d` has a reader of its own. Pages are of 4 KiB.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seeklab.bring.block import Block, Value
from seeklab.bring.numbers import number

if TYPE_CHECKING:
    from seeklab.bring.lines import Lines

TOOL = "sar"
CLOCK = r"\d\d:\d\d:\d\d(?: [AP]M)?\s+"
STARTS = CLOCK + r"(?:CPU\s+%user|pswpin/s|pgpgin/s|runq-sz|tps\s+rtps|IFACE\s|kbmemfree)"
HOLDS: tuple[str, ...] = ()
ROW = re.compile(CLOCK + r"|Average:\s+")
KINDS = {"CPU": "u", "pswpin/s": "W", "pgpgin/s": "B", "runq-sz": "q", "tps": "b", "IFACE": "n", "kbmemfree": "r"}
PAGE_KB = 4.0
MAX_ROWS = 2000


def read(lines: Lines, at: int) -> Block | None:
    """Return the rows below the heading at `at`."""
    head = ROW.match(lines[at].lstrip())
    columns = lines[at].lstrip()[head.end() :].split() if head else []
    if not columns:
        return None
    names = {"%user": "user", "%system": "system", "%iowait": "iowait", "%steal": "steal", "%idle": "idle"}
    names |= {"pswpin/s": "si", "pswpout/s": "so"}
    found: list[Value] = []
    end = at + 1
    for index in range(at + 1, min(len(lines), at + MAX_ROWS)):
        text = lines[index].lstrip()
        row = ROW.match(text)
        cells = text[row.end() :].split() if row else []
        if len(cells) != len(columns):
            if text:
                break
            continue
        end = index + 1
        if cells == columns or text.startswith("Average"):
            continue
        is_named = number(cells[0]) is None or columns[0] in ("CPU", "IFACE")
        subject = "host" if not is_named or cells[0] == "all" else f"{columns[0].lower()} {cells[0]}"
        for column, cell in zip(columns[is_named:], cells[is_named:], strict=True):
            if (value := number(cell)) is not None:
                scale = PAGE_KB if column.startswith("pswp") else 1.0
                found.append(Value(subject, names.get(column, column), value * scale, line=index + 1))
    return Block(f"sar-{KINDS.get(columns[0], 'A')}", at + 1, end, list(found)) if found else None
