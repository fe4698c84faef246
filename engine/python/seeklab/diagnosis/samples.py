"""Sample systems for the diagnosis: a run of an incident or of a plain drive produces the files of real tools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from seeklab._case import case
from seeklab._errors import Problem, SeeklabError
from seeklab._result import run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from seeklab._result import Result

SEED = 11
"""Any seed."""
MAX_RUN = 60_000
MAX_ROWS = 8_000
COLUMNS = ("job", "op", "offset", "bytes", "submit_ns", "latency_ns")
KERNEL = "$ iostat -xy 30 1\nLinux 6.1.0-18-amd64 (host)\t_x86_64_\t(8 CPU)\n\n"


@dataclass(frozen=True)
class Sample:
    """A system, and its incident."""

    incident: str | None
    """None if nothing is wrong."""
    scenario: Mapping[str, Any] | None = None
    """The scenario of a system without an incident."""


SAMPLES = {
    "writes": Sample("sync-serialised"),
    "array": Sample("misaligned-io"),
    "copy": Sample("odx-prefetch"),
    "plain": Sample(
        None,
        {
            "jobs": [
                {
                    "name": "reads",
                    "rw": "randread",
                    "bs": "8KiB",
                    "iodepth": 16,
                    "size": "8GiB",
                    "norandommap": True,
                    "number_ios": 5000,
                }
            ],
            "devices": [{"name": "nvme", "preset": "nvme"}],
        },
    ),
}


def record(name: str) -> dict[str, str]:
    """Run a sample; return its files by name."""
    sample = SAMPLES.get(name)
    if sample is None:
        raise SeeklabError([Problem("sample", f'"{name}" is unknown; accepted: {", ".join(SAMPLES)}')])
    if sample.incident is not None:
        found = case(sample.incident).with_({"record.log": True, "limits.operations": MAX_RUN}).run(seed=SEED)
    else:
        found = run(dict(sample.scenario or {}), seed=SEED)
    try:
        return {"iostat.txt": KERNEL + found.text("iostat"), "operations.csv": operations(found)}
    finally:
        found.close()


def operations(found: Result) -> str:
    """Return a run's requests as an operation log (CSV)."""
    rows = zip(*(found.ops[column][:MAX_ROWS] for column in COLUMNS), strict=True)
    lines = [",".join(COLUMNS), *(",".join(str(int(value)) for value in row) for row in rows)]
    return "\n".join(lines) + "\n"
