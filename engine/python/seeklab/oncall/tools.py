"""The output of observation tools for a shift's system, in the tools' own formats.

The engine prints most tools. This module composes `zpool iostat`, `mpstat`, `ss -ti`, `ping`, `nfsstat` and `zfs get`
from the results of a run. A tool that has nothing to show on a system answers as the real one would.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from seeklab._errors import SeeklabError
from seeklab.oncall import over_time
from seeklab.oncall.incidents import APP

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from seeklab._result import Result

KERNEL = "Linux 6.1.0-18-amd64 (nas1)"
HOST_CORES = 16
FRAME_HEADERS = 52
LINES = 24
MIN_SEEN = 0.1
"""A dashboard shows no point yet for a window whose simulated part is smaller than this."""
IOSTAT_COLUMNS = (
    *(("r/s", 8), ("rkB/s", 10), ("rrqm/s", 9), ("rrqm", 7), ("r_await", 8), ("rareq-sz", 9)),
    *(("w/s", 8), ("wkB/s", 10), ("wrqm/s", 9), ("wrqm", 7), ("w_await", 8), ("wareq-sz", 9)),
    *(("d/s", 8), ("dkB/s", 10), ("drqm/s", 9), ("drqm", 7), ("d_await", 8), ("dareq-sz", 9)),
    *(("f/s", 8), ("f_await", 8), ("aqu-sz", 8), ("%util", 7)),
)
"""Columns of `iostat -x` of sysstat 12.5 by their names in its JSON, and their widths."""
IOSTAT_HEADING = f"{'Device':<13}" + "".join(
    f"{f'%{name}' if name.endswith('rqm') else name:>{width}}" for name, width in IOSTAT_COLUMNS
)
RATES = re.compile(r"^( *[\d.]+)( +[\d.]+)( +[\d.]+)")
"""A point of a dashboard: its start, and its two rates."""


@dataclass(frozen=True)
class Tool:
    """A command: what it shows, what it costs, and how to print it."""

    shows: str
    seconds: int
    """Simulated time that the command takes, in seconds."""
    points: int
    prints: Callable[[Result, Mapping[str, Any]], str]
    log: bool = False
    """Whether it reads the operation log."""
    repeats: Callable[[Result, Mapping[str, Any]], str] | None = None
    """How it prints each further report of a series, if it takes an interval."""


def cores_of(scenario: Mapping[str, Any]) -> int:
    """Return the number of the host's processors."""
    for part in ("server", "controller"):
        if scenario.get(part):
            return int(scenario[part].get("cores") or HOST_CORES)
    return HOST_CORES


def _header(scenario: Mapping[str, Any]) -> str:
    return f"{KERNEL}\t_x86_64_\t({cores_of(scenario)} CPU)\n\n"


def _iostat(result: Result, scenario: Mapping[str, Any]) -> str:
    return _header(scenario) + _iostat_report(result, scenario).lstrip("\n")


def _iostat_report(result: Result, scenario: Mapping[str, Any]) -> str:
    """Print a report of `iostat -x` as sysstat 12.5 does, processors first."""
    disks = _disks(json.loads(result.text("iostat-json")), scenario)
    busy = _busy(result, scenario)
    system = sum(busy) / len(busy)
    waiting = _waiting(disks, busy)
    shares = (0.0, 0.0, system, waiting, 0.0, 100 - system - waiting)
    heading = "avg-cpu:  %user   %nice %system %iowait  %steal   %idle"
    lines = [f"\n{heading}", f"       {''.join(f'{share:8.2f}' for share in shares)}\n", IOSTAT_HEADING]
    for disk in disks:
        cells = "".join(f" {_cell(disk, name):{width - 1}.2f}" for name, width in IOSTAT_COLUMNS)
        lines.append(f"{disk['name']:<13}{cells}")
    return "\n".join(lines) + "\n\n"


def _cell(disk: Mapping[str, Any], name: str) -> float:
    """Return a column; the model merges nothing."""
    return float(disk.get(name, 0.0))


def _waiting(disks: Sequence[Mapping[str, Any]], busy: Sequence[float]) -> float:
    """Return %iowait: idle processors, as far as there is a request in flight for each of them to wait for."""
    idle = 100 - sum(busy) / len(busy)
    in_flight = sum(min(1.0, disk["%util"] / 100) * max(1.0, disk["aqu-sz"]) for disk in disks)
    return min(idle, 100.0 * float(in_flight) / len(busy))


def _zpool(result: Result, scenario: Mapping[str, Any]) -> str:
    if not scenario.get("zfs"):
        return "bash: zpool: command not found\n"
    disks = _disks(json.loads(result.text("iostat-json")), scenario)
    rule = "----------  -----  -----  -----  -----  -----  -----\n"
    head = (
        "              capacity     operations     bandwidth \npool        alloc   free   read  write   read  write\n"
    )
    kinds = {"logs": _shown_of(_logs(scenario)), "cache": _shown_of(_caches(scenario))}

    def line(name: str, some: list[dict[str, Any]]) -> str:
        sums = (
            sum(disk["r/s"] for disk in some),
            sum(disk["w/s"] for disk in some),
            1024 * sum(disk["rkB/s"] for disk in some),
            1024 * sum(disk["wkB/s"] for disk in some),
        )
        return f"{name:<10}      -      -{''.join(f'{over_time.short(value):>7}' for value in sums)}\n"

    besides = kinds["logs"] | kinds["cache"]
    pool = [disk for disk in disks if disk["name"] not in besides]
    parts = [line("tank", pool), *(line(f"  {disk['name']}", [disk]) for disk in pool)]
    for kind, names in kinds.items():
        some = [disk for disk in disks if disk["name"] in names]
        if some:
            parts.append(f"{kind:<10}      -      -      -      -      -      -\n")
            parts += [line(f"  {disk['name']}", [disk]) for disk in some]
    return head + rule + "".join(parts) + rule


def _disks(rows: Any, scenario: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the devices with the names that Linux gives them, and a busy share that counts waiting requests."""
    found: list[dict[str, Any]] = rows["sysstat"]["hosts"][0]["statistics"][0]["disk"]
    names = shown_names(scenario)
    for disk in found:
        disk["name"] = names.get(disk["disk_device"], disk["disk_device"])
        disk["%util"] = disk["util"]
        if names.get(disk["disk_device"]) in _units(scenario):
            # The model counts a unit as busy while it transfers; the kernel, while a request is in flight.
            disk["%util"] = max(disk["util"], 100 * min(1.0, disk["aqu-sz"]))
    return found


def _units(scenario: Mapping[str, Any]) -> set[str]:
    groups = [group for group in scenario["devices"] if group.get("lun")]
    names = shown_names(scenario)
    return {names[name] for group in groups for name in _engine_names(group)}


def _shown_of(groups: Sequence[Mapping[str, Any]]) -> set[str]:
    return set(shown_names({"devices": groups}).values())


def _engine_names(group: Mapping[str, Any]) -> list[str]:
    """Return the engine's names of a group's devices, which it numbers from 0."""
    return [f"{group['name']}{nth}" for nth in range(int(group.get("count") or 1))]


def shown_names(scenario: Mapping[str, Any]) -> dict[str, str]:
    """Return the name that Linux gives each device, by the engine's: a group named `sda` has sda, sdb and so on."""
    names: dict[str, str] = {}
    for group in (*scenario["devices"], *_caches(scenario)):
        names |= {name: _shown(group["name"], nth) for nth, name in enumerate(_engine_names(group))}
    for group in _logs(scenario):  # the engine calls them log0, log1 and so on
        names |= {f"log{nth}": _shown(group["name"], nth) for nth in range(len(_engine_names(group)))}
    return names


def _logs(scenario: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the group of a pool's log devices, if any."""
    group = ((scenario.get("zfs") or {}).get("log") or {}).get("devices")
    return [group] if group else []


def _caches(scenario: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the group of a pool's cache devices, if any."""
    group = ((scenario.get("zfs") or {}).get("l2arc") or {}).get("device")
    return [group] if group else []


def _in_linux_names(text: str, scenario: Mapping[str, Any]) -> str:
    """Replace the engine's names of devices in a printed text."""
    names = shown_names(scenario)
    pattern = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.sub(rf"(?<![\w-])(?:{pattern})(?![\w-])", lambda found: names[found[0]], text)


def _shown(name: str, nth: int) -> str:
    """Return the name of the `nth` device of a group, by the pattern of the group's name."""
    if letters := re.fullmatch(r"((?:s|v|xv)d)([a-z])", name):
        place = ord(letters[2]) - ord("a") + nth
        return letters[1] + (chr(ord("a") + place // 26 - 1) if place >= 26 else "") + chr(ord("a") + place % 26)
    if number := re.fullmatch(r"(dm-|md|nvme)(\d+)(n1)?", name):
        return f"{number[1]}{int(number[2]) + nth}{number[3] or ''}"
    return name if nth == 0 else f"{name}{nth}"


def _busy(result: Result, scenario: Mapping[str, Any]) -> list[float]:
    """Return the utilization of each processor in percent: threads on their cores, requests spread over all."""
    cores = cores_of(scenario)
    if scenario.get("server"):
        return [result.metrics["server.busy_share_percent"]] * cores
    if not scenario.get("controller"):
        return [0.0] * cores
    elapsed_ns = result.metrics["elapsed_s"] * 1e9
    threads = sorted((100 * float(row["busy_ns"]) / elapsed_ns for row in result.cpu.rows()), reverse=True)
    return [min(100.0, sum(threads[core::cores])) for core in range(cores)]


def _mpstat(result: Result, scenario: Mapping[str, Any]) -> str:
    columns = ("%usr", "%nice", "%sys", "%iowait", "%irq", "%soft", "%steal", "%guest", "%gnice", "%idle")
    lines = [_header(scenario) + f"{'Average:':<12}{'CPU':>4}" + "".join(f"{name:>9}" for name in columns)]
    busy = _busy(result, scenario)
    for name, share in (("all", sum(busy) / len(busy)), *((str(nth), share) for nth, share in enumerate(busy))):
        values = (0.0, 0.0, share, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 100 - share)
        lines.append(f"{'Average:':<12}{name:>4}" + "".join(f"{value:9.2f}" for value in values))
    return "\n".join(lines) + "\n"


def _milliseconds(network: Mapping[str, Any]) -> float:
    return float(network.get("round_trip") or 0) / 1e6


def _ping(_result: Result, scenario: Mapping[str, Any]) -> str:
    network = scenario.get("network")
    if not network:
        return "ping: nas1: the application runs on this host; there is no other host to ping\n"
    trip = _milliseconds(network)
    lines = "".join(f"64 bytes from nas1: icmp_seq={nth} ttl=64 time={trip:.3g} ms\n" for nth in (1, 2, 3))
    summary = f"rtt min/avg/max/mdev = {trip:.3f}/{trip:.3f}/{trip:.3f}/0.000 ms\n"
    return (
        f"PING nas1 (10.0.0.2) 56(84) bytes of data.\n{lines}\n--- nas1 ping statistics ---\n"
        f"3 packets transmitted, 3 received, 0% packet loss\n{summary}"
    )


def _ss(result: Result, scenario: Mapping[str, Any]) -> str:
    network = scenario.get("network")
    head = "State  Recv-Q  Send-Q  Local Address:Port  Peer Address:Port\n"
    if not network:
        return head
    trip = _milliseconds(network)
    segment = int(network.get("mtu") or 1500) - FRAME_HEADERS
    window = min(int(network.get(f"{end}_buffer") or (1 << 20)) for end in ("client", "server"))
    moved = sum(sum(result.series[f"{way}_bytes"]) for way in ("read", "write"))
    rate = 8 * moved / max(result.simulated_s, 1e-9) / 1e6
    own, peer = (int(network.get(f"{end}_buffer") or 1 << 20) for end in ("server", "client"))
    return (
        f"{head}ESTAB  0       0       10.0.0.2:2049       10.0.0.9:1015\n"
        f"\t cubic rtt:{trip:.3g}/0 mss:{segment} cwnd:{max(1, window // segment)} delivery_rate {rate:.2f}Mbps"
        f" rcv_space:{peer} snd_wnd:{peer} sndbuf:{own}\n"
    )


def _nfsstat(_result: Result, scenario: Mapping[str, Any]) -> str:
    if not scenario.get("nfs"):
        return "Error: No Client Stats (/proc/net/rpc/nfs: No such file or directory).\n"
    return ""


def _zfs_get(result: Result, scenario: Mapping[str, Any]) -> str:
    """Print the properties that relate to data reduction; a test storage with real data uses the same command."""
    metrics = result.metrics
    if "reduction_compression_ratio" in metrics:
        stored = metrics["reduction_after_compression_bytes"]
        rows = {
            "logicalused": over_time.short(metrics["reduction_in_bytes"]),
            "zerosremoved": f"{metrics['reduction_zeros_share_percent']:.0f}%",
            "dedupremoved": f"{metrics['reduction_duplicates_share_percent']:.0f}%",
            "compressratio": f"{metrics['reduction_compression_ratio']:.2f}x",
            "used": over_time.short(stored),
        }
    elif scenario.get("zfs"):
        record = int(scenario["zfs"].get("record") or (128 << 10))
        rows = {
            "compressratio": "1.00x",
            "recordsize": over_time.short(record),
            "sync": "standard",
            "logbias": "latency",
        }
    else:
        return "bash: zfs: command not found\n"
    lines = "".join(f"tank  {name:<14}  {value:<8}  -\n" for name, value in rows.items())
    return f"NAME  {'PROPERTY':<14}  {'VALUE':<8}  SOURCE\n{lines}"


def _perf(result: Result, scenario: Mapping[str, Any]) -> str:
    """Print samples from the folded stacks, as `perf report --stdio` does."""
    folded = [line.rpartition(" ") for line in result.text("folded").splitlines() if line]
    totals = [(float(count), stack.split(";")) for stack, _, count in folded]
    whole = sum(count for count, _ in totals)
    if not whole:
        return "Error:\nThe perf.data data has no samples!\n"
    lines = ""
    for count, stack in sorted(totals, reverse=True)[:LINES]:
        # The thread, then the function with those that called it.
        thread, names = stack[1], "_".join(stack[2:]).replace(" ", "_")
        lines += f"  {100 * count / whole:6.2f}%  {thread:<15}  [kernel.kallsyms]  [k] {names or thread}\n"
    busy = whole / 1e9 / max(result.metrics["elapsed_s"], 1e-9)
    head = (
        f"# Samples: processor time, {busy:.2f} of {cores_of(scenario)} CPUs\n#\n"
        "# Overhead  Command          Shared Object      Symbol\n"
        "# ........  ...............  .................  ......\n"
    )
    return head + lines


def _engine(tool: str, lacks: str, **options: object) -> Callable[[Result, Mapping[str, Any]], str]:
    """Print a tool with the engine; if the system has nothing that it shows, print the shell's answer `lacks`."""

    def print_it(result: Result, scenario: Mapping[str, Any]) -> str:
        try:
            return _in_linux_names(result.text(tool, **options).rstrip("\n") + "\n", scenario)
        except SeeklabError:
            return f"{lacks}\n"

    return print_it


def _oplog(result: Result, scenario: Mapping[str, Any]) -> str:
    """Print a few operations of the application from the middle of the log."""
    names = [job["name"] for job in scenario["jobs"]]
    skip = max(0, list(result.ops["job"]).count(names.index(APP)) // 2 - LINES)
    return _engine("oplog", "oplog: empty", job=APP, limit=LINES, skip=skip)(result, scenario)


def _dashboard(result: Result, scenario: Mapping[str, Any]) -> str:
    """Print the dashboard's points, each averaged over the simulated part of its window.

    A run can be shorter than a window although the system stays under load. Zeros after the end of the run would look
    as if the load had stopped, or as if the dashboard hid most of it. A load that starts later than the run is a
    separate burst, and its windows are complete.
    """
    text = _engine("monitor", "dashboard: no points yet")(result, scenario)
    head, points = text.splitlines()[:2], text.splitlines()[2:]
    monitor = scenario.get("monitor") or {}
    is_a_burst = any(job.get("startdelay") for job in scenario["jobs"] if job["name"] == monitor.get("job"))
    if points and not is_a_burst:
        points = _as_far_as_seen(points, result.metrics["elapsed_s"], monitor["window"] / 1e9)
    return "\n".join([*head, *points[:LINES]]) + "\n"


def _as_far_as_seen(points: list[str], seen_s: float, window_s: float) -> list[str]:
    """Scale the rates of the last point to the simulated part of its window, and remove all points after it."""
    shown: list[str] = []
    for point in points:
        part = min(1.0, (seen_s - float(point.split()[0])) / window_s)
        if shown and part < MIN_SEEN:
            break
        shown.append(point if part >= 1 else RATES.sub(partial(_over, part=part), point))
    return shown


def _over(rates: re.Match[str], *, part: float) -> str:
    begins, *both = rates.groups()
    return begins + "".join(f"{float(rate) / part:{len(rate)}.2f}" for rate in both)


def _parted(result: Result, scenario: Mapping[str, Any]) -> str:
    """Print one of several identical disks."""
    text = _in_linux_names(result.text("parted"), scenario)
    first, *others = re.split(r"(?m)^(?=Model:)", text)[1:] or [""]
    return first + (f"({len(others)} more, identical)\n" if others else "")


def _counters(result: Result, scenario: Mapping[str, Any]) -> str:
    """Print TCP's counters. A network that is not simulated in packets loses none."""
    frames = sum(result.metrics.get(f"network.{way}_messages", 0.0) for way in ("to_server", "to_client"))
    counted = {"network.packets": frames, "network.resent_packets": 0.0, "network.timeouts": 0.0, **result.metrics}
    return over_time.nstat(counted) or f"nstat: no counters of {scenario['devices'][0]['name']}\n"


def _txgs(result: Result, scenario: Mapping[str, Any]) -> str:
    path = "/proc/spl/kstat/zfs/tank/txgs"
    if not scenario.get("zfs"):
        return f"cat: {path}: No such file or directory\n"
    return over_time.txgs(result) or "txg      birth            state\n"


def _pool_status(_result: Result, scenario: Mapping[str, Any]) -> str:
    if not scenario.get("zfs"):
        return "bash: zpool: command not found\n"
    groups = {"": scenario["devices"], "logs": _logs(scenario), "cache": _caches(scenario)}
    rows = ""
    for kind, some in groups.items():
        names = shown_names({"devices": some}).values()
        rows += f"\t{kind}\n" if kind and some else ""
        rows += "".join(f"\t  {name:<10} ONLINE       0     0     0\n" for name in names)
    return (
        "  pool: tank\n state: ONLINE\n  scan: none requested\nconfig:\n\n\tNAME         STATE     READ WRITE CKSUM\n"
        f"\ttank         ONLINE       0     0     0\n{rows}\nerrors: No known data errors\n"
    )


def _names(scenario: Mapping[str, Any]) -> list[str]:
    return list(shown_names(scenario).values())


def _processes(result: Result, scenario: Mapping[str, Any]) -> str:
    """Print `pidstat -d`: what each job of the application reads and writes."""
    lines = [
        f"{'Average:':<12}{'UID':>6}{'PID':>10}{'kB_rd/s':>10}{'kB_wr/s':>10}{'kB_ccwr/s':>10}{'iodelay':>8}  Command"
    ]
    for nth, job in enumerate(scenario["jobs"]):
        rates = [1024 * result.metrics.get(f"{job['name']}.{way}_mib_per_s", 0.0) for way in ("read", "write")]
        lines.append(
            f"{'Average:':<12}{0:>6}{2001 + nth:>10}{rates[0]:>10.2f}{rates[1]:>10.2f}{0:>10.2f}{0:>8}  {job['name']}"
        )
    return _header(scenario) + "\n".join(lines) + "\n"


def _arcstat(result: Result, scenario: Mapping[str, Any]) -> str:
    """Print `arcstat`: records read and missed per second, the miss rate, and the cache's size."""
    zfs = scenario.get("zfs")
    if not zfs or not len(result.sources):
        return "bash: arcstat: command not found\n"
    record = int(zfs.get("record") or over_time.RECORD)
    found = {name: sum(result.sources[f"{name}_bytes"]) for name in ("memory", "on_its_way", "flash", "pool")}
    seconds = max(result.metrics["elapsed_s"], 1e-9)
    reads = sum(found.values()) / record / seconds
    missed = (found["flash"] + found["pool"]) / record / seconds
    second = found["flash"] / record / seconds
    share = 100 * missed / reads if reads else 0.0
    cells = (
        *(over_time.short(reads), over_time.short(missed), f"{share:.0f}"),
        *(over_time.short(second), over_time.short(missed - second), over_time.short(result.sources["arc_bytes"][-1])),
    )
    columns = ("time", "read", "miss", "miss%", "l2hits", "l2miss", "arcsz")
    lines = (columns, ("03:00:00", *cells))
    return "".join("  ".join(f"{cell:>8}" for cell in line) + "\n" for line in lines)


def _pressure(result: Result, scenario: Mapping[str, Any]) -> str:
    """Print `/proc/pressure/io`: a task waits as long as the busiest device has a request in flight.

    All tasks wait (`full`) while that is so and no processor works. The load is even, so the three averages agree.
    """
    disks = _disks(json.loads(result.text("iostat-json")), scenario)
    busy = _busy(result, scenario)
    some = min(100.0, max((float(disk["%util"]) for disk in disks), default=0.0))
    full = max(0.0, some - max(busy))
    total = result.metrics["elapsed_s"] * 1e4
    return "".join(
        f"{name} avg10={share:.2f} avg60={share:.2f} avg300={share:.2f} total={share * total:.0f}\n"
        for name, share in (("some", some), ("full", full))
    )


def _kernel_log(_result: Result, scenario: Mapping[str, Any]) -> str:
    """Print a log without complaints: no incident of a shift is a broken device."""
    attached = "".join(
        f"[    2.{1041 + 7 * place:06}] {name}: Attached disk\n" for place, name in enumerate(_names(scenario))
    )
    return f"[    0.000000] Linux version 6.1.0-18-amd64 (debian-kernel@lists.debian.org)\n{attached}"


def _smart(result: Result, scenario: Mapping[str, Any]) -> str:
    """Print a drive's health, and for a disk how often its heads had lost the track."""
    text = (
        "smartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0-18-amd64] (local build)\n\n"
        "=== START OF READ SMART DATA SECTION ===\nSMART overall-health self-assessment test result: PASSED\n"
    )
    if any(group.get("hdd") for group in scenario["devices"]):
        missed = int(result.metrics.get("off_track_retries", 0))
        text += (
            "\nID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE\n"
            f"  7 Seek_Error_Rate         0x000f   100   100   030    Pre-fail  Always       -       {missed}\n"
        )
    return text


def _blocks(_result: Result, scenario: Mapping[str, Any]) -> str:
    head = "NAME     MAJ:MIN RM SIZE RO TYPE MOUNTPOINTS\n"
    return head + "".join(
        f"{name:<8} 8:{16 * place:<6} 0    - 0  disk\n" for place, name in enumerate(_names(scenario))
    )


NO_PROBES = "dtrace: failed to compile script: probe description fbt:zfs:: does not match any probes"
TOOLS: Mapping[str, Tool] = {
    "iostat -x": Tool("activity of each device", 10, 2, _iostat, repeats=_iostat_report),
    "zpool iostat": Tool("activity of the pool, its logs and caches", 10, 2, _zpool, repeats=_zpool),
    "zfs get all": Tool("properties of the data", 1, 2, _zfs_get),
    "mpstat -P ALL": Tool("utilization of each processor", 5, 2, _mpstat),
    "perf report": Tool("processor time by stack", 10, 3, _perf),
    "ss -ti": Tool("connections: round trip, window, rate", 1, 2, _ss),
    "ping": Tool("network round trip", 3, 1, _ping),
    "nfsstat": Tool("requests of the NFS client", 1, 1, _nfsstat),
    "nstat -az": Tool("counters of TCP", 1, 1, _counters),
    "parted -l": Tool("partitions and their offsets", 1, 1, _parted),
    "fio": Tool("application performance, as a fio report", 10, 2, _engine("fio", "fio: no jobs")),
    "lat": Tool(
        "latencies in us by powers of two: of a pool's devices, else of the application",
        5,
        2,
        _engine("quantize", "lat: no requests"),
    ),
    "oplog": Tool("a few consecutive operations of the application", 5, 4, _oplog, log=True),
    "dashboard": Tool("monitoring graphs as numbers", 1, 1, _dashboard),
    "dtrace -s dirty.d": Tool("dirty data at each sync", 10, 3, _engine("dirty", NO_PROBES)),
    "dtrace -s sync.d": Tool("how long syncs took", 10, 3, _engine("sync", NO_PROBES)),
    "dtrace -s delays.d": Tool("delayed writes", 10, 3, _engine("delays", NO_PROBES)),
    "cat /proc/spl/kstat/zfs/tank/txgs": Tool("transaction groups and their times", 5, 2, _txgs),
    "zpool status": Tool("health of the pool", 1, 1, _pool_status),
    "dmesg": Tool("messages of the kernel", 1, 1, _kernel_log),
    "smartctl -a": Tool("error counts of a drive", 1, 1, _smart),
    "lsblk": Tool("block devices", 1, 1, _blocks),
    "pidstat -d": Tool("bytes that each program reads and writes", 5, 2, _processes),
    "arcstat": Tool("hits and misses of the ARC", 5, 2, _arcstat),
    "cat /proc/pressure/io": Tool("share of the time that tasks wait for I/O", 1, 1, _pressure),
    "cat /proc/mdstat": Tool(
        "checks and rebuilds of software arrays", 1, 1, lambda *_: "Personalities :\nunused devices: <none>\n"
    ),
}
"""The commands, in the order of `help`."""
