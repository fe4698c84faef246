"""The assignment on incast: the number of servers that a client asks at once, and its window.

A rule returns both for a client with its block spread over many servers. It does not receive the buffer of the switch
port, only the minimum for every switch of that kind. The check draws networks, each with two switches: the smallest
possible one, and one with a large buffer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seeklab._case import case as load_case
from seeklab._question import Question
from seeklab.exercises._shapes import Shape, System, at_least, named
from seeklab.judge import Evidence, Fields, Mistake, Number

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

CASE = "incast"
LINK_MBIT = 1000
SHARE = 0.75
"""Required share of the link for the client."""
BLOCKS = 12
PACKET_BYTES, WIRE_NS = 1460, 12_304
"""Payload of a full packet in bytes, and its time on the link in ns."""
ROOMY = 8
"""The large switch's port buffer, as a multiple of the smallest switch's."""
WINDOW = 20
"""Packets that a server may have in flight without a configured window."""

QUESTIONS = {
    "goodput_mbit": Question(
        f"The client asks all servers at once, each server may have {WINDOW} packets in flight, and the switch "
        "port holds its guaranteed minimum of packets. How many Mbit/s does the client get?",
        unit="Mbit/s",
    ),
}


def _drawn(
    source: random.Random, servers: tuple[int, int], round_trip_us: tuple[int, int], buffer: tuple[int, int]
) -> System:
    round_trip = source.randrange(*round_trip_us)
    known = {
        "servers": source.randrange(*servers),
        "round_trip_us": round_trip,
        "path_packets": round_trip * 1000 // WIRE_NS + 1,
        "buffer_at_least": source.randrange(*buffer),
        "block_kib": 1024,
    }
    told = (
        f"a block of {known['block_kib']} KiB in equal pieces on {known['servers']} servers, links of 1 Gbit/s, a "
        f"round trip of {round_trip} us, during which {known['path_packets']} packets leave a link; the port "
        f"of the switch buffers an unknown number of packets, at least {known['buffer_at_least']}; the "
        "retransmission timer is 200 ms"
    )
    return System(known, told)


def seen(system: System, at_once: float, window: float, buffer: float | None = None, seed: int = 1) -> dict[str, float]:
    """Run a client that asks several servers at once, over a switch with `buffer` packets or the minimum."""
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


def _near(system: System, seed: int) -> dict[str, float]:
    return {"goodput_mbit": seen(system, system["servers"], WINDOW, seed=seed)["goodput_mbit"]}


WHY = named(
    overflow="more packets are in flight than any port is guaranteed to hold: the ends of windows are dropped, and "
    "the whole block waits 200 ms for a timer",
    large_buffer="this fits only into a buffer above the guaranteed minimum: on the smallest switch the port "
    "overflows, and the whole block waits 200 ms for a timer",
    small_window="fewer packets are in flight than the link sends in a round trip, so it waits for acknowledgements",
    gaps="after each piece a server is idle for a round trip; with too few other servers, or windows that are too "
    "small, the link is idle too",
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
        # What fits into the ports of one is too little for the paths of the next.
        "many servers": lambda source: _drawn(source, (40, 65), (60, 81), (16, 21)),
        "some servers": lambda source: _drawn(source, (8, 21), (250, 351), (48, 65)),
        "few servers": lambda source: _drawn(source, (1, 5), (1200, 1401), (320, 481)),
    },
    questions=QUESTIONS,
    near=_near,
    judge=_judge,
    parts=2,
    gives=Fields({"at_once": Number(at_least=1, at_most=1024), "window": Number(at_least=1, at_most=16_384)}),
    hints=(
        "How many packets can be in flight without a drop? Where are they at the worst moment?",
        "Port and path hold buffer_at_least + path_packets; of a first burst of k windows, k - 1 wait in the port.",
        "Four at once are enough. Divide the two limits by the servers that they hold for; the smaller result counts.",
    ),
    seeds=1,
)
system, briefing = SHAPE.own, SHAPE.briefing
ASSIGNMENT, check, hint = SHAPE.exercise()
