"""The assignment on incast: how many servers a client asks at once, and with which window.

A rule gives both for a client whose block lies on so many servers. What it does not get is the buffer of the switch's
port; it knows only what every switch of that kind has at least. It is judged on networks that the seed draws, each
with two switches: the smallest that there is, and one with a large buffer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seeklab._case import case as load_case
from seeklab.exercises._shapes import Shape, System, at_least, named
from seeklab.judge import Evidence, Fields, Mistake, Number

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

CASE = "incast"
LINK_MBIT = 1000
SHARE = 0.75
"""What of the link the client shall have."""
BLOCKS = 12
PACKET_BYTES, WIRE_NS = 1460, 12_304
"""Data of a full packet, and its time on the link."""
ROOMY = 8
"""How many times as much the port of the large switch holds as that of the smallest."""
WINDOW = 20
"""Packets that a server may have under way where nobody sets a window."""

QUESTIONS = {
    "goodput_mbit": (
        f"The client asks all servers at once, each server may have {WINDOW} packets in flight, and the switch "
        "port holds its guaranteed minimum of packets. How many Mbit/s does the client get?"
    ),
}


def _drawn(source: random.Random, servers: tuple[int, int]) -> System:
    round_trip_us = source.randrange(60, 121)
    known = {
        "servers": source.randrange(*servers),
        "round_trip_us": round_trip_us,
        "path_packets": round_trip_us * 1000 // WIRE_NS + 1,
        "buffer_at_least": source.randrange(16, 41),
        "block_kib": 1024,
    }
    told = (
        f"a block of {known['block_kib']} KiB in equal pieces on {known['servers']} servers, links of 1 Gbit/s, a "
        f"round trip of {round_trip_us} us, in which {known['path_packets']} packets leave a link; the port of the "
        f"switch holds at least {known['buffer_at_least']} packets, an unknown number, and the retransmission timer "
        "is 200 ms"
    )
    return System(known, told)


def seen(system: System, at_once: float, window: float, buffer: float | None = None, seed: int = 1) -> dict[str, float]:
    """Run a client that asks so many servers at once, over a switch that holds `buffer` packets or the fewest."""
    servers = int(system["servers"])
    changes: dict[str, Any] = {
        "network.round_trip": round(1000 * system["round_trip_us"]),
        "network.packets.servers": servers,
        "network.packets.at_once": min(servers, round(at_once)),
        "network.packets.window": round(window),
        "network.packets.buffer": round(system["buffer_at_least"] if buffer is None else buffer),
        "jobs[reader].number_ios": BLOCKS,
    }
    found = load_case(CASE).with_(changes).run("sixteen", seed=seed).metrics
    return {
        "goodput_mbit": found["network.goodput_mbit_per_s"],
        "dropped": found["network.dropped_packets"],
        "timeouts": found["network.timeouts"],
    }


def _near(system: System, seed: int) -> dict[str, tuple[float, str]]:
    return {"goodput_mbit": (seen(system, system["servers"], WINDOW, seed=seed)["goodput_mbit"], "Mbit/s")}


WHY = named(
    overflow="more packets are in flight than any port is guaranteed to hold: the ends of windows are dropped, and "
    "the whole block waits 200 ms for a timer",
    large_buffer="this fits only into a buffer that is larger than guaranteed: on the smallest switch the port "
    "overflows, and the whole block waits 200 ms for a timer",
    small_window="fewer packets are in flight than the link sends in a round trip, so it waits for acknowledgements",
    gaps="between two pieces of a server a round trip passes with nothing to send; if too few other servers are "
    "asked, or their windows are too small, the link is idle for that time",
)


def _mistake(system: System, at_once: int, window: int, dropped: float) -> Mistake:
    under_way = at_once * window
    if dropped:
        return WHY["large-buffer" if under_way <= ROOMY * system["buffer_at_least"] / 2 else "overflow"]
    return WHY["small-window" if under_way <= system["path_packets"] else "gaps"]


def _judge(system: System, given: Mapping[str, float], seed: int) -> list[Evidence]:
    at_once, window = min(int(system["servers"]), round(given["at_once"])), round(given["window"])
    bounds = []
    for name, buffer in (("smallest", system["buffer_at_least"]), ("large", ROOMY * system["buffer_at_least"])):
        found = seen(system, at_once, window, buffer, seed)
        what = f"{at_once} servers at once, {window} packets each, the {name} switch ({buffer:g} packets), {system}"
        why = _mistake(system, at_once, window, found["dropped"])
        bounds.append(at_least(what, found["goodput_mbit"], SHARE * LINK_MBIT, "Mbit/s", seed, why))
    return bounds


SHAPE = Shape(
    id="incast-admission",
    what="network",
    kinds={
        "few servers": lambda source: _drawn(source, (1, 5)),
        "some servers": lambda source: _drawn(source, (8, 21)),
        "many servers": lambda source: _drawn(source, (40, 65)),
    },
    questions=QUESTIONS,
    near=_near,
    judge=_judge,
    parts=2,
    gives=Fields({"at_once": Number(at_least=1, at_most=1024), "window": Number(at_least=1, at_most=16_384)}),
    hints=(
        "How many packets can be in flight without a drop? Where are they at the worst moment?",
        "Port and path hold buffer_at_least + path_packets; of a first burst of k windows, k - 1 wait in the port.",
        "Four at once, with the smaller of (buffer_at_least + path_packets) / 4 and buffer_at_least / 3 packets each.",
    ),
    seeds=1,
)
system, briefing = SHAPE.own, SHAPE.briefing
ASSIGNMENT, check, hint = SHAPE.exercise()
