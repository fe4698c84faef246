"""The sheet of a shift's system: what everyone knows about it, without the settings that can be the fault."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seeklab.oncall.tools import cores_of

if TYPE_CHECKING:
    from collections.abc import Mapping

KIB, MIB = 1 << 10, 1 << 20
DOES = {
    "read": "sequential reads",
    "randread": "random reads",
    "write": "sequential writes",
    "randwrite": "random writes",
    "clientcopy": "copies a file",
    "servercopy": "copies a file",
    "odxcopy": "copies a file",
}


def sheet(scenario: Mapping[str, Any]) -> str:
    """Return the sheet as text."""
    lines = [f"host      nas1, {cores_of(scenario)} processors"]
    lines += [f"devices   {_devices(group)}" for group in scenario["devices"]]
    zfs = scenario.get("zfs") or {}
    if zfs:
        lines.append(f"pool      ZFS, {zfs.get('era', 'openzfs')}, records of {_size(zfs.get('record') or 128 * KIB)}")
    for part, group in (
        ("log", (zfs.get("log") or {}).get("devices")),
        ("cache", (zfs.get("l2arc") or {}).get("device")),
    ):
        if group:
            lines.append(f"{part:<9} {_devices(group)}")
    lines += [f"{job['name']:<9} {_job(job)}" for job in scenario["jobs"]]
    return "\n".join(lines)


def _size(count: float) -> str:
    for unit, size in (("GiB", 1 << 30), ("MiB", MIB), ("KiB", KIB)):
        if count >= size and count % size == 0:
            return f"{count / size:g} {unit}"
    return f"{count:g} bytes"


def _devices(group: Mapping[str, Any]) -> str:
    count = int(group.get("count") or 1)
    many = f"{count} x " if count > 1 else ""
    if group.get("hdd"):
        return f"{many}{group['name']}, disk with {group['hdd']['rpm']:,.0f} rpm"
    if group.get("ssd"):
        return f"{many}{group['name']}, flash"
    lun = group.get("lun") or {}
    return f"{many}{group['name']}, {lun.get('rate', 0) / 1e6:,.0f} MB/s"


def _job(job: Mapping[str, Any]) -> str:
    kind = str(job.get("rw"))
    threads, deep = int(job.get("numjobs") or 1), int(job.get("iodepth") or 1)
    size = "" if kind.endswith("copy") else f" of {_size(job.get('bs') or 4 * KIB)}"
    sync = ", each made durable" if job.get("sync") else ""
    some = f"{threads} threads, " if threads > 1 else ""
    in_flight = f", up to {deep} in flight" if 1 < deep < 4096 else ""
    rate = job.get("rate_iops") or job.get("rate")
    paced = ", at a fixed rate" if rate else ""
    return f"{some}{DOES.get(kind, kind)}{size}{in_flight}{sync}{paced}"
