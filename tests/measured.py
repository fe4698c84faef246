"""What the disk model gives on the six measured drives, stored in engine/validation/drives.json.

The drives' data are not part of the project. Where they are, `make update what=readme` measures again and dates the
file.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import os
from pathlib import Path
from typing import Any

import seeklab

ROOT = Path(__file__).resolve().parents[1]
STORE = ROOT / "engine" / "validation" / "drives.json"
DRIVES = Path(os.environ.get("SEEKLAB_VALIDATION", ROOT.parent / "shared" / "validation" / "drives"))

NOT_HERE = "NOT CHECKED, the measured drives are not here; SEEKLAB_VALIDATION may name their folder"


def stored() -> dict[str, Any]:
    """Read the stored numbers."""
    document: dict[str, Any] = json.loads(STORE.read_text(encoding="utf-8"))
    return document


def files(drive: str) -> tuple[Path, Path]:
    """Name the parameters and the trace of a drive."""
    return DRIVES / f"{drive}.json", DRIVES / f"{drive}.trace.csv.gz"


def measure(drive: str) -> dict[str, float]:
    """Replay a drive's trace: the demerits in per cent over all requests and by class, and the bias of each class.

    The demerit by class ranks reads and writes apart and takes the root mean square of both, so that an error
    of one class
    cannot cancel an error of the other.
    """
    found = seeklab.validate_drive(*files(drive))
    read, write = found["read"], found["write"]
    squares = sum(of["requests"] * of["rms_ms"] ** 2 for of in (read, write))
    by_class = math.sqrt(squares / found["requests"]) / found["measured_mean_ms"]
    return {
        "mean_ms": round(found["measured_mean_ms"], 3),
        "requests": found["requests"],
        "percent": round(100 * found["demerit"], 3),
        "by_class_percent": round(100 * by_class, 2),
        "reads": read["requests"],
        "reads_percent": round(100 * read["demerit"], 2),
        "reads_bias_ms": round(read["bias_ms"], 3),
        "writes": write["requests"],
        "writes_percent": round(100 * write["demerit"], 2),
        "writes_bias_ms": round(write["bias_ms"], 3),
    }


def store() -> None:
    """Measure anew where the drives are, and date what has changed."""
    document = stored()
    ids = [drive["id"] for drive in document["drives"]]
    if not all(file.exists() for name in ids for file in files(name)):
        return
    drives = [drive | {"measured": measure(drive["id"])} for drive in document["drives"]]
    if drives == document["drives"]:
        return
    document |= {"drives": drives, "measured_on": dt.datetime.now(dt.UTC).date().isoformat()}
    STORE.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def table() -> str:
    """Write the table of `docs/validation.md`."""
    document = stored()
    head = ("drive", "requests", "mean, ms", "demerit, %", "DiskSim's, %", "limit, %", "ranked by class, %")
    apart = (text for name in ("reads", "writes") for text in (f"{name} alone, % (limit)", "bias, ms"))
    columns = (*head, *apart)
    rows = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for drive in document["drives"]:
        found = drive["measured"]
        cells = [
            drive["title"],
            f"{found['requests']:,}",
            f"{found['mean_ms']:.3f}",
            f"{found['percent']:.3f}",
            f"{drive['disksim_percent']:.3f}",
            f"{drive['limit_percent']:.3f}",
            f"{found['by_class_percent']:.2f}",
            f"{found['reads_percent']:.2f} ({drive['reads_limit_percent']:.2f}) of {found['reads']:,}",
            f"{found['reads_bias_ms']:+.3f}",
            f"{found['writes_percent']:.2f} ({drive['writes_limit_percent']:.2f}) of {found['writes']:,}",
            f"{found['writes_bias_ms']:+.3f}",
        ]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join([*rows, "", f"Measured on {document['measured_on']}.", ""])
