"""`iostat -x -o JSON` of sysstat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seeklab.bring.block import Block, Sample
from seeklab.bring.json_block import document_at, finite, mapping, rows_of
from seeklab.bring.readers.iostat import device

if TYPE_CHECKING:
    from seeklab.bring.lines import Lines

TOOL = "iostat-x"
STARTS = r"\{\s*(?:$|\"sysstat\")"
HOLDS: tuple[str, ...] = ()


def read(lines: Lines, at: int) -> Block | None:
    """Return the samples of the document at `at`."""
    found = document_at(lines, at)
    if found is None or not isinstance(found[0], dict) or "sysstat" not in found[0]:
        return None
    samples: list[Sample] = []
    version = ""
    for host in rows_of(mapping(found[0]["sysstat"]).get("hosts")):
        version = str(host.get("release", ""))
        for index, interval in enumerate(rows_of(host.get("statistics"))):
            cpu = {
                str(name): value
                for name, each in mapping(interval.get("avg-cpu")).items()
                if (value := finite(each)) is not None
            }
            rows = []
            for disk in rows_of(interval.get("disk")):
                numbers = {str(name): value for name, each in disk.items() if (value := finite(each)) is not None}
                if "util" in numbers:
                    numbers["%util"] = numbers["util"]
                rows.append(device(str(disk.get("disk_device", "")), numbers))
            if rows:
                many = len(rows_of(host.get("statistics"))) > 1
                samples.append(Sample(tuple(rows), at + 1, is_since_boot=many and index == 0, cpu=cpu))
    return Block(TOOL, at + 1, found[1], list(samples), version) if samples else None
