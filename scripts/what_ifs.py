"""`scripts/run what_ifs`: write docs/what-ifs.md, with a run of the simulator for each of its numbers."""

from __future__ import annotations

import copy
import math
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from console import main, say

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "what-ifs.md"

Scenario = dict[str, Any]
DISK: Scenario = {"preset": "hdd-7200-2008"}
# The disks of the pools of OpenZFS pull request 6566 turn at 10,000 rpm. Their other mechanics are assumed, and so is
# that they take one command at a time, as a hypervisor's disk may: two log blocks of a commit take two revolutions.
FAST_DISK: Scenario = {
    "preset": "disk-array-2021",
    "hdd": {
        "rpm": 10000,
        "capacity": "600GB",
        "heads": 4,
        "outer_rate": "170MB",
        "inner_rate": "100MB",
        "seek_single": "0.4ms",
        "seek_average": "4ms",
        "seek_full": "9ms",
        "head_switch": "0.5ms",
        "write_settle": "0.4ms",
        "queue_depth": 1,
    },
}
# The flash of these pools: 165 us for a commit of one write, of which 118 us are the host's. One device takes 770 MB/s
# of data and log.
FLASH: Scenario = {"lun": {"capacity": "400GB", "rate": "900MB", "latency": "45us"}}
PULL_REQUEST = "OpenZFS pull request 6566, measurements of the master branch"
OLD_ZFS: Scenario = {"era": "openzfs-0.7", "memory": "64GiB", "record": "8KiB"}
LOG: Scenario = {"devices": {"lun": {"capacity": "100GB", "rate": "2GB", "latency": "200us"}}}
NETWORK: Scenario = {"bits_per_s": 10_000_000_000, "round_trip": "100us"}
READS, WRITES = "j.read_iops", "j.write_iops"
READ_RATE, WRITE_RATE = "j.read_mib_per_s", "j.write_mib_per_s"
RATE = "rate_mib_per_s"
UNITS = {READS: "/s", WRITES: "/s", READ_RATE: " MiB/s", WRITE_RATE: " MiB/s", RATE: " MiB/s"}


def job(rw: str, bs: str, size: str = "2GiB", **more: Any) -> Scenario:
    """Return a job that runs for 8 s after 2 s that do not count, unless `more` says otherwise."""
    timing = {"norandommap": True, "time_based": True, "runtime": "8s", "ramp_time": "2s"}
    return {"name": "j", "rw": rw, "bs": bs, "size": size, **timing, **more}


def disks(disk: Scenario, count: int, layout: Scenario, *jobs: Scenario) -> Scenario:
    """Return a scenario of jobs on disks."""
    devices = [{**disk, "count": count}]
    return {"layout": layout, "devices": devices, "jobs": list(jobs), "record": {"log": False, "interval": "1s"}}


def pool(disk: Scenario, count: int, *jobs: Scenario, zfs: Scenario | None = None, **layout: Any) -> Scenario:
    """Return the same with ZFS: striped disks, unless `layout` says otherwise."""
    system = disks(disk, count, {"kind": "stripe", "unit": "128KiB", **layout}, *jobs)
    current = {"era": "openzfs-2.2", "memory": "16GiB", "arc": {"size": "64MiB"}, "prefetch": {}}
    return {**system, "zfs": zfs if zfs and "era" in zfs else {**current, **(zfs or {})}}


def nfs(*jobs: Scenario) -> Scenario:
    """Return a scenario of jobs on an NFS client of today (assumed: 64 MiB dirty), whose server has a pool on flash."""
    flash = pool({"preset": "nvme-pcie4"}, 1, *jobs)
    return {**flash, "network": NETWORK, "nfs": {"transfer": "1MiB", "dirty": "64MiB"}}


@dataclass(frozen=True)
class WhatIf:
    """A question, what changes, and the range of the ratio that the source gives, or that its direction allows."""

    question: str
    base: Scenario
    change: dict[str, Any]
    metric: str
    least: float
    most: float
    says: str
    note: str = ""
    has_size: bool = True

    def values(self) -> tuple[float, float]:
        """Return the metric before and after the change."""
        import seeklab

        before, after = (seeklab.run(self._with(change), seed=1).metrics[self.metric] for change in ({}, self.change))
        return before, after

    def _with(self, change: dict[str, Any]) -> Scenario:
        scenario = copy.deepcopy(self.base)
        for path, value in copy.deepcopy(change).items():
            *parents, last = path.split(".")
            at: Any = scenario
            for name in parents:
                at = at[int(name)] if name.isdigit() else at.setdefault(name, {})
            at[last] = value
        return scenario

    def verdict(self, ratio: float) -> str:
        """Return whether direction and size agree with the source."""
        if self.least <= ratio <= self.most:
            return "direction and size" if self.has_size else "direction, no size given"
        same = (ratio > 1.02 and self.least >= 1) or (ratio < 0.98 and self.most <= 1)
        return "direction" if same else "no"


LONG = {"runtime": "60s", "ramp_time": "20s"}
STREAM = {"runtime": "20s", "ramp_time": "10s"}
WHAT_IFS = (
    WhatIf(
        "Records of 8 KiB instead of 128 KiB, random reads of 8 KiB",
        pool(DISK, 4, job("randread", "8KiB", "100GiB", iodepth=8)),
        {"zfs.record": "8KiB"},
        READS,
        0.9,
        1.6,
        "Seeks decide on disks, whatever the length.",
    ),
    WhatIf(
        "Records of 8 KiB instead of 128 KiB, random writes of 8 KiB",
        pool(DISK, 4, job("randwrite", "8KiB", "100GiB", iodepth=8), zfs={"files_exist": True}),
        {"zfs.record": "8KiB"},
        WRITES,
        2,
        float("inf"),
        "A whole record need not be read first.",
        has_size=False,
    ),
    WhatIf(
        "Records of 512 B instead of 128 KiB, reads in order",
        pool(DISK, 4, job("read", "128KiB", "20GiB", iodepth=4)),
        {"zfs.record": 512},
        READ_RATE,
        0,
        0.25,
        "Each record costs processor time.",
        "A record costs 40 us of one of eight cores (assumed): 98 MiB/s of such records. Our limit is a quarter.",
        has_size=False,
    ),
    WhatIf(
        "A second disk for one synchronous writer",
        pool(FAST_DISK, 1, job("write", "8KiB", sync=True), zfs=OLD_ZFS),
        {"devices": [{**FAST_DISK, "count": 2}]},
        WRITES,
        1.4,
        2.2,
        f"157 and 318 writes/s, 2.0 times ({PULL_REQUEST}).",
    ),
    WhatIf(
        "Eight disks instead of one for eight synchronous writers",
        pool(FAST_DISK, 1, job("write", "8KiB", sync=True, numjobs=8), zfs=OLD_ZFS),
        {"devices": [{**FAST_DISK, "count": 8}]},
        WRITES,
        1.3,
        2.1,
        f"565 and 927 writes/s, 1.64 times ({PULL_REQUEST}).",
    ),
    WhatIf(
        "Eight disks instead of one for asynchronous streams",
        pool(DISK, 1, job("write", "1MiB", "20GiB", numjobs=4, **STREAM)),
        {"devices": [{**DISK, "count": 8}]},
        WRITE_RATE,
        7,
        8.2,
        "Streams use all disks.",
    ),
    WhatIf(
        "RAID-Z of 12 disks instead of 10",
        pool(DISK, 10, job("write", "1MiB", "20GiB", numjobs=4, **STREAM), kind="raidz"),
        {"devices": [{**DISK, "count": 12}]},
        WRITE_RATE,
        1.1,
        1.25,
        "12 disks instead of 10; records of 32 sectors take 36 sectors on either.",
    ),
    WhatIf(
        "Sectors of 4 KiB instead of 512 B, records of 8 KiB, RAID-Z of five disks",
        pool(
            DISK,
            5,
            job("write", "1MiB", "20GiB", numjobs=4, **STREAM),
            zfs={"record": "8KiB"},
            kind="raidz",
            unit="8KiB",
            ashift=9,
        ),
        {"layout.ashift": 12},
        WRITE_RATE,
        0.62,
        0.8,
        "A record takes 16 KiB on the disks instead of 10.",
    ),
    WhatIf(
        "sync=disabled, one writer of 8 KiB",
        pool(FAST_DISK, 1, job("write", "8KiB", "500MiB", sync=True), zfs={**OLD_ZFS, "overhead": "22us"}),
        {"jobs": [job("write", "8KiB", "500MiB")]},
        WRITES,
        200,
        500,
        "A write of 4 KiB into memory takes 22.7 us (OpenZFS issue 8381; zfs.overhead is 22 us here), a commit 6 ms.",
    ),
    WhatIf(
        "A log device of 10 us instead of 200 us",
        pool(FAST_DISK, 4, job("write", "8KiB", sync=True), zfs={**OLD_ZFS, "log": LOG}),
        {"zfs.log.devices.lun.latency": "10us"},
        WRITES,
        1.6,
        2.6,
        f"163 to 192 us on flash of any speed ({PULL_REQUEST}; d-uzlov/k8s-homelab): software is the floor.",
    ),
    WhatIf(
        "NFS transfers of 1 MiB instead of 32 KiB, 10 Gbit/s",
        {**nfs(job("write", "1MiB", "20GiB")), "nfs": {"transfer": "32KiB", "dirty": "64MiB"}},
        {"nfs.transfer": "1MiB"},
        WRITE_RATE,
        0.95,
        3,
        "Clients of the 2020s are not slower (from memory, not checked).",
    ),
    WhatIf(
        "Four NFS connections instead of one (nconnect)",
        nfs(job("write", "1MiB", "20GiB", numjobs=4)),
        {"network.connections": 4},
        WRITE_RATE,
        1.05,
        4,
        "Clients of the 2020s are faster (from memory, not checked).",
    ),
    WhatIf(
        "A cache device filled at 64 MiB/s instead of 8",
        pool(
            DISK,
            4,
            job("randread", "128KiB", iodepth=8, runtime="60s", ramp_time="0s"),
            zfs={
                "arc": {"size": "512MiB"},
                "l2arc": {"device": {"preset": "ssd-sata"}, "size": "4GiB", "write_max": "8MiB"},
            },
        ),
        {"zfs.l2arc.write_max": "64MiB"},
        READS,
        1.05,
        8,
        "It fills up to eight times as fast; what is evicted sets the limit (l2arc.c).",
        has_size=False,
    ),
    WhatIf(
        "dirty_data_max of 4 GiB instead of 64 MiB",
        pool(
            DISK,
            4,
            job("write", "1MiB", "20GiB", numjobs=8, runtime="30s", ramp_time="10s"),
            zfs={"dirty_data_max": "64MiB"},
        ),
        {"zfs.dirty_data_max": "4GiB"},
        WRITE_RATE,
        1,
        1.5,
        "More data are written together, and writers wait for less long (OpenZFS, Module Parameters).",
        has_size=False,
    ),
    WhatIf(
        "30 group writes in flight for each disk instead of 2",
        pool(
            DISK,
            4,
            {**job("randwrite", "128KiB", "100GiB", iodepth=32, runtime="30s", ramp_time="10s"), "name": "w"},
            job("randread", "128KiB", "100GiB", iodepth=4, runtime="30s", ramp_time="10s"),
            zfs={"async_write_max_active": 2, "dirty_data_max": "256MiB"},
        ),
        {"zfs.async_write_max_active": 30},
        READS,
        0.2,
        0.97,
        "Writes gain and reads pay for it (OpenZFS, Module Parameters).",
        has_size=False,
    ),
    WhatIf(
        "32 reads in flight on one disk instead of one",
        pool(
            DISK,
            1,
            job("randread", "8KiB", "500GiB", iodepth=64, runtime="40s"),
            zfs={"record": "8KiB", "sync_read": {"min": 1, "max": 1}},
        ),
        {"zfs.sync_read": {"min": 32, "max": 32}},
        READS,
        1.4,
        1.85,
        "A Samsung F1 makes 1.82 times the reads at depth 32, a Hitachi 7K100 1.40 times (louwrentius/fio-plot).",
    ),
    WhatIf(
        "compression=lz4, data that shrink to a half, reads in order",
        pool(DISK, 4, job("read", "1MiB", "20GiB")),
        {"zfs.compression": {"ratio": 2}},
        READ_RATE,
        1.8,
        2.1,
        "The disks read half as much; LZ4 decompresses 4970 MB/s on a core.",
    ),
    WhatIf(
        "A scrub during random reads of 8 KiB",
        pool(DISK, 4, job("randread", "8KiB", "100GiB", iodepth=4)),
        {"zfs.scrub": {"used": "1TB"}},
        READS,
        0.3,
        0.95,
        "Scrub has the lowest priority and at most three requests on a disk (vdev_queue.c).",
        has_size=False,
    ),
    WhatIf(
        "RAID-5 of eight disks instead of a stripe, random writes of 4 KiB",
        disks(
            {"preset": "hdd-7200", "hdd": {"write_cache": False}},
            8,
            {"kind": "stripe", "unit": "512KiB"},
            job("randwrite", "4KiB", "7TB", iodepth=32, runtime="30s", ramp_time="10s"),
        ),
        {"layout.kind": "raid5"},
        WRITES,
        0.2,
        0.34,
        "A write is two reads and two writes. Under Linux md, 338 writes for 1,140 reads/s (louwrentius/fio-plot).",
    ),
    WhatIf(
        "A file of 8 KiB records that were rewritten at random, then read in order",
        pool(
            DISK,
            4,
            {"name": "j", "filename": "f", "rw": "read", "bs": "1MiB", "size": "1023MiB", "stonewall": True},
            zfs={"record": "8KiB", "dirty_data_max": "32MiB", "txg_timeout": "1s"},
        ),
        {
            "jobs": [
                {
                    "name": "w",
                    "filename": "f",
                    "rw": "randwrite",
                    "bs": "8KiB",
                    "size": "1023MiB",
                    "norandommap": True,
                    "number_ios": 130944,
                },
                {"name": "j", "filename": "f", "rw": "read", "bs": "1MiB", "size": "1023MiB", "stonewall": True},
            ]
        },
        READ_RATE,
        0,
        0.5,
        "Copy on write turns reads in order into reads at random (OpenZFS, Workload Tuning).",
        has_size=False,
    ),
    WhatIf(
        "A pool that is 90% full, with 60% of fragmentation, instead of an empty one: writes in order",
        pool(DISK, 4, job("write", "1MiB", "20GiB", numjobs=4, **STREAM)),
        {"zfs.free_space": {"used": 90, "fragmentation": 60}},
        WRITE_RATE,
        0,
        0.8,
        "Free segments shorter than 16 MiB cost performance (metaslab.c, zfs_frag_table).",
        has_size=False,
    ),
    WhatIf(
        "dRAID of 8+1 over 20 disks with 2 spares instead of one disk, random reads of 32 KiB",
        pool(DISK, 1, job("randread", "32KiB", "100GiB", iodepth=32), zfs={"record": "32KiB"}, unit="32KiB"),
        {"devices": [{**DISK, "count": 20}], "layout.kind": "draid", "layout.spares": 2},
        READS,
        1.6,
        2.4,
        "floor((N-S)/(D+P)) times the reads of one disk, 2 here (OpenZFS, dRAID).",
        "A healthy read takes 8 of the 20 disks, no parity. No disk is wholly a spare. "
        "So it is 20/8, and short pieces take less time.",
    ),
    WhatIf(
        "dRAID instead of RAID-Z, nine disks with one of parity, records of 8 KiB",
        pool(
            DISK,
            9,
            job("write", "1MiB", "20GiB", numjobs=4, **STREAM),
            zfs={"record": "8KiB"},
            kind="raidz",
            unit="8KiB",
        ),
        {"layout.kind": "draid"},
        WRITE_RATE,
        0.4,
        0.55,
        "With eight disks of data the least allocation is 32 KiB, 36 with parity (OpenZFS, dRAID); RAID-Z takes 16.",
    ),
    WhatIf(
        "Random writes into the write cache of a disk instead of random reads: Samsung F1",
        disks(DISK, 1, {"kind": "stripe"}, job("randread", "4KiB", "900GiB", **LONG)),
        {"jobs": [job("randwrite", "4KiB", "900GiB", **LONG)]},
        RATE,
        1.8,
        2.4,
        "148 writes for 72 reads/s, 2.1 (louwrentius/fio-plot).",
    ),
    WhatIf(
        "The same: Hitachi 7K100",
        disks({"preset": "hdd-hgst-7k100"}, 1, {"kind": "stripe"}, job("randread", "4KiB", "90GiB", **LONG)),
        {"jobs": [job("randwrite", "4KiB", "90GiB", **LONG)]},
        RATE,
        0.65,
        0.85,
        "44 writes for 59 reads/s, 0.75 (louwrentius/fio-plot).",
    ),
)
HEAD = """# What-ifs against sources

<!-- Written by `scripts/run what_ifs`; edit scripts/what_ifs.py. -->

Engineers ask a simulator for the effect of a change. This page compares the simulator's answers with documents and
measurements. *Size* means that the ratio is in the range that the source gives. All scenarios are in
`scripts/what_ifs.py`; each number of the simulator is from a run with seed 1.

| change | source | simulator, before and after | ratio | agrees |
|---|---|---|---|---|
"""
MISSING = """
Not modelled, so a scenario cannot ask for it: special vdevs, deduplication, and a pool that fills up.
"""


# Writes a second of 1, 2, 4, ... 128 threads of 8 KiB O_SYNC, measured on the master branch by pool.
THREADS = (1, 2, 4, 8, 16, 32, 64, 128)
COMMITS: tuple[tuple[str, Scenario, int, tuple[float, ...]], ...] = (
    ("disk", FAST_DISK, 1, (157.1, 152.3, 327.7, 565.1, 975.2, 1124, 2395, 3719)),
    ("disk", FAST_DISK, 2, (317.6, 286.1, 525.8, 853.1, 1566, 2182, 2810, 3854)),
    ("disk", FAST_DISK, 4, (354.9, 291.9, 464.0, 935.1, 1740, 2795, 4063, 5075)),
    ("disk", FAST_DISK, 8, (296.8, 278.7, 459.4, 926.6, 1748, 2901, 4946, 6703)),
    ("flash", FLASH, 1, (6069, 6199, 10572, 17066, 23982, 31508, 37935, 40659)),
    ("flash", FLASH, 2, (5906, 6232, 10725, 17582, 25199, 33867, 42748, 49690)),
    ("flash", FLASH, 4, (5966, 6062, 10724, 17606, 25963, 35274, 46815, 53663)),
    ("flash", FLASH, 8, (5993, 6055, 11017, 18047, 26211, 35514, 48601, 61579)),
)
COMMITS_HEAD = f"""
## The intent log by threads and devices

Each thread writes 8 KiB with `O_SYNC`, in records of 8 KiB, to one file system of version 0.7. The source is
{PULL_REQUEST}. Cells are the simulator's writes/s divided by the measured ones.
We describe one disk and one flash device, so that one thread on one of them is right. Pools have more of the same.

| pool | {" | ".join(map(str, THREADS))} | rms factor |
|{"---|" * (len(THREADS) + 2)}
"""


def commits() -> str:
    """Return the table of synchronous writers by pool."""
    import seeklab

    rows, squares = [], []
    for name, device, count, measured in COMMITS:
        logs = []
        for threads, writes in zip(THREADS, measured, strict=True):
            one = job("randwrite", "8KiB", "64MiB", sync=True, numjobs=threads)
            found = seeklab.run(pool(device, count, one, zfs=OLD_ZFS), seed=1).metrics[WRITES]
            logs.append(math.log(found / writes))
        squares += [log * log for log in logs]
        factor = math.exp(math.sqrt(sum(log * log for log in logs) / len(logs)))
        cells = " | ".join(f"{math.exp(log):.2f}" for log in logs)
        rows.append(f"| {count} {name} | {cells} | {factor:.2f} |\n")
        say(rows[-1].strip())
    factor = math.exp(math.sqrt(sum(squares) / len(squares)))
    return COMMITS_HEAD + "".join(rows) + f"\nOver all pools and threads, the rms factor is {factor:.2f}.\n"


def number(value: float) -> str:
    """Return a number as the page prints it."""
    return f"{value:,.0f}" if value >= 1 else f"{value:.2f}"


def page() -> str:
    """Return the page."""
    rows, notes, agree = [], [], 0
    for what_if in WHAT_IFS:
        before, after = what_if.values()
        verdict = what_if.verdict(after / before)
        agree += verdict.startswith("direction,") or verdict == "direction and size"
        say(f"{what_if.question}: {before:,.1f} -> {after:,.1f}, {verdict}")
        unit = UNITS[what_if.metric]
        ratio = f"{after / before:,.2f}"
        runs = f"{number(before)} → {number(after)}{unit}"
        rows.append(f"| {what_if.question} | {what_if.says} | {runs} | {ratio} | {verdict} |\n")
        if verdict in ("direction", "no"):
            notes.append(f"- {what_if.question}: {what_if.note}\n")
    count = f"\n{agree} of {len(rows)} agree in direction, and in size where the source has one. The others:\n\n"
    return HEAD + "".join(rows) + count + "".join(notes) + commits() + MISSING


def what_ifs() -> int:
    """Run all what-ifs with the package of this checkout and write the page."""
    if "--here" not in sys.argv:
        python = ROOT / ".venv" / "bin" / "python"
        return subprocess.run([python, "-B", __file__, "--here"], check=False).returncode
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    main(what_ifs)
