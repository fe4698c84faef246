"""The network: round trips, windows, losses, and requests that wait for a round trip each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seeklab.bring.block import Value
from seeklab.diagnosis.reading import Reading, Strength, count, rate, size
from seeklab.diagnosis.reading import time as in_time
from seeklab.diagnosis.readings.jobs_of import in_flight, is_paced, jobs_of, most_in_flight, request_bytes, total_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from seeklab.bring.block import Block, JobRow

FAR_MS = 1.0
"""A shorter round trip is within a building, where other times are as long."""
NEAR, MOST = 0.3, 2
MOSTLY = 1.6
"""The round trip is most of the time of a piece if that is at most this many times as long."""
LIMITS = ("snd_wnd", "rcv_wnd", "rcv_space", "sndbuf")
LOST = 1e-3


def read(blocks: Sequence[Block]) -> Iterator[Reading]:
    """Yield the readings of ping, ss, nstat and their relatives."""
    values = [record for block in blocks for record in block.records if isinstance(record, Value)]
    rows = list(jobs_of(blocks))
    connections = _subjects(values, "connection")
    trip = _subjects(values, "path").get("path", {}).get("rtt")
    if trip is None:
        trip = next((of["rtt"] for of in connections.values() if "rtt" in of), None)
    yield from _losses(_subjects(values, "tcp").get("tcp", {}), rows)
    if trip is None:
        return
    yield Reading(
        "round-trip",
        "path",
        f"A round trip takes {in_time(trip)}.",
        strength=Strength.CONTEXT,
        values={"ms": trip},
    )
    yield from _windows(connections, rows, trip)
    yield from _trips(rows, trip)


def _subjects(values: Sequence[Value], begins: str) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for value in values:
        if value.subject.startswith(begins) and isinstance(value.value, float):
            found.setdefault(value.subject, {})[value.name] = value.value
    return found


def _windows(connections: dict[str, dict[str, float]], rows: Sequence[JobRow], trip: float) -> Iterator[Reading]:
    """Find connections that carry one window in each round trip."""
    moved = sum(row.bytes_per_s or 0.0 for row in rows)
    for name, of in connections.items():
        limits = [of[limit] for limit in LIMITS if of.get(limit)]
        speed = of.get("rate") or (moved if len(connections) == 1 else 0.0)
        if not limits or not speed or trip < FAR_MS:
            continue
        window, carried = min(limits), speed * trip / 1e3
        if abs(carried / window - 1) < NEAR:
            yield Reading(
                "window-per-trip",
                name,
                f"{name} carries {size(carried)} in each round trip, and its smaller buffer has {size(window)}: the "
                "sender waits for an acknowledgement after each window.",
                f"{rate(speed)} x {in_time(trip)} = {size(carried)}",
                values={"window_bytes": window, "trip_ms": trip, "bytes_per_s": speed},
            )


def _trips(rows: Sequence[JobRow], trip: float) -> Iterator[Reading]:
    """Find jobs that wait for one round trip after each piece; a copy reads and writes it in the same trip."""
    if trip < FAR_MS:
        return
    for job in dict.fromkeys(row.job for row in rows):
        of = [row for row in rows if row.job == job]
        most, flight = most_in_flight(of[0]), sum(in_flight(row) for row in of)
        if is_paced(of[0]) or most > MOST or flight < 0.75 * most:
            continue
        ms = 1e3 * most / max(row.per_s or 0.0 for row in of)
        if trip <= ms * (1 + NEAR / 3) and ms < MOSTLY * trip + 1:
            yield Reading(
                "trip-per-request",
                job,
                f"Each piece of {job} ({size(request_bytes(of[0]))}) takes {in_time(ms)}, and a round trip "
                f"{in_time(trip)}: the job waits for an answer after every piece.",
                f"{most} / {count(1e3 * most / ms)} per s = {in_time(ms)}",
                values={"ms": ms, "trip_ms": trip, "share": trip / ms, "bytes": request_bytes(of[0])},
            )


def _losses(of: dict[str, float], rows: Sequence[JobRow]) -> Iterator[Reading]:
    sent, again, timeouts = (of.get(name, 0.0) for name in ("TcpOutSegs", "TcpRetransSegs", "TcpExtTCPTimeouts"))
    if not again or (sent and again < LOST * sent):
        return
    share = f" ({100 * again / sent:.1f}% of those sent)" if sent else ""
    waits = f", and {count(timeouts)} times a sender waited for its timer" if timeouts else ""
    yield Reading(
        "tcp-retransmits",
        "tcp",
        f"TCP sent {count(again)} segments again{share}{waits}.",
        f"{count(again)} / {count(sent)} = {again / sent:.3f}" if sent else "",
        values={"share": again / sent if sent else 0.0, "timeouts": timeouts},
    )
    slow = [row for row in rows if (total_of(row).max_ms or 0.0) >= 190]
    if timeouts and slow:
        longest = max(total_of(row).max_ms or 0.0 for row in slow)
        yield Reading(
            "timer-in-requests",
            slow[0].job,
            f"The longest request of {slow[0].job} takes {in_time(longest)}: at least one retransmission timer, whose "
            "minimum is 200 ms in most systems.",
            values={"max_ms": longest},
        )
