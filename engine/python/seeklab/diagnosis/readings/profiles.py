"""Readings of times and rates by kind of call: operations of Ceph, bricks of gluster, sysbench, iperf3, btrfs."""

from __future__ import annotations

from collections import Counter
from statistics import fmean
from typing import TYPE_CHECKING

from seeklab.bring.block import Value
from seeklab.diagnosis.reading import Reading, Strength, count, rate
from seeklab.diagnosis.reading import time as in_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from seeklab.bring.block import Block

MOSTLY, KNOWN = 0.6, 0.5
"""Share of the time that one kind of step takes, and share of the time whose steps must be in the text."""
SLOW_MS = 100.0
WHERE = {
    "peers": ("ops-wait-for-peers", "another OSD has answered, over the network between them"),
    "store": ("ops-wait-for-store", "the OSD's own device has made the write durable"),
    "queue": ("ops-wait-for-queue", "the OSD has taken them from its queue"),
}
"""For each kind of step, its reading, and what the operations wait for."""
SYNCS = ("FSYNC", "FSYNCDIR", "FLUSH")
SYNC_SHARE = 0.2
SLOW_NETWORK = 20e6
"""Bytes per second; every network of a server carries more."""
OFTEN = 0.4


def read(blocks: Sequence[Block]) -> Iterator[Reading]:
    """Yield the readings of these blocks."""
    for block in blocks:
        if says := PROFILES.get(block.tool):
            yield from says([record for record in block.records if isinstance(record, Value)])


def _numbers(values: Sequence[Value], name: str) -> list[float]:
    return [value.value for value in values if value.name == name and isinstance(value.value, float)]


def _operations(values: Sequence[Value]) -> Iterator[Reading]:
    """Say what operations of Ceph waited for."""
    times = _numbers(values, "ms")
    if not times:
        return
    spent = {kind: sum(_numbers(values, kind)) for kind in (*WHERE, "other")}
    kind = max(spent, key=lambda name: spent[name])
    is_known = sum(spent.values()) > KNOWN * sum(times)
    share = spent[kind] / max(sum(spent.values()), 1e-9)
    range_ = in_time(times[0]) if len(times) == 1 else f"{in_time(min(times))} to {in_time(max(times))}"
    id_, waits = "ceph-ops", ""
    if is_known and kind in WHERE and share > MOSTLY:
        id_, what = WHERE[kind]
        waits = f" They wait {100 * share:.0f}% of that time until {what}."
    elif not is_known:
        waits = " The text does not have most of their steps, so it does not show where the time passes."
    operations = "one operation of Ceph takes" if len(times) == 1 else f"{len(times)} operations of Ceph take"
    yield Reading(
        id_,
        "ceph",
        f"{operations[0].upper()}{operations[1:]} {range_}.{waits}",
        f"{in_time(spent[kind])} / {in_time(sum(times))} = {count(spent[kind] / sum(times))}"
        if waits and is_known
        else "",
        Strength.WORDS,
        {"ms": fmean(times), "share": share},
    )
    peers = Counter(str(value.value) for value in values if value.name == "slow peer")
    if peers and len(times) > 2:
        name, number = peers.most_common(1)[0]
        if number > MOSTLY * len(times):
            yield Reading(
                "few-slow-osds",
                name,
                f"{number} of these {len(times)} operations wait for {name}: compare its device with the others.",
                "",
                Strength.WORDS,
                {"osds": 1},
            )


def _bricks(values: Sequence[Value]) -> Iterator[Reading]:
    """Name the calls that take most of a brick's time."""
    for brick in list(dict.fromkeys(value.subject for value in values))[:4]:
        of = {value.name: value.value for value in values if value.subject == brick and isinstance(value.value, float)}
        shares = {name.removesuffix(" share"): share for name, share in of.items() if name.endswith(" share")}
        if sum(shares.values()) < KNOWN:
            continue  # the rows that take most of the time are cut off
        call = max(shares, key=lambda name: shares[name])
        yield Reading(
            "brick-calls",
            brick,
            f"{call} takes {100 * shares[call]:.0f}% of the time of {brick}: {count(of[f'{call} count'])} "
            f"calls of {in_time(of[f'{call} ms'])}, the longest {in_time(of[f'{call} max ms'])}.",
            strength=Strength.RESOURCE,
            values={"share": shares[call], "ms": of[f"{call} ms"]},
        )
        syncs = [name for name in SYNCS if shares.get(name, 0.0) > SYNC_SHARE]
        for name in syncs[:1]:
            yield Reading(
                "brick-syncs",
                brick,
                f"{name} of {brick} takes {in_time(of[f'{name} ms'])} on average, {100 * shares[name]:.0f}% of its "
                "time.",
                strength=Strength.RESOURCE,
                values={"ms": of[f"{name} ms"], "share": shares[name]},
            )


def _sysbench(values: Sequence[Value]) -> Iterator[Reading]:
    of = {value.name: value.value for value in values if isinstance(value.value, float)}
    parts = [
        f"{count(of[name])} {what}"
        for name, what in (
            ("reads /s", "reads/s"),
            ("writes /s", "writes/s"),
            ("fsyncs /s", "fsyncs/s"),
            ("read MiB/s", "MiB/s read"),
            ("written MiB/s", "MiB/s written"),
        )
        if name in of
    ]
    if not parts:
        return
    syncs, writes = of.get("fsyncs /s", 0.0), of.get("writes /s", 0.0)
    many = f" It calls fsync {count(syncs / writes)} times for each write." if writes and syncs > writes else ""
    yield Reading(
        "sysbench-rates",
        "sysbench",
        f"sysbench does {', '.join(parts)}.{many} By default it has one thread and calls fsync for each of 128 files "
        "after every 100 requests, so this is not the rate of the device.",
        strength=Strength.CONTEXT,
        values={"fsyncs": syncs, "writes": writes},
    )


def _iperf(values: Sequence[Value]) -> Iterator[Reading]:
    rates, again = _numbers(values, "bytes/s"), _numbers(values, "retransmissions")
    if not rates:
        return
    lossy = sum(1 for number in again if number)
    yield Reading(
        "network-rate",
        "network",
        f"The network carries {rate(fmean(rates))} on average of {len(rates)} intervals"
        f"{f', and sends {count(sum(again))} segments again' if lossy else ''}.",
        strength=Strength.CONTEXT,
        values={"bytes_per_s": fmean(rates)},
    )
    if lossy > OFTEN * len(rates) and fmean(rates) < SLOW_NETWORK:
        yield Reading(
            "network-losses",
            "network",
            f"In {lossy} of {len(rates)} intervals, TCP sends segments again, and only {rate(fmean(rates))} arrive.",
            strength=Strength.RESOURCE,
            values={"share": lossy / len(rates), "bytes_per_s": fmean(rates)},
        )


def _percentiles(values: Sequence[Value]) -> Iterator[Reading]:
    """Say what half of a device's requests take, and the slowest of a hundred."""
    for device in dict.fromkeys(value.subject for value in values):
        of = {value.name: value.value for value in values if value.subject == device and isinstance(value.value, float)}
        for kind in ("read", "write", "flush"):
            half, late = of.get(f"{kind} p50"), of.get(f"{kind} p99")
            if half is not None and late is not None:
                yield Reading(
                    f"{kind}-percentiles",
                    device,
                    f"Half of the {kind}{'es' if kind == 'flush' else 's'} of {device} take up to {in_time(half)}, and "
                    f"99% up to {in_time(late)}.",
                    strength=Strength.RESOURCE,
                    values={"ms": half, "late_ms": late},
                )


def _errors(values: Sequence[Value]) -> Iterator[Reading]:
    """Report counted errors: those of requests, and those of data that were read without an error."""
    for value in values:
        if not isinstance(value.value, float) or not value.value:
            continue
        is_request = "_io_" in value.name
        what = value.name.replace("_io_errs", " error").replace("_errs", " error") + "s" * (value.value != 1)
        yield Reading(
            "pool-errors" if is_request else "damaged-data",
            value.subject,
            f"{value.subject} counts {value.value:,.0f} {what}"
            f"{'' if is_request else ': data that were read do not match their checksums or their generation'}.",
            "",
            Strength.WORDS,
        )


PROFILES: Mapping[str, Callable[[Sequence[Value]], Iterator[Reading]]] = {
    "ceph-ops": _operations,
    "gluster-profile": _bricks,
    "sysbench": _sysbench,
    "iperf": _iperf,
    "biolatpcts": _percentiles,
    "btrfs-stats": _errors,
}
"""The readings, by tool."""
