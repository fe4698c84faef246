"""Recordings of the incidents' own runs in the forms that an engineer would have, for the tests of the diagnosis.

Each incident names the variant that fails, variants of it that do not have its mechanism, the causes that are right,
and its tools. Inputs are drawn from the incident's shift where it has one, and from `draw` here where it has none.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from seeklab import case, run, validate
from seeklab._errors import SeeklabError
from seeklab.oncall import over_time
from seeklab.oncall.incidents import Draw, Incident, Names, drawn_changes, in_neutral_words, incidents
from seeklab.oncall.tools import TOOLS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from seeklab._result import Result

Changes = dict[str, Any]

OPTIONS = (
    "rw", "bs", "iodepth", "numjobs", "size", "number_ios", "rate", "rate_iops", "sync", "fsync", "thinktime",
    "runtime", "startdelay",
)  # fmt: skip
"""fio's options that a job file of the application has."""
TIMES = frozenset(("thinktime", "runtime", "startdelay"))


def job_file(_: Result, scenario: Mapping[str, Any]) -> str:
    """Write the application's job file in fio's vocabulary."""
    text = ""
    for job in scenario["jobs"]:
        text += f"[{job['name']}]\n"
        for option in OPTIONS:
            value = job.get(option)
            if option in TIMES and value:
                value = f"{value / 1e9:g}s" if value >= 1e9 else f"{value // 1000}us"
            if value not in (None, False, 0, "0"):
                text += f"{option}={1 if value is True else value}\n"
        text += "\n"
    return text


def _tool(name: str) -> Any:
    return TOOLS[name].prints


def _text(name: str, **options: object) -> Any:
    def print_it(result: Result, _: Mapping[str, Any]) -> str | None:
        try:
            return result.text(name, **options)
        except SeeklabError:
            return None

    return print_it


PRINTS: dict[str, Any] = {
    "cat job.fio": job_file,
    "fio job.fio": _text("fio"),
    "iostat -xy 30 1": _tool("iostat -x"),
    "iostat -xy 1": over_time.iostat,
    "iostat -d 1": lambda result, _: over_time.plain_iostat(result),
    "zpool iostat 1": over_time.zpool_iostat,
    "zpool iostat -v": _tool("zpool iostat"),
    "zpool status": over_time.zpool_status,
    "zfs get all tank": _tool("zfs get all"),
    "cat /proc/spl/kstat/zfs/tank/txgs": lambda result, _: over_time.txgs(result),
    "while sleep 1; do grep -E 'Dirty|Writeback:' /proc/meminfo; done": lambda result, _: over_time.meminfo(result),
    "nstat -az": lambda result, _: over_time.nstat(result.metrics),
    "ping -c 3 nas1": _tool("ping"),
    "ss -ti": _tool("ss -ti"),
    "mpstat -P ALL": _tool("mpstat -P ALL"),
    "perf report --stdio": _tool("perf report"),
    "parted -l": _tool("parted -l"),
    "dtrace -s dirty.d": _text("dirty"),
    "dtrace -s sync.d": _text("sync"),
    "dtrace -s delays.d": _text("delays"),
    "dtrace -s latency.d": _text("quantize"),
    "bonnie++": _text("bonnie"),
    "dashboard": _text("monitor"),
    "grep odx operations.log": _text("oplog", limit=400, job="odx"),
    "grep Storage /var/log/messages": lambda result, _: over_time.controller_log(result),
    "curl :9090/metrics": lambda result, _: over_time.fanout_summary(result.metrics),
}
"""What an engineer types, and how it is printed."""


@dataclass(frozen=True)
class Recorded:
    """An incident: what fails, what does not, which causes are right, and what an engineer records."""

    failing: str
    causes: tuple[str, ...]
    tools: tuple[str, ...]
    healthy: tuple[str, ...] = ()
    """Variants without the mechanism: none of the causes may be likely or shown in them."""
    set: Mapping[str, Any] = field(default_factory=dict)
    """Changes of all runs, which make them shorter or keep a log."""
    draw: tuple[Draw, ...] = ()
    """Inputs to change, if the incident's shift has none."""
    jobs: tuple[str, ...] = ()
    """The jobs that run, if not all of the incident's."""
    shift: int | None = None
    """Number of the incident's shift whose draws are used."""


def _shift(name: str, number: int) -> Incident:
    return [incident for incident in incidents() if incident.case == name][number]


def failing_variant(name: str, number: int) -> str:
    """Return the variant that fails in the incident's run `number`: its own, or that of its shift."""
    of = RECORDED[name]
    return of.failing if not number or of.shift is None else _shift(name, of.shift).failing


def changed_inputs(name: str, number: int) -> Changes:
    """Draw the inputs of the incident's run `number`; 0 stands for the incident as it is."""
    of = RECORDED[name]
    changes = dict(of.set)
    if not number:
        return changes
    source = random.Random(f"{name} {number}")
    if of.shift is not None:
        return {**changes, **drawn_changes(_shift(name, of.shift), source)[0]}
    numbers: dict[str, int] = {}
    for draw in of.draw:
        value = numbers[draw.path] = draw.number(source, numbers)
        changes[draw.path] = f"{value}{draw.unit}" if draw.unit else value
    return changes


def record(name: str, variant: str, seed: int, changes: Mapping[str, Any]) -> str:
    """Run a variant of an incident and return its recording: every tool's output below the command that prints it."""
    of = RECORDED[name]
    changed = case(name).with_(changes) if changes else case(name)
    scenario = changed.scenario(variant)
    if of.jobs:
        names = Names({job: job for job in of.jobs}, {group["name"]: group["name"] for group in scenario["devices"]})
        scenario = validate(in_neutral_words(scenario, names))
    result = run(scenario, seed=seed)
    try:
        parts = []
        for command in of.tools:
            printed = PRINTS[command](result, scenario)
            if printed:
                parts.append(f"$ {command}\n{printed.rstrip()}\n")
        return "\n".join(parts)
    finally:
        result.close()


FIO = ("cat job.fio", "fio job.fio")
IOSTAT = (*FIO, "iostat -xy 30 1")
DELAYS = (*FIO, "dtrace -s dirty.d", "dtrace -s delays.d", "dtrace -s sync.d")

RECORDED: dict[str, Recorded] = {
    "averaged-away": Recorded(
        "burst-1s",
        ("averaged-over-idle",),
        ("dashboard", *FIO),
        draw=(
            Draw("jobs[burst].number_ios", range=(300, 900), step=50),
            Draw("jobs[burst].iodepth", choose=(16, 32, 64)),
        ),
    ),
    "battery-learns": Recorded(
        "overload",
        ("cache-off",),
        (*FIO, "grep Storage /var/log/messages"),
        ("forced",),
        draw=(Draw("jobs[clients].rate_iops", range=(80, 240), step=20),),
    ),
    "bonnie-decoded": Recorded(
        "one-eighth",
        ("measured-client",),
        ("bonnie++",),
        draw=(Draw("nfs.per_operation", range=(5, 12), unit="us"),),
    ),
    "burst-credits": Recorded(
        "migration",
        ("burst-credits",),
        (*FIO, "iostat -xy 1"),
        ("large",),
        draw=(
            Draw("devices[volume].lun.credits.base", choose=(150, 240, 300, 450, 600)),
            Draw("jobs[app].iodepth", choose=(16, 32, 64)),
        ),
    ),
    "combine-limit": Recorded("limit-64", ("combined-into-one",), IOSTAT, ("limit-8",), shift=0),
    "compressible-data": Recorded(
        "percentage-2017", ("test-data",), ("cat job.fio", "zfs get all tank"), ("percentage-2022",), shift=0
    ),
    "context-read-ahead": Recorded(
        "2009",
        ("read-ahead-too-far",),
        IOSTAT,
        ("off", "2013"),
        set={"record.log": False},
        draw=(Draw("jobs[rand].bs", choose=(32, 64, 128), unit="KiB"),),
    ),
    "coordinated-omission": Recorded(
        "stopped",
        ("coordinated-omission",),
        FIO,
        ("smooth", "open"),
        draw=(Draw("jobs[tool].numjobs", range=(60, 140), step=20),),
    ),
    "copy-offload": Recorded(
        "far", ("one-trip-per-request",), (*IOSTAT, "ping -c 3 nas1"), ("unlimited",), jobs=("server-side",), shift=0
    ),
    "delay-everything": Recorded("bug", ("every-write-delayed",), DELAYS, ("openzfs",), shift=0),
    "dirty-sizing": Recorded("200-mb", ("write-buffer-too-small",), (*DELAYS, "zpool iostat 1"), ("1800-mb",), shift=0),
    "eleven-metrics": Recorded("5-random-cold", ("load-limits",), IOSTAT),
    "frictionless": Recorded("steady", ("timer-tick",), DELAYS, shift=0),
    "incast": Recorded(
        "sixteen",
        ("network-retransmits",),
        (*FIO, "nstat -az"),
        ("four", "window"),
        draw=(Draw("network.packets.servers", range=(12, 40), step=4),),
    ),
    "invariants": Recorded("sync-writes", ("commits-gathered", "served-in-order"), IOSTAT, shift=0),
    "l2arc-warmth": Recorded(
        "warming",
        ("cache-cold",),
        (*IOSTAT, "zpool iostat -v"),
        ("flash",),
        set={"jobs[client].runtime": "40s"},
        shift=0,
    ),
    "lost-group-commit": Recorded(
        "crowd",
        ("sync-one-by-one",),
        FIO,
        ("cached-fixed",),
        draw=(Draw("jobs[clients].numjobs", range=(64, 320), step=64),),
    ),
    "media-prefetch": Recorded("untuned", ("read-ahead-too-far",), IOSTAT, ("tuned",), shift=0),
    "misaligned-io": Recorded(
        "misaligned", ("misaligned",), (*IOSTAT, "parted -l"), ("aligned", "ssd-aligned"), shift=0
    ),
    "nic-tuning": Recorded(
        "many-rings",
        ("too-many-rings",),
        jobs=("streams",),
        tools=(*FIO, "mpstat -P ALL", "perf report --stdio"),
        healthy=("two-rings",),
        shift=0,
    ),
    "odx-prefetch": Recorded(
        "broken",
        ("read-ahead-too-short",),
        (*IOSTAT, "grep odx operations.log"),
        ("fixed",),
        set={"record.log": True},
        shift=0,
    ),
    "one-window-per-rtt": Recorded(
        "default-48k", ("window-per-round-trip",), (*FIO, "ping -c 3 nas1", "ss -ti"), shift=0
    ),
    "openzfs-throttle": Recorded(
        "2008",
        ("stop-and-go",),
        (*DELAYS, "cat /proc/spl/kstat/zfs/tank/txgs"),
        ("openzfs",),
        set={"record.log": False},
        draw=(Draw("devices[pool].lun.rate", range=(24, 48), step=4, unit="MiB"),),
    ),
    "ordered-journal": Recorded(
        "together",
        ("sync-waits-for-data",),
        (*IOSTAT, "while sleep 1; do grep -E 'Dirty|Writeback:' /proc/meminfo; done"),
        ("apart",),
        draw=(Draw("jobs[bulk].size", range=(2, 6), unit="GiB"),),
    ),
    "picket-fence": Recorded(
        "old", ("too-many-writes-in-flight",), (*IOSTAT, "zpool iostat 1"), ("new-light",), shift=0
    ),
    "shouting": Recorded(
        "shout",
        ("all-at-once",),
        (*FIO, "iostat -d 1"),
        ("firm",),
        set={"record.analytics": True, "record.interval": "1s"},
        draw=(Draw("jobs[stream].iodepth", choose=(16, 24, 32)),),
    ),
    "slc-cliff": Recorded(
        "copy",
        ("slc-cache-full",),
        (*FIO, "iostat -xy 1"),
        ("fits",),
        draw=(Draw("jobs[copy].size", range=(180, 400), step=20, unit="GB"),),
    ),
    "slog-divert": Recorded(
        "one-log",
        ("log-device-full",),
        (*IOSTAT, "zpool iostat -v"),
        ("undisturbed",),
        set={"record.log": False},
        shift=0,
    ),
    "smr-resilver": Recorded("resilver", ("smr-rebuild",), ("zpool status", "iostat -xy 30 1"), ("conventional",)),
    "sync-serialised": Recorded("serialised", ("sync-one-by-one",), IOSTAT, ("batched",), shift=0),
    "tail-at-scale": Recorded(
        "hundred",
        ("fan-out-tail",),
        (*FIO, "curl :9090/metrics"),
        ("hedged",),
        draw=(Draw("fanout.leaves", range=(60, 200), step=20),),
    ),
    "thousand-threads": Recorded(
        "thousand",
        ("stop-and-go",),
        DELAYS,
        ("openzfs",),
        draw=(Draw("jobs[writers].numjobs", range=(400, 1000), step=200),),
    ),
    "throttle-2008": Recorded(
        "2008", ("stop-and-go",), (*DELAYS, "cat /proc/spl/kstat/zfs/tank/txgs"), ("openzfs",), shift=0
    ),
    "tlb-shootdown": Recorded(
        "worst-case", ("cross-calls",), (*FIO, "mpstat -P ALL", "perf report --stdio"), ("object-cache",), shift=0
    ),
    "tune-openzfs": Recorded(
        "saturated", ("devices-starved",), (*IOSTAT, "dtrace -s dirty.d", "dtrace -s delays.d"), ("mixed",), shift=0
    ),
    "txg-seconds": Recorded(
        "five",
        ("long-groups",),
        (*IOSTAT, "cat /proc/spl/kstat/zfs/tank/txgs", "dtrace -s sync.d"),
        ("light-one",),
        shift=0,
    ),
    "vdisk-sharding": Recorded(
        "before", ("one-core",), (*FIO, "mpstat -P ALL", "perf report --stdio"), jobs=("reads",), shift=1
    ),
}

UNRECORDED = {
    "copysets": "no tool of a server shows on which nodes the copies are; data are lost once a year, in an outage",
    "hci-taxonomy": "it compares designs of clusters, and none of them is a fault",
    "diagonal": "its throttle was never shipped, so no system has this problem",
}
"""Incidents without a recording, each with the reason."""
