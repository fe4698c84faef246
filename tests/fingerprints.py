"""The runs whose fingerprints are stored in `fingerprints.txt` and must be the same on every host.

A change of the model that changes results changes the stored fingerprints in the same commit, and says why:
`.venv/bin/python tests/fingerprints.py` writes them anew.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import seeklab
from seeklab._result import execute

STORE = Path(__file__).with_name("fingerprints.txt")

MIB = 1 << 20


def _job(name: str, **options: object) -> dict[str, object]:
    return {"name": name, "size": "16MiB", **options}


SCENARIOS: dict[str, dict[str, Any]] = {
    "a disk, random reads at depth 8": {
        "jobs": [_job("reader", rw="randread", bs="4KiB", iodepth=8, number_ios=2000)],
        "devices": [{"preset": "hdd-7200"}],
    },
    "an SSD, mixed, skewed": {
        "jobs": [_job("mixed", rw="randrw", rwmixread=70, bs="8KiB", iodepth=4, random_distribution="zipf:1.2")],
        "devices": [{"preset": "ssd-sata"}],
    },
    "four disks in a stripe, sizes from a range, two jobs in turn": {
        "jobs": [
            _job("writer", rw="write", bs="64KiB", numjobs=2),
            _job("reader", rw="randread", bsrange={"min": "4KiB", "max": "256KiB"}, stonewall=True, norandommap=True),
        ],
        "layout": {"kind": "stripe", "unit": "64KiB"},
        "devices": [{"preset": "hdd-7200", "count": 4}],
    },
    "a fixed-rate LUN, arrivals at random": {
        "jobs": [_job("arrivals", rw="randread", bs="16KiB", iodepth=32, rate_iops=500, rate_process="poisson")],
        "devices": [{"preset": "lun-100mb"}],
    },
}

SEEDS = (1, 7, 2**53 - 1)
"""The first is run by every variant; the others, up to the largest seed, by the first variant of each case only."""


def requests() -> dict[str, dict[str, Any]]:
    """Every run, by its name, as the engine takes it on any host."""
    found: dict[str, dict[str, Any]] = {}
    for case in seeklab.cases():
        for index, variant in enumerate(case["variants"]):
            for seed in SEEDS if index == 0 else SEEDS[:1]:
                found[f"{case['id']} {variant}, seed {seed}"] = {"case": case["id"], "variant": variant, "seed": seed}
    for name, scenario in SCENARIOS.items():
        for seed in SEEDS:
            found[f"{name}, seed {seed}"] = {"scenario": scenario, "seed": seed}
    return found


def stored() -> dict[str, str]:
    """Return the stored fingerprints by the names of their runs, a line of the file for each."""
    lines = STORE.read_text(encoding="utf-8").splitlines()
    return {name: fingerprint for name, _, fingerprint in (line.rpartition(" ") for line in lines)}


def write() -> None:
    """Store what this host's engine gives."""
    lines = [f"{name} {execute(request).fingerprint}\n" for name, request in requests().items()]
    STORE.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    write()
